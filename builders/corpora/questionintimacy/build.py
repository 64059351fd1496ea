"""Question intimacy: three tab-separated files without a header, a question and its score a line."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per question, in the order train, validation, test."""
    return pd.concat([raw["final_train.txt"], raw["final_val.txt"], raw["final_test.txt"]])
