"""Hate Speech and Offensive Language: one CSV file, one tweet a record.

The first column has no name (a running number with gaps), and a tweet may hold line breaks inside its quotes.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, as in the file; the tweet is the text."""
    return raw["labeled_data.csv"].rename(columns={"tweet": "text"})
