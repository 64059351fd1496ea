"""Scores without a model: the most frequent label, and chance."""

import json

import numpy as np
import pandas as pd
import pytest

from baselines.majority import chance, majority, score_release
from baselines.published import corrected, printed
from baselines.scores import UNDEFINED, read_scores
from builders.commands import baseline
from builders.declaration import load_corpora
from builders.pipeline.lock import read_lock
from builders.problems import Problem, WrongUsage
from tests.conftest import classification, regression

CORPORA = load_corpora()
TASKS = {task.name: task for corpus in CORPORA.values() for task in corpus.tasks}
ITEMS = pd.DataFrame({"id": [f"{number:016x}" for number in range(900)], "text": "one two  three"})


@pytest.fixture
def release(workshop):
    """100 texts, 70 bad and 30 good, with a warmth from 0 to 4."""
    rows = "".join(f"an invented text number {n}\t{int(n >= 70)}\t{n % 5}\n" for n in range(100))
    workshop.corpus(
        "invented",
        {"a.tsv": "text\tlabel\tscore\n" + rows},
        [classification(), regression()],
        [{"name": "a.tsv", "format": "tsv"}],
    )
    return workshop.build()[0]


def test_the_majority_of_an_invented_release(workshop, release):
    lock = read_lock(release)
    test = lock["corpora"]["invented"]["tasks"]["mood"]["splits"]["test"]
    assert test["labels"] == {"bad": 7, "good": 3}
    run, _ = score_release(release, workshop.corpora)
    found = {(score.task, score.split): score for score in run.scores}
    assert list(found) == [(task, split) for task in ("mood", "warmth") for split in ("test", "sockette")]
    # All 10 are called bad: its F1 is 2 * 7 / (7 + 10), that of good 0.
    assert found["mood", "test"].value == pytest.approx(14 / 17 / 2)
    assert (found["mood", "test"].n, found["mood", "test"].content) == (10, test["content"])
    assert (found["warmth", "test"].value, found["warmth", "test"].flag) == (0.5, UNDEFINED)
    assert (run.release, run.source, run.model, run.seed) == (lock["release"], "raw", "majority", None)


def test_every_task_of_every_format_has_a_score_and_always_the_same(sample_release):
    runs = score_release(sample_release, CORPORA)
    assert [run.model for run in runs] == ["majority", "random"]
    assert all({score.task for score in run.scores} == TASKS.keys() for run in runs)
    assert score_release(sample_release, CORPORA) == runs


def test_the_majority_is_that_of_train():
    assert majority(TASKS["tweet_emotion"], np.array([3, 1, 1, 3, 0]), ITEMS[:2]).tolist() == [1, 1]  # of 1 and 3
    assert majority(TASKS["emobank#valence"], np.array([1.0, 2.0, 6.0]), ITEMS[:2]).tolist() == [3.0, 3.0]
    assert list(majority(TASKS["toxic-span"], np.array([]), ITEMS[:2])) == [(), ()]
    with pytest.raises(ValueError, match="train has no item"):
        majority(TASKS["tweet_emotion"], np.array([], dtype=int), ITEMS)


def test_chance_takes_every_class_as_often_whatever_train_says():
    drawn = chance(TASKS["hateoffensive"], np.array([0, 0, 0]), ITEMS)
    # 300 of each of the 3 classes are expected; four standard deviations are 4 * sqrt(900 * 1/3 * 2/3) = 57.
    assert np.abs(np.bincount(drawn, minlength=3) - 300).max() < 57


def test_chance_depends_on_task_and_id_and_nothing_else():
    task, other = TASKS["jigsaw#toxic"], TASKS["jigsaw#threat"]
    drawn = chance(task, np.array([0]), ITEMS)
    assert (chance(task, np.array([0]), ITEMS[::-1])[::-1] == drawn).all()
    assert (chance(other, np.array([0]), ITEMS) != drawn).any()


def test_chance_draws_values_of_train():
    drawn = chance(TASKS["emobank#valence"], np.array([1.5, 2.5]), ITEMS)
    assert set(drawn) == {1.5, 2.5}


def test_chance_draws_words_as_spans():
    drawn = chance(TASKS["toxic-span"], np.array([]), ITEMS)
    # Where the words of "one two  three" are; each is in for some items and out for others, as is none at all.
    assert {span for spans in drawn for span in spans} == {(0, 3), (4, 7), (9, 14)}
    assert len(set(drawn)) == 2**3


def test_a_task_that_nobody_declares_is_told(release):
    with pytest.raises(Problem, match=r"mood: no corpus\.yaml declares this task"):
        score_release(release, {})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: path.unlink(), "missing"),
        (lambda path: path.write_bytes(b"nonsense"), "damaged"),
        (lambda path: pd.read_parquet(path).iloc[1:].to_parquet(path), "other rows than the lock says"),
    ],
)
def test_a_release_that_is_not_what_its_lock_says_is_told(workshop, release, change, told):
    change(release / "data" / "mood" / "test.parquet")
    with pytest.raises(Problem, match=rf"data/mood/test\.parquet: {told}"):
        score_release(release, workshop.corpora)


def test_the_command_prints_the_published_column_and_writes_the_scores(sample_release, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "scores.json"
    assert baseline.run_majority(sample_release, path) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.startswith("humor-pairs "))
    assert line.split()[3].startswith(f"{printed()['humor-pairs'].majority:.2f}")
    tables = out[: out.index("Tasks whose labels")] + out[out.index("Means over tasks") :]
    assert max(map(len, tables.splitlines())) <= 80
    assert [run.model for run in read_scores(path)] == ["majority", "random"]
    assert json.loads(path.read_text())["runs"][0]["source"] == "sample"


def test_wrong_usage(sample_release, tmp_path):
    for release, file in (
        (tmp_path / "none", None),
        (sample_release, sample_release / "scores.json"),
        (sample_release, tmp_path / "none" / "scores.json"),
    ):
        with pytest.raises(WrongUsage):
            baseline.run_majority(release, file)


def test_where_labels_were_corrected_scores_are_not_compared_as_the_same():
    assert corrected("hateoffensive") == [5, 9]
    assert corrected("hahackathon#is_humor") == []  # only one split per corpus (10) and SocKETTe (12) differ
    assert corrected("invented") is None


def test_the_majority_of_the_real_release_is_as_printed_where_labels_did_not_change(real_release):
    run, _ = score_release(real_release, CORPORA)
    scores = {score.task: score.value for score in run.scores if score.split == "test"}
    compared = {task for task, one in printed().items() if task in scores and one.majority is not None}
    unchanged = {task for task in compared if not corrected(task)}
    assert "hahackathon#is_humor" in unchanged
    off = {task for task in unchanged if abs(scores[task] - printed()[task].majority) > 0.01}
    assert off == set()
