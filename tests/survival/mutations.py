"""What may happen to a raw file, as functions of its bytes and a keyed choice."""

import bz2
import csv
import io
import json
import random
from collections.abc import Callable
from typing import NamedTuple

from builders.declaration import RawFile

# What stands in a cell where something else should: words that readers take for nothing, numbers that are none, markup.
ODD = [
    *("", " ", "nan", "NA", "null", "-1", "2", "1e999", "1_0", "１", "0x1", "true", "[]", "{}", "[3, 2]", "[[0, 1]]"),
    *('"', '""', "'", "\\", "\r", "\x1f", "\u2028", "\ufeff", "&#0;", "e\u0301", "😀", "9" * 5000, "a" * 200_000),
    *("-LRB-", "(", ")", "<cause>", "__eou__", "|", ",", ":", "<a/>"),
]
ODD_VALUES = [None, True, 3, -1, 1.5, 10**30, [], {}, [None], "\ud800", *ODD]


class Mutated(NamedTuple):
    """A raw file after a mutation."""

    content: bytes
    touched: frozenset[int] | None
    """The lines (from 0, in the file as it was) that the mutation touched; None for every one."""


Mutation = Callable[[bytes, RawFile, random.Random], Mutated | None]
"""Gives nothing where there is nothing of the kind to mutate (no column, no second line)."""


def _line_of(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place)


def _around(content: bytes, place: int) -> frozenset[int]:
    """The line of a byte; the next one too where the byte ends its line."""
    line = _line_of(content, place)
    return frozenset({line, line + 1} if content[place : place + 1] == b"\n" else {line})


def _inserted(new: bytes) -> Mutation:
    def mutate(content: bytes, file: RawFile, choice: random.Random) -> Mutated:
        place = choice.randrange(len(content) + 1)
        return Mutated(content[:place] + new + content[place:], _around(content, place))

    return mutate


def flip_a_bit(content: bytes, file: RawFile, choice: random.Random) -> Mutated | None:
    if not content:
        return None
    place, bit = choice.randrange(len(content)), 1 << choice.randrange(8)
    return Mutated(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :], _around(content, place))


def digit(content: bytes, file: RawFile, choice: random.Random) -> Mutated | None:
    """Another digit in the place of one: labels and offsets are mostly digits."""
    places = [place for place, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return None
    place = choice.choice(places)
    return Mutated(content[:place] + b"%d" % choice.randrange(10) + content[place + 1 :], _around(content, place))


def truncate(content: bytes, file: RawFile, choice: random.Random) -> Mutated | None:
    place = choice.randrange(len(content) + 1)
    lines = content.count(b"\n") + 1
    return Mutated(content[:place], frozenset(range(_line_of(content, place), lines)))


def _lines(content: bytes) -> list[bytes]:
    return content.split(b"\n")[:-1] if content.endswith(b"\n") else content.split(b"\n")


def _changed_lines(change: Callable[[list[bytes], int, random.Random], list[int]]) -> Mutation:
    """A mutation of the list of lines, in place; `change` gives the lines it touched."""

    def mutate(content: bytes, file: RawFile, choice: random.Random) -> Mutated | None:
        lines = _lines(content)
        if len(lines) < 2:
            return None
        touched = change(lines, choice.randrange(len(lines)), choice)
        return Mutated(b"".join(line + b"\n" for line in lines), frozenset(touched))

    return mutate


def _drop(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    del lines[at]
    return [at]


def _double(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    lines.insert(at, lines[at])
    return [at]


def _swap(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    other = choice.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return [at, other]


def _blank(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    lines.insert(at, b"")
    return [at]


def _empty_cell(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    separator = max((b"\t", b",", b" ", b":"), key=lines[at].count)
    cells = lines[at].split(separator)
    cells[choice.randrange(len(cells))] = b""
    lines[at] = separator.join(cells)
    return [at]


def _odd_cell(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    separator = max((b"\t", b",", b"|", b":"), key=lines[at].count)
    cells = lines[at].split(separator)
    cells[choice.randrange(len(cells))] = choice.choice(ODD).encode()
    lines[at] = separator.join(cells)
    return [at]


def odd_value(content: bytes, file: RawFile, choice: random.Random) -> Mutated | None:
    """A value of one JSON record, or one in a list of it, is another, or its key is lost."""
    if file.format != "json_lines":
        return None
    lines = _lines(content)
    at = choice.randrange(len(lines))
    record = json.loads(lines[at])
    key = choice.choice(sorted(record))
    if not choice.randrange(5):
        del record[key]
    elif isinstance(record[key], list) and record[key] and choice.randrange(2):
        record[key][choice.randrange(len(record[key]))] = choice.choice(ODD_VALUES)
    else:
        record[key] = choice.choice(ODD_VALUES)
    lines[at] = json.dumps(record).encode()
    return Mutated(b"".join(line + b"\n" for line in lines), frozenset({at}))


def _swap_cells(lines: list[bytes], at: int, choice: random.Random) -> list[int]:
    separator = max((b"\t", b",", b" ", b":"), key=lines[at].count)
    cells = lines[at].split(separator)
    one, other = choice.randrange(len(cells)), choice.randrange(len(cells))
    cells[one], cells[other] = cells[other], cells[one]
    lines[at] = separator.join(cells)
    return [at]


def _changed_table(change: Callable[[list[list[str]], random.Random], bool]) -> Mutation:
    """A mutation of the cells of a table, in place; `change` says whether the rows still say what they said."""

    def mutate(content: bytes, file: RawFile, choice: random.Random) -> Mutated | None:
        if file.format not in ("csv", "tsv") or file.columns:
            return None
        text = content.decode(file.encoding)
        end = "\r\n" if file.line_end == "crlf" else "\n"
        if file.format == "csv":
            table = list(csv.reader(io.StringIO(text, newline=""), delimiter=file.separator))
        else:
            table = [line.split(file.separator) for line in text.removesuffix(end).split(end)]
        if len({len(row) for row in table}) != 1 or len(table[0]) < 2:
            return None
        same = change(table, choice)
        out = io.StringIO(newline="")
        if file.format == "csv":
            csv.writer(out, delimiter=file.separator, lineterminator=end).writerows(table)
        else:
            out.write("".join(file.separator.join(row) + end for row in table))
        return Mutated(out.getvalue().encode(file.encoding), frozenset() if same else None)

    return mutate


def _two(table: list[list[str]], choice: random.Random) -> list[int]:
    return choice.sample(range(len(table[0])), 2)


def _swap_columns(table: list[list[str]], choice: random.Random) -> bool:
    one, other = _two(table, choice)
    for row in table:
        row[one], row[other] = row[other], row[one]
    return True


def _swap_header(table: list[list[str]], choice: random.Random) -> bool:
    one, other = _two(table, choice)
    table[0][one], table[0][other] = table[0][other], table[0][one]
    return False


def _rename_column(table: list[list[str]], choice: random.Random) -> bool:
    one, other = _two(table, choice)
    table[0][one] = choice.choice([table[0][one] + " ", table[0][one].swapcase(), table[0][other], "", "source_row"])
    return False


def _drop_column(table: list[list[str]], choice: random.Random) -> bool:
    at = choice.randrange(len(table[0]))
    for row in table:
        del row[at]
    return False


MUTATIONS: dict[str, Mutation] = {
    "a bit flipped": flip_a_bit,
    "another digit": digit,
    "a quotation mark inserted": _inserted(b'"'),
    "a NUL inserted": _inserted(b"\0"),
    "a byte that is not UTF-8": _inserted(b"\xff"),
    "a return inserted": _inserted(b"\r"),
    "a line feed inserted": _inserted(b"\n"),
    "truncated": truncate,
    "a line dropped": _changed_lines(_drop),
    "a line doubled": _changed_lines(_double),
    "two lines swapped": _changed_lines(_swap),
    "a blank line": _changed_lines(_blank),
    "a cell emptied": _changed_lines(_empty_cell),
    "two cells swapped": _changed_lines(_swap_cells),
    "an odd cell": _changed_lines(_odd_cell),
    "an odd value of JSON": odd_value,
    "two columns swapped": _changed_table(_swap_columns),
    "two column names swapped": _changed_table(_swap_header),
    "a column renamed": _changed_table(_rename_column),
    "a column dropped": _changed_table(_drop_column),
}


def mutated(content: bytes, file: RawFile, kind: str, choice: random.Random) -> Mutated | None:
    """`content` after a mutation of this kind; of a packed file (.bz2) what is in it is mutated."""
    if not file.name.endswith(".bz2"):
        return MUTATIONS[kind](content, file, choice)
    changed = MUTATIONS[kind](bz2.decompress(content), file, choice)
    return changed and changed._replace(content=bz2.compress(changed.content))


def damaged(content: bytes, choice: random.Random) -> Mutated:
    """Packed bytes with a bit flipped or the end missing: nobody can tell what that touches."""
    place = choice.randrange(len(content))
    if choice.randrange(2):
        return Mutated(content[:place], None)
    return Mutated(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :], None)
