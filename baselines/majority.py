"""What can be scored without looking at a text: the most frequent label, and labels by chance.

Neither has a random generator: chance is a keyed hash of the item's id, so that the same item always gets the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from baselines.data import Release, gold_labels, open_release
from baselines.scores import Run, Score, measure, versions
from baselines.spans import Span
from builders.declaration import Corpus, Task
from builders.pipeline.keys import UNIT_SEPARATOR, ranks
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


def score_release(folder: Path, corpora: Mapping[str, Corpus]) -> tuple[Run, ...]:
    """The runs `majority` and `random` over every task of a release, on test and on SocKETTe where they have items.

    Raises `Problem` if `folder` is not a release, a file of it is missing, damaged or altered, or holds a task that
    `corpora` do not declare.
    """
    release = open_release(folder, corpora)
    scores: dict[str, list[Score]] = {name: [] for name in PREDICTORS}
    for task in release.tasks.values():
        for predictor, score in _scores(release, task):
            scores[predictor].append(score)
    return tuple(
        Run(
            release=release.lock["release"],
            source=release.lock["source"],
            model=name,
            recipe={},
            versions=versions("numpy"),
            scores=tuple(found),
        )
        for name, found in scores.items()
    )


def _scores(release: Release, task: Task) -> Iterator[tuple[str, Score]]:
    train = release.read(task, "train")["label"]
    train = np.empty(0) if task.format == "span" else train.to_numpy()
    if not len(train) and task.format != "span":
        raise Problem("train has no item, so nothing can be learnt from it.", where=[str(release.folder), task.name])
    for split in SCORED:
        table = release.read(task, split)
        if not len(table):
            continue
        columns = ["id", "text"] if task.format == "span" else ["id"]
        items, gold = table.select(columns).to_pandas(), gold_labels(task, table)
        for name, predict in PREDICTORS.items():
            value, flag = measure(task, gold, predict(task, train, items))
            content = release.digest(task, split)
            yield name, Score(task=task.name, split=split, value=value, flag=flag, n=len(table), content=content)
