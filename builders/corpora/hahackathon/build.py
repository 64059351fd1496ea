"""HaHackathon: three CSV files of one layout, one text a record."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per text, in the order train, dev, test."""
    return pd.concat([raw["train.csv"], raw["dev.csv"], raw["gold-test-27446.csv"]])
