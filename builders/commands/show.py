"""`socket-data show`: one task of a release."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table
from rich.text import Text

from builders.commands import select
from builders.declaration import Corpus, Task, load_corpora
from builders.pipeline.lock import read_lock
from builders.pipeline.package import SPLIT_FILES, data_path
from builders.problems import Problem, WrongUsage

ITEMS = 5


def run(name: str, release: Path) -> int:
    """Print sizes, label counts, drops and the first items of a task."""
    corpora = load_corpora()
    corpus, task = _task(corpora, name)
    lock = read_lock(release)
    entry = lock["corpora"].get(corpus.name, {})
    facts = entry.get("tasks", {}).get(name)
    if not facts:
        raise Problem(
            f"{name} is not in this release.",
            where=[str(release)],
            todo=lock["not_built"].get(corpus.name, f"Build it: socket-data build {corpus.name}"),
        )
    console = Console()
    console.print(
        f"[bold]{name}[/bold]  {task.category}, {task.format}; corpus {corpus.name}, licence {corpus.license}"
    )
    if lock["source"] == "sample":
        console.print("Built from the invented sample, not from the corpus.", style="yellow")
    console.print(_sizes(task, facts))
    dropped = ", ".join(f"{count:,} {reason}" for reason, count in facts["dropped"].items())
    console.print(f"{entry['rows']:,} raw rows = {facts['items']:,} items + {dropped or 'nothing dropped'}")
    for split, count in facts["off_by"].items():
        console.print(f"{split} has {count:+,} items against the rule: groups that stay together force it.")
    if "spans" in facts:
        console.print("spans: " + ", ".join(f"{count:,} {what}" for what, count in facts["spans"].items()))
    console.print(_items(task, release))
    return 0


def _task(corpora: dict[str, Corpus], name: str) -> tuple[Corpus, Task]:
    ((corpus, tasks),) = list(select(corpora, [name]).items())[:1]
    if name not in tasks:
        raise WrongUsage(f"{name} is a corpus.", todo=f"Name one of its tasks: {', '.join(tasks)}.")
    return corpora[corpus], next(task for task in corpora[corpus].tasks if task.name == name)


def _sizes(task: Task, facts: dict) -> Table:
    table = Table()
    table.add_column("")
    for split in SPLIT_FILES:
        table.add_column(split, justify="right")
    table.add_row("items", *(f"{facts['splits'][split]['items']:,}" for split in SPLIT_FILES))
    if task.format in ("classification", "pair"):
        for index, label in enumerate(task.label_names):
            counts = (f"{facts['splits'][split]['labels'][label]:,}" for split in SPLIT_FILES)
            table.add_row(f"{index} {label}", *counts)
    return table


def _items(task: Task, release: Path) -> Table:
    table = Table(title=f"the first test items of {task.name}")
    table.add_column("label", max_width=30)
    table.add_column("text", overflow="fold")
    path = data_path(task, "test")
    try:
        batches = pq.ParquetFile(release / path).iter_batches(batch_size=ITEMS, columns=["text", "label"])
        for item in next(batches, pa.RecordBatch.from_pylist([])).to_pylist():
            table.add_row(Text(_label(task, item["label"])), Text(item["text"][:400]))
    except (OSError, pa.ArrowException, LookupError, TypeError, AttributeError) as error:
        raise Problem(
            f"cannot be read ({str(error).splitlines()[0]}).",
            where=[str(release), path],
            todo="The release is damaged; build it again.",
        ) from None
    return table


def _label(task: Task, label: object) -> str:
    if task.format == "span":
        return " | ".join(surface for surfaces in label.values() for surface in surfaces)
    return f"{label:g}" if task.format == "regression" else task.label_names[label]
