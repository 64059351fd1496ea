"""Every fault that the project knows is a folder in `tests/faults`, and what a user reads of it is its `message.txt`.

`tests/faults/README.md` says what such a folder holds. A test here makes the fault and compares, word for word.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from pydantic import BaseModel, ConfigDict

from builders.declaration import load_corpora
from builders.pipeline.lock import LOCK
from builders.pipeline.package import OVERLAPS_SCHEMA, write_parquet
from builders.pipeline.release import OVERLAPS
from builders.problems import Problem
from tests.conftest import Workshop, classification, regression
from tests.planting import Planted
from validation.known import read_known
from validation.rules import RULES, Finding
from validation.validate import validate

FAULTS = Path(__file__).parent / "faults"
BASES = FAULTS / "_bases"


class Invented(BaseModel):
    """Invented corpora, as `base.yaml` has them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    about: str
    corpora: dict[str, dict[str, Any] | str] = {}
    raw: dict[str, str] = {}


class Fault(Invented):
    """A fault, as `fault.yaml` has it."""

    shows: list[str]
    base: str | None = None
    rows: list[dict[str, Any]] = []
    lock: dict[str, Any] = {}
    files: list[dict[str, Any]] = []
    sealed: bool = True


def declared(folder: Path, kind: type[Invented], name: str) -> Invented:
    return kind(**yaml.safe_load((folder / name).read_text(encoding="utf-8")))


FOLDERS = sorted(folder for folder in FAULTS.iterdir() if folder.is_dir() and not folder.name.startswith("_"))


# What is invented ------------------------------------------------------------------------------------------------


def raw_files(folder: Path) -> dict[str, bytes]:
    """The files below `raw/`, by `<corpus>/<file>`."""
    raw = folder / "raw"
    return {path.relative_to(raw).as_posix(): path.read_bytes() for path in sorted(raw.rglob("*")) if path.is_file()}


def completed(task: dict) -> dict:
    """A task with what a fault does not mention; one of a format without a default is as it stands."""
    make = {"classification": classification, "pair": classification, "regression": regression}
    return make.get(task.get("format", "classification"), dict)(**task)


def invent(workshop: Workshop, corpora: Mapping[str, dict | str], raw: Mapping[str, str | bytes]) -> list[str]:
    """Build a release of corpora in `workshop`; gives the problems of those that could not be built.

    Raises `Problem` with all that is wrong in their declarations.
    """
    assert {path.split("/")[0] for path in raw} <= corpora.keys()
    for name, said in corpora.items():
        if isinstance(said, str):
            (workshop.folder / "corpora" / name).mkdir(parents=True)
            (workshop.folder / "corpora" / name / "corpus.yaml").write_text(said, encoding="utf-8")
            continue
        own = {path.removeprefix(f"{name}/"): content for path, content in raw.items() if path.startswith(f"{name}/")}
        with suppress(Problem):  # told by load_corpora, together with those of the other corpora
            workshop.corpus(name, own, **said | {"tasks": [completed(task) for task in said["tasks"]]})
    workshop.corpora = load_corpora(workshop.folder / "corpora")
    return [str(outcome.problem) for outcome in workshop.build()[1].values() if outcome.problem]


def contents(base: Path) -> tuple[dict, dict]:
    """The corpora of a base and its raw files."""
    corpora = declared(base, Invented, "base.yaml")
    return corpora.corpora, raw_files(base) | corpora.raw


@pytest.fixture(scope="session")
def built_base(tmp_path_factory) -> Callable[[str], Workshop]:
    """The workshop with the release of a base; it is built once and not to be changed."""

    @cache
    def build(name: str) -> Workshop:
        workshop = Workshop(tmp_path_factory.mktemp(name))
        assert invent(workshop, *contents(BASES / name)) == []
        return workshop

    return build


# What is planted -------------------------------------------------------------------------------------------------


class Release(Planted):
    """A copy of a release in which a fault is planted."""

    def plant(self, fault: Fault) -> None:
        """Change rows and seal the release; then patch the lock; then change files and seal each of them."""
        for step in fault.rows:
            self.change_rows(step)
        touched = {table for step in fault.rows for table in step.values() if isinstance(table, str)}
        for task in self.owner:
            if f"{task}/test" in touched and f"{task}/sockette" not in touched:
                self.put(task, "sockette", self.rows(task, "test"))
        if fault.rows and fault.sealed:
            self.seal()
        if fault.lock:
            self.put_lock(merged(self.lock(), fault.lock))
        for step in fault.files:
            name = self.change_file(step)
            if fault.sealed and name != LOCK:
                self.seal_file(name)

    def read(self, table: str) -> pd.DataFrame:
        """The rows of `<task>/<split>`, `ledger` or `overlaps`."""
        if table == "ledger":
            return self.ledger()
        if table == "overlaps":
            return pq.read_table(self.folder / OVERLAPS).to_pandas()
        return self.rows(*table.rsplit("/", 1))

    def write(self, table: str, *rows: pd.DataFrame) -> None:
        together = pd.concat(rows, ignore_index=True)
        if table == "ledger":
            self.put_ledger(together)
        elif table == "overlaps":
            listed = pa.Table.from_pandas(together, schema=OVERLAPS_SCHEMA, preserve_index=False)
            write_parquet(listed, self.folder / OVERLAPS)
        else:
            self.put(*table.rsplit("/", 1), together)

    def change_rows(self, step: dict) -> None:
        """One step of `rows`: what it takes from a table and where it puts that, with the values of `set`."""
        match step:
            case {"add": table, "rows": rows, **rest}:
                self.write(table, self.read(table), pd.DataFrame(rows))
            case {"change": table, "set": values, **rest}:
                taken, left = parted(self.read(table), rest.pop("where", {}))
                self.write(table, left, with_values(taken, values))
            case {"remove": table, **rest}:
                self.write(table, parted(self.read(table), rest.pop("where", {}))[1])
            case {"move": table, "to": other, **rest}:
                taken, left = parted(self.read(table), rest.pop("where", {}))
                self.write(table, left)
                self.write(other, self.read(other), with_values(taken, rest.pop("set", {})))
            case {"copy": table, "to": other, **rest}:
                taken, _ = parted(self.read(table), rest.pop("where", {}))
                self.write(other, self.read(other), with_values(taken, rest.pop("set", {})))
            case _:
                rest = step
        assert not rest, f"this means nothing in a step of rows: {rest}"

    def change_file(self, step: dict) -> str:
        """One step of `files`; gives the name of the file."""
        match step:
            case {"write": name, "text": text, **rest}:
                (self.folder / name).write_text(text, encoding="utf-8")
            case {"delete": name, **rest}:
                (self.folder / name).unlink()
            case {"cut": name, "to": count, **rest}:
                (self.folder / name).write_bytes((self.folder / name).read_bytes()[:count])
            case {"edit": name, "old": old, "new": new, **rest}:
                text = (self.folder / name).read_text(encoding="utf-8")
                assert old in text, f"{name} does not hold {old!r}"
                (self.folder / name).write_text(text.replace(old, new), encoding="utf-8")
            case {"columns": name, "to": columns, **rest}:
                write_parquet(with_columns(pq.read_table(self.folder / name), columns), self.folder / name)
            case _:
                name, rest = "", step
        assert not rest, f"this means nothing in a step of files: {rest}"
        return name

    def seal_file(self, name: str) -> None:
        """Let the lock know of a file that was changed; it does not know of one that was added."""
        lock, path = self.lock(), self.folder / name
        if name in lock["files"] and path.exists():
            lock["files"][name] |= {"sha256": sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
            self.put_lock(lock)


def parted(rows: pd.DataFrame, where: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows that hold in every column of `where` the value, or one of the values, said there; and the others."""
    hit = pd.Series(True, index=rows.index)
    for column, said in where.items():
        values = said if isinstance(said, list) else [said]
        missing = set(values) - set(rows[column])
        assert not missing, f"no row has the {column} {missing}"
        hit &= rows[column].isin(values)
    return rows[hit], rows[~hit]


def with_values(rows: pd.DataFrame, values: Mapping[str, Any]) -> pd.DataFrame:
    """Rows with other values; another text gives another id, unless that is set too."""
    own = {} if {"text", "text_a", "text_b"}.isdisjoint(values) else {"id": None}
    return rows.assign(**{column: [value] * len(rows) for column, value in (own | dict(values)).items()})


def with_columns(table: pa.Table, columns: Mapping[str, str | None]) -> pa.Table:
    """A table with columns of other types, without those of type null, and with empty ones that it did not have."""
    for name, kind in columns.items():
        if name in table.column_names:
            position = table.column_names.index(name)
            column = table[name]
            table = table.remove_column(position)
            if kind:
                table = table.add_column(position, name, column.cast(kind))
        else:
            table = table.append_column(name, pa.nulls(len(table), kind))
    return table


def merged(lock: object, patch: object) -> object:
    """`lock` after a JSON merge patch (RFC 7396): null removes a key."""
    if not isinstance(patch, dict):
        return patch
    lock = lock if isinstance(lock, dict) else {}
    kept = {key: value for key, value in lock.items() if patch.get(key, ...) is not None}
    return kept | {key: merged(lock.get(key, {}), value) for key, value in patch.items() if value is not None}


# What a user reads -----------------------------------------------------------------------------------------------


@pytest.fixture
def told(built_base, workshop, monkeypatch) -> Callable[[Path], str]:
    """The message of the fault in a folder: the problems of its build, or what validation finds in its release."""

    def tell(folder: Path) -> str:
        known = folder / "known.yaml"
        monkeypatch.setattr("validation.validate.read_known", lambda: read_known(known) if known.exists() else [])
        try:
            lines = list(_lines(declared(folder, Fault, "fault.yaml"), folder))
        except Problem as problem:
            lines = [str(problem)]
        # What a Parquet file weighs, and so its digest, is up to its writer.
        return re.sub("[0-9a-f]{12}…", "############…", "".join(f"{line}\n" for line in lines))

    def _lines(fault: Fault, folder: Path) -> Iterator[str]:
        own = raw_files(folder) | fault.raw
        if fault.base and not (fault.corpora or own):
            made = built_base(fault.base)
        else:
            corpora, raw = contents(BASES / fault.base) if fault.base else ({}, {})
            for name, said in fault.corpora.items():
                corpora[name] = said if isinstance(said, str) else corpora.get(name, {}) | said
            made = workshop
            yield from invent(workshop, corpora, raw | own)
        if (made.folder / "release").exists():
            planted = Release(made.folder / "release", workshop.folder / "planted/release", made.corpora)
            planted.plant(fault)
            # As for a user who names the folder `release`; messages do not tell where the test lies.
            monkeypatch.chdir(planted.folder.parent)
            yield from map(shown, validate(Path("release"), made.corpora).findings)

    return tell


def shown(finding: Finding) -> str:
    return f"accepted: {finding} {finding.known}" if finding.known else f"{finding.severity}: {finding}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_message_of_a_fault(folder, told, request):
    path = folder / "message.txt"
    was, now = message(folder), told(folder)
    assert now, "the fault goes unnoticed"
    assert "fault of this program" not in now, now
    if now == was:
        return
    lines = difflib.unified_diff(was.splitlines(True), now.splitlines(True), f"{folder.name}/message.txt", "now")
    if request.config.getoption("--regenerate"):
        path.write_text(now, encoding="utf-8")
        pytest.fail(f"regenerated; read it, and run the test again:\n{''.join(lines)}", pytrace=False)
    command = f"uv run pytest tests/test_faults.py -k {folder.name} --regenerate"
    pytest.fail(f"{''.join(lines)}\nIf it is to be so: {command}", pytrace=False)


@pytest.mark.parametrize("base", sorted(folder.name for folder in BASES.iterdir()))
def test_a_base_without_a_fault_has_no_finding(base, built_base, monkeypatch):
    monkeypatch.setattr("validation.validate.read_known", list)
    made = built_base(base)
    assert [shown(finding) for finding in validate(made.folder / "release", made.corpora).findings] == []


# What is covered -------------------------------------------------------------------------------------------------


def message(folder: Path) -> str:
    path = folder / "message.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def rules_in(folder: Path) -> set[str]:
    """The rules whose findings a message tells."""
    return set(re.findall("^(?:error|warning|accepted): [^:]+: ([a-z-]+): ", message(folder), re.MULTILINE))


def test_every_rule_finds_something_in_a_fault():
    assert {rule.id for rule in RULES} - set().union(*map(rules_in, FOLDERS)) == set()


def test_every_reported_fault_has_a_folder():
    readme = (FAULTS / "README.md").read_text(encoding="utf-8")
    reported = re.findall(r"^\| ([A-Z][0-9]+) \|", readme, re.MULTILINE)
    assert reported
    assert set(reported) == {name for folder in FOLDERS for name in shows(folder) if name[0].isupper()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_fault_shows_what_it_says(folder):
    assert {path.name for path in folder.iterdir()} <= {"fault.yaml", "raw", "known.yaml", "message.txt"}
    assert [other.name for other in FOLDERS if folder.name in other.name] == [folder.name]  # so that -k means it alone
    assert {name for name in shows(folder) if not name[0].isupper()} <= rules_in(folder)


def shows(folder: Path) -> list[str]:
    return declared(folder, Fault, "fault.yaml").shows
