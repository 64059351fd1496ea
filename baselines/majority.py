"""What can be scored without looking at a text: the most frequent label, and labels by chance.

Neither has a random generator: chance is a keyed hash of the item's id, so that the same item always gets the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from baselines.scores import Run, Score, measure, versions
from baselines.spans import Span
from builders.declaration import Corpus, Task
from builders.pipeline.keys import UNIT_SEPARATOR, ranks
from builders.pipeline.lock import read_lock
from builders.pipeline.package import content_digest, data_path, schema, type_name
from builders.problems import Problem

SCORED = ("test", "sockette")

_WORD = re.compile(r"\S+")


def majority(task: Task, train: np.ndarray, items: pd.DataFrame) -> Sequence:
    """The same prediction for every item: the most frequent class of train (of equals the one with the lowest id), the
    mean of its values, or no span.

    Of train, not of test: only so come the values that the paper prints for tweet_irony and empathy#empathy_bin, whose
    published train and test have different most frequent classes.

    `train` has the labels of train (ids or values; for spans nothing is read), `items` a row per item to predict. Gives
    a prediction per item as `baselines.scores.measure` takes it. Raises `ValueError` if train has no item.
    """
    if task.format == "span":
        return [()] * len(items)
    if not len(train):
        raise ValueError("train has no item")
    value = np.bincount(train).argmax() if task.has_classes else np.mean(train)
    return np.repeat(value, len(items))


def chance(task: Task, train: np.ndarray, items: pd.DataFrame) -> Sequence:
    """A prediction by chance for every item: every class as likely as any other; the value of some item of train; or
    spans of words, each word in or out like a coin.

    `items` needs `id`, and for spans `text`; the rest is as for `majority`.
    """
    draws = ranks("chance", [f"{task.name}{UNIT_SEPARATOR}{name}" for name in items["id"]])
    if task.format == "span":
        return [_words(text, int(draw)) for text, draw in zip(items["text"], draws, strict=True)]
    if task.has_classes:
        return (draws % np.uint64(len(task.labels))).astype(np.int64)
    if not len(train):
        raise ValueError("train has no item")
    return np.asarray(train)[draws % np.uint64(len(train))]


def _words(text: str, draw: int) -> tuple[Span, ...]:
    """The words whose bit in `draw` is set; after 64 words the bits come again."""
    return tuple(word.span() for at, word in enumerate(_WORD.finditer(text)) if draw >> (at % 64) & 1)


PREDICTORS = {"majority": majority, "random": chance}


def score_release(release: Path, corpora: Mapping[str, Corpus]) -> tuple[Run, ...]:
    """The runs `majority` and `random` over every task of a release, on test and on SocKETTe where they have items.

    Raises `Problem` if `release` is not a release, a file of it is missing, damaged or altered, or holds a task that
    `corpora` do not declare.
    """
    lock = read_lock(release)
    scores: dict[str, list[Score]] = {name: [] for name in PREDICTORS}
    for corpus, entry in lock["corpora"].items():
        declared = {task.name: task for task in corpora[corpus].tasks} if corpus in corpora else {}
        for name, facts in entry["tasks"].items():
            if name not in declared:
                raise Problem("no corpus.yaml declares this task of the release.", where=[str(release), name])
            for predictor, score in _scores(release, declared[name], facts["splits"]):
                scores[predictor].append(score)
    return tuple(
        Run(
            release=lock["release"],
            source=lock["source"],
            model=name,
            recipe={},
            versions=versions("numpy"),
            scores=tuple(found),
        )
        for name, found in scores.items()
    )


def _scores(release: Path, task: Task, splits: Mapping[str, dict]) -> Iterator[tuple[str, Score]]:
    train = _table(release, task, "train")["label"]
    train = np.empty(0) if task.format == "span" else train.to_numpy()
    if not len(train) and task.format != "span":
        raise Problem("train has no item, so nothing can be learnt from it.", where=[str(release), task.name])
    for split in SCORED:
        table = _table(release, task, split)
        if _columns(table.schema) != _columns(schema(task)) or content_digest(table) != splits[split]["content"]:
            raise Problem("other rows than the lock says.", where=[str(release), data_path(task, split)])
        if not len(table):
            continue
        columns = ["id", "text"] if task.format == "span" else ["id"]
        items, gold = table.select(columns).to_pandas(), gold_labels(task, table)
        for name, predict in PREDICTORS.items():
            value, flag = measure(task, gold, predict(task, train, items))
            yield (
                name,
                Score(
                    task=task.name,
                    split=split,
                    value=value,
                    flag=flag,
                    n=len(table),
                    content=splits[split]["content"],
                ),
            )


def _table(release: Path, task: Task, split: str) -> pa.Table:
    path = data_path(task, split)
    columns = ["label"] if split == "train" else None
    try:
        return pq.read_table(release / path, columns=columns, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        missing = isinstance(error, FileNotFoundError)
        raise Problem("missing." if missing else "damaged: it cannot be read.", where=[str(release), path]) from None


def _columns(kinds: pa.Schema) -> list[tuple[str, str]]:
    return [(field.name, type_name(field.type)) for field in kinds]


def gold_labels(task: Task, table: pa.Table) -> Sequence:
    """The labels of a split as `baselines.scores.measure` takes them: class ids, values, or spans per item."""
    if task.format != "span":
        return table["label"].to_numpy()
    return [tuple((span["start"], span["end"]) for span in spans) for spans in table["spans"].to_pylist()]
