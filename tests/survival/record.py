"""The last results of the long runs, in `results.md`."""

import platform
import re
from pathlib import Path

from builders.pipeline.release import versions

RESULTS = Path(__file__).parent / "results.md"


def record(title: str, command: str, table: str) -> None:
    """Put a result in the place of the last one of this title, with the command that prints it and the versions."""
    known = ", ".join(f"{name} {version}" for name, version in versions().items())
    where = f"{platform.system()} {platform.machine()}, {known}"
    section = f"## {title}\n\n```sh\n{command}\n```\n\n{where}\n\n{table}\n\n"
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Survival: the last results\n\n"
    old = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    text = old.sub(lambda _: section, text) if old.search(text) else text + section
    RESULTS.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
