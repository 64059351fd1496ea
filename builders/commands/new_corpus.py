"""`socket-data new-corpus`: the folder of a corpus to be."""

import re
import shutil
from pathlib import Path

from rich.console import Console

from builders import declaration
from builders.problems import WrongUsage

TEMPLATE = Path(__file__).parents[1] / "template"


def run(name: str) -> int:
    """Make `builders/corpora/NAME/` from the template. Raises `WrongUsage` for a name that cannot be one."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise WrongUsage(f"{name!r} cannot be a corpus: letters, digits, - and _ only.")
    folder = declaration.CORPORA / name
    taken = [path.name for path in declaration.CORPORA.iterdir() if path.name.casefold() == name.casefold()]
    if taken:
        raise WrongUsage(f"the corpus {taken[0]} is there already.", todo=f"See: socket-data check {taken[0]}")
    shutil.copytree(TEMPLATE, folder)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            path.write_text(path.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
    Console().print(f"{folder} is made. What is to do: socket-data check {name}", highlight=False, soft_wrap=True)
    return 0
