"""Normalising: raw text to published text, with offset maps so that spans move along.

The published text stays as close to the raw text as possible. Every corpus gets the same three steps (a byte
order mark goes, each line break character becomes one space, outer white space goes); a corpus may declare
more. A step is a list of edits, so one implementation serves plain texts and texts with spans.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from os.path import commonprefix
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from builders.declaration import TextStep
from builders.problems import Problem

# The one white-space rule. `\s` differs between Python, RE2 and other engines, so it is spelled out: the
# characters for which Python's str.isspace is true, as the published release used str.strip.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

Span = tuple[int, int]


class Edit(NamedTuple):
    """Replace the characters from `start` to `end` (exclusive) of a text by `new`."""

    start: int
    end: int
    new: str


Step = Callable[[str], Iterable[Edit]]


def apply(text: str, edits: Sequence[Edit]) -> str:
    """`text` after edits that are in order and do not overlap."""
    pieces, done = [], 0
    for start, end, new in edits:
        pieces += (text[done:start], new)
        done = end
    return "".join((*pieces, text[done:]))


def moved(spans: Iterable[Span], edits: Sequence[Edit]) -> list[Span]:
    """Where `spans` (code points, end exclusive) are after `edits`.

    An edge inside a replaced stretch goes to that side of the replacement which keeps all of it in the span.
    """
    starts = [edit.start for edit in edits]
    shifts = [0]
    for edit in edits:
        shifts.append(shifts[-1] + len(edit.new) - (edit.end - edit.start))

    def place(position: int, is_end: bool) -> int:
        before = bisect_right(starts, position - 1)  # edits that begin left of the position
        if before and edits[before - 1].end > position:
            edit = edits[before - 1]
            return edit.start + shifts[before - 1] + (len(edit.new) if is_end else 0)
        return position + shifts[before]

    return [(place(start, False), place(end, True)) for start, end in spans]


def _byte_order_mark(text: str) -> Iterator[Edit]:
    if text.startswith("\ufeff"):
        yield Edit(0, 1, "")


def _replace(pattern: str, new: str) -> Step:
    compiled = re.compile(pattern)
    return lambda text: [Edit(*match.span(), new) for match in compiled.finditer(text) if match.group() != new]


def _strip(text: str) -> Iterator[Edit]:
    left = len(text) - len(text.lstrip(WHITE_SPACE))
    right = len(text.rstrip(WHITE_SPACE))
    if left:
        yield Edit(0, left, "")
    if left < right < len(text):
        yield Edit(right, len(text), "")


# What html.unescape looks at: a numeric reference, or a name of at most 32 characters, `;` or not.
_ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")

# No character has so many digits, and Python refuses to read numbers of thousands of them.
_NO_CHARACTER = re.compile(r"&#[0-9]{11,}")


def unescape(text: str) -> str:
    """`html.unescape`, but references to no possible character stay as they are."""
    if not _NO_CHARACTER.search(text):
        return html.unescape(text)
    return "".join(
        piece if _NO_CHARACTER.match(piece) else html.unescape(piece) for piece in re.split(r"(&#[0-9]{11,};?)", text)
    )


def _entities(text: str) -> Iterator[Edit]:
    for match in _ENTITY.finditer(text):
        old, new = match.group(), unescape(match.group())
        if new != old:
            # `&notfool` is `¬fool`: only the entity itself is replaced.
            same = len(commonprefix((old[::-1], new[::-1])))  # noqa: RUF071 - characters are meant
            yield Edit(match.start(), match.end() - same, new[: len(new) - same])


@cache
def _composing() -> re.Pattern:
    """Runs of characters that canonical composition may change together: a first character and whatever can
    join it (combining marks, second halves of composed characters, Hangul vowels and finals)."""
    joins = {chr(code) for code in range(0x1160, 0x1200)}
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.combining(unicodedata.normalize("NFD", char)[0]):
            joins.add(char)
        parts = unicodedata.decomposition(char).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            joins.add(chr(int(parts[1], 16)))
    return re.compile(f".[{re.escape(''.join(sorted(joins)))}]*", re.DOTALL)


def _nfc(text: str) -> Iterator[Edit]:
    if unicodedata.is_normalized("NFC", text):
        return
    for match in _composing().finditer(text):
        new = unicodedata.normalize("NFC", match.group())
        if new != match.group():
            yield Edit(*match.span(), new)


LINE_BREAKS = _replace("[\n\r]", " ")


def steps_of(declared: Sequence[TextStep]) -> list[Step]:
    """The steps of a corpus in order: the common ones, with the declared ones before the outer strip."""
    kinds = {"entities": lambda _: _entities, "nfc": lambda _: _nfc,
             "replace": lambda step: _replace(step.pattern, step.replacement)}  # fmt: skip
    return [_byte_order_mark, LINE_BREAKS, *(kinds[step.step](step) for step in declared), _strip]


def normalise(text: str, steps: Iterable[Step], spans: Sequence[Span] = ()) -> tuple[str, list[Span]]:
    """`text` after all `steps`, and where its `spans` (code points, end exclusive) are then."""
    spans = list(spans)
    for step in steps:
        edits = list(step(text))
        if edits:
            text, spans = apply(text, edits), moved(spans, edits)
    return text, spans


# A text that this does not find in is left as it is by the common steps: most of them, so that only the
# others go through Python.
_UNTIDY = f"^\ufeff|[\n\r]|^[{WHITE_SPACE}]|[{WHITE_SPACE}]$"


def normalised(texts: pd.Series, declared: Sequence[TextStep]) -> pd.Series:
    """The published form of a column of raw texts."""
    steps = steps_of(declared)
    untidy = (
        np.ones(len(texts), dtype=bool)
        if declared
        else pc.match_substring_regex(pa.array(texts), _UNTIDY).to_numpy(zero_copy_only=False)
    )
    result = texts.copy()
    result[untidy] = [normalise(text, steps)[0] for text in texts[untidy]]
    return result


def code_points(text: str, spans: Iterable[Span], unit: str) -> list[Span]:
    """`spans` of `text` counted in code points, whatever `unit` ("code_points" or "utf16") they came in.

    Raises `Problem` for a span that is empty, lies outside the text, or cuts a character in two.
    """
    if unit == "utf16":
        places, at = {}, 0
        for index, char in enumerate(text):
            places[at] = index
            at += 1 + (ord(char) > 0xFFFF)
        places[at] = len(text)
    else:
        places = range(len(text) + 1)
    result = []
    for start, end in spans:
        if not 0 <= start < end or (unit != "utf16" and end > len(text)):
            raise Problem(f"the span {start}-{end} is empty or outside the text of {len(text)} characters.")
        try:
            result.append((places[start], places[end]))
        except (KeyError, IndexError):
            raise Problem(f"the span {start}-{end} ends inside a character or outside the text.") from None
    return result


def trimmed(text: str, span: Span) -> Span:
    """`span` without outer white space; empty if it covers nothing else."""
    start, end = span
    surface = text[start:end]
    start += len(surface) - len(surface.lstrip(WHITE_SPACE))
    return start, max(start, start + len(surface.strip(WHITE_SPACE)))


def cuts_a_word(text: str, span: Span) -> bool:
    """Whether an edge of `span` lies between two letters or digits, or between one and its mark."""
    return any(_in_word(text, edge) for edge in span)


def _in_word(text: str, edge: int) -> bool:
    if not 0 < edge < len(text):
        return False
    base = edge - 1
    while base and _is_mark(text[base]):
        base -= 1
    return text[base].isalnum() and (text[edge].isalnum() or _is_mark(text[edge]))


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"
