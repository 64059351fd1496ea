"""EmoBank: one CSV file, one sentence a record, the three ratings beside it.

One sentence is the word None, and many begin or end with a stray quotation mark; both are text.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per sentence, as in the file."""
    return raw["emobank.csv"]
