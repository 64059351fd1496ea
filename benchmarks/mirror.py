"""Make a mirror of invented raw files, each in its corpus's own layout, as large as the published release.

    uv run python benchmarks/mirror.py OUT [CORPUS...] [--scale 1/8]

The rows are those of `benchmarks.synthetic`. Here is, for every corpus, the way back: from the rows that its build.py
returns to the files that its corpus.yaml declares, with the columns of its sample. A column that nothing depends on
repeats the values of the sample.

Leaves OUT/mirror, laid out as `<corpus>/<file>`, and OUT/corpora, the project's declarations with the sums of these
files instead of the authors' (a build refuses other bytes than declared) and each build.py as it is.
"""

import argparse
import bz2
import csv
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from benchmarks.synthetic import raw_rows
from builders.commands import select
from builders.declaration import Corpus, RawFile, load_corpora, read_yaml
from builders.pipeline.read import LINE_ENDS, read_files
from builders.problems import WrongUsage

Tables = dict[str, pd.DataFrame]
Layout = Callable[[pd.DataFrame], Tables]
"""From the raw rows of a corpus to a table per declared raw file, with the columns that depend on the rows."""


# From rows to tables -------------------------------------------------------------------------------------


def dealt(rows: pd.DataFrame, files: Mapping[str, int]) -> Tables:
    """The rows one after the other in files with these shares."""
    ends = np.cumsum(list(files.values())) * len(rows) // sum(files.values())
    return {name: rows.iloc[start:end] for name, start, end in zip(files, [0, *ends[:-1]], ends, strict=True)}


def numbered(prefix: str) -> Callable[[pd.DataFrame], pd.Series]:
    """A column that gives every row a name of its own."""
    return lambda rows: prefix + (rows["number"] + 10_000_000).astype(str)


def flat(files: Mapping[str, int], columns: Mapping[str, str | Callable[[pd.DataFrame], object]]) -> Layout:
    """A record per row, dealt over files of one layout; `columns` says where those come from that the rows call
    otherwise or do not have."""
    return lambda rows: dealt(
        rows.assign(**{name: rows[of] if isinstance(of, str) else of(rows) for name, of in columns.items()}), files
    )


THREE = {"train": 8, "dev": 1, "test": 1}


def tweet_eval(rows: pd.DataFrame) -> Tables:
    """Three files of texts, and of labels beside them."""
    return dealt(rows, {"train_text.txt": 8, "val_text.txt": 1, "test_text.txt": 1})


def tagged_cause(rows: pd.DataFrame) -> list[str]:
    """The sentence with its first span marked up; its first character where it has none."""
    spans = ((list(spans) or [(0, 1)])[0] for spans in rows["cause"])
    return [
        rf"<happy>{text[:start]}<cause>{text[start:end]}<\cause>{text[end:]}<\happy>"
        for text, (start, end) in zip(rows["text"], spans, strict=True)
    ]


def marked_offsets(rows: pd.DataFrame) -> list[str]:
    """The offset of every character in a span, as a list."""
    return [
        json.dumps(sorted({offset for start, end in spans for offset in range(start, end)})) for spans in rows["toxic"]
    ]


def classes_of_abuse(rows: pd.DataFrame) -> pd.Series:
    """All classes of an entry in one cell."""
    tasks = ["IdentityDirectedAbuse", "PersonDirectedAbuse"]
    return pd.Series(
        [",".join(task for task, has in zip(tasks, marks, strict=True) if has == "1") or "Neutral"
         for marks in zip(*(rows[task] for task in tasks), strict=True)],
        index=rows.index,
    )  # fmt: skip


def dailydialog(rows: pd.DataFrame) -> Tables:
    """A dialogue a line, and a code for each of its utterances."""
    dialogues = rows.assign(emotion=rows["emotion"].where(rows["emotion"] != "", "0")).groupby("dialogue", sort=False)
    utterances, emotions = dialogues["text"].agg(" __eou__ ".join), dialogues["emotion"].agg(" ".join)
    lines = pd.DataFrame({"utterances": utterances + " __eou__", "emotion": emotions + " "})
    shares = {"train": 17, "validation": 2, "test": 2}
    return dealt(lines, {f"{split}/dialogues_{split}.txt": share for split, share in shares.items()})


def humor_pairs(rows: pd.DataFrame) -> Tables:
    """Every three edits are of the same headline, in which another word is marked."""
    headlines = [headline.split(" ") for headline in rows["text_b"].iloc[rows["number"] - rows["number"] % 3]]
    edits = [text.split(" ") for text in rows["text_a"]]
    places = [number % len(words) for number, words in zip(rows["number"], headlines, strict=True)]
    original = [
        " ".join([*words[:place], f"<{words[place]}/>", *words[place + 1 :]])
        for words, place in zip(headlines, places, strict=True)
    ]
    edit = [words[(place + 1) % len(words)] for words, place in zip(edits, places, strict=True)]
    rows = rows.assign(id=numbered("")(rows), original=original, edit=edit)
    return dealt(rows, {f"task-1/{name}.csv": share for name, share in THREE.items()})


def implicit_hate(rows: pd.DataFrame) -> Tables:
    """All posts with their main class, and those of implicit hate with one or two fine ones."""
    tasks = ["incitement", "inferiority", "stereotypical", "threatening", "white_grievance"]
    implicit = rows[rows["class"] == "implicit_hate"]
    marks = zip(*(implicit[task] for task in tasks), strict=True)
    fine = [[task for task, has in zip(tasks, row, strict=True) if has == "1"] or ["other"] for row in marks]
    return {
        "implicit_hate_v1_stg1_posts.tsv": rows.rename(columns={"text": "post"}),
        "implicit_hate_v1_stg2_posts.tsv": pd.DataFrame(
            {
                "post": implicit["text"],
                "implicit_class": [classes[0] for classes in fine],
                "extra_implicit_class": [classes[1] if classes[1:] else "" for classes in fine],
            }
        ),
    }


def jigsaw(rows: pd.DataFrame) -> Tables:
    """Half of the comments are for the test, and seven of twelve of those were not used for scoring."""
    tasks = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
    rows = rows.assign(id=numbered("0000")(rows), comment_text=rows["text"].str.replace(". ", ".\n", regex=False))
    rows[tasks] = rows[tasks].replace("", "0")
    parts = dealt(rows, {"train.csv": 51, "test.csv": 49})
    labels = parts["test.csv"].copy()
    labels.loc[labels["number"] % 12 < 7, tasks] = "-1"
    return parts | {"test_labels.csv": labels[::-1]}


def neutralizing_bias_pairs(rows: pd.DataFrame) -> Tables:
    """Every sentence comes as it is and as tokens, the first with a tag per token besides."""
    tokens, target = rows["text_a"].str.lower(), rows["text_b"].str.lower()
    edits = rows.rename(columns={"text_a": "source_raw", "text_b": "target_raw"}).assign(
        source_tokens=tokens,
        target_tokens=target,
        source_pos=tokens.str.replace("[^ ]+", "NOUN", regex=True),
        source_dependencies=tokens.str.replace("[^ ]+", "dep", regex=True),
    )
    return {"biased.full": edits}


def propaganda_span(rows: pd.DataFrame) -> Tables:
    """A file per article, its lines as long as a sentence; a line break takes the place of a blank, so spans stand."""
    rows = rows.assign(article=numbered("9")(rows))
    spans = rows[["article", "propaganda"]].explode("propaganda").dropna()
    texts = rows["text"].str.replace(". ", ".\n", regex=False)
    return {
        "train-articles/*.txt": pd.DataFrame(
            {"name": "train-articles/article" + rows["article"] + ".txt", "text": texts}
        ),
        "train-task1-SI.labels": spans.assign(
            start=spans["propaganda"].str[0].astype(str), end=spans["propaganda"].str[1].astype(str)
        ),
    }


def rumor(rows: pd.DataFrame) -> Tables:
    """The texts of Twitter15 come twice in a row."""
    rows = rows.assign(tweet_id=numbered("6")(rows))
    parts = dealt(rows, {"16": 9, "15": 16})
    return {
        "twitter16/source_tweets.txt": parts["16"],
        "original/dataset/twitter15/source_tweets.txt": pd.concat([parts["15"], parts["15"]]),
    } | {
        file: parts[part]
        for part in parts
        for file in (f"twitter{part}/label.txt", f"resource/Twitter{part}_label_All.txt")
    }


def sarc(rows: pd.DataFrame) -> Tables:
    """Two responses to every parent, one of them sarcastic; and for each of them a comment that no thread names."""
    rows = rows.assign(key=numbered("c")(rows), parent="p" + rows["parent"])
    threads = rows.groupby("parent", sort=False)
    labels = threads["label"].first().where(lambda label: label != "", "0")
    lines = pd.DataFrame(
        {
            "ancestors": threads["parent"].first(),
            "responses": threads["key"].agg(" ".join),
            "labels": labels + np.where(threads.size() > 1, " " + labels.map({"0": "1", "1": "0"}), ""),
        }
    )
    others = rows.assign(key="d" + rows["key"], text=rows["text"].iloc[::-1].to_list())
    parents = pd.DataFrame({"key": lines["ancestors"], "text": threads["text"].first()})
    comments = pd.concat([parents, others, rows])[["key", "text"]].assign(
        author="writer_1", score=1, ups=1, downs=0, date="2016-01", created_utc=1451606401, subreddit="everyday"
    )
    return dealt(lines, {"train-balanced.csv.bz2": 4, "test-balanced.csv.bz2": 1}) | {"comments.json.bz2": comments}


def sbic(rows: pd.DataFrame) -> Tables:
    """Two to four records per post, one per annotator; the first says something else than the others."""
    count = 2 + rows["number"] % 3
    records = rows.loc[rows.index.repeat(count)]
    first = (~records.index.duplicated()).astype(float)

    def votes(column: str, unsure: float) -> np.ndarray:
        score = pd.to_numeric(records[column])
        vote = np.where(score >= 0.5, 1 - first * unsure, first * unsure)
        return np.where(score.isna(), "", np.array(["0.0", "0.33", "0.67", "1.0"])[(vote * 3).round().astype(int)])

    records = records.assign(
        post=records["text"],
        intentYN=votes("intentYN", 1 / 3),
        sexYN=votes("sexYN", 0),
        offensiveYN=votes("offensiveYN", 1 / 3),
        targetStereotype=np.where(records["hasBiasedImplication"] == "1", "bakers are clumsy", ""),
    )
    return dealt(records, {"SBIC.v2.trn.csv": 6, "SBIC.v2.dev.csv": 1, "SBIC.v2.tst.csv": 1})


def sentitreebank(rows: pd.DataFrame) -> Tables:
    """Trees that branch to the right; the phrases lie in the dictionary, each once, in alphabetical order."""
    rows = rows.assign(label=rows["label"].where(rows["label"] != "", "2"))
    sentences = rows[rows["kind"] == "whole"]
    split = pd.cut(sentences["number"] % 10, [-1, 7, 8, 9], labels=["1", "2", "3"]).astype("str")
    trees = [_tree(text, label) for text, label in zip(sentences["text"], sentences["label"], strict=True)]
    lines = pd.DataFrame(
        {
            "tokens": sentences["text"].str.replace(" ", "|", regex=False),
            "sentence_index": (sentences["number"] + 1).astype(str),
            "splitset_label": split,
            "tree": trees,
        }
    )
    phrases = rows.drop_duplicates("text").sort_values("text")
    ids = numbered("")(phrases)
    scores = phrases["label"].map({"0": "0.1", "1": "0.3", "2": "0.5", "3": "0.7", "4": "0.9"})
    return {
        "trees/train.txt": lines[split == "1"],
        "trees/test.txt": lines[split == "2"],
        "trees/dev.txt": lines[split == "3"],
        "SOStr.txt": lines,
        "dictionary.txt": pd.DataFrame({"phrase": phrases["text"], "id": ids}),
        "sentiment_labels.txt": pd.DataFrame({"phrase ids": ids, "sentiment values": scores}),
    }


def _tree(text: str, label: str) -> str:
    *words, last = text.split(" ")
    if not words:
        return f"({label} {last})"
    return f"({label} " + " (2 ".join(f"(2 {word})" for word in words) + f" (2 {last})" + ")" * len(words)


def talkdown_pairs(rows: pd.DataFrame) -> Tables:
    """Two records quote the same post, each another part of it."""
    first = rows["number"] - rows["number"] % 2
    second = np.minimum(first + 1, len(rows) - 1)
    context, quote = rows["text_b"].to_numpy(), rows["text_a"].to_numpy()
    opening = context[first] + " " + quote[first] + " " + context[second] + " "
    places = [len(text) + 1 for text in context[first]], [len(text) for text in opening]
    offset = np.where(rows["number"] == first, *places)
    rows = rows.assign(
        post=opening + quote[second],
        quotedpost=rows["text_a"],
        start_offset=offset,
        label=rows["label"] == "true",
        reply="> " + rows["text_a"] + "\n\nFair point.",
    )
    return dealt(rows, {f"balanced_{name}.jsonl": share for name, share in THREE.items()})


def two_to_lie(rows: pd.DataFrame) -> Tables:
    """A dialog a record: its messages, and lists as long with all that is said about them."""
    spoken = {"true": True, "false": False, "NOANNOTATION": "NOANNOTATION", "": ""}
    rows = rows.assign(
        messages=rows["text"],
        sender_labels=rows["sender_labels"].map(spoken),
        receiver_labels=rows["receiver_labels"].map(spoken),
        absolute_message_index=rows["number"],
        relative_message_index=rows["number"],
        **dict(
            speakers="italy", receivers="germany", seasons="Spring", years="1901", game_score="3", game_score_delta="0"
        ),
    )
    dialogs = rows.drop(columns=["text", "number"]).groupby("dialog", sort=False).agg(list)
    return {"train.jsonl": dialogs}


LAYOUTS: dict[str, Layout] = {
    "bragging": flat({"bragging_data.csv": 1}, {"id": numbered("11")}),
    "complaints": flat({"complaints-data.csv": 1}, {"tweet_id": numbered("12")}),
    "contextual-abuse": flat({"cad_v1_1_train.tsv": 1}, {
        "id": lambda rows: rows["submission"] + np.where(rows["number"] % 2, "-post", "-title"),
        "labels": classes_of_abuse,
    }),
    "crowdflower": flat({"text_emotion.csv": 1}, {"content": "text", "tweet_id": numbered("19")}),
    "dailydialog": dailydialog,
    "emobank": flat({"emobank.csv": 1}, {"id": numbered("GARDEN")}),
    "emotion-span": flat({"Emotion Cause.txt": 1}, {"line": tagged_cause}),
    "empathy": flat({"messages.csv": 1}, {"essay": "text", "message_id": numbered("R_")}),
    "hahackathon": flat({"train.csv": 8, "dev.csv": 1, "gold-test-27446.csv": 1}, {"id": numbered("")}),
    "hateoffensive": flat({"labeled_data.csv": 1}, {"tweet": "text", "": numbered("")}),
    "hayati_politeness": flat({"politeness.tsv": 1}, {
        "orig_text": "text", "processed_text": lambda rows: rows["text"].str.lower(),
    }),
    "humor-pairs": humor_pairs,
    "hypo-l": flat({"hypo-l.csv": 1}, {"Sentence": "text"}),
    "implicit-hate": implicit_hate,
    "jigsaw": jigsaw,
    "neutralizing-bias-pairs": neutralizing_bias_pairs,
    "propaganda-span": propaganda_span,
    "questionintimacy": flat({"final_train.txt": 8, "final_val.txt": 1, "final_test.txt": 1}, {}),
    "rumor": rumor,
    "same-side-pairs": flat({"artificial_evalset.tsv": 1}, {"argument1": "text_a", "argument2": "text_b"}),
    "sarc": sarc,
    "sbic": sbic,
    "sentitreebank": sentitreebank,
    "stanfordpoliteness": flat({"wikipedia.annotated.csv": 2, "stack-exchange.annotated.csv": 3}, {
        "Request": "text", "Id": numbered(""),
    }),
    "talkdown-pairs": talkdown_pairs,
    "toxic-span": flat({"tsd_train.csv": 8, "tsd_trial.csv": 1, "tsd_test.csv": 1}, {"spans": marked_offsets}),
    "tweet_emoji": tweet_eval,
    "tweet_emotion": tweet_eval,
    "tweet_irony": tweet_eval,
    "tweet_offensive": tweet_eval,
    "tweet_sentiment": tweet_eval,
    "two-to-lie": two_to_lie,
}  # fmt: skip


# From tables to files ------------------------------------------------------------------------------------


def completed(corpus: Corpus, file: RawFile, table: pd.DataFrame) -> pd.DataFrame:
    """The columns of the file in its order: those of `table`, and the sample's own values over and over where it has
    none."""
    if file.format in ("documents", "json_object"):
        return table
    # Whatever the file holds, read by itself: of JSON also the keys that nobody takes.
    columns = None if file.format == "json_lines" else file.columns
    alone = file.model_copy(update={"beside": None, "columns": columns})
    path = corpus.folder / "sample" / file.name
    sample = read_files(corpus.model_copy(update={"files": (alone,)}), {file.name: [(file.name, path)]})[file.name]
    turns = np.arange(len(table)) % len(sample)
    return pd.DataFrame(
        {
            name: (table[name] if name in table else sample[name].iloc[turns]).to_numpy(dtype=object)
            for name in sample.columns.drop("source_row")
        }
    )


def written(file: RawFile, table: pd.DataFrame, quoted: bool) -> str:
    """A table as the text of a raw file, the other way round than `builders.pipeline.read` reads it."""
    end = LINE_ENDS[file.line_end]
    header = [] if file.columns else [list(table.columns)]
    records = zip(*(table[name] for name in table.columns), strict=True)
    if file.format == "csv":
        text = io.StringIO(newline="")
        quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
        csv.writer(text, delimiter=file.separator, quoting=quoting, lineterminator=end).writerows([*header, *records])
        return text.getvalue()
    if file.format == "json_object":
        named = zip(table["key"], table.drop(columns="key").to_dict("records"), strict=True)
        return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(record)}" for key, record in named) + "}"
    if file.format == "json_lines":
        lines = (json.dumps(dict(zip(table.columns, record, strict=True))) for record in records)
    elif file.format == "lines":
        lines = (line for (line,) in records)
    else:
        lines = map(file.separator.join, [*header, *records])
    return "".join(line + end for line in lines)


def raw_files(corpus: Corpus, tables: Tables) -> dict[str, bytes]:
    """Every raw file of a corpus by name, archives packed; none that only stands in for others."""
    files, members = {}, {}
    for file in corpus.files:
        if file.instead_of or file.format == "archive":
            continue
        table = tables[file.beside or file.name]
        if file.format == "documents":
            files |= {name: text.encode() for name, text in zip(table["name"], table["text"], strict=True)}
            continue
        quoted = (corpus.folder / "sample" / file.name).read_bytes()[:1] == b'"'
        content = written(file, completed(corpus, file, table), quoted).encode(file.encoding)
        if file.name.endswith(".bz2"):
            content = bz2.compress(content)
        if file.inside:
            members.setdefault(file.inside, {})[file.name] = content
        else:
            files[file.name] = content
    return files | {archive: packed(archive, inside) for archive, inside in members.items()}


def packed(archive: str, members: Mapping[str, bytes]) -> bytes:
    """A .zip or .tgz archive, of the same bytes at any time."""
    stream = io.BytesIO()
    if archive.endswith(".zip"):
        with zipfile.ZipFile(stream, "w") as out:
            for name, content in members.items():
                out.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return stream.getvalue()
    with tarfile.open(fileobj=stream, mode="w") as out:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    return gzip.compress(stream.getvalue(), mtime=0)


# A mirror ------------------------------------------------------------------------------------------------


def make_corpus(corpus: Corpus, scale: Fraction, out: Path) -> None:
    """Write the raw files of a corpus below `out`/mirror, and its folder with their sums below `out`/corpora."""
    sums = {}
    for name, content in raw_files(corpus, LAYOUTS[corpus.name](raw_rows(corpus, scale))).items():
        path = out / "mirror" / corpus.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        sums[name] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    declaration = read_yaml(corpus.folder / "corpus.yaml")
    declaration["title"] += " (invented rows)"
    folder = out / "corpora" / corpus.name
    folder.mkdir(parents=True)
    for file, declared in zip(corpus.files, declaration["files"], strict=True):
        declared.pop("git_blob", None)
        declared |= sums.get(file.name, {})
        if file.manifest:
            listed = [(name, sums[name]) for name in sums if fnmatchcase(name, file.name)]
            lines = "".join(f"{of['sha256']} {of['bytes']} {name}\n" for name, of in listed)
            (folder / file.manifest).write_text(lines, encoding="utf-8")
    text = yaml.safe_dump(declaration, allow_unicode=True, sort_keys=False)
    (folder / "corpus.yaml").write_text(text, encoding="utf-8")
    (folder / "build.py").write_bytes((corpus.folder / "build.py").read_bytes())


def make_mirror(out: Path, scale: Fraction, names: Sequence[str] = ()) -> None:
    """Make the mirror and the declarations of the corpora of these names (all by default) below `out`.

    Raises `WrongUsage` for a name that is none.
    """
    corpora = load_corpora()
    for name in select(corpora, names):
        make_corpus(corpora[name], scale, out)


def scale_of(text: str) -> Fraction:
    """A part of the published size as a command says it, for argparse."""
    with suppress(ValueError, ZeroDivisionError):
        if (scale := Fraction(text)) > 0:
            return scale
    raise argparse.ArgumentTypeError(f"{text} is no part of the published size, like 1/8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder that is not there yet")
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help="all by default")
    parser.add_argument("--scale", type=scale_of, default=Fraction(1), help="a part of the published size, like 1/8")
    options = parser.parse_args()
    if options.out.exists():
        parser.error(f"{options.out} is there already")
    try:
        make_mirror(options.out, options.scale, options.corpora)
    except WrongUsage as problem:
        parser.error(str(problem))
