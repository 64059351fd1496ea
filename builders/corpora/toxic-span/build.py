"""Toxic Spans: three CSV files of one layout; the toxic characters of a text as a list of their offsets."""

import json

import pandas as pd

from builders.problems import Problem

FILES = ("tsd_train.csv", "tsd_trial.csv", "tsd_test.csv")


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per text, in the order train, trial, test, with its spans (start, end) in `toxic`.

    Raises `Problem` naming the record for a cell that is not a list of increasing offsets.
    """
    rows = pd.concat([raw[name] for name in FILES])
    return rows.assign(toxic=[_spans(*cells) for cells in zip(rows["source_row"], rows["spans"], strict=True)])


def _spans(source_row: str, cell: str) -> list[tuple[int, int]]:
    """The runs of consecutive offsets in a cell: `[3, 4, 5, 9]` is 3-6 and 9-10."""
    try:
        offsets = json.loads(cell)
    except (TypeError, ValueError, RecursionError):
        offsets = None
    numbers = isinstance(offsets, list) and all(type(offset) is int for offset in offsets)
    if not numbers or sorted({*offsets}) != offsets:
        raise Problem(
            f"{str(cell)[:40]!r} is not a list of increasing character offsets.",
            where=[source_row],
            todo="The file is cut or altered.",
        )
    marked = {*offsets}
    starts = [offset for offset in offsets if offset - 1 not in marked]
    ends = [offset + 1 for offset in offsets if offset + 1 not in marked]
    return list(zip(starts, ends, strict=True))
