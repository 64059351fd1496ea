"""Statistics of a build: its facts without examples and cues, so without texts. Committed, they show in a review when
data changes, and rules can be held against them without the data."""

import json
import platform
from pathlib import Path

from builders.problems import WrongUsage, examples
from validation.validate import Validated

STATISTICS = Path(__file__).parent / "statistics"
RELEASE = "release.json"


def write_statistics(validated: Validated, folder: Path) -> None:
    """Write `release.json` (what concerns the whole release) and a file per corpus; files of other corpora go.

    Raises `WrongUsage` if the folder holds anything but statistics.
    """
    check_folder(folder)
    facts = statistics_of(validated.facts)
    corpora = facts.pop("corpora")
    made = {
        "command": "socket-data build --raw MIRROR --out RELEASE && socket-data validate RELEASE --statistics DIR",
        "versions": validated.lock["versions"],
        "machine": f"{platform.system()} {platform.machine()}",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for name, content in {"release": made | facts, **corpora}.items():
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")


def check_folder(folder: Path) -> None:
    """Raises `WrongUsage` unless the folder is absent, empty, or holds earlier statistics."""
    if folder.exists() and not folder.is_dir():
        raise WrongUsage("is a file.", where=[str(folder)], todo="Choose another --statistics.")
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if there and (RELEASE not in there or any(not name.endswith(".json") for name in there)):
        raise WrongUsage(f"holds files that are no statistics: {examples(there)}.", where=[str(folder)])


def read_statistics(folder: Path = STATISTICS) -> dict:
    """The facts that were written: those of the release, with `corpora` in name order."""
    facts = json.loads((folder / RELEASE).read_text(encoding="utf-8"))
    paths = sorted(path for path in folder.glob("*.json") if path.name != RELEASE)
    return facts | {"corpora": {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}}


def statistics_of(content: object) -> object:
    """What statistics keep of facts: no examples, and of the artefacts only those that have to be known anyway."""
    if isinstance(content, dict):
        kept = {key: statistics_of(value) for key, value in content.items() if key != "examples"}
        if "artefacts" in kept:
            kept["artefacts"] = [found for found in kept["artefacts"] if found["strong"]]
        return kept
    return [statistics_of(value) for value in content] if isinstance(content, list) else content
