"""Near-duplicates across splits.

The similarity of two texts is the number of pairs of adjacent words that they share, divided by the number of pairs
that one of them has. Twelve different words make eleven pairs. With another word inside, two pairs of each text are
its own: 9 shared of 13. With another word at an end it is one of each: 10 of 12. With one word more at an end it is one
of the longer text: 11 of 12.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from validation.measure.near import near_pairs

SETTINGS = {"threshold": 0.6, "least_shingles": 7, "permutations": 128, "bands": 32, "seed": 1}
TRAIN, VALIDATION, TEST = 0, 1, 2

BAKER = "the old baker sells warm bread on market square every sunny morning"
BAKER_WITH_ROLLS = BAKER.replace("bread", "rolls")
BAKER_IN_THE_AFTERNOON = BAKER.replace("morning", "afternoon")
FERRY = "our last ferry leaves from pier nine shortly before midnight on weekdays only"


def near(*texts: tuple[str, int], **settings) -> list[tuple[int, int, float]]:
    """The rows of `near_pairs` for texts with their splits."""
    keys, split = pd.Series([text for text, _ in texts], dtype="str"), np.array([code for _, code in texts])
    return list(near_pairs(keys, split, SETTINGS | settings).itertuples(index=False, name=None))


def similarity(one: str, other: str) -> float:
    """The same by plain Python, for texts of lower-case words."""
    first, second = (set(zip(text.split(), text.split()[1:], strict=False)) for text in (one, other))
    return len(first & second) / len(first | second)


def village() -> tuple[pd.Series, np.ndarray]:
    """240 invented texts of 16 words, every fourth the one before it with a word changed; they take splits in turn."""
    texts = []
    for number in range(240):
        words = [f"text{number}word{place}" for place in range(16)]
        if number % 4 == 3:
            words = texts[-1].split()
            words[number % 16] = "otherwise"
        texts.append(" ".join(words))
    return pd.Series(texts, dtype="str"), np.arange(240) % 3


# What is one ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BAKER_WITH_ROLLS, 9 / 13),
        (BAKER_IN_THE_AFTERNOON, 10 / 12),
        (f"{BAKER} again", 11 / 12),
        (BAKER.replace("old ", ""), 9 / 12),  # the-old and old-baker went, the-baker came
        ("The old baker sells warm bread, on Market Square (every sunny morning)!", 1.0),
    ],
)
def test_a_text_with_small_edits_is_found_in_train(text, expected):
    assert near((BAKER, TRAIN), (FERRY, TRAIN), (text, TEST)) == [(2, 0, expected)]


def test_unrelated_texts_are_none():
    assert near((BAKER, TRAIN), (FERRY, TEST)) == []


def test_the_same_words_in_another_order_are_another_text():
    assert near((BAKER, TRAIN), (" ".join(reversed(BAKER.split())), TEST)) == []


def test_only_other_splits_count():
    texts = [(BAKER, TRAIN), (BAKER_WITH_ROLLS, TRAIN), (FERRY, TEST), (f"{FERRY} please", TEST)]
    assert near(*texts) == []


def test_the_held_out_splits_are_compared_with_each_other():
    assert near((BAKER, TEST), (FERRY, TRAIN), (BAKER_WITH_ROLLS, VALIDATION)) == [(0, 2, 9 / 13), (2, 0, 9 / 13)]


def test_a_partner_in_train_goes_before_a_more_similar_one_elsewhere():
    texts = [(f"{BAKER} again", TEST), (BAKER, VALIDATION), (BAKER_WITH_ROLLS, TRAIN)]
    # The test text shares 9 pairs with the one in train; one has 12, the other 11.
    assert near(*texts) == [(0, 2, 9 / 14), (1, 2, 9 / 13)]


def test_the_most_similar_text_of_train_is_the_partner_and_of_equals_the_first_in_the_alphabet():
    assert near((BAKER, TEST), (BAKER_WITH_ROLLS, TRAIN), (BAKER_IN_THE_AFTERNOON, TRAIN)) == [(0, 2, 10 / 12)]
    evening = BAKER.replace("morning", "evening")
    assert near((BAKER, TEST), (evening, TRAIN), (BAKER_IN_THE_AFTERNOON, TRAIN)) == [(0, 2, 10 / 12)]


def test_the_best_of_ten_copies_is_the_partner():
    copies = [(f"{letter}da {letter}do {BAKER}", TRAIN) for letter in "abcdefghi"]
    # Two words more make 11 of 13, one word more 11 of 12; in the alphabet it is the last.
    assert near((BAKER, TEST), *copies, (f"zoe {BAKER}", TRAIN)) == [(0, 10, 11 / 12)]


def test_a_text_that_should_have_been_one_item_is_found_too():
    assert near((BAKER, TRAIN), (BAKER, TEST)) == [(1, 0, 1.0)]


# Short texts, pairs, odd ones ----------------------------------------------------------------------------


def test_texts_with_few_different_pairs_of_words_have_none():
    seven, eight = "how can i help you today madam", "how can i help you with that madam"
    assert near((seven, TRAIN), (f"{seven} please", TEST)) == []  # six of seven pairs shared
    assert near((eight, TRAIN), (f"{eight} please", TEST)) == [(1, 0, 7 / 8)]
    assert near(("no " * 20, TRAIN), ("no " * 21, TEST)) == []  # of the same one pair, again and again


def test_stretches_without_letter_or_digit_are_no_words():
    assert near((BAKER, TRAIN), ("- the old baker ... sells warm bread on market square : every sunny day", TEST)) == [
        (1, 0, 10 / 12)
    ]
    assert near(("! ? . , ; : - + * ~", TRAIN), ("! ? . , ; : - + * #", TEST)) == []


def test_words_of_other_alphabets_are_words():
    greek = "ο γέρος φούρναρης πουλάει ζεστό ψωμί στην πλατεία κάθε ηλιόλουστο πρωί εδώ"
    assert near((greek.upper(), TRAIN), (greek.replace("ψωμί", "γάλα"), TEST)) == [(1, 0, 9 / 13)]


def test_a_pair_is_both_texts():
    pair = "the old baker sells warm bread\x1fon market square every sunny morning"
    assert near((pair, TRAIN), (pair.replace("morning", "afternoon"), TEST)) == [(1, 0, 10 / 12)]
    # One text of the pair in common is not enough: 5 pairs of words of 17.
    assert near((pair, TRAIN), ("the old baker sells warm bread\x1four last ferry leaves from pier", TEST)) == []


@pytest.mark.parametrize("texts", [[], [("", TRAIN), ("", TEST)], [(BAKER, TRAIN)], [(BAKER, TEST)]])
def test_where_there_is_nothing_to_compare_there_is_none(texts):
    assert near(*texts) == []


# Settings ------------------------------------------------------------------------------------------------


def test_settings_are_honoured():
    texts = [(BAKER, TRAIN), (BAKER_WITH_ROLLS, TEST)]  # 9 / 13 is 0.692
    assert near(*texts, threshold=9 / 13) == [(1, 0, 9 / 13)]
    assert near(*texts, threshold=0.7) == []
    assert near(*texts, least_shingles=11) == [(1, 0, 9 / 13)]
    assert near(*texts, least_shingles=12) == []
    # All of 128 minima agree with probability 0.692 ** 128.
    assert near(*texts, bands=1) == []


def test_the_seed_decides_what_is_missed():
    """Four minima that all have to agree do so with a probability of 0.23."""
    texts = [(BAKER, TRAIN), (BAKER_WITH_ROLLS, TEST)]
    assert {len(near(*texts, permutations=4, bands=1, seed=seed)) for seed in range(40)} == {0, 1}


def test_bands_that_do_not_divide_the_permutations_are_refused():
    with pytest.raises(ValueError, match="33"):
        near((BAKER, TRAIN), (BAKER_WITH_ROLLS, TEST), bands=33)


# Many texts ----------------------------------------------------------------------------------------------


def test_of_many_texts_all_are_found_with_their_exact_similarity():
    """One word of 16 changed: 13 of 17 pairs inside, 14 of 16 at an end.

    Such a pair is missed with a probability of (1 - (13 / 17) ** 4) ** 32, about 1 in 700,000.
    """
    keys, split = village()
    changed = np.arange(3, 240, 4)
    expected = {}
    for late in changed:
        for one, other in ((late, late - 1), (late - 1, late)):
            if split[one] != TRAIN and split[one] != split[other]:
                expected[int(one)] = (int(other), similarity(keys[one], keys[other]))
    found = near_pairs(keys, split, SETTINGS)
    assert {row.first: (row.second, row.similarity) for row in found.itertuples()} == expected
    assert {round(value, 6) for value in found["similarity"]} <= {round(13 / 17, 6), round(14 / 16, 6)}
    assert list(found["first"]) == sorted(expected)


def test_the_order_of_the_rows_makes_no_difference():
    keys, split = village()
    order = np.arange(240) * 77 % 240  # 77 and 240 have no common divisor
    there = near_pairs(keys.iloc[order], split[order], SETTINGS)
    back = there.assign(first=order[there["first"]], second=order[there["second"]])
    pd.testing.assert_frame_equal(
        back.sort_values("first", ignore_index=True), near_pairs(keys, split, SETTINGS), check_exact=True
    )


def test_another_process_with_another_hash_seed_finds_the_same():
    script = "from tests.test_near import *; print(near_pairs(*village(), SETTINGS).to_csv())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": seed},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {near_pairs(*village(), SETTINGS).to_csv() + "\n"}


def test_a_heap_of_copies_gives_one_row_for_every_held_out_text():
    """A template of 18 words with a number in it: 17 pairs, of which two hold the number, so 15 of 19 are shared."""
    template = "dear neighbour your parcel {} waits behind the green door of the house next to the small bakery"
    keys = pd.Series([template.format(number) for number in range(2_000)], dtype="str")
    split = np.where(np.arange(2_000) % 10 < 8, TRAIN, np.arange(2_000) % 10 - 7)
    found = near_pairs(keys, split, SETTINGS)
    assert list(found["first"]) == list(np.flatnonzero(split != TRAIN))
    assert set(split[found["second"]]) == {TRAIN}
    assert set(found["similarity"]) == {15 / 19}
