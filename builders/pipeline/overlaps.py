"""Texts that occur in several corpora.

They never change a corpus's split (each corpus can be built alone, with the same bytes); they are found when a
release is put together and listed, so that multi-task training can leave out what another task tests on.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from builders.declaration import Corpus
from builders.pipeline.keys import UNIT_SEPARATOR, canonical_keys, item_ids
from builders.pipeline.package import OVERLAPS_SCHEMA, data_path
from builders.pipeline.split import SPLITS


def keyed_items(corpus: Corpus, tasks: Sequence[str], folder: Path) -> pd.DataFrame:
    """The items of a built corpus: `task`, `id`, `split`, and `key`, a hash that texts share across corpora."""
    parts = []
    for task in corpus.tasks:
        for split in SPLITS if task.name in tasks else ():
            table = pq.read_table(folder / data_path(task, split), columns=["id", *corpus.text_columns])
            parts.append(table.to_pandas().assign(task=task.name, split=split))
    items = pd.concat(parts, ignore_index=True)
    units = items.drop_duplicates("id")
    keys = [canonical_keys(units[column]) for column in corpus.text_columns]
    joined = keys[0] if len(keys) == 1 else keys[0] + UNIT_SEPARATOR + keys[1]
    key = pd.Series(item_ids("", joined), index=units["id"].to_numpy(), dtype="str")
    return items[["task", "id", "split"]].assign(key=key.reindex(items["id"]).to_numpy())


def overlaps(keyed: Iterable[pd.DataFrame]) -> pa.Table:
    """Every pair of items of two corpora that have the same canonical key, seen from both sides.

    Multi-task training leaves out the items with `split` "train" and `other_split` "validation" or "test".
    """
    items = pd.concat([part.assign(corpus=number) for number, part in enumerate(keyed)], ignore_index=True)
    places = items[["corpus", "key"]].drop_duplicates()
    shared = places["key"][places["key"].duplicated()]
    items = items[items["key"].isin(shared)]
    pairs = items.merge(items, on="key", suffixes=("", "_other"))
    pairs = pairs[pairs["corpus"] != pairs["corpus_other"]].rename(
        columns={"task_other": "other_task", "id_other": "other_id", "split_other": "other_split"}
    )
    pairs = pairs[OVERLAPS_SCHEMA.names].sort_values(OVERLAPS_SCHEMA.names, ignore_index=True)
    return pa.Table.from_pandas(pairs, schema=OVERLAPS_SCHEMA, preserve_index=False)


def matrix(table: pa.Table) -> dict[str, dict[str, dict[str, int]]]:
    """How many items of one task's split are also items of another task's split: task, other task, "a > b"."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    columns = (table[name].to_pylist() for name in ("task", "other_task", "split", "other_split"))
    for task, other, split, other_split in zip(*columns, strict=True):
        cell = counts.setdefault(task, {}).setdefault(other, {})
        cell[f"{split} > {other_split}"] = cell.get(f"{split} > {other_split}", 0) + 1
    return {task: {other: dict(sorted(cell.items())) for other, cell in row.items()} for task, row in counts.items()}
