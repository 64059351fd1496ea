"""What holds for any input: reading, publishing, deduplicating and splitting, held against rules written anew here.

A hundred examples each; `uv run pytest tests/test_properties.py --hypothesis-profile long` tries three thousand.
"""

import csv
import io
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from builders.declaration import RawFile
from builders.pipeline.keys import canonical_key, loose_key
from builders.pipeline.read import read_files
from builders.pipeline.split import SPLITS, sizes
from builders.pipeline.text import code_points, normalise, steps_of, trimmed
from builders.problems import Problem
from tests.conftest import Workshop, classification

# The number of examples is that of the profile.
any_input = settings(deadline=None, derandomize=True, database=None)

# Any text, and often one of the characters that readers trip over.
TRICKY = "\t\n\r\"',;|\\ \x00\x0b\x1a\x1c\x85\u2028\ufeff\u00a0é😀"
TEXTS = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])), max_size=12)


def read(content: bytes, **declared) -> pd.DataFrame:
    """The table of one raw file."""
    return read_all({"file": content}, [RawFile(name="file", **declared)])["file"]


def read_all(contents: Mapping[str, bytes], files: Sequence[RawFile]) -> dict[str, pd.DataFrame]:
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / name for name in contents}
        for name, content in contents.items():
            paths[name].write_bytes(content)
        return read_files(SimpleNamespace(files=files), {name: [(name, path)] for name, path in paths.items()})


def cells(table: pd.DataFrame) -> list[list]:
    return table.drop(columns="source_row").to_numpy(dtype=object).tolist()


# Reading ------------------------------------------------------------------------------------------------


def rows_of(cell: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(st.tuples(cell, cell, cell), max_size=6)


@any_input
@given(rows_of(TEXTS), st.sampled_from([",", "\t", "|"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_csv_file_is_read_cell_by_cell_as_it_was_written(rows, delimiter, end, quote_all):
    out = io.StringIO(newline="")
    # Python's writer leaves a return unquoted where it ends no line.
    quote_all |= any("\r" in cell for row in rows for cell in row)
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([("a", "b", "c"), *rows])
    table = read(out.getvalue().encode(), format="csv", delimiter=delimiter)
    assert cells(table) == [list(row) for row in rows]
    assert list(table["source_row"]) == [f"file:{number}" for number in range(1, len(rows) + 1)]


@any_input
@given(rows_of(TEXTS.map(lambda text: text.replace("\t", "").replace("\n", ""))), st.booleans())
def test_a_tsv_file_is_read_cell_by_cell_as_it_was_written(rows, end):
    text = "\n".join("\t".join(row) for row in [("a", "b", "c"), *rows])
    assert cells(read((text + "\n" * end).encode(), format="tsv")) == [list(row) for row in rows]


@any_input
@given(st.lists(TEXTS.map(lambda text: text.replace("\n", "")), max_size=8))
def test_a_line_file_is_read_line_by_line_as_it_was_written(lines):
    content = "".join(line + "\n" for line in lines).encode()
    # A mark at the head of the file is none of the text.
    expected = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    assert [row for (row,) in cells(read(content, format="lines", columns=["text"]))] == expected


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)


@any_input
@given(st.lists(st.tuples(TEXTS, VALUES), max_size=6), st.booleans())
def test_json_is_read_value_by_value_as_it_was_written(records, ascii_only):
    lines = [json.dumps({"text": text, "value": value}, ensure_ascii=ascii_only) for text, value in records]
    table = read("".join(line + "\n" for line in lines).encode(), format="json_lines", columns=["text", "value"])
    assert list(table["text"]) == [text for text, _ in records]
    assert [repr(value) for value in table["value"].astype(object)] == [repr(value) for _, value in records]


@any_input
@given(st.dictionaries(TEXTS, TEXTS, max_size=6))
def test_a_large_json_object_is_read_key_by_key_as_it_was_written(texts):
    content = json.dumps({key: {"text": text, "more": 1} for key, text in texts.items()}).encode()
    assert cells(read(content, format="json_object", columns=["text"])) == [list(pair) for pair in texts.items()]


@any_input
@given(st.integers(1, 8), st.data(), st.sampled_from([-1, 1]))
def test_a_record_with_a_field_too_many_or_too_few_is_refused_by_its_number(count, data, more):
    record = data.draw(st.integers(1, count))
    rows = [["x"] * (3 + more * (number == record)) for number in range(count + 1)]
    with pytest.raises(Problem) as caught:
        read("".join("\t".join(row) + "\n" for row in [["a", "b", "c"], *rows[1:]]).encode(), format="tsv")
    assert caught.value.where == ("file", f"record {record}")
    assert f"{3 + more} fields, 3 expected" in caught.value.what


@any_input
@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
@example([1, 2], [3, 4])
@example([], [])
def test_parallel_files_are_read_side_by_side_or_refused_with_both_counts(one, other):
    files = [
        RawFile(name="texts", format="lines", columns=["text"]),
        RawFile(name="labels", format="lines", columns=["label"], beside="texts"),
    ]
    contents = {
        name: "".join(f"{n}\n" for n in numbers).encode() for name, numbers in (("texts", one), ("labels", other))
    }
    if len(one) == len(other):
        assert cells(read_all(contents, files)["texts"]) == [[str(a), str(b)] for a, b in zip(one, other, strict=True)]
        return
    with pytest.raises(Problem, match=rf"^texts: {len(one)} records, but {len(other)} in the parallel file labels"):
        read_all(contents, files)


# Publishing and keys ------------------------------------------------------------------------------------


@any_input
@given(TEXTS)
@example("\ufeff a\r\nb ")
def test_publishing_a_text_leaves_its_key(text):
    assert canonical_key(normalise(text, steps_of(()))[0]) == canonical_key(text)


# Letters that nothing composes with and no entity begins with, so that what is put between two of them joins nothing.
PLAIN = st.text("abcXYZ019 .,!?中😀", max_size=12)
UNSEEN = st.sampled_from(["\u200b", "\u00ad", "\ufeff", "\u2060", "\ufe0f", "\U000e0101"])


@any_input
@given(PLAIN, UNSEEN, st.data())
def test_a_character_that_nobody_sees_changes_no_key(text, unseen, data):
    place = data.draw(st.integers(0, len(text)))
    assert canonical_key(text[:place] + unseen + text[place:]) == canonical_key(text)


@any_input
@given(PLAIN, st.sampled_from(["  ", "\t", "\u00a0", "\u3000", " \n "]))
def test_how_wide_a_space_is_changes_no_key(text, space):
    assert canonical_key(text.replace(" ", space)) == canonical_key(text)
    assert canonical_key(space + text + space) == canonical_key(text)


@any_input
@given(TEXTS, TEXTS)
def test_texts_of_one_key_have_one_loose_key_and_case_makes_no_other(one, other):
    if canonical_key(one) == canonical_key(other):
        assert loose_key(canonical_key(one)) == loose_key(canonical_key(other))
    key = canonical_key(one)
    assert loose_key(key.casefold()) == loose_key(key)


@any_input
@given(TEXTS.filter(bool), st.data())
def test_a_span_counted_in_utf16_is_the_same_span(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    units = [len(text[:edge].encode("utf-16-le")) // 2 for edge in (start, end)]
    assert (
        code_points(text, [tuple(units)], "utf16") == code_points(text, [(start, end)], "code_points") == [(start, end)]
    )


@any_input
@given(TEXTS.filter(bool), st.data())
def test_a_trimmed_span_covers_what_is_seen_of_it_and_moves_with_the_text(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    inside = trimmed(text, (start, end))
    assert text[slice(*inside)] == text[start:end].strip()
    if inside[0] < inside[1]:
        published, ((new_start, new_end),) = normalise(text, steps_of(()), [inside])
        surface = text[slice(*inside)].replace("\n", " ").replace("\r", " ")
        mark = inside[0] == 0 and surface.startswith("\ufeff")  # the mark at the head of the text goes
        assert published[new_start:new_end].strip() == (surface[1:] if mark else surface).strip()


# Deduplicating and splitting, in whole builds -----------------------------------------------------------

FILE = {"name": "a.jsonl", "format": "json_lines"}
# Some spellings have one key; "" and the mark have none.
SPELLINGS = st.sampled_from(
    ["a", " a", "a\u200b", "A", "b & c", "b &amp; c", "b&nbsp;&amp; c", "ｄ", "d", "", "\u200b"]
)
LABELS = st.sampled_from(["0", "1", None])


def built(rows: Sequence[tuple], group: bool = False) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Items (with their `split`) and ledger of a corpus with these rows: text, label and, maybe, group."""
    keys = ("text", "label", "group")
    content = "".join(json.dumps(dict(zip(keys, row, strict=False))) + "\n" for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder))
        more = {"group": "group"} if group else {}
        workshop.corpus("invented", {"a.jsonl": content}, [classification()], [FILE], **more)
        release, outcomes = workshop.build()
        if outcomes["invented"].status == "failed":
            assert "no raw row became an item" in str(outcomes["invented"].problem)
            return None
        tables = [
            pq.read_table(release / f"data/mood/{split}.parquet").to_pandas().assign(split=split) for split in SPLITS
        ]
        return pd.concat(tables, ignore_index=True), pq.read_table(release / "ledger.parquet").to_pandas()


@any_input
@given(st.lists(st.tuples(SPELLINGS, LABELS), min_size=1, max_size=14))
@example([("a", "0"), ("A", "1"), (" a", "1"), ("a", "1")])
@example([("a", "0"), (" a", "1")])
def test_every_row_is_an_item_or_booked_and_the_strict_majority_of_a_key_stays(rows):
    groups: dict[str, list[int]] = {}
    reasons: dict[int, str] = {}
    for number, (text, label) in enumerate(rows):
        if label is None:
            reasons[number] = "unlabeled"
        elif not canonical_key(text):
            reasons[number] = "empty_text"
        else:
            groups.setdefault(canonical_key(text), []).append(number)
    expected = set()
    for members in groups.values():
        votes = Counter(rows[number][1] for number in members)
        label, count = votes.most_common(1)[0]
        agree = [number for number in members if rows[number][1] == label] if 2 * count > len(members) else []
        reasons |= {number: "duplicate" if number in agree else "contradiction" for number in members}
        if agree:
            del reasons[agree[0]]
            expected.add((rows[agree[0]][0].strip(), int(label)))
    result = built(rows)
    if result is None:
        assert not expected
        return
    items, ledger = result
    assert set(zip(items["text"], items["label"], strict=True)) == expected
    assert len(items) == len(expected)
    assert dict(zip(ledger["source_row"], ledger["reason"], strict=True)) == {
        f"a.jsonl:{number + 1}": reason for number, reason in reasons.items()
    }
    assert set(ledger["kept_id"].dropna()) <= set(items["id"])


# Six words each, so that some differ in punctuation only and have one loose key.
SENTENCES = st.builds("one more text of number {}{}".format, st.integers(0, 30), st.sampled_from(["", ".", " !"]))


@any_input
@given(
    st.lists(st.tuples(SENTENCES, st.sampled_from(["0", "1"])), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_rows_moves_no_item_and_no_near_duplicates_are_torn(rows, random):
    shuffled = random.sample(rows, len(rows))
    one, other = built(rows), built(shuffled)
    if one is None or other is None:
        assert one is other
        return
    kept = [set(zip(items["id"], items["label"], items["split"], strict=True)) for items, _ in (one, other)]
    assert kept[0] == kept[1]
    splits = one[0].groupby(one[0]["text"].map(canonical_key).map(loose_key))["split"].nunique()
    assert (splits == 1).all()


@any_input
@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.data())
def test_a_group_is_in_one_split_and_single_texts_are_dealt_to_the_item(groups, data):
    singles = data.draw(st.integers(0, 40))
    names = [f"group {number}" for number in groups] + [""] * singles
    rows = [(f"text {number}", str(number % 2), name) for number, name in enumerate(names)]
    items, _ = built(rows, group=True)
    assert len(items) == len(rows)
    group = items["text"].map({text: name for text, _, name in rows})
    assert (items["split"][group != ""].groupby(group).nunique() <= 1).all()
    if not groups or max(Counter(groups).values()) == 1:
        assert tuple(items["split"].value_counts().reindex(SPLITS, fill_value=0)) == sizes(len(rows))
