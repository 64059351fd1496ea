"""TweetEval's emotion set: line files, one tweet a line, the labels line by line in a file beside each.

The two characters `\\n` and a byte order mark at the head of a tweet are part of the text.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, in the order train, validation, test."""
    return pd.concat([raw["train_text.txt"], raw["val_text.txt"], raw["test_text.txt"]])
