"""Near-duplicates across splits: held-out texts that stand, a few words apart, in another split as well.

What is compared are pairs of adjacent words (shingles): a word is a stretch between spaces, reduced to its letters and
digits, casefolded, as loose keys have it. The similarity of two texts is the Jaccard similarity of their sets of pairs,
the shared ones divided by all. MinHash and banding (Broder 1997; Leskovec, Rajaraman, Ullman, Mining of Massive
Datasets, chapter 3) only propose whom to compare: what is reported is exact (as far as 64-bit hashes of pairs differ),
and only what is missed is up to chance, fixed by a seed.

A text with few different pairs has no near-duplicate by rule: "How can I help you?" is said twice by accident, and a
word more or less is half of what it says. (That texts of the same words stay together is what loose keys are for.)
A pair task's text is both of its texts, so only the same pair with a few words changed is one.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from rensa import RMinHash, RMinHashLSH

from builders.pipeline.keys import UNIT_SEPARATOR, loose_key
from builders.pipeline.split import TRAIN

# Copies of a template fill a bucket with thousands of texts, each as good as the next: so many of them are looked at.
LOOKED_AT = 10
# How much is worked on at a time; the result does not depend on it.
SIGNATURES_AT_A_TIME = 10_000
TEXTS_AT_A_TIME = 30_000
SHINGLES_AT_A_TIME = 4_000_000

# Odd numbers, for polynomial hashes modulo 2^64.
_OF_PAIRS = np.uint64(0x9E3779B97F4A7C15)
_OF_BANDS = np.uint64(0xC2B2AE3D27D4EB4F)


def near_pairs(keys: pd.Series, split: np.ndarray, settings: Mapping) -> pd.DataFrame:
    """One row for every held-out text that has a near-duplicate in another split.

    `keys` are the canonical keys of the different texts of a corpus (of a pair: both, joined by U+001F), `split` has 0
    (train), 1 (validation) or 2 (test) for each. `settings` are how to look, as a release's lock tells it:
    `threshold` (the least similarity), `least_shingles` (texts with fewer different pairs of words have no
    near-duplicate), and of the search `permutations`, `bands` (a divisor of them) and `seed`.

    The columns are `first` (position of the held-out text, ascending), `second` (position of the text that is most
    similar to it: one of train if any reaches the threshold, else one of the other held-out split; among equals the
    first by code points) and `similarity` (from the threshold to 1). Of the copies of a template only some are looked
    at, so there a similarity may be the one of a good partner instead of the best. Raises `ValueError` if `bands` does
    not divide `permutations`.
    """
    split = np.asarray(split)
    shingles = _shingles(keys)
    flagged = _flagged(shingles, settings)
    # In an order that depends on the texts alone, so that the order of the rows makes no difference.
    flagged = flagged[pc.sort_indices(pa.array(keys.iloc[flagged])).to_numpy()]
    shingles, split = shingles.take(flagged), split[flagged]
    sets = _Sets(shingles)
    able = sets.sizes >= settings["least_shingles"]
    bands = _bands(shingles, settings)
    found = []
    for first, second in _candidates(bands, split, able):
        similarity = sets.similarity(first, second)
        near = similarity >= settings["threshold"]
        first, second, similarity = first[near], second[near], similarity[near]
        best = np.lexsort((second, -similarity, split[second] != TRAIN, first))
        best = best[np.diff(first[best], prepend=-1) > 0]
        found.append(
            pd.DataFrame(
                {"first": flagged[first[best]], "second": flagged[second[best]], "similarity": similarity[best]}
            )
        )
    return pd.concat(found).sort_values("first", ignore_index=True)


# Shingles ------------------------------------------------------------------------------------------------


class _Shingles(NamedTuple):
    """The hashed pairs of words of several texts, one text after the other, with repetitions."""

    hashes: np.ndarray
    counts: np.ndarray
    """How many each text has."""

    @property
    def offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.counts)])

    def take(self, texts: np.ndarray) -> "_Shingles":
        counts = self.counts[texts]
        return _Shingles(self.hashes[_ranges(self.offsets[texts], counts)], counts)


def _shingles(keys: pd.Series) -> _Shingles:
    parts = [_shingles_of(keys.iloc[start : start + TEXTS_AT_A_TIME]) for start in range(0, len(keys), TEXTS_AT_A_TIME)]
    parts.append(_Shingles(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)))
    return _Shingles(*map(np.concatenate, zip(*parts, strict=True)))


def _shingles_of(keys: pd.Series) -> _Shingles:
    array = pc.replace_substring(pa.array(keys), UNIT_SEPARATOR, " ")
    lists = pc.split_pattern(array, " ")
    text = pc.list_parent_indices(lists)
    stretches = pc.list_flatten(lists)
    different = pc.unique(stretches)
    words = _loose_words(different)
    hashes = pd.util.hash_array(words, categorize=False)
    position = pc.index_in(stretches, value_set=different).to_numpy()
    is_word = (words != "")[position]
    hashes, text = hashes[position[is_word]], text.to_numpy()[is_word]
    adjacent = text[1:] == text[:-1]
    pairs = hashes[:-1] * _OF_PAIRS + hashes[1:]
    return _Shingles(pairs[adjacent], np.bincount(text[1:][adjacent], minlength=len(keys)))


def _loose_words(stretches: pa.Array) -> np.ndarray:
    """What `loose_key` leaves of each; with Python's own functions only beyond ASCII."""
    words = pc.replace_substring_regex(pc.ascii_lower(stretches), "[^a-z0-9]+", "").to_numpy(zero_copy_only=False)
    foreign = ~pc.string_is_ascii(stretches).to_numpy(zero_copy_only=False)
    words[foreign] = [loose_key(stretch) for stretch in stretches.filter(foreign).to_pylist()]
    return words


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The numbers from each start on, as many as its count, one range after the other."""
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) + np.repeat(starts - (ends - counts), counts)


# Candidates ----------------------------------------------------------------------------------------------


def _signatures(shingles: _Shingles, settings: Mapping):
    """The MinHash signatures of the texts, in a matrix of rensa's own."""
    return RMinHash.digest_matrix_from_flat_token_hashes(
        shingles.hashes, shingles.offsets.astype(np.uint64), settings["permutations"], settings["seed"]
    )


def _flagged(shingles: _Shingles, settings: Mapping) -> np.ndarray:
    """Positions of the texts that agree with any other text in a band."""
    long = shingles.counts >= settings["least_shingles"]
    of_long = _Shingles(shingles.hashes[np.repeat(long, shingles.counts)], shingles.counts[long])
    index = RMinHashLSH(settings["threshold"], settings["permutations"], settings["bands"])
    flags = index.query_duplicate_flags_matrix_one_shot(_signatures(of_long, settings))
    return np.flatnonzero(long)[np.array(flags, dtype=bool)]


def _bands(shingles: _Shingles, settings: Mapping) -> np.ndarray:
    """A hash for every text (row) and band (column)."""
    bands = np.empty((len(shingles.counts), settings["bands"]), dtype=np.uint64)
    for start in range(0, len(bands), SIGNATURES_AT_A_TIME):
        part = bands[start : start + SIGNATURES_AT_A_TIME]
        texts = np.arange(start, start + len(part))
        # As Python's integers, one a permutation: a matrix of rensa has no other way out, hence only some at a time.
        rows = np.array(_signatures(shingles.take(texts), settings).to_rows(), dtype=np.uint64)
        part[:] = 0
        for column in rows.reshape(len(part), settings["bands"], -1).transpose(2, 0, 1):
            part[:] = part * _OF_BANDS + column
    return bands


def _candidates(bands: np.ndarray, split: np.ndarray, able: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Held-out texts and those of other splits that agree with them in a band, each pair once."""
    held_out = np.flatnonzero(able & (split > TRAIN))
    for start in range(0, len(held_out) or 1, TEXTS_AT_A_TIME):
        part = held_out[start : start + TEXTS_AT_A_TIME]
        pairs = [np.zeros(0, dtype=np.int64)]
        for code in np.unique(split):
            asking, asked = part[split[part] != code], np.flatnonzero(able & (split == code))
            for band in bands.T:
                bucket = asked[np.argsort(band[asked], kind="stable")]
                starts = np.searchsorted(band[bucket], band[asking], "left")
                ends = np.searchsorted(band[bucket], band[asking], "right")
                counts = np.minimum(ends - starts, LOOKED_AT)
                pairs.append(np.repeat(asking, counts) * len(bands) + bucket[_ranges(starts, counts)])
        yield np.divmod(np.unique(np.concatenate(pairs)), len(bands) or 1)


# Similarity ----------------------------------------------------------------------------------------------


class _Sets:
    """The different shingles of every text, looked up by text and shingle."""

    def __init__(self, shingles: _Shingles):
        different, code = np.unique(shingles.hashes, return_inverse=True)
        self.width = len(different) or 1
        self.members = np.unique(np.repeat(np.arange(len(shingles.counts)), shingles.counts) * self.width + code)
        self.sizes = np.bincount(self.members // self.width, minlength=len(shingles.counts))
        self.starts = np.cumsum(self.sizes) - self.sizes

    def similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The Jaccard similarity of every pair of texts."""
        sizes = self.sizes[first]
        cuts = np.searchsorted(np.cumsum(sizes), np.arange(SHINGLES_AT_A_TIME, sizes.sum(), SHINGLES_AT_A_TIME))
        shared = [
            self._shared(one, other) for one, other in zip(np.split(first, cuts), np.split(second, cuts), strict=True)
        ]
        shared = np.concatenate(shared)
        return shared / (sizes + self.sizes[second] - shared)

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        sizes = self.sizes[first]
        of = np.repeat(np.arange(len(first)), sizes)
        wanted = self.members[_ranges(self.starts[first], sizes)] % self.width + second[of] * self.width
        place = np.minimum(np.searchsorted(self.members, wanted), len(self.members) - 1)
        return np.bincount(of[self.members[place] == wanted], minlength=len(first))
