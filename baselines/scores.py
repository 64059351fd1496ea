"""Scores of predictions, the paper's ten figures, and the file that keeps scores together with what they belong to.

A score is a number from 0 to 1: macro-F1 for classes, (r + 1) / 2 for values, character F1 for spans. It is always a
number, so means are too; where a definition leaves it open, the score carries a flag that says so.
"""

import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from baselines.published import known_as
from baselines.spans import Span
from builders import __version__
from builders.declaration import CATEGORIES, FORMATS, Task
from builders.files import whole_file
from builders.problems import Problem, WrongUsage, examples, visible

UNDEFINED = "undefined_correlation"
ABSENT = "absent_class"
Flag = Literal["undefined_correlation", "absent_class"]
FLAGS = {
    ABSENT: "a class that is in no item and is never predicted counts as 0",
    UNDEFINED: "the predictions are all equal, so there is no correlation: it counts as 0",
}

# How every score file begins. In a folder other JSON files are passed over, while a damaged score file is told.
_BEGINNING = re.compile(rb'\s*\{\s*"runs"\s*:')

AVERAGE = "average"
FIGURES = (*CATEGORIES, *FORMATS, AVERAGE)


class Measured(NamedTuple):
    """A score from 0 to 1, and what has to be known of it."""

    value: float
    flag: Flag | None = None


def macro_f1(gold: Sequence[int], predicted: Sequence[int], classes: int) -> Measured:
    """The mean of the classes' F1, for a task whose label list has `classes` entries (ids 0 to `classes` - 1).

    A class's F1 is 2 tp / (items of it + predictions of it). Every class of the list counts: one in neither gold nor
    predictions as 0, flagged `absent_class` (scikit-learn's rule for a given label list with `zero_division=0`). The
    paper's code gave no list and so left such a class out; the two differ nowhere else. Left out, a test split without
    any item of the rarer class would give the majority a perfect score.

    Raises `ValueError` if there is no item, not one prediction per item, or an id that the label list does not have.
    """
    gold, predicted = _beside(gold, predicted)
    for name, ids in (("gold", gold), ("predicted", predicted)):
        if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= classes:
            raise ValueError(f"{name}: a class that is none of the {classes} of the task (0 to {classes - 1})")
    right = np.bincount(gold[gold == predicted], minlength=classes)
    there = np.bincount(gold, minlength=classes) + np.bincount(predicted, minlength=classes)
    return Measured(float(np.mean(2 * right / np.maximum(there, 1))), None if there.all() else ABSENT)


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r, or None where it is undefined: one side is constant (so also for a single item).

    Raises `ValueError` if there is no item, not one y per x, or a value that is no finite number.
    """
    x, y = _beside(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("a value that is no finite number")
    # Equality, not a variance of 0: the mean of equal floats may differ from them in the last digit.
    if (x == x[0]).all() or (y == y[0]).all():
        return None
    x, y = _centred(x), _centred(y)
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _centred(values: np.ndarray) -> np.ndarray:
    """The deviations from the mean, the largest made 1 so that squares neither vanish nor overflow."""
    values = values / np.abs(values).max()
    values = values - values.mean()
    return values / np.abs(values).max()


def correlation_score(gold: Sequence[float], predicted: Sequence[float]) -> Measured:
    """(r + 1) / 2 of Pearson's r. Where r is undefined (`correlation`) it counts as 0: score 0.5, flagged
    `undefined_correlation`. Raises `ValueError` like `correlation`."""
    r = correlation(gold, predicted)
    return Measured(0.5, UNDEFINED) if r is None else Measured((r + 1) / 2)


def span_f1(gold: Sequence[Iterable[Span]], predicted: Sequence[Iterable[Span]]) -> Measured:
    """The F1 of the characters that spans cover, per item, averaged over the items; 1 where neither has a span, 0 where
    only one has (SemEval-2021 task 5, Pavlopoulos et al. 2021; the paper's code has the same rule).

    Spans are (start, end) in code points, end exclusive; what several spans of an item cover counts once.
    Raises `ValueError` if there is no item or not one prediction per item.
    """
    if not len(gold) or len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} items")
    return Measured(float(np.mean([_character_f1(*pair) for pair in zip(gold, predicted, strict=True)])))


def _character_f1(gold: Iterable[Span], predicted: Iterable[Span]) -> float:
    gold, predicted = ({at for start, end in spans for at in range(start, end)} for spans in (gold, predicted))
    return 2 * len(gold & predicted) / (len(gold) + len(predicted)) if gold or predicted else 1.0


def _beside(x: Sequence, y: Sequence) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 1 or not len(x) or x.shape != y.shape:
        raise ValueError(f"{y.size} predictions for {x.size} items")
    return x, y


def measure(task: Task, gold: Sequence, predicted: Sequence) -> Measured:
    """The score of predictions for a task, by its format. Raises `ValueError` like the functions above."""
    if task.has_classes:
        return macro_f1(gold, predicted, len(task.labels))
    return (span_f1 if task.format == "span" else correlation_score)(gold, predicted)


class Figure(NamedTuple):
    """A mean over tasks."""

    value: float
    tasks: int


def figures(scores: Mapping[str, float], tasks: Iterable[Task]) -> dict[str, Figure]:
    """The paper's ten figures, as far as there are tasks for them: the mean over the tasks of each category, of each
    format, and over all; every task counts the same.

    `scores` has a value per task name; `tasks` are the declarations, of which others may be there too.
    Raises `ValueError` for a score of a task that is not declared.
    """
    declared = {task.name: task for task in tasks}
    if unknown := sorted(scores.keys() - declared.keys()):
        raise ValueError(f"no such task: {', '.join(unknown)}")
    table = pd.DataFrame(
        [(declared[name].category, declared[name].format, value) for name, value in scores.items()],
        columns=["category", "format", "value"],
    )
    found = {AVERAGE: table["value"]}
    for column in ("category", "format"):
        found |= {str(name): values for name, values in table.groupby(column)["value"]}
    return {name: Figure(float(found[name].mean()), len(found[name])) for name in FIGURES if len(found.get(name, ()))}


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Epoch(_Kept):
    """What an epoch of training gave."""

    epoch: int
    """From 1."""
    loss: float
    """Mean over its steps."""
    validation: float
    """The score of the task on validation."""


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Score(_Kept):
    """One score of one task."""

    task: str
    split: Literal["validation", "test", "sockette"]
    value: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    flag: Flag | None = None
    n: Annotated[int, Field(ge=1)]
    """Items scored."""
    content: Digest
    """The digest of the split, as the release's lock has it: the very rows."""


class Run(_Kept):
    """The scores of one model, and what it takes to get them again."""

    release: str
    """Its version."""
    source: Literal["raw", "sample"]
    """What the release was built from."""
    model: str
    revision: str | None = None
    """Of a model from the Hub: the commit."""
    recipe: dict[str, JsonValue]
    """Every setting, defaults too."""
    seed: int | None = None
    versions: dict[str, str]
    """Of Python, this package and the libraries that computed."""
    device: str | None = None
    """The kind of device: cpu, cuda."""
    scores: tuple[Score, ...]

    @model_validator(mode="after")
    def _each_once(self):
        places = [(score.task, score.split) for score in self.scores]
        if twice := sorted({place for place in places if places.count(place) > 1}):
            raise ValueError(f"scored twice: {examples(' '.join(place) for place in twice)}")
        return self


class ScoreFile(_Kept):
    """What a score file says."""

    runs: tuple[Run, ...]


def versions(*packages: str) -> dict[str, str]:
    """The versions of Python, of this package and of `packages`, as a `Run` keeps them."""
    return {"python": platform.python_version(), "socket-data": __version__} | {
        name: version(name) for name in packages
    }


def write_scores(runs: Iterable[Run], path: Path) -> None:
    """Write a score file."""
    with whole_file(path) as beside:
        beside.write_text(ScoreFile(runs=tuple(runs)).model_dump_json(indent=1) + "\n", encoding="utf-8", newline="\n")


def read_scores(path: Path) -> tuple[Run, ...]:
    """The runs of a score file. Raises `Problem` naming the file and the place in it if it is none."""
    try:
        return ScoreFile.model_validate_json(path.read_bytes()).runs
    except OSError as error:
        raise Problem(f"cannot be read ({error.strerror}).", where=[str(path)]) from None
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "all of it"
        raise Problem(f"is not a score file ({place}: {fault['msg']}).", where=[str(path)]) from None


class Series(NamedTuple):
    """What runs have in common that differ in their seeds only."""

    model: str
    """By the paper's name, if it has one."""
    revision: str | None
    release: str
    source: str
    recipe: str
    """Every setting but the seeds, as JSON."""


def series(run: Run) -> Series:
    """The series that a run belongs to."""
    settings = {"tasks": {}} | run.recipe
    settings.pop("seeds", None)
    recipe = json.dumps(settings if run.recipe else {}, sort_keys=True)
    return Series(known_as(run.model), run.revision, run.release, run.source, recipe)


def read_all(paths: Iterable[Path]) -> tuple[Run, ...]:
    """The runs of score files, in their order; a folder stands for all score files in it, however deep, by name.

    Raises `WrongUsage` if there is no such path, `Problem` if a folder holds no score file, if a file is none, or if
    files say twice what a model scored with one seed on a split of a task.
    """
    files: dict[Path, Path] = {}  # each once, also if its folder is named too
    for path in paths:
        if not path.exists():
            raise WrongUsage("there is no such file or folder.", where=[str(path)])
        found = sorted(filter(is_score_file, path.rglob("*.json"))) if path.is_dir() else [path]
        if not found:
            raise Problem("there is no score file in this folder.", where=[str(path)])
        for file in found:
            files.setdefault(file.resolve(), file)
    runs, seen = [], {}
    for file in files.values():
        for run in read_scores(file):
            runs.append(run)
            for score in run.scores:
                place = (series(run), run.seed, score.task, score.split)
                if place in seen:
                    seed = "" if run.seed is None else f" with seed {run.seed}"
                    where = "twice in it" if seen[place] == file else f"in {seen[place]} too"
                    what = f"the score of {run.model}{seed} on {score.split} of {score.task} is {where}."
                    raise Problem(visible(what), where=[str(file)], todo="Give it once.")
                seen[place] = file
    return tuple(runs)


def is_score_file(path: Path) -> bool:
    """Whether a file is there that begins as a score file does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return bool(_BEGINNING.match(file.read(100)))


def releases(runs: Iterable[Run]) -> list[str]:
    """The releases that were scored, in order, each once."""
    names = (visible(run.release) + (" (samples)" if run.source == "sample" else "") for run in runs)
    return list(dict.fromkeys(names))


def mixed(runs: Sequence[Run]) -> list[str]:
    """Why scores must not stand side by side as if they were of the same data, one sentence each: runs of several
    releases, or of one task and split with other rows; nothing if they may."""
    several = releases(runs)
    found = [f"Scores of several releases: {', '.join(several)}."] if len(several) > 1 else []
    contents: dict[tuple[str, str], dict[str, None]] = {}
    for run in runs:
        for score in run.scores:
            contents.setdefault((score.task, score.split), {})[score.content] = None
    differing = [" ".join(place) for place, digests in contents.items() if len(digests) > 1]
    return found + ([f"Other rows behind the scores of {examples(differing)}."] if differing else [])


def refuse_mixed(runs: Sequence[Run], todo: str = "Compare scores of one release only.") -> None:
    """Raise `Problem`, saying what to do, if `runs` are not all scores of the same data (`mixed` says why)."""
    if found := mixed(runs):
        raise Problem(" ".join(found), todo=todo)
