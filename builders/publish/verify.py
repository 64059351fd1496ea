"""Whether what somebody has is the release: a folder, a Hub repository, or what `datasets` loads from it, held against
`release.lock.json`."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import file_digest, sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.lock import LOCK, Lock
from builders.pipeline.package import content_digest
from builders.publish.hub import GIT_ATTRIBUTES, Entry

Report = Callable[[str], None]


def verify_folder(folder: Path, lock: Lock) -> list[str]:
    """What in a folder is not as the lock says, one sentence per file; nothing if all of it is.

    Parquet files whose bytes differ but whose rows are the same are told apart from altered ones.
    """
    found = []
    for name, facts in lock["files"].items():
        path = folder / name
        try:
            with path.open("rb") as stream:
                digest = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            found.append(f"{name}: {'missing' if isinstance(error, FileNotFoundError) else error.strerror}.")
            continue
        if digest != facts["sha256"]:
            found.append(f"{name}: {_difference(path, facts)}")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()}
    return found + [f"{name}: not part of the release." for name in sorted(there - {LOCK, *lock["files"]})]


def _difference(path: Path, facts: dict) -> str:
    if "content" not in facts:
        return "altered: other bytes than the lock says."
    try:
        same = content_digest(pq.read_table(path, partitioning=None)) == facts["content"]
    except (OSError, pa.ArrowException):
        return "damaged: it cannot be read."
    except KeyError:  # a type that no release has
        return "altered: it has columns of other types."
    return "the same rows in other bytes (another writer?)." if same else "altered: other rows than the lock says."


def verify_tree(tree: Mapping[str, Entry], lock: Lock, read: Callable[[str], bytes]) -> list[str]:
    """What in the tree of a Hub repository is not as the lock says; its tables are not downloaded.

    `read` gives the bytes of a small file, of which the tree holds no sha256.
    """
    found = []
    for name, facts in lock["files"].items():
        entry = tree.get(name)
        if entry is None:
            found.append(f"{name}: missing.")
        elif (entry.sha256 or sha256(read(name)).hexdigest()) != facts["sha256"]:
            found.append(f"{name}: altered: other bytes than the lock says.")
    foreign = sorted(tree.keys() - {LOCK, GIT_ATTRIBUTES, *lock["files"]})
    return found + [f"{name}: not part of the release." for name in foreign]


def verify_loaded(place: str, lock: Lock, revision: str | None, cache: Path, report: Report) -> Iterator[str]:
    """What `datasets` loads from a repository or folder by the name of every task, held against the lock: splits, class
    names, rows. `report` is told each task that is done."""
    from datasets import load_dataset

    for corpus in lock["corpora"].values():
        for task, facts in corpus["tasks"].items():
            try:
                loaded = load_dataset(place, task, revision=revision, cache_dir=str(cache))
            except Exception as error:  # whatever it is, the task does not load
                yield f"{task}: does not load: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
                continue
            for split, said in facts["splits"].items():
                if not said["items"] and split not in loaded:
                    continue
                yield from _loaded_split(task, split, loaded.get(split), said)
            report(task)


def _loaded_split(task: str, split: str, loaded, said: dict) -> Iterator[str]:
    if loaded is None:
        yield f"{task} {split}: not loaded."
        return
    names = getattr(loaded.features["label"], "names", None)
    if "labels" in said and names != list(said["labels"]):
        yield f"{task} {split}: class names {names}, the lock says {list(said['labels'])}."
    if content_digest(loaded.data.table) != said["content"]:
        yield f"{task} {split}: other rows than the lock says ({loaded.num_rows:,}, {said['items']:,} expected)."
