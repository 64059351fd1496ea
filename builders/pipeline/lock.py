"""The lock of a release, `release.lock.json`: what it says, and reading it from a folder that may be damaged."""

import json
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

# pydantic reads this TypedDict; the one of the standard library only from Python 3.12 on.
from typing_extensions import TypedDict

from builders.problems import Problem, examples

LOCK = "release.lock.json"


def _inside(name: str) -> str:
    """A path below the release folder, spelled in the one way that there is."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name or name in (".", LOCK) or not name.isprintable():
        raise ValueError(f"{name[:60]!r} is no path inside the release")
    return name


Count = Annotated[int, Field(ge=0)]


class FileFacts(TypedDict):
    """A file of the release, or a raw file."""

    sha256: str
    bytes: Count
    content: NotRequired[str]
    """Of a Parquet file: the digest of what it holds, which does not depend on the writer."""


class SplitFacts(TypedDict):
    """A split of a task."""

    items: Count
    bytes: Count
    content: str
    labels: NotRequired[dict[str, Count]]
    """Items per class name, in the order of the ids."""


class TaskFacts(TypedDict):
    """A task: how many items, what was dropped, what is where."""

    items: Count
    dropped: dict[str, Count]
    splits: dict[Literal["train", "validation", "test", "sockette"], SplitFacts]
    off_by: dict[str, int]
    """By how many items splits miss the rule because groups stay together."""
    spans: NotRequired[dict[str, int]]


class CorpusFacts(TypedDict):
    """A corpus: where it came from and what it gave."""

    fingerprint: str
    raw: dict[str, FileFacts]
    missing: list[str]
    """Raw files it was built without."""
    rows: Count
    units: Count
    split: dict[str, int]
    tasks: dict[str, TaskFacts]


class Lock(TypedDict):
    """Everything `release.lock.json` says."""

    release: str
    source: Literal["raw", "sample"]
    fingerprint: str
    versions: dict[str, str]
    rules: dict[str, Any]
    not_built: dict[str, str]
    corpora: dict[str, CorpusFacts]
    overlaps: dict[str, dict[str, dict[str, int]]]
    files: dict[Annotated[str, AfterValidator(_inside)], FileFacts]


_LOCK = TypeAdapter(Lock)


def read_lock(release: Path) -> Lock:
    """The lock of a release folder. Raises `Problem` if there is none or it does not say what a lock says."""
    todo = "Build the release again."
    if (release / LOCK).exists() and not (release / LOCK).is_file():
        raise Problem(f"{LOCK} is no regular file.", where=[str(release)], todo=todo)
    try:
        content = json.loads((release / LOCK).read_text(encoding="utf-8"))
        return _LOCK.validate_python(content, strict=True)
    except FileNotFoundError:
        raise Problem(f"holds no {LOCK}, so it is not a release.", where=[str(release)]) from None
    except ValidationError as error:
        told = [f"{'.'.join(map(str, fault['loc'])) or 'all of it'}: {fault['msg']}" for fault in error.errors()]
        raise Problem(f"{LOCK} is damaged ({examples(told)}).", where=[str(release)], todo=todo) from None
    except (ValueError, RecursionError) as error:
        raise Problem(f"{LOCK} is damaged ({str(error)[:200]}).", where=[str(release)], todo=todo) from None
    except OSError as error:
        raise Problem(f"{LOCK} cannot be read ({error.strerror}).", where=[str(release)]) from None
