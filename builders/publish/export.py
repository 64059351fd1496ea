"""A release as the text files of the published one (1.1.0), for whoever has code that reads those.

    DIR/SOCKET_DATA/<task>/<split>_text.txt      one text a line
    DIR/SOCKET_DATA/<task>/<split>_labels.txt    the label of the same line: a class id, a number, {name: [surface, …]}
    DIR/SOCKET_DATA/<task>/label_list.txt        the class names in the order of their ids, one a line
    DIR/export.json                              which release this is, and its files

The splits are `train`, `val`, `test` and `sockette`; a `#` in the name of a task stays. Texts are UTF-8, and every line
ends with a line feed. The loading script of 1.1.0 strips each line, has `ClassLabel` read a class id or a name, reads
a number as it stands, and evaluates the label of a span as a Python literal, so that is how they are written
(https://github.com/minjechoi/SOCKET/blob/main/SOCKET.py). It opens the files with universal newlines: a carriage return
would end a line as well.

Assumed, because the script reads neither: that SocKETTe's files are named like the others, and what `label_list.txt`
holds, above all for a task without classes (here the name of what is measured or marked).
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.declaration import Corpus, Task
from builders.pipeline.lock import Lock, SplitFacts, TaskFacts, read_lock
from builders.pipeline.package import content_digest, data_path
from builders.problems import Problem, WrongUsage, examples

ROOT = "SOCKET_DATA"
# Names every file of an export, so that a folder which holds anything else is left alone.
MANIFEST = "export.json"
SPLITS = {"train": "train", "validation": "val", "test": "test", "sockette": "sockette"}


def export_published_layout(
    release: Path, corpora: Mapping[str, Corpus], folder: Path, report: Callable[[str], None] = lambda task: None
) -> dict[str, int]:
    """Write the tasks of a release to `folder`; gives the items of each, SocKETTe not counted twice.

    The folder is complete or as it was; an earlier export in it is replaced. Equal releases give equal bytes. `report`
    is told each task that is done.

    Raises `WrongUsage` if the folder holds anything but an export or lies in the release, `Problem` for a file of the
    release that is not as its lock says, for a text that is not one line, and if the export cannot be written.
    """
    check_folder(release, folder)
    lock = read_lock(release)
    tasks = _tasks(lock, corpora)
    folder = folder.resolve()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
            made = Path(beside) / "export"
            for task, facts in tasks:
                _write_task(release, task, facts, made / ROOT / task.name)
                report(task.name)
            _write_manifest(lock, made)
            _swap(made, folder, Path(beside) / "previous")
    except OSError as error:
        raise Problem(
            f"cannot be written: {error.strerror or error}. What was there is as it was.",
            where=[str(error.filename or folder)],
            todo="Free some space or choose another folder.",
        ) from None
    return {task.name: facts["items"] for task, facts in tasks}


def check_folder(release: Path, folder: Path) -> None:
    """Raise `WrongUsage` unless an export of `release` may go to `folder`: outside of it, and absent, empty, or an
    earlier export with nothing added to it."""
    if not release.is_dir():
        raise WrongUsage("there is no such folder.", where=[str(release)])
    if release.resolve() in (folder.resolve(), *folder.resolve().parents):
        raise WrongUsage("lies in the release, which is only read.", where=[str(folder)], todo="Choose another.")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise WrongUsage("is a file.", where=[str(folder)], todo="Choose another folder.")
    # What lies at the top may be enough to see, and below it may be anything.
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in (ROOT, MANIFEST))
    foreign = foreign or sorted(_files(folder) - _manifest(folder))
    if foreign:
        raise WrongUsage(
            f"holds files that are not an export's: {examples(foreign)}. It was left as it was.",
            where=[str(folder)],
            todo="Move them elsewhere or choose another folder.",
        )


def _tasks(lock: Lock, corpora: Mapping[str, Corpus]) -> list[tuple[Task, TaskFacts]]:
    declared = {task.name: task for corpus in corpora.values() for task in corpus.tasks}
    released = {name: facts for entry in lock["corpora"].values() for name, facts in entry["tasks"].items()}
    unknown = sorted(released.keys() - declared)
    if unknown:
        raise Problem(f"no corpus.yaml declares {examples(unknown)}.", todo="Export with the code that built it.")
    return [(declared[name], facts) for name, facts in released.items()]


def _write_task(release: Path, task: Task, facts: TaskFacts, folder: Path) -> None:
    folder.mkdir(parents=True)
    for split, name in SPLITS.items():
        table = _read(release, task, split, facts["splits"][split])
        _write(folder / f"{name}_text.txt", table["text"].to_pylist())
        _write(folder / f"{name}_labels.txt", map(str, table["label"].to_pylist()))
    # The class names of the release itself, should a declaration have changed since.
    _write(folder / "label_list.txt", facts["splits"]["train"].get("labels") or task.label_names)


def _read(release: Path, task: Task, split: str, facts: SplitFacts) -> pa.Table:
    path = data_path(task, split)
    try:
        table = pq.read_table(release / path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise Problem(
            f"cannot be read ({str(error).splitlines()[0]}).",
            where=[str(release), path],
            todo="The release is damaged; build it again.",
        ) from None
    _check_one_line(task, split, table)
    if content_digest(table) != facts["content"]:
        raise Problem("holds other rows than the lock says.", where=[str(release), path], todo="Build it again.")
    return table


def _check_one_line(task: Task, split: str, table: pa.Table) -> None:
    first = pc.index(pc.match_substring_regex(table["text"], "[\n\r]"), True).as_py()
    if first >= 0:
        raise Problem(
            "the text holds a line break, but a line break ends a text in this layout.",
            where=[task.name, split, f"item {table['id'][first]}"],
            todo="The pipeline leaves none, so the release was altered; build it again.",
        )


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _files(folder: Path) -> set[str]:
    paths = folder.rglob("*")
    return {path.relative_to(folder).as_posix() for path in paths if path.is_symlink() or not path.is_dir()}


def _manifest(folder: Path) -> set[str]:
    """The files that an export says it has; none if it is no export."""
    try:
        return {MANIFEST, *json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, LookupError, TypeError):
        return set()


def _write_manifest(lock: Lock, folder: Path) -> None:
    content = {"release": lock["release"], "source": lock["source"], "layout": "1.1.0", "files": sorted(_files(folder))}
    _write(folder / MANIFEST, [json.dumps(content, indent=1)])


def _swap(made: Path, folder: Path, previous: Path) -> None:
    """Put the new export into place; the earlier one comes back if that fails or is interrupted."""
    try:
        if folder.exists():
            os.rename(folder, previous)
        os.rename(made, folder)
    except BaseException:
        if previous.exists() and not folder.exists():
            os.rename(previous, folder)
        raise
