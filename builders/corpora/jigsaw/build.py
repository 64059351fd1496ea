"""Jigsaw: train comments with their labels in one file; test comments and their labels in two, joined by id.

Whoever lacks these files has samples of them; the test sample has the columns in another order and is labelled.
"""

import pandas as pd

from builders.problems import Problem, examples

LABELLED = (
    "train.csv", "train_subset_first300.csv", "train_subset1000_fast-bert.csv",
    "test_labelled_subset1000_fast-bert.csv",
)  # fmt: skip
TEST, TEST_LABELS = "test.csv", "test_labels.csv"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per comment, train before test; a label is "-1" where the comment was not used for scoring.

    Raises `Problem` naming the records for a test comment without labels, and the reverse.
    """
    tables = [raw[name] for name in LABELLED if name in raw]
    if TEST in raw and TEST_LABELS in raw:
        tables.append(_joined(raw[TEST], raw[TEST_LABELS]))
    return pd.concat(tables).rename(columns={"comment_text": "text"})


def _joined(comments: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """The comments of the test file, in its order, with their labels."""
    for table, other, what in ((comments, labels, "no labels for"), (labels, comments, "no comment for")):
        wrong = ~table["id"].isin(other["id"]) | table["id"].duplicated()
        if wrong.any():
            raise Problem(
                f"{what} this id, or it comes a second time.",
                where=[examples(table["source_row"][wrong], wrong.sum())],
                todo=f"{TEST} and {TEST_LABELS} do not belong together; get both again.",
            )
    return comments.merge(labels.drop(columns="source_row"), on="id", how="left")
