"""Social Bias Frames: one record per annotator, post and implied stereotype, so a post has several.

Only posts and what all annotators together said go on; who they are stays in the raw files.
"""

import pandas as pd

from builders.problems import Problem, examples

FILES = ("SBIC.v2.trn.csv", "SBIC.v2.dev.csv", "SBFv2.dev.csv", "SBIC.v2.tst.csv")
VOTES = ["intentYN", "offensiveYN", "sexYN"]
STEREOTYPE = "targetStereotype"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per post, named by its first record, in the order of first occurrence.

    A column per question holds the mean over the records of the post that answer it ("" if none does), and
    `hasBiasedImplication` is "1" if at least one of them names a stereotype.
    Raises `Problem` naming the records of a file without one of the columns, and for an answer that
    is not a number from 0 to 1.
    """
    records = pd.concat([raw[name] for name in FILES if name in raw], ignore_index=True)
    lacking = records["source_row"][records[[*VOTES, STEREOTYPE]].isna().any(axis=1)]
    if len(lacking):
        raise Problem(
            f"one of the columns {', '.join([*VOTES, STEREOTYPE])} is not in this file.",
            where=[examples(lacking, len(lacking))],
            todo="The file is altered, or of another version.",
        )
    votes = records[VOTES].apply(pd.to_numeric, errors="coerce")
    wrong = (records[VOTES].ne("") & ~votes.apply(lambda vote: vote.between(0, 1))).any(axis=1)
    if wrong.any():
        raise Problem(
            f"one of {', '.join(VOTES)} is not a number from 0 to 1.",
            where=[examples(records["source_row"][wrong], wrong.sum())],
            todo="The file is altered.",
        )
    named = records[STEREOTYPE].str.strip().ne("").astype(int)
    posts = votes.assign(source_row=records["source_row"], hasBiasedImplication=named).groupby(
        records["post"], sort=False
    )
    means = posts[VOTES].mean().map(lambda mean: "" if pd.isna(mean) else repr(mean))
    return means.assign(
        source_row=posts["source_row"].first(),
        hasBiasedImplication=posts["hasBiasedImplication"].max().astype(str),
    ).reset_index(names="text")
