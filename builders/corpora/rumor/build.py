"""Twitter15 and Twitter16: texts, labels and events in three files for each, joined by tweet id.

The Twitter15 texts that can be downloaded are the authors' file written twice in a row; either form will do.
"""

import pandas as pd

from builders.problems import Problem, examples

DOUBLED = "original/dataset/twitter15/source_tweets.txt"
SINGLE = "twitter15/source_tweets.txt"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per tweet, Twitter16 before Twitter15, with its label and its event.

    An event (or news account) has the same name in both parts.
    Raises `Problem` when the three files of a part do not speak of the same tweets.
    """
    texts16 = raw["twitter16/source_tweets.txt"]
    texts15 = _once(raw[DOUBLED]) if DOUBLED in raw else raw[SINGLE]
    return pd.concat([_joined(texts16, "16", raw), _joined(texts15, "15", raw)])


def _once(texts: pd.DataFrame) -> pd.DataFrame:
    """The first half of a file whose second half repeats it exactly; any other file as it is."""
    half, odd = divmod(len(texts), 2)
    records = texts[["tweet_id", "text"]]
    first, second = records[:half], records[half:].reset_index(drop=True)
    return texts[:half] if not odd and first.equals(second) else texts


def _joined(texts: pd.DataFrame, part: str, raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    label_file, event_file = f"twitter{part}/label.txt", f"resource/Twitter{part}_label_All.txt"
    return texts.assign(
        label=_looked_up(texts, raw[label_file], "label", label_file),
        event=_looked_up(texts, raw[event_file], "event", event_file),
    )


def _looked_up(texts: pd.DataFrame, table: pd.DataFrame, column: str, name: str) -> pd.Series:
    """`column` of the tweets in `texts`, out of a table that has each of these tweets once and no others."""
    for what, tweets, place in (
        ("stands there twice", table["tweet_id"][table["tweet_id"].duplicated()], name),
        (f"has no {column} in {name}", texts["tweet_id"][~texts["tweet_id"].isin(table["tweet_id"])], None),
        ("has no text", table["tweet_id"][~table["tweet_id"].isin(texts["tweet_id"])], name),
    ):
        if len(tweets):
            raise Problem(
                f"tweet {examples(tweets)} {what}.",
                where=[place or texts.at[tweets.index[0], "source_row"]],
                todo="One of the files is cut or altered; get all of them again.",
            )
    return texts["tweet_id"].map(table.set_index("tweet_id")[column])
