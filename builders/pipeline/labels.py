"""Raw labels to labels: tokens and scores to class ids, values to floats, offsets to spans in the text.

An unlabeled row is marked here and dropped later; a token that nobody declared stops the build.
"""

import math
import re
from collections import Counter
from operator import index
from typing import NamedTuple

import numpy as np
import pandas as pd

from builders.declaration import Label, Task
from builders.pipeline.keys import canonical_key
from builders.pipeline.text import Span, Step, code_points, cuts_a_word, normalise, trimmed
from builders.problems import Problem, examples


def token(value: object) -> str:
    """A raw cell as `corpus.yaml` writes it: text as it is, JSON's true, false and null in JSON's spelling."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "nan"
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    return str(value)


def tokens(column: pd.Series) -> pd.Series:
    """The token of every cell of a raw column."""
    return column.fillna("nan") if isinstance(column.dtype, pd.StringDtype) else column.map(token)


def labels(task: Task, rows: pd.DataFrame) -> pd.Series:
    """The label of every raw row of a classification, pair or regression task.

    Class ids as nullable integers (position in `task.labels`), values as nullable floats; null where nobody
    labelled the row, or where a rule of the corpus drops it for this very token. Raises `Problem` naming column,
    token and records for a token that is not declared.
    """
    without = {
        *task.unlabeled_tokens,
        *(v for rule in task.drops if rule.column == task.column for v in rule.values),
    }
    raw_tokens = tokens(rows[task.column])
    codes, unique = pd.factorize(raw_tokens)
    known, unknown = [], []
    for raw in unique:
        try:
            known.append(pd.NA if raw in without else _label(task, raw))
        except ValueError as error:
            unknown.append((raw, str(error)))
            known.append(pd.NA)
    if unknown:
        raw, reason = unknown[0]
        records = rows["source_row"][raw_tokens == raw]
        raise Problem(
            f"{_cut(raw)} in column {task.column} {reason}"
            + (f" (so are {examples([_cut(other) for other, _ in unknown[1:]])})." if len(unknown) > 1 else "."),
            where=[task.name, examples(records, len(records))],
            todo="The raw file is altered, or corpus.yaml does not declare the token.",
        )
    kind = "Float64" if task.format == "regression" else "Int64"
    return pd.Series(pd.array(known, dtype=kind).take(codes), index=rows.index)


def _cut(raw: str, at_most: int = 60) -> str:
    """A token as a message shows it."""
    return repr(raw) if len(raw) <= at_most else f"{raw[:at_most]!r}…"


def _label(task: Task, raw: str) -> int | float:
    """The class id or value that the token `raw` stands for. Raises ValueError saying why there is none."""
    if task.format == "regression":
        value, (low, high) = _number(raw), task.scale
        if not low <= value <= high:
            raise ValueError(f"is outside the scale from {low:g} to {high:g}")
        return value
    for class_id, label in enumerate(task.labels):
        if raw in label.raw or (label.is_range and _within(_number(raw), label)):
            return class_id
    known = ", ".join(repr(raw) for label in task.labels for raw in label.raw)
    raise ValueError(f"is not a declared label ({known})")


# What a score may look like; Python's float() takes much more (1_0, nan, digits of other scripts).
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


def _number(raw: str) -> float:
    if not _NUMBER.fullmatch(raw) or not math.isfinite(float(raw)):
        raise ValueError("is not a finite decimal number")
    return float(raw)


def _within(value: float, label: Label) -> bool:
    (low, low_in), (high, high_in) = label.low, label.high
    return (value > low or (low_in and value == low)) and (value < high or (high_in and value == high))


class SpanLabel(NamedTuple):
    """The label of a span item."""

    spans: tuple[Span, ...]
    """Code points of the published text, end exclusive, sorted, each once."""
    surfaces: tuple[str, ...]
    """What they cover, in the same order."""
    text: str
    """The published text they lie in."""

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """What makes two span labels of one text equal, however it is spelled: for every span the canonical key of
        what comes before it and of what it covers."""
        return tuple(
            (canonical_key(self.text[:start]), canonical_key(self.text[start:end])) for start, end in self.spans
        )


def span_labels(task: Task, rows: pd.DataFrame, steps: list[Step]) -> tuple[pd.Series, pd.Series, dict[str, int]]:
    """Texts and labels of a span task: (published texts, `SpanLabel` or null, counts).

    Spans lose their outer white space. The counts say how many `spans` there are, how many were `trimmed`, how
    many covered `blank` text only and are gone, how many were a `repeat` of another, and how many of those
    left cut a word (`mid_word`: reported, never moved).
    Raises `Problem` naming the record for a span that does not lie in its text.
    """
    counts = Counter(dict.fromkeys(("spans", "trimmed", "blank", "repeat", "mid_word"), 0))
    texts, found = [], []
    for source_row, raw, declared in zip(rows["source_row"], rows["text"], rows[task.column], strict=True):
        try:
            given = code_points(raw, _pairs(declared), task.offsets)
        except Problem as problem:
            problem.todo = "The raw file is altered, or corpus.yaml declares the wrong unit (`offsets`)."
            raise problem.within(task.name, source_row) from None
        inside = [trimmed(raw, span) for span in given]
        text, moved = normalise(raw, steps, [span for span in inside if span[0] < span[1]])
        kept = [new for new in (trimmed(text, span) for span in moved) if new[0] < new[1]]
        once = sorted(set(kept))
        counts["spans"] += len(once)
        counts["blank"] += len(given) - len(kept)
        counts["trimmed"] += sum(new[0] < new[1] and new != old for old, new in zip(given, inside, strict=True))
        counts["repeat"] += len(kept) - len(once)
        counts["mid_word"] += sum(cuts_a_word(text, span) for span in once)
        texts.append(text)
        found.append(
            SpanLabel(tuple(once), tuple(text[start:end] for start, end in once), text)
            if once or task.without_spans == "keep"
            else None
        )
    return (
        pd.Series(texts, index=rows.index, dtype="str"),
        pd.Series(found, index=rows.index, dtype="object"),
        dict(counts),
    )


def _pairs(declared: object) -> list[Span]:
    try:
        if isinstance(declared, str) or any(isinstance(edge, bool) for span in declared for edge in span):
            raise TypeError
        return [(index(start), index(end)) for start, end in declared]
    except (TypeError, ValueError):
        raise Problem(f"{str(declared)[:60]!r} is no list of (start, end) offsets.") from None
