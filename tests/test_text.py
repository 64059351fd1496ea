"""What is done to every text, what makes two texts the same, and ids."""

import html
import json
import re
import sys
import unicodedata
from hashlib import blake2b

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from builders.declaration import TextStep
from builders.pipeline.keys import (
    UNIT_SEPARATOR,
    canonical_key,
    canonical_keys,
    item_ids,
    loose_key,
    loose_keys,
    ranks,
)
from builders.pipeline.text import WHITE_SPACE, Edit, apply, moved, normalise, normalised, steps_of
from builders.problems import Problem
from tests.conftest import classification

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
ENTITIES = TextStep(step="entities", why="A test.")
NFC = TextStep(step="nfc", why="A test.")
NAME_OR_SPACE = TextStep(step="replace", pattern=r"@\w+|  +", replacement=r"\1", why="A test.")

# Characters and bits of text for which one of the rules was made.
ODD = [
    *"ab19.,!?_'\"@&;#",
    *(" ", "  ", "\t", "\n", "\r", "\r\n", "\x0b", "\x1c", "\x1f", "\x85", "\xa0", "\u2028", "\u3000"),
    *("\x00", "\ufeff", "\u200b", "\u200d", "\ufe0f", "\u00ad", "\U000e0101", "\u180b"),
    *("é", "e\u0301", "ß", "İ", "ﬁ", "①", "Ⅳ", "²", "½", "中", "😀", "❤\ufe0f", "한"),
    *("\u1112\u1161\u11ab", "\u0915\u093f", "&amp;", "&amp", "&amp;amp;", "&lt", "&notit;", "&#39;"),
    *("&#x27", "&#38;amp;", "&nbsp;", "&ampere", "&#0;", "&#128;"),
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(ODD), max_size=16).map("".join),
    st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=16),
)
LISTS_OF_TEXTS = st.lists(TEXTS, max_size=8)
thorough = settings(max_examples=120, deadline=None)


def column(texts) -> pd.Series:
    return pd.Series(list(texts), dtype="str")


def published(text: str, *declared: TextStep) -> str:
    return normalise(text, steps_of(declared))[0]


def items(release, task: str) -> list[dict]:
    splits = ("train", "validation", "test")
    return [row for split in splits for row in pq.read_table(release / f"data/{task}/{split}.parquet").to_pylist()]


# The published text -------------------------------------------------------------------------------------


def test_white_space_is_what_python_calls_so():
    assert set(WHITE_SPACE) == {char for char in CHARACTERS if char.isspace()}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a\nb\rc", "a b c"),
        ("a\r\nb", "a  b"),
        ("\n\n a  b \t\r", "a  b"),
        ("\u3000\x1fa\xa0\u2028", "a"),
        ("\ufeffa", "a"),
        ("\ufeff\n a", "a"),
        ("\ufeff", ""),
        (" \n\r\t", ""),
        ("", ""),
    ],
)
def test_line_breaks_become_spaces_and_outer_white_space_goes(raw, text):
    assert published(raw) == text
    assert normalised(column([raw]), ())[0] == text


@pytest.mark.parametrize(
    "text",
    ["a\u2028b\u2029c\x85d\x0be\x0cf", "a\t\tb   c", "a\x00b", "a\ufeffb", "e\u0301", "ﬁ ①", "don’t",
     "a\u200d", "cats &amp;amp; dogs", "&nbsp;", "❤\ufe0f", "null", "NA"],
)  # fmt: skip
def test_R8_anything_else_stays_as_the_corpus_has_it(text):
    assert published(text) == text
    assert normalised(column([text]), ())[0] == text


@thorough
@given(TEXTS)
def test_a_published_text_has_no_line_feed_no_return_and_no_outer_white_space(text):
    expected = text.removeprefix("\ufeff").replace("\n", " ").replace("\r", " ").strip()
    assert published(text) == expected


@pytest.mark.parametrize("declared", [(), (ENTITIES,), (NFC, NAME_OR_SPACE)])
@thorough
@given(LISTS_OF_TEXTS)
def test_a_column_is_normalised_as_its_texts_are_one_by_one(declared, texts):
    assert list(normalised(column(texts), declared)) == [published(text, *declared) for text in texts]


def around(step, text: str) -> str:
    """What the common steps and, between them, `step` make of a text."""
    return step(re.sub("[\n\r]", " ", text.removeprefix("\ufeff"))).strip()


@thorough
@given(TEXTS)
@example("AT&T &ampersand &notit &#x1F600; &#xD800; &#1114112; &CounterClockwiseContourIntegral; &#12٣;")
def test_the_entity_step_is_html_unescape(text):
    assert published(text, ENTITIES) == around(html.unescape, text)


@thorough
@given(TEXTS)
def test_the_nfc_step_is_unicode_composition(text):
    assert published(text, NFC) == around(lambda text: unicodedata.normalize("NFC", text), text)


@pytest.mark.parametrize(
    "context", ["x\u0301{}\u0323", "\u1100\u1161{}.", "\u0f72{}."], ids=["marks", "Hangul", "Tibetan vowels"]
)
def test_the_nfc_step_knows_every_character_that_composition_touches(context):
    touched = [char for char in CHARACTERS if unicodedata.combining(char) or not unicodedata.is_normalized("NFD", char)]
    texts = [context.format(char) for char in touched]
    wrong = [ascii(text) for text in texts if published(text, NFC) != unicodedata.normalize("NFC", text)]
    assert wrong == []


@thorough
@given(TEXTS)
def test_a_replacement_is_literal_text(text):
    r"""`\1` in a replacement is two characters, no group reference."""
    expected = around(lambda text: re.sub(r"@\w+|  +", lambda _: r"\1", text), text)
    assert published(text, NAME_OR_SPACE) == expected


def test_declared_steps_run_in_order_and_before_the_outer_strip():
    assert published("&nbsp;a &amp;lt; b", ENTITIES) == "a &lt; b"
    assert published("&nbsp;a &amp;lt; b", ENTITIES, ENTITIES) == "a < b"


# Offset maps --------------------------------------------------------------------------------------------

# A text as a list of (old, new) pieces; `None` is for a character that stays.
KEPT = st.tuples(st.sampled_from("abc"), st.none())
REPLACED = st.tuples(st.text("abc", min_size=1, max_size=3), st.text("xyz", max_size=3))
PIECES = st.lists(st.one_of(KEPT, REPLACED), min_size=1, max_size=10)


def old_of(pieces) -> str:
    return "".join(old for old, _ in pieces)


def new_of(pieces) -> str:
    return "".join(old if new is None else new for old, new in pieces)


def edits_of(pieces) -> list[Edit]:
    starts = [len(old_of(pieces[:index])) for index in range(len(pieces))]
    return [
        Edit(start, start + len(old), new) for start, (old, new) in zip(starts, pieces, strict=True) if new is not None
    ]


@thorough
@given(PIECES)
def test_edits_replace_what_they_name_and_nothing_else(pieces):
    assert apply(old_of(pieces), edits_of(pieces)) == new_of(pieces)


@thorough
@given(PIECES, st.data())
def test_a_span_takes_every_piece_that_it_touches_and_no_other(pieces, data):
    """Also where it begins or ends inside a replaced piece."""
    start, last = sorted(data.draw(st.tuples(*[st.integers(0, len(old_of(pieces)) - 1)] * 2)))
    piece_at = [index for index, (old, _) in enumerate(pieces) for _ in old]
    first_piece, end_piece = piece_at[start], piece_at[last] + 1
    expected = (len(new_of(pieces[:first_piece])), len(new_of(pieces[:end_piece])))
    assert moved([(start, last + 1)], edits_of(pieces)) == [expected]


@pytest.mark.parametrize(
    ("edits", "span", "place"),
    [
        ([Edit(2, 4, "")], (4, 6), (2, 4)),
        ([Edit(2, 4, "")], (0, 2), (0, 2)),
        ([Edit(2, 4, "")], (0, 6), (0, 4)),
        ([Edit(2, 4, "")], (2, 4), (2, 2)),
        ([Edit(2, 4, "xyz")], (3, 6), (2, 7)),
        ([Edit(2, 4, "xyz")], (0, 3), (0, 5)),
        ([Edit(2, 4, "x"), Edit(4, 5, "yy")], (4, 5), (3, 5)),
        ([], (1, 3), (1, 3)),
    ],
)
def test_where_a_span_of_abcdef_goes(edits, span, place):
    assert moved([span], edits) == [place]


# Canonical keys and loose keys --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("good morning all ", "good morning all"),
        ("a  b", "a\u3000b"),
        ("a\tb", "a\x1fb"),
        ("cats &amp;amp; dogs", "cats & dogs"),
        ("cats &amp; dogs", "cats &#x26; dogs"),
        ("it&#39;s", "it's"),
        ("love you\ufe0f", "love you"),
        ("❤\ufe0f", "❤\ufe0e"),
        ("a\u200db\u200b", "ab"),
        ("\ufeffa", "a"),
        ("so\u00adcial", "social"),
        ("cafe\u0301", "café"),
        ("ﬁne", "fine"),
        ("ｆｏｏｌ", "fool"),
        ("a&nbsp;b", "a b"),
    ],
)
def test_texts_that_look_the_same_have_one_key(one, other):
    assert canonical_key(one) == canonical_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("don’t", "don't"), ("Yes", "yes"), ("late??", "late?"), ("ab", "a b"), ("cafe", "café"), ("❤", "💙"),
     ("cats &amp;amp;amp; dogs", "cats & dogs"), ("ß", "ss"), ("5", "05")],
)  # fmt: skip
def test_texts_that_differ_visibly_have_two_keys(one, other):
    assert canonical_key(one) != canonical_key(other)


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\ufe0f\u200d", "&nbsp;", "&amp;nbsp;", "\ufeff", "\u00ad"])
def test_a_text_with_nothing_to_see_has_an_empty_key(text):
    assert canonical_key(text) == ""


@thorough
@given(TEXTS)
def test_a_key_has_single_spaces_only_and_never_the_unit_separator(text):
    """So two texts joined by the separator cannot be mistaken for other two."""
    key = canonical_key(text)
    assert key == " ".join(key.split())
    assert UNIT_SEPARATOR not in key


@thorough
@given(LISTS_OF_TEXTS)
@example(["a", "a b", " a", "a ", "a  b", "a\tb", "a\n", "&", "\x00", "é", ""])
def test_a_column_has_the_keys_of_its_texts(texts):
    assert list(canonical_keys(column(texts))) == [canonical_key(text) for text in texts]


WORDS = st.sampled_from(
    ["a", "No", "ß", "İ", "5", "²", "Ⅳ", "中", "…", "!", "-", "_", "😀", "don't", "\u0915\u093f", "x\u0301"]
)


@thorough
@given(st.lists(st.one_of(st.lists(WORDS, max_size=9).map(" ".join), TEXTS), max_size=8))
@example(["a b c d e", "a b c d !", "a b c d", "a b c d _ e", "a b c d 😀 5", ""])
def test_a_column_has_the_loose_keys_of_its_texts(texts):
    keys = [canonical_key(text) for text in texts]
    long = [sum(any(char.isalnum() for char in word) for word in key.split(" ")) >= 5 for key in keys]
    expected = [loose_key(key) if is_long else None for key, is_long in zip(keys, long, strict=True)]
    found = loose_keys(column(keys))
    assert [None if pd.isna(key) else key for key in found] == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why is he always late??", "why is he always late"),
        ("I don’t like it at all.", "i dont like it AT ALL"),
        ("Die STRASSE ist so lang", "die straße ist so lang!"),
        ("so very happy with it today 😀", "so very happy-with it, today"),
    ],
)
def test_D2_near_duplicates_share_a_loose_key(one, other):
    keys = loose_keys(canonical_keys(column([one, other])))
    assert keys[0] == keys[1] != ""
    assert canonical_key(one) != canonical_key(other)


@pytest.mark.parametrize("text", ["Yes .", "yes!", "", "no way , really ? !", "!!! ... ??? --- ,,, ;;;", "a b c d _"])
def test_a_text_of_less_than_five_words_has_no_loose_key(text):
    assert loose_keys(canonical_keys(column([text]))).isna().all()


# Ids ----------------------------------------------------------------------------------------------------

CSV = [{"name": "a.csv", "format": "csv"}]
PAIRS_BUILD = """
def build(raw):
    return raw["a.csv"]
"""


def by_hand(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def test_an_id_is_the_hash_of_corpus_and_key(workshop):
    raw = 'text,label\ncats &amp; dogs ,0\n"café\n❤\ufe0f",1\n'
    workshop.corpus("pets", {"a.csv": raw}, [classification()], CSV)
    release, _ = workshop.build()
    assert {item["text"]: item["id"] for item in items(release, "mood")} == {
        "cats &amp; dogs": by_hand(b"pets\x1fcats & dogs"),
        "café ❤\ufe0f": by_hand(b"pets\x1fcaf\xc3\xa9 \xe2\x9d\xa4"),
    }


def test_the_id_of_a_pair_is_the_hash_of_both_keys(workshop):
    raw = "text_a,text_b,label\nof two,halves ,0\nof,two halves,1\n"
    workshop.corpus("pairs", {"a.csv": raw}, [classification(format="pair")], CSV, build=PAIRS_BUILD)
    release, _ = workshop.build()
    assert {item["text"]: item["id"] for item in items(release, "mood")} == {
        "of two [SEP] halves": by_hand(b"pairs\x1fof two\x1fhalves"),
        "of [SEP] two halves": by_hand(b"pairs\x1fof\x1ftwo halves"),
    }


def test_a_text_has_one_id_in_all_tasks_of_its_corpus_and_another_in_another_corpus(workshop):
    tasks = [classification("one", "x"), classification("two", "y")]
    workshop.corpus("first", {"a.csv": "text,x,y\nsame,0,1\n"}, tasks, CSV)
    workshop.corpus("second", {"a.csv": "text,z\nsame,0\n"}, [classification("three", "z")], CSV)
    release, _ = workshop.build()
    ((one,), (two,), (three,)) = ([item["id"] for item in items(release, task)] for task in ("one", "two", "three"))
    assert one == two == by_hand(b"first\x1fsame")
    assert three == by_hand(b"second\x1fsame")


def test_R8_the_duplicate_check_sees_entities_resolved_and_the_first_text_stays(workshop):
    raw = "text,label\ncats &amp;amp; dogs,0\ncats & dogs,0\ndon’t,0\ndon't,0\n"
    workshop.corpus("pets", {"a.csv": raw}, [classification()], CSV)
    release, _ = workshop.build()
    assert {item["text"] for item in items(release, "mood")} == {"cats &amp;amp; dogs", "don’t", "don't"}
    (dropped,) = pq.read_table(release / "ledger.parquet").to_pylist()
    assert (dropped["source_row"], dropped["reason"]) == ("a.csv:2", "duplicate")
    assert dropped["kept_id"] == dropped["id"] == by_hand(b"pets\x1fcats & dogs")


@thorough
@given(LISTS_OF_TEXTS)
def test_ids_are_16_hex_digits_and_do_not_depend_on_their_neighbours(keys):
    ids = item_ids("corpus", keys)
    assert all(re.fullmatch("[0-9a-f]{16}", found) for found in ids)
    assert ids == [by_hand(b"corpus\x1f" + key.encode()) for key in keys]


def test_a_rank_is_a_keyed_hash_of_its_name():
    names = ["0", "1", "é"]
    digests = [blake2b(name.encode(), digest_size=8, key=b"split").digest() for name in names]
    assert [int(rank) for rank in ranks("split", names)] == [int.from_bytes(d, "big") for d in digests]
    assert list(ranks("split", names)) != list(ranks("sample", names))


# Texts no one expects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a\ud83d", "\udc00", "\udc4d\ud83d"])
def test_half_a_character_in_a_text_is_told_with_its_record(workshop, text):
    r"""JSON can spell `\ud83d`, half of an emoji; UTF-8, and so Parquet, cannot hold it."""
    raw = "".join(json.dumps({"text": each, "label": "0"}) + "\n" for each in ("fine", text))
    workshop.corpus("cut", {"a.jsonl": raw}, [classification()], [{"name": "a.jsonl", "format": "json_lines"}])
    _, outcomes = workshop.build()
    assert isinstance(outcomes["cut"].problem, Problem)
    for word in ("cut", "a.jsonl", "2"):
        assert word in str(outcomes["cut"].problem)


def test_odd_texts_are_published_as_they_are(workshop):
    long = "word " * 60_000 + "end"
    texts = ["a\x00b", "x" * 200_000, long, "\u202eabc", "\U0010ffff", "a\u2028b"]
    raw = "".join(json.dumps({"text": text, "label": "1"}) + "\n" for text in texts)
    workshop.corpus("odd", {"a.jsonl": raw}, [classification()], [{"name": "a.jsonl", "format": "json_lines"}])
    release, _ = workshop.build()
    assert sorted(item["text"] for item in items(release, "mood")) == sorted(texts)
