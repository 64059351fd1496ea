"""What makes two texts the same: canonical keys, loose keys, ids and ranks.

Every rule that depends on "the same text" (duplicates, splits, overlaps, ids) goes through this module.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import blake2b

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from builders.pipeline.text import WHITE_SPACE, unescape

UNIT_SEPARATOR = "\x1f"

# Loose keys link only texts of at least so many words; shorter ones ("Yes ." and "yes!") say too little.
LOOSE_WORDS = 5

# How near-duplicates are looked for in a finished release (see `validation.measure.near`); part of its lock, so that
# two people who look find the same.
NEAR_DUPLICATES = {
    "library": "rensa 0.5",
    "shingles": "pairs of adjacent words, casefolded letters and digits",
    "threshold": 0.6,
    "least_shingles": 7,
    "permutations": 128,
    "bands": 32,
    "seed": 1,
}

VARIATION_SELECTORS = [(0x180B, 0x180D), (0x180F, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)]

_SPACES = re.compile(f"[{WHITE_SPACE}]+")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@cache
def invisible() -> re.Pattern:
    """Format characters (Unicode category Cf) and variation selectors."""
    codes = {code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"}
    codes |= {code for first, last in VARIATION_SELECTORS for code in range(first, last + 1)}
    firsts = sorted(code for code in codes if code - 1 not in codes)
    lasts = sorted(code for code in codes if code + 1 not in codes)
    # As ranges: character by character the pattern would be slow.
    return re.compile("[" + "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in zip(firsts, lasts, strict=True)) + "]+")


def canonical_key(text: str) -> str:
    """`text` as the duplicate check sees it: HTML entities unescaped (twice at most), NFKC, format characters
    and variation selectors removed, white space collapsed, ends stripped."""
    for _ in range(2):
        if "&" in text:
            text = unescape(text)
    text = invisible().sub("", unicodedata.normalize("NFKC", text))
    return _SPACES.sub(" ", text).strip(" ")


def loose_key(key: str) -> str:
    """Letters and digits of a canonical key, casefolded: texts that differ in punctuation only share it."""
    return _NOT_ALPHANUMERIC.sub("", key.casefold())


def canonical_keys(texts: pd.Series) -> pd.Series:
    """The canonical key of every text. Plain ASCII with single spaces is its own key."""
    return _mapped_where(texts, r"[^ -~]|&|  |^ | $", canonical_key)


def loose_keys(keys: pd.Series) -> pd.Series:
    """The loose key of every canonical key; null for texts of fewer than `LOOSE_WORDS` words.

    A word is a stretch between spaces that holds a letter or a digit.
    """
    array = pa.array(keys)
    words = pc.count_substring_regex(array, r"[^ ]*[\p{L}\p{N}][^ ]*")
    ascii_loose = pc.replace_substring_regex(pc.ascii_lower(array), "[^a-z0-9]+", "")
    loose = pd.Series(pc.if_else(pc.greater_equal(words, LOOSE_WORDS), ascii_loose, None), dtype="str")
    loose.index = keys.index
    foreign = ~pc.string_is_ascii(array).to_numpy(False) & loose.notna()
    loose[foreign] = [loose_key(key) for key in keys[foreign]]
    return loose


def _mapped_where(values: pd.Series, pattern: str, function: Callable[[str], str]) -> pd.Series:
    """`function` of the values in which the RE2 `pattern` is found, the others as they are."""
    found = pc.match_substring_regex(pa.array(values), pattern).to_numpy(False)
    if not found.any():
        return values
    result = values.copy()
    result[found] = [function(value) for value in values[found]]
    return result


def item_ids(corpus: str, keys: Iterable[str]) -> list[str]:
    """The id of every key: 16 hex digits of the 8-byte BLAKE2b of corpus + U+001F + key, in UTF-8.

    The same text has the same id in every task of its corpus, whatever its label.
    """
    prefix = blake2b((corpus + UNIT_SEPARATOR).encode(), digest_size=8)
    ids = []
    for key in keys:
        digest = prefix.copy()
        digest.update(key.encode("utf-8", "surrogatepass"))
        ids.append(digest.hexdigest())
    return ids


def ranks(purpose: str, names: Iterable[str]) -> np.ndarray:
    """A fixed pseudo-random uint64 for every name, another order for every purpose (the key of the hash).

    This is what the pipeline has instead of a random generator: it depends on the name and nothing else.
    """
    key = purpose.encode()
    return np.array(
        [int.from_bytes(blake2b(name.encode(), digest_size=8, key=key).digest()) for name in names],
        dtype=np.uint64,
    )
