"""What changed between two releases, row by row, and which version number that asks for.

Items are compared by id, which is the text's own (see `builders.pipeline.keys`): a text that changed beyond its
canonical key is one item removed and one added.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.lock import Lock, read_lock
from builders.pipeline.package import SPLIT_FILES, data_path_of
from builders.pipeline.release import LEDGER
from builders.problems import Problem

Bump = Literal["none", "patch", "minor", "major"]

KINDS = ("added", "removed", "moved", "relabelled", "text", "left sockette", "entered sockette")
"""What can become of an item: `text` is another spelling of the same canonical key. An item that leaves SocKETTe
changes what is scored there, like one that leaves test; one that enters it came on top, or takes such a place."""

MAJOR = ("removed", "moved", "relabelled", "text", "left sockette")
MINOR = ("added", "entered sockette")


class TaskDiff(NamedTuple):
    """One task in two releases."""

    task: str
    before: int | None
    """Items; None where the release has no such task."""
    after: int | None
    rows: pd.DataFrame
    """A row per change: `kind` (see `KINDS`), `id`, `before`, `after`, in the order of kinds and ids. Before and after
    are the splits of an item that was added, removed or moved, and the labels of one that was relabelled; what is
    removed has the ledger's reason as `after`."""
    columns: tuple[str, ...] = ()
    """In words, which columns or label names changed."""
    columns_added: bool = False
    """Whether that is all by addition."""

    @property
    def counts(self) -> dict[str, int]:
        """Changes per kind, those that occur."""
        counts = Counter(self.rows["kind"])
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def by(self, kind: str, column: str) -> dict[str, int]:
        """Changes of a kind per value of `before`, `after` or, for `way`, both."""
        rows = self.rows[self.rows["kind"] == kind]
        values = rows["before"] + " > " + rows["after"] if column == "way" else rows[column]
        return {str(value): int(count) for value, count in values.value_counts().sort_index().items()}


class Diff(NamedTuple):
    """Two releases side by side."""

    before: Lock
    after: Lock
    tasks: list[TaskDiff]
    """Every task of either release, in the order of the later one; also those that did not change."""
    files: tuple[str, ...]
    """Files with other bytes, new or gone, sorted."""

    @property
    def bump(self) -> Bump:
        """Which part of the version number has to rise: major where items were changed, moved or removed (or a task or
        column went), minor where items, tasks or columns came, patch where only bytes differ."""
        kinds = {kind for task in self.tasks for kind in task.counts}
        gone = any(task.after is None or (task.columns and not task.columns_added) for task in self.tasks)
        new = any(task.before is None or task.columns for task in self.tasks)
        if gone or kinds & set(MAJOR):
            return "major"
        if new or kinds & set(MINOR):
            return "minor"
        return "patch" if self.files else "none"

    @property
    def counts(self) -> dict[str, int]:
        """Changes per kind over all tasks."""
        total: Counter = Counter()
        for task in self.tasks:
            total.update(task.counts)
        return {kind: total[kind] for kind in KINDS if total[kind]}

    @property
    def next_version(self) -> str:
        """The version of the release before, raised as `bump` says."""
        parts = [int(part) for part in self.before["release"].split(".")]
        if self.bump == "none":
            return self.before["release"]
        place = ("major", "minor", "patch").index(self.bump)
        raised = [*parts[:place], parts[place] + 1, *[0] * (2 - place)]
        return ".".join(map(str, raised))


def diff(before: Path, after: Path) -> Diff:
    """Compare two release folders. Raises `Problem` naming the file for one that cannot be read."""
    old, new = read_lock(before), read_lock(after)
    names = list(dict.fromkeys([*_tasks(new), *_tasks(old)]))
    files = {
        name
        for name in {*old["files"], *new["files"]}
        if old["files"].get(name, {}).get("sha256") != new["files"].get(name, {}).get("sha256")
    }
    tasks = [_task(name, before, old, after, new, files) for name in names]
    return Diff(old, new, tasks, tuple(sorted(files)))


def _tasks(lock: Lock) -> dict[str, dict]:
    return {name: facts for corpus in lock["corpora"].values() for name, facts in corpus["tasks"].items()}


def _paths(task: str) -> dict[str, str]:
    return {split: data_path_of(task, split) for split in SPLIT_FILES}


def _task(name: str, before: Path, old: Lock, after: Path, new: Lock, changed: set[str]) -> TaskDiff:
    was, now = _tasks(old).get(name), _tasks(new).get(name)
    sizes = [facts["items"] if facts else None for facts in (was, now)]
    none = pd.DataFrame({"kind": [], "id": [], "before": [], "after": []}, dtype="str")
    if not was or not now:
        return TaskDiff(name, *sizes, none)
    if changed.isdisjoint(_paths(name).values()):
        return TaskDiff(name, *sizes, none, *_columns(None, None, _names(was), _names(now)))
    tables = [{split: _read(folder, path) for split, path in _paths(name).items()} for folder in (before, after)]
    schemas = [parts["train"].schema for parts in tables]
    left, right = (_items(parts, _names(facts)) for parts, facts in zip(tables, (was, now), strict=True))
    both = left.merge(right, on="id", how="outer", suffixes=("_was", "_now"), indicator=True)
    rows = pd.concat(_changes(both, _reasons(after, name)), ignore_index=True)
    return TaskDiff(name, *sizes, rows, *_columns(*schemas, _names(was), _names(now)))


def _read(folder: Path, name: str) -> pa.Table:
    try:
        return pq.read_table(folder / name, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise Problem(
            f"cannot be read ({str(error).splitlines()[0][:100]}).",
            where=[str(folder), name],
            todo="The release is damaged; build it, or get it, again.",
        ) from None


def _names(facts: Mapping) -> list[str]:
    """The class names of a task in the order of their ids, as the lock has them."""
    return list(facts["splits"]["train"].get("labels", ()))


def _items(parts: Mapping[str, pa.Table], names: list[str]) -> pd.DataFrame:
    """The items of a task: `id`, `split`, `label` in words, `text`, and whether they are in SocKETTe."""
    tables = []
    for split, table in parts.items():
        frame = pd.DataFrame({column: table[column].to_pandas() for column in ("id", "text")})
        labels = table["label"].to_pylist()
        frame["label"] = [_label(label, names) for label in labels]
        tables.append(frame.assign(split=split))
    items = pd.concat(tables[:-1], ignore_index=True)
    return items.assign(sockette=items["id"].isin(tables[-1]["id"]))


def _label(label: object, names: list[str]) -> str:
    """A class by id and name, a value, or spans; equal if, and only if, the labels are."""
    if isinstance(label, dict):
        return " | ".join(surface for surfaces in label.values() for surface in surfaces)
    if isinstance(label, int) and names:
        return f"{label} {names[label]}" if 0 <= label < len(names) else str(label)
    return repr(label)


def _changes(both: pd.DataFrame, reasons: Mapping[str, str]):
    """A table per kind of change, each in the order of the ids."""
    there = {side: both["_merge"].isin(["both", f"{side}_only"]) for side in ("left", "right")}
    stays = (both["_merge"] == "both").to_numpy()
    sockette = [both[f"sockette_{side}"].eq(True).to_numpy() for side in ("was", "now")]

    def rows(kind: str, where: np.ndarray, before: pd.Series | str, after: pd.Series | str) -> pd.DataFrame:
        table = pd.DataFrame({"kind": kind, "id": both["id"], "before": before, "after": after})[where]
        return table.sort_values("id", kind="stable").astype("str")

    why = pd.Series([reasons.get(id, "not in the pool") for id in both["id"]], index=both.index, dtype="str")
    yield rows("added", ~there["left"].to_numpy(), "", both["split_now"])
    yield rows("removed", ~there["right"].to_numpy(), both["split_was"], why)
    yield rows(
        "moved", stays & (both["split_was"] != both["split_now"]).to_numpy(), both["split_was"], both["split_now"]
    )
    yield rows(
        "relabelled", stays & (both["label_was"] != both["label_now"]).to_numpy(), both["label_was"], both["label_now"]
    )
    yield rows("text", stays & (both["text_was"] != both["text_now"]).to_numpy(), "", "")
    yield rows("left sockette", stays & sockette[0] & ~sockette[1], "sockette", both["split_now"])
    yield rows("entered sockette", stays & ~sockette[0] & sockette[1], both["split_was"], "sockette")


def _reasons(release: Path, task: str) -> dict[str, str]:
    """Why ids are no items of a task in a release: the ledger's reason by id."""
    ledger = _read(release, LEDGER).select(["task", "id", "reason"]).to_pandas()
    ours = ledger[(ledger["task"] == task) & ledger["id"].notna()].drop_duplicates("id")
    return dict(zip(ours["id"], ours["reason"], strict=True))


def _columns(
    was: pa.Schema | None, now: pa.Schema | None, old: list[str], new: list[str]
) -> tuple[tuple[str, ...], bool]:
    """In words what changed in columns and label names, and whether it is all by addition."""
    told, added = [], True
    if was is not None and now is not None:
        types = [{field.name: str(field.type) for field in schema} for schema in (was, now)]
        told += [f"column {name} came" for name in types[1].keys() - types[0].keys()]
        gone = [f"column {name} went" for name in types[0].keys() - types[1].keys()]
        gone += [
            f"column {name} is {types[1][name]}, was {types[0][name]}"
            for name in types[0].keys() & types[1].keys()
            if types[0][name] != types[1][name]
        ]
        told, added = sorted(told) + sorted(gone), not gone
    if old != new:
        told.append(f"labels are {', '.join(new)}, were {', '.join(old)}")
        added = added and new[: len(old)] == old
    return tuple(told), added and bool(told)
