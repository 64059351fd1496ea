"""Splitting: 80/10/10 once per corpus, shared by all its tasks, without a random generator.

The unit is the id (one text). Units of one declared group, and units of one loose key, stay together. Groups
are ranked by a keyed hash of a stable id and dealt within their stratum, so a corpus that grows by an item
keeps its splits but for the items at the borders.
"""

import re
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from builders.pipeline.keys import ranks

# A word; "don't" is two, as treebanks have it, so that "n't like" is found in "I don't like it".
_WORD = re.compile(r"[^\W_]+?(?=n't\b)|[^\W_]+")

SPLITS = ("train", "validation", "test")
TRAIN, VALIDATION, TEST = range(3)

# A group that grew by loose keys to more than this share of the corpus (and more than so many units, or every
# near-duplicate in a tiny corpus would count as a heap) is taken apart again.
HEAP_SHARE = 0.01
HEAP_UNITS = 25

# SocKETTe holds at most so many of a task's test items.
SOCKETTE_ITEMS = 1000

# What the lock says of a split: how many groups were dealt, how many units the largest has, how many declared
# groups (or single texts) loose keys joined to others, and how many heaps that made were taken apart.
FACTS = ("groups", "largest_group", "joined_by_loose_key", "heaps_taken_apart")


def sizes(n: int) -> tuple[int, int, int]:
    """How many of `n` items go to train, validation and test: train = floor(0.8 n), test = half of the rest
    rounded down, validation what is left (the rule of the published release)."""
    train = n * 8 // 10
    test = (n - train) // 2
    return train, n - train - test, test


class Split(NamedTuple):
    """Where the units of a corpus went."""

    split: np.ndarray
    """Per unit 0 (train), 1 (validation) or 2 (test)."""
    leaves: np.ndarray
    """Per unit the reason for which it has to leave train, or None."""
    because_of: np.ndarray
    """Per unit that leaves the position of the held-out unit for which it does, or -1 where there is no one."""
    facts: dict[str, int]
    """Numbers for the lock, see `FACTS`."""


def split_units(ids: pd.Series, strata: pd.DataFrame, declared: pd.DataFrame | None, loose: pd.Series) -> Split:
    """Deal the units of a corpus to the splits.

    ids: one id per unit, in source order. strata: one column per task with the label as an integer, -1 where
    the unit is no item of that task (a regression or span item is 0). declared: if the corpus has groups, which
    `unit` (its position) has a row in which `group` (a code); a unit can be in none or several. loose: loose
    keys, null for short texts.
    """
    loose_codes = pd.factorize(loose)[0]
    if not len(ids):
        none = np.zeros(0, dtype=np.int64)
        return Split(none, none.astype(object), none, dict.fromkeys(FACTS, 0))
    own = _components(len(ids), declared)
    linked = _linked(own, loose_codes)
    size = np.bincount(linked, minlength=len(ids))
    heap = (size > max(HEAP_SHARE * len(ids), HEAP_UNITS)) & (size > _largest_part(linked, own))
    groups = np.where(heap[linked], own + len(ids), linked)
    groups = pd.factorize(groups)[0]

    split = _deal(ids, strata, groups)
    near = _straddlers(split, loose_codes, heap[linked])
    counts = np.bincount(groups)
    linked_away = len(np.unique(own)) - len(np.unique(linked))
    facts = (len(counts), counts.max(), linked_away, heap.sum())
    leaves = np.where(near >= 0, "near_duplicate", None)
    return Split(split, leaves, near, dict(zip(FACTS, map(int, facts), strict=True)))


def with_parts(split: Split, whole: np.ndarray, keys: pd.Series) -> Split:
    """The split of all units of a corpus with parts, given the `split` of its whole texts.

    `whole` says of every unit whether it is one, `keys` are the canonical keys. Parts go to train; one whose
    words stand in one piece in a whole text of validation or test leaves it (`held_out_part`).
    """
    everywhere = np.flatnonzero(whole)
    dealt = np.full(len(whole), TRAIN)
    leaves = np.full(len(whole), None, dtype=object)
    because_of = np.full(len(whole), -1)
    dealt[everywhere] = split.split
    leaves[everywhere] = split.leaves
    because_of[everywhere] = np.where(split.because_of >= 0, everywhere[split.because_of], -1)
    part = np.flatnonzero(~whole)
    words = [_words(key) for key in keys.iloc[part]]
    lengths = {len(piece) for piece in words}
    held_out: dict[tuple[str, ...], int] = {}
    for unit in np.flatnonzero(dealt != TRAIN):
        # Signs are looked for on their own, for parts that hold no word.
        for text in (_words(keys.iloc[unit]), _signs(keys.iloc[unit])):
            for length in lengths:
                for start in range(len(text) - length + 1):
                    held_out.setdefault(text[start : start + length], unit)
    for unit, piece in zip(part, words, strict=True):
        if piece in held_out:
            leaves[unit], because_of[unit] = "held_out_part", held_out[piece]
    return Split(dealt, leaves, because_of, split.facts)


def _words(key: str) -> tuple[str, ...]:
    """The words of a text as its parts are looked for in it; its signs if it has no word."""
    return tuple(_WORD.findall(key.casefold())) or _signs(key)


def _signs(key: str) -> tuple[str, ...]:
    """Every character that belongs to no word, in order."""
    return tuple(_WORD.sub("", key.casefold()).replace(" ", ""))


def _components(n: int, declared: pd.DataFrame | None) -> np.ndarray:
    """Per unit a number below `n` that units share if a chain of declared groups joins them."""
    if declared is None:
        return np.arange(n)
    parent = list(range(n))
    first_of: dict[int, int] = {}
    for unit, group in zip(declared["unit"].tolist(), declared["group"].tolist(), strict=True):
        _join(parent, first_of.setdefault(group, unit), unit)
    return np.array([_root(parent, unit) for unit in range(n)], dtype=np.int64)


def _linked(own: np.ndarray, loose_codes: np.ndarray) -> np.ndarray:
    """The components after units of one loose key were joined as well."""
    parent = list(range(len(own)))
    first_of: dict[int, int] = {}
    repeated = (np.bincount(loose_codes + 1)[loose_codes + 1] > 1) & (loose_codes >= 0)
    for component, loose in zip(own[repeated].tolist(), loose_codes[repeated].tolist(), strict=True):
        _join(parent, first_of.setdefault(loose, component), component)
    components, place = np.unique(own, return_inverse=True)
    return np.array([_root(parent, component) for component in components.tolist()], dtype=np.int64)[place]


def _root(parent: list[int], unit: int) -> int:
    while parent[unit] != unit:
        parent[unit] = parent[parent[unit]]
        unit = parent[unit]
    return unit


def _join(parent: list[int], one: int, other: int) -> None:
    one, other = _root(parent, one), _root(parent, other)
    parent[max(one, other)] = min(one, other)


def _largest_part(linked: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Per linked component the size of the largest declared group in it."""
    part = np.bincount(own, minlength=len(own))
    largest = np.zeros(len(own), dtype=np.int64)
    np.maximum.at(largest, linked, part[own])
    return largest


def _straddlers(split: np.ndarray, loose_codes: np.ndarray, in_heap: np.ndarray) -> np.ndarray:
    """Per unit of train: the first near-duplicate of it in validation or test, or -1.

    Only heaps that were taken apart can have any."""
    near = np.full(len(split), -1)
    held_out = np.flatnonzero(in_heap & (loose_codes >= 0) & (split != TRAIN))
    first = {}
    for unit in held_out:
        first.setdefault(loose_codes[unit], unit)
    for unit in np.flatnonzero(in_heap & (loose_codes >= 0) & (split == TRAIN)):
        near[unit] = first.get(loose_codes[unit], -1)
    return near


def _deal(ids: pd.Series, strata: pd.DataFrame, groups: np.ndarray) -> np.ndarray:
    """The split of every unit, such that units of one group share it.

    A group belongs to the stratum of its rarest label (rarer by a factor of two at least; among others the first
    in order, so that a label that gains one item does not change places). Within a stratum the groups are spread
    evenly over the line from 0 to 1 in the order of their rank. Along that line, all strata together, the first
    units go to test, the next to validation, the others to train, as many as `sizes` says. So every stratum gives
    its share, a class of one or two goes to train whole, and nothing is lost. What groups that do not fit leave is
    then evened out by moving groups at the borders.
    """
    signature, n_strata = _signatures(strata)
    frequency = np.bincount(signature, minlength=n_strata)
    rarity = np.lexsort((np.arange(n_strata), np.log2(frequency).astype(int))).argsort()
    n_groups = int(groups.max()) + 1
    stratum = np.full(n_groups, n_strata)
    np.minimum.at(stratum, groups, rarity[signature])
    size = np.bincount(groups, minlength=n_groups)
    stable = np.full(n_groups, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(stable, groups, np.array([int(name, 16) for name in ids], dtype=np.uint64))
    rank = ranks("split", (f"{name:016x}" for name in stable))

    order = np.lexsort((rank, stratum))
    starts = np.searchsorted(stratum[order], np.arange(n_strata))
    position = np.cumsum(size[order]) - size[order] / 2
    before = np.concatenate([[0], np.cumsum(size[order])])[starts]
    total = np.bincount(stratum, weights=size, minlength=n_strata)
    line = np.empty(n_groups)
    line[order] = (position - before[stratum[order]]) / total[stratum[order]]

    _, n_validation, n_test = sizes(len(ids))
    along = np.lexsort((rank, line))
    middle = np.cumsum(size[along]) - size[along] / 2
    dealt = np.full(n_groups, TRAIN)
    dealt[along[middle < n_test + n_validation]] = VALIDATION
    dealt[along[middle < n_test]] = TEST
    _even_out(dealt, line, rank, groups, strata, (n_test / len(ids), (n_test + n_validation) / len(ids)))
    return dealt[groups]


def _signatures(strata: pd.DataFrame) -> tuple[np.ndarray, int]:
    """One number per unit for its labels in all tasks together, in the order of the labels; how many there are."""
    codes = strata.groupby(list(strata.columns)).ngroup().to_numpy()
    return codes, int(codes.max()) + 1


class _Move(NamedTuple):
    """Take a group out of one split and put it into another; `weight` is its items per task."""

    group: int
    out_of: int
    into: int
    weight: np.ndarray


def _even_out(dealt, line, rank, groups, strata, borders) -> None:
    """Move groups at the borders of the splits until every task has its exact sizes, or no move helps.

    `dealt` is changed in place. Each round takes the one move (failing that, the pair of moves) that brings
    the sizes of all tasks nearest to the rule; among equals, the groups nearest to a border move.
    """
    present = (strata.to_numpy() >= 0).astype(np.int64)
    weight = np.stack([np.bincount(groups, weights=task).astype(np.int64) for task in present.T], axis=1)
    kinds, kind = np.unique(weight, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    excess = np.stack([weight[dealt == split].sum(axis=0) for split in range(3)], axis=1)
    excess -= np.array([sizes(int(n)) for n in present.sum(axis=0)])
    distance = np.min([np.abs(line - border) for border in borders], axis=0)
    nearest = np.lexsort((rank, distance))
    while np.abs(excess).sum():
        small = nearest[(kinds.max(axis=1) < 2 * np.abs(excess).max())[kind[nearest]]]
        firsts = np.sort(np.unique(kind[small] * 3 + dealt[small], return_index=True)[1])
        moves = [
            _Move(group, dealt[group], into, weight[group])
            for group in small[firsts]
            for into in (TRAIN, VALIDATION, TEST)
            if into != dealt[group]
        ]
        singles = ((move,) for move in moves)
        pairs = ((one, two) for one, two in combinations(moves[:60], 2) if one.group != two.group)
        chosen = _best(singles, excess) or _best(pairs, excess)
        for move in chosen:
            excess = _after(excess, [move])
            dealt[move.group] = move.into
        if not chosen:
            return


def _after(excess: np.ndarray, moves: Iterable[_Move]) -> np.ndarray:
    """Per task and split, how many items there are too many after `moves`."""
    excess = excess.copy()
    for move in moves:
        excess[:, move.out_of] -= move.weight
        excess[:, move.into] += move.weight
    return excess


def _best(choices: Iterable[tuple[_Move, ...]], excess: np.ndarray) -> tuple[_Move, ...]:
    """The first of the choices that leave the least excess; nothing if none lessens it."""
    best, least = (), np.abs(excess).sum()
    for moves in choices:
        left = np.abs(_after(excess, moves)).sum()
        if left < least:
            best, least = moves, left
    return best


def sockette(ids: pd.Series, labels: pd.Series | None, at_most: int = SOCKETTE_ITEMS) -> np.ndarray:
    """Which test items are in SocKETTe: all, or `at_most` of them, stratified by label.

    Classes get seats in proportion to their size (largest remainder; every class that occurs gets at least
    one), and within a class the items with the lowest ids, which are hashes. So when the test split grows,
    an item leaves only for one that ranks before it.
    """
    chosen = np.ones(len(ids), dtype=bool)
    if len(ids) <= at_most:
        return chosen
    classes = np.zeros(len(ids), dtype=np.int64) if labels is None else pd.factorize(labels, sort=True)[0]
    seats = _seats(np.bincount(classes), at_most)
    order = np.lexsort((np.array(ids, dtype="S16"), classes))
    within = np.arange(len(ids)) - np.searchsorted(classes[order], classes[order])
    chosen[order] = within < seats[classes[order]]
    return chosen


def _seats(counts: np.ndarray, seats: int) -> np.ndarray:
    share = counts * seats / counts.sum()
    given = np.maximum(np.floor(share), counts > 0).astype(np.int64)
    by_remainder = np.lexsort((np.arange(len(counts)), -(share - given)))
    for index in by_remainder[: max(seats - given.sum(), 0)]:
        given[index] += 1
    while given.sum() > seats:
        given[np.argmax(given)] -= 1
    return given
