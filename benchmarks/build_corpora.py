"""Build corpora from a mirror and print what each stage costs, beside reading the same raw bytes alone.

    uv run python benchmarks/build_corpora.py MIRROR [CORPUS...]

Prints rows per second per stage (summed over corpora and workers), the wall time of the whole command and the
peak memory of it and its workers; and, from the same run, the floor: raw bytes read and hashed, release bytes
written, nothing else. Machines are noisy: compare ratios of one run, not seconds of two.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.memory import Peak
from builders.commands import select
from builders.declaration import load_corpora
from builders.pipeline.fetch import Mirror
from builders.pipeline.lock import LOCK
from builders.pipeline.release import build_release


def floor(mirror: Path, out: Path, scratch: Path) -> float:
    """Seconds to read and hash the raw files of a release and to write its bytes again."""
    lock = json.loads((out / LOCK).read_text(encoding="utf-8"))
    start = time.perf_counter()
    for corpus, entry in lock["corpora"].items():
        for name in entry["raw"]:
            sha256((mirror / corpus / name).read_bytes()).hexdigest()
    shutil.copytree(out, scratch)
    return time.perf_counter() - start


def main(mirror: Path, names: list[str]) -> None:
    corpora = load_corpora()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        with Peak() as peak:
            start = time.perf_counter()
            outcomes = build_release(select(corpora, names), corpora, Mirror(mirror), out, workers=os.cpu_count() or 1)
            wall = time.perf_counter() - start
        start = time.perf_counter()
        build_release(select(corpora, names), corpora, Mirror(mirror), out, workers=os.cpu_count() or 1)
        again = time.perf_counter() - start
        lock = json.loads((out / LOCK).read_text(encoding="utf-8"))
        alone = floor(mirror, out, Path(folder) / "copy")
    rows = sum(entry["rows"] for entry in lock["corpora"].values())
    stages: Counter = Counter()
    for outcome in outcomes.values():
        stages.update(outcome.seconds or {})
    table = Table(title=f"{len(lock['corpora'])} corpora, {rows:,} raw rows, {os.cpu_count()} CPUs")
    for heading in ("stage", "CPU seconds", "rows per second"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for stage, seconds in stages.items():
        table.add_row(stage, f"{seconds:.2f}", f"{rows / seconds:,.0f}")
    table.add_row("whole build (wall)", f"{wall:.2f}", f"{rows / wall:,.0f}")
    table.add_row("build again, nothing changed", f"{again:.2f}", "")
    table.add_row("floor: read, hash, write bytes", f"{alone:.2f}", f"{rows / alone:,.0f}")
    Console(width=100).print(table)
    print(f"peak memory with workers: {peak.most / 2**20:,.0f} MiB; whole build / floor: {wall / alone:.0f}")
    failed = [name for name, outcome in outcomes.items() if outcome.status == "failed"]
    print(f"not built: {', '.join(failed) or 'none'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
