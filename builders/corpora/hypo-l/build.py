"""HYPO-L: one CSV file, one sentence a record; its column Metaphor (once empty) is another corpus's label."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per sentence, as in the file."""
    return raw["hypo-l.csv"].rename(columns={"Sentence": "text"})
