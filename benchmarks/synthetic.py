"""The raw rows of every corpus with invented texts, as many as give a release of the published size.

Texts are words of an invented vocabulary in a Zipf-like distribution, as long as those of the corpus; some repeat
another text (now and then with another label), differ from one in a word, stand in other corpora as well, hold
handles, entities or emoji. Labels do not depend on the words. Nothing is drawn: what a row holds is a hash of its
corpus and number, so two runs give the same rows. `benchmarks.mirror` writes them as the corpora's own raw files.
"""

from fractions import Fraction
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from builders.declaration import Corpus, Task
from validation.published import facts as published


class Profile(NamedTuple):
    """What the texts of a corpus are like: round figures of the real ones."""

    characters: int
    """The median length."""
    longest: int
    spread: float = 0.4
    """How far lengths lie apart: nine of ten texts are shorter than `characters` * exp(2.2 * `spread`)."""
    foreign: float = 0.0
    """Share of texts with a character beyond ASCII."""
    online: float = 0.0
    """Share of texts with a handle, an address, a hashtag or an entity."""
    together: int = 1
    """Raw rows per declared group, where the corpus has groups; per whole text, where it has parts of texts."""
    repeated: float = 0.01
    """Share of raw rows that have the text of another row."""
    ruled_out: float = 0.0
    """Share of raw rows that a rule of the corpus drops."""
    kept: float = 0.98
    """Share of raw rows that become items."""


PROFILES = {
    "bragging": Profile(90, 540, foreign=0.06, online=0.3),
    "complaints": Profile(90, 310, 0.25, foreign=0.17, online=0.5),
    "contextual-abuse": Profile(90, 10_000, 0.65, foreign=0.01, online=0.1, together=2),
    "crowdflower": Profile(70, 170, 0.3, foreign=0.01, online=0.5),
    "dailydialog": Profile(50, 1_400, foreign=0.1, together=8, repeated=0.25, kept=0.79),
    "emobank": Profile(70, 670, foreign=0.17),
    "emotion-span": Profile(110, 250, 0.2),
    "empathy": Profile(400, 800, 0.25, foreign=0.07, together=5),
    "hahackathon": Profile(100, 290, 0.25, foreign=0.03),
    "hateoffensive": Profile(80, 750, 0.25, online=0.6),
    "hayati_politeness": Profile(110, 340, 0.2, ruled_out=0.36, kept=0.63),
    "humor-pairs": Profile(70, 150, 0.15, foreign=0.15, together=3, ruled_out=0.05, kept=0.93),
    "hypo-l": Profile(70, 400, 0.3),
    "implicit-hate": Profile(90, 800, 0.25, online=0.3),
    "jigsaw": Profile(200, 5_000, 0.65, foreign=0.1, online=0.1, kept=0.7),
    "neutralizing-bias-pairs": Profile(140, 670, 0.3, foreign=0.01),
    "propaganda-span": Profile(4_300, 47_000, 0.45, foreign=0.95, online=0.1, kept=0.95),
    "questionintimacy": Profile(60, 250, 0.25),
    "rumor": Profile(90, 140, 0.15, foreign=0.1, online=0.6, together=8, repeated=0.05, ruled_out=0.25, kept=0.7),
    "same-side-pairs": Profile(100, 540, 0.35, together=7),
    "sarc": Profile(50, 2_000, foreign=0.05, together=2),
    "sbic": Profile(100, 810, 0.25, foreign=0.1, online=0.2),
    "sentitreebank": Profile(100, 270, 0.3, together=19, ruled_out=0.5, kept=0.4),
    "stanfordpoliteness": Profile(110, 800, 0.3, online=0.2),
    "talkdown-pairs": Profile(150, 5_000, 0.5, foreign=0.05, together=2),
    "toxic-span": Profile(130, 1_000, 0.55, foreign=0.03),
    "tweet_emoji": Profile(70, 170, 0.2, foreign=0.5, online=0.5),
    "tweet_emotion": Profile(90, 160, 0.25, foreign=0.2, online=0.5),
    "tweet_irony": Profile(80, 1_000, 0.25, foreign=0.1, online=0.5),
    "tweet_offensive": Profile(100, 580, foreign=0.25, online=0.6),
    "tweet_sentiment": Profile(110, 200, 0.15, foreign=0.05, online=0.5),
    "two-to-lie": Profile(75, 1_500, 0.5, foreign=0.25, together=75, repeated=0.03, ruled_out=0.08, kept=0.89),
}

# Shares of raw rows: the text of another row with one word changed, or with another end; a text that occurs in several
# corpora. Of the rows with the very text of another, so many have a label of their own.
REWORDED, ENDED_OTHERWISE, COMMON = 0.02, 0.005, 0.005
CONTRADICTING = 0.2
# So many texts occur in several corpora, and this is what they are like.
COMMON_TEXTS, COMMON_PROFILE = 20_000, Profile(60, 200)
# Share of raw rows that nobody labelled.
UNLABELED = 0.001

# No task gets fewer items than this, however small the scale, so that every split has some.
FEWEST = 30

# So many rows are made at a time, which bounds the memory.
BLOCK = 25_000


# Hashes --------------------------------------------------------------------------------------------------

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(numbers: np.ndarray) -> np.ndarray:
    """A well spread uint64 for every uint64: the output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014,
    with the constants of Stafford's Mix13)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def keyed(purpose: str, numbers: np.ndarray) -> np.ndarray:
    """Another fixed uint64 for every uint64, for every purpose (the key of the hash)."""
    return mixed(numbers * _GOLDEN + np.uint64(int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest())))


def uniform(hashes: np.ndarray) -> np.ndarray:
    """Hashes as numbers from 0 to below 1."""
    return (hashes >> np.uint64(11)) * 2.0**-53


# Words ---------------------------------------------------------------------------------------------------

VOCABULARY = 30_000
_ONSETS = ("b", "d", "l", "m", "n", "r", "s", "t", "v", "w", "br", "dr", "fl", "gl", "kr", "pl", "sm", "st", "tr", "vl")
_SYLLABLES = [onset + vowel for onset in _ONSETS for vowel in "aeiou"]
_CODAS = ("", "", "", "", "l", "m", "n", "r", "s", "x")

# Every word in these forms; a word of a text has the first but for the marks within it, its start and its end.
_FORMS = ("{}", "{},", "{}.", "{}", "{}!", "{}?", "{}…")
_PLAIN, _COMMA, _STOP, _CAPITAL, _CALL, _QUESTION, _DOTS = range(len(_FORMS))
_WITHIN = np.array([_COMMA] * 6 + [_STOP] * 3 + [_CAPITAL] * 3 + [_PLAIN] * 116)
_AT_THE_END = np.array([_STOP] * 6 + [_CALL] * 2 + [_QUESTION] * 2 + [_PLAIN] * 6)

# With a variation selector, a skin tone, joiners and a flag among them.
_EMOJI = (
    "😀", "😂", "😍", "😭", "🔥", "💯", "🙏", "👀", "🎉", "💜",
    "❤", "❤\ufe0f", "☀\ufe0f", "✨", "👍🏽", "🤷\u200d♀\ufe0f", "🇫🇷", "♥", "™", "€",
)  # fmt: skip


def word(rank: int) -> str:
    """The invented word of this rank (from 0): one syllable for the 50 most frequent, two up to rank 2,000, then three.

    Multiplying by a number without a common divisor gives each word other syllables than its neighbours, and none
    twice.
    """
    if rank < 50:
        return _SYLLABLES[rank]
    number, syllables = (rank * 7919 % 100**2, 2) if rank < 2_000 else (rank * 7919 % 100**3, 3)
    parts = [_SYLLABLES[number // 100**place % 100] for place in range(syllables)]
    return "".join(parts) + _CODAS[rank % len(_CODAS)]


def _tokens() -> tuple[pa.Array, range, range]:
    """Everything a text is made of: the vocabulary in every form, then signs beyond ASCII, then handles and the like;
    and where those two lie."""
    words = [word(rank) for rank in range(VOCABULARY)]
    formed = [
        form.format(one.capitalize() if number == _CAPITAL else one)
        for number, form in enumerate(_FORMS)
        for one in words
    ]
    some = words[2_000:2_200]
    foreign = [
        *(_EMOJI * 5),
        *(f"{one}’s" for one in some),
        *(f"“{one}”" for one in some),
        *(f"{one}é" for one in some),
    ]
    online = [
        *(f"@{one}{number % 10}" for number, one in enumerate(words[2_000:6_000])),
        *(f"#{one}" for one in words[6_000:8_000]),
        *(f"https://example.org/{one}" for one in some),
        *(["&amp;", "&lt;3", "&gt;", "&quot;", "&#39;"] * 200),
        *(f"{one}@example.org" for one in some[:40]),
        *(f"555-01{number:02}" for number in range(40)),
    ]
    end = len(formed) + len(foreign)
    return pa.array(formed + foreign + online), range(len(formed), end), range(end, end + len(online))


TOKENS, FOREIGN, ONLINE = _tokens()
_LENGTHS = pc.utf8_length(TOKENS).to_numpy()

# The rank of a word for 20 bits of a hash. Zipf's law gives rank r a share of about 1 / r, so the logarithm of the
# rank is evenly spread.
_RANKS = np.minimum((VOCABULARY + 1.0) ** (np.arange(2**20) / 2**20) - 1, VOCABULARY - 1).astype(np.int32)

# Characters of an average word, with the blank after it.
_WORD_LENGTH = float(_LENGTHS[_RANKS].mean()) + 1


# Texts ---------------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Where the text of every raw row comes from; one array entry per row."""

    root: np.ndarray
    """The hash that the whole text follows from. Rows with the same one have the same words."""
    start: np.ndarray
    """The first word (from 0) of the root's text: parts of a text begin anywhere."""
    words: np.ndarray
    reworded: np.ndarray
    """0 if the words are those of the root; else one of them is another one, and which depends on this number."""
    ended: np.ndarray
    """Whether it ends with dots instead of what the root says."""
    labelled: np.ndarray
    """The hash that the labels follow from."""
    part: np.ndarray
    """Whether it is part of another row's text."""

    def rows(self, block: slice) -> "Plan":
        return Plan(*(column[block] for column in self))


def planned(corpus: Corpus, profile: Profile, rows: int) -> Plan:
    """The plan for `rows` raw rows of a corpus."""
    number = np.arange(rows, dtype=np.uint64)
    original = keyed(f"{corpus.name} text", number)
    if corpus.parts:
        return _with_parts(corpus, profile, original, number)
    earlier = original[keyed(f"{corpus.name} earlier", number) % np.maximum(number, np.uint64(1))]
    common = keyed("common text", keyed(f"{corpus.name} common", number) % np.uint64(COMMON_TEXTS))
    fate = uniform(keyed(f"{corpus.name} fate", number))
    shares = np.cumsum([profile.repeated, REWORDED, ENDED_OTHERWISE, COMMON])
    repeated, reworded, ended, is_common = (np.searchsorted(shares, fate, side="right") == kind for kind in range(4))
    root = np.where(repeated | reworded | ended, earlier, np.where(is_common, common, original))
    contradicts = repeated & (uniform(keyed(f"{corpus.name} contradicts", number)) < CONTRADICTING)
    words = np.where(is_common, _word_counts(root, COMMON_PROFILE), _word_counts(root, profile))
    return Plan(
        root=root,
        start=np.zeros(rows, np.int64),
        words=words,
        reworded=reworded.astype(np.uint64),
        ended=ended,
        labelled=np.where(contradicts, original, root),
        part=np.zeros(rows, bool),
    )


def _with_parts(corpus: Corpus, profile: Profile, original: np.ndarray, number: np.ndarray) -> Plan:
    """Whole texts first, then parts of them, more short ones than long ones."""
    wholes = len(number) // profile.together
    is_part = number >= wholes
    whole = np.where(is_part, keyed(f"{corpus.name} whole", number) % np.uint64(wholes), number)
    root = original[whole]
    longest = _word_counts(root, profile)
    share = uniform(keyed(f"{corpus.name} part length", number)) ** 2
    words = np.where(is_part, np.minimum(longest, 2 + (share * longest).astype(np.int64)), longest)
    start = keyed(f"{corpus.name} part start", number) % (longest - words + 1).astype(np.uint64)
    return Plan(
        root=root,
        start=start.astype(np.int64),
        words=words,
        reworded=np.zeros(len(number), np.uint64),
        ended=np.zeros(len(number), bool),
        labelled=original,
        part=is_part,
    )


def _word_counts(root: np.ndarray, profile: Profile) -> np.ndarray:
    """How many words the texts have. Their logarithms have a logistic distribution, which has the long tail of real
    lengths."""
    place = np.clip(uniform(keyed("length", root)), 1e-9, 1 - 1e-9)
    characters = profile.characters * np.exp(profile.spread * np.log(place / (1 - place)))
    return np.maximum(np.minimum(characters, profile.longest) / _WORD_LENGTH, 1).round().astype(np.int64)


def texts_of(plan: Plan, profile: Profile) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """The planned texts; where every word begins in its text, in characters; and where a text's words begin among
    those (one entry more than texts)."""
    bounds = np.concatenate([[0], np.cumsum(plan.words)])
    first, last = bounds[:-1], bounds[1:] - 1
    position = np.arange(bounds[-1]) - np.repeat(first - plan.start, plan.words)
    hashes = mixed(np.repeat(plan.root, plan.words) + position.astype(np.uint64) * _GOLDEN)
    place = first + (keyed("place", plan.root) % plan.words.astype(np.uint64)).astype(np.int64)
    changed = plan.reworded > 0
    hashes[place[changed]] = keyed("other word", hashes[place[changed]] + plan.reworded[changed])

    ranks = _RANKS[(hashes & np.uint64(2**20 - 1)).astype(np.int64)]
    token = ranks + VOCABULARY * _WITHIN[(hashes >> np.uint64(20) & np.uint64(127)).astype(np.int64)]
    token[first] = ranks[first] + VOCABULARY * _CAPITAL
    end = _AT_THE_END[(keyed("end", plan.root) & np.uint64(15)).astype(np.int64)]
    token[last] = ranks[last] + VOCABULARY * np.where(plan.ended, _DOTS, end)
    for what, share, tokens in (("foreign", profile.foreign, FOREIGN), ("online", profile.online, ONLINE)):
        root = keyed(what, plan.root)
        some = uniform(root) < share
        where = first + (keyed("where", root) % plan.words.astype(np.uint64)).astype(np.int64)
        token[where[some]] = tokens.start + (keyed("which", root[some]) % np.uint64(len(tokens))).astype(np.int64)

    words = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), TOKENS.take(pa.array(token)))
    begins = np.concatenate([[0], np.cumsum(_LENGTHS[token] + 1)])
    return pc.binary_join(words, " "), begins[:-1] - np.repeat(begins[first], plan.words), bounds


# Labels --------------------------------------------------------------------------------------------------


def _raw_labels(task: Task) -> list[list[str]]:
    """What a raw file may say for every class, the likeliest class first; of a regression, every value is one."""
    if task.format == "regression":
        low, high = task.scale
        return [[f"{low + (high - low) * step / 60:.3f}"] for step in range(61)]
    return [list(label.raw) or _scores(label) for label in task.labels]


def _scores(label) -> list[str]:
    """Scores within the range of a class; one that is open to a side is one wide."""
    low, high = label.low[0], label.high[0]
    low, high = (low if low > float("-inf") else high - 1), (high if high < float("inf") else low + 1)
    return [f"{low + (high - low) * step / 16:.4f}" for step in range(1, 16)]


def label_column(corpus: Corpus, task: Task, plan: Plan, share: float, number: np.ndarray) -> pa.Array:
    """The raw labels of a task; only `share` of the rows have one.

    Class shares are skewed, another way for every task. Half of the texts take the same place in all tasks of a corpus,
    so that the tasks go with one another a little, as those of a real corpus do.
    """
    labels = _raw_labels(task)
    own = keyed(f"{task.name} label", plan.labelled)
    place = uniform(np.where(own & np.uint64(1), own, keyed(f"{corpus.name} labels", plan.labelled)))
    skew = 1.0 if task.format == "regression" else 1 + int(keyed(f"{task.name} skew", np.zeros(1, np.uint64))[0] % 8)
    kind = (place**skew * len(labels)).astype(np.int64)
    if task.preferred_first:
        kind[:] = 0
    width = np.array([len(tokens) for tokens in labels])
    token = (keyed("token", own) % width[kind].astype(np.uint64)).astype(np.int64) + (np.cumsum(width) - width)[kind]
    if task.unlabeled_tokens:
        unlabeled = uniform(keyed(f"{task.name} labelled", number)) >= share * (1 - UNLABELED)
        token[unlabeled] = width.sum()
    return pa.array([*chain.from_iterable(labels), *task.unlabeled_tokens[:1]]).take(pa.array(token))


def span_column(task: Task, plan: Plan, texts: pa.Array, begins: np.ndarray, bounds: np.ndarray) -> list[list]:
    """The spans of every text, as (start, end) in characters: a stretch of one to eight words for every 40 words, and
    one or none in a short text."""
    lengths, column = pc.utf8_length(texts).to_numpy(), []
    hashes = keyed(f"{task.name} spans", plan.labelled)
    for row, (seed, words) in enumerate(zip(hashes.tolist(), plan.words.tolist(), strict=True)):
        begin = [*begins[bounds[row] : bounds[row + 1]].tolist(), int(lengths[row]) + 1]
        spans = []
        for number in range(words // 40 + (seed % 32 > 0)):
            first = (seed >> 7 * (number % 7)) * (number + 1) % words
            spans.append([begin[first], begin[min(first + 1 + (seed + number) % 8, words)] - 1])
        column.append(spans)
    return column


# Corpora -------------------------------------------------------------------------------------------------


def items_wanted(task: Task, scale: Fraction) -> int:
    """How many items a task is to have: as many as it was published with, times `scale`; `FEWEST` at least."""
    return max(FEWEST, round(published()[0][task.name].total * scale))


def raw_rows(corpus: Corpus, scale: Fraction) -> pd.DataFrame:
    """The raw rows of a corpus: its text columns, the column of every task and rule, its group, and `number` (from 0).

    Spans are lists of (start, end) in characters; anything else is text, and what a raw file may say.
    """
    profile = PROFILES[corpus.name]
    wanted = {task.name: items_wanted(task, scale) for task in corpus.tasks}
    largest = max(wanted.values())
    number = np.arange(round(largest / profile.kept), dtype=np.uint64)
    plan = planned(corpus, profile, len(number))
    shares = {name: items / largest for name, items in wanted.items()}
    blocks = (slice(start, start + BLOCK) for start in range(0, len(number), BLOCK))
    tables = [pd.DataFrame(_columns(corpus, profile, plan.rows(block), shares, number[block])) for block in blocks]
    return pd.concat(tables, ignore_index=True).assign(number=number.astype(np.int64))


def _columns(corpus: Corpus, profile: Profile, plan: Plan, shares: dict[str, float], number: np.ndarray) -> dict:
    texts, begins, bounds = texts_of(plan, profile)
    columns: dict = {corpus.text_columns[0]: texts}
    if corpus.is_pair:
        # Where the first text is the preferred one, the other is the same with an edit; else it is another text.
        edited = corpus.tasks[0].preferred_first
        edit, another = {"reworded": plan.reworded + np.uint64(1)}, {"root": keyed("other text", plan.root)}
        other = plan._replace(**(edit if edited else another))
        columns[corpus.text_columns[1]] = texts_of(other, profile)[0]
    for task in corpus.tasks:
        if task.format == "span":
            columns[task.column] = span_column(task, plan, texts, begins, bounds)
        elif task.column not in columns:
            columns[task.column] = label_column(corpus, task, plan, shares[task.name], number)
    for rule in dict.fromkeys(rule for task in corpus.tasks for rule in task.drops):
        found = uniform(keyed(f"{corpus.name} {rule.reason}", number)) < profile.ruled_out
        columns[rule.column] = pc.if_else(pa.array(found), rule.values[0], columns.get(rule.column, "1.0"))
    if corpus.group:
        columns[corpus.group] = pc.cast(pa.array(number // np.uint64(profile.together)), pa.string())
    if corpus.parts:
        columns[corpus.parts] = pc.if_else(pa.array(plan.part), "part", "whole")
    return {name: column if isinstance(column, list) else column.to_pandas() for name, column in columns.items()}
