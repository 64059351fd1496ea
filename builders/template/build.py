"""NAME: FILL IN what is special about the raw files."""

import pandas as pd


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per record: `source_row`, `text`, and the columns that corpus.yaml names.

    `raw` has a table for every declared file, by its name; every table has a column `source_row`. Raise
    builders.problems.Problem(what, where=[source_row], todo=...) for a record of the wrong shape.
    """
    return raw["data.csv"]
