"""Hummingbird politeness: one TSV file, one text a record, beside it the text in lower case and word scores."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per record, as in the file; the text is the original one."""
    return raw["politeness.tsv"].rename(columns={"orig_text": "text"})
