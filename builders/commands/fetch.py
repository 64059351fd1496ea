"""`socket-data fetch`: raw files into the cache."""

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from builders.commands import mirror_or_cache, select
from builders.declaration import Corpus, load_corpora
from builders.pipeline.fetch import Cache, Mirror, default_cache, fetch_file, wanted_files
from builders.problems import Problem


def run(names: list[str], raw: Path | None) -> int:
    """Fetch the raw files of the named corpora; 0 if all of them are in the cache then."""
    corpora = load_corpora()
    chosen = [corpora[name] for name in select(corpora, names)]
    cache, mirror = Cache(default_cache()), mirror_or_cache(raw) if raw else None
    out, problems = Console(), []
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for corpus in chosen:
            got, failed = _fetch(corpus, cache, mirror, progress)
            problems += failed
            counts = ", ".join(f"{count} {how}" for how, count in sorted(got.items()))
            out.print(f"{corpus.name}: {counts or 'nothing'}" + (f", {len(failed)} failed" if failed else ""))
    for problem in problems:
        Console(stderr=True, soft_wrap=True).print(str(problem), style="red", highlight=False, markup=False)
    out.print(f"The cache is {cache.folder}", highlight=False, soft_wrap=True)
    return 1 if problems else 0


def _fetch(corpus: Corpus, cache: Cache, mirror: Mirror | None, progress: Progress):
    files = [(file, wanted_files(corpus, file, cache)) for file in corpus.files if not file.inside]
    bar = progress.add_task(corpus.name, total=sum(one.bytes or 0 for _, wanted in files for one in wanted))
    got, failed, complete = Counter(), [], set()
    for file, wanted in files:
        if file.instead_of and complete.issuperset(file.instead_of):
            continue  # what it stands in for is there
        before = len(failed)
        for one in wanted:
            try:
                how = fetch_file(corpus, one, cache, mirror, lambda count: progress.advance(bar, count))
                got[how] += 1
                if how == "cached":
                    progress.advance(bar, one.bytes or 0)
            except Problem as problem:
                failed.append(problem.within(corpus.name, one.name))
        if len(failed) == before:
            complete.add(file.name)
    progress.remove_task(bar)
    return got, failed
