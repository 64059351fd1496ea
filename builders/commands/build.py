"""`socket-data build`: raw files to a release folder."""

import os
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from builders.commands import mirror_or_cache, select
from builders.declaration import load_corpora
from builders.pipeline.fetch import Samples
from builders.pipeline.lock import read_lock
from builders.pipeline.release import Outcome, build_release
from builders.problems import WrongUsage

WARNINGS = 5


def run(names: list[str], raw: Path | None, sample: bool, out: Path, workers: int, ray: str | None = None) -> int:
    """Build the named corpora or tasks into `out`; 0 if all of them are in the release then."""
    if raw and sample:
        raise WrongUsage("--raw and --sample exclude each other.")
    corpora = load_corpora()
    selected = select(corpora, names)
    source = Samples() if sample else mirror_or_cache(raw)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("corpora", total=len(selected))

        def report(corpus: str, outcome: Outcome) -> None:
            progress.update(bar, advance=1, description=f"{corpus}: {outcome.status}")

        outcomes = build_release(selected, corpora, source, out, workers or os.cpu_count() or 1, report, ray)
    failed = {name: outcome for name, outcome in outcomes.items() if outcome.status == "failed"}
    console = Console()
    if len(failed) < len(outcomes):
        lock = read_lock(out)
        console.print(_summary(lock, outcomes))
        absent = _absent_classes(lock) if lock["source"] == "raw" else []  # samples are small
        for warning in absent[:WARNINGS]:
            console.print(f"[yellow]warning[/yellow]: {escape(warning)}", highlight=False)
        if len(absent) > WARNINGS:
            console.print(f"and {len(absent) - WARNINGS} more such classes: socket-data show TASK", highlight=False)
        console.print(f"Release: {out}", highlight=False, soft_wrap=True)
    errors = Console(stderr=True, soft_wrap=True)
    for outcome in failed.values():
        errors.print(f"not built: {outcome.problem}", style="red", highlight=False, markup=False)
    if len(failed) == len(outcomes):
        errors.print("Nothing could be built; what was there is as it was.")
    return 1 if failed else 0


def _absent_classes(lock: dict) -> list[str]:
    """Classes that a split holds no item of; too few items for every split is the usual reason."""
    found = []
    for entry in lock["corpora"].values():
        for task, facts in entry["tasks"].items():
            splits = {name: split.get("labels", {}) for name, split in facts["splits"].items()}
            for label in splits["train"]:
                absent = [name for name, labels in splits.items() if not labels[label]]
                if absent:
                    total = sum(splits[name][label] for name in ("train", "validation", "test"))
                    found.append(f"{task}: no item of class {label} in {', '.join(absent)} ({total:,} in all)")
    return found


def _summary(lock: dict, outcomes: dict[str, Outcome]) -> Table:
    """What is in the release now; narrow enough for 80 columns with the longest task name."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("task", "items", "train", "valid.", "test", "sockette"):
        table.add_column(heading, justify="left" if heading == "task" else "right", no_wrap=True)
    for corpus, outcome in outcomes.items():
        entry = lock["corpora"].get(corpus)
        if not entry:
            table.add_row(f"[bold]{corpus}[/bold] [red]failed[/red]")
            continue
        partial = " (in part)" if entry["missing"] else ""
        table.add_row(f"[bold]{corpus}[/bold] {outcome.status}{partial}, {entry['rows']:,} raw rows")
        for task, facts in entry["tasks"].items():
            sizes = [f"{split['items']:,}" for split in facts["splits"].values()]
            table.add_row(f" {task}", f"{facts['items']:,}", *sizes)
    return table
