"""Whether a folder is the release that its lock describes, and the whole way from raw files to a verdict."""

import shutil

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from builders.cli import app
from builders.pipeline.lock import read_lock
from builders.publish.verify import verify_folder


@pytest.fixture
def release(sample_release, tmp_path):
    return shutil.copytree(sample_release, tmp_path / "release")


def test_a_release_is_as_its_lock_says(release):
    assert verify_folder(release, read_lock(release)) == []


def test_every_file_that_is_not_as_locked_is_told_all_at_once(release):
    tables = release / "data" / "complaints"
    (tables / "train.parquet").write_bytes(b"PAR1 and nothing more")
    (tables / "test.parquet").unlink()
    shutil.copyfile(release / "data" / "hypo-l" / "validation.parquet", tables / "validation.parquet")
    # The same rows, written by another writer.
    pq.write_table(pq.read_table(tables / "sockette.parquet"), tables / "sockette.parquet", compression="gzip")
    (release / "README.md").write_text("another card", encoding="utf-8")
    (release / "notes.txt").write_text("mine", encoding="utf-8")
    assert sorted(verify_folder(release, read_lock(release))) == [
        "README.md: altered: other bytes than the lock says.",
        "data/complaints/sockette.parquet: the same rows in other bytes (another writer?).",
        "data/complaints/test.parquet: missing.",
        "data/complaints/train.parquet: damaged: it cannot be read.",
        "data/complaints/validation.parquet: altered: other rows than the lock says.",
        "notes.txt: not part of the release.",
    ]


def test_a_table_rewritten_by_pandas_still_holds_the_same_rows(release):
    path = release / "data" / "emotion-span" / "train.parquet"
    pq.write_table(pq.read_table(path), path, store_schema=True, compression="snappy")
    table = pq.read_table(release / "data" / "hypo-l" / "train.parquet").to_pandas()
    table.to_parquet(release / "data" / "hypo-l" / "train.parquet")
    table.assign(label=table["label"].astype("int8")).to_parquet(release / "data" / "hypo-l" / "test.parquet")
    assert verify_folder(release, read_lock(release)) == [
        "data/emotion-span/train.parquet: the same rows in other bytes (another writer?).",
        "data/hypo-l/test.parquet: altered: it has columns of other types.",
        "data/hypo-l/train.parquet: the same rows in other bytes (another writer?).",
    ]


def test_the_command_ends_with_0_or_1(release):
    assert CliRunner().invoke(app, ["verify", str(release)]).exit_code == 0
    (release / "README.md").unlink()
    ran = CliRunner().invoke(app, ["verify", str(release)])
    assert ran.exit_code == 1
    assert "README.md: missing." in ran.output


def test_every_row_is_compared_as_datasets_loads_it(workshop):
    """A card that gives the classes other names: the files are as they were, what is loaded is not."""
    from builders.publish.verify import verify_loaded
    from tests.conftest import classification, regression

    lines = [f"{word} {place},{n % 2},2.5" for n, word in enumerate(["mild", "grey", "dry"] * 4) for place in "abcd"]
    raw = "text,label,score\n" + "\n".join(f"{n} {line}" for n, line in enumerate(lines)) + "\n"
    file = {"name": "data.csv", "format": "csv"}
    workshop.corpus("weather", {"data.csv": raw}, [classification(), regression()], [file])
    folder, _ = workshop.build()
    lock = read_lock(folder)
    done = []
    cache = workshop.folder / "cache"
    assert list(verify_loaded(str(folder), lock, None, cache, done.append)) == []
    assert done == ["mood", "warmth"]
    card = (folder / "README.md").read_text(encoding="utf-8").replace("'1': good", "'1': fine")
    (folder / "README.md").write_text(card, encoding="utf-8")
    told = list(verify_loaded(str(folder), lock, None, workshop.folder / "cache2", done.append))
    assert "mood train: class names ['bad', 'fine'], the lock says ['bad', 'good']." in told


def test_release_builds_validates_compares_and_gives_a_verdict(sample_release, tmp_path):
    ran = CliRunner().invoke(
        app, ["release", "--sample", "--out", str(tmp_path / "out"), "--against", str(sample_release)]
    )
    assert ran.exit_code == 0, ran.output
    assert "no item changed" in ran.output
    assert "nothing blocks the release" in ran.output
    assert "socket-data push" in ran.output
