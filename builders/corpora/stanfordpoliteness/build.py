"""Stanford Politeness: two CSV files of one layout, one request a record with the scores of five annotators."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per request, Wikipedia before Stack Exchange."""
    rows = pd.concat([raw["wikipedia.annotated.csv"], raw["stack-exchange.annotated.csv"]])
    return rows.rename(columns={"Request": "text"})
