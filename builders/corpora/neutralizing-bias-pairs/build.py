"""Wiki Neutrality Corpus: a sentence before and after an edit that took out its bias.

Every sentence comes twice, raw and as WordPiece tokens; only the raw ones are of use to a reader.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per edit: the biased sentence (before) first, then the neutral one (after)."""
    (edits,) = raw.values()
    rows = edits[["source_row", "revision", "source_raw", "target_raw"]]
    return rows.rename(columns={"source_raw": "text_a", "target_raw": "text_b"}).assign(biased="first")
