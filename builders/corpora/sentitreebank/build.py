"""Stanford Sentiment Treebank: a parse tree a line, every node with a class, and the phrases it stands for.

Trees write brackets as -LRB- and -RRB-, so every token is taken from SOStr.txt instead, whose lines come in
another order than the trees: those of one split, in order, are the trees of that split. Tokens hold U+00A0 and
are set apart by the plain blank only.
"""

import pandas as pd

from builders.problems import Problem, examples

# The tree files and what datasetSplit.txt calls them.
SPLITS = {"trees/train.txt": "1", "trees/dev.txt": "3", "trees/test.txt": "2"}

# Scores from 0 to 1 to classes from 0 to 4; a score on a border belongs to the class below it.
BORDERS = (0, 0.2, 0.4, 0.6, 0.8, 1)
CLASSES = ("0", "1", "2", "3", "4")


def build(raw: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One raw row per sentence (`kind` is "whole") in the order of SOStr.txt, then one per phrase ("part").

    The phrases are those of the dictionary, or without dictionary and scores those of the trees, each once;
    a phrase that is a sentence comes as that sentence only. Raises `Problem` naming the record for a tree that
    is none, that has other tokens than its sentence, and for a phrase without a score.
    """
    sentences, phrases = _trees(raw)
    if "dictionary.txt" in raw and "sentiment_labels.txt" in raw:
        phrases = _dictionary(raw["dictionary.txt"], raw["sentiment_labels.txt"])
    phrases = phrases[~phrases["text"].isin(sentences["text"])]
    return pd.concat([sentences.assign(kind="whole"), phrases.assign(kind="part")], ignore_index=True)


def _trees(raw: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sentences and phrases with their classes, from the trees and the tokens of SOStr.txt."""
    lines = raw["SOStr.txt"]
    unknown = lines["source_row"][~lines["splitset_label"].isin(SPLITS.values())]
    if len(unknown):
        raise Problem("has no split in datasetSplit.txt.", where=[examples(unknown, len(unknown))])
    classes, found = {}, []
    for file, split in SPLITS.items():
        trees, own = raw[file], lines[lines["splitset_label"] == split]
        if len(trees) != len(own):
            raise Problem(
                f"{len(trees):,} trees, but {len(own):,} sentences of this split in datasetSplit.txt.",
                where=[file],
                todo="One of the two is cut or altered; get both again.",
            )
        for index, tokens, row, tree in zip(own.index, own["tokens"], trees["source_row"], trees["tree"], strict=True):
            tokens = tokens.split("|")
            nodes = _nodes(tree, tokens, row)
            classes[index] = nodes[0][0]
            found += [
                (f"{row}.{number}", " ".join(tokens[start:end]), label)
                for number, (label, start, end) in enumerate(nodes, 1)
            ]
    texts = lines["tokens"].str.replace("|", " ", regex=False)
    sentences = pd.DataFrame({"source_row": lines["source_row"], "text": texts, "label": pd.Series(classes)})
    phrases = pd.DataFrame(found, columns=["source_row", "text", "label"])
    return sentences, phrases.drop_duplicates(["text", "label"])


def _nodes(tree: str, tokens: list[str], row: str) -> list[list]:
    """Class, first token and end of every node of a tree, the root first and each before its children."""
    nodes, opened, leaves = [], [], []
    for piece in tree.replace(")", " ) ").split(" "):
        if piece == ")":
            if not opened:
                break
            opened.pop()[2] = len(leaves)
        elif piece[:1] == "(":
            nodes.append([piece[1:], len(leaves), None])
            opened.append(nodes[-1])
        elif piece:
            leaves.append(piece.replace("-LRB-", "(").replace("-RRB-", ")"))
    if not nodes or nodes[0][2] != len(leaves) or tree.count("(") != tree.count(")"):
        raise Problem("the brackets do not make one tree.", where=[row], todo="The file is cut or altered.")
    if leaves != tokens:
        raise Problem(
            f"the tokens are not those of its sentence: {' '.join(leaves)!r}, {' '.join(tokens)!r} in SOStr.txt.",
            where=[row],
            todo="Trees, SOStr.txt and datasetSplit.txt are not of one release, or one of them is altered.",
        )
    return nodes


def _dictionary(dictionary: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The phrases of the dictionary with the classes of their scores."""
    twice = scores["source_row"][scores["phrase ids"].duplicated()]
    if len(twice):
        raise Problem(
            "the phrase has a score already.", where=[examples(twice, len(twice))], todo="The file is altered."
        )
    values = pd.to_numeric(scores.set_index("phrase ids")["sentiment values"], errors="coerce")
    classes = pd.cut(dictionary["id"].map(values), BORDERS, labels=CLASSES, include_lowest=True)
    without = dictionary["source_row"][classes.isna()]
    if len(without):
        raise Problem(
            "the phrase has no score from 0 to 1 in sentiment_labels.txt.",
            where=[examples(without, len(without))],
            todo="dictionary.txt and sentiment_labels.txt are not of one release, or one of them is cut.",
        )
    rows = dictionary[["source_row", "phrase"]].rename(columns={"phrase": "text"})
    return rows.assign(label=classes.astype("object"))
