"""Same side: one TSV file with CRLF line ends, one pair a record.

Its third column (named after the topic, blanks at its end included) is the kind of the pair, which gives the
label away: it goes no further.
"""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per pair, as in the file."""
    rows = raw["artificial_evalset.tsv"].rename(columns={"argument1": "text_a", "argument2": "text_b"})
    return rows[["source_row", "text_a", "text_b", "arg_id", "is_same_side"]]
