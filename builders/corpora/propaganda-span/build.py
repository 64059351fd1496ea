"""PTC: a folder of articles, and one table of all spans that names article, start and end.

Two articles begin with a byte order mark and their offsets count it, so it stays in the text here.
"""

import pandas as pd

from builders.problems import Problem, examples, raise_all

ARTICLES, LABELS = "train-articles/*.txt", "train-task1-SI.labels"


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per article, with the offsets of its spans in `propaganda` (none: an empty list).

    Raises `Problem` naming the articles or label records for an article without an id in its name, and for
    a label without article, with offsets that are no numbers, or with offsets outside its article.
    """
    articles, labels = raw[ARTICLES], raw[LABELS]
    ids = articles["name"].str.extract(r"^train-articles/article([0-9]+)\.txt$", expand=False)
    length = labels["article"].map(dict(zip(ids, articles["text"].str.len(), strict=True)))
    offsets = labels[["start", "end"]]
    numbers = offsets.where(offsets.apply(lambda cells: cells.str.fullmatch("[0-9]{1,9}"))).astype("Int64")
    no_number = numbers.isna().any(axis=1)
    outside = (numbers["start"] >= numbers["end"]) | (numbers["end"] > length)
    raise_all(
        [
            *_found(articles, ids.isna(), "the name is not article<id>.txt."),
            *_found(labels, length.isna(), "there is no article of this id."),
            *_found(labels, no_number, "start or end is not a number of characters."),
            *_found(labels, outside.fillna(False), "the span is empty or reaches beyond its article."),
        ]
    )
    pairs = pd.Series(list(zip(numbers["start"].tolist(), numbers["end"].tolist(), strict=True)), dtype="object")
    spans = pairs.groupby(labels["article"]).agg(list).to_dict()
    return articles.assign(propaganda=[spans.get(article, []) for article in ids])


def _found(table: pd.DataFrame, wrong: pd.Series, what: str) -> list[Problem]:
    rows = table["source_row"][wrong.astype(bool)]
    todo = "Articles and labels are of different versions, or a file is altered."
    return [Problem(what, where=[examples(rows, len(rows))], todo=todo)] if len(rows) else []
