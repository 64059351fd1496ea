"""Traces: what may have been left in texts is found by kind, counted, and shown without giving a person away."""

import re
import time
import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.pipeline.text import normalised
from validation.measure.traces import INVISIBLE, KINDS, OVERLONG, matched, traces

OF = {kind.id: kind for kind in KINDS}
PATTERNS = [kind for kind in KINDS if kind is not OVERLONG]
ERRORS = {kind.id for kind in KINDS if kind.severity == "error"}

# Pieces that, side by side, make and break every kind.
PIECES = [
    *("@", "@user", "@USER", "@use", "@us", "Ann_7", "u/", "/u/some_user", "User:", "reddit.com/user/"),
    *("twitter.com/ann", "/status", "a.b@c.example", "(217) 555-0134", "+44 20 7946 0958", "555-0134", "192.0.2.7"),
    *("1234567890123456", "&", "amp;", "&amp;", "#39;", "&lt", "\\", "\\u2019", "\\n", " n", '"', '""', "<b>", "</b>"),
    *("<url>", "<a href=", "[linebreak]", "](http://", "[[", "|", "]]", "{{", "}}", "**", "==", "'''", "a", "Z", "7"),
    *(" ", ".", "-", "_", "=", "\t", "\n", "\r", "\x00", "\x7f", "\x85", "\x92", "\xa0", "\u2028", "\u3000", "\u200b"),
    *("\u200d", "\ufe0f", "\ufeff", "\ufffd", "ï¿½", "â€™", "Ã©", "Â", "é", "É", "”", "ð", "Ÿ", "😀", "❤", "\u0915"),
    *("\ue000", "\U0001ffff", "¯", "中"),
]  # fmt: skip
# Pieces that, repeated, begin something again and again.
BUSY = ["a", "1", "1 ", "1-", "1.", "+1", " ", "@a", "a.b@c.", "a@b-", "u/", "&", "&amp;", "<a b=", "[[|", "{{a", "**a"]
BUSY += ["== a ", "=", "'''a", '"', "\\", "_", "-", "Ã", "ï¿½", "\u200d"]

TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def column(texts: Sequence[str]) -> pd.Series:
    return pd.Series(list(texts), dtype="str")


def kinds_of(text: str) -> set[str]:
    """The kinds found in a text that is alone (so that no length is out of proportion)."""
    return {kind for kind, found in traces(column([text])).items() if found[0]}


def assert_found(kind: str, having: Sequence[str], lacking: Sequence[str]) -> None:
    found = traces(column([*having, *lacking]))[kind]
    assert dict(zip([*having, *lacking], found.tolist(), strict=True)) == dict.fromkeys(having, True) | dict.fromkeys(
        lacking, False
    )


# People --------------------------------------------------------------------------------------------------


def test_H9_the_four_examples_are_each_found_as_what_they_are():
    assert kinds_of("@RealName_7 hi") == {"handle"}
    assert kinds_of("ask u/some_user") == {"handle"}
    assert kinds_of("write to some.one@mail.example") == {"email"}
    assert kinds_of("call (217) 555-0134") == {"phone"}


def test_H9_a_handle_is_not_a_mask_a_time_a_place_or_half_of_an_address():
    assert_found(
        "handle",
        [
            "@RealName_7 hi",
            "thanks .@ann7, bye",
            "RT @_x_: no",
            "“@EE: hi",
            "see @100046729",
            "@user @ann7",
            "@usefulann",
            "@UsAnn",
            "@us_",
            "@user_ann",
            "u/some_user",
            "so (/u/some-user)",
            "https://www.reddit.com/user/some_user",
            "https://reddit.com/u/some_user/",
            "https://twitter.com/some_user/status/1",
            "signed User:SomeOne",
            "on User talk:SomeOne/old",
        ],
        [
            "@user hi",
            "@USER and @User2 and @username",
            "@ 5pm",
            "@8am or @4pm, @7, @3.94",
            "see you @home or @work",
            "don't @me",
            "some.one@mail.example",
            "b@lls and $h@t",
            "1 u/s, u/n",
            "https://short.example/u/abc",
            "a yes/no and you/them",
            "User: hello",
        ],
    )


def test_H9_an_email_address_has_a_name_and_a_domain():
    assert_found(
        "email",
        ["a@b.example", "mailto:Some.One+x@mail.some-host.example.", "Email:some_one@mail.co.uk…", "(x-y@z.org)"],
        ["@some.one", "a @ b.example", "so.@some... may be", "a@b", "me@home", "x@@y.example"],
    )


def test_H9_a_phone_number_is_written_as_one():
    assert_found(
        "phone",
        [
            "call 217-555-0134.",
            "(217)555-0134",
            "217.555.0134 now",
            "1-800-555-0134",
            "+1 (217) 555 0134",
            "it is 555-0134",
            "+44 20 7946 0958",
            "+32-25550134",
            "+4915550134567",
            "01632 960 134",
            "01632 960134",
            "01632960134",
        ],
        [
            "order 2175550134",
            "from 2012-10-12 to 2013-01-15",
            "2012-2013",
            "won 500-1000 or 250-2000 of them",
            "the score was 101-99",
            "$217,555,0134",
            "ISBN 0-306-40615-2",
            "id 123-217-555-01345",
            "217-555-0134-99",
            "https://x.example/217-555-0134",
            "pi is 3.14159265358979",
            "+1 to that, 10 times",
            "0123",
        ],
    )


def test_H9_an_ip_address_is_four_numbers_up_to_255():
    assert_found(
        "ip-address",
        ["by 192.0.2.7.", "User:192.0.2.255", "http://192.0.2.7/x"],
        ["version 11.0.686.3", "192.0.2", "192.0.2.7.1", "v192.0.2.7", "256.0.2.7", "0.1.2.3", "2.6.32.16-generic"],
    )


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("handle", "hi @RealName_7!", "@…"),
        ("handle", "ask u/some_user", "u/…"),
        ("handle", "ask /u/some_user", "/u/…"),
        ("handle", "by User:SomeOne", "…:…"),
        ("email", "some.one+x@mail.example", "…+…@…"),
        ("phone", "call (217) 555-0134", "(…) …"),
        ("phone", "call +44 20 7946 0958", "+… … … …"),
        ("ip-address", "by 192.0.2.7", "…"),
        ("long-number", "<:smile:123456789012345678>", "…"),
    ],
)
def test_H9_what_points_to_a_person_is_shown_by_its_form_only(kind, text, shown):
    assert matched(text, OF[kind]) == shown


@given(st.from_regex(r"[A-Za-z0-9_]{1,12}[A-Za-z_]{2}[0-9_]{0,3}", fullmatch=True))
@settings(max_examples=100, deadline=None)
def test_H9_no_name_or_address_is_ever_given_away(name):
    # Everything but the signs around a name is gone, and of letters only the u of u/ is left.
    for kind, text in [("handle", f"@{name}"), ("handle", f"u/{name}"), ("email", f"{name}@{name}.example")]:
        assert not re.search(r"[A-Za-z0-9_]", matched(text, OF[kind]).replace("u/", "")), text


# Characters ----------------------------------------------------------------------------------------------


def test_R1_line_breaks_are_told_from_other_separators():
    assert kinds_of("a\nb") == kinds_of("a\rb") == {"line-break"}
    assert kinds_of("a\u2028b") == {"odd-space"}
    assert kinds_of("a\x0bb") == kinds_of("a\x85b") == {"control"}
    assert kinds_of("a\tb") == {"tab"}


def test_outer_white_space_of_any_kind_is_seen():
    assert_found(
        "outer-space",
        [" a", "a ", "\ta", "a\xa0", "\u3000a", "a\n"],
        ["a b", "a\xa0b", "a\u200b", ""],
    )


@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=100, deadline=None)
def test_errors_are_what_the_pipeline_makes_impossible(texts):
    found = traces(normalised(column(texts), []))
    assert not any(found[kind].any() for kind in ERRORS)


def test_errors_are_line_breaks_and_outer_white_space():
    assert sorted(ERRORS) == ["line-break", "outer-space"]


def test_control_characters_are_found_left_overs_of_windows_1252_included():
    assert_found("control", ["it\x92s", "a\x00", "\x7f", "a\x1fb"], ["a\tb", "a\nb", "it’s", "a\xa0b"])


def test_white_space_other_than_the_blank():
    assert_found("odd-space", ["a\xa0b", "a\u2002b", "a\u3000b"], ["a b", "a\tb", "a\u200bb"])


def test_L7_variation_selectors_are_left_over_where_no_emoji_is_before_them():
    assert_found(
        "invisible",
        ["love you\ufe0f", "love you \ufe0f", "\ufe0f", "❤\ufe0f\ufe0f", "I\ufe0e"],
        ["love you ❤\ufe0f", "❤\ufe0e", "1\ufe0f\u20e3", "©\ufe0f", "love you"],
    )


def test_R7_a_byte_order_mark_inside_a_text_is_seen():
    assert kinds_of("so \ufeffit begins") == {"invisible"}
    assert matched("so \ufeffit begins", OF["invisible"]) == "U+FEFF"


def test_format_characters_have_their_place_in_emoji_and_scripts():
    assert_found(
        "invisible",
        ["a\u200bb", "co\xadop", "? \u200d :sign:", "😀\u200d", "\u200d♀", "\u2066@a", "a\u200e", "a\u180b"],
        [
            "👩\u200d⚕\ufe0f",  # woman, joiner, staff, selector
            "🏳\ufe0f\u200d🌈",
            "🏴\U000e0067\U000e0062\U000e007f",  # a flag spelt in tag characters
            "می\u200cروم",  # Persian needs the non-joiner
            "क\u094d\u200dष",
            "葛\U000e0100",
        ],
    )


def test_every_format_character_without_a_mark_of_its_own_counts_as_invisible():
    listed = re.compile(f"[{INVISIBLE}]")
    signs_of_scripts = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")
    missing = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) == "Cf"
        and not listed.match(char)
        and not unicodedata.name(char).startswith(signs_of_scripts)
    ]
    assert missing == []


def test_private_use_and_non_characters():
    assert_found(
        "private-use", ["a \uf8ff", "\U000fe334", "\ufdd0", "\uffff", "\U0001fffe"], ["中", "\ufffd", "😀", "\ufdf0"]
    )


def test_lost_characters():
    assert_found("lost", ["so \ufffd\ufffd", "voilï¿½"], ["¿qué?", "ï", "??"])
    assert matched("voilï¿½ï¿½ï¿½!", OF["lost"]) == "ï¿½ï¿½ï¿½"


def misread(text: str, encoding: str) -> str:
    return text.encode().decode(encoding)


def test_mojibake_is_utf8_read_as_another_encoding():
    assert_found(
        "mojibake",
        [
            misread("it’s", "latin-1"),
            misread("it’s", "cp1252"),
            misread("café", "cp1252"),
            misread("Zoë", "cp1252"),
            misread("£5", "cp1252"),
            misread("“no", "cp1252"),
            misread("дом", "latin-1"),
            misread("😀", "cp1252"),
            misread("❤", "latin-1"),
            misread("日本", "latin-1"),
            misread("šaš", "cp1252"),
            misread("it’s", "mac-roman"),
            "5Â miles",  # a no-break space that has become a blank
        ],
        [
            "it’s",
            "café £5 “no”",
            "CAFÉ”",
            "CAFÉ…” – he",
            "NESTLÉ® and Å, Ä, Ö",
            "«voilà\xa0»",
            "fiancé…” she said",
            "IRMÃS",
            "Â",
            "â Ĉ ĉ",
            "дом",
            "日本",
            "naïve",
            "18 ×… 20",
        ],
    )


# Leftovers of formats ------------------------------------------------------------------------------------


def test_R8_entities_are_found_and_those_escaped_twice_told_apart():
    assert kinds_of("cats &amp; dogs") == {"entity"}
    assert kinds_of("cats &amp;amp; dogs") == {"entity", "double-entity"}
    assert kinds_of("cats &amp;#39; dogs") == {"entity", "double-entity"}
    assert_found(
        "entity",
        ["&#39;", "&#x27;", "&quot;x", "x&mdash;y", "&eacute;", "truncated &amp", "&#8230 so"],
        ["R&B; so", "AT&T", "a & b", "?a=1&lt=2", "?p=1&start;=2", "&;", "&#;"],
    )
    assert_found("double-entity", ["&amp;lt;3", "&amp;nbsp;"], ["a &amp; b;", "R&amp;B;", "&amp; lt;"])


def test_escapes_that_nobody_resolved():
    assert_found(
        "escape",
        [
            r"don\u2019t",
            r"caf\xe9",
            r"so sad\nWhy",
            r"so sad.\n",
            r"so sad . \ nbut",
            r"he said \"no\"",
            r"and\/or",
            r"\*sigh\*",
            r"some\_name",
            r"a\tB" "\\t",
        ],
        [
            r"¯\_(ツ)_/¯",
            r"¯\_ツ_/¯",
            r"so _/|\_ what",
            r"\o/ and \m/",
            r"sad :\ never",
            r"C:\new\temp",
            r"\alpha + \nu",
            "and/or",
            "a backslash \\",
        ],
    )


def test_R2_doubled_quotation_marks_are_left_overs_of_csv():
    assert_found(
        "quoting",
        ['say ""hi"" now', 'say """hi', 'he said so.""', '""yes'],
        ['say "hi" now', '"hi" "ho"', 'x = ""', 'print("", 1)', '" "'],
    )


def test_markup_is_found_masks_are_not():
    assert_found(
        "markup",
        [
            "so <b>bold</b>",
            "line<br/>",
            '<a href="https://x.example">',
            "<font color=red",
            "a <repeat> b",
            "one [linebreak] two",
            "[quote]no[/quote]",
            "[url=https://x.example]x[/url]",
            "see [this](https://x.example)",
            "see [wiki](/r/x)",
            "so **very** good",
            "[[User:Some One|me]]",
            "place {{helpme}} here",
            "== A heading == text",
            "the '''first''' one",
        ],
        [
            "<url> by <person> and <NUMBER>",
            "i <3 you",
            "1 < 2 > 1",
            "a <-> b",
            "<yet again>",
            "[this] (that)",
            "a[i] = b[j]",
            "f**k this s**t",
            "2**3",
            "if a == b",
            "[[whispers]]",
            "{{HUGS}}",
            "''quoted''",
            "(''':",
        ],
    )


def test_what_markup_encloses_is_not_shown():
    assert matched("[[User:SomeOne|me]]", OF["markup"]) == "[["
    assert matched("so **Some One** said", OF["markup"]) == "**"
    assert matched("== Some One == hi", OF["markup"]) == "=="


# Glued records -------------------------------------------------------------------------------------------


def test_a_tab_and_a_long_number_show_a_glued_record():
    assert kinds_of("so funny.1646\t0\tnext one") == {"tab"}
    assert_found(
        "long-number",
        ["so funny 123456789012345678 next one", "so funny.123456789012345678", "so funny123456789012345"],
        [
            "so funny 12345678901234",
            "https://x.example/status/123456789012345678",
            "?id=123456789012345678",
            "0.123456789012345678",
            "100000000000000000 times",
            "9999999999999999 times",
            "12345678901234567890",
            "ID123456789012345678",
        ],
    )


def overlong(lengths: Sequence[int]) -> list[int]:
    found = traces(column("a" * length for length in lengths))["overlong"]
    return [length for length, one in zip(lengths, found, strict=True) if one]


def test_a_text_is_overlong_if_the_others_are_not():
    # Of 41 texts, in order of length, the 21st has 50 characters and the 39th (95 %) has 100. That is a factor of 2,
    # and 2 x 2 x 2 times 50 is 400, which is also more than twice 100.
    others = [50] * 21 + [100] * 19
    assert overlong([*others, 400]) == []
    assert overlong([*others, 401]) == [401]


def test_texts_of_one_length_may_be_exceeded_twice():
    # Median and 95 % are both 50: the factor is 1, but up to twice 50 nothing is said.
    assert overlong([50] * 40 + [100]) == []
    assert overlong([50] * 40 + [101]) == [101]


def test_a_corpus_with_many_long_texts_has_no_overlong_ones():
    # Median 50, 95 % 500: a factor of 10, so that 10,000 characters would still be in proportion.
    assert overlong([50] * 21 + [500] * 19 + [10_000]) == []


def test_a_handful_of_texts_has_no_usual_length():
    assert overlong([50] * 18 + [5000]) == []
    assert overlong([50] * 19 + [5000]) == [5000]


def test_an_overlong_text_is_shown_by_its_length():
    assert matched("a" * 1234, OVERLONG) == "1,234 characters"


# All of them ---------------------------------------------------------------------------------------------


def test_one_boolean_array_per_kind_as_long_as_the_texts():
    for texts in ([], ["a"], ["a", "@ann7", "é\xa0"]):
        found = traces(column(texts))
        assert list(found) == [kind.id for kind in KINDS]
        assert all(one.dtype == bool and len(one) == len(texts) for one in found.values())


def test_texts_in_several_chunks_are_found_in_their_places():
    parts = [column(["a", "é\xa0"]), column(["@ann7", "b", "ü\u3000"])]
    found = traces(pd.concat(parts, ignore_index=True))
    assert np.flatnonzero(found["odd-space"]).tolist() == [1, 4]
    assert np.flatnonzero(found["handle"]).tolist() == [2]


def test_an_ordinary_text_has_no_trace():
    assert (
        kinds_of(
            "So, I’ve read it: “100 % of 1,500 people said (on 2020-01-02) it’s fine” – see https://x.example/a?b=1 😀"
        )
        == set()
    )


@given(st.lists(TEXTS, min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_a_hint_never_hides_what_a_pattern_finds(texts):
    found = traces(column(texts))
    for kind in PATTERNS:
        assert found[kind.id].tolist() == [bool(kind.pattern.search(text)) for text in texts], kind.id


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_what_is_shown_is_short_and_can_be_seen(text):
    for kind in PATTERNS:
        shown = matched(text, kind)
        assert bool(shown) == bool(kind.pattern.search(text))
        # 20 characters, each at most U+10FFFF and a blank, and the dots that say there is more.
        assert len(shown) <= 20 * 9 + 1 or kind.personal
        assert all(char == " " or (char.isprintable() and not re.match(f"[{INVISIBLE}]", char)) for char in shown)


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("odd-space", "a\xa0b", "U+00A0"),
        ("line-break", "a\nb", "U+000A"),
        ("outer-space", "  a", "U+0020 U+0020"),
        ("control", "it\x92s", "U+0092"),
        ("private-use", "\U000fe334", "U+FE334"),
        ("mojibake", "itâ\x80\x99s", "âU+0080U+0099"),
        ("escape", r"don\u2019t", r"\u2019"),
        ("markup", "<span class='a b c d e f'>", "<span class='a b c d…"),
        ("tab", "none", ""),
    ],
)
def test_the_first_piece_is_shown_with_what_cannot_be_seen_spelt_out(kind, text, shown):
    assert matched(text, OF[kind]) == shown


@pytest.mark.parametrize("kind", PATTERNS, ids=lambda kind: kind.id)
def test_no_text_keeps_a_pattern_busy(kind):
    # 20,000 characters take some milliseconds; a pattern that goes over them again and again takes seconds.
    for piece in BUSY:
        start = time.process_time()
        matched(piece * (20_000 // len(piece)) + "!", kind)
        assert time.process_time() - start < 0.5, piece
