r"""Emotion Cause: one sentence a line, marked up as `<emotion>text <cause>span<\cause> text . <\emotion>`.

The closing tags have a backslash, so this is not XML. One sentence opens the cause twice and closes it once;
the general rule is that the last `<cause>` before the closing tag counts and that the others are removed.
"""

import pandas as pd

from builders.problems import Problem, examples

# `before` takes as much as it can, so `<cause>` here is the last one before the closing tag.
LINE = r"^<(?P<emotion>\w+)>(?P<before>.*)<cause>(?P<cause>.+?)<\\cause>(?P<after>.*)<\\(?P<closed>\w+)>\s*$"
TAG = r"<\\?\w+>"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per sentence: its text without tags, and in `cause` the offsets of its one span.

    Raises `Problem` naming the records whose markup is of another form.
    """
    lines = raw["Emotion Cause.txt"]
    parts = lines["line"].str.extract(LINE)
    before = parts["before"].str.replace("<cause>", "", regex=False)
    text = before + parts["cause"] + parts["after"]
    wrong = text.isna() | (parts["emotion"] != parts["closed"]) | text.str.contains(TAG, na=False)
    if wrong.any():
        raise Problem(
            r"not marked up as <emotion>text <cause>span<\cause> text<\emotion>.",
            where=[examples(lines["source_row"][wrong], wrong.sum())],
            todo="The file is altered, or holds a kind of markup that build.py does not know.",
        )
    starts = before.str.len()
    ends = starts + parts["cause"].str.len()
    return pd.DataFrame(
        {
            "source_row": lines["source_row"],
            "text": text,
            "cause": [[(start, end)] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)],
        }
    )
