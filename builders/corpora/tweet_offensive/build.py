"""TweetEval's offensive set: line files, one tweet a line, the labels line by line in a file beside each."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, in the order train, validation, test."""
    return pd.concat([raw["train_text.txt"], raw["val_text.txt"], raw["test_text.txt"]])
