"""The scores that the paper prints: what `socket-data baseline` puts beside ours, and when it may."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from builders.declaration import read_yaml
from validation.published import facts

PRINTED = Path(__file__).parent / "published.yaml"

# Published defects that leave the shares of the classes in test alone: which texts share a split (10), SocKETTe (12).
SAME_SHARES = (10, 12)
# Published defects that leave texts, labels and the choice of items alone, and no test item in train: they say only
# how items were dealt into splits. Every release is dealt anew, so they concern no single task.
ONLY_DEALT = (9, 10, 12, 19)

# Printed values have two decimals; closer than this is the same.
TOLERANCE = 0.01 + 1e-9

# The encoders of the paper by the names it gives them.
HUB_NAMES = {
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "roberta-base": "FacebookAI/roberta-base",
    "deberta-v3-base": "microsoft/deberta-v3-base",
    "MiniLM": "microsoft/MiniLM-L12-H384-uncased",
}
DEBERTA = "deberta-v3-base"
"""The one whose scores are printed task by task."""
BASELINES = ("majority", "random")


class Mean(NamedTuple):
    """A score over seeds."""

    mean: float
    deviation: float | None = None
    """None if it is of one seed."""


class Printed(NamedTuple):
    """What the paper prints for a task; None where it does not."""

    random: float | None = None
    majority: float | None = None
    single_task: Mean | None = None
    category_wise: Mean | None = None
    all_tasks: Mean | None = None
    socket: float | None = None
    """One DeBERTa model on test, and on SocKETTe."""
    sockette: float | None = None


class Group(NamedTuple):
    """A row of the paper's main table: ten means over tasks, named as `baselines.scores.FIGURES`."""

    model: str
    setting: str
    figures: dict[str, float]


@cache
def printed() -> dict[str, Printed]:
    """What the paper prints, by task."""
    return {
        task: Printed(**{name: Mean(*value) if isinstance(value, list) else value for name, value in scores.items()})
        for task, scores in read_yaml(PRINTED)["tasks"].items()
    }


@cache
def groups() -> tuple[Group, ...]:
    """The rows of the paper's main table."""
    rows = [dict(row) for row in read_yaml(PRINTED)["groups"]]
    return tuple(Group(row.pop("model"), row.pop("setting"), row) for row in rows)


@cache
def stated_correlation() -> float:
    """Pearson's r of the scores on test and on SocKETTe, as the paper's text says it."""
    return read_yaml(PRINTED)["text"]["correlation"]


@cache
def group(model: str) -> dict[str, float] | None:
    """The ten figures that the paper prints of a model under that name, trained as we do or without training; None
    if there are none."""
    same = (row.figures for row in groups() if row.model == model and row.setting in ("baseline", "fine-tuned"))
    return next(same, None)


def known_as(model: str) -> str:
    """The paper's name of one of its encoders, also if `model` is its place on the Hub, or names a revision of it; any
    other name as it is."""
    place = model.partition("@")[0]
    return next((name for name, of in HUB_NAMES.items() if place in (name, of)), model)


def score_of(model: str, task: str, split: str) -> Mean | None:
    """What the paper prints of a model on a split of a task; None if nothing. (It prints DeBERTa, majority and random
    on test, DeBERTa on SocKETTe where that is a part of test; of sarc DeBERTa only, with one seed.)"""
    scores = printed().get(task, Printed())
    if model == DEBERTA:
        one = {"test": scores.socket, "sockette": scores.sockette}.get(split)
        several = scores.single_task if split == "test" else None
        return several or (None if one is None else Mean(one))
    value = getattr(scores, model) if model in BASELINES and split == "test" else None
    return None if value is None else Mean(value)


def corrected(task: str) -> list[int] | None:
    """The published defects whose correction changes the shares of the labels in test, so that scores of two releases
    are not scores of the same thing; None for a task that was never published."""
    return _defects(task, {"labels", "total", "splits"}, but=SAME_SHARES)


def changed(task: str) -> list[int] | None:
    """The published defects whose correction changes what is learnt and scored: texts, labels, which items there are,
    test items in train; not those that only deal the same items otherwise. None for a task that was never published."""
    return _defects(task, {"text", "labels", "total", "splits"}, but=ONLY_DEALT)


def _defects(task: str, concerned: set[str], but: tuple[int, ...]) -> list[int] | None:
    known, defects = facts()
    if task not in known:
        return None
    numbers = known[task].defects
    return [number for number in numbers if number not in but and concerned.intersection(defects[number]["concerns"])]
