"""SocKETTe against test: the correlation over tasks, its interval, and what single tasks do to it."""

import pandas as pd
import pytest

from baselines.correlate import correlate, plot, points_of, published_points
from baselines.published import stated_correlation
from baselines.scores import Run, Score, write_scores
from builders.commands import baseline
from builders.problems import Problem, WrongUsage

CONTENT = "1" * 64


def points(*pairs) -> pd.DataFrame:
    return pd.DataFrame(pairs, columns=["test", "sockette"], index=list("abcdefgh"[: len(pairs)]))


def run(
    values: dict, seed: int = 1, n: int = 2000, model: str = "invented", release: str = "2.0.0", recipe=None
) -> Run:
    """A run with (test, sockette) scores by task."""
    scores = [
        Score(task=task, split=split, value=value, n=size, content=CONTENT)
        for task, pair in values.items()
        for split, value, size in zip(("test", "sockette"), pair, (n, 1000), strict=True)
    ]
    return Run(
        release=release, source="raw", model=model, recipe=recipe or {}, seed=seed, versions={}, scores=tuple(scores)
    )


def test_the_correlation_of_the_printed_values():
    """The golden values are those of the tracker: 0.981 over the 32 tasks of the paper's table, 0.990 without
    jigsaw#threat; its text says 0.997."""
    found = correlate(published_points())
    assert len(found.tasks) == 32
    assert round(found.r, 3) == 0.981
    assert found.tasks.index[0] == "jigsaw#threat"
    assert round(found.tasks.loc["jigsaw#threat", "without"], 3) == 0.990
    assert found.tasks.loc["jigsaw#threat", "difference"] == pytest.approx(0.15)  # 1.00 - 0.85
    assert stated_correlation() == 0.997
    assert 0.9 < found.low < found.r < found.high < 1
    assert found[:3] == correlate(published_points())[:3]


def test_the_task_that_moves_r_most_comes_first():
    # a, b, c lie on a line; d breaks it: without d r is 1.
    found = correlate(points((0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.4, 0.1)))
    # Deviations (-1.5, -0.5, 0.5, 1.5) and (-0.75, 0.25, 1.25, -0.75): 0.5 / sqrt(5 * 2.75).
    assert found.r == pytest.approx(0.5 / 13.75**0.5)
    assert found.tasks.index[0] == "d"
    assert found.tasks.loc["d", "without"] == pytest.approx(1)
    assert found.tasks.loc["d", "difference"] == pytest.approx(-0.3)


def test_points_on_a_line_have_an_interval_without_width():
    found = correlate(points((0.1, 0.2), (0.2, 0.3), (0.4, 0.5), (0.7, 0.8)))
    assert (found.r, found.low, found.high) == pytest.approx((1, 1, 1))


def test_r_without_a_task_may_be_undefined():
    found = correlate(points((0.5, 0.5), (0.5, 0.6), (0.9, 0.9)))
    assert pd.isna(found.tasks.loc["c", "without"])  # the others have the same score on test


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (points((0.1, 0.2), (0.2, 0.3)), "2 tasks"),
        (points((0.5, 0.2), (0.5, 0.3), (0.5, 0.4)), "same score"),
    ],
)
def test_no_correlation_is_told(given, told):
    with pytest.raises(Problem, match=told):
        correlate(given)


def test_points_are_means_over_seeds():
    found = points_of([run({"a": (0.4, 0.5), "b": (0.1, 0.2)}), run({"a": (0.6, 0.9)}, seed=2)])
    assert found.loc["a"].tolist() == pytest.approx([0.5, 0.7])
    assert found.loc["b"].tolist() == pytest.approx([0.1, 0.2])


def test_tasks_whose_sockette_is_the_test_split_do_not_count():
    runs = [run({"a": (0.4, 0.5)}, n=1001), run({"b": (0.1, 0.1)}, n=1000)]
    assert points_of(runs).index.tolist() == ["a"]
    with pytest.raises(Problem, match=r"no task with more than 1,000 test items"):
        points_of(runs[1:])


def test_M5_runs_of_several_releases_or_models_are_refused():
    one = run({"a": (0.4, 0.5)})
    with pytest.raises(Problem, match=r"several releases: 2\.0\.0, 2\.1\.0"):
        points_of([one, run({"b": (0.4, 0.5)}, release="2.1.0")])
    with pytest.raises(WrongUsage, match=r"several models: invented, other\. Choose one with --model"):
        points_of([one, run({"b": (0.4, 0.5)}, model="other")])


def test_of_several_models_one_is_chosen():
    runs = [
        run({"a": (0.4, 0.5)}),
        run({"a": (0.1, 0.1)}, model="other"),
        run({"a": (0.6, 0.9)}, seed=2),
    ]
    assert points_of(runs, "invented").loc["a"].tolist() == pytest.approx([0.5, 0.7])
    assert points_of(runs, "other").loc["a"].tolist() == pytest.approx([0.1, 0.1])
    with pytest.raises(WrongUsage, match="no scores of third, but of invented, other"):
        points_of(runs, "third")


def test_recipes_of_a_model_are_not_averaged():
    runs = [run({"a": (0.4, 0.5)}), run({"a": (0.6, 0.9)}, seed=2, recipe={"epochs": 3})]
    with pytest.raises(WrongUsage, match=r"several models: invented \(1\), invented \(2\)"):
        points_of(runs, "invented")
    assert points_of(runs, "invented (2)").loc["a"].tolist() == pytest.approx([0.6, 0.9])


def test_a_model_without_score_files_is_told():
    with pytest.raises(WrongUsage, match="--model chooses among score files"):
        baseline.run_correlate([], "invented", None)


def test_the_plot_has_equal_bytes_and_names_what_is_far_off(tmp_path):
    found = correlate(points((0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.4, 0.1)))
    for name in ("one.svg", "two.svg"):
        plot(found, tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    assert ">d<" in text
    assert ">a<" not in text


def test_the_command_prints_the_paper_and_draws_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert baseline.run_correlate([], None, tmp_path / "plot.svg") == 0
    out = capsys.readouterr().out
    assert "r = 0.981 over 32 tasks" in out
    assert "Without jigsaw#threat, which moves it most: 0.990." in out
    assert "The paper's text says 0.997." in out
    assert max(map(len, out.splitlines())) <= 80
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")


def test_the_command_reads_score_files(tmp_path, capsys):
    write_scores([run({"a": (0.1, 0.1), "b": (0.2, 0.2)})], tmp_path / "one.json")
    write_scores([run({"c": (0.3, 0.3), "d": (0.4, 0.1)})], tmp_path / "two.json")
    assert baseline.run_correlate([tmp_path / "one.json", tmp_path / "two.json"], None, None) == 0
    out = capsys.readouterr().out
    assert "r = 0.135 over 4 tasks" in out  # 0.5 / sqrt(13.75), see above
    assert "paper" not in out


@pytest.mark.parametrize("name", ["plot.png", "none/plot.svg"])
def test_a_plot_that_cannot_be_written_is_told_first(tmp_path, name):
    with pytest.raises(WrongUsage):
        baseline.run_correlate([], None, tmp_path / name)
