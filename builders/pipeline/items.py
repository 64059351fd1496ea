"""Raw rows to the items of one task: drop, deduplicate, and book every row that did not become an item.

No row disappears here: per task, raw rows = items + ledger rows, which `task_items` checks itself.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from builders.declaration import Task
from builders.pipeline.labels import SpanLabel, tokens

LEDGER = ("corpus", "task", "source_row", "id", "reason", "kept_id", "detail")


class TaskItems(NamedTuple):
    """What became of the raw rows of a corpus in one task."""

    items: pd.DataFrame
    """`row` (position among the raw rows), `id`, `label`; in source order, each id once."""
    ledger: pd.DataFrame
    """`row`, `id`, `reason`, `kept_id`, `detail` of every other raw row; in source order."""


def task_items(task: Task, rows: pd.DataFrame, texts: pd.DataFrame, labels: pd.Series) -> TaskItems:
    """Split the raw rows of a task into items and ledger.

    `rows` has the raw columns the task's rules read; `texts`, beside it, the columns `text` (published; a pair
    joined), `id`, `blank` (no visible text) and `identical` (pair of two equal texts); `labels` is null where a row
    is unlabeled. The first
    reason that applies counts: unlabeled, empty_text, identical_pair, the corpus's own, duplicate or contradiction.
    """
    reason = np.full(len(rows), None, dtype=object)
    detail = np.full(len(rows), "", dtype=object)

    def drop(why: str, where: np.ndarray, details: pd.Series | str) -> None:
        new = where & (reason == None)  # noqa: E711 - element by element
        reason[new] = why
        detail[new] = details if isinstance(details, str) else details.to_numpy(dtype=object)[new]

    ruled = [tokens(rows[rule.column]).isin(rule.values).to_numpy() for rule in task.drops]
    by_label = [found for rule, found in zip(task.drops, ruled, strict=True) if rule.column == task.column]
    unlabeled = labels.isna().to_numpy() & ~np.any([np.zeros(len(rows), dtype=bool), *by_label], axis=0)
    drop("unlabeled", unlabeled, "" if task.format == "span" else tokens(rows[task.column]))
    drop("empty_text", texts["blank"].to_numpy(), "")
    drop("identical_pair", texts["identical"].to_numpy(), "")
    for rule, found in zip(task.drops, ruled, strict=True):
        drop(rule.reason, found, tokens(rows[rule.column]))

    left = np.flatnonzero(reason == None)  # noqa: E711
    kept_id = np.full(len(rows), None, dtype=object)
    ids, values = texts["id"].to_numpy(dtype=object), labels.to_numpy(dtype=object, na_value=None).copy()
    codes, _ = pd.factorize(ids[left])
    shared = np.bincount(codes)[codes] > 1 if len(codes) else np.zeros(0, dtype=bool)
    published = texts["text"].to_numpy(dtype=object)
    for _, members in pd.Series(left[shared]).groupby(codes[shared], sort=False):
        keep, verdict, told = _settle(task.policy, [values[row] for row in members])
        seen, stays = set(), None
        if keep:
            kept = members.iloc[keep[0]]
            values[kept], stays, seen = keep[1], ids[kept], {published[kept]}
        for row, why in zip(members, verdict, strict=True):
            if why:
                # Whether the very text repeats one that stays or came before: what a release that compares
                # texts, not keys, would have removed as well.
                again = "verbatim" if published[row] in seen else ""
                reason[row], kept_id[row] = why, stays
                detail[row] = ", ".join(filter(None, [told, again]))
                seen.add(published[row])

    is_item = reason == None  # noqa: E711
    items = pd.DataFrame({"row": np.flatnonzero(is_item), "id": ids[is_item]})
    items["label"] = pd.Series(list(values[is_item]), dtype=_dtype(task))
    dropped = np.flatnonzero(~is_item)
    ledger = pd.DataFrame(
        {
            "row": dropped,
            # A blank text has no key, so it has no id either.
            "id": np.where(texts["blank"].to_numpy()[dropped], None, ids[dropped]),
            "reason": reason[dropped],
            "kept_id": kept_id[dropped],
            "detail": detail[dropped],
        }
    )
    assert len(items) + len(ledger) == len(rows)
    assert items["id"].is_unique
    return TaskItems(items, ledger)


def _dtype(task: Task) -> str:
    return {"regression": "float64", "span": "object"}.get(task.format, "int64")


def _settle(policy: str, labels: list) -> tuple[tuple[int, object] | None, list[str | None], str]:
    """Decide between rows that share one key, given their labels in source order.

    Returns the position of the row that stays and its label (None if no row stays), the reason for which each
    row goes (None for the one that stays), and the votes in words where they differ.
    """
    compared = list(map(_comparable, labels))
    votes = Counter(compared)
    if len(votes) == 1:
        return (0, labels[0]), [None] + ["duplicate"] * (len(labels) - 1), ""
    told = ", ".join(f"{_shown(labels[compared.index(vote)])} x {count}" for vote, count in votes.items())
    verdict: list[str | None] = ["contradiction"] * len(labels)
    winner, count = votes.most_common(1)[0]
    if policy == "majority" and 2 * count > len(labels):
        agree = [place for place, label in enumerate(compared) if label == winner]
        for place in agree:
            verdict[place] = "duplicate"
        verdict[agree[0]] = None
        return (agree[0], labels[agree[0]]), verdict, told
    if policy == "mean":
        verdict[0] = None
        return (0, math.fsum(labels) / len(labels)), verdict, told
    return None, verdict, told


def _comparable(value: object) -> object:
    """What makes two labels of one text equal: the class id, the number, or where the spans are."""
    return value.places if isinstance(value, SpanLabel) else value


def _shown(value: object) -> str:
    if isinstance(value, SpanLabel):
        return " | ".join(value.surfaces) or "no span"
    return f"{value:g}" if isinstance(value, float) else str(value)
