"""What the pages of a report show besides facts and findings: items, lengths, ledger rows, shared texts.

Read from the tables of a release, a task at a time. A table that cannot be read counts as empty here; a finding tells
that it is broken.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from builders.declaration import Corpus, Task
from builders.pipeline.package import LEDGER_SCHEMA, SPLIT_FILES, data_path, schema
from builders.pipeline.release import LEDGER
from builders.pipeline.split import SPLITS
from validation.measure.corpus import LEDGER_EMPTY, read_table

# The first items by id are a fair sample, since an id is a hash.
SAMPLE_ITEMS = 40
LEDGER_ROWS = 5
CONTRADICTIONS = 20
CUT = 500

Pieces = list[tuple[str, bool]]
"""A text in pieces, each with whether it is marked."""


class Shown(NamedTuple):
    """A text as a page shows it: the whole of it, and its beginning if it is long."""

    pieces: Pieces
    beginning: Pieces | None
    length: int


class Item(NamedTuple):
    """An item of a sample; a pair has two texts."""

    split: str
    id: str
    label: str
    texts: list[Shown]
    in_sockette: bool


class TaskContent(NamedTuple):
    """What a task's page shows of its tables."""

    items: list[Item]
    lengths: dict[str, np.ndarray]
    """Per split the characters of every item."""
    values: dict[str, np.ndarray]
    """Per split the values of a regression, or how many spans every text has; nothing for classes."""
    dropped: dict[str, list[dict[str, str]]]
    """Per reason the first ledger rows."""
    contradictions: list[dict[str, str]]
    """The first texts of contradicting rows, and how each was settled."""


class CorpusContent(NamedTuple):
    """What the pages of a corpus's tasks show of its tables."""

    tasks: dict[str, TaskContent]
    texts: dict[str, dict]
    """The texts that were asked for, by id: `texts` (two of a pair), `split`, and `labels` by task."""
    shared: list[dict]
    """Every ordered pair of tasks that share texts: `task`, `other`, `shared`, and `test_in_train`."""


def corpus_content(release: Path, corpus: Corpus, tasks: Collection[str], wanted: Collection[str]) -> CorpusContent:
    """What the pages of `tasks` of a corpus show, and the texts whose ids are `wanted`."""
    ledger = read_table(release / LEDGER, LEDGER_SCHEMA, pc.field("corpus") == corpus.name, LEDGER_EMPTY)
    rows = (LEDGER_SCHEMA.empty_table() if isinstance(ledger, str) else ledger).to_pandas()
    contents, texts, ids = {}, {}, {}
    for task in corpus.tasks:
        if task.name not in tasks:
            continue
        tables = {split: _table(release, task, split) for split in SPLIT_FILES}
        of_task = rows[rows["task"] == task.name]
        contents[task.name] = TaskContent(
            _sample(corpus, task, tables),
            {split: pc.utf8_length(table["text"]).to_numpy() for split, table in tables.items()},
            {} if task.has_classes else {split: _values(task, table) for split, table in tables.items()},
            _dropped(of_task),
            _contradictions(task, of_task, tables),
        )
        _collect(texts, corpus, task, tables, wanted)
        ids[task.name] = {split: tables[split]["id"] for split in SPLITS}
    return CorpusContent(contents, texts, _shared(ids))


def _table(release: Path, task: Task, split: str) -> pa.Table:
    table = read_table(release / data_path(task, split), schema(task))
    return schema(task).empty_table() if isinstance(table, str) else table


# Items ---------------------------------------------------------------------------------------------------


def _sample(corpus: Corpus, task: Task, tables: Mapping[str, pa.Table]) -> list[Item]:
    sockette = set(tables["sockette"]["id"].to_pylist())
    return [
        Item(
            split,
            row["id"],
            label_text(task, row["label"]),
            [shown(_marked(row[column], row.get("spans", ()))) for column in corpus.text_columns],
            split == "test" and row["id"] in sockette,
        )
        for split in SPLITS
        for row in tables[split].slice(0, SAMPLE_ITEMS).to_pylist()
    ]


def label_text(task: Task, label: object) -> str:
    """A label in words: the name of the class, the value, or how many spans there are."""
    if task.format == "span":
        count = len(label[task.labels[0].name])
        return f"{count} {'span' if count == 1 else 'spans'}"
    if task.format == "regression":
        return f"{label:g}"
    return task.label_names[label] if 0 <= label < len(task.labels) else f"{label} (no such class)"


def _marked(text: str, spans: Iterable[Mapping[str, int]]) -> Pieces:
    """The text cut where spans begin and end; spans may overlap."""
    inside = np.zeros(len(text) + 1, dtype=bool)
    for span in spans:
        inside[max(span["start"], 0) : max(span["end"], 0)] = True
    inside[len(text)] = False
    cuts = [0, *np.flatnonzero(inside[1:] != inside[:-1]) + 1, len(text)]
    pieces = [(text[start:stop], bool(inside[start])) for start, stop in pairwise(cuts)]
    return [piece for piece in pieces if piece[0]]


def shown(pieces: Pieces) -> Shown:
    """A text of these pieces, with its first `CUT` characters if it has more."""
    length = sum(len(text) for text, _ in pieces)
    if length <= CUT:
        return Shown(pieces, None, length)
    beginning, room = [], CUT
    for text, mark in pieces:
        beginning.append((text[:room], mark))
        room -= len(text)
        if room <= 0:
            break
    return Shown(pieces, beginning, length)


def difference(one: str, other: str) -> tuple[Pieces, Pieces]:
    """Both texts with the words marked that stand in one of them only; of long texts the beginnings."""
    begun = [text[: 2 * CUT] + ("…" if len(text) > 2 * CUT else "") for text in (one, other)]
    words = [re.findall(r"\s+|\S+", text) for text in begun]
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    sides: tuple[Pieces, Pieces] = ([], [])
    for kind, a, b, c, d in matcher.get_opcodes():
        for side, start, stop, text in zip(sides, (a, c), (b, d), words, strict=True):
            if start < stop:
                side.append(("".join(text[start:stop]), kind != "equal"))
    return sides


def _values(task: Task, table: pa.Table) -> np.ndarray:
    if task.format == "regression":
        values = table["label"].to_numpy()
        return values[np.isfinite(values)]
    return pc.list_value_length(table["spans"]).to_numpy()


# Ledger --------------------------------------------------------------------------------------------------


def _dropped(rows: pd.DataFrame) -> dict[str, list[dict[str, str]]]:
    columns = ["source_row", "detail", "kept_id"]
    return {
        str(reason): group[columns].fillna("").head(LEDGER_ROWS).to_dict("records")
        for reason, group in rows.groupby("reason")
    }


def _contradictions(task: Task, rows: pd.DataFrame, tables: Mapping[str, pa.Table]) -> list[dict[str, str]]:
    """Rows of one text that contradict each other, a line for each text: where, which labels, what became of it."""
    rows = rows[rows["reason"] == "contradiction"]
    rows = rows[rows["id"].isin(rows["id"].drop_duplicates()[:CONTRADICTIONS])]
    kept = [str(one) for one in rows["kept_id"].dropna().unique()]
    labels = {}
    for split in SPLITS:
        found = tables[split].filter(pc.is_in(tables[split]["id"], pa.array(kept, pa.string())))
        labels |= {row["id"]: label_text(task, row["label"]) for row in found.select(["id", "label"]).to_pylist()}
    return [
        {
            "id": name,
            "source_rows": ", ".join(group["source_row"].head(3)) + (" …" if len(group) > 3 else ""),
            "labels": _seen_labels(task, str(group["detail"].iloc[0]).removesuffix(", verbatim")),
            "settled": f"kept as {labels.get(group['kept_id'].iloc[0], 'an item that is not there')}"
            if pd.notna(group["kept_id"].iloc[0])
            else "all dropped",
        }
        for name, group in rows.groupby("id", sort=False)
    ]


def _seen_labels(task: Task, detail: str) -> str:
    """The labels of a contradiction, `0 x 3, 1 x 2` in the ledger, with class names for ids."""

    def told(found: re.Match) -> str:
        return f"{label_text(task, int(found[1])) if task.has_classes else found[1]} × {found[2]}"

    return re.sub(r"([^ ,]+) x (\d+)", told, detail) if task.format != "span" else detail


# Texts of a corpus ---------------------------------------------------------------------------------------


def _collect(texts: dict[str, dict], corpus: Corpus, task: Task, tables: Mapping, wanted: Collection[str]) -> None:
    """Add the texts whose ids are wanted, with their label in this task."""
    asked = pa.array(sorted(wanted), pa.string())
    for split in SPLITS:
        for row in tables[split].filter(pc.is_in(tables[split]["id"], asked)).to_pylist():
            known = texts.setdefault(
                row["id"], {"texts": [row[column] for column in corpus.text_columns], "split": split, "labels": {}}
            )
            known["labels"][task.name] = label_text(task, row["label"])


def _shared(ids: Mapping[str, Mapping[str, pa.ChunkedArray]]) -> list[dict]:
    """How many items of a task are also items of another task of the corpus, and test items train items there."""
    pairs = []
    for task, other in permutations(ids, 2):
        every = pa.concat_arrays([chunk for split in SPLITS for chunk in ids[other][split].chunks])
        shared = sum(_among(ids[task][split], every) for split in SPLITS)
        if shared:
            train = _among(ids[task]["test"], ids[other]["train"].combine_chunks())
            pairs.append({"task": task, "other": other, "shared": shared, "test_in_train": train})
    return pairs


def _among(ids: pa.ChunkedArray, others: pa.Array) -> int:
    return pc.sum(pc.is_in(ids, others)).as_py() or 0


def overlap_pairs(overlaps: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[dict]:
    """The same for tasks of several corpora, from the matrix of a release."""
    return [
        {"task": task, "other": other, "shared": sum(cell.values()), "test_in_train": cell.get("test > train", 0)}
        for task, others in overlaps.items()
        for other, cell in others.items()
    ]


def matrix(tasks: Sequence[str], pairs: Iterable[Mapping]) -> np.ndarray:
    """Test items of a task (row) that are train items of another (column)."""
    place = {task: number for number, task in enumerate(tasks)}
    counts = np.zeros((len(tasks), len(tasks)), dtype=np.int64)
    for pair in pairs:
        counts[place[pair["task"]], place[pair["other"]]] = pair["test_in_train"]
    return counts
