"""What a table has to be at two borders of the pipeline, as pandera schemas generated from `corpus.yaml`: the raw
rows that a `build.py` returns, and a split of the package.

Every check says in words what a cell has to be. A cell that is no text is told once, by the check that asks for
text; the others let it pass. `failures` gives everything that is wrong with a table at once and as positions, so that
what a person reads stays short however many rows fail.

pandera takes long to import, so the functions that need it do that.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from builders.declaration import Corpus, Task
from builders.pipeline.package import PAIR_JOINT, schema
from builders.pipeline.text import WHITE_SPACE, Span

if TYPE_CHECKING:
    from pandera.pandas import Check, DataFrameSchema

TEXT = "text"
UNICODE = "Unicode (a lone surrogate is half a character)"
UNIQUE = "unique"
THERE = "there"
ONCE = "there once"

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = "^[0-9a-f]{16}$"


class Failure(NamedTuple):
    """One check that a column does not pass."""

    column: str
    must: str
    """What the column, or each of its cells, has to be; it completes "it has to be"."""
    rows: np.ndarray
    """Positions of the rows that are not so: all of them where it is the column that is wrong."""


def failures(expected: "DataFrameSchema", frame: pd.DataFrame) -> list[Failure]:
    """Every check of `expected` that `frame` does not pass, in the order of columns and checks; none if all is well.

    Never raises, whatever the frame holds.
    """
    from pandera.config import config_context
    from pandera.errors import SchemaErrors

    frame = _digestible(frame)
    try:
        # Environment variables can switch pandera off; what a build refuses may not depend on them.
        with config_context(validation_enabled=True, validation_depth="SCHEMA_AND_DATA"):
            expected.validate(frame, lazy=True, inplace=True)
    except SchemaErrors as errors:
        return [failure for error in errors.schema_errors for failure in _failures_of(error, len(frame))]
    return []


def _digestible(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table in a form that pandera takes without raising: columns named by strings that can be written (no
    declared column has another name), and no text column whose type forbids half characters and which holds some."""
    names = [name if isinstance(name, str) else f"{type(name).__name__} {name}" for name in frame.columns]
    names = [_SURROGATE.sub("\ufffd", name) for name in names]
    frame = frame.set_axis(names, axis="columns").reset_index(drop=True)
    for place, dtype in enumerate(frame.dtypes):
        if isinstance(dtype, pd.StringDtype) and dtype.storage != "pyarrow":
            frame.isetitem(place, frame.iloc[:, place].astype("object"))
    return frame


def _failures_of(error, rows: int) -> Iterable[Failure]:
    """What one of pandera's errors says, without the text that goes with it."""
    all_rows = np.arange(rows)
    match error.reason_code.name:
        case "COLUMN_NOT_IN_DATAFRAME":
            yield Failure(error.failure_cases, THERE, all_rows)
        case "COLUMN_NOT_IN_SCHEMA":
            yield Failure(error.failure_cases, "a declared column", all_rows)
        case "COLUMN_NOT_ORDERED":
            yield Failure(error.failure_cases, f"in its place ({', '.join(error.schema.columns)})", all_rows)
        case "DUPLICATE_COLUMN_LABELS":
            yield from (Failure(name, ONCE, all_rows) for name in error.failure_cases.unique())
        case "WRONG_DATATYPE":
            yield Failure(error.schema.name, f"of type {error.schema.dtype}", all_rows)
        case _:
            # A check that could not even be carried out (a number asked of a text) fails for every row.
            wrong = all_rows if error.check_output is None else np.flatnonzero(~error.check_output.to_numpy(dtype=bool))
            yield Failure(error.schema.name or error.check.name, error.check.error, wrong)


def faults(expected: "DataFrameSchema", frame: pd.DataFrame) -> list[dict]:
    """Every check of `expected` that `frame` does not pass, ready for JSON; [] when all is well. Never raises.

    One dict per check: `column`, `check` (what it has to be), `rows` (how many are not so), `examples` (the ids of
    the first three of them, or their positions where there is no id). Ordered by column and check.
    """
    ids = frame["id"] if list(frame.columns).count("id") == 1 else pd.Series([None] * len(frame), dtype="object")
    found = []
    for column, must, rows in failures(expected, frame):
        seen = [(int(row), ids.iloc[row]) for row in rows[:3]]
        named = [id_ if isinstance(id_, str) and re.fullmatch(_ID, id_) else row for row, id_ in seen]
        found.append({"column": column, "check": must, "rows": len(rows), "examples": named})
    return sorted(found, key=lambda fault: (fault["column"], fault["check"]))


# The two schemas --------------------------------------------------------------------------------------------


def raw_schema(corpus: Corpus) -> "DataFrameSchema":
    """What `build.py` of a corpus has to return: `source_row`, the text columns, the group and the parts column, and
    every column that a task or one of its rules reads. Other columns may be there.

    A text may be blank (the pipeline drops and books it) and a group empty (it is none). A label is any value
    of JSON, which `builders.pipeline.labels.token` spells; spans are lists of (start, end).
    """
    text = [_check(TEXT, _is_text), _check(UNICODE, _is_unicode)]
    columns: dict[str, list] = {
        "source_row": [*text, _check("a name", _not_empty), _check(UNIQUE, _unique)],
        **dict.fromkeys(corpus.text_columns, text),
    }
    if corpus.group:
        columns.setdefault(corpus.group, text)
    if corpus.parts:
        columns[corpus.parts] = [*text, _check("whole or part", _whole_or_part)]
    for column in (task.column for task in corpus.tasks if task.format == "span"):
        columns.setdefault(column, [_check("a list of (start, end) offsets", _each(_is_offsets))])
    value = [_check("a value of JSON (text, number, true, false, null, ...)", _is_value), _check(UNICODE, _is_unicode)]
    for task in corpus.tasks:
        for column in (task.column, *(rule.column for rule in task.drops)):
            columns.setdefault(column, value)
    return _schema(columns)


def item_schema(task: Task) -> "DataFrameSchema":
    """What a split of a task holds, as pandas reads it from Parquet: the columns of `package.schema`, in order.

    Texts are not empty, on one line and without outer white space (of `WHITE_SPACE`); labels are class ids, values of
    the scale, or what the spans cover; ids are in ascending order, each once.
    """
    text = [
        _check(TEXT, _is_text),
        _check(UNICODE, _is_unicode),
        _check("not empty", _not_empty),
        _check("on one line", _one_line),
        _check("without outer white space", _stripped),
    ]
    columns = {
        "label": [_label(task)],
        "id": [
            _check(TEXT, _is_text),
            _check(UNICODE, _is_unicode),
            _check("16 hex digits", _is_id),
            _check("in ascending order", _ascending),
            _check(UNIQUE, _unique),
        ],
        "spans": [_check("a list of {start, end}", _each(lambda cell: _places(cell) is not None))],
    }
    types = {pa.int64(): "int64", pa.float64(): "float64"}
    return _schema(
        {field.name: columns.get(field.name, text) for field in schema(task)},
        {field.name: types.get(field.type) for field in schema(task)},
        _of_rows(task),
        strict=True,
        ordered=True,
    )


def _schema(columns: dict[str, list["Check"]], types: dict | None = None, checks: Iterable["Check"] = (), **options):
    from pandera.pandas import Column, DataFrameSchema

    types = types or {}
    # Nullable for pandera: the checks themselves tell a null, and in better words.
    return DataFrameSchema(
        {name: Column(types.get(name), own, nullable=True) for name, own in columns.items()},
        checks=list(checks),
        unique_column_names=True,
        **options,
    )


def _check(must: str, right: Callable, column: str | None = None) -> "Check":
    """A check that every cell, null or not, is what `must` says: `right` gives for a column whether each is. With
    `column` it is a check of rows: `right` gets the whole table, and what is wrong is told of that column."""
    from pandera.pandas import Check

    return Check(
        lambda cells: pd.Series(np.asarray(right(cells), dtype=bool), index=cells.index),
        name=column or must,
        error=must,
        ignore_na=False,
        # How many cells pandera writes into its own text of an error: by default all of them, which can be hundreds of
        # megabytes, and it cannot write half a character.
        n_failure_cases=0,
    )


# Columns ----------------------------------------------------------------------------------------------------


def _in_arrow(column: pd.Series) -> bool:
    """Whether a column is one of text, so that every cell is text or null and nothing has to be looked at."""
    return isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow"


def _texts(column: pd.Series) -> pa.Array:
    """The texts of a column, null where a cell is none that could be written."""
    if _in_arrow(column):
        texts = pa.array(column)
        return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    texts = [cell if isinstance(cell, str) else None for cell in column]
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array([None if text and _SURROGATE.search(text) else text for text in texts], pa.large_string())


def _of_texts(right: Callable[[pa.Array], pa.Array]) -> Callable[[pd.Series], np.ndarray]:
    """`right` of the texts of a column; a cell that is no text passes."""
    return lambda column: pc.fill_null(right(_texts(column)), True).to_numpy(zero_copy_only=False)


def _each(right: Callable[[object], bool]) -> Callable[[pd.Series], np.ndarray]:
    """`right` of every cell of a column."""
    return lambda column: np.fromiter(map(right, column), dtype=bool, count=len(column))


def _is_text(column: pd.Series) -> np.ndarray:
    if _in_arrow(column):
        return column.notna().to_numpy()
    return _each(lambda cell: isinstance(cell, str))(column)


def _is_unicode(column: pd.Series) -> np.ndarray:
    """Whether a text can be written; what is no text passes."""
    if _in_arrow(column):
        return np.ones(len(column), dtype=bool)
    return _texts(column).is_valid().to_numpy(zero_copy_only=False) | ~_is_text(column)


_not_empty = _of_texts(lambda texts: pc.not_equal(texts, ""))
_one_line = _of_texts(lambda texts: pc.invert(pc.match_substring_regex(texts, "[\n\r]")))
_stripped = _of_texts(lambda texts: pc.equal(texts, pc.utf8_trim(texts, WHITE_SPACE)))
_is_id = _of_texts(lambda texts: pc.match_substring_regex(texts, _ID))
_whole_or_part = _of_texts(lambda texts: pc.or_(pc.equal(texts, "whole"), pc.equal(texts, "part")))


def _unique(column: pd.Series) -> np.ndarray:
    """Whether no row before holds the same text."""
    codes = pd.Series(_texts(column).dictionary_encode().indices.to_pandas())
    return (codes.isna() | ~codes.duplicated()).to_numpy()


def _ascending(column: pd.Series) -> np.ndarray:
    """Whether the text of the row before does not come after."""
    texts, right = _texts(column), np.ones(len(column), dtype=bool)
    right[1:] = pc.fill_null(pc.less_equal(texts[:-1], texts[1:]), True).to_numpy(zero_copy_only=False)
    return right


def _is_value(column: pd.Series) -> np.ndarray:
    if _in_arrow(column) or (isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"):
        return np.ones(len(column), dtype=bool)
    return _each(lambda cell: cell is None or isinstance(cell, (str, Real, np.bool_, list, dict)))(column)


def _is_offsets(cell: object) -> bool:
    return _is_list(cell) and all(_is_list(span) and len(span) == 2 and all(map(_is_whole, span)) for span in cell)


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _is_whole(number: object) -> bool:
    return type(number) is int or isinstance(number, np.integer)


def _label(task: Task) -> "Check":
    if task.format == "regression":
        low, high = task.scale
        return _check(
            f"a finite number from {low:g} to {high:g}",
            lambda cells: cells.between(low, high) & (cells.abs() < math.inf),
        )
    if task.format == "span":
        name = task.labels[0].name
        return _check(f"{{{name}: [text, …]}}", _each(lambda cell: _surfaces(cell, name) is not None))
    last = len(task.labels) - 1
    return _check(f"a class id from 0 to {last}", lambda cells: cells.between(0, last))


# Rows -------------------------------------------------------------------------------------------------------


def _of_rows(task: Task) -> list["Check"]:
    """The checks that need several columns of a row, each told of one of them."""
    if task.format == "pair":
        columns = ("text", "text_a", "text_b")
        return [_check(f"text_a + {PAIR_JOINT!r} + text_b", _where_there(columns, _joined), "text")]
    if task.format != "span":
        return []
    found = [
        ("spans", "inside the text", _inside),
        ("spans", "in ascending order, each once", _in_order),
        ("label", "as many as the spans", _as_many),
        ("label", "what the spans cover", _covered),
        ("label", "without outer white space", _trimmed),
    ]
    if task.without_spans == "unlabeled":
        found.append(("spans", "at least one", _some))
    columns = ("text", "label", "spans")
    of_spans = partial(_of_spans, task.labels[0].name)
    return [_check(must, _where_there(columns, of_spans(right)), column) for column, must, right in found]


def _where_there(names: Sequence[str], right: Callable[..., np.ndarray]) -> Callable[[pd.DataFrame], np.ndarray]:
    """`right` of the columns `names` of a table; a table that lacks one passes, since that is told already."""

    def check(frame: pd.DataFrame) -> np.ndarray:
        if any(list(frame.columns).count(name) != 1 for name in names):
            return np.ones(len(frame), dtype=bool)
        return right(*(frame[name] for name in names))

    return check


def _joined(text: pd.Series, text_a: pd.Series, text_b: pd.Series) -> np.ndarray:
    joined = pc.binary_join_element_wise(_texts(text_a), _texts(text_b), pa.scalar(PAIR_JOINT, pa.large_string()))
    return pc.fill_null(pc.equal(_texts(text), joined), True).to_numpy(zero_copy_only=False)


def _of_spans(name: str, right: Callable[[str, list[str], list[Span]], bool]) -> Callable[..., np.ndarray]:
    """`right` of text, surfaces and spans of every row; a row in which one of them cannot be read passes."""

    def check(texts: pd.Series, labels: pd.Series, spans: pd.Series) -> np.ndarray:
        found = np.ones(len(texts), dtype=bool)
        for row, (text, label, span) in enumerate(zip(texts, labels, spans, strict=True)):
            surfaces, places = _surfaces(label, name), _places(span)
            if isinstance(text, str) and surfaces is not None and places is not None:
                found[row] = right(text, surfaces, places)
        return found

    return check


def _inside(text: str, surfaces: list[str], places: list[Span]) -> bool:
    return all(0 <= start < end <= len(text) for start, end in places)


def _in_order(text: str, surfaces: list[str], places: list[Span]) -> bool:
    return places == sorted(set(places))


def _as_many(text: str, surfaces: list[str], places: list[Span]) -> bool:
    return len(surfaces) == len(places)


def _covered(text: str, surfaces: list[str], places: list[Span]) -> bool:
    return all(text[start:end] == surface for (start, end), surface in zip(places, surfaces, strict=False))


def _trimmed(text: str, surfaces: list[str], places: list[Span]) -> bool:
    return all(surface == surface.strip(WHITE_SPACE) for surface in surfaces)


def _some(text: str, surfaces: list[str], places: list[Span]) -> bool:
    return bool(places)


def _surfaces(label: object, name: str) -> list[str] | None:
    """The surfaces in the label of a span item; None if it is none."""
    if not isinstance(label, dict) or list(label) != [name] or not _is_list(label[name]):
        return None
    return list(label[name]) if all(isinstance(surface, str) for surface in label[name]) else None


def _places(spans: object) -> list[Span] | None:
    """The spans of a span item as (start, end); None if they are none."""
    if not _is_list(spans):
        return None
    read = all(isinstance(s, dict) and list(s) == ["start", "end"] and all(map(_is_whole, s.values())) for s in spans)
    return [(span["start"], span["end"]) for span in spans] if read else None
