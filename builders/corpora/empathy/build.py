"""Empathic Reactions: one CSV file with every field quoted, one essay a record, the scores beside it."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per essay, as in the file; the essay is the text."""
    return raw["messages.csv"].rename(columns={"essay": "text"})
