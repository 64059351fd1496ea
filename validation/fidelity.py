"""A release against the published one: how many items, which labels, and why they differ.

Without the published rows, totals are explained from the ledger: published = pool - repeats it removed, and
items = published - what our rules drop beyond that. With the rows, each of them is looked up.
"""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet as pq

from builders.declaration import Corpus, Task
from builders.pipeline.keys import UNIT_SEPARATOR, canonical_keys, item_ids
from builders.pipeline.lock import read_lock
from builders.pipeline.package import PAIR_JOINT, data_path
from builders.pipeline.release import LEDGER
from builders.pipeline.split import SPLITS
from validation.published import facts, rows

# Reasons for which only our release drops a row; any other it shares with the published one.
OURS = ("duplicate", "contradiction", "near_duplicate", "held_out_part", "no_preference", "identical_pair")


class Compared(NamedTuple):
    """One task against the published release."""

    task: str
    published: int
    pool: int
    """Raw rows after the drops that the published release made as well."""
    items: int
    drops: dict[str, int]
    """What only we drop, by reason, repeats that the published release removed too not counted."""
    unexplained: int
    """Published total minus what the pool and its rule for repeats give."""
    defects: dict[str, list[int]]
    """The published defects that explain what differs (total, splits, labels, names, text)."""
    missing: list[str]
    """Raw files that the corpus was built without."""
    labels: dict[str, int]
    source_rows: dict[str, list[str]]
    """The raw rows behind `drops`."""
    found: dict | None
    """With published rows: how many are same, relabelled, missing (by reason), unknown, and how many are new."""

    @property
    def accounted(self) -> bool:
        """Whether every difference has a reason."""
        if self.found and "unexplained" in self.found["relabelled"]:
            return False
        if self.missing:  # what lacks may lie in those files
            return True
        return not (self.found and self.found["unknown"]) and (not self.unexplained or "total" in self.defects)


def compare(release: Path, corpora: dict[str, Corpus], published: Path | None = None) -> list[Compared]:
    """Every task of a release against the published release, in the order of the lock.

    Raises `Problem` if `release` is not a release or its files are not there.
    """
    lock = read_lock(release)
    ledger = pq.read_table(release / LEDGER, columns=["task", "source_row", "id", "reason", "kept_id", "detail"])
    ledger = ledger.to_pandas()
    known, _ = facts()
    return [
        _compare(release, corpora[name], task, entry, ledger[ledger["task"] == task.name], published)
        for name, entry in lock["corpora"].items()
        for task in corpora[name].tasks
        if task.name in entry["tasks"] and task.name in known
    ]


def _compare(
    release: Path, corpus: Corpus, task: Task, entry: dict, ledger: pd.DataFrame, published: Path | None
) -> Compared:
    known = facts()[0][task.name]
    ours = ledger[ledger["reason"].isin(OURS)]
    pool = entry["rows"] - (len(ledger) - len(ours))
    if known.repeats == "removed":
        ours = ours[~ours["detail"].str.endswith("verbatim")]
    drops = {str(reason): int(count) for reason, count in ours["reason"].value_counts().sort_index().items()}
    items = entry["tasks"][task.name]["items"]
    labels = Counter()
    for split in SPLITS:
        labels.update(entry["tasks"][task.name]["splits"][split].get("labels", {}))
    return Compared(
        task.name,
        known.total,
        pool,
        items,
        drops,
        known.total - items - len(ours),
        _defects(task),
        entry["missing"],
        dict(labels),
        {str(reason): rows["source_row"].tolist() for reason, rows in ours.groupby("reason")},
        _look_up(release, corpus, task, ledger, published) if published else None,
    )


def _defects(task: Task) -> dict[str, list[int]]:
    known, defects = facts()
    concerned: dict[str, list[int]] = {}
    for number in known[task.name].defects:
        for what in defects[number]["concerns"]:
            concerned.setdefault(what, []).append(number)
    return dict(sorted(concerned.items()))


def _look_up(release: Path, corpus: Corpus, task: Task, ledger: pd.DataFrame, published: Path) -> dict | None:
    """What became of every published row."""
    theirs = rows(published, task)
    if theirs.empty:
        return None
    labels = _our_labels(release, task)
    theirs["id"], swapped = _ids(corpus, task, theirs["text"], labels)
    reason = ledger.drop_duplicates("id").set_index("id")["reason"].to_dict()
    merged = set(ledger["kept_id"][ledger["reason"] == "contradiction"].dropna())
    found = {"rows": len(theirs), "same": 0, "relabelled": {}, "missing": {}, "unknown": 0}
    examples: dict[str, list[str]] = {}
    corrected = [number for number in facts()[0][task.name].defects if "labels" in facts()[1][number]["concerns"]]
    for split, row, key, label, swap in zip(
        theirs["split"], theirs["row"], theirs["id"], theirs["label"], swapped, strict=True
    ):
        if key in labels:
            if _equal(task, 1 - label if swap else label, labels[key]):
                found["same"] += 1
                continue
            why = "contradiction" if key in merged else f"defect {corrected[0]}" if corrected else "unexplained"
            found["relabelled"][why] = found["relabelled"].get(why, 0) + 1
            kind = f"relabelled, {why}"
        elif key in reason:
            found["missing"][reason[key]] = found["missing"].get(reason[key], 0) + 1
            kind = f"missing, {reason[key]}"
        else:
            found["unknown"] += 1
            kind = "unknown"
        examples.setdefault(kind, []).append(f"{split}:{row}")
    found["new"] = len(labels.keys() - set(theirs["id"]))
    return found | {"where": examples}


def _our_labels(release: Path, task: Task) -> dict[str, object]:
    labels = {}
    for split in SPLITS:
        table = pq.read_table(release / data_path(task, split), columns=["id", "label"])
        labels |= zip(table["id"].to_pylist(), table["label"].to_pylist(), strict=True)
    return labels


def _ids(corpus: Corpus, task: Task, texts: pd.Series, labels: dict) -> tuple[list[str], list[bool]]:
    """The id of every published text, and whether the pair is an item of ours the other way round."""
    if task.format != "pair":
        return item_ids(corpus.name, canonical_keys(texts)), [False] * len(texts)
    pairs = texts.str.split(PAIR_JOINT.strip(), n=1, expand=True, regex=False).reindex(columns=[0, 1]).fillna("")
    a, b = (canonical_keys(pairs[side].astype("str")) for side in (0, 1))
    there = item_ids(corpus.name, a + UNIT_SEPARATOR + b)
    back = item_ids(corpus.name, b + UNIT_SEPARATOR + a)
    swapped = [one not in labels and other in labels for one, other in zip(there, back, strict=True)]
    symmetric = [swap and len(task.labels) == 2 and task.preferred_first for swap in swapped]
    return [o if swap else t for t, o, swap in zip(there, back, swapped, strict=True)], symmetric


def _equal(task: Task, theirs: object, ours: object) -> bool:
    if task.format == "span":
        surfaces = [surface for found in ours.values() for surface in found]
        return Counter(theirs) == Counter(surfaces)
    return abs(theirs - ours) < 1e-9 if task.format == "regression" else theirs == ours


def as_json(compared: list[Compared]) -> str:
    """The comparison for machines, the raw rows behind every difference included."""
    return json.dumps([one._asdict() for one in compared], indent=1, ensure_ascii=False) + "\n"
