"""The items of a release as models need them: checked against the lock, labels as `baselines.scores` takes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.declaration import Corpus, Task
from builders.pipeline.lock import Lock, TaskFacts, read_lock
from builders.pipeline.package import content_digest, data_path, schema, type_name
from builders.problems import Problem, WrongUsage, examples


class Release(NamedTuple):
    """A release folder, its lock, and the tasks that it holds."""

    folder: Path
    lock: Lock
    tasks: dict[str, Task]
    """By name, in the order of the lock."""

    def facts(self, task: Task) -> TaskFacts:
        """What the lock says of a task."""
        return next(entry["tasks"][task.name] for entry in self.lock["corpora"].values() if task.name in entry["tasks"])

    def digest(self, task: Task, split: str) -> str:
        """The digest of a split, as the lock has it."""
        return self.facts(task)["splits"][split]["content"]

    def chosen(self, names: Sequence[str]) -> list[Task]:
        """The tasks of those names (a corpus name means all its tasks), in the order of the release; all if none is
        named. Raises `WrongUsage` for a name that the release does not hold."""
        corpora = {name: list(entry["tasks"]) for name, entry in self.lock["corpora"].items()}
        if unknown := [name for name in names if name not in self.tasks and name not in corpora]:
            raise WrongUsage(
                f"not in this release: {examples(unknown)}.",
                where=[str(self.folder)],
                todo=f"It has {examples(self.tasks)}.",
            )
        wanted = {task for name in names for task in corpora.get(name, [name])} if names else self.tasks.keys()
        return [task for name, task in self.tasks.items() if name in wanted]

    def read(self, task: Task, split: str) -> pa.Table:
        """The rows of a split. Raises `Problem` if the file is missing, damaged, or holds other rows than the lock
        says."""
        path = data_path(task, split)
        try:
            table = pq.read_table(self.folder / path, partitioning=None)
        except (OSError, pa.ArrowException) as error:
            missing = isinstance(error, FileNotFoundError)
            what = "missing." if missing else "damaged: it cannot be read."
            raise Problem(what, where=[str(self.folder), path]) from None
        if _columns(table.schema) != _columns(schema(task)) or content_digest(table) != self.digest(task, split):
            raise Problem("other rows than the lock says.", where=[str(self.folder), path])
        return table


def open_release(folder: Path, corpora: Mapping[str, Corpus]) -> Release:
    """A release folder. Raises `Problem` if it is none, or holds a task that `corpora` do not declare."""
    lock = read_lock(folder)
    tasks = {}
    for corpus, entry in lock["corpora"].items():
        declared = {task.name: task for task in corpora[corpus].tasks} if corpus in corpora else {}
        for name in entry["tasks"]:
            if name not in declared:
                raise Problem("no corpus.yaml declares this task of the release.", where=[str(folder), name])
            tasks[name] = declared[name]
    return Release(folder, lock, tasks)


def _columns(kinds: pa.Schema) -> list[tuple[str, str]]:
    return [(field.name, type_name(field.type)) for field in kinds]


def gold_labels(task: Task, table: pa.Table) -> Sequence:
    """The labels of a split as `baselines.scores.measure` takes them: class ids, values, or spans per item."""
    if task.format != "span":
        return table["label"].to_numpy()
    return [tuple((span["start"], span["end"]) for span in spans) for spans in table["spans"].to_pylist()]


def capped(task: Task, table: pa.Table, at_most: int | None) -> pa.Table:
    """At most that many items of a split, in its order: the classes share the places as evenly as they have items, and
    within a class (or where there are none) the first ones stay. Rows lie in the order of their ids, which are hashes,
    so the first are a fair sample.

    Evenly, not in proportion: of 17,180 posts 110 threaten somebody, and of 1,500 drawn in proportion ten would.
    """
    if at_most is None or len(table) <= at_most:
        return table
    if not task.has_classes:
        return table.slice(0, at_most)
    labels = table["label"].to_numpy()
    counts = np.bincount(labels, minlength=len(task.labels))
    # The level up to which every class is filled; what is left over goes to the first classes that have more.
    level = max(level for level in range(at_most + 1) if np.minimum(counts, level).sum() <= at_most)
    seats = np.minimum(counts, level)
    seats[np.flatnonzero(counts > level)[: at_most - seats.sum()]] += 1
    order = np.argsort(labels, kind="stable")
    within = np.empty(len(labels), dtype=np.int64)
    within[order] = np.arange(len(labels)) - np.searchsorted(labels[order], labels[order])
    return table.filter(pa.array(within < seats[labels]))
