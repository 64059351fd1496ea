"""The filter that keeps out tasks that are too easy: a task is admitted only if BERT stays at or below 0.95 on test."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from baselines.scores import measure, span_f1
from builders.declaration import Task

MODEL = "bert-base-uncased"
LIMIT = 0.95

# In the benchmark although the paper prints more than 0.95 for DeBERTa. What it measured for BERT it does not print.
KNOWN = ("humor-pairs", "sentitreebank", "neutralizing-bias-pairs", "emotion-span")

DRAWS, SEED, LEVEL = 1000, 1, 0.95


class Verdict(NamedTuple):
    """Whether a task is admitted."""

    task: str
    scores: tuple[float, ...]
    """On test, one per seed."""
    low: float
    """The bounds of the bootstrap interval of their mean, items drawn with replacement."""
    high: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def admitted(self) -> bool:
        return self.mean <= LIMIT

    @property
    def close(self) -> bool:
        """Whether other items of the same kind might have given the other verdict."""
        return self.low <= LIMIT < self.high


def judge(task: Task, gold: Sequence, predicted: Sequence[Sequence]) -> Verdict:
    """The verdict on a task, from the labels of test and one list of predictions per seed.

    The interval is the percentile bootstrap: items drawn with replacement, 1,000 times, from a generator with a fixed
    seed, the same items for every seed of the model; it holds the mean over those. Raises `ValueError` like
    `baselines.scores.measure`.
    """
    scores = tuple(measure(task, gold, one).value for one in predicted)
    if task.format == "span":
        # A mean over items, so each is scored once.
        each = [[span_f1([one], [other]).value for one, other in zip(gold, by, strict=True)] for by in predicted]
        of_items = np.mean(each, axis=0)
    else:
        gold, predicted = np.asarray(gold), [np.asarray(by) for by in predicted]
    generator, means = np.random.Generator(np.random.PCG64(SEED)), []
    for _ in range(DRAWS):
        at = generator.integers(len(gold), size=len(gold))
        if task.format == "span":
            means.append(of_items[at].mean())
        else:
            means.append(np.mean([measure(task, gold[at], by[at]).value for by in predicted]))
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Verdict(task.name, scores, float(low), float(high))
