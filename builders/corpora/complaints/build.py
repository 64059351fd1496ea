"""Complaints on Twitter: one CSV file without a header, one tweet a record, in the order of its domains.

The domain goes no further than this: two of its values say where tweets were drawn at random, and so the label.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, in file order."""
    return raw["complaints-data.csv"].drop(columns="domain")
