"""TweetEval's sentiment set: line files, one tweet a line, the labels line by line in a file beside each.

Quotes and escapes such as `\\u2019` are part of the text, at the start of a line too: nothing is quoted here.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, in the order train, validation, test."""
    return pd.concat([raw["train_text.txt"], raw["val_text.txt"], raw["test_text.txt"]])
