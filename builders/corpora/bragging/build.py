"""Bragging: one CSV file with CRLF line ends, one tweet a record; one column holds the type for all tasks."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, as in the file."""
    return raw["bragging_data.csv"]
