"""Humicroedit: a headline with the word to replace marked as `<word/>`, and the word that replaces it.

Both headlines of a pair are made from that one record, as the published release made them.
"""

import pandas as pd

from builders.problems import Problem, examples

TAG = r"<[^<>]+/>"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per edit, in the order train, dev, test: the edited (funnier) headline first.

    `headline` is the original with its white space normalised, the same for every edit of it. Raises
    `Problem` for a record whose original does not hold exactly one tag.
    """
    rows = pd.concat([raw["task-1/train.csv"], raw["task-1/dev.csv"], raw["task-1/test.csv"]], ignore_index=True)
    wrong = rows["source_row"][rows["original"].str.count(TAG) != 1]
    if len(wrong):
        raise Problem(
            "original does not hold exactly one <word/> tag.",
            where=[examples(wrong, len(wrong))],
            todo="The file is altered; get it again.",
        )
    parts = rows["original"].str.extract(r"(?s)^(?P<pre>.*)<(?P<word>[^<>]+)/>(?P<post>.*)$")
    pre, word, post = (parts[name].str.replace("/", "", regex=False) for name in ("pre", "word", "post"))
    plain = pre + word + post
    return rows.assign(
        text_a=pre.str.strip() + " " + rows["edit"] + " " + post.str.strip(),
        text_b=plain,
        funnier="first",
        headline=plain.str.split().str.join(" "),
    )
