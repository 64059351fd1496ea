"""Validate a release and print what that costs, beside a plain check with pandas and the reading alone.

    uv run python benchmarks/validate_release.py RELEASE [--corpora DIR]

DIR is where the corpora of the release are declared, if not in the project: `benchmarks/full_size.py --keep OUT` leaves
OUT/release and OUT/corpora.
The floor reads every Parquet file and takes its sha256, nothing else, after a first reading that brings the files into
memory for all. The plain check is what a user would write with pandas alone: nulls, ids, label range, and texts that
are in two splits, word for word. Machines are noisy: compare ratios of one run, not seconds of two.
"""

import argparse
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.memory import cost
from builders.declaration import Corpus, Task, load_corpora
from builders.pipeline.lock import Lock, read_lock
from builders.pipeline.package import data_path
from builders.pipeline.split import SPLITS
from validation.validate import validate

WORKERS = 2


def floor(release: Path, lock: Lock) -> None:
    """Read every Parquet file of the release, and hash it."""
    for name in lock["files"]:
        if name.endswith(".parquet"):
            sha256((release / name).read_bytes()).hexdigest()
            pq.read_table(release / name)


def plain_check(release: Path, corpora: Mapping[str, Corpus], lock: Lock) -> dict[str, int]:
    """What pandas alone finds wrong, by kind: how many cells or rows."""
    found = {"null": 0, "repeated id": 0, "label out of range": 0, "text in two splits": 0}
    for name, entry in lock["corpora"].items():
        for task in corpora[name].tasks:
            if task.name in entry["tasks"]:
                parts = {split: pd.read_parquet(release / data_path(task, split)) for split in SPLITS}
                items = pd.concat([part.assign(split=split) for split, part in parts.items()], ignore_index=True)
                found["null"] += int(items.isna().sum().sum())
                found["repeated id"] += int(items["id"].duplicated().sum())
                found["label out of range"] += _out_of_range(task, items["label"])
                found["text in two splits"] += int(items.drop_duplicates(["text", "split"])["text"].duplicated().sum())
    return found


def _out_of_range(task: Task, labels: pd.Series) -> int:
    if task.format == "span":
        return 0
    low, high = (0, len(task.labels) - 1) if task.has_classes else task.scale
    return int((~labels.between(low, high)).sum())


def main(release: Path, folder: Path | None) -> None:
    lock, corpora = read_lock(release), load_corpora(folder)
    floor(release, lock)
    alone = cost(floor, (release, lock))
    validated = cost(partial(validate, release, corpora, workers=WORKERS))
    plain = cost(plain_check, (release, corpora, lock))
    items = sum(task["items"] for entry in lock["corpora"].values() for task in entry["tasks"].values())
    table = Table(title=f"{items:,} items, {WORKERS} workers")
    for heading in ("what", "seconds", "items per second", "peak memory, MiB"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for what, one in (("validation", validated), ("plain check with pandas", plain), ("floor: read and hash", alone)):
        table.add_row(what, f"{one.time.wall:.1f}", f"{items / one.time.wall:,.0f}", f"{one.peak / 2**20:,.0f}")
    Console(width=100).print(table)
    stages = sorted(validated.result.seconds.items(), key=lambda stage: -stage[1])
    print("seconds per measure, all workers: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages))
    print(f"findings: {len(validated.result.findings):,}, errors: {len(validated.result.errors):,}")
    print("the plain check finds: " + ", ".join(f"{what} {count:,}" for what, count in plain.result.items()))
    print(f"validation / floor: {validated.time.wall / alone.time.wall:.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("release", type=Path, metavar="RELEASE")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="where its corpora are declared")
    options = parser.parse_args()
    main(options.release, options.corpora)
