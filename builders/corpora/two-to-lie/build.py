"""It Takes Two to Lie: a dialog a line, its messages and all that is said about them in parallel lists."""

import pandas as pd

from builders.problems import Problem, examples

PARALLEL = [
    "messages", "sender_labels", "receiver_labels", "speakers", "receivers", "absolute_message_index",
    "relative_message_index", "seasons", "years", "game_score", "game_score_delta",
]  # fmt: skip
WORDS = {True: "true", False: "false"}


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per message, in file order; labels are `true`, `false` or `NOANNOTATION`.

    A dialog in which nobody wrote anything (the real file has five) gives no row.
    Raises `Problem` naming file and record for a dialog whose lists are none or differ in length.
    """
    dialogs = raw["train.jsonl"]
    no_lists = dialogs["source_row"][~dialogs[PARALLEL].map(lambda cell: isinstance(cell, list)).all(axis=1)]
    if len(no_lists):
        raise Problem(
            f"one of {', '.join(PARALLEL)} is no list.",
            where=[examples(no_lists, len(no_lists))],
            todo="The file is cut or altered.",
        )
    lengths = dialogs[PARALLEL].apply(lambda lists: lists.str.len())
    differs = lengths.ne(lengths["messages"], axis="index")
    for index in lengths.index[differs.any(axis=1)]:
        others = lengths.loc[index, differs.loc[index]]
        raise Problem(
            f"{lengths.at[index, 'messages']:g} messages, but "
            + ", ".join(f"{count:g} {name}" for name, count in others.items())
            + ".",
            where=[dialogs.at[index, "source_row"]],
            todo="The file is cut or altered.",
        )
    written = dialogs[lengths["messages"] > 0]
    rows = written[["source_row", "messages", "sender_labels", "receiver_labels"]].explode(
        ["messages", "sender_labels", "receiver_labels"]
    )
    rows = rows.rename(columns={"source_row": "dialog", "messages": "text"})
    numbers = rows.groupby("dialog", sort=False).cumcount() + 1
    return rows.assign(
        source_row=rows["dialog"] + "." + numbers.astype(str),
        sender_labels=_words(rows["sender_labels"]),
        receiver_labels=_words(rows["receiver_labels"]),
    )


def _words(labels: pd.Series) -> list:
    """JSON's true and false as words; anything else as it is."""
    return [WORDS[label] if isinstance(label, bool) else label for label in labels]
