"""Label artefacts: a character, a piece of white space or a token whose mere presence tells the label.

A model that finds one learns the label without understanding the text (Gururangan et al. 2018, "Annotation Artifacts in
Natural Language Inference Data"). So every feature of the texts is tried against the classes. What comes out is told in
two strengths: *strong* gives the label away and has to be repaired or listed with a reason; the rest is worth knowing
for whoever reads scores. Presence counts, not how often. Spans are not labels of a text: span tasks are not scanned.

A feature points to one class or to several. The classes in which it is most frequent come first, and they are parted
from the others where that tells most of the feature; no other way to part them would tell more (Breiman et al. 1984,
"Classification and Regression Trees", theorem 4.5). Three numbers decide, all from the four counts of items with and
without the feature, of these classes and of the others:

* *significance*: the log-likelihood ratio G² (Dunning 1993, "Accurate Methods for the Statistics of Surprise and
  Coincidence").
* *explained*: the share of the uncertainty whether an item is of these classes that the feature takes away (Theil's
  uncertainty coefficient, G² / 2nH with the entropy H in nats): how much of the task it solves by itself.
* *ratio*: how many times more frequent the feature is among the items of these classes than among the others (the
  positive likelihood ratio of a diagnostic test), with half an item added to each count so that it is finite.

The values of a regression have the like: G² = -n ln(1 - r²), explained = r², and instead of the ratio the difference of
the two means in standard deviations.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# Fewer items with a feature, or fewer without it, say nothing, however clear they are.
SUPPORT = 10
# Chance may bring one finding in so many scans, of so many features each.
SCANS = 20
FEATURES_PER_SCAN = 100_000


class Bound(NamedTuple):
    """From where on a feature of a kind gives the label away; all that applies has to hold."""

    explained: float
    ratio: float
    """With classes."""
    deviations: float
    """Between the means of a regression."""
    share: float = 0.0
    """Of the class among the items with the feature."""


# Nobody writes a class in commas: a character or white space that is so much more frequent in one tells how its texts
# were gathered or treated. From a likelihood ratio of 5 on a finding moves a judgement, from 10 on it often settles it
# (Jaeschke, Guyatt & Sackett 1994, JAMA 271:703); "!" and "?", which do carry mood, stay below almost everywhere.
# The faintest artefact that people have reported, U+FFFD in complaints, explains 0.03.
_TREATMENT = Bound(explained=0.02, ratio=5, deviations=1)
# Hashtags, handles and links are what corpora are gathered by, but also what a text is about.
_MARK = Bound(explained=0.04, ratio=5, deviations=1)
BOUNDS = {
    "character": _TREATMENT,
    "white space": _TREATMENT,
    "hashtag": _MARK,
    "handle": _MARK,
    "link": _MARK,
    # A word may well be the task itself ("sorry" and sadness), so it has to settle the label, and of many items.
    "word": Bound(explained=0.1, ratio=5, deviations=2, share=0.9),
}
# That a large class is a little more likely still gives nothing away.
LIFT = 1.25
# What explains so much by itself is strong in any case: the items *without* it may be those that it gives away.
EXPLAINED = 0.25
# (A hashtag that is the name of its class is strong without explaining so much: the author has labelled the text.)
# Of the rest, what explains this much is worth a line, and a task shows so many of a kind.
WEAK_EXPLAINED = 0.01
WEAK_SHOWN = 3

# Texts, or items, that are looked at together: bounds the memory, changes nothing else.
_CHUNK = 1 << 15
# The features' codes: first Unicode's, then white space that is more than one character, then tokens.
_RUN, _DETACHED, _FIRST_TOKEN = 0x110000, 0x110001, 0x110002
_WHITE_SPACE = {_RUN: "two or more blanks", _DETACHED: "blank before punctuation"}
_PLAIN = np.array([chr(code).isalnum() or chr(code) == " " for code in range(128)])
_PUNCTUATION = [ord(one) for one in ".,!?"]
_LINK = "http://"
_SIDES = (" only in the first text", " only in the second text", " in both texts")


class Features(NamedTuple):
    """Which features each text of a corpus has: those of text t are `feature[start[t]:start[t + 1]]`."""

    start: np.ndarray
    feature: np.ndarray
    kinds: list[str]
    """Of every feature; a key of `BOUNDS`."""
    names: list[str]

    @classmethod
    def of(cls, texts: pd.Series, second: pd.Series | None = None) -> "Features":
        """The features of `texts`; of pairs, `second` has the second text of each.

        * Characters other than plain ASCII letters, digits and the blank, by code point.
        * White space: two or more blanks, a blank before punctuation, and every other white space character.
        * Tokens, lower-cased: words, #hashtags and @handles without the punctuation round them, and links (all of
          which are one feature). Those that occur fewer than `SUPPORT` times are left out.

        A pair is labelled for how its texts differ, so its features say in which of the two something is.
        """
        array, length = pa.concat_arrays([_flat(one) for one in (texts, second) if one is not None]), len(texts)
        tokens = _Tokens.of(array)
        sizes, found = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
        for low in range(0, length, _CHUNK):
            high = min(low + _CHUNK, length)
            halves = [_keys(array, tokens, start + low, start + high) for start in range(0, len(array), length)]
            key = halves[0] if second is None else _sided(*halves)
            sizes.append(np.bincount(key >> 32, minlength=high - low))
            found.append((key & 0xFFFFFFFF).astype(np.int32))
        codes = np.concatenate(found)
        used = np.flatnonzero(np.bincount(codes))
        place = np.zeros(used.max(initial=-1) + 1, dtype=np.int32)
        place[used] = np.arange(len(used))
        sides = ("",) if second is None else _SIDES
        told = [(*_told(code // len(sides), tokens.names), sides[code % len(sides)]) for code in used.tolist()]
        return cls(
            np.cumsum(np.concatenate(sizes)),
            place[codes],
            [kind for kind, _, _ in told],
            [f"{name}{side}" for _, name, side in told],
        )


def artefacts(
    features: Features, units: np.ndarray, labels: np.ndarray, class_names: Sequence[str] | None
) -> list[dict]:
    """What gives the labels of a task away (`strong`), or says something about them; strongest first.

    `units` is the position of each item's text among the texts of `features`; `labels` are class ids, or the values of
    a regression if `class_names` is None. Items without a label (an id that no class has, a value that is not finite)
    are left out.

    Each finding has `kind`, `what`, `strong`, `support` (items with the feature) and `explained`. With classes: the
    `class` it points to (or several, in words), its `share` among the items with the feature, its `base` share among
    all, `lift` (share / base) and `of_class`, the share of its items that have the feature. Of values: `mean_with`,
    `mean_without` and their difference in standard deviations, `effect`.
    """
    found = (
        _of_values(features, units, labels)
        if class_names is None
        else _of_classes(features, units, labels, class_names)
    )
    found.sort(key=lambda one: (not one["strong"], -one["explained"], one["kind"], one["what"]))
    shown, kept = Counter(), []
    for one in found:
        shown[one["kind"]] += not one["strong"]
        if one["strong"] or shown[one["kind"]] <= WEAK_SHOWN:
            kept.append(one)
    return kept


# Features ------------------------------------------------------------------------------------------------


def _flat(texts: pd.Series) -> pa.Array:
    array = pa.array(texts, pa.large_string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


class _Tokens(NamedTuple):
    """The tokens of texts: those of text t are `token[start[t]:start[t + 1]]`, places in `names`; with repetitions."""

    start: np.ndarray
    token: np.ndarray
    names: list[str]

    @classmethod
    def of(cls, texts: pa.Array) -> "_Tokens":
        """The tokens that occur at least `SUPPORT` times.

        There are far fewer different pieces between blanks than pieces, so only those are cut into tokens.
        """
        lists = pc.split_pattern(texts, " ")
        pieces = lists.flatten().dictionary_encode()
        piece = pieces.indices.to_numpy()
        cuts = pc.split_pattern(_cut(pieces.dictionary), " ")
        parts = cuts.flatten().dictionary_encode()
        # Of the different pieces: which one each part belongs to, and what part it is.
        owner, part = np.repeat(np.arange(len(cuts)), _lengths(cuts)), parts.indices.to_numpy()
        names = parts.dictionary.to_pylist()
        occurrences = np.bincount(part, np.bincount(piece, minlength=len(cuts))[owner], len(names))
        often = (occurrences >= SUPPORT) & np.array([name not in ("", "#", "@") for name in names], dtype=bool)
        owner, part = owner[often[part]], (np.cumsum(often) - 1)[part[often[part]]]
        start = _starts(np.bincount(owner, minlength=len(cuts)))
        before_piece = _starts(np.diff(start)[piece])
        return cls(
            before_piece[_starts(_lengths(lists))],
            part[_ranges(start, piece)],
            [name for name, kept in zip(names, often, strict=True) if kept],
        )


def _cut(pieces: pa.Array) -> pa.Array:
    """Pieces between blanks, lower-cased, with a blank wherever a token begins or ends."""
    lower = pc.utf8_lower(pieces)
    cut = pc.replace_substring_regex(lower, r"[^\p{L}\p{N}_'’#@]+", " ")
    cut = pc.replace_substring_regex(cut, "([#@])", r" \1")
    cut = pc.replace_substring_regex(cut, "(^| )['’]+|['’]+( |$)", " ")
    return pc.if_else(pc.match_substring_regex(lower, r"https?://|^www\."), _LINK, cut)


def _keys(array: pa.Array, tokens: _Tokens, low: int, high: int) -> np.ndarray:
    """What the texts from `low` to `high` (exclusive) have, in order and each once, as (text - low) << 32 | code."""
    of_text = np.repeat(np.arange(high - low), np.diff(tokens.start[low : high + 1]))
    token = tokens.token[tokens.start[low] : tokens.start[high]]
    keys = np.sort(np.concatenate([_characters(array[low:high]), of_text << 32 | (token + _FIRST_TOKEN)]))
    # What np.unique gives, which hashes all of them first and takes ten times as long.
    return keys[np.diff(keys, prepend=-1) > 0]


def _characters(texts: pa.Array) -> np.ndarray:
    """The characters and the white space that count, as text << 32 | code; with repetitions."""
    codes = np.frombuffer("".join(texts.to_pylist()).encode("utf-32-le"), dtype=np.uint32)
    text = np.repeat(np.arange(len(texts)), pc.utf8_length(texts).to_numpy(zero_copy_only=False))
    special = np.flatnonzero((codes >= len(_PLAIN)) | ~_PLAIN[np.minimum(codes, len(_PLAIN) - 1)])
    after_blank = np.flatnonzero(codes[:-1] == ord(" ")) + 1
    after_blank = after_blank[text[after_blank] == text[after_blank - 1]]
    run = after_blank[codes[after_blank] == ord(" ")]
    detached = after_blank[np.isin(codes[after_blank], _PUNCTUATION)]
    return np.concatenate(
        [text[special] << 32 | codes[special], text[run] << 32 | _RUN, text[detached] << 32 | _DETACHED]
    )


def _lengths(lists: pa.Array) -> np.ndarray:
    return pc.list_value_length(lists).to_numpy(zero_copy_only=False)


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Where stretches of these sizes begin that follow each other, and where the last one ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def _ranges(start: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The positions `start[w]` to `start[w + 1]` (exclusive) for each w of `which`, one after the other."""
    sizes = start[which + 1] - start[which]
    return np.arange(sizes.sum()) + np.repeat(start[which] - _starts(sizes)[:-1], sizes)


def _sided(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The keys (text << 32 | code) of both halves of pairs, with code * 3 + side (0 first, 1 second, 2 both)."""
    key, inverse = np.unique(np.concatenate([first, second]), return_inverse=True)
    side = np.bincount(inverse, np.repeat([1, 2], [len(first), len(second)])).astype(np.int64) - 1
    return key >> 32 << 32 | ((key & 0xFFFFFFFF) * len(_SIDES) + side)


def _told(code: int, tokens: Sequence[str]) -> tuple[str, str]:
    """Kind and name of what a code stands for."""
    if code >= _FIRST_TOKEN:
        token = tokens[code - _FIRST_TOKEN]
        return {"#": "hashtag", "@": "handle"}.get(token[0], "link" if token == _LINK else "word"), token
    if code in _WHITE_SPACE:
        return "white space", _WHITE_SPACE[code]
    kind = "white space" if chr(code).isspace() else "character"
    return kind, f"U+{code:04X} {unicodedata.name(chr(code), '')}".strip()


# Findings ------------------------------------------------------------------------------------------------


def _significant(ways: int) -> float:
    """The G² that chance hardly passes where the classes can be parted in so many ways; 25.3 for one.

    Bonferroni's correction of the chi-squared distribution with one degree of freedom, the square of a standard normal.
    Ten items of ten against none of ten have 40 ln 2 = 27.7.
    """
    return NormalDist().inv_cdf(1 / SCANS / FEATURES_PER_SCAN / ways / 2) ** 2


def _of_classes(features: Features, units: np.ndarray, labels: np.ndarray, class_names: Sequence[str]) -> list[dict]:
    classes = len(class_names)
    known = (labels >= 0) & (labels < classes)
    units, labels = units[known], labels[known].astype(np.int64)
    total, size = len(labels), np.bincount(labels, minlength=classes)
    table = np.zeros(len(features.names) * classes, dtype=np.int64)
    for low in range(0, total, _CHUNK):
        feature, label = _present(features, units[low : low + _CHUNK], labels[low : low + _CHUNK])
        table += np.bincount(feature * classes + label, minlength=len(table))
    table = table.reshape(-1, max(classes, 1))
    place = _enough(table.sum(axis=1), total)
    if classes < 2 or not len(place):
        return []

    table = table[place]
    support = table.sum(axis=1, keepdims=True)
    # Per feature the classes from its most frequent one on, and the counts of the first, the first two, and so on.
    order = np.argsort(-table / np.maximum(size, 1), axis=1, kind="stable")
    within = np.cumsum(np.take_along_axis(table, order, axis=1), axis=1)[:, :-1]
    size = np.cumsum(size[order], axis=1)[:, :-1]
    outside = support - within
    cells = _xlogx(within) + _xlogx(outside) + _xlogx(size - within) + _xlogx(total - size - outside)
    entropy = _xlogx(total) - _xlogx(size) - _xlogx(total - size)
    g2 = 2 * (cells - _xlogx(support) - _xlogx(total - support) + entropy)
    best = g2.argmax(axis=1)
    row = np.arange(len(place))
    within, outside, size, entropy, g2 = (one[row, best] for one in (within, outside, size, entropy, g2))
    explained = g2 / np.maximum(2 * entropy, 1e-9)
    ratio = (within + 0.5) / (size + 1) / ((outside + 0.5) / (total - size + 1))
    share, base = within / support[:, 0], size / total

    found = []
    for i in np.flatnonzero((g2 >= _significant(2 ** (classes - 1) - 1)) & (explained >= WEAK_EXPLAINED)):
        kind, what = features.kinds[place[i]], features.names[place[i]]
        name = _class_name(order[i, : best[i] + 1].tolist(), class_names)
        bound = BOUNDS[kind]
        strong = ratio[i] >= bound.ratio and share[i] >= max(bound.share, LIFT * base[i])
        strong &= explained[i] >= bound.explained or (kind == "hashtag" and _letters(what) == _letters(name))
        found.append(
            {
                "kind": kind,
                "what": what,
                "class": name,
                "strong": bool(strong or explained[i] >= EXPLAINED),
                "support": int(support[i, 0]),
                "share": round(float(share[i]), 4),
                "base": round(float(base[i]), 4),
                "lift": round(float(share[i] / base[i]), 2),
                "of_class": round(float(within[i] / size[i]), 4),
                "explained": round(float(explained[i]), 4),
            }
        )
    return found


def _class_name(classes: Sequence[int], class_names: Sequence[str]) -> str:
    """One class by its name, several as "joy or love"; most of them as "other than anger"."""
    rest = sorted(set(range(len(class_names))) - set(classes))
    if len(classes) == 1 or len(classes) <= len(rest):
        return " or ".join(class_names[one] for one in sorted(classes))
    return "other than " + " or ".join(class_names[one] for one in rest)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _of_values(features: Features, units: np.ndarray, values: np.ndarray) -> list[dict]:
    known = np.flatnonzero(np.isfinite(values))
    # In order of the values, so that sums do not depend on the order of the items.
    known = known[np.argsort(values[known], kind="stable")]
    units, values = units[known], values[known]
    total, deviation = len(values), values.std() if len(values) else 0.0
    if not deviation > 0:
        return []
    support, sums = np.zeros(len(features.names), dtype=np.int64), np.zeros(len(features.names))
    for low in range(0, total, _CHUNK):
        feature, value = _present(features, units[low : low + _CHUNK], values[low : low + _CHUNK])
        support += np.bincount(feature, minlength=len(support))
        sums += np.bincount(feature, value, len(sums))
    place = _enough(support, total)
    support, sums = support[place], sums[place]
    mean_with, mean_without = sums / support, (values.sum() - sums) / (total - support)
    effect = (mean_with - mean_without) / deviation
    explained = support / total * (1 - support / total) * effect**2
    g2 = -total * np.log1p(-np.minimum(explained, 1 - 1e-12))
    found = []
    for i in np.flatnonzero((g2 >= _significant(1)) & (explained >= WEAK_EXPLAINED)):
        kind = features.kinds[place[i]]
        bound = BOUNDS[kind]
        strong = explained[i] >= bound.explained and abs(effect[i]) >= bound.deviations
        found.append(
            {
                "kind": kind,
                "what": features.names[place[i]],
                "strong": bool(strong or explained[i] >= EXPLAINED),
                "support": int(support[i]),
                "mean_with": round(float(mean_with[i]), 4),
                "mean_without": round(float(mean_without[i]), 4),
                "effect": round(float(effect[i]), 4),
                "explained": round(float(explained[i]), 4),
            }
        )
    return found


def _present(features: Features, units: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every feature of every item, and the item's label beside it."""
    sizes = features.start[units + 1] - features.start[units]
    return features.feature[_ranges(features.start, units)].astype(np.int64), np.repeat(labels, sizes)


def _enough(support: np.ndarray, total: int) -> np.ndarray:
    return np.flatnonzero((support >= SUPPORT) & (total - support >= SUPPORT))


def _xlogx(count: np.ndarray | int) -> np.ndarray:
    return count * np.log(np.maximum(count, 1))
