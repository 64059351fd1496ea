"""What must hold for a corpus folder, told in plain words: `socket-data check` and the tests both ask here."""

import json
import tempfile
from pathlib import Path

import pandas as pd

from builders.declaration import Corpus, Task, load_corpus, read_yaml
from builders.pipeline.fetch import Mirror, Samples, Source, locate
from builders.pipeline.lock import LOCK
from builders.pipeline.package import SPLIT_FILES
from builders.pipeline.read import raw_rows
from builders.pipeline.release import LEDGER, build_release
from builders.problems import Problem, Problems

PLACEHOLDER = "FILL IN"
SAMPLE_ROWS = 20
SAMPLE_ITEMS = 10
PLACES = {"first": 0, "tenth": 9, "last": -1}


def findings(folder: Path, mirror: Path | None = None) -> list[str]:
    """What is still missing or wrong in a corpus folder, one sentence each; nothing if it is done.

    With a `mirror` the real raw files are looked at as well.
    """
    try:
        corpus = load_corpus(folder)
        expected = read_yaml(folder / "expected.yaml")
    except Problem as problem:
        return _told(problem)
    found = [*_placeholders(folder), *_papers(corpus), *_sample(corpus, expected)]
    if mirror:
        found += _real(corpus, expected, Mirror(mirror))
    return found


def _told(problem: Problem) -> list[str]:
    return [str(one) for one in problem.problems] if isinstance(problem, Problems) else [str(problem)]


def _placeholders(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(folder).as_posix()}, line {number}: something is to be filled in."
        for path in [folder / "corpus.yaml", folder / "build.py", folder / "expected.yaml", *folder.glob("sample/*")]
        if path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1)
        if PLACEHOLDER in line
    ]


def _papers(corpus: Corpus) -> list[str]:
    """Citation and licence."""
    import bibtexparser

    found = []
    entries = bibtexparser.loads(corpus.bibtex).entries
    if not entries or not all(entry.get("title") and entry.get("author") for entry in entries):
        found.append("corpus.yaml: bibtex does not parse as an entry with title and author.")
    if corpus.license == "unknown" and corpus.redistribution.allowed:
        found.append("corpus.yaml: redistribution is allowed, but the licence is unknown.")
    if "example.org" in corpus.homepage:
        found.append("corpus.yaml: homepage is not that of the corpus.")
    return found


def _sample(corpus: Corpus, expected: dict) -> list[str]:
    try:
        rows = raw_rows(corpus, _files(corpus, Samples()))
        seen = _built(corpus, Samples())
    except Problem as problem:
        return [f"The sample does not build: {line}" for line in _told(problem)]
    found = row_differences(rows, expected["sample"]) + count_differences(seen, expected["sample"])
    if len(rows) < SAMPLE_ROWS:
        found.append(f"The sample has {len(rows)} raw rows; {SAMPLE_ROWS} to 40 show the odd cases.")
    for task in corpus.tasks:
        found += _thin(task, seen["tasks"][task.name])
    if not any(task["dropped"] for task in seen["tasks"].values()):
        found.append("No row of the sample is dropped; it needs a duplicate, and a contradiction where there can be.")
    return found


def _thin(task: Task, seen: dict) -> list[str]:
    """What a task's sample lacks to show anything."""
    found = []
    if seen["items"] < SAMPLE_ITEMS:
        found.append(f"{task.name}: the sample gives {seen['items']} items; {SAMPLE_ITEMS} fill every split.")
    absent = [label for label, count in seen.get("labels", {}).items() if not count]
    if absent:
        found.append(f"{task.name}: no item of the sample is {', '.join(absent)}.")
    return found


def _real(corpus: Corpus, expected: dict, mirror: Mirror) -> list[str]:
    _, problems = locate(corpus, mirror)
    if problems:
        return [f"The real files: {line}" for problem in problems for line in _told(problem)]
    try:
        seen = _built(corpus, mirror)
    except Problem as problem:
        return [f"The real files do not build: {line}" for line in _told(problem)]
    if not expected.get("real"):
        return ["expected.yaml: real has no counts, but the real files are there."]
    return [f"The real files: {line}" for line in count_differences(seen, expected["real"])]


def _files(corpus: Corpus, source: Source) -> dict:
    located, problems = locate(corpus, source)
    if problems:
        raise Problems(problems)
    return located.files


def _built(corpus: Corpus, source: Source) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        tasks = {corpus.name: [task.name for task in corpus.tasks]}
        outcome = build_release(tasks, {corpus.name: corpus}, source, out, workers=1)[corpus.name]
        if outcome.problem:
            raise outcome.problem
        return counts(out, corpus.name)


def counts(release: Path, corpus: str) -> dict:
    """Raw rows of a corpus and, per task, items, labels and drops by reason, in the form of expected.yaml.

    Labels come from the lock, drops from the ledger itself.
    """
    entry = json.loads((release / LOCK).read_text(encoding="utf-8"))["corpora"][corpus]
    ledger = pd.read_parquet(release / LEDGER, columns=["task", "reason"])
    tasks = {}
    for task, facts in entry["tasks"].items():
        dropped = ledger["reason"][ledger["task"] == task].value_counts().sort_index()
        tasks[task] = {"items": facts["items"], "dropped": {str(why): int(n) for why, n in dropped.items()}}
        splits = [facts["splits"][split].get("labels") for split in SPLIT_FILES if split != "sockette"]
        if splits[0]:
            tasks[task]["labels"] = {label: sum(split[label] for split in splits) for label in splits[0]}
    return {"rows": entry["rows"], "tasks": tasks}


def count_differences(seen: dict, want: dict) -> list[str]:
    """Where the counts of a build are not those of expected.yaml."""
    found = []
    if seen["rows"] != want.get("rows"):
        found.append(f"{seen['rows']:,} raw rows, expected.yaml says {want.get('rows')}.")
    for task, facts in seen["tasks"].items():
        wanted = want.get("tasks", {}).get(task)
        if wanted is None:
            found.append(f"expected.yaml says nothing of {task}.")
            continue
        for what, empty in (("items", None), ("dropped", {}), ("labels", None)):
            if facts.get(what) != wanted.get(what, empty):
                found.append(f"{task}: {what} {facts.get(what)}, expected.yaml says {wanted.get(what, empty)}.")
    return found + [
        f"expected.yaml names {task}, which is no task." for task in want.get("tasks", {}).keys() - seen["tasks"]
    ]


def row_differences(rows: pd.DataFrame, want: dict) -> list[str]:
    """Where the first, the tenth and the last raw row are not those of expected.yaml."""
    found = []
    for place, index in PLACES.items():
        if place not in want or (place == "tenth" and len(rows) < 10):
            found += [f"expected.yaml lacks the {place} row."] if place not in want else []
            continue
        for column, value in want[place].items():
            seen = _plain(rows.iloc[index][column]) if column in rows.columns else "no such column"
            if seen != value:
                found.append(f"the {place} row has {column} {seen!r}, expected.yaml says {value!r}.")
    return found


def _plain(value: object) -> object:
    """Spans as YAML writes them."""
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
