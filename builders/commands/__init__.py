"""What each command of `socket-data` does and prints; every module returns the exit status."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from builders.declaration import Corpus
from builders.pipeline.fetch import Cache, Mirror, Source, default_cache
from builders.problems import WrongUsage


def select(corpora: Mapping[str, Corpus], names: Sequence[str]) -> dict[str, list[str]]:
    """The tasks that `names` (corpora or tasks; none means all) stand for, by corpus, in declared order.

    Raises `WrongUsage` for a name that is neither, with those it resembles.
    """
    tasks = {task.name: corpus.name for corpus in corpora.values() for task in corpus.tasks}
    for name in names:
        if name not in corpora and name not in tasks:
            near = difflib.get_close_matches(name, [*corpora, *tasks], n=3, cutoff=0.5)
            raise WrongUsage(
                f"{name} is neither a corpus nor a task.",
                todo=f"Did you mean {' or '.join(near)}?" if near else "`socket-data corpora` lists them.",
            )
    chosen = {}
    for corpus in corpora.values():
        asked = [t.name for t in corpus.tasks if not names or corpus.name in names or t.name in names]
        if asked:
            chosen[corpus.name] = asked
    return chosen


def mirror_or_cache(raw: Path | None) -> Source:
    """Where raw files are read from. Raises `WrongUsage` if the mirror is not a folder."""
    if raw is None:
        return Cache(default_cache())
    if not raw.is_dir():
        raise WrongUsage("there is no such folder.", where=[str(raw)], todo="Give the mirror with --raw DIR.")
    return Mirror(raw)
