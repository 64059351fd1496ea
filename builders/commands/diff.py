"""`socket-data diff`: what changed between two releases."""

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from builders.problems import WrongUsage
from builders.publish.changelog import entry
from builders.publish.diff import KINDS, Diff, diff
from builders.publish.hub import folder_of


def run(before: str, after: str, json_file: Path | None, changelog: bool) -> int:
    """Print the differences; 0 whatever they are."""
    if changelog and json_file:
        raise WrongUsage("--changelog and --json exclude each other.")
    found = diff(folder_of(before), folder_of(after))
    if changelog:
        print(entry(found))
        return 0
    if json_file:
        json_file.write_text(as_json(found), encoding="utf-8", newline="\n")
    console = Console(highlight=False)
    console.print(_table(found))
    for task in found.tasks:
        for line in _details(task):
            console.print(f"{task.task}: {line}", markup=False, soft_wrap=True)
    was, now = found.before["release"], found.after["release"]
    total = ", ".join(f"{count:,} {kind}" for kind, count in found.counts.items()) or "no item changed"
    console.print(f"{was} to {now}: {total}; {len(found.files):,} files with other bytes.")
    console.print(f"That is a {found.bump} change: the version after {was} is {found.next_version}.")
    return 0


def _table(found: Diff) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("task", "before", "after", "what changed"):
        table.add_column(heading, justify="right" if heading in ("before", "after") else "left")
    for task in found.tasks:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in task.counts.items())
        changed = "; ".join(filter(None, [counts, *task.columns]))
        if task.before is None or task.after is None:
            changed = "new task" if task.before is None else "task is gone"
        if changed:
            sizes = [f"{size:,}" if size is not None else "" for size in (task.before, task.after)]
            table.add_row(task.task, *sizes, changed)
    return table


def _details(task) -> list[str]:
    """In words where items went, per kind that needs saying."""
    columns = {"removed": "after", "moved": "way", "relabelled": "way"}
    told = []
    for kind, column in columns.items():
        if kind in task.counts:
            parts = task.by(kind, column)
            told.append(f"{kind}: " + ", ".join(f"{count:,} {what}" for what, count in parts.items()))
    return told


def as_json(found: Diff) -> str:
    """Every changed row by id, per task and kind, and the totals; no texts."""
    content = {
        "before": found.before["release"],
        "after": found.after["release"],
        "bump": found.bump,
        "next_version": found.next_version,
        "counts": found.counts,
        "files": list(found.files),
        "tasks": {
            task.task: {
                "before": task.before,
                "after": task.after,
                "columns": list(task.columns),
                "counts": task.counts,
                "rows": {
                    kind: task.rows.loc[task.rows["kind"] == kind, ["id", "before", "after"]].to_dict("records")
                    for kind in KINDS
                    if kind in task.counts
                },
            }
            for task in found.tasks
        },
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
