"""Releases that are broken in all sorts of ways: `socket-data validate` names what is wrong and ends with 1, never with
a traceback, a hang, or a verdict that nothing blocks it."""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from builders.cli import app
from builders.declaration import load_corpora
from builders.pipeline.fetch import Samples
from builders.pipeline.lock import LOCK
from builders.pipeline.release import build_release

HUMOR = "data/hahackathon--is_humor/train.parquet"
PAIRS = "data/humor-pairs"


@pytest.fixture(scope="module")
def intact(tmp_path_factory) -> Path:
    corpora = load_corpora()
    names = ("hahackathon", "humor-pairs")
    chosen = {name: [task.name for task in corpora[name].tasks] for name in names}
    out = tmp_path_factory.mktemp("broken") / "intact"
    build_release(chosen, corpora, Samples(), out, workers=1)
    return out


@pytest.fixture
def release(intact, tmp_path) -> Path:
    return Path(shutil.copytree(intact, tmp_path / "release"))


def told(*arguments) -> str:
    """What the command says of something broken."""
    ran = CliRunner().invoke(app, ["validate", *map(str, arguments), "--workers", "1"])
    problem = ran.exception if ran.exception and not isinstance(ran.exception, SystemExit) else None
    assert problem is None or type(problem).__name__ in ("Problem", "WrongUsage"), repr(problem)
    assert problem is not None or ran.exit_code == 1, ran.output
    assert "fault of this program" not in ran.output
    return f"{ran.output}{problem or ''}"


def lock_of(release: Path) -> dict:
    return json.loads((release / LOCK).read_text(encoding="utf-8"))


def put_lock(release: Path, lock: object) -> None:
    (release / LOCK).write_text(json.dumps(lock), encoding="utf-8")


def seal(release: Path, name: str) -> None:
    """Let the lock have the sha256 of a file as it is now, as somebody would who edits a release by hand."""
    lock, content = lock_of(release), (release / name).read_bytes()
    lock["files"][name] |= {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    put_lock(release, lock)


def test_the_intact_one_passes(intact):
    ran = CliRunner().invoke(app, ["validate", str(intact), "--workers", "1"])
    assert ran.exit_code == 0, ran.output
    assert "invented samples" in ran.output


# The lock ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lock: lock.update(corpora={}), "the lock has no task"),
        (lambda lock: lock["corpora"].pop("humor-pairs"), "humor-pairs has files or ledger rows"),
        (lambda lock: lock["corpora"]["hahackathon"]["tasks"].pop("hahackathon#is_humor"), "hahackathon--is_humor has"),
        (lambda lock: lock["files"]["README.md"].update(bytes=1), "README.md has sha256"),
        (lambda lock: lock["corpora"]["humor-pairs"]["tasks"]["humor-pairs"].update(items=999), "the lock says 999"),
        (lambda lock: lock.update(overlaps={"a": {"b": {"train > test": 99}}}), "counts other overlaps"),
        (lambda lock: lock["files"].update({"../../secret": {"sha256": "0" * 64, "bytes": 1}}), "no path inside"),
        (lambda lock: lock["files"].update({"/dev/zero": {"sha256": "0" * 64, "bytes": 1}}), "no path inside"),
        (lambda lock: lock["files"].update({"a\0b": {"sha256": "0" * 64, "bytes": 1}}), "no path inside"),
        (lambda lock: lock.pop("release"), "release: "),
        (lambda lock: lock["corpora"]["humor-pairs"].update(rows=-1), "rows"),
        (lambda lock: lock.update(rules={}), "cards cannot be made of this lock"),
        (lambda lock: lock.update(not_built={"[/b]": ""}), "[/b]"),
    ],
    ids=[
        "no-corpora", "corpus-gone", "task-gone", "bytes", "items", "overlaps", "up", "absolute", "null", "part-gone",
        "negative", "no-rules", "markup",
    ],
)  # fmt: skip
def test_a_lock_that_does_not_fit(release, change, words):
    lock = lock_of(release)
    change(lock)
    put_lock(release, lock)
    if words == "[/b]":  # a warning: what else is in the lock is right, but for the card that no longer fits
        assert words in CliRunner().invoke(app, ["validate", str(release), "--workers", "1"]).output
    else:
        assert words in told(release).replace("\n", " ")


@pytest.mark.parametrize("content", [b"{}", b"[]", b"\xff\xfe", b"null", b"[" * 100_000, b'{"corpora": 1e400}'])
def test_a_lock_that_is_none(release, content):
    (release / LOCK).write_bytes(content)
    assert "release.lock.json is damaged" in told(release)


# Rows that changed and were sealed by hand -----------------------------------------------------------------


def test_two_labels_that_changed_places(release):
    """Counts stay, the sha256 is made to fit; the digest of the rows tells."""
    table = pq.read_table(release / HUMOR).to_pandas()
    one, other = table.index[table["label"] == 0][0], table.index[table["label"] == 1][0]
    table.loc[[one, other], "label"] = [1, 0]
    schema = pq.read_schema(release / HUMOR)
    pq.write_table(pa.Table.from_pandas(table, schema=schema, preserve_index=False), release / HUMOR)
    seal(release, HUMOR)
    assert "train: other rows than the lock has a digest of" in told(release)


def test_columns_in_another_order(release):
    table = pq.read_table(release / HUMOR)
    pq.write_table(table.select(["id", "label", "text"]), release / HUMOR)
    seal(release, HUMOR)
    assert "id, label, text instead of text, label, id" in told(release)


def test_text_that_is_no_utf8(release):
    table = pq.read_table(release / HUMOR)
    raw = pa.array([b"\xff\xfe" + text.encode() for text in table["text"].to_pylist()], pa.binary())
    broken = table.set_column(0, "text", raw.view(pa.string()))
    pq.write_table(broken, release / HUMOR)
    seal(release, HUMOR)
    assert "train: it cannot be read" in told(release)


def test_an_id_that_looks_like_markup(release):
    table = pq.read_table(release / HUMOR)
    ids = ["[/x]\x1b[31m" + "y" * 2_000, *table["id"].to_pylist()[1:]]
    pq.write_table(table.set_column(2, "id", pa.array(ids)), release / HUMOR)
    said = told(release)
    assert "[/x]U+001B[31m" in said
    assert "\x1b[31my" not in said


# Files ---------------------------------------------------------------------------------------------------


def test_all_tables_of_a_corpus_are_gone(release):
    shutil.rmtree(release / PAIRS)
    said = told(release)
    for split in ("train", "validation", "test", "sockette"):
        assert f"{PAIRS}/{split}.parquet is named by the lock" in said


def test_a_pair_task_without_any_row(release):
    for path in (release / PAIRS).iterdir():
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    said = told(release)
    assert "humor-pairs: empty-split: train has no item" in said


@pytest.mark.parametrize("name", [HUMOR, "README.md", "ledger.parquet", "overlaps.parquet", LOCK])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(release, name):
    (release / name).unlink()
    os.mkfifo(release / name)
    assert name in told(release)


def test_a_link_in_place_of_a_file_is_no_file(release, tmp_path):
    shutil.move(release / "README.md", tmp_path / "elsewhere.md")
    (release / "README.md").symlink_to(tmp_path / "elsewhere.md")
    assert "README.md is named by the lock but not there as a file" in told(release)


def test_a_folder_in_place_of_a_file(release):
    (release / "ledger.parquet").unlink()
    (release / "ledger.parquet").mkdir()
    assert "ledger.parquet: it is no regular file" in told(release)


def test_a_file_with_a_name_that_looks_like_markup(release):
    (release / "[bold]red").write_text("x")
    (release / "a[").write_text("x")
    said = told(release)
    assert "[bold]red is not named by the lock" in said
    assert "a[ is not named" in said


@pytest.mark.parametrize(
    "front",
    [
        "configs: [",
        "configs: [[[[",
        "configs: {config_name: [x]}",
        "configs: [{config_name: [x], data_files: []}]\ndataset_info: []",
        "dataset_info: [{config_name: a, features: [{name: label, dtype: {class_label: x}}], splits: []}]\nconfigs: []",
        "a: &a [x, x]\nb: &b [*a, *a]\nconfigs: *b\ndataset_info: *b",
        "x: " + "[" * 5_000,
        "!!python/object/apply:os.system [x]",
    ],
)
def test_a_card_of_any_sort(release, front):
    (release / "README.md").write_text(f"---\n{front}\n---\n\n# A card\n", encoding="utf-8")
    seal(release, "README.md")
    assert "README.md is not what this lock and these declarations give" in told(release)


# How it is called ----------------------------------------------------------------------------------------


def test_a_task_that_is_not_in_the_release(release):
    assert "not in this release: sarc" in told(release, "--task", "sarc")


@pytest.mark.parametrize("option", ["--report", "--statistics"])
def test_a_file_in_place_of_an_output_folder(release, tmp_path, option):
    (tmp_path / "file").write_text("mine")
    assert "is a file" in told(release, option, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_the_root_of_the_disk_is_no_report(release):
    assert "root of the disk" in told(release, "--report", "/")


def test_a_file_is_no_release(release):
    assert "is a file, not a release folder" in told(release / "README.md")
