"""Build a release of the published size and print what that costs, beside scripts that do the same job by hand.

    uv run python benchmarks/full_size.py [CORPUS...] [--scale 1/8] [--keep OUT]     invented raw files
    uv run python benchmarks/full_size.py [CORPUS...] --raw MIRROR                   real ones
    uv run python benchmarks/full_size.py --linear                                   how cost grows with size

All of it in one run, on the same raw rows, each contestant in a process of its own:

* the build, as `socket-data build` does it, with two workers and with one; per stage, in all, and again when nothing
  has changed;
* what a user would write with `datasets` alone, with a function per row as its documentation shows it, and with
  `batched=True`; and with pandas alone. They collapse white space, drop rows without text or label, drop what a rule
  of the corpus drops, drop repeats of the very text, shuffle and split 80/10/10, and write Parquet. They keep no
  ledger, no groups, no offsets, no ids, check no byte, and do not look for texts that differ in a point or a dash;
* the floor: the raw bytes read and the release's Parquet files written, nothing else.

The scripts get their rows from the corpora's build.py as well, since neither library reads trees or threads; that
time is counted in theirs and shown by itself. The start of Python and imports count for the build's workers only.
Machines are noisy: compare ratios of one run, not seconds of two.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.memory import Cost, Time, alone, now
from benchmarks.mirror import make_mirror, scale_of
from builders.commands import select
from builders.declaration import Corpus, Task, load_corpora
from builders.pipeline.fetch import Mirror, locate
from builders.pipeline.labels import labels
from builders.pipeline.lock import read_lock
from builders.pipeline.package import PAIR_JOINT, SPLIT_FILES, data_path, write_parquet
from builders.pipeline.read import raw_rows
from builders.pipeline.release import build_release
from builders.problems import WrongUsage

WORKERS = 2


class Inputs(NamedTuple):
    """What is built: declarations (the project's own if None), raw files, and which corpora (none: all)."""

    corpora: Path | None
    mirror: Path
    names: Sequence[str]

    def chosen(self) -> dict[str, Corpus]:
        """The corpora by name."""
        corpora = load_corpora(self.corpora)
        return {name: corpora[name] for name in select(corpora, self.names)}


# The build -----------------------------------------------------------------------------------------------


class Build(NamedTuple):
    """What became of the corpora: seconds per stage, summed over workers; wall seconds from the last corpus to the
    end; and what was not built and why."""

    stages: Counter
    finishing: float
    failed: list[str]


def build(inputs: Inputs, out: Path, workers: int) -> Build:
    """Build a release."""
    corpora, last = load_corpora(inputs.corpora), [time.perf_counter()]
    outcomes = build_release(
        select(corpora, inputs.names),
        corpora,
        Mirror(inputs.mirror),
        out,
        workers,
        lambda *_: last.append(time.perf_counter()),
    )
    stages: Counter = Counter()
    for outcome in outcomes.values():
        stages.update(outcome.seconds or {})
    failed = [str(outcome.problem) for outcome in outcomes.values() if outcome.problem]
    return Build(stages, time.perf_counter() - last[-1], failed)


# The same by hand ----------------------------------------------------------------------------------------


class Script(NamedTuple):
    """What a script took to get the rows and for the rest, and the items it made."""

    reading: Time
    working: Time
    items: int


Work = Callable[[Corpus, pd.DataFrame, dict[str, dict], Path], int]
"""Corpus, raw rows, the label of every raw token by task, output folder: writes the files and returns the items."""


def by_hand(inputs: Inputs, out: Path, work: Work) -> Script:
    """Every corpus through a script."""
    if work is not with_pandas:
        import datasets

        datasets.disable_progress_bars()
    reading, working, items = Time(), Time(), 0
    for corpus in inputs.chosen().values():
        located, problems = locate(corpus, Mirror(inputs.mirror))
        if problems:
            continue
        start = now()
        rows = raw_rows(corpus, located.files)
        reading += now() - start
        codes = {task.name: codebook(task, rows) for task in corpus.tasks if task.format != "span"}
        start = now()
        items += work(corpus, rows, codes, out)
        working += now() - start
    return Script(reading, working, items)


def codebook(task: Task, rows: pd.DataFrame) -> dict[str, int | float | None]:
    """The label of every raw token, as whoever writes a script for a corpus has it at hand (so it takes no time)."""
    tokens = rows.drop_duplicates(task.column)
    found = labels(task, tokens).astype(object)
    return dict(zip(tokens[task.column], found.where(found.notna(), None), strict=True))


def with_pandas(corpus: Corpus, rows: pd.DataFrame, codes: dict[str, dict], out: Path) -> int:
    """What a user would write with pandas."""
    texts = [rows[column].str.replace(r"\s+", " ", regex=True).str.strip() for column in corpus.text_columns]
    text, items = texts[0] if len(texts) == 1 else texts[0] + PAIR_JOINT + texts[1], 0
    for task in corpus.tasks:
        table = pd.DataFrame({"text": text})
        if task.format == "span":
            cells = zip(rows["text"], rows[task.column], strict=True)
            table["label"] = [[string[start:end] for start, end in spans] for string, spans in cells]
            if task.without_spans == "unlabeled":
                table = table[table["label"].str.len() > 0]
        else:
            table["label"] = rows[task.column].map(codes[task.name])
        for rule in task.drops:
            table = table[~rows.loc[table.index, rule.column].isin(rule.values)]
        table = table.dropna(subset="label")
        table = table[table["text"] != ""].drop_duplicates("text").sample(frac=1, random_state=0)
        train, test = int(0.8 * len(table)), int(0.9 * len(table))
        parts = {"train": table[:train], "test": table[train:test], "validation": table[test:]}
        for split, part in parts.items():
            part.to_parquet(placed(out, task, split), index=False)
        items += len(table)
    return items


def with_datasets(corpus: Corpus, rows: pd.DataFrame, codes: dict[str, dict], out: Path) -> int:
    """What a user would write with `datasets`, a function per row."""
    from datasets import Dataset

    def collapse(row):
        return {"text": PAIR_JOINT.join(" ".join(row[column].split()) for column in corpus.text_columns)}

    data, items = Dataset.from_pandas(columns_of(corpus, rows), preserve_index=False), 0
    data = data.map(collapse)
    for task in corpus.tasks:
        seen: set[str] = set()

        def wanted(row, task=task):
            if not row["text"] or any(row[rule.column] in rule.values for rule in task.drops):
                return False
            if task.format == "span":
                return bool(row[task.column]) or task.without_spans != "unlabeled"
            return codes[task.name][row[task.column]] is not None

        def label(row, task=task):
            if task.format == "span":
                return {"label": [row["original"][start:end] for start, end in row[task.column]]}
            return {"label": codes[task.name][row[task.column]]}

        def first(row, seen=seen):
            new = row["text"] not in seen
            seen.add(row["text"])
            return new

        others = [name for name in data.column_names if name not in ("text", "label")]
        table = data.filter(wanted).map(label, remove_columns=others).filter(first)
        items += split_and_write(table, task, out)
    return items


def with_batches(corpus: Corpus, rows: pd.DataFrame, codes: dict[str, dict], out: Path) -> int:
    """The same with a function per thousand rows."""
    from datasets import Dataset

    def collapse(batch):
        texts = zip(*(batch[column] for column in corpus.text_columns), strict=True)
        return {"text": [PAIR_JOINT.join(" ".join(text.split()) for text in pair) for pair in texts]}

    data, items = Dataset.from_pandas(columns_of(corpus, rows), preserve_index=False), 0
    data = data.map(collapse, batched=True)
    for task in corpus.tasks:
        seen: set[str] = set()

        def wanted(batch, task=task):
            keep = [bool(text) for text in batch["text"]]
            for rule in task.drops:
                keep = [kept and cell not in rule.values for kept, cell in zip(keep, batch[rule.column], strict=True)]
            cells = zip(keep, batch[task.column], strict=True)
            if task.format == "span":
                return [kept and (bool(spans) or task.without_spans != "unlabeled") for kept, spans in cells]
            return [kept and codes[task.name][token] is not None for kept, token in cells]

        def label(batch, task=task):
            if task.format == "span":
                cells = zip(batch["original"], batch[task.column], strict=True)
                return {"label": [[text[start:end] for start, end in spans] for text, spans in cells]}
            return {"label": [codes[task.name][token] for token in batch[task.column]]}

        def first(batch, seen=seen):
            return [not (text in seen or seen.add(text)) for text in batch["text"]]

        others = [name for name in data.column_names if name not in ("text", "label")]
        table = data.filter(wanted, batched=True).map(label, batched=True, remove_columns=others)
        items += split_and_write(table.filter(first, batched=True), task, out)
    return items


def columns_of(corpus: Corpus, rows: pd.DataFrame) -> pd.DataFrame:
    """What the tasks need of the rows; texts that spans lie in come also as `original`."""
    needed = {name: None for task in corpus.tasks for name in (task.column, *(rule.column for rule in task.drops))}
    table = rows[[*corpus.text_columns, *needed]]
    has_spans = any(task.format == "span" for task in corpus.tasks)
    return table.assign(original=rows["text"]) if has_spans else table


def split_and_write(table, task: Task, out: Path) -> int:
    """`train_test_split` twice, and a Parquet file for each part."""
    parts = table.train_test_split(test_size=0.2, seed=0)
    rest = parts["test"].train_test_split(test_size=0.5, seed=0)
    for split, part in (("train", parts["train"]), ("test", rest["test"]), ("validation", rest["train"])):
        part.to_parquet(placed(out, task, split))
    return len(table)


def placed(out: Path, task: Task, split: str) -> Path:
    """Where a script writes a split; the folder is made."""
    path = out / data_path(task, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def floor(inputs: Inputs, release: Path, out: Path) -> Script:
    """Read the raw bytes of a release, and write its Parquet files from tables that are in memory already."""
    reading, working, items, lock = Time(), Time(), 0, read_lock(release)
    corpora = inputs.chosen()
    for name, entry in lock["corpora"].items():
        tasks = [task for task in corpora[name].tasks if task.name in entry["tasks"]]
        paths = [data_path(task, split) for task in tasks for split in SPLIT_FILES]
        tables = [pq.read_table(release / path) for path in paths]
        start = now()
        for raw in entry["raw"]:
            (inputs.mirror / name / raw).read_bytes()
        reading += now() - start
        start = now()
        for path, content in zip(paths, tables, strict=True):
            write_parquet(content, out / path)
        working += now() - start
        items += sum(task["items"] for task in entry["tasks"].values())
    return Script(reading, working, items)


# What is printed -----------------------------------------------------------------------------------------


def table(title: str, *headings: str) -> Table:
    made = Table(title=title)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number else "left")
    return made


def counted(release: Path) -> tuple[int, int]:
    """Raw rows and items of a release."""
    corpora = read_lock(release)["corpora"].values()
    return (
        sum(entry["rows"] for entry in corpora),
        sum(task["items"] for entry in corpora for task in entry["tasks"].values()),
    )


def compare(inputs: Inputs, folder: Path, console: Console) -> list[str]:
    """Build, build again, and let the scripts do the same; prints all of it and returns what was not built."""
    release = folder / "release"
    built = alone(build, inputs, release, WORKERS)
    if len(built.result.failed) == len(inputs.chosen()):
        return built.result.failed
    rows, items = counted(release)
    again = alone(build, inputs, release, WORKERS)
    single = alone(build, inputs, folder / "single", 1)
    stages = table(
        f"The build: {rows:,} raw rows, {items:,} items", "stage", "seconds, all workers", "raw rows per second"
    )
    for stage, seconds in built.result.stages.items():
        stages.add_row(stage, f"{seconds:.2f}", f"{rows / seconds:,.0f}")
    for what, seconds in (
        ("overlaps, cards, lock (wall)", built.result.finishing),
        (f"all, {WORKERS} workers (wall)", built.time.wall),
        ("again, nothing changed (wall)", again.time.wall),
    ):
        stages.add_row(what, f"{seconds:.2f}", f"{rows / seconds:,.0f}")
    console.print(stages)

    scripts = {
        name: alone(by_hand, inputs, folder / name, work)
        for name, work in (("datasets", with_datasets), ("batched", with_batches), ("pandas", with_pandas))
    }
    least = alone(floor, inputs, release, folder / "floor")
    beside = table("Beside it", "what", "seconds", "CPU", "items", "items/s", "peak MiB", "times the build", "in CPU")

    def add(what: str, spent: Time, made: int, cost: Cost | None) -> None:
        peak = f"{cost.peak / 2**20:,.0f}" if cost else ""
        ratios = (f"{one / whole:.2f}" for one, whole in zip(spent, built.time, strict=True))
        rate = f"{made / spent.wall:,.0f}"
        beside.add_row(what, f"{spent.wall:.1f}", f"{spent.cpu:.1f}", f"{made:,}", rate, peak, *ratios)

    add(f"this build, {WORKERS} workers", built.time, items, built)
    add("this build, 1 worker", single.time, items, single)
    for name, what in (("datasets", "datasets, per row"), ("batched", "datasets, batched"), ("pandas", "pandas")):
        script = scripts[name].result
        add(what, script.reading + script.working, script.items, scripts[name])
        add("  without reading", script.working, script.items, None)
    add("floor", least.result.reading + least.result.working, least.result.items, least)
    console.print(beside)
    return built.result.failed


def growth(scale: Fraction, names: Sequence[str], folder: Path, console: Console) -> list[str]:
    """Build an eighth, a quarter, a half and the whole; prints the cost per raw row beside that of the eighth."""
    grown = table(
        "How cost grows",
        "scale",
        "raw rows",
        "wall seconds",
        "CPU seconds",
        "peak MiB",
        "wall per row",
        "CPU per row",
    )
    first, failed = None, []
    for part in (8, 4, 2, 1):
        place = folder / f"1-{part}"
        make_mirror(place, scale / part, names)
        built = alone(build, Inputs(place / "corpora", place / "mirror", ()), place / "release", WORKERS)
        failed += built.result.failed
        rows, _ = counted(place / "release")
        wall, cpu = built.time.wall / rows, built.time.cpu / rows
        first = first or (wall, cpu)
        grown.add_row(
            str(scale / part),
            f"{rows:,}",
            f"{built.time.wall:.1f}",
            f"{built.time.cpu:.1f}",
            f"{built.peak / 2**20:,.0f}",
            f"{wall / first[0]:.2f}",
            f"{cpu / first[1]:.2f}",
        )
    console.print(grown)
    return failed


def main(options: argparse.Namespace) -> int:
    """Print what was asked for; the exit status is 1 if a corpus could not be built."""
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        if options.linear:
            failed = growth(options.scale, options.corpora, folder, console)
        else:
            inputs = Inputs(None, options.raw, options.corpora)
            if not options.raw:
                make_mirror(folder, options.scale, options.corpora)
                inputs = Inputs(folder / "corpora", folder / "mirror", ())
            failed = compare(inputs, folder, console)
    for problem in failed:
        print(f"not built: {problem}", file=sys.stderr)
    return 1 if failed else 0


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """What the command was asked for. Ends with status 2 and says why if that makes no sense."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help="all by default")
    parser.add_argument("--scale", type=scale_of, default=Fraction(1), help="a part of the published size, like 1/8")
    parser.add_argument("--raw", type=Path, metavar="MIRROR", help="build from this mirror of real raw files instead")
    parser.add_argument("--keep", type=Path, metavar="OUT", help="leave all that was made in this new folder")
    parser.add_argument("--linear", action="store_true", help="build 1/8, 1/4, 1/2 and all of it, and nothing beside")
    options = parser.parse_args(given)
    if options.keep and options.keep.exists():
        parser.error(f"{options.keep} is there already")
    if options.raw and not options.raw.is_dir():
        parser.error(f"there is no folder {options.raw}")
    if options.raw and options.linear:
        parser.error("--linear makes its own raw files, so --raw has no place beside it")
    try:
        select(load_corpora(), options.corpora)
    except WrongUsage as problem:
        parser.error(str(problem))
    return options


if __name__ == "__main__":
    sys.exit(main(arguments(sys.argv[1:])))
