"""The report of a validation: pages to look at in a browser, from the folder they lie in and nothing else.

Needs the `reports` group (jinja2, matplotlib, great-expectations), which only this package and the suite import.
"""

import importlib.util
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from builders.declaration import Corpus
from builders.problems import Problem, WrongUsage, examples
from validation.rules import ERROR, Finding
from validation.validate import Validated

if TYPE_CHECKING:
    from rich.progress import Progress

LIBRARIES = ("great_expectations", "jinja2", "matplotlib")
# Names every file of a report, so that a folder which holds anything else is left alone.
MANIFEST = "report.json"
DATA_DOCS = "data-docs"


def write_report(
    release: Path, corpora: Mapping[str, Corpus], validated: Validated, folder: Path, progress: "Progress"
) -> Validated:
    """Write the report of a release to `folder`, as `index.html` and what it links to.

    Runs the great-expectations suite, whose Data Docs become a part of the report, and gives `validated` back with an
    error (rule `expectation`) for everything that failed there. The folder is complete or as it was; an earlier report
    in it is replaced. Equal releases give equal bytes.

    Raises `WrongUsage` if the folder holds anything but a report, `Problem` if a library is missing or the report
    cannot be written.
    """
    check_folder(folder)
    _check_libraries()
    from validation.report.pages import write_pages

    folder = folder.resolve()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
            made = Path(beside) / "report"
            made.mkdir()
            validated = _with_suite(release, corpora, validated, made / DATA_DOCS, progress)
            write_pages(release, corpora, validated, made, progress)
            _write_manifest(made)
            _swap(made, folder, Path(beside) / "previous")
    except OSError as error:
        raise Problem(
            f"cannot be written: {error.strerror or error}.",
            where=[str(error.filename or folder)],
            todo="Free some space or choose another --report.",
        ) from None
    return validated


def check_folder(folder: Path) -> None:
    """Raise `WrongUsage` unless `folder` is absent, empty, or an earlier report with nothing added to it."""
    if not folder.resolve().name:
        raise WrongUsage("the root of the disk is no report folder.", todo="Choose another --report.")
    nearest = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    if not nearest.is_dir():
        raise WrongUsage("is a file.", where=[str(nearest)], todo="Choose another --report.")
    if not folder.exists():
        return
    foreign = sorted(_files(folder) - _manifest(folder))
    if foreign:
        raise WrongUsage(
            f"holds files that are not a report's: {examples(foreign)}. It was left as it was.",
            where=[str(folder)],
            todo="Move them elsewhere or choose another --report.",
        )


def _files(folder: Path) -> set[str]:
    paths = folder.rglob("*")
    return {path.relative_to(folder).as_posix() for path in paths if path.is_symlink() or not path.is_dir()}


def _manifest(folder: Path) -> set[str]:
    """The files that a report says it has; none if it is no report."""
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {MANIFEST, *files}
    except (OSError, ValueError, LookupError, TypeError):
        return set()


def _write_manifest(folder: Path) -> None:
    text = json.dumps({"files": sorted(_files(folder))}, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def _check_libraries() -> None:
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise Problem(
            f"a report needs {', '.join(missing)}, which is not installed.", todo="Run `uv sync --group reports`."
        )


def _with_suite(release, corpora, validated: Validated, docs: Path, progress: "Progress") -> Validated:
    """What the suite says of every task whose tables can be read; findings tell of the others already."""
    from validation.suite import run_suite

    owner = {task: name for name, facts in validated.facts["corpora"].items() for task in facts["tasks"]}
    tasks = [task for task, name in owner.items() if not validated.facts["corpora"][name]["tasks"][task]["unreadable"]]
    bar = progress.add_task("expectations", total=len(tasks))
    failed = run_suite(release, corpora, tasks, docs, lambda task: progress.update(bar, advance=1, description=task))
    found = [
        Finding(
            "expectation",
            ERROR,
            owner[one.task],
            one.task,
            " ".join(filter(None, [one.split, one.column, one.expectation])),
            f"{one.split}: {one.message}",
            1,
            (),
        )
        for one in failed
    ]
    return validated._replace(findings=[*validated.findings, *found])


def _swap(made: Path, folder: Path, previous: Path) -> None:
    """Put the new report into place; the earlier one comes back if that fails or is interrupted."""
    try:
        if folder.exists():
            os.rename(folder, previous)
        os.rename(made, folder)
    except BaseException:
        if previous.exists() and not folder.exists():
            os.rename(previous, folder)
        raise
