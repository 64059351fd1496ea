"""SARC: ids of comments in one table, their texts in one large JSON object.

A line of the balanced files names a thread's comments from the oldest to the parent, two responses to that
parent, and for each whether its author marked it as sarcastic.
"""

import pandas as pd

from builders.problems import Problem, examples

FILES = ("train-balanced.csv.bz2", "test-balanced.csv.bz2")


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per response, in the order train, test; `parent` is the comment it responds to.

    Raises `Problem` naming the record for a line without ancestors or with another number of labels than of
    responses, and for a response whose comment is missing.
    """
    threads = pd.concat([raw[name] for name in FILES], ignore_index=True)
    ancestors, responses, labels = (threads[name].str.split() for name in ("ancestors", "responses", "labels"))
    _refuse("has no ancestors.", threads["source_row"][ancestors.str.len() == 0])
    _refuse("has another number of labels than of responses.",
            threads["source_row"][responses.str.len() != labels.str.len()])  # fmt: skip
    rows = pd.DataFrame(
        {"thread": threads["source_row"], "parent": ancestors.str[-1], "response": responses, "label": labels}
    ).explode(["response", "label"], ignore_index=True)
    numbers = rows.groupby("thread", sort=False).cumcount() + 1
    comments = raw["comments.json.bz2"].set_index("key")["text"]
    rows = rows.assign(
        source_row=rows["thread"] + "." + numbers.astype(str),
        text=rows["response"].map(comments),
    )
    _refuse("the response is not in comments.json.bz2.", rows["source_row"][rows["text"].isna()])
    return rows[["source_row", "text", "label", "parent"]]


def _refuse(what: str, source_rows: pd.Series) -> None:
    if len(source_rows):
        raise Problem(
            what,
            where=[examples(source_rows, len(source_rows))],
            todo="One of the three files is cut, altered or of another release; get it again.",
        )
