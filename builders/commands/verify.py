"""`socket-data verify`: whether a folder or a Hub repository is the release that its lock describes."""

import tempfile
from pathlib import Path

from rich.console import Console

from builders.pipeline.lock import LOCK, Lock, read_lock
from builders.problems import WrongUsage
from builders.publish.hub import is_repository, told, tree
from builders.publish.verify import verify_folder, verify_loaded, verify_tree


def run(place: str, load: bool) -> int:
    """Print what is not as the lock says; 0 if nothing is."""
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory() as scratch:
        if Path(place).is_dir():
            lock = read_lock(Path(place))
            found = verify_folder(Path(place), lock)
            name, revision = str(Path(place).resolve()), None
        elif is_repository(place):
            name, _, revision = place.partition("@")
            revision = revision or None
            lock, found = _repository(name, revision, Path(scratch))
        else:
            raise WrongUsage("neither a folder nor a Hub repository.", where=[place])
        if load:
            found += verify_loaded(name, lock, revision, Path(scratch), lambda task: None)
    for line in found:
        console.print(line, markup=False)
    files, tasks = len(lock["files"]), sum(len(entry["tasks"]) for entry in lock["corpora"].values())
    what = f"{files:,} files" + (f" and {tasks} tasks as loaded" if load else "")
    console.print(
        f"{place}: release {lock['release']}, {what}: " + (f"{len(found)} wrong." if found else "all as locked.")
    )
    return 1 if found else 0


def _repository(repo: str, revision: str | None, scratch: Path) -> tuple[Lock, list[str]]:
    from huggingface_hub import HfApi

    api = HfApi()

    def read(name: str) -> bytes:
        path = api.hf_hub_download(repo, name, repo_type="dataset", revision=revision, local_dir=scratch)
        return Path(path).read_bytes()

    with told(repo):
        read(LOCK)
        lock = read_lock(scratch)
        return lock, verify_tree(tree(api, repo, revision), lock, read)
