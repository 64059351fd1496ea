"""Raw files to raw rows: bytes to tables as `corpus.yaml` declares them, then the corpus's own `build.py`.

Nothing is guessed here: not the encoding, not where a record ends, not what is quoted, not the type of a
column, not which words mean a missing value. Every cell of a text file is a string.
"""

import bz2
import csv
import importlib.util
import io
import json
import lzma
import re
import reprlib
import stat
import sys
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from errno import EINVAL
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd

from builders.declaration import Corpus, RawFile
from builders.pipeline.schemas import ONCE, THERE, UNIQUE, Failure, failures, raw_schema
from builders.problems import Problem, examples, raise_all

LINE_ENDS = {"lf": "\n", "crlf": "\r\n"}
BYTE_ORDER_MARK = "\ufeff"

# Texts compress by a factor of ten or so; a member so many times larger than its archive is no text.
MOST_UNPACKED = 200

# What the libraries raise for an archive that is none or not whole; UnicodeDecodeError for the name of a member.
DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, NotImplementedError,
    UnicodeDecodeError,
)  # fmt: skip

NOT_AS_PROMISED = "Either a raw file has another shape than declared, or build.py is wrong."

# Bounds what is shown of a cell, however large it is.
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60

_SURROGATE = re.compile("[\ud800-\udfff]")

# How JSON may spell one, alone or as half of a pair.
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def raw_rows(corpus: Corpus, files: Mapping[str, Sequence[tuple[str, Path]]]) -> pd.DataFrame:
    """The raw rows of a corpus: what its `build.py` makes of its raw files.

    `files` gives for every declared file name the (name, path) of the files it stands for.
    The result has one line per raw row in source order and at least the columns `source_row` (unique),
    the text columns, the group column and every column that a task or a rule reads.

    Raises `Problem` naming file and record for a file that is not as declared, and for a `build.py` that
    returns something else than that.
    """
    tables = read_files(corpus, files)
    rows = checked(corpus, _run(_build_function(corpus), tables))
    _refuse_lost_values(corpus, tables, rows)
    return rows


def _build_function(corpus: Corpus) -> Callable:
    """`build` of the corpus's build.py, loaded by its path: corpus names are no Python names."""
    spec = importlib.util.spec_from_file_location(f"build_{corpus.name}", corpus.folder / "build.py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return module.build
    except FileNotFoundError:
        raise Problem("the file is missing.", where=["build.py"]) from None
    except (Exception, SystemExit) as error:
        raise Problem(f"cannot be loaded: {type(error).__name__}: {error}.", where=["build.py"]) from error


def _run(build: Callable, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    try:
        return build(tables)
    except Problem:
        raise
    except (Exception, SystemExit) as error:  # whatever it is, a person gets a sentence, not a traceback
        line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else "?"
        what = f"stopped with {type(error).__name__}: {error}."
        if isinstance(error, KeyError):  # of a column, nearly always
            there = [
                f"{name} ({examples(map(_name, table.columns.drop('source_row')), len(table.columns) - 1, at_most=20)})"
                for name, table in tables.items()
            ]
            what = f"does not find what it needs: {_name(str(error.args[0]))}; the raw files are {'; '.join(there)}."
        raise Problem(what, where=[f"build.py line {line}"], todo=NOT_AS_PROMISED) from error


def _refuse_lost_values(corpus: Corpus, tables: Mapping[str, pd.DataFrame], rows: pd.DataFrame) -> None:
    """Raise `Problem` for cells without a value where every cell of the raw files has one (only JSON can lack any).

    They are no missing labels: a file lacks the column that those it was put together with have, or a look-up failed.
    """
    read = dict.fromkeys(name for task in corpus.tasks for name in (task.column, *(rule.column for rule in task.drops)))
    for column in read:
        lost = rows["source_row"][rows[column].isna()]
        if len(lost) and not any(table.isna().any(axis=None) for table in tables.values()):
            raise Problem(
                f"column {column} has no value here, but every cell of the raw files has one.",
                where=["build.py", examples(lost, len(lost))],
                todo="The raw file of these rows lacks the column or names it otherwise, or build.py lost the value.",
            )


def read_files(corpus: Corpus, files: Mapping[str, Sequence[tuple[str, Path]]]) -> dict[str, pd.DataFrame]:
    """Every raw file that is there as a table, by declared name; a parallel file is put beside its partner.

    Raises `Problem` (or all of them as `Problems`), each naming file and record.
    """
    tables, problems = {}, []
    present = [file for file in corpus.files if file.name in files and file.format != "archive"]
    for file in present:
        if problems and file.keys_from:  # perhaps of a table that could not be read, which is told
            continue
        try:
            tables[file.name] = _read(file, files[file.name], tables)
        except Problem as problem:
            problems.append(problem)
    raise_all(problems)
    for file in present:
        if file.beside:
            left, right = tables[file.beside], tables.pop(file.name).drop(columns="source_row")
            twice = left.columns.intersection(right.columns)
            if len(twice):
                raise Problem(
                    f"the parallel file {file.name} has a column {examples(twice)} too.",
                    where=[file.beside],
                    todo="Give the two other names in corpus.yaml.",
                )
            if len(left) != len(right):
                raise Problem(
                    f"{len(left):,} records, but {len(right):,} in the parallel file {file.name}.",
                    where=[file.beside],
                    todo="One of the two is cut or altered; get both again.",
                )
            tables[file.beside] = pd.concat([left, right], axis=1)
    return tables


def _read(file: RawFile, paths: Sequence[tuple[str, Path]], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    if file.format == "documents":
        names = [name for name, _ in paths]
        texts = [decode(path.read_bytes(), file.encoding, name) for name, path in paths]
        # A byte order mark stays: where offsets count it, only the normaliser can remove it and move them.
        return _table(names, {"name": names, "text": texts})
    ((name, path),) = paths
    with _opened(file, name, path) as stream:
        if file.format == "json_object":
            columns = _read_json_object(stream, file, name, tables)
        else:
            text = decode(stream.read(), file.encoding, name).removeprefix(BYTE_ORDER_MARK)
            read = {"lines": _read_lines, "tsv": _read_tsv, "csv": _read_csv, "json_lines": _read_json_lines}
            columns = read[file.format](text, file, name)
    count = len(next(iter(columns.values()), ()))
    return _table([f"{name}:{number}" for number in range(1, count + 1)], columns)


@contextmanager
def _opened(file: RawFile, name: str, path: Path) -> Iterator[BinaryIO]:
    """The bytes of a raw file: of the file itself (unpacked if it is a .bz2), or of a member of its archive.

    A member is read by its exact name and never written to disk. Raises `Problem` for a damaged archive, a
    member that is missing, there twice or no plain file, and for what is so much larger than the packed file that it
    must be a bomb.
    """
    try:
        with ExitStack() as stack:
            if file.inside and path.name == Path(file.inside).name:
                stream = stack.enter_context(_member(stack, path, name))
            elif path.suffix == ".bz2":
                most = MOST_UNPACKED * path.stat().st_size
                stream = _Bounded(stack.enter_context(bz2.open(path)), most, name)
            else:
                stream = stack.enter_context(path.open("rb"))
            yield stream
    except DAMAGED as error:
        raise Problem(f"cannot be unpacked: {error}.", where=[name], todo="Get it again.") from None
    except OSError as error:
        # The disk's have a number, those of a damaged .bz2 none. A damaged zip sends its reader to before its start.
        if error.errno not in (None, EINVAL):
            raise
        raise Problem(f"cannot be unpacked: {error}.", where=[name], todo="Get it again.") from None


def _member(stack: ExitStack, path: Path, name: str) -> BinaryIO:
    if zipfile.is_zipfile(path):
        archive = stack.enter_context(zipfile.ZipFile(path))
        members = ((member.filename, member.file_size, _is_file(member), member) for member in archive.infolist())
        opened = archive.open
    else:
        archive = stack.enter_context(tarfile.open(path))  # noqa: SIM115 - the stack closes it
        # One by one: to get to the next member of a packed tar, this one is unpacked.
        members = ((member.name, member.size, member.isreg(), member) for member in archive)
        opened = archive.extractfile
    names, found = [], []
    for member_name, size, is_file, member in members:
        if size > MOST_UNPACKED * path.stat().st_size:
            raise Problem(f"would unpack to {size:,} bytes.", where=[member_name], todo="The archive is a bomb.")
        names.append(member_name)
        if member_name == name:
            found.append((member, is_file))
    if not found:
        what = f"is not in {path.name}, which holds {examples(names, len(names))}."
    elif len(found) > 1:
        what = f"is in {path.name} {len(found)} times."
    elif not found[0][1]:
        what = f"is no plain file in {path.name}."
    else:
        member, _ = found[0]
        if isinstance(member, tarfile.TarInfo) or member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return opened(member)
        # Of the other kinds, zipfile unpacks all that there is, however little is asked for.
        what = f"is neither stored nor deflated in {path.name}."
    raise Problem(what, where=[name], todo="Get it again.")


def _is_file(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a plain file, as far as its archive says (one made by Windows does not)."""
    return not member.is_dir() and stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)


class _Bounded:
    """A packed file that says nothing of its size: reading stops with a `Problem` where it cannot be a text."""

    def __init__(self, stream: BinaryIO, most: int, name: str):
        self._stream, self._left, self._most, self._name = stream, most, most, name

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(self._left + 1 if size < 0 else size)
        self._left -= len(content)
        if self._left < 0:
            what = f"would unpack to more than {self._most:,} bytes."
            raise Problem(what, where=[self._name], todo="The archive is a bomb.")
        return content


def decode(content: bytes, encoding: str, name: str) -> str:
    """The text of a raw file. Raises `Problem` naming the file and the first byte that is not `encoding`."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Problem(
            f"byte {error.start:,} (line {line:,}) is not {encoding}.",
            where=[name],
            todo="The file is altered, or corpus.yaml declares the wrong encoding.",
        ) from None


def _table(source_rows: list[str], columns: dict[str, list]) -> pd.DataFrame:
    frame = {"source_row": source_rows, **columns}
    return pd.DataFrame({name: _column(values, source_rows) for name, values in frame.items()})


def _column(values: Sequence, source_rows: Sequence[str]) -> pd.Series:
    """A column of text if every value is text, else of whatever there is.

    Raises `Problem` naming the record for text that is no Unicode (JSON can spell half a character)."""
    if not all(isinstance(value, str) for value in values):
        return pd.Series(values, dtype="object")
    try:
        return pd.Series(values, dtype="str")
    except UnicodeEncodeError:
        odd = next(row for row, value in zip(source_rows, values, strict=True) if _SURROGATE.search(value))
        raise _half_a_character(odd) from None


def _half_a_character(record: str) -> Problem:
    return Problem("the text holds half a character (a lone surrogate).", where=[record], todo="The file is altered.")


def lines(text: str, line_end: str = "\n") -> list[str]:
    """The records of a line file. Only `line_end` ends a record: U+2028, U+0085, a lone return and the like
    are part of the text. A final line end ends the last record and does not begin another."""
    records = text.split(line_end)
    if records[-1] == "":
        records.pop()
    return records


def _read_lines(text: str, file: RawFile, name: str) -> dict[str, list]:
    return {file.columns[0]: lines(text, LINE_ENDS[file.line_end])}


def _read_tsv(text: str, file: RawFile, name: str) -> dict[str, list]:
    return _cells(file, name, (line.split(file.separator) for line in lines(text, LINE_ENDS[file.line_end])))


def _read_csv(text: str, file: RawFile, name: str) -> dict[str, list]:
    csv.field_size_limit(sys.maxsize)  # the default refuses fields over 128 KiB
    records = csv.reader(io.StringIO(text, newline="\n"), delimiter=file.separator, strict=file.quoting == "strict")
    return _cells(file, name, records)


def _cells(file: RawFile, name: str, records: Iterator[list[str]]) -> dict[str, list]:
    columns, rows, wrong = list(file.columns or ()), [], []
    try:
        if not columns:
            columns = next(records, None)
            if not columns:
                raise Problem(
                    "the first line is empty, a header is expected.", where=[name], todo="The file is cut or altered."
                )
            if len({*columns, "source_row"}) < len(columns) + 1:
                raise Problem(f"the header names a column twice, or source_row: {_header(columns)}.", where=[name])
        for row in records:
            rows.append(row)
            if len(row) != len(columns):
                wrong.append(len(rows))
    except csv.Error as error:
        raise Problem(
            f"{error}.",
            where=[name, f"record {len(rows) + 1:,}"],
            todo="The file is cut or altered, or its quoting is not as corpus.yaml declares it.",
        ) from None
    if wrong:
        raise Problem(
            f"{len(rows[wrong[0] - 1])} fields, {len(columns)} expected ({_header(columns)}).",
            where=[name, f"record {examples(wrong)}"],
            todo="The file is cut or altered, or has another layout than corpus.yaml declares.",
        )
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)) if rows else {c: [] for c in columns}


def _header(columns: Iterable[str]) -> str:
    """Column names as a message shows them: a return at the end of a name is no line break but to be seen."""
    return ", ".join(name if name.isprintable() else repr(name) for name in columns)


def _read_json_lines(text: str, file: RawFile, name: str) -> dict[str, list]:
    columns: dict[str, list] = {}
    for number, line in enumerate(lines(text, LINE_ENDS[file.line_end]), start=1):
        try:
            record = json.loads(line, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            raise Problem(
                f"not JSON: {error}.", where=[name, f"record {number:,}"], todo="The file is cut or altered."
            ) from None
        if not isinstance(record, dict):
            raise Problem("a JSON object is expected.", where=[name, f"record {number:,}"])
        columns = columns or {key: [] for key in file.columns or record}
        missing = [key for key in columns if key not in record]
        if missing:
            raise Problem(f"no key {', '.join(missing)}.", where=[name, f"record {number:,}"])
        values = [record[key] for key in columns]
        # Deep in a list, where no column of text would tell it.
        if _ESCAPED_SURROGATE.search(line) and _SURROGATE.search(json.dumps(values, ensure_ascii=False)):
            raise _half_a_character(f"{name}:{number}")
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return columns or {key: [] for key in file.columns or ()}


def _without_repeats(pairs: list[tuple[str, object]]) -> dict:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return record


def _read_json_object(stream: BinaryIO, file: RawFile, name: str, tables: Mapping[str, pd.DataFrame]):
    """The records of one large JSON object, streamed: only the keys that `keys_from` mentions are kept."""
    import ijson

    wanted = None
    if file.keys_from:
        places = [key.rsplit("/", 1) for key in file.keys_from]
        lacking = [
            key for key, (table, column) in zip(file.keys_from, places, strict=True) if column not in tables[table]
        ]
        if lacking:
            raise Problem(f"keys_from names {', '.join(lacking)}, which is no column.", where=[name])
        cells = [tables[table][column] for table, column in places]
        wanted = {key for column in cells for cell in column for key in cell.split()}
    columns: dict[str, list] = {"key": [], **{column: [] for column in file.columns}}
    try:
        for key, record in ijson.kvitems(stream, "", use_float=True):
            if wanted is None or key in wanted:
                columns["key"].append(key)
                for column in file.columns:
                    columns[column].append(record[column])
    except (ijson.JSONError, KeyError, TypeError) as error:
        place = f"after record {len(columns['key']):,}"
        what = f"no key {error}" if isinstance(error, KeyError) else f"not a JSON object of objects: {error}"
        raise Problem(f"{what}.", where=[name, place], todo="The file is cut or altered.") from None
    if len({*columns["key"]}) < len(columns["key"]):
        twice = next(key for key, count in Counter(columns["key"]).items() if count > 1)
        raise Problem(f"the key {twice!r} occurs twice.", where=[name], todo="The file is altered.")
    return columns


def checked(corpus: Corpus, rows: object) -> pd.DataFrame:
    """`rows` if they are what `build.py` promises to return (`raw_schema`), with a fresh index.

    Raises `Problem`, or all of them as `Problems`, naming every column that is missing or holds something else, with
    what it holds and the first records.
    """
    if not isinstance(rows, pd.DataFrame):
        raise Problem(f"returned a {type(rows).__name__}, not a table.", where=["build.py"])
    raise_all(_broken_promises(rows, failures(raw_schema(corpus), rows)))
    rows = rows.reset_index(drop=True)
    for column in ["source_row", *corpus.text_columns, *filter(None, [corpus.group, corpus.parts])]:
        rows[column] = pd.Series(rows[column].tolist(), dtype="str")
    return rows


def _broken_promises(rows: pd.DataFrame, found: Sequence[Failure]) -> list[Problem]:
    """What is wrong with the table of a `build.py`, in words."""
    problems = []
    missing = [column for column, must, _ in found if must == THERE]
    if missing:
        there = [_name(str(column)) for column in rows.columns if column != "source_row"]
        problems.append(
            Problem(
                f"no column {', '.join(missing)}; there are {examples(there, at_most=20) or 'none'}.",
                where=["build.py"],
                todo="A raw file has another header than expected, or build.py names the column otherwise.",
            )
        )
    twice = [column for column, must, _ in found if must == ONCE]
    if twice:
        problems.append(Problem(f"returned the column {examples(map(_name, twice))} twice.", where=["build.py"]))
    for column, must, positions in found:
        if column in {*missing, *twice}:
            continue
        cells = rows[column].iloc[positions]
        if must == UNIQUE:
            names = cells.unique()
            what = f"{column} {examples(map(_name, names[:3]), len(names))} stands for several rows."
            where = ["build.py"]
        else:
            what = f"column {column} holds {_cell(cells.iloc[0])}, not {must}."
            where = ["build.py", examples([_record(rows, position) for position in positions[:3]], len(positions))]
        problems.append(Problem(what, where=where, todo=NOT_AS_PROMISED))
    return problems


def _record(rows: pd.DataFrame, position: int) -> str:
    """What a message calls a raw row: its source_row, or where it has none its number."""
    named = rows["source_row"].iloc[position] if list(rows.columns).count("source_row") == 1 else None
    return _name(named) if isinstance(named, str) and named else f"row {position + 1:,}"


def _name(text: str) -> str:
    """A name as a message shows it: short, and without characters that nobody sees."""
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= 60 else text[:60] + "…"


def _cell(value: object) -> str:
    """A cell as a message shows it: on one line, short, and with its type where it is no text."""
    value = value.item() if isinstance(value, np.generic) else value
    shown = " ".join(_SHORT.repr(value).split())
    return shown if value is None or isinstance(value, str) else f"{type(value).__name__} {shown}"
