"""TalkDown: a post, the part of it that a reply quotes, and whether that part is condescending.

The reply tells the answer (it is how the corpus was found), so it is never read: a pair is the quote and the
rest of the post.
"""

import pandas as pd

from builders.problems import Problem, examples

FILES = ("balanced_train.jsonl", "balanced_dev.jsonl", "balanced_test.jsonl")
WORDS = {True: "true", False: "false"}


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per quote, in the order train, dev, test: the quote, then the post with the quote cut out.

    The quote is cut at `start_offset`; where it does not stand there but at exactly one other place of the
    post, it is cut there. Raises `Problem` naming every record where neither holds, or where post and quote are no
    texts or the offset is no number.
    """
    rows = pd.concat([raw[name] for name in FILES], ignore_index=True)
    odd = ~rows[["post", "quotedpost"]].map(lambda cell: isinstance(cell, str)).all(axis=1)
    odd |= rows["start_offset"].map(lambda offset: type(offset) is not int)
    if odd.any():
        raise Problem(
            "post or quotedpost is no text, or start_offset is no whole number.",
            where=[examples(rows["source_row"][odd], odd.sum())],
            todo="The file is altered; get it again.",
        )
    contexts = [
        _without(post, quote, offset)
        for post, quote, offset in zip(rows["post"], rows["quotedpost"], rows["start_offset"], strict=True)
    ]
    unclear = [row for row, context in zip(rows["source_row"], contexts, strict=True) if context is None]
    if unclear:
        raise Problem(
            "the post does not hold quotedpost at start_offset, nor exactly once.",
            where=[examples(unclear)],
            todo="The file is altered; get it again.",
        )
    return rows.assign(
        text_a=rows["quotedpost"],
        text_b=contexts,
        label=[WORDS[label] if isinstance(label, bool) else label for label in rows["label"]],
    )


def _without(post: str, quote: str, offset: int) -> str | None:
    """`post` with a blank in the place of `quote`; nothing if it is not clear which place that is."""
    if not 0 <= offset <= len(post) or not post.startswith(quote, offset):
        if post.count(quote) != 1:
            return None
        offset = post.index(quote)
    return post[:offset] + " " + post[offset + len(quote) :]
