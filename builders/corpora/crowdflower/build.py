"""CrowdFlower's emotion tweets: one CSV file, one tweet a record.

The names of the tweets' authors and the tweet ids go no further than this.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, in file order."""
    return raw["text_emotion.csv"].rename(columns={"content": "text"})[["source_row", "text", "sentiment"]]
