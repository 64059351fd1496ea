"""Every `build.py` with mutated samples: each builds with a balanced ledger and no label in another place, or stops
with a sentence that names the place.

    uv run python -m tests.survival.fuzz [--mutations 3000] [--only CORPUS] [--write]

Mutations are numbered; the same number is the same mutation (`--first N --mutations 1` repeats one and shows what it
did). `--write` records the result in `results.md`. Ends with status 1 if anything broke.
"""

import argparse
import csv
import io
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet as pq

from builders.declaration import CORPORA, Corpus, RawFile, load_corpus
from builders.pipeline.corpus import build_corpus
from builders.pipeline.fetch import Samples, locate
from builders.pipeline.package import data_path
from builders.pipeline.read import raw_rows
from builders.pipeline.split import SPLITS
from builders.problems import Problem, raise_all
from tests.survival.mutations import MUTATIONS, Mutated, damaged, mutated
from tests.survival.record import record

# A build that a Problem stopped, but in words that name no record and no reason: the fault of a build.py.
VAGUE = "stopped with "

# The outcomes of a mutation where all is well.
WELL = ("built", "stopped")


class Result(NamedTuple):
    """What a corpus made of its raw files."""

    rows: pd.DataFrame
    """What build.py returned."""
    labels: dict[str, dict[str, str]]
    """Per task the label of every item by its id."""


class Case(NamedTuple):
    """One mutation and what came of it."""

    number: int
    corpus: str
    file: str
    kind: str
    outcome: str
    """`built`, `stopped`, or what broke."""
    told: str


def built(corpus: Corpus, out: Path) -> Result:
    """Build a corpus from the files in its `sample/`. Raises `Problem` if it stops, `AssertionError` if its ledger does
    not balance."""
    located, problems = locate(corpus, Samples())
    raise_all(problems)
    rows = raw_rows(corpus, located.files)
    tasks = [task.name for task in corpus.tasks]
    (out / "parts").mkdir(parents=True)
    facts = build_corpus(corpus, located.files, tasks, out).facts
    ledger = pq.read_table(out / "parts" / f"{corpus.name}.ledger.parquet").to_pandas()
    labels = {}
    for task in corpus.tasks:
        items = pd.concat([pq.read_table(out / data_path(task, split)).to_pandas() for split in SPLITS])
        booked = ledger["source_row"][ledger["task"] == task.name]
        assert facts["rows"] == len(rows) == len(items) + len(booked), f"{task.name}: the ledger does not balance"
        assert booked.is_unique, f"{task.name}: a row is booked twice"
        assert items["id"].is_unique, f"{task.name}: an item is there twice"
        labels[task.name] = dict(zip(items["id"], items["label"].map(repr), strict=True))
    return Result(rows, labels)


def _labelled(corpus: Corpus, rows: pd.DataFrame) -> pd.DataFrame:
    """Per raw row its `source_row`, its `text` and, as one string, all `labels` of it."""
    columns = [task.column for task in corpus.tasks]
    return pd.DataFrame(
        {
            "source_row": rows["source_row"],
            "text": rows[list(corpus.text_columns)].agg("\x1f".join, axis=1) if len(rows) else [],
            "labels": rows[columns].map(repr).agg("\x1f".join, axis=1) if len(rows) else [],
        }
    )


def _records(content: bytes, file: RawFile) -> list[int]:
    """For every line of a raw file the number of its record (the header is 0)."""
    lines = content.split(b"\n")
    header = file.format in ("csv", "tsv") and not file.columns
    if file.format != "csv":
        return [line + (0 if header else 1) for line in range(len(lines))]
    reader = csv.reader(io.StringIO(content.decode(file.encoding), newline="\n"), delimiter=file.separator)
    ends = [reader.line_num for _ in reader]
    records = [
        number for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)) for _ in range(end - start)
    ]
    return [number + (0 if header else 1) for number in [*records, *[len(ends)] * (len(lines) - len(records))]]


def moved_labels(
    corpus: Corpus, file: RawFile, name: str, content: bytes, change: Mutated, clean: Result, now: Result
) -> list[str]:
    """The raw rows that have another label now though the mutation of the file `name` touched no record of theirs.

    Where records of the file do not each name a row (they are looked up, or several make one), as many rows may
    change as records were touched.
    """
    if change.touched is None:
        return []
    before, after = _labelled(corpus, clean.rows), _labelled(corpus, now.rows)
    once = [table[~table["text"].duplicated(keep=False)] for table in (before, after)]
    both = once[0].merge(once[1], on="text", suffixes=("", "_now"))
    changed = both["source_row"][both["labels"] != both["labels_now"]].tolist()
    records = _records(content, file)
    touched = {records[line] for line in change.touched if line < len(records)}
    owner = file.beside or name
    named = {row.split(":")[-1].split(".")[0] for row in before["source_row"] if row.startswith(f"{owner}:")}
    if named >= {str(number) for number in records if number} - {str(max(records))}:
        return [row for row in changed if row.removeprefix(f"{owner}:").split(".")[0] not in map(str, touched)]
    return changed if len(changed) > len(touched) else []


def moved_items(corpus: Corpus, clean: Result, now: Result) -> list[str]:
    """The items that have another label now, where they are more than the raw rows that are others now."""
    before, after = (
        Counter(map(tuple, _labelled(corpus, result.rows)[["text", "labels"]].values)) for result in (clean, now)
    )
    others = sum(((before - after) + (after - before)).values())
    return [
        f"{task}: {moved}"
        for task, labels in clean.labels.items()
        if len(moved := [one for one, label in labels.items() if now.labels[task].get(one, label) != label]) > others
    ]


def sample_files(corpus: Corpus) -> list[tuple[str, RawFile]]:
    """Every file of the corpus's sample with its declaration."""
    base = corpus.folder / "sample"
    names = sorted(path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file())
    return [(name, next(file for file in corpus.files if fnmatchcase(name, file.name))) for name in names]


@cache
def clean_build(name: str) -> Result:
    """What a corpus makes of its sample as it is."""
    with tempfile.TemporaryDirectory() as folder:
        return built(load_corpus(CORPORA / name), Path(folder) / "out")


def run(number: int, corpora: Sequence[str]) -> Case | None:
    """Carry out one mutation, of the corpora in turn; None if there is nothing of its kind to mutate."""
    choice = random.Random(f"mutation {number}")
    corpus = load_corpus(CORPORA / corpora[number % len(corpora)])
    name, file = choice.choice(sample_files(corpus))
    kind = list(MUTATIONS)[number // len(corpora) % len(MUTATIONS)]
    content = (corpus.folder / "sample" / name).read_bytes()
    if name.endswith(".bz2") and not choice.randrange(4):
        kind, change = "packed bytes damaged", damaged(content, choice)
    else:
        change = mutated(content, file, kind, choice)
    if change is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / corpus.name
        shutil.copytree(corpus.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "sample" / name).write_bytes(change.content)
        outcome, told = _outcome(corpus, copy, file, name, content, change)
    return Case(number, corpus.name, name, kind, outcome, told)


def _outcome(corpus: Corpus, copy: Path, file: RawFile, name: str, content: bytes, change: Mutated) -> tuple[str, str]:
    try:
        now = built(load_corpus(copy), copy / "out")
        clean = clean_build(corpus.name)
        if moved := moved_labels(corpus, file, name, content, change, clean, now) or moved_items(corpus, clean, now):
            return "a label moved", str(moved)
    except Problem as problem:
        told = str(problem)
        return (
            "no reason told"
            if VAGUE in told
            else "no place told"
            if not problem.where and "\n" not in told
            else "stopped"
        ), told
    except AssertionError as error:
        return "the ledger is wrong", str(error)
    except Exception as error:  # whatever it is, it is what the run looks for
        return "a traceback", f"{type(error).__name__}: {error}"
    return "built", ""


def cases(numbers: range, corpora: Sequence[str]) -> Iterator[Case]:
    """What came of every mutation that there was something for."""
    return filter(None, (run(number, corpora) for number in numbers))


def broken(case: Case) -> bool:
    return case.outcome not in WELL


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", action="append")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    corpora = arguments.only or sorted(path.parent.name for path in CORPORA.glob("*/build.py"))
    counts: dict[str, Counter] = {}
    for case in cases(range(arguments.first, arguments.first + arguments.mutations), corpora):
        counts.setdefault(case.kind, Counter())[case.outcome] += 1
        if broken(case) or arguments.mutations == 1:
            print(
                f"{case.number} {case.corpus} {case.file}: {case.kind}: {case.outcome}: {case.told[:300]}", flush=True
            )
    table = _table(counts)
    print(table)
    if arguments.write:
        record("Mutated samples", f"uv run python -m tests.survival.fuzz --mutations {arguments.mutations}", table)
    return int(any(count.keys() - {*WELL} for count in counts.values()))


def _table(counts: Mapping[str, Counter]) -> str:
    outcomes = [
        "built",
        "stopped",
        *sorted({outcome for count in counts.values() for outcome in count} - {"built", "stopped"}),
    ]
    lines = [f"| mutation | {' | '.join(outcomes)} |", "|---|" + "--:|" * len(outcomes)]
    total = sum(counts.values(), Counter())
    for kind, count in [*counts.items(), ("**all**", total)]:
        lines.append(f"| {kind} | " + " | ".join(f"{count[outcome]:,}" for outcome in outcomes) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
