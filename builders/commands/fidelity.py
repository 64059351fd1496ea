"""`socket-data fidelity`: a release against the published one."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from builders.declaration import load_corpora
from builders.publish.hub import folder_of
from validation.fidelity import Compared, as_json, compare
from validation.published import facts


def run(release: Path, published: str | None, json_file: Path | None) -> int:
    """Print how every task differs from the published release and why; 0 if every difference has a reason."""
    compared = compare(release, load_corpora(), folder_of(published, ["SOCKET_DATA/**"]) if published else None)
    if json_file:
        json_file.write_text(as_json(compared), encoding="utf-8")
    console = Console()
    console.print(_totals(compared))
    if published:
        console.print(_rows(compared))
    absent = [task for task in facts()[0] if task not in {one.task for one in compared}]
    if absent:
        console.print(f"Not in this release: {', '.join(absent)}", soft_wrap=True, highlight=False)
    unaccounted = [one.task for one in compared if not one.accounted]
    if unaccounted:
        console.print(f"[red]Without a reason: {', '.join(unaccounted)}[/red]")
    return 1 if unaccounted else 0


def _totals(compared: list[Compared]) -> Table:
    table = Table(title="Items against the published release 1.1.0", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("task", "published", "items", "we drop", "left", "why"):
        right = heading in ("published", "items", "left")
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading == "task")
    for one in compared:
        drops = ", ".join(f"{count:,} {reason}" for reason, count in one.drops.items())
        why = [f"{what} {', '.join(map(str, numbers))}" for what, numbers in one.defects.items()]
        why += [f"without {', '.join(one.missing)}"] if one.missing else []
        left = f"{one.unexplained:,}" if one.unexplained else ""
        table.add_row(one.task, f"{one.published:,}", f"{one.items:,}", drops, left, "; ".join(why))
    numbers = sorted({number for one in compared for numbers in one.defects.values() for number in numbers})
    defects = facts()[1]
    told = (f"{number}: {defects[number]['was']} {defects[number]['now']}" for number in numbers)
    table.caption = "The numbers are the corrected defects that explain what differs.\n" + "\n".join(told)
    table.caption_justify = "left"
    return table


def _rows(compared: list[Compared]) -> Table:
    table = Table(title="Published rows, one by one", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("task", "rows", "same", "relabelled", "missing", "unknown", "new"):
        left = heading in ("task", "relabelled", "missing")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading == "task")
    for one in compared:
        if one.found:
            relabelled, missing = (
                ", ".join(f"{count:,} {why}" for why, count in one.found[key].items())
                for key in ("relabelled", "missing")
            )
            counts = [f"{one.found[key]:,}" for key in ("rows", "same", "unknown", "new")]
            table.add_row(one.task, counts[0], counts[1], relabelled, missing, counts[2], counts[3])
    return table
