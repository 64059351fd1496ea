"""The filter: which tasks are hard enough, and what the interval says."""

import numpy as np
import pytest

from baselines.filter import KNOWN, LIMIT, judge
from baselines.scores import macro_f1
from builders.declaration import load_corpora

TASKS = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}
GOLD = np.array([0, 1] * 200)


def wrong(count: int) -> np.ndarray:
    """The labels, the first `count` turned round."""
    return np.where(np.arange(len(GOLD)) < count, 1 - GOLD, GOLD)


def test_a_task_without_a_fault_is_too_easy():
    verdict = judge(TASKS["complaints"], GOLD, [GOLD, GOLD])
    assert (verdict.mean, verdict.low, verdict.high) == (1, 1, 1)
    assert not verdict.admitted
    assert not verdict.close


def test_a_task_at_the_limit_is_admitted():
    # 20 of 400 wrong, 10 of each class: both have F1 of 190/200.
    verdict = judge(TASKS["complaints"], GOLD, [wrong(20)])
    assert verdict.mean == pytest.approx(LIMIT)
    assert verdict.mean <= LIMIT
    assert verdict.admitted


def test_the_mean_over_seeds_decides_and_the_interval_says_how_sure_that_is():
    verdict = judge(TASKS["complaints"], GOLD, [wrong(10), wrong(20), wrong(36)])
    assert verdict.mean == pytest.approx(np.mean([macro_f1(GOLD, wrong(n), 2).value for n in (10, 20, 36)]))
    assert verdict.admitted
    assert verdict.close
    # 22 of 400 wrong on average: the standard error of that share is about 0.011, twice that is 0.02.
    assert verdict.mean - 0.04 < verdict.low < verdict.mean - 0.01
    assert verdict.mean + 0.01 < verdict.high < verdict.mean + 0.04
    assert verdict == judge(TASKS["complaints"], GOLD, [wrong(10), wrong(20), wrong(36)])


def test_spans_and_values_are_judged_too():
    spans = [((0, 4),)] * 50
    half = [((0, 4),)] * 25 + [()] * 25
    assert judge(TASKS["toxic-span"], spans, [half]).mean == pytest.approx(0.5)
    assert 0.3 < judge(TASKS["toxic-span"], spans, [half]).low < 0.5
    values = np.linspace(1, 5, 50)
    assert not judge(TASKS["emobank#valence"], values, [values * 2]).admitted


def test_the_known_exceptions_are_tasks():
    assert set(KNOWN) <= TASKS.keys()
