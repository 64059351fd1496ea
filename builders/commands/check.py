"""`socket-data check`: what is still missing or wrong in a corpus folder."""

from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from baselines.recipe import Recipe
from builders import declaration
from builders.commands import mirror_or_cache
from builders.problems import WrongUsage
from validation.corpora import findings


class Baseline(NamedTuple):
    """The model that a task has to be hard for."""

    model: str
    recipe: Recipe
    out: Path
    """Where the trials go, and are gone on with."""


def run(name: str, raw: Path | None, baseline: Baseline | None = None) -> int:
    """Print the list; 0 if it is empty and, with `baseline`, no task is too easy for it.

    Raises `WrongUsage` if there is no such corpus.
    """
    folder = declaration.CORPORA / name
    if not (folder / "corpus.yaml").exists():
        raise WrongUsage(f"there is no corpus {name}.", todo=f"Begin one: socket-data new-corpus {name}")
    if raw:
        mirror_or_cache(raw)
    found = findings(folder, raw)
    console = Console(soft_wrap=True, highlight=False)
    for number, sentence in enumerate(found, start=1):
        console.print(f"{number:>2}. {sentence}", markup=False)
    if found:
        console.print(f"{name}: {len(found)} left to do.")
    else:
        console.print(f"{name}: nothing left to do" + ("." if raw else " (real files not looked at; give --raw DIR)."))
    if found or baseline is None:
        return 1 if found else 0
    return _filter(name, raw, baseline)


def _filter(name: str, raw: Path | None, baseline: Baseline) -> int:
    """Whether the tasks of a corpus are hard enough, measured on a release of this corpus alone."""
    from baselines.data import open_release
    from builders.commands.training import filtered
    from builders.pipeline.release import build_release

    corpora = declaration.load_corpora()
    release = baseline.out / "release"
    baseline.out.mkdir(parents=True, exist_ok=True)
    selected = {name: [task.name for task in corpora[name].tasks]}
    outcome = build_release(selected, corpora, mirror_or_cache(raw), release, 1)[name]
    if outcome.problem:
        raise outcome.problem
    opened = open_release(release, corpora)
    return filtered(opened, list(opened.tasks.values()), baseline.model, baseline.recipe, baseline.out)
