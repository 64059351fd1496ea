"""The scores that the paper prints: what `socket-data baseline` puts beside ours."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from builders.declaration import read_yaml
from validation.published import facts

PRINTED = Path(__file__).parent / "published.yaml"

# Published defects that leave the shares of the classes in test alone: which texts share a split (10), SocKETTe (12).
SAME_SHARES = (10, 12)


class Mean(NamedTuple):
    """A score over seeds."""

    mean: float
    deviation: float


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


def corrected(task: str) -> list[int] | None:
    """The published defects whose correction changes the shares of the labels in test, so that scores of two releases
    are not scores of the same thing; None for a task that was never published."""
    known, defects = facts()
    if task not in known:
        return None
    moving = {"labels", "total", "splits"}
    return [
        number
        for number in known[task].defects
        if number not in SAME_SHARES and moving.intersection(defects[number]["concerns"])
    ]
