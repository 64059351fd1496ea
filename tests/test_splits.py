"""Duplicates, splits, SocKETTe and overlaps, on texts that were made up for it (D1 to D8)."""

import json
from hashlib import blake2b
from itertools import product

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.pipeline.split import Split, sizes, sockette, split_units
from tests.conftest import classification

TRAIN, VALIDATION, TEST = range(3)
HELD_OUT = ("validation", "test")

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


# Ids dealt directly ------------------------------------------------------------------------------------


def ids_of(n: int, about: str = "text") -> list[str]:
    return [blake2b(f"{about} {i}".encode(), digest_size=8).hexdigest() for i in range(n)]


def deal(ids, labels, groups=None, loose=None) -> Split:
    """The split of one task (a list of labels) or several (a table); `groups` has one group per id."""
    strata = labels if isinstance(labels, pd.DataFrame) else pd.DataFrame({"task": labels})
    declared = None if groups is None else pd.DataFrame({"unit": range(len(ids)), "group": groups})
    loose = pd.Series([None] * len(ids) if loose is None else loose, dtype="str")
    return split_units(pd.Series(ids, dtype="str"), strata, declared, loose)


def in_test(ids, labels, groups=None) -> set[str]:
    return {name for name, split in zip(ids, deal(ids, labels, groups).split, strict=True) if split == TEST}


@pytest.mark.parametrize(
    ("n", "train", "validation", "test"),
    [
        (0, 0, 0, 0),
        (1, 0, 1, 0),
        (2, 1, 1, 0),
        (3, 2, 1, 0),
        (5, 4, 1, 0),
        (6, 4, 1, 1),
        (10, 8, 1, 1),
        (11, 8, 2, 1),
        (19, 15, 2, 2),
        (1000, 800, 100, 100),
        (1001, 800, 101, 100),
        (1006, 804, 101, 101),
    ],
)
def test_train_is_four_fifths_and_test_half_of_the_rest_both_rounded_down(n, train, validation, test):
    assert sizes(n) == (train, validation, test)
    counts = np.bincount(deal(ids_of(n), [0] * n).split, minlength=3)
    assert counts.tolist() == [train, validation, test]


@quick
@given(st.lists(st.integers(0, 3), min_size=1, max_size=120))
def test_without_groups_sizes_are_exact_whatever_the_labels(labels):
    split = deal(ids_of(len(labels)), labels).split
    assert tuple(np.bincount(split, minlength=3)) == sizes(len(labels))


@quick
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)).filter(any), min_size=1, max_size=80))
def test_without_groups_sizes_are_exact_in_each_of_two_tasks(labels):
    """-1 is no item of that task."""
    strata = pd.DataFrame(labels, columns=["one", "other"])
    split = deal(ids_of(len(labels)), strata).split
    for task in strata:
        ours = split[strata[task] >= 0]
        assert tuple(np.bincount(ours, minlength=3)) == sizes(len(ours))


grouped = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 25), st.sampled_from([None, None, None, "a", "b", "c"])),
    min_size=1,
    max_size=120,
)


@quick
@given(grouped)
def test_D2_D3_groups_and_loose_keys_stay_together_or_leave_train(rows):
    """Groups always. Texts of one loose key as well, but for heaps: there the ones in train leave."""
    labels, groups, loose = zip(*rows, strict=True)
    split, leaves, because_of, facts = deal(ids_of(len(rows)), labels, groups, loose)
    assert len(split) == len(rows)
    assert set(split) <= {TRAIN, VALIDATION, TEST}
    for group in set(groups):
        assert len({s for s, g in zip(split, groups, strict=True) if g == group}) == 1
    for key in {"a", "b", "c"} & set(loose):
        places = [i for i, k in enumerate(loose) if k == key]
        if not facts["heaps_taken_apart"]:
            assert len(set(split[places])) == 1
        held_out = [i for i in places if split[i] != TRAIN]
        for i in places:
            if split[i] == TRAIN and held_out:
                assert leaves[i] == "near_duplicate"
                assert because_of[i] in held_out
            else:
                assert leaves[i] is None
    assert not any(leaves[i] for i, key in enumerate(loose) if key is None)


def excess(split, n) -> np.ndarray:
    return np.bincount(split, minlength=3) - np.array(sizes(n))


groups_of = st.lists(st.integers(1, 6), min_size=1, max_size=12)


@quick
@given(groups_of)
def test_with_groups_no_split_is_off_by_as_much_as_the_largest_group(group_sizes):
    groups = np.repeat(range(len(group_sizes)), group_sizes)
    off = excess(deal(ids_of(len(groups)), [0] * len(groups), groups).split, len(groups))
    assert abs(off).max() < max(group_sizes)


@settings(quick, max_examples=400)
@given(groups_of)
def test_with_groups_no_other_place_of_one_group_would_bring_the_sizes_nearer(group_sizes):
    groups = np.repeat(range(len(group_sizes)), group_sizes)
    split = deal(ids_of(len(groups)), [0] * len(groups), groups).split
    off = abs(excess(split, len(groups))).sum()
    for group, into in product(range(len(group_sizes)), (TRAIN, VALIDATION, TEST)):
        moved = np.where(groups == group, into, split)
        assert abs(excess(moved, len(groups))).sum() >= off, (group, into)


def test_D3_a_chain_of_declared_groups_is_one_group():
    """A text may belong to two dialogues (through two tasks): then both are in one split."""
    ids = ids_of(300)
    chains = [(3 * first, first + 1) for first in range(0, 100, 10)]
    declared = pd.DataFrame([(i, i // 3) for i in range(300)] + chains, columns=["unit", "group"])
    strata = pd.DataFrame({"task": [0] * 300})
    split = split_units(pd.Series(ids), strata, declared, pd.Series([None] * 300, dtype="str")).split
    for first in range(0, 100, 10):
        assert len(set(split[3 * first : 3 * first + 6])) == 1
    assert len(set(split)) == 3


@quick
@given(grouped, st.randoms(use_true_random=False))
def test_D4_the_order_of_the_raw_file_does_not_matter(rows, random):
    ids = ids_of(len(rows))
    shuffled = list(range(len(rows)))
    random.shuffle(shuffled)

    def by_id(order):
        labels, groups, loose = zip(*(rows[i] for i in order), strict=True)
        dealt = deal([ids[i] for i in order], labels, groups, loose)
        return {ids[i]: (split, why) for i, split, why in zip(order, *dealt[:2], strict=True)}

    assert by_id(range(len(rows))) == by_id(shuffled)


@pytest.mark.parametrize("classes", [1, 2, 20, 100])
def test_D4_a_thousand_ids_and_one_more(classes):
    """The rule ranks by a hash of the id alone, so a new text takes at most one place of the test split.

    Once for each of forty texts that could be new, and with one after the other.
    """
    ids, labels = ids_of(1040, "new text"), np.random.default_rng(3).integers(0, classes, 1040)
    base = before = in_test(ids[:1000], labels[:1000])
    assert len(base) == 100
    for new in range(1000, 1040):
        alone = [*range(1000), new]
        assert len(base - in_test([ids[i] for i in alone], labels[alone])) <= 1
        after = in_test(ids[: new + 1], labels[: new + 1])
        assert len(before - after) <= 1, new + 1
        before = after


def test_D4_usually_no_test_item_moves():
    """A new text ranks before the border of the test split in one of ten cases only."""
    ids = ids_of(1100, "usual")
    base = in_test(ids[:1000], [0] * 1000)
    stayed = [in_test([*ids[:1000], new], [0] * 1001) >= base for new in ids[1000:]]
    assert sum(stayed) >= 80


def test_D4_with_groups_at_most_one_group_leaves_test():
    ids, groups = ids_of(1040, "dialogue"), np.arange(1040) // 4
    before = in_test(ids[:1000], [0] * 1000, groups[:1000])
    for n in range(1001, 1041):
        after = in_test(ids[:n], [0] * n, groups[:n])
        assert len(before - after) <= 4, n
        before = after


def test_D4_a_class_that_becomes_more_frequent_than_another_does_not_deal_the_groups_anew():
    """Dialogues of eight turns; two rare classes are equally frequent, then one of them gets a turn more."""
    for about in range(20):
        ids, groups = ids_of(2001, f"tie {about}"), np.arange(2001) // 8
        labels = np.random.default_rng(about).permutation(np.repeat([0, 1, 2], [1600, 200, 200]))
        before = in_test(ids[:2000], labels, groups[:2000])
        after = in_test(ids, [*labels, 1], groups)
        assert len(before - after) <= 2 * 8, f"of {len(before)} test items"


# SocKETTe ----------------------------------------------------------------------------------------------


def chosen(ids, labels, at_most=1000) -> set[str]:
    labels = None if labels is None else pd.Series(labels)
    mask = sockette(pd.Series(ids), labels, at_most)
    return {name for name, taken in zip(ids, mask, strict=True) if taken}


def test_D6_sockette_of_a_sorted_test_file_has_the_shares_of_the_classes():
    labels = [0] * 900 + [1] * 450 + [2] * 150
    taken = chosen(ids_of(1500), labels)
    by_class = [sum(name in taken for name in ids_of(1500)[a:b]) for a, b in ((0, 900), (900, 1350), (1350, 1500))]
    assert by_class == [600, 300, 100]


@pytest.mark.parametrize(
    ("counts", "seats"),
    [
        ((1490, 10), (993, 7)),  # 993.33 and 6.67: the larger remainder gets the last seat
        ((1499, 1), (999, 1)),
        ((1198, 1, 1), (998, 1, 1)),
        ((334, 334, 333), (334, 333, 333)),
        ((1001,), (1000,)),
    ],
)  # fmt: skip
def test_D5_every_class_of_the_test_split_is_in_sockette(counts, seats):
    ids, labels = ids_of(sum(counts)), np.repeat(range(len(counts)), counts)
    taken = chosen(ids, labels)
    assert len(taken) == 1000
    seen = np.bincount(labels[[name in taken for name in ids]], minlength=len(counts))
    assert seen.tolist() == list(seats)


@quick
@given(st.lists(st.integers(0, 6), max_size=90))
def test_sockette_is_small_has_every_class_and_the_lowest_ids_of_each(labels):
    ids = ids_of(len(labels))
    taken = chosen(ids, labels, at_most=20)
    assert len(taken) == min(len(labels), 20)
    for value in set(labels):
        ours = sorted(name for name, label in zip(ids, labels, strict=True) if label == value)
        count = len(taken & set(ours))
        assert count >= 1
        assert taken & set(ours) == set(ours[:count])


def test_sockette_with_more_classes_than_seats_still_has_its_size():
    assert len(chosen(ids_of(9), range(9), at_most=4)) == 4


@quick
@given(st.integers(0, 60), st.integers(0, 60))
def test_sockette_of_a_grown_test_split_takes_old_items_only_if_it_had_them(n, more):
    """Of values and spans; an item leaves only for a new one that ranks before it."""
    ids = ids_of(n + more)
    before, after = chosen(ids[:n], None, at_most=20), chosen(ids, None, at_most=20)
    assert after & set(ids[:n]) <= before
    assert len(before - after) <= len(after - set(ids[:n]))


def test_sockette_stays_when_one_more_test_item_comes():
    ids, labels = ids_of(1600), np.random.default_rng(3).integers(0, 7, 1600)
    before = chosen(ids[:1500], labels[:1500])
    for n in range(1501, 1601):
        after = chosen(ids[:n], labels[:n])
        assert len(before - after) <= 4, n
        before = after


# Corpora -----------------------------------------------------------------------------------------------


def corpus(workshop, rows, columns=("text", "label"), tasks=None, name="invented", **more):
    """A corpus whose raw file has one line per row, cells between tabs."""
    content = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    files = [{"name": "rows.tsv", "format": "tsv", "columns": list(columns)}]
    workshop.corpus(name, {"rows.tsv": content}, tasks or [classification()], files, **more)


class Release:
    def __init__(self, workshop, out="release", names=None):
        self.folder, outcomes = workshop.build(out, names)
        assert {outcome.status for outcome in outcomes.values()} == {"built"}, outcomes

    def items(self, slug="mood") -> pd.DataFrame:
        parts = [
            pd.read_parquet(self.folder / f"data/{slug}/{split}.parquet").assign(split=split)
            for split in ("train", "validation", "test")
        ]
        return pd.concat(parts, ignore_index=True)

    def ledger(self, task="mood") -> pd.DataFrame:
        ledger = pd.read_parquet(self.folder / "ledger.parquet")
        return ledger[ledger["task"] == task].reset_index(drop=True)

    def sockette(self, slug="mood") -> pd.DataFrame:
        return pd.read_parquet(self.folder / f"data/{slug}/sockette.parquet")

    def lock(self) -> dict:
        return json.loads((self.folder / "release.lock.json").read_text(encoding="utf-8"))


def built(workshop, *args, **more) -> Release:
    corpus(workshop, *args, **more)
    return Release(workshop)


def fillers(n: int, about: str = "filler") -> list[tuple]:
    """Texts that resemble no other."""
    return [(f"{about} text {i} that says nothing of any note {i}", i % 2) for i in range(n)]


@pytest.mark.parametrize(
    "other",
    [
        "good morning all ",
        "good  morning all",
        "good\xa0morning all",
        "good morning\u2028all",
        "good morning all\ufe0f",
        "good\u200b morning all\u200d",
        "\ufeffgood morning all",
        "ｇｏｏｄ morning all",
        "good&nbsp;morning all",
        "good &amp;#109;orning all",
    ],
)
def test_D1_one_text_in_two_spellings_is_one_item(workshop, other):
    release = built(workshop, [("good morning all", 1), (other, 1)])
    (item,) = release.items().itertuples()
    assert item.text == "good morning all"
    (gone,) = release.ledger().itertuples()
    assert (gone.source_row, gone.reason, gone.kept_id) == ("rows.tsv:2", "duplicate", item.id)


@pytest.mark.parametrize("other", ["Good morning all", "good morning, all", "good mornings all"])
def test_D1_letters_case_and_punctuation_make_another_text(workshop, other):
    release = built(workshop, [("good morning all", 1), (other, 1)])
    assert set(release.items()["text"]) == {"good morning all", other}
    assert release.ledger().empty


def test_D1_duplicates_of_the_authors_train_and_test_files_are_pooled_first(workshop):
    """Every text is in both files, once with a blank at the end: no text is in two splits."""
    texts = [f"good morning number {i}" for i in range(60)]
    files = [{"name": name, "format": "tsv", "columns": ["text", "label"]} for name in ("train.tsv", "test.tsv")]
    raw = {
        "train.tsv": "".join(f"{text} \t1\n" for text in texts),
        "test.tsv": "".join(f"{text}\t1\n" for text in texts),
    }
    workshop.corpus("invented", raw, [classification()], files)
    release = Release(workshop)
    assert sorted(release.items()["text"]) == sorted(texts)
    assert set(release.ledger()["source_row"]) == {f"test.tsv:{i}" for i in range(1, 61)}


def test_D2_near_duplicates_are_kept_in_one_split(workshop):
    """Case, punctuation, spacing inside words and apostrophes; five words or more."""
    spellings = ["Why is he always late {}??", "why is he always late {}", "WHY is he, always: late… “{}”"]
    rows = [(spelling.format(i), i % 2) for i in range(60) for spelling in spellings]
    items = built(workshop, rows + fillers(120)).items()
    assert len(items) == 300
    late = items[items["text"].str.contains("(?i)late")]
    assert len(late) == 180
    splits = late.groupby(late["text"].str.extract(r"(\d+)", expand=False))["split"].agg(["size", "nunique"])
    assert (splits["size"] == 3).all()
    assert (splits["nunique"] == 1).all()
    assert late["split"].nunique() == 3


def test_D2_short_texts_link_nothing(workshop):
    """`oh yes 7 .` and `Oh yes 7!` say too little; four words are not five."""
    rows = [row for i in range(60) for row in ((f"oh yes indeed {i} .", 1), (f"Oh yes indeed {i}!", 1))]
    release = built(workshop, rows)
    items = release.items()
    number = items["text"].str.extract(r"(\d+)", expand=False)
    assert len(items) == 120
    assert items.groupby(number)["split"].nunique().max() == 2
    assert release.lock()["corpora"]["invented"]["split"]["joined_by_loose_key"] == 0


def test_D3_turns_of_a_dialogue_stay_together_and_sizes_are_exact(workshop):
    rows = [(f"turn {i} is about {i}", i % 2, f"dialogue {i // 3}") for i in range(300)]
    items = built(workshop, rows, ("text", "label", "dialogue"), group="dialogue").items()
    dialogue = items["text"].str.extract(r"turn (\d+)", expand=False).astype(int) // 3
    assert items.groupby(dialogue)["split"].nunique().eq(1).all()
    assert items["split"].value_counts().to_dict() == {"train": 240, "validation": 30, "test": 30}


def test_D3_replies_to_one_post_that_are_no_neighbours_in_the_file_stay_together(workshop):
    rows = [(f"reply {i} is about {i}", 1, f"post {i % 50}") for i in range(200)]
    items = built(workshop, rows, ("text", "label", "post"), group="post").items()
    post = items["text"].str.extract(r"reply (\d+)", expand=False).astype(int) % 50
    assert items.groupby(post)["split"].nunique().eq(1).all()
    assert items["split"].value_counts().to_dict() == {"train": 160, "validation": 20, "test": 20}


TWO_TASKS = [classification(), classification("tone", "tone")]


def test_D3_D7_a_text_that_two_dialogues_say_ties_them_if_each_gives_it_to_a_task(workshop):
    """Row 1 is an item of one task, its duplicate in another dialogue an item of the other task."""
    rows = []
    for i in range(40):
        rows += [
            (f"both say {i}", 1, "", f"left {i}"),
            (f"only the left says {i}", 1, 1, f"left {i}"),
            (f"both say {i} ", "", 1, f"right {i}"),
            (f"only the right says {i}", 0, 0, f"right {i}"),
        ]
    columns = ("text", "label", "tone", "dialogue")
    release = built(workshop, rows, columns, TWO_TASKS, group="dialogue")
    items = pd.concat([release.items(), release.items("tone")])
    assert len(items) == 40 * 6
    number = items["text"].str.extract(r"(\d+)", expand=False)
    assert items.groupby(number)["split"].nunique().eq(1).all()
    assert items["split"].nunique() == 3


def test_D4_a_line_put_on_top_of_the_raw_file_leaves_the_test_items(workshop):
    rows = [(f"remark {i} of a thousand", i % 2) for i in range(1000)]
    before = built(workshop, rows).items().query("split == 'test'")
    corpus(workshop, [("one remark more", 1), *rows])
    after = Release(workshop, "grown").items().query("split == 'test'")
    assert len(before) == 100
    assert len(set(before["id"]) & set(after["id"])) >= 99


FOUR_CLASSES = classification(
    labels=[{"name": name, "raw": raw, "meaning": name} for name, raw in zip("abcd", "0123", strict=True)]
)


def test_D5_classes_of_1_2_5_and_992(workshop):
    """The rule: a class of one or two is train whole, one of five gives a single item away."""
    labels = [0] + [1] * 2 + [2] * 5 + [3] * 992
    release = built(workshop, [(f"text {i}", label) for i, label in enumerate(labels)], tasks=[FOUR_CLASSES])
    items = release.items()
    assert release.ledger().empty
    assert len(items) == items["id"].nunique() == 1000
    assert items["split"].value_counts().to_dict() == {"train": 800, "validation": 100, "test": 100}
    counts = items.groupby(["label", "split"]).size().unstack(fill_value=0)
    assert counts["train"].to_dict() == {0: 1, 1: 2, 2: 4, 3: 793}
    assert items["label"].value_counts().sort_index().tolist() == [1, 2, 5, 992]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_D5_a_corpus_of_a_few_texts_builds(workshop, n):
    release = built(workshop, [(f"text {i}", i % 2) for i in range(n)])
    counts = release.items()["split"].value_counts()
    assert tuple(counts.get(split, 0) for split in ("train", "validation", "test")) == sizes(n)
    assert release.lock()["corpora"]["invented"]["tasks"]["mood"]["off_by"] == {}


def test_D5_a_corpus_without_any_item_is_not_built_and_says_why(workshop):
    corpus(workshop, [("a text", ""), ("another", "-1")])
    folder, outcomes = workshop.build()
    assert outcomes["invented"].status == "failed"
    assert "no raw row became an item" in str(outcomes["invented"].problem)
    assert not folder.exists()


def test_every_split_has_the_shares_of_the_classes(workshop):
    """300 of 1,000 are bad, all at the end of the file."""
    release = built(workshop, [(f"text {i}", int(i < 700)) for i in range(1000)])
    bad = release.items().query("label == 0")["split"].value_counts()
    assert bad.to_dict() == {"train": 240, "validation": 30, "test": 30}


def test_every_split_has_the_shares_of_the_classes_in_two_tasks(workshop):
    rows = [(f"text {i}", int(i < 700), i % 5 // 4) for i in range(1000)]
    release = built(workshop, rows, ("text", "label", "tone"), TWO_TASKS)
    for slug, rare in (("mood", 0), ("tone", 1)):
        items = release.items(slug)
        counts = items[items["label"] == rare]["split"].value_counts()
        assert all(abs(counts[split] - len(items[items["label"] == rare]) / 10) <= 2 for split in HELD_OUT)


def test_D6_sockette_of_a_raw_file_sorted_by_label(workshop):
    """12,000 rows give 1,200 test items: 900 and 300, and three quarters of 1,000 in SocKETTe."""
    release = built(workshop, [(f"text {i}", int(i < 9000)) for i in range(12_000)])
    sample, test = release.sockette(), release.items().query("split == 'test'")
    assert test["label"].value_counts().to_dict() == {1: 900, 0: 300}
    assert sample["label"].value_counts().to_dict() == {1: 750, 0: 250}
    assert set(sample["id"]) <= set(test["id"])


def test_sockette_is_the_whole_test_split_up_to_1_000_items(workshop):
    release = built(workshop, fillers(400))
    pd.testing.assert_frame_equal(
        release.sockette(), release.items().query("split == 'test'").drop(columns="split").reset_index(drop=True)
    )


def test_D7_a_text_in_two_tasks_of_a_corpus_is_in_one_split(workshop):
    """Each text has two raw rows, in two spellings, each labelled for one of the tasks."""
    rows = [
        row for i in range(150) for row in ((f"tom &amp; {i} said so", i % 2, ""), (f"tom & {i} said so", "", i % 2))
    ]
    release = built(workshop, rows, ("text", "label", "tone"), TWO_TASKS)
    mood, tone = (release.items(slug).set_index("id")["split"] for slug in ("mood", "tone"))
    assert len(mood) == len(tone) == 150
    assert mood.to_dict() == tone.to_dict()
    assert mood.nunique() == 3


def test_D7_one_task_for_a_part_of_the_texts_only(workshop):
    """As in a corpus that rates how funny a text is where it is funny."""
    rows = [(f"text {i}", i % 2, i % 3 % 2 if i % 2 else "") for i in range(400)]
    release = built(workshop, rows, ("text", "label", "tone"), TWO_TASKS)
    mood, tone = release.items(), release.items("tone")
    both = mood.merge(tone, on="id", suffixes=("", "_tone"))
    assert len(both) == len(tone) == 200
    assert (both["split"] == both["split_tone"]).all()
    for items, total in ((mood, 400), (tone, 200)):
        counts = items["split"].value_counts()
        assert tuple(counts[["train", "validation", "test"]]) == sizes(total)


# Chains and heaps --------------------------------------------------------------------------------------


def chain(dialogues: int, links: str) -> list[tuple]:
    """Dialogues of two turns; the second turn of each is, but for punctuation, the first of the next."""
    return [
        row
        for i in range(dialogues)
        for row in ((links.format(i) + "!", 1, f"chain {i}"), (links.format(i + 1) + ".", 1, f"chain {i}"))
    ]


def singles(n: int) -> list[tuple]:
    return [(*row, f"single {i}") for i, row in enumerate(fillers(n))]


DIALOGUES = ("text", "label", "dialogue")


def link_of(items: pd.DataFrame) -> pd.DataFrame:
    """The chain texts among the items, with their link number and their dialogue."""
    links = items[items["text"].str.startswith("link")].copy()
    links["link"] = links["text"].str.extract(r"(\d+)", expand=False).astype(int)
    links["dialogue"] = np.where(links["text"].str.endswith("!"), links["link"], links["link"] - 1)
    return links


def test_a_short_chain_of_dialogues_stays_together(workshop):
    """Ten dialogues of two turns are 20 texts: no heap."""
    release = built(workshop, chain(10, "link {} of a long chain") + singles(180), DIALOGUES, group="dialogue")
    links = link_of(release.items())
    assert len(links) == 20
    assert links["split"].nunique() == 1
    assert release.ledger().empty
    assert release.lock()["corpora"]["invented"]["split"]["heaps_taken_apart"] == 0


def test_a_heap_is_taken_apart_and_its_straddling_near_duplicates_leave_train(workshop):
    """Forty dialogues in a row are 80 texts of 300. Each dialogue stays whole; a text of train whose near-
    duplicate is in validation or test goes to the ledger, which names that one."""
    release = built(workshop, chain(40, "link {} of a long chain") + singles(220), DIALOGUES, group="dialogue")
    items, ledger = release.items(), release.ledger()
    links = link_of(items)
    assert links["split"].nunique() == 3
    assert links.groupby("dialogue")["split"].nunique().eq(1).all()
    assert release.lock()["corpora"]["invented"]["split"]["heaps_taken_apart"] == 1
    assert len(ledger) > 0
    assert set(ledger["reason"]) == {"near_duplicate"}
    assert len(items) + len(ledger) == 300
    held_out = links[links["split"].isin(HELD_OUT)].set_index("id")["link"]
    assert not set(links["link"][links["split"] == "train"]) & set(held_out)
    for gone in ledger.itertuples():
        row = int(gone.source_row.removeprefix("rows.tsv:")) - 1
        assert held_out[gone.kept_id] == row // 2 + row % 2
        assert gone.id not in set(items["id"])
    off = release.lock()["corpora"]["invented"]["tasks"]["mood"]["off_by"]
    assert off["train"] <= -len(ledger) + 1


def test_repeats_of_a_text_that_leaves_train_do_not_name_it_as_kept(workshop):
    """Every turn of the heap is said twice in its dialogue; `kept_id` is the item that stayed, if one did."""
    turns = [turn for turn in chain(40, "link {} of a long chain") for _ in range(2)]
    release = built(workshop, turns + singles(220), DIALOGUES, group="dialogue")
    ledger = release.ledger()
    assert set(ledger["reason"]) == {"duplicate", "near_duplicate"}
    assert set(ledger["kept_id"].dropna()) <= set(release.items()["id"])


def test_near_duplicates_without_dialogues_are_a_heap_too(workshop):
    """Forty spellings of one sentence, of 300 texts, are dealt one by one; those of train leave."""
    spellings = [("many say it like this" + "!" * (i % 8 + 1) + "?" * (i // 8), 1) for i in range(40)]
    release = built(workshop, spellings + fillers(260))
    items = release.items()
    left = items[items["text"].str.startswith("many")]
    assert set(left["split"]) <= set(HELD_OUT)
    assert len(left) > 0
    assert len(left) + len(release.ledger()) == 40


def test_a_large_declared_group_is_no_heap(workshop):
    """A dialogue of a hundred turns, of 1,000: it stays, and nothing leaves."""
    rows = [(f"turn {i} of a very long talk", 1, "long") for i in range(100)] + singles(900)
    release = built(workshop, rows, DIALOGUES, group="dialogue")
    long = release.items().query("text.str.startswith('turn')")
    assert len(long) == 100
    assert long["split"].nunique() == 1
    assert release.ledger().empty
    assert release.items()["split"].value_counts().to_dict() == {"train": 800, "validation": 100, "test": 100}


def test_phrases_of_a_held_out_sentence_leave_train(workshop):
    """Sentences are split 80/10/10; their phrases go to train, but for those that a held-out sentence has."""
    rows = []
    for i in range(100):
        rows += [(f"the film number {i} is dull", 0, "whole"), (f"number {i}", 1, "part"), (f"Is dull, {i}", 0, "part")]
    release = built(workshop, rows, ("text", "label", "piece"), parts="piece")
    items, ledger = release.items(), release.ledger()
    films = items[items["text"].str.startswith("the film")]
    assert films["split"].value_counts().to_dict() == {"train": 80, "validation": 10, "test": 10}
    assert set(items["split"][~items["text"].str.startswith("the film")]) == {"train"}
    held_out = films[films["split"] != "train"]
    numbers = held_out["text"].str.extract(r"(\d+)", expand=False).astype(int)
    left = ledger["source_row"].str.removeprefix("rows.tsv:").astype(int)
    assert set(ledger["reason"]) == {"held_out_part"}
    assert set(left) == {3 * number + 2 for number in numbers}
    assert set(ledger["kept_id"]) == set(held_out["id"])


# Texts in several corpora ------------------------------------------------------------------------------


def two_corpora(workshop):
    """`tweets` and `posts` share fifty of their 150 texts, in another spelling and with another label."""
    shared = [f"both have tom & jerry {i}" for i in range(50)]
    tweets = [(text, 1) for text in shared] + fillers(100, "tweet")
    posts = fillers(100, "post") + [(text.replace("&", "&amp;") + " ", 0) for text in shared]
    corpus(workshop, tweets, name="tweets", tasks=[classification("mood")])
    corpus(workshop, posts, name="posts", tasks=[classification("tone")])
    return shared


def test_D8_a_text_in_two_corpora_is_listed_from_both_sides(workshop):
    shared = two_corpora(workshop)
    release = Release(workshop)
    overlaps = pd.read_parquet(release.folder / "overlaps.parquet")
    key = {"mood": "both have tom & jerry ", "tone": "both have tom &amp; jerry "}
    splits = {
        task: release.items(task).set_index("text")[["id", "split"]].T.to_dict("list") for task in ("mood", "tone")
    }
    expected = set()
    for number in range(len(shared)):
        one, other = ((task, *splits[task][f"{key[task]}{number}"]) for task in ("mood", "tone"))
        expected |= {(*one, *other), (*other, *one)}
    columns = ["task", "id", "split", "other_task", "other_id", "other_split"]
    assert list(overlaps.columns) == columns
    assert len(overlaps) == 100
    assert set(overlaps.itertuples(index=False, name=None)) == expected
    cells = release.lock()["overlaps"]["mood"]["tone"]
    assert sum(cells.values()) == 50
    mood = overlaps[overlaps["task"] == "mood"]
    assert cells == (mood["split"] + " > " + mood["other_split"]).value_counts().to_dict()


def test_D8_multi_task_training_leaves_out_exactly_the_train_items_held_out_elsewhere(workshop):
    two_corpora(workshop)
    release = Release(workshop)
    overlaps = pd.read_parquet(release.folder / "overlaps.parquet")
    left_out = overlaps[(overlaps["split"] == "train") & overlaps["other_split"].isin(HELD_OUT)]
    items = pd.concat([release.items("mood"), release.items("tone")])
    plain = items["text"].str.replace("&amp;", "&")
    held_out = set(plain[items["split"].isin(HELD_OUT)])
    leaks = items[(items["split"] == "train") & plain.isin(held_out)]
    assert len(leaks) > 0
    assert set(left_out["id"]) == set(leaks["id"])


def test_D8_a_shared_text_does_not_change_the_splits_of_a_corpus(workshop):
    """Built alone or with the other, the same bytes."""
    two_corpora(workshop)
    together, alone = Release(workshop), Release(workshop, "alone", ["tweets"])
    for split in ("train", "validation", "test", "sockette"):
        path = f"data/mood/{split}.parquet"
        assert (together.folder / path).read_bytes() == (alone.folder / path).read_bytes()
    table = pq.read_table(alone.folder / "overlaps.parquet")
    assert len(table) == 0
    assert {str(field.type) for field in table.schema} == {"string"}


def test_D8_tasks_of_one_corpus_do_not_overlap_with_each_other(workshop):
    release = built(workshop, [(f"text {i}", 1, 1) for i in range(20)], ("text", "label", "tone"), TWO_TASKS)
    assert len(pd.read_parquet(release.folder / "overlaps.parquet")) == 0
    assert release.lock()["overlaps"] == {}


def test_D8_a_text_in_three_corpora_and_two_tasks_is_listed_for_every_two(workshop):
    corpus(workshop, [("one for all", 1, 1)], ("text", "label", "tone"), TWO_TASKS, name="first")
    corpus(workshop, [("one for all", 1)], tasks=[classification("second")], name="second")
    corpus(workshop, [("one for all", 1)], tasks=[classification("third")], name="third")
    overlaps = pd.read_parquet(Release(workshop).folder / "overlaps.parquet")
    pairs = {("mood", "second"), ("tone", "second"), ("mood", "third"), ("tone", "third"), ("second", "third")}
    seen = list(zip(overlaps["task"], overlaps["other_task"], strict=True))
    assert sorted(seen) == sorted([*pairs, *(pair[::-1] for pair in pairs)])
