"""Does SocKETTe say what the test splits say? The scores of models on both, over tasks.

A point is a task: its score on test, and its score on SocKETTe. Only tasks with more than 1,000 test items count, since
SocKETTe is the test split itself for the others.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from baselines.published import printed
from baselines.scores import Run, correlation, refuse_mixed
from baselines.table import columns
from builders.problems import Problem, WrongUsage

LARGER_THAN = 1000
LEAST_TASKS = 3

DRAWS, SEED, LEVEL = 10_000, 1, 0.95

# A task whose two scores differ by more is named in the plot.
FAR = 0.05


class Correlated(NamedTuple):
    """How scores on test and on SocKETTe go together."""

    r: float
    """Pearson's r over the tasks."""
    low: float
    """The bounds of its bootstrap interval."""
    high: float
    tasks: pd.DataFrame
    """Per task `test`, `sockette`, `difference` (SocKETTe minus test) and `without` (r without this task, NaN where it
    is undefined); the tasks that move r most come first."""


def published_points() -> pd.DataFrame:
    """The points that the paper prints: `test` and `sockette` by task."""
    points = {task: (scores.socket, scores.sockette) for task, scores in printed().items() if scores.socket is not None}
    return pd.DataFrame.from_dict(points, orient="index", columns=["test", "sockette"], dtype=float)


def points_of(runs: Iterable[Run], model: str | None = None) -> pd.DataFrame:
    """`test` and `sockette` by task: the means over the runs (the seeds of one model) that scored both, for the tasks
    with more than 1,000 test items.

    `model` is needed if there are several: a name as the runs have it or as a table heads its columns (`columns`).
    Raises `Problem` if the runs are of several releases, or there is no such task; `WrongUsage` if `model` names none
    or several, or is not given where there are several.
    """
    runs = list(runs)
    refuse_mixed(runs)
    found = columns(runs)
    chosen = [
        column
        for column in found
        if model is None or model in (column.name, column.series.model, *(run.model for run in column.runs))
    ]
    if len(chosen) != 1 and found:
        names = ", ".join(column.name for column in chosen or found)
        what = f"scores of several models: {names}." if chosen else f"no scores of {model}, but of {names}."
        raise WrongUsage(what, todo="Choose one with --model.")
    rows = []
    for run in (run for column in chosen for run in column.runs):
        scores = {(score.task, score.split): score for score in run.scores}
        for (task, split), score in scores.items():
            if split == "test" and score.n > LARGER_THAN and (task, "sockette") in scores:
                rows.append((task, score.value, scores[task, "sockette"].value))
    if not rows:
        raise Problem("no task with more than 1,000 test items has a score on test and on sockette.")
    return pd.DataFrame(rows, columns=["task", "test", "sockette"]).groupby("task", sort=False).mean()


def correlate(points: pd.DataFrame) -> Correlated:
    """Pearson's r over the tasks of `points` (`test`, `sockette`), its interval, and what every task does to it.

    The interval is the percentile bootstrap: tasks drawn with replacement, 10,000 times, from a generator with a fixed
    seed; draws without an r are left out. Raises `Problem` for fewer than three tasks, or if r is undefined.
    """
    x, y = points["test"].to_numpy(dtype=float), points["sockette"].to_numpy(dtype=float)
    if len(points) < LEAST_TASKS:
        raise Problem(f"{len(points)} tasks; a correlation over tasks needs {LEAST_TASKS} at least.")
    r = correlation(x, y)
    if r is None:
        raise Problem("all tasks have the same score on one of the splits, so there is no correlation.")
    without = [correlation(np.delete(x, at), np.delete(y, at)) for at in range(len(points))]
    tasks = points[["test", "sockette"]].assign(
        difference=points["sockette"] - points["test"], without=np.array(without, dtype=float)
    )
    order = (tasks["without"] - r).abs().sort_values(ascending=False, kind="stable").index
    return Correlated(r, *_bootstrap(x, y), tasks.loc[order])


def _bootstrap(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    drawn = np.random.Generator(np.random.PCG64(SEED)).integers(len(x), size=(DRAWS, len(x)))
    x, y = x[drawn], y[drawn]
    varied = (x != x[:, :1]).any(axis=1) & (y != y[:, :1]).any(axis=1)
    x, y = (values[varied] - values[varied].mean(axis=1, keepdims=True) for values in (x, y))
    r = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    low, high = np.quantile(np.clip(r, -1, 1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def check_plot(path: Path) -> None:
    """Raise `WrongUsage` if no plot can be written to `path`, before anything is computed."""
    if path.suffix.lower() != ".svg":
        raise WrongUsage("a plot is an SVG file.", where=[str(path)], todo="Give a name that ends in .svg.")


def plot(correlated: Correlated, path: Path) -> None:
    """Draw the tasks, test across and SocKETTe up, with the line of equal scores; tasks far from it carry their names.

    Equal points give equal bytes. Raises `Problem` if matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise Problem(
            "a plot needs matplotlib, which is not installed.", todo="Run `uv sync --group reports`."
        ) from None
    style = {"svg.fonttype": "none", "svg.hashsalt": "socket", "font.family": ["sans-serif"], "font.size": 9}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(4.5, 4.5), layout="constrained")
        axes = figure.subplots()
        tasks = correlated.tasks
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
        axes.scatter(tasks["test"], tasks["sockette"], s=18, color="#4f7bd0", zorder=2)
        far = tasks[tasks["difference"].abs() > FAR]
        for task, x, y in far[["test", "sockette"]].itertuples():
            # Away from the line: to the left above it, to the right below it.
            side, gap = ("right", -5) if y > x else ("left", 5)
            axes.annotate(task, (x, y), xytext=(gap, 0), textcoords="offset points", ha=side, va="center", fontsize=7)
        axes.set(xlim=(0, 1.04), ylim=(0, 1.04), xlabel="score on test", ylabel="score on SocKETTe", aspect="equal")
        axes.set_title(f"r = {correlated.r:.3f} ({correlated.low:.3f} to {correlated.high:.3f}), {len(tasks)} tasks")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
