"""`socket-data export`: a release in another layout."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from builders.declaration import load_corpora
from builders.pipeline.lock import read_lock
from builders.publish.export import ROOT, check_folder, export_published_layout


def run(release: Path, published_layout: Path) -> int:
    """Write a release to the folder `published_layout` as the text files of the published release; 0 if it is there.

    Raises `WrongUsage` if there is no such release folder or something else lies where the export is to go.
    """
    check_folder(release, published_layout)
    total = sum(len(corpus["tasks"]) for corpus in read_lock(release)["corpora"].values())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("tasks", total=total)
        items = export_published_layout(
            release,
            load_corpora(),
            published_layout,
            lambda task: progress.update(bar, advance=1, description=task),
        )
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{len(items):,} tasks, {sum(items.values()):,} items: {published_layout / ROOT}", markup=False)
    return 0
