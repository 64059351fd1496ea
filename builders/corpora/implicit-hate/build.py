"""Latent Hatred: all posts with their main class in one table, the fine classes of implicit hate in another.

The two are joined by the exact text of the post, blanks included, as the published release did; a post of the
second table that the first writes otherwise finds no partner.
"""

import pandas as pd

from builders.problems import Problem, examples

POSTS, FINE = "implicit_hate_v1_stg1_posts.tsv", "implicit_hate_v1_stg2_posts.tsv"
TASKS = ["incitement", "inferiority", "stereotypical", "threatening", "white_grievance"]
OTHERS = ["irony", "other"]


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per post of the first table, in file order; a column per fine class says "1" if the post has it
    as its first or its extra class.

    Raises `Problem` naming the records of the second table for a class that is not known.
    """
    posts, fine = raw[POSTS], raw[FINE]
    extra = fine["extra_implicit_class"]
    wrong = ~fine["implicit_class"].isin([*TASKS, *OTHERS]) | ~extra.isin([*TASKS, *OTHERS, ""])
    if wrong.any():
        raise Problem(
            f"a class is none of {', '.join([*TASKS, *OTHERS])}.",
            where=[examples(fine["source_row"][wrong], wrong.sum())],
            todo="The file is altered, or of another version.",
        )
    marks = {
        name: posts["post"].isin(fine["post"][(fine["implicit_class"] == name) | (extra == name)]) for name in TASKS
    }
    return posts.rename(columns={"post": "text"}).assign(**pd.DataFrame(marks).astype(int).astype(str))
