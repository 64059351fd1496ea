"""`socket-data corpora`: what is there of every corpus, and what to do about the rest."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from builders.commands import mirror_or_cache
from builders.declaration import Corpus, load_corpora
from builders.pipeline.fetch import Located, Missing, Source, locate


def run(raw: Path | None) -> int:
    """Print the status table; 0 if every raw file of every corpus is there and right."""
    source = mirror_or_cache(raw)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("corpus", "access", "licence"):
        table.add_column(heading, no_wrap=heading == "corpus")
    for heading in ("found", "missing", "wrong", "tasks"):
        table.add_column(heading, justify="right")
    todo = {}
    for corpus in load_corpora().values():
        located, problems = locate(corpus, source)
        missing = sum(isinstance(problem, Missing) for problem in problems)
        wrong = len(problems) - missing
        if problems or located.partial:
            todo[corpus.name] = _todo(corpus, source, located, missing, wrong)
        table.add_row(
            corpus.name,
            corpus.access,
            corpus.license,
            f"{len(located.raw):,}",
            f"{missing + len(located.partial) or ''}",
            f"{wrong or ''}",
            str(len(corpus.tasks)),
        )
    console = Console(highlight=False)
    console.print(f"Raw files in {'the mirror' if raw else 'the cache'} {source.folder}", markup=False, soft_wrap=True)
    console.print(table)
    console.print("\nWhat to do:" if todo else "\nNothing to do: every corpus is ready to build.")
    for name, what in todo.items():
        console.print(f"[bold]{name}[/bold]: {escape(what)}")
    return 1 if todo else 0


def _todo(corpus: Corpus, source: Source, located: Located, missing: int, wrong: int) -> str:
    if wrong and source.kind == "mirror":
        return f"replace the wrong files in {corpus.name}/ of the mirror"
    if missing or wrong:
        downloadable = all(corpus.url_of(file, file.name) for file in corpus.files)
        if downloadable:
            return f"socket-data fetch {corpus.name}"
        return corpus.by_hand or "give a mirror with --raw DIR"
    tasks = ", ".join(task.name for task in corpus.tasks)
    return f"{tasks} in part only, without {', '.join(located.partial)}. {corpus.by_hand or ''}".strip()
