"""Changing a release on purpose: rows are planted, and the release is sealed again, so that only the planted fault is
there to be found (its files, lock and card agree)."""

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from builders.declaration import Corpus, Task
from builders.pipeline.keys import UNIT_SEPARATOR, canonical_key, item_ids
from builders.pipeline.lock import LOCK
from builders.pipeline.package import (
    LEDGER_SCHEMA,
    PAIR_JOINT,
    SPLIT_FILES,
    content_digest,
    data_path,
    schema,
    write_parquet,
)
from builders.pipeline.release import LEDGER
from cards.card import documents


class Planted:
    """A copy of a release that may be changed."""

    def __init__(self, release: Path, folder: Path, corpora: Mapping[str, Corpus]):
        self.folder = Path(shutil.copytree(release, folder))
        self.corpora = corpora
        self.owner = {task.name: (corpus, task) for corpus in corpora.values() for task in corpus.tasks}

    def task(self, name: str) -> Task:
        return self.owner[name][1]

    def path(self, name: str, split: str) -> Path:
        return self.folder / data_path(self.task(name), split)

    def rows(self, name: str, split: str) -> pd.DataFrame:
        return pq.read_table(self.path(name, split)).to_pandas()

    def put(self, name: str, split: str, rows: pd.DataFrame) -> None:
        """Write the rows of a split; those without an id get that of their text, and rows are sorted by id."""
        corpus, task = self.owner[name]
        rows = rows.copy()
        if task.format == "pair":
            rows["text"] = rows["text_a"] + PAIR_JOINT + rows["text_b"]
            keys = rows["text_a"].map(canonical_key) + UNIT_SEPARATOR + rows["text_b"].map(canonical_key)
        else:
            keys = rows["text"].map(canonical_key)
        own = pd.Series(item_ids(corpus.name, keys), index=rows.index)
        rows["id"] = rows["id"].where(rows["id"].notna(), own) if "id" in rows else own
        rows = rows.sort_values("id", kind="stable")
        fields = schema(task)
        table = pa.table([pa.array(list(rows[f.name]), type=f.type) for f in fields], schema=fields)
        write_parquet(table, self.path(name, split))

    def ledger(self) -> pd.DataFrame:
        return pq.read_table(self.folder / LEDGER).to_pandas()

    def put_ledger(self, rows: pd.DataFrame) -> None:
        write_parquet(pa.Table.from_pandas(rows, schema=LEDGER_SCHEMA, preserve_index=False), self.folder / LEDGER)

    def lock(self) -> dict:
        return json.loads((self.folder / LOCK).read_text(encoding="utf-8"))

    def put_lock(self, lock: dict) -> None:
        (self.folder / LOCK).write_text(json.dumps(lock, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def seal(self) -> Path:
        """Bring lock and card up to date with the files; gives the folder."""
        lock, ledger = self.lock(), self.ledger()
        for entry in lock["corpora"].values():
            for task, facts in entry["tasks"].items():
                counts = ledger["reason"][ledger["task"] == task].value_counts().sort_index()
                facts["dropped"] = {str(reason): int(count) for reason, count in counts.items()}
                for split in SPLIT_FILES:
                    rows = self.rows(task, split)
                    facts["splits"][split] |= {"items": len(rows)}
                    if self.task(task).has_classes:
                        names = self.task(task).label_names
                        labels = {label: int((rows["label"] == code).sum()) for code, label in enumerate(names)}
                        facts["splits"][split]["labels"] = labels
                facts["items"] = sum(facts["splits"][split]["items"] for split in SPLIT_FILES[:3])
        data = [name for name in lock["files"] if name.endswith(".parquet")]
        self._facts(lock, data)
        for entry in lock["corpora"].values():
            for task, facts in entry["tasks"].items():
                for split in SPLIT_FILES:
                    facts["splits"][split]["content"] = lock["files"][data_path(self.task(task), split)]["content"]
        owners = [self.corpora[name] for name in lock["corpora"]]
        for name, text in documents(owners, lock, {name: lock["files"][name] for name in data}).items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self._facts(lock, [name for name in lock["files"] if name not in data])
        self.put_lock(lock)
        return self.folder

    def _facts(self, lock: dict, names: list[str]) -> None:
        for name in names:
            path = self.folder / name
            lock["files"][name] = {"sha256": sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
            if path.suffix == ".parquet":
                lock["files"][name]["content"] = content_digest(pq.read_table(path))
