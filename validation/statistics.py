"""Statistics of a build: its facts without examples, so without a word of any text. Committed, they show in a review
when data changes, and rules can be held against them without the data."""

import json
import platform
from pathlib import Path

from validation.validate import Validated

STATISTICS = Path(__file__).parent / "statistics"
RELEASE = "release.json"


def write_statistics(validated: Validated, folder: Path) -> None:
    """Write `release.json` (what concerns the whole release) and a file per corpus; files of other corpora go."""
    facts = without_examples(validated.facts)
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


def read_statistics(folder: Path = STATISTICS) -> dict:
    """The facts that were written: those of the release, with `corpora` in name order."""
    facts = json.loads((folder / RELEASE).read_text(encoding="utf-8"))
    paths = sorted(path for path in folder.glob("*.json") if path.name != RELEASE)
    return facts | {"corpora": {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}}


def without_examples(content: object) -> object:
    """The same without the key `examples` at any depth."""
    if isinstance(content, dict):
        return {key: without_examples(value) for key, value in content.items() if key != "examples"}
    return [without_examples(value) for value in content] if isinstance(content, list) else content
