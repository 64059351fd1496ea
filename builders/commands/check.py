"""`socket-data check`: what is still missing or wrong in a corpus folder."""

from pathlib import Path

from rich.console import Console

from builders import declaration
from builders.commands import mirror_or_cache
from builders.problems import WrongUsage
from validation.corpora import findings


def run(name: str, raw: Path | None) -> int:
    """Print the list; 0 if it is empty. Raises `WrongUsage` if there is no such corpus."""
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
    return 1 if found else 0
