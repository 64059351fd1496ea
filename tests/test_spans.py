"""Spans from a corpus's offsets to the release: every one is where it was, or its record is named."""

import json
from hashlib import sha256

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.declaration import TextStep
from builders.pipeline.lock import LOCK
from builders.pipeline.release import LEDGER
from builders.pipeline.text import code_points, normalise, steps_of
from builders.problems import Problem

JSON_LINES = [{"name": "a.jsonl", "format": "json_lines"}]
ENTITIES = {"step": "entities", "why": "The corpus is escaped."}
NFC = {"step": "nfc", "why": "The corpus is decomposed."}
thorough = settings(max_examples=120, deadline=None)


def insults(**more) -> dict:
    """A span task; its offsets are in the column `spans`."""
    return {
        "name": "insults",
        "dataset": "insults",
        "category": "offensive",
        "format": "span",
        "column": "spans",
        "offsets": "code_points",
        "without_spans": "unlabeled",
        "labels": [{"name": "insult", "meaning": "Words that insult."}],
    } | more


def build(workshop, rows, *text_steps, **task):
    """A release (or None) and the outcome of a corpus of (text, spans) records."""
    raw = "".join(json.dumps({"text": text, "spans": spans}) + "\n" for text, spans in rows)
    workshop.corpus("rude", {"a.jsonl": raw}, [insults(**task)], JSON_LINES, text_steps=list(text_steps))
    release, outcomes = workshop.build()
    return release, outcomes["rude"]


def items(release) -> dict[str, list[tuple[int, int]]]:
    """Spans by text; every item's label is seen to hold what its spans cover."""
    spans = {}
    for split in ("train", "validation", "test"):
        for row in pq.read_table(release / f"data/insults/{split}.parquet").to_pylist():
            spans[row["text"]] = [(span["start"], span["end"]) for span in row["spans"]]
            assert row["label"] == {"insult": [row["text"][start:end] for start, end in spans[row["text"]]]}
    return spans


def released(workshop, text, *spans, steps=(), **task) -> tuple[str, list[tuple[int, int]]]:
    """The one item that a text with these raw spans becomes."""
    release, outcome = build(workshop, [(text, spans)], *steps, **task)
    assert outcome.problem is None
    (item,) = items(release).items()
    return item


def dropped(release) -> list[tuple[str, str]]:
    return [(row["source_row"], row["reason"]) for row in pq.read_table(release / LEDGER).to_pylist()]


def counts(release) -> dict[str, int]:
    lock = json.loads((release / LOCK).read_text(encoding="utf-8"))
    return lock["corpora"]["rude"]["tasks"]["insults"]["spans"]


def nonzero(release) -> dict[str, int]:
    return {name: count for name, count in counts(release).items() if count}


# The unit of offsets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "span", "surface"),
    [
        ("😀 you are a fool", (13, 17), "fool"),
        ("you are a fool 😀", (10, 14), "fool"),
        ("a 🤡! and 🤡 fool", (2, 4), "🤡"),
        ("you 🤡🤡 fool 🤡", (4, 16), "🤡🤡 fool 🤡"),
        ("👩\u200d💻 fool", (0, 5), "👩\u200d💻"),
        ("plain fool", (6, 10), "fool"),
    ],
)
def test_S1_offsets_in_utf16_units_become_code_points(workshop, text, span, surface):
    published, ((start, end),) = released(workshop, text, span, offsets="utf16")
    assert published == text
    assert text[start:end] == surface


def test_S1_the_example_has_the_code_points_12_to_16(workshop):
    assert released(workshop, "😀 you are a fool", (13, 17), offsets="utf16")[1] == [(12, 16)]
    assert released(workshop, "😀 you are a fool", (12, 16), offsets="code_points")[1] == [(12, 16)]


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def spans_in(text: str):
    edges = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted).map(tuple)
    return st.lists(edges.filter(lambda span: span[0] < span[1]), max_size=5)


@thorough
@given(st.data(), st.text("ab é中😀𝕏\u200d", min_size=1))
def test_S1_any_span_in_utf16_units_becomes_the_same_span(data, text):
    spans = data.draw(spans_in(text))
    in_units = [(utf16_length(text[:start]), utf16_length(text[:end])) for start, end in spans]
    assert code_points(text, in_units, "utf16") == spans
    assert code_points(text, spans, "code_points") == spans


BAD_SPANS = [
    ("code_points", (0, 5)),
    ("code_points", (5, 6)),
    ("code_points", (-1, 2)),
    ("code_points", (-3, -1)),
    ("code_points", (2, 2)),
    ("code_points", (3, 1)),
    ("code_points", (0, 10**30)),
    ("utf16", (0, 6)),
    ("utf16", (6, 7)),
    ("utf16", (0, 1)),
    ("utf16", (1, 2)),
    ("utf16", (2, 2)),
]


@pytest.mark.parametrize(("unit", "span"), BAD_SPANS)
def test_S1_a_span_that_is_not_in_its_text_names_the_record(workshop, unit, span):
    """In `😀ool`, 4 code points and 5 UTF-16 units, of which 1 is the middle of the emoji."""
    _, outcome = build(workshop, [("a fool", [(2, 6)]), ("😀ool", [(2, 3), span])], offsets=unit)
    assert outcome.status == "failed"
    assert outcome.problem.where == ("rude", "insults", "a.jsonl:2")
    assert f"{span[0]}-{span[1]}" in outcome.problem.what


@pytest.mark.parametrize(("unit", "span"), [("code_points", (0, 5)), ("utf16", (0, 1))])
def test_S1_the_message_says_what_to_do(workshop, unit, span):
    _, outcome = build(workshop, [("😀ool", [span])], offsets=unit)
    assert outcome.problem.todo


@pytest.mark.parametrize(
    "spans",
    [None, 3, "[2, 6]", [2, 6], ["2-6"], [["2", "6"]], [[2]], [[2, 6, 1]], [[2.5, 6]], [[None, 6]], {"start": 2}],
    ids=repr,
)
def test_something_that_is_no_list_of_offsets_names_the_record(workshop, spans):
    _, outcome = build(workshop, [("a fool", [(2, 6)]), ("a clown", spans)])
    assert isinstance(outcome.problem, Problem)
    assert "rude" in outcome.problem.where
    assert "a.jsonl:2" in str(outcome.problem)


# Edges of spans -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("such an idiot here", (7, 13)),
        ("such an idiot here", (8, 14)),
        ("such an \t\u3000idiot\xa0\n here", (7, 18)),
        ("such an idiot", (0, 13)),
        ("  an idiot  ", (0, 12)),
        ("idiot", (0, 5)),
    ],
)
def test_S2_a_span_loses_its_outer_white_space(workshop, text, span):
    published, ((start, end),) = released(workshop, text, span)
    assert published[start:end] == text[slice(*span)].strip()


def test_S2_how_many_were_trimmed_is_told(workshop):
    release, _ = build(workshop, [("such an idiot here", [(7, 13)]), ("an idiot", [(3, 8)])])
    assert nonzero(release) == {"spans": 2, "trimmed": 1}


@pytest.mark.parametrize(
    ("step", "text", "span"),
    [
        (ENTITIES, "such an&nbsp;idiot here", (7, 18)),
        (ENTITIES, "such an idiot&#32;&#x3000;here", (8, 26)),
        ({"step": "replace", "pattern": "<br>", "replacement": " ", "why": "Markup."}, "an<br>idiot", (2, 11)),
    ],
)
def test_S2_white_space_that_a_text_step_makes_is_outer_white_space_too(workshop, step, text, span):
    published, ((start, end),) = released(workshop, text, span, steps=[step])
    assert published[start:end] == "idiot"


def test_S2_a_span_of_white_space_only_is_gone_and_told(workshop):
    release, _ = build(workshop, [("an  idiot", [(2, 4), (4, 9)]), ("some words", [(4, 5)])])
    assert items(release) == {"an  idiot": [(4, 9)]}
    assert dropped(release) == [("a.jsonl:2", "unlabeled")]
    assert nonzero(release) == {"spans": 1, "blank": 2}


@pytest.mark.parametrize("marked", [(0, 1), (0, 2)], ids=["a mark", "a mark and a space"])
def test_S2_a_span_of_nothing_but_a_byte_order_mark_is_blank_and_no_repeat(workshop, marked):
    release, _ = build(workshop, [("\ufeff a fool", [marked, (4, 8)])])
    assert items(release) == {"a fool": [(2, 6)]}
    assert (counts(release)["blank"], counts(release)["repeat"]) == (1, 0)


@pytest.mark.parametrize(
    ("text", "span"),
    [("such idiots here", (5, 10)), ("such idiots here", (6, 11)), ("such 4you here", (6, 9)), ("naïve", (0, 3))],
)
def test_S2_an_edge_inside_a_word_is_reported_and_stays(workshop, text, span):
    release, _ = build(workshop, [(text, [span]), ("whole idiots here", [(6, 12)])])
    assert items(release)[text] == [span]
    assert nonzero(release) == {"spans": 2, "mid_word": 1}


@pytest.mark.parametrize(
    ("text", "span"),
    [("cafe\u0301s", (0, 4)), ("cafe\u0301s", (0, 5)), ("\u0939\u093f\u0928\u094d\u0926\u0940", (0, 3))],
    ids=["before an accent", "after an accent", "before a vowel sign"],
)
def test_S2_an_accent_is_part_of_its_word(workshop, text, span):
    release, _ = build(workshop, [(text, [span])])
    assert items(release) == {text: [span]}
    assert nonzero(release) == {"spans": 1, "mid_word": 1}


@pytest.mark.parametrize(
    ("text", "span"), [("(fool)", (1, 5)), ("c++ #fool!", (5, 9)), ("a :) b", (2, 4)), ("x", (0, 1))]
)
def test_S2_an_edge_at_punctuation_or_at_the_end_of_the_text_cuts_no_word(workshop, text, span):
    release, _ = build(workshop, [(text, [span])])
    assert nonzero(release) == {"spans": 1}


# Spans move with the text -------------------------------------------------------------------------------


def test_S3_the_example_moves_with_the_text(workshop):
    """`cafe<U+0301> idiot &amp; fool` becomes `café idiot & fool`."""
    raw = "cafe\u0301 idiot &amp; fool"
    spans = [(0, 5), (6, 11), (6, 22), (12, 17), (18, 22)]
    published, moved = released(workshop, raw, *spans, steps=[NFC, ENTITIES])
    assert published == "café idiot & fool"
    surfaces = [published[start:end] for start, end in moved]
    assert surfaces == ["café", "idiot", "idiot & fool", "&", "fool"]


@pytest.mark.parametrize(
    ("raw", "spans", "surfaces"),
    [
        ("&lt;3 you &quot;fool&quot;", [(16, 20)], ["fool"]),
        ("&amp;&amp;fool&amp;", [(10, 14)], ["fool"]),
        ("&amp;amp; fool", [(10, 14)], ["fool"]),
        ("a &ampfool here", [(6, 10)], ["fool"]),
        ("this&notfool here", [(8, 12)], ["fool"]),
        ("Q&ltA,fool! &#38;", [(6, 10)], ["fool"]),
        ("A&B fool&co", [(4, 8)], ["fool"]),
        ("half a&amp;b", [(7, 9)], ["&"]),
        ("&NotEqualTilde; fool", [(0, 15), (16, 20)], ["≂\u0338", "fool"]),
    ],
)
def test_S3_spans_keep_their_words_beside_entities(workshop, raw, spans, surfaces):
    published, moved = released(workshop, raw, *spans, steps=[ENTITIES])
    assert [published[start:end] for start, end in moved] == surfaces


@pytest.mark.parametrize(
    ("raw", "span", "published", "place"),
    [
        ("\n\na fool\n", (4, 8), "a fool", (2, 6)),
        ("a fool\r\nand more", (2, 11), "a fool  and more", (2, 11)),
        ("a\u2028fool", (2, 6), "a\u2028fool", (2, 6)),
        ("\ufeff\ta fool", (4, 8), "a fool", (2, 6)),
        ("😀\n fool ", (3, 7), "😀  fool", (3, 7)),
    ],
)
def test_S3_spans_move_with_the_common_steps(workshop, raw, span, published, place):
    assert released(workshop, raw, span) == (published, [place])


@pytest.mark.parametrize(
    ("pattern", "replacement", "raw", "span", "published", "surface"),
    [
        (r"\[.*?\] ?", "", "a [x] fool", (6, 10), "a fool", "fool"),
        (r"\[.*?\] ?", "", "a [x] fool", (0, 10), "a fool", "a fool"),
        (r"@\w+", "@user", "@joe you fool @al", (9, 13), "@user you fool @user", "fool"),
        (r"@\w+", "@user", "you @joe", (6, 8), "you @user", "@user"),
        ("(?=f)", "->", "a fool", (2, 6), "a ->fool", "->fool"),
    ],
)
def test_S3_spans_move_with_a_declared_replacement(workshop, pattern, replacement, raw, span, published, surface):
    step = {"step": "replace", "pattern": pattern, "replacement": replacement, "why": "A test."}
    text, ((start, end),) = released(workshop, raw, span, steps=[step])
    assert (text, text[start:end]) == (published, surface)


def test_S3_a_span_whose_text_is_removed_is_gone_and_told(workshop):
    step = {"step": "replace", "pattern": r"\[.*?\] ?", "replacement": "", "why": "A test."}
    release, _ = build(workshop, [("a [x] fool", [(2, 5), (6, 10)])], step)
    assert items(release) == {"a fool": [(2, 6)]}
    assert nonzero(release) == {"spans": 1, "blank": 1}


# Pieces of raw text and what they become under NFC and entity repair; none joins with its neighbours.
PIECES = st.lists(
    st.sampled_from(
        [("e\u0301", "é"), ("&amp;", "&"), ("&#33;", "!"), ("\u1112\u1161\u11ab", "한"), ("u\u0308\u0304", "ǖ"),
         ("\n", " "), ("\r", " "), ("a", "a"), ("fool", "fool"), ("😀", "😀"), (" x", " x"), ("ß", "ß"), ("-", "-")]
    ),
    min_size=1,
    max_size=12,
)  # fmt: skip
STEPS = steps_of([TextStep(**NFC), TextStep(**ENTITIES)])


@thorough
@given(PIECES, st.data())
def test_S3_random_spans_survive_a_round_trip(pieces, data):
    """A span of some pieces covers, after repair, exactly what these pieces become."""
    framed = [("<", "<"), *pieces, (">", ">")]  # no outer white space
    bounds = st.tuples(*[st.integers(0, len(framed))] * 2).map(sorted)
    ranges = data.draw(st.lists(bounds.filter(lambda pair: pair[0] < pair[1]), max_size=5))

    def joined(first: int, last: int, which: int) -> str:
        return "".join(piece[which] for piece in framed[first:last])

    spans = [(len(joined(0, first, 0)), len(joined(0, last, 0))) for first, last in ranges]
    text, moved = normalise(joined(0, len(framed), 0), STEPS, spans)
    assert text == joined(0, len(framed), 1)
    assert [text[start:end] for start, end in moved] == [joined(first, last, 1) for first, last in ranges]
    assert moved == [(len(joined(0, first, 1)), len(joined(0, last, 1))) for first, last in ranges]


@thorough
@given(st.data(), st.text("ab \n\r\t\u3000é😀\ufeff", min_size=1, max_size=20))
def test_S3_the_common_steps_keep_every_visible_character_of_a_span(data, text):
    spans = data.draw(spans_in(text))
    published, moved = normalise(text, steps_of(()), spans)
    for (start, end), (new_start, new_end) in zip(spans, moved, strict=True):
        before = text[start:end].removeprefix("\ufeff") if start == 0 else text[start:end]
        assert published[new_start:new_end].split() == before.split()


# Repeated surfaces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [(0, 4), (8, 12), (16, 20)])
def test_of_three_same_words_the_marked_one_is_published(workshop, place):
    assert released(workshop, "fool or fool or fool", place)[1] == [place]


def test_the_same_words_marked_twice_are_two_spans(workshop):
    assert released(workshop, "fool or fool", (8, 12), (0, 4))[1] == [(0, 4), (8, 12)]


def test_spans_are_in_order_each_once_nested_ones_kept(workshop):
    release, _ = build(workshop, [("you damned fool", [(11, 15), (4, 15), (11, 15), (10, 15), (4, 10)])])
    assert items(release) == {"you damned fool": [(4, 10), (4, 15), (11, 15)]}
    assert nonzero(release) == {"spans": 3, "trimmed": 1, "repeat": 2}


def test_one_text_with_the_same_spans_twice_is_a_duplicate(workshop):
    """In another order, and where white space differs."""
    rows = [("fool or clown", [(0, 4), (8, 13)]), ("fool  or clown", [(9, 14), (0, 4)])]
    release, _ = build(workshop, rows)
    assert items(release) == {"fool or clown": [(0, 4), (8, 13)]}
    assert dropped(release) == [("a.jsonl:2", "duplicate")]


@pytest.mark.parametrize(
    ("one", "other"),
    [([(0, 4)], [(8, 13)]), ([(0, 4)], [(0, 4), (8, 13)]), ([(0, 4)], [(14, 18)])],
    ids=["other words", "one more", "same words elsewhere"],
)
def test_one_text_with_different_spans_is_a_contradiction(workshop, one, other):
    text = "fool or clown fool"
    release, _ = build(workshop, [(text, one), (text, other), ("some idiot", [(5, 10)])])
    assert items(release) == {"some idiot": [(5, 10)]}
    assert dropped(release) == [("a.jsonl:1", "contradiction"), ("a.jsonl:2", "contradiction")]


@pytest.mark.parametrize(
    ("without_spans", "left", "lost"),
    [("keep", {"nice": [], "a fool": [(2, 6)]}, []), ("unlabeled", {"a fool": [(2, 6)]}, [("a.jsonl:1", "unlabeled")])],
)
def test_a_text_without_spans_is_what_the_corpus_declares(workshop, without_spans, left, lost):
    release, _ = build(workshop, [("nice", []), ("a fool", [(2, 6)])], without_spans=without_spans)
    assert items(release) == left
    assert dropped(release) == lost


# Byte order marks ---------------------------------------------------------------------------------------

DOCUMENTS = {
    "docs/1.txt": b"\xef\xbb\xbfA title\n\nYou fool.\n",
    "docs/2.txt": b"A title\n\nYou fool, \xef\xbb\xbfyou fool.\n",
    "docs/3.txt": b"\xef\xbb\xbf\n\nfool\n",
}
DOCUMENTS_BUILD = """
SPANS = {"docs/1.txt": [(14, 18)], "docs/2.txt": [(13, 17), (24, 28)], "docs/3.txt": [(3, 7)]}

def build(raw):
    articles = raw["docs/*.txt"]
    return articles.assign(spans=[SPANS[name] for name in articles["name"]])
"""


def test_R7_offsets_that_count_a_byte_order_mark_stay_right(workshop):
    """The mark at the start of a file is no part of the text; one inside is."""
    files = [{"name": "docs/*.txt", "format": "documents", "manifest": "docs.sha256"}]
    corpus = workshop.corpus("rude", DOCUMENTS, [insults()], files, build=DOCUMENTS_BUILD)
    sums = [f"{sha256(content).hexdigest()} {len(content)} {name}" for name, content in DOCUMENTS.items()]
    (corpus.folder / "docs.sha256").write_text("\n".join(sums) + "\n", encoding="utf-8")
    release, outcomes = workshop.build()
    assert outcomes["rude"].problem is None
    assert items(release) == {
        "A title  You fool.": [(13, 17)],
        "A title  You fool, \ufeffyou fool.": [(13, 17), (24, 28)],
        "fool": [(0, 4)],
    }


def test_R7_a_span_from_the_byte_order_mark_on_begins_with_the_text(workshop):
    assert released(workshop, "\ufeffYou fool", (0, 4), (1, 4)) == ("You fool", [(0, 3)])


# Texts no one expects -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["\x00 fool", "\u202e fool", "\U0010ffff fool", "\u2028 fool", "x" * 200_000 + " fool"]
)
def test_odd_characters_before_a_span_leave_it_where_it_is(workshop, text):
    place = (len(text) - 4, len(text))
    shift = len(text) - len(text.lstrip())
    assert released(workshop, text, place) == (text.lstrip(), [(place[0] - shift, place[1] - shift)])
