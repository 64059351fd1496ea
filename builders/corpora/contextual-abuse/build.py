"""CAD: a table of Reddit entries, all classes of an entry in one cell, set apart by commas.

The file is read as the published release read it: a field may begin with a quote that closes before the field
ends. Title and body of one submission are two entries (`<id>-title`, `<id>-post`) and stay together.
"""

import pandas as pd

from builders.problems import Problem, examples

TASKS = ["IdentityDirectedAbuse", "PersonDirectedAbuse"]
CLASSES = [*TASKS, "AffiliationDirectedAbuse", "CounterSpeech", "Neutral"]


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per entry, in file order; a column per task says "1" if the entry has that class.

    Raises `Problem` naming the records for an entry without a class or with one that is not known.
    """
    entries = raw["cad_v1_1_train.tsv"]
    has = entries["labels"].str.get_dummies(",")
    wrong = has.drop(columns=CLASSES, errors="ignore").any(axis=1) | ~has.any(axis=1)
    if wrong.any():
        seen = map(repr, entries["labels"][wrong].unique())
        raise Problem(
            f"the classes are {examples(seen)}; known are {', '.join(CLASSES)}.",
            where=[examples(entries["source_row"][wrong], wrong.sum())],
            todo="The file is altered, or of another version.",
        )
    return entries.assign(
        submission=entries["id"].str.replace(r"-(?:title|post)$", "", regex=True),
        **has.reindex(columns=TASKS, fill_value=0).astype(str),
    )
