"""The published release (1.1.0): what is known of it, and its rows where somebody has them."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from builders.declaration import Task, read_yaml
from builders.pipeline.read import decode, lines
from builders.problems import Problem

FACTS = Path(__file__).parent / "published.yaml"
SPLITS = {"train": "train", "val": "validation", "validation": "validation", "test": "test"}


class Published(NamedTuple):
    """What `published.yaml` says of a task; `about` where sizes are known to a few rows only."""

    sizes: dict[str, int]
    total: int
    repeats: str
    labels: list[str]
    defects: list[int]
    about: bool = False


@cache
def facts() -> tuple[dict[str, Published], dict[int, dict]]:
    """The published tasks by name, and the defects by number."""
    content = read_yaml(FACTS)
    return {name: Published(**task) for name, task in content["tasks"].items()}, content["defects"]


def rows(folder: Path, task: Task) -> pd.DataFrame:
    """The published rows of a task in `folder`: `split`, `row` (from 1), `text`, `label`; empty if there are none.

    Two layouts are read: the release's own (`SOCKET_DATA/<task>/<split>_text.txt` and `<split>_labels.txt`, with
    or without the outer folder), and JSON lines `<slug>.<split>.jsonl` with `text` and `label`. A label becomes a
    class id, a float, or a tuple of surfaces. SocKETTe repeats test rows and is not read.

    Raises `Problem` naming file and record for a label that the task does not know.
    """
    parts = [*_text_files(folder, task), *_json_lines(folder, task)]
    table = pd.DataFrame(parts, columns=["split", "row", "text", "label"])
    return table


def _text_files(folder: Path, task: Task) -> Iterator[tuple]:
    for base in (folder / "SOCKET_DATA" / task.name, folder / task.name):
        for name, split in SPLITS.items():
            texts, labels = base / f"{name}_text.txt", base / f"{name}_labels.txt"
            if not texts.exists():
                continue
            if not labels.exists():
                raise Problem("the label file is missing.", where=[f"{task.name}/{labels.name}"])
            shown = [f"{task.name}/{file.name}" for file in (texts, labels)]
            pairs = [lines(decode(f.read_bytes(), "utf-8", s)) for f, s in zip((texts, labels), shown, strict=True)]
            if len(pairs[0]) != len(pairs[1]):
                raise Problem(f"{len(pairs[0]):,} texts, but {len(pairs[1]):,} labels.", where=[shown[0]])
            for row, (text, label) in enumerate(zip(*pairs, strict=True), start=1):
                yield split, row, text, _label(task, label, [shown[1], f"record {row:,}"])


def _json_lines(folder: Path, task: Task) -> Iterator[tuple]:
    for name, split in SPLITS.items():
        path = folder / f"{task.slug}.{name}.jsonl"
        if path.exists():
            for row, line in enumerate(lines(decode(path.read_bytes(), "utf-8", path.name)), start=1):
                where = [path.name, f"record {row:,}"]
                try:
                    record = json.loads(line)
                    text, label = record["text"], record["label"]
                except (ValueError, TypeError, KeyError):
                    raise Problem("a JSON object with text and label is expected.", where=where) from None
                yield split, row, text, _label(task, label, where)


def _label(task: Task, raw: object, where: list[str]) -> object:
    """A published label in our terms: by class name (the published one counts) or id, number, or surfaces."""
    known, _ = facts()
    names = known[task.name].labels if task.name in known else list(task.label_names)
    try:
        if task.format == "regression":
            return float(raw)
        if task.format == "span":
            found = ast.literal_eval(raw) if isinstance(raw, str) else raw
            return tuple(surface for surfaces in found.values() for surface in surfaces)
        return names.index(raw) if raw in names else range(len(names))[int(raw)]
    except (ValueError, TypeError, IndexError, SyntaxError, AttributeError, MemoryError, RecursionError):
        raise Problem(f"{str(raw)[:60]!r} is not a label of {task.name}.", where=where) from None
