"""Character spans to token tags and back, for models that tag tokens.

Positions come from the offsets that a fast tokenizer gives, never from a search for the words: the same words
may occur twice, be split (`$`, `hole`) or be unknown to the tokenizer, and every span still finds its tokens.

Spans and offsets are pairs (start, end) of code points of the text, end exclusive.
"""

from collections.abc import Iterable, Sequence

Span = tuple[int, int]

OUTSIDE, BEGIN, INSIDE = TAGS = range(3)
TAG_NAMES = ("O", "B", "I")


def merged(spans: Iterable[Span]) -> list[Span]:
    """`spans` in order, those that share a character made one.

    So nested and overlapping spans merge; spans that only touch stay apart.
    Raises `ValueError` for a span that is empty or begins before the text.
    """
    result: list[Span] = []
    for start, end in sorted(spans):
        if not 0 <= start < end:
            raise ValueError(f"the span {start}-{end} is empty or begins before the text")
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def tag(offsets: Sequence[Span], spans: Iterable[Span]) -> list[int]:
    """One tag per token: 0 (outside), 1 (begins a span) or 2 (goes on with it), see `TAG_NAMES`.

    A token belongs to a span if it shares a character with it, so no part of a span is lost where a token
    reaches beyond it. A tag cannot tell one span inside another: nested and overlapping spans count as one
    (`merged`), touching ones stay two. A token that two spans share begins the second. Tokens without
    characters, such as special tokens at (0, 0), are outside. A span without any token (cut off, or dropped
    by the tokenizer) leaves no tag.

    Raises `ValueError` for a span that is empty or begins before the text.
    """
    tags = [OUTSIDE] * len(offsets)
    for start, end in merged(spans):
        touched = [index for index, (first, last) in enumerate(offsets) if max(first, start) < min(last, end)]
        for index in touched:
            tags[index] = BEGIN if index == touched[0] else INSIDE
    return tags


def spans_of(offsets: Sequence[Span], tags: Sequence[int]) -> list[Span]:
    """The spans that `tags` mark, in order, none sharing a character with another.

    A span reaches from the start of its first token to the end of its last, with what lies between them. Tags
    may come from a model: a 2 after a 0 begins a span too. Tokens without characters are passed over,
    whatever their tag.

    Raises `ValueError` if there are not as many tags as offsets, or a token with characters has another tag
    than 0, 1 or 2.
    """
    if len(offsets) != len(tags):
        raise ValueError(f"{len(tags)} tags for {len(offsets)} tokens")
    spans: list[Span] = []
    previous = OUTSIDE
    for (start, end), current in zip(offsets, tags, strict=True):
        if start == end:
            continue
        if current not in TAGS:
            raise ValueError(f"{current} is not a tag; tags are 0, 1 and 2")
        if current == INSIDE and previous != OUTSIDE:
            spans[-1] = (spans[-1][0], end)
        elif current != OUTSIDE:
            spans.append((start, end))
        previous = current
    return merged(spans)
