"""Scores: the definitions, worked out by hand; what a score file keeps and refuses."""

import json
import math

import pytest

from baselines.published import groups, printed
from baselines.scores import (
    ABSENT,
    FIGURES,
    UNDEFINED,
    Measured,
    Run,
    Score,
    correlation,
    correlation_score,
    figures,
    macro_f1,
    measure,
    mixed,
    read_scores,
    refuse_mixed,
    span_f1,
    versions,
    write_scores,
)
from builders.declaration import load_corpora
from builders.problems import Problem

TASKS = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}
ONE, OTHER = "1" * 64, "2" * 64


def score(task="mood", split="test", value=0.5, content=ONE, **more) -> Score:
    return Score(task=task, split=split, value=value, n=10, content=content, **more)


def run(*scores, release="2.0.0", **more) -> Run:
    settings = {"source": "raw", "model": "invented", "recipe": {"epochs": 2}, "versions": {}} | more
    return Run(release=release, scores=scores, **settings)


def test_M1_a_constant_prediction_scores_a_half_with_a_flag():
    assert correlation_score([1.0, 2.0, 4.0], [2.0, 2.0, 2.0]) == Measured(0.5, UNDEFINED)
    # The mean of three times 0.1 is not 0.1 in floats: a variance that is not quite 0 must not give an r.
    assert correlation_score([1.0, 2.0, 4.0], [0.1, 0.1, 0.1]) == Measured(0.5, UNDEFINED)
    assert correlation_score([3.0, 3.0], [1.0, 2.0]) == Measured(0.5, UNDEFINED)
    assert correlation_score([3.0], [1.0]) == Measured(0.5, UNDEFINED)


def test_M1_the_mean_over_tasks_is_a_number_all_the_same():
    value, _ = correlation_score([1, 2, 4], [2, 2, 2])
    found = figures({"emobank#valence": value, "sarc": 0.7}, TASKS.values())
    assert found["average"] == (pytest.approx(0.6), 2)
    assert not any(math.isnan(figure.value) for figure in found.values())


@pytest.mark.parametrize(
    ("gold", "predicted", "r"),
    [
        ([1, 2, 3], [10, 20, 30], 1),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 3], [1, 3, 2], 0.5),  # deviations (-1, 0, 1) and (-1, 1, 0): 1 / sqrt(2 * 2)
        ([1, 2, 3], [1e308, 1.2e308, 1.4e308], 1),  # sum and squares would overflow
        ([1, 2, 3], [1e-300, 2e-300, 3e-300], 1),  # squares would vanish
    ],
)
def test_the_correlation_and_its_score(gold, predicted, r):
    assert correlation(gold, predicted) == pytest.approx(r)
    assert correlation_score(gold, predicted) == (pytest.approx((r + 1) / 2), None)


def test_M2_every_class_of_the_task_counts():
    # Class 0: 2 right of 2 and 2, F1 1. Class 1: 1 right, 2 items, 1 prediction, F1 2/3. Class 2: no item, F1 0.
    assert macro_f1([0, 0, 1, 1], [0, 0, 1, 2], classes=3) == (pytest.approx((1 + 2 / 3 + 0) / 3), None)


def test_M2_a_class_in_neither_gold_nor_predictions_counts_as_0_and_is_flagged():
    assert macro_f1([0, 0, 1, 1], [0, 0, 1, 2], classes=4) == (pytest.approx((1 + 2 / 3 + 0 + 0) / 4), ABSENT)
    # A split without the rarer class: the majority is no perfect model.
    assert macro_f1([0, 0, 0], [0, 0, 0], classes=2) == (0.5, ABSENT)


@pytest.mark.parametrize(
    ("right", "wrong", "classes", "task"),
    [
        # Published test splits of which every row is known, and how many rows have the class that is most frequent in
        # the published train: F1 of that class is 2 right / (right + all), the others have 0.
        (22, 10, 2, "hayati_politeness"),  # 44/54 / 2 = 0.407
        (91, 95, 2, "empathy#empathy_bin"),  # 182/277 / 2 = 0.329; the other class is the larger one in test
    ],
)
def test_the_published_majority_comes_from_the_most_frequent_class_of_train(right, wrong, classes, task):
    found = macro_f1([0] * right + [1] * wrong, [0] * (right + wrong), classes)
    assert round(found.value, 2) == printed()[task].majority


def test_spans_are_scored_by_character_and_averaged_over_items():
    gold = [[(0, 4)], [], [(2, 5)], [], [(0, 2), (1, 4)]]
    predicted = [[(2, 6)], [], [], [(0, 1)], [(0, 4)]]
    # Item 1: 2 of 4 and 4 characters shared, F1 0.5. Then both empty 1, one empty 0 and 0, and overlapping spans that
    # cover the same four characters 1.
    assert span_f1(gold, predicted) == (pytest.approx((0.5 + 1 + 0 + 0 + 1) / 5), None)


def test_a_task_is_measured_by_its_format():
    assert measure(TASKS["sarc"], [0, 1], [0, 1]) == (1, None)
    assert measure(TASKS["humor-pairs"], [0, 1], [1, 0]) == (0, None)
    assert measure(TASKS["emobank#valence"], [1.0, 2.0], [2.0, 1.0]) == (0, None)
    assert measure(TASKS["toxic-span"], [[(0, 1)]], [[(0, 1)]]) == (1, None)


@pytest.mark.parametrize(
    "call",
    [
        lambda: macro_f1([0, 1], [0], 2),
        lambda: macro_f1([], [], 2),
        lambda: macro_f1([0, 1], [0, 2], 2),
        lambda: macro_f1([0, -1], [0, 1], 2),
        lambda: macro_f1([0, 1], [0.5, 1.0], 2),
        lambda: correlation([1, 2], [1]),
        lambda: correlation([], []),
        lambda: correlation([1, 2], [1, math.nan]),
        lambda: span_f1([[]], []),
        lambda: span_f1([], []),
    ],
)
def test_predictions_that_cannot_be_scored_are_refused(call):
    with pytest.raises(ValueError, match=r"prediction|class|number"):
        call()


def test_the_ten_figures_are_means_over_tasks():
    found = figures(
        {"sarc": 0.2, "humor-pairs": 0.4, "hahackathon#humor_rating": 0.6, "toxic-span": 1.0}, TASKS.values()
    )
    assert {name: (round(figure.value, 9), figure.tasks) for name, figure in found.items()} == {
        "humor_sarcasm": (0.4, 3),
        "offensive": (1.0, 1),
        "classification": (0.2, 1),
        "regression": (0.6, 1),
        "pair": (0.4, 1),
        "span": (1.0, 1),
        "average": (0.55, 4),
    }
    with pytest.raises(ValueError, match="no such task: nonsense"):
        figures({"nonsense": 1.0}, TASKS.values())


def test_the_figures_are_those_of_the_paper():
    """Its main table has these ten, and its DeBERTa row follows from its per-task table to 0.01."""
    assert all(sorted(group.figures) == sorted(FIGURES) for group in groups())
    (deberta,) = (group.figures for group in groups() if group.model == "deberta-v3-base")
    values = {task: scores.single_task.mean for task, scores in printed().items() if scores.single_task}
    values["sarc"] = printed()["sarc"].socket  # the per-task table lacks it
    found = figures(values, TASKS.values())
    assert {name: figure.value for name, figure in found.items()} == pytest.approx(deberta, abs=0.0101)


def test_a_score_file_reads_back_what_was_written(tmp_path):
    runs = (run(score(), score(split="sockette", flag=ABSENT), seed=3, revision="abc", versions=versions("numpy")),)
    write_scores(runs, tmp_path / "scores.json")
    assert read_scores(tmp_path / "scores.json") == runs
    assert {"python", "socket-data", "numpy"} == runs[0].versions.keys()


def damaged(content, change):
    change(content["runs"][0])
    return content


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: run.pop("release"), r"runs\.0\.release: Field required"),
        (lambda run: run["scores"][0].update(value=1.5), r"runs\.0\.scores\.0\.value"),
        (lambda run: run["scores"][0].update(value=math.nan), r"runs\.0\.scores\.0\.value"),
        (lambda run: run["scores"][0].update(content="abc"), r"runs\.0\.scores\.0\.content"),
        (lambda run: run["scores"].append(run["scores"][0]), "scored twice: mood test"),
        (lambda run: run.update(accuracy=1), "accuracy"),
    ],
)
def test_a_file_that_is_no_score_file_is_told_with_the_place(tmp_path, change, told):
    path = tmp_path / "scores.json"
    write_scores([run(score())], path)
    path.write_text(json.dumps(damaged(json.loads(path.read_text()), change)))
    with pytest.raises(Problem, match=rf"scores\.json: is not a score file .*{told}"):
        read_scores(path)


def test_a_missing_score_file_is_told(tmp_path):
    with pytest.raises(Problem, match="cannot be read"):
        read_scores(tmp_path / "none.json")


def test_M5_scores_of_two_releases_are_not_mixed_silently():
    runs = [run(score()), run(score(content=OTHER), release="2.1.0")]
    with pytest.raises(Problem, match=r"Scores of several releases: 2\.0\.0, 2\.1\.0\. Other rows .* mood test\."):
        refuse_mixed(runs)
    assert mixed(runs)[0] == "Scores of several releases: 2.0.0, 2.1.0."


def test_M5_nor_scores_of_other_rows_under_the_same_version():
    with pytest.raises(Problem, match="Other rows behind the scores of mood test"):
        refuse_mixed([run(score()), run(score(content=OTHER))])
    with pytest.raises(Problem, match=r"2\.0\.0, 2\.0\.0 \(samples\)"):
        refuse_mixed([run(score()), run(score(task="other"), source="sample")])


def test_M5_scores_of_the_same_rows_stand_together():
    refuse_mixed([run(score(), seed=1), run(score(), score(task="other", content=OTHER), seed=2)])
