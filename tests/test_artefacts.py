"""The label artefact scan: what gives a label away is told with its class, lift and support; the task itself is not."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from validation.measure.artefacts import Features, artefacts

HEART = "\ufe0f"


def scan(classes: dict[str, list[str]], names: list[str] | None = None) -> list[dict]:
    """The findings of a task whose items are given class by class; `names` is its label list, if in another order."""
    names = names or list(classes)
    texts = [text for of_class in classes.values() for text in of_class]
    labels = [names.index(name) for name, of_class in classes.items() for _ in of_class]
    return artefacts(Features.of(pd.Series(texts)), np.arange(len(texts)), np.array(labels), names)


def scan_values(texts: list[str], values: list[float]) -> list[dict]:
    return artefacts(Features.of(pd.Series(texts)), np.arange(len(texts)), np.array(values, dtype=float), None)


def texts(count: int, extra: str = "", of: int | None = None) -> list[str]:
    """`count` different texts; the first `of` of them (all if it is not given) end in `extra`."""
    of = count if of is None else of
    return [f"x{number}" + (extra if number < of else "") for number in range(count)]


def one(findings: list[dict], what: str) -> dict:
    found = [finding for finding in findings if finding["what"] == what]
    assert len(found) == 1, findings
    return found[0]


def strong(findings: list[dict]) -> list[str]:
    return [finding["what"] for finding in findings if finding["strong"]]


def test_L7_a_variation_selector_in_one_class_only_is_named_with_class_lift_and_support():
    findings = scan({"☀": texts(10, " love you"), "❤": texts(10, f" love you{HEART}")})
    # Half of the 20 items are ❤, all of the 10 with it: lift 1 / 0.5; it tells all of the label.
    assert findings == [
        {
            "kind": "character",
            "what": "U+FE0F VARIATION SELECTOR-16",
            "class": "❤",
            "strong": True,
            "support": 10,
            "share": 1.0,
            "base": 0.5,
            "lift": 2.0,
            "of_class": 1.0,
            "explained": 1.0,
        }
    ]


def test_L7_holds_for_ten_items_of_one_text():
    units, labels = np.repeat([0, 1], 10), np.repeat([0, 1], 10)
    findings = artefacts(Features.of(pd.Series(["love you", f"love you{HEART}"])), units, labels, ["☀", "❤"])
    assert [(one["what"], one["class"], one["support"]) for one in findings] == [
        ("U+FE0F VARIATION SELECTOR-16", "❤", 10)
    ]


def test_a_feature_of_nine_items_is_not_reported_however_clear():
    assert scan({"sad": texts(200), "glad": texts(9, HEART)}) == []
    assert strong(scan({"sad": texts(200), "glad": texts(10, HEART)})) == ["U+FE0F VARIATION SELECTOR-16"]


def test_a_feature_that_nine_items_lack_is_not_reported_however_clear():
    assert scan({"fine": texts(200, "."), "odd": texts(9)}) == []
    assert strong(scan({"fine": texts(200, "."), "odd": texts(10)})) == ["U+002E FULL STOP"]


def test_a_frequent_token_that_says_nothing_of_the_label_is_not_reported():
    # In half of the items of either class.
    assert scan({"sad": texts(100, " the", of=50), "glad": texts(100, " the", of=50)}) == []


def test_what_chance_can_bring_is_not_reported():
    # 14 of 40 against 4 of 40: 2 (14 ln 14/9 + 4 ln 4/9 + 26 ln 26/31 + 36 ln 36/31) = 7.5. One in 160 has that.
    assert scan({"sad": texts(40, "!", of=14), "glad": texts(40, "!", of=4)}) == []


def test_a_character_gives_the_label_away_where_a_word_is_only_worth_knowing():
    # In 20 of 200 glad items and no sad one: 380 items are left, 180 of them glad, with an entropy of 0.998 bits,
    # so 1 - 0.95 * 0.998 = 0.052 of the label is explained.
    for extra, what, gives_away in ((" ★", "U+2605 BLACK STAR", True), (" hurray", "hurray", False)):
        found = one(scan({"sad": texts(200), "glad": texts(200, extra, of=20)}), what)
        assert found["strong"] is gives_away
        assert found["explained"] == pytest.approx(0.052, abs=0.001)
        assert (found["class"], found["share"], found["of_class"]) == ("glad", 1.0, 0.1)


def test_a_word_that_settles_the_label_of_many_items_gives_it_away():
    # In 80 of 200: 1 - 0.8 * H(120/320) = 1 - 0.8 * 0.954 = 0.236 of the label.
    findings = scan({"sad": texts(200), "glad": texts(200, " hurray", of=80)})
    assert strong(findings) == ["hurray"]
    assert one(findings, "hurray")["kind"] == "word"


def test_a_word_that_leaves_doubt_does_not_give_the_label_away():
    # 100 of the 115 items with it are glad, where half of all are: 87 %. It explains 0.17.
    findings = scan({"sad": texts(200, " hurray", of=15), "glad": texts(200, " hurray", of=100)})
    assert one(findings, "hurray")["strong"] is False
    assert (one(findings, "hurray")["class"], one(findings, "hurray")["lift"]) == ("glad", 1.74)


def test_a_character_that_only_leans_to_a_class_does_not_give_it_away():
    # In 160 glad items and 40 sad ones: four times as frequent.
    findings = scan({"sad": texts(400, "!", of=40), "glad": texts(400, "!", of=160)})
    assert one(findings, "U+0021 EXCLAMATION MARK")["strong"] is False
    assert one(findings, "U+0021 EXCLAMATION MARK")["lift"] == 1.6


def test_a_hashtag_that_is_the_name_of_the_class_gives_it_away():
    # In 28 of 400 glad items: 0.036 of the label, too little for any other hashtag.
    for extra, gives_away in ((" #VeryGlad", True), (" #monday", False), (" veryglad", False)):
        findings = scan({"sad": texts(400), "very glad": texts(400, extra, of=28)})
        assert one(findings, extra.strip().lower())["strong"] is gives_away, extra


def test_handles_hashtags_and_links_are_told_as_such():
    extras = {" @News": "@news", " #Yay": "#yay", " https://a.example/1": "http://"}
    kinds = {}
    for extra, what in extras.items():
        kinds[what] = one(scan({"a": texts(50), "b": texts(50, extra)}), what)["kind"]
    assert kinds == {"@news": "handle", "#yay": "hashtag", "http://": "link"}


def test_all_links_are_one_feature():
    linked = [f"x{number} http://t.example/{number}" for number in range(50)]
    assert one(scan({"a": texts(50), "b": linked}), "http://")["support"] == 50


def test_a_token_is_told_without_case_and_the_punctuation_round_it():
    forms = ["Hurray!", "(hurray)", "“HURRAY”", "'hurray'", "hurray,", "x/hurray..."]
    found = one(scan({"a": texts(60), "b": [f"{form} {number}" for number, form in enumerate(forms * 10)]}), "hurray")
    assert found["support"] == 60


def test_an_apostrophe_inside_a_word_belongs_to_it():
    assert one(scan({"a": texts(60), "b": texts(60, " don't")}), "don't")["kind"] == "word"


def test_presence_counts_not_how_often():
    assert one(scan({"a": texts(50), "b": texts(50, " ho ho!!!")}), "U+0021 EXCLAMATION MARK")["support"] == 50
    assert one(scan({"a": texts(50), "b": texts(50, " ho ho!!!")}), "ho")["support"] == 50


@pytest.mark.parametrize(
    ("extra", "what"),
    [
        ("  y", "two or more blanks"),
        ("    y", "two or more blanks"),
        (" .", "blank before punctuation"),
        ("\u00a0y", "U+00A0 NO-BREAK SPACE"),
        ("\ty", "U+0009"),
        ("\u2028y", "U+2028 LINE SEPARATOR"),
    ],
)
def test_white_space_in_one_class_only_gives_the_label_away(extra, what):
    # The other class has the same characters, without the white space.
    findings = scan({"a": texts(50, " y."), "b": texts(50, extra, of=25) + texts(50, " y.")[25:]})
    assert (one(findings, what)["kind"], one(findings, what)["class"]) == ("white space", "b")
    assert one(findings, what)["strong"]


def test_white_space_does_not_reach_from_one_text_into_the_next():
    assert scan({"a": ["y ", " y"] * 25, "b": ["y"] * 50}) == []
    assert scan({"a": ["y ", ". y"] * 25, "b": ["y", ". y"] * 25}) == []


def test_a_feature_is_not_split_where_texts_are_looked_at_in_pieces(monkeypatch):
    classes = {"sad": texts(40), "glad": texts(40, f" ho  ho {HEART}!", of=30)}
    whole = scan(classes)
    monkeypatch.setattr("validation.measure.artefacts._CHUNK", 7)
    assert scan(classes) == whole
    assert one(whole, "ho")["support"] == 30


def test_a_large_class_that_becomes_a_little_more_likely_is_not_given_away():
    # 900 of 1,000 items are fine, all of the 400 with the sign: lift 1.11; 1 - 0.6 H(1/6) / H(1/10) = 0.17.
    findings = scan({"fine": texts(900, "§", of=400), "odd": texts(100)})
    assert (one(findings, "U+00A7 SECTION SIGN")["class"], one(findings, "U+00A7 SECTION SIGN")["lift"]) == (
        "fine",
        1.11,
    )
    assert strong(findings) == []


def test_a_feature_that_only_the_small_class_lacks_gives_it_away():
    findings = scan({"fine": texts(900, "."), "odd": texts(100)})
    assert strong(findings) == ["U+002E FULL STOP"]
    assert findings[0]["explained"] == 1.0


def test_a_feature_of_two_classes_names_both_in_the_order_of_the_label_list():
    classes = {"love": texts(50, HEART, of=40), "anger": texts(50), "joy": texts(50, HEART), "fear": texts(50)}
    found = scan(classes)[0]
    # 100 of the 200 items are of these classes, and all 90 with the feature.
    assert (found["class"], found["share"], found["lift"], found["of_class"]) == ("love or joy", 1.0, 2.0, 0.9)
    assert scan(classes, ["joy", "fear", "love", "anger"])[0] == found | {"class": "joy or love"}


def test_a_feature_that_one_class_of_several_lacks_is_told_by_that_class():
    found = scan({"joy": texts(50, HEART), "anger": texts(50), "love": texts(50, HEART), "hope": texts(50, HEART)})[0]
    assert (found["class"], found["strong"]) == ("other than anger", True)


def test_the_more_ways_the_classes_can_be_parted_the_more_evidence_it_takes():
    # 20 of 400 items, all on one side of two halves: G² = 28.8. That is enough where there are two classes, but
    # 20 classes can be parted in half a million ways, and one of them looks like this by chance.
    two = {"a": texts(200), "b": texts(200, "★", of=20)}
    twenty = {f"class {number}": texts(20, "★", of=2 if number < 10 else 0) for number in range(20)}
    assert strong(scan(two)) == ["U+2605 BLACK STAR"]
    assert scan(twenty) == []


def test_the_order_of_the_class_list_does_not_matter():
    classes = {"sad": texts(100, " hm"), "glad": texts(100, " ha!")}
    assert scan(classes, ["glad", "sad"]) == scan(classes, ["sad", "glad"])


def test_a_class_without_items_is_in_nobodys_way():
    classes = {"sad": texts(50), "glad": texts(50, HEART)}
    assert scan(classes, ["never", "sad", "glad", "nor this"]) == scan(classes)


def test_findings_come_strongest_first_and_weak_ones_a_few_of_a_kind():
    # Word w0 is in 40 of 400 glad items, w1 in 45, and so on to w4 in 60; the star in 30.
    glad = [
        " ".join([f"x{number}", *(f"w{word}" for word in range(5) if number < 40 + 5 * word)]) for number in range(400)
    ]
    glad = [text + ("★" if number < 30 else "") for number, text in enumerate(glad)]
    findings = scan({"sad": texts(400), "glad": glad})
    assert [finding["what"] for finding in findings] == ["U+2605 BLACK STAR", "w4", "w3", "w2"]


def test_of_pairs_it_is_told_in_which_text_something_is():
    first = texts(100, "★", of=50)
    second = [f"y{number}" + ("★" if number >= 50 else "") for number in range(100)]
    labels = np.repeat([0, 1], 50)
    findings = artefacts(Features.of(pd.Series(first), pd.Series(second)), np.arange(100), labels, ["first", "second"])
    assert {finding["what"]: finding["class"] for finding in findings} == {
        "U+2605 BLACK STAR only in the first text": "first",
        "U+2605 BLACK STAR only in the second text": "second",
    }


def test_what_both_texts_of_a_pair_have_is_told_as_such():
    extra = ["★" if number < 50 else "" for number in range(100)]
    first, second = (pd.Series([f"{half}{one}" for one in extra]) for half in ("x", "y"))
    findings = artefacts(Features.of(first, second), np.arange(100), np.repeat([1, 0], 50), ["not same", "same"])
    assert [(finding["what"], finding["class"]) for finding in findings] == [
        ("U+2605 BLACK STAR in both texts", "same")
    ]


def test_a_character_that_moves_a_value_is_told_with_both_means():
    found = one(scan_values(texts(20, "!") + texts(40), [3.0] * 20 + [0.0, 1.0] * 20), "U+0021 EXCLAMATION MARK")
    # Mean of all 80/60, of the squares 200/60: variance 14/9. 20 items of 3 against 40 of 0.5 on average:
    # 2.5 / sqrt(14/9) deviations, and r² = 1/3 * 2/3 * 2.5² / (14/9) = 25/28.
    assert found == {
        "kind": "character",
        "what": "U+0021 EXCLAMATION MARK",
        "strong": True,
        "support": 20,
        "mean_with": 3.0,
        "mean_without": 0.5,
        "effect": round(2.5 / math.sqrt(14 / 9), 4),
        "explained": round(25 / 28, 4),
    }


def test_a_character_that_lowers_a_value_has_a_negative_effect():
    assert scan_values(texts(20, "!") + texts(40), [-3.0] * 20 + [0.0, -1.0] * 20)[0]["effect"] < -2


@pytest.mark.parametrize(("extra", "what"), [(" sunny", "sunny"), ("!", "U+0021 EXCLAMATION MARK")])
def test_what_moves_a_value_a_little_is_worth_knowing_only(extra, what):
    # 200 of 800 items have it, mean 0.75 against 0.5; mean of all 0.5625, variance 0.246: half a deviation,
    # r² = 1/4 * 3/4 * 0.0625 / 0.246 = 0.048 and G² = -800 ln(1 - r²) = 39.
    findings = scan_values(texts(200, extra) + texts(600), [0, 1, 1, 1] * 50 + [0, 1] * 300)
    assert [(finding["what"], finding["strong"]) for finding in findings] == [(what, False)]
    assert findings[0]["explained"] == pytest.approx(0.048, abs=0.001)


def test_a_word_that_says_nothing_of_a_value_is_not_reported():
    assert scan_values(texts(100, " the", of=50), [0.0, 1.0] * 50) == []


def test_values_that_are_all_alike_have_no_findings():
    assert scan_values(texts(40, "!", of=20), [1.0] * 40) == []


@pytest.mark.parametrize("names", [[], ["only"], ["a", "b"], None])
def test_a_task_without_items_has_no_findings(names):
    nothing = pd.Series([], dtype="str")
    assert artefacts(Features.of(nothing), np.zeros(0, dtype=np.int32), np.zeros(0), names) == []
    assert artefacts(Features.of(nothing, nothing), np.zeros(0, dtype=np.int32), np.zeros(0), names) == []


def test_one_class_alone_has_no_findings():
    assert scan({"only": texts(30, "!", of=15)}) == []


def test_items_without_a_label_are_left_out():
    texts_of = pd.Series(texts(20) + texts(20, HEART) + texts(5, HEART))
    features, units = Features.of(texts_of), np.arange(45)
    labels = np.array([0] * 20 + [1] * 20 + [-1, -1, 2, 7, -1])
    assert artefacts(features, units, labels, ["a", "b"])[0]["support"] == 20
    values = np.array([0.0] * 20 + [1.0] * 20 + [math.nan, math.inf] * 2 + [math.nan])
    assert artefacts(features, units, values, None)[0]["support"] == 20


def test_texts_that_the_task_does_not_have_do_not_count():
    features = Features.of(pd.Series(texts(20) + texts(20, HEART) + texts(100, HEART)))
    found = artefacts(features, np.arange(40), np.repeat([0, 1], 20), ["a", "b"])
    assert found[0]["support"] == 20


def test_findings_can_be_written_as_json():
    findings = [
        *scan({"a": texts(50), "b": texts(50, HEART)}),
        *scan_values(texts(20, "!") + texts(20), [1] * 20 + [0] * 20),
    ]
    assert json.loads(json.dumps(findings)) == findings
    assert len(findings) == 2


LABELLED = [
    (text, label) for label, extra in ((0, ""), (1, " ho!"), (2, f"  #ho {HEART}")) for text in texts(30, extra)
]
# So large that the fractions are rounded otherwise when they are added in another order.
VALUED = [(text, label * 1e12 + 0.1 / (row + 3)) for row, (text, label) in enumerate(LABELLED)]


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(len(LABELLED))))
def test_the_order_of_the_items_and_texts_does_not_matter(order):
    for rows, names in ((LABELLED, ["a", "b", "c"]), (VALUED, None)):
        found = []
        for arranged in (rows, [rows[place] for place in order]):
            text, label = zip(*arranged, strict=True)
            found.append(artefacts(Features.of(pd.Series(text)), np.arange(len(rows)), np.array(label), names))
        assert found[0] == found[1]
        assert found[0]


@settings(deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab AB.!#@'\u00a0\ufe0f☀é"), max_size=12), min_size=1, max_size=30),
    st.integers(2, 4),
    st.integers(1, 10),
)
def test_where_every_text_has_every_class_alike_nothing_is_found(several, classes, times):
    units = np.repeat(np.arange(len(several)), classes * times)
    labels = np.tile(np.arange(classes), len(several) * times)
    features = Features.of(pd.Series(several))
    assert artefacts(features, units, labels, [f"class {label}" for label in range(classes)]) == []
    assert artefacts(features, units, labels.astype(float), None) == []
