"""`socket-data corpora`: what is there of every corpus, and what to do about the rest."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from builders.commands import mirror_or_cache
from builders.declaration import Corpus, load_corpora
from builders.pipeline.fetch import Located, Missing, Source, locate


def run(raw: Path | None) -> int:
    """Print the status table; 0 if every raw file of every corpus is there and right."""
    source = mirror_or_cache(raw)
    table = Table(title=f"Raw files in {'the mirror ' + str(raw) if raw else 'the cache'}")
    for heading in ("corpus", "access", "licence", "found", "missing", "wrong", "tasks", "what to do"):
        table.add_column(heading, justify="right" if heading in ("found", "missing", "wrong", "tasks") else "left")
    all_well = True
    for corpus in load_corpora().values():
        located, problems = locate(corpus, source)
        missing = sum(isinstance(problem, Missing) for problem in problems)
        wrong = len(problems) - missing
        all_well &= not problems and not located.partial
        table.add_row(
            corpus.name,
            corpus.access,
            corpus.license,
            f"{len(located.raw):,}",
            f"{missing + len(located.partial) or ''}",
            f"{wrong or ''}",
            str(len(corpus.tasks)) + (" partial" if located.partial and not problems else ""),
            _todo(corpus, source, located, missing, wrong),
        )
    Console().print(table)
    return 0 if all_well else 1


def _todo(corpus: Corpus, source: Source, located: Located, missing: int, wrong: int) -> str:
    if wrong and source.kind == "mirror":
        return f"replace the wrong files in {corpus.name}/ of the mirror"
    if missing or wrong:
        downloadable = all(corpus.url_of(file, file.name) for file in corpus.files)
        if downloadable:
            return f"socket-data fetch {corpus.name}"
        return corpus.by_hand or "give a mirror with --raw DIR"
    if located.partial:
        return f"builds in part, without {', '.join(located.partial)}. {corpus.by_hand or ''}".strip()
    return "nothing: ready to build"
