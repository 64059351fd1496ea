"""`export`: a release as the text files of the published one, for code that reads those."""

import ast
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.commands import export as command
from builders.declaration import load_corpora
from builders.pipeline.lock import LOCK
from builders.pipeline.package import data_path, write_parquet
from builders.problems import Problem, WrongUsage
from builders.publish.export import MANIFEST, export_published_layout
from tests.conftest import classification, regression
from validation.published import SPLITS, rows

TASKS = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}
# Ours by the name that the published files have for them.
NAMES = {"train": "train", "validation": "val", "test": "test", "sockette": "sockette"}


@pytest.fixture(scope="module")
def sample_export(sample_release, tmp_path_factory) -> Path:
    """An export of all tasks, built from the invented samples."""
    folder = tmp_path_factory.mktemp("export") / "texts"
    export_published_layout(sample_release, load_corpora(), folder)
    return folder


@pytest.fixture
def small(workshop) -> Path:
    """A release of one corpus with three items: two in train, one in validation, none in test."""
    files = [{"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}]
    task = classification("moods#mood", dataset="moods")
    workshop.corpus("invented", {"a.tsv": "what a day\t1\nwhat a mess\t0\nwhat a view\t1\n"}, [task], files)
    return workshop.build()[0]


def items(release: Path, task: str, split: str) -> list[dict]:
    return pq.read_table(release / data_path(TASKS[task], split)).to_pylist()


def read_as_the_script_does(folder: Path, task: str, name: str) -> list[tuple[str, object]]:
    """The loading script of 1.1.0 in brief: universal newlines, lines stripped, a span's label evaluated."""
    texts, labels = (
        (folder / "SOCKET_DATA" / task / f"{name}_{what}.txt").read_text(encoding="utf-8").split("\n")[:-1]
        for what in ("text", "labels")
    )
    assert len(texts) == len(labels)
    read = ast.literal_eval if task.endswith("span") else str.strip
    return [(text.strip(), read(label)) for text, label in zip(texts, labels, strict=True)]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What is written ----------------------------------------------------------------------------------------


def test_a_small_export_to_the_byte(small, workshop, tmp_path):
    """Three texts: train has 0.8 * 3 = 2, test half of the one left, so none, and validation that one. SocKETTe is all
    of test."""
    given = export_published_layout(small, workshop.corpora, tmp_path / "texts")
    assert given == {"moods#mood": 3}
    found = content(tmp_path / "texts")
    base = "SOCKET_DATA/moods#mood/"
    assert found.keys() == {
        MANIFEST,
        f"{base}label_list.txt",
        *(f"{base}{split}_{what}.txt" for split in NAMES.values() for what in ("text", "labels")),
    }
    assert found[f"{base}label_list.txt"] == b"bad\ngood\n"
    held = {"what a day": b"1\n", "what a mess": b"0\n", "what a view": b"1\n"}
    for split, size in (("train", 2), ("val", 1), ("test", 0), ("sockette", 0)):
        texts, labels = found[f"{base}{split}_text.txt"], found[f"{base}{split}_labels.txt"]
        assert texts.count(b"\n") == size
        assert labels == b"".join(held.pop(text) for text in texts.decode().splitlines())
    assert not held


@pytest.mark.parametrize("name", TASKS)
def test_the_published_rows_of_an_export_are_the_items_of_the_release(name, sample_export, sample_release):
    """What `fidelity` reads of a published release, it reads of an export."""
    found = rows(sample_export, TASKS[name])
    for split in ("train", "validation", "test"):
        seen = found[found["split"] == split]
        wanted = items(sample_release, name, split)
        assert list(seen["text"]) == [item["text"] for item in wanted]
        labels = [item["label"] for item in wanted]
        if TASKS[name].format == "span":
            labels = [tuple(surface for surfaces in label.values() for surface in surfaces) for label in labels]
        assert list(seen["label"]) == labels
    assert set(found["split"]) <= set(SPLITS.values())


@pytest.mark.parametrize("name", TASKS)
def test_a_reader_of_lines_gets_every_item_with_its_label(name, sample_export, sample_release):
    """A class by its id, a value as Python writes it, a span's label as the literal of what the release holds."""
    for split, file in NAMES.items():
        wanted = [(item["text"], item["label"]) for item in items(sample_release, name, split)]
        if TASKS[name].format != "span":
            wanted = [(text, str(label)) for text, label in wanted]
        assert read_as_the_script_does(sample_export, name, file) == wanted


@pytest.mark.parametrize("name", TASKS)
def test_the_label_list_has_the_names_in_the_order_of_their_ids(name, sample_export):
    listed = (sample_export / "SOCKET_DATA" / name / "label_list.txt").read_text(encoding="utf-8")
    assert listed.splitlines() == [label.name for label in TASKS[name].labels]


def test_a_number_is_written_as_it_is_and_not_as_32_bits_would_have_it(workshop, tmp_path):
    """2.35 has no exact 32-bit form (it would read 2.3499999046325684), 1/3 has no short decimal one."""
    scores = ["2.35", "3.0", "1e-05", "0.3333333333333333", "4.5"]
    files = [{"name": "a.tsv", "format": "tsv", "columns": ["text", "score"]}]
    raw = "".join(f"text {score}\t{score}\n" for score in scores)
    workshop.corpus("invented", {"a.tsv": raw}, [regression()], files)
    export_published_layout(workshop.build()[0], workshop.corpora, tmp_path / "texts")
    found = [
        pair
        for name in ("train", "val", "test")
        for pair in read_as_the_script_does(tmp_path / "texts", "warmth", name)
    ]
    assert sorted(found) == sorted((f"text {score}", score) for score in scores)


def test_characters_that_only_some_readers_take_for_line_ends_stay_where_they_are(workshop, tmp_path):
    """U+2028, U+0085 and a vertical tab end a line for `str.splitlines`, but for no reader of text files. In the label
    of a span they are escaped."""
    text = "one\u2028two\x85three\x0bfour"
    raw = (
        json.dumps({"text": text, "spans": [[0, len(text)]]})
        + "\n"
        + json.dumps({"text": "five", "spans": [[0, 2]]})
        + "\n"
    )
    task = {
        "name": "odd-span", "dataset": "odd-span", "category": "offensive", "format": "span", "column": "spans",
        "offsets": "code_points", "without_spans": "unlabeled", "labels": [{"name": "odd", "meaning": "Odd words."}],
    }  # fmt: skip
    workshop.corpus("odd", {"a.jsonl": raw}, [task], [{"name": "a.jsonl", "format": "json_lines"}])
    export_published_layout(workshop.build()[0], workshop.corpora, tmp_path / "texts")
    found = [
        pair
        for name in ("train", "val", "test")
        for pair in read_as_the_script_does(tmp_path / "texts", "odd-span", name)
    ]
    assert sorted(found, key=str) == [("five", {"odd": ["fi"]}), (text, {"odd": [text]})]
    labels = (tmp_path / "texts/SOCKET_DATA/odd-span").glob("*_labels.txt")
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 2 for path in labels)


def test_the_export_says_which_release_it_is(sample_export, sample_release):
    said = json.loads((sample_export / MANIFEST).read_text(encoding="utf-8"))
    lock = json.loads((sample_release / LOCK).read_text(encoding="utf-8"))
    assert (said["release"], said["source"]) == (lock["release"], "sample")
    assert said["files"] == sorted(content(sample_export).keys() - {MANIFEST})


def test_two_exports_have_the_same_bytes(sample_export, sample_release, tmp_path):
    export_published_layout(sample_release, load_corpora(), tmp_path / "again")
    assert content(tmp_path / "again") == content(sample_export)


# What it refuses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_a_text_that_is_not_one_line_is_refused_naming_the_item(end, small, workshop, tmp_path):
    path = small / "data/moods--mood/train.parquet"
    table = pq.read_table(path)
    second = table["id"][1].as_py()
    texts = pa.array([table["text"][0].as_py(), f"what a{end}mess"])
    write_parquet(table.set_column(0, "text", texts), path)
    with pytest.raises(Problem, match=f"moods#mood: train: item {second}: the text holds a line break"):
        export_published_layout(small, workshop.corpora, tmp_path / "texts")
    assert not list(tmp_path.glob("*texts*"))


def test_rows_that_are_not_those_of_the_lock_are_refused_naming_the_file(small, workshop, tmp_path):
    path = small / "data/moods--mood/train.parquet"
    table = pq.read_table(path)
    write_parquet(table.set_column(1, "label", pa.array([0, 0])), path)
    with pytest.raises(Problem, match=r"data/moods--mood/train\.parquet: holds other rows than the lock says"):
        export_published_layout(small, workshop.corpora, tmp_path / "texts")
    assert not list(tmp_path.glob("*texts*"))


def test_a_file_that_cannot_be_read_is_named(small, workshop, tmp_path):
    (small / "data/moods--mood/validation.parquet").write_bytes(b"no Parquet")
    with pytest.raises(Problem, match=r"data/moods--mood/validation\.parquet: cannot be read"):
        export_published_layout(small, workshop.corpora, tmp_path / "texts")


def test_a_task_that_no_corpus_declares_is_named(small, tmp_path):
    with pytest.raises(Problem, match=r"no corpus\.yaml declares moods#mood"):
        export_published_layout(small, {}, tmp_path / "texts")


def test_a_folder_that_is_no_release_is_refused(workshop, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(Problem, match=f"holds no {LOCK}"):
        export_published_layout(tmp_path / "empty", workshop.corpora, tmp_path / "texts")
    with pytest.raises(WrongUsage, match="there is no such folder"):
        export_published_layout(tmp_path / "absent", workshop.corpora, tmp_path / "texts")


@pytest.mark.parametrize("below", ["", "texts", "data/texts"])
def test_nothing_is_written_into_the_release(below, small, workshop):
    before = content(small)
    with pytest.raises(WrongUsage, match="lies in the release"):
        export_published_layout(small, workshop.corpora, small / below)
    assert content(small) == before


@pytest.mark.parametrize(
    "file",
    ["notes.txt", "SOCKET_DATA/moods#mood/train_text.txt", "SOCKET_DATA/mine.txt"],
    ids=["beside", "1.1.0", "in it"],
)
def test_a_folder_that_holds_anything_else_is_left_as_it_was(file, small, workshop, tmp_path):
    """Also where that is the published release itself, whose files have the same names."""
    folder = tmp_path / "texts"
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_text("mine\n", encoding="utf-8")
    with pytest.raises(WrongUsage, match="holds files that are not an export's"):
        export_published_layout(small, workshop.corpora, folder)
    assert content(folder) == {file: b"mine\n"}


def test_a_file_added_to_an_export_keeps_it_from_being_replaced(small, workshop, tmp_path):
    folder = tmp_path / "texts"
    export_published_layout(small, workshop.corpora, folder)
    (folder / "SOCKET_DATA/notes.txt").write_text("mine\n", encoding="utf-8")
    with pytest.raises(WrongUsage, match=r"SOCKET_DATA/notes\.txt"):
        export_published_layout(small, workshop.corpora, folder)


def test_a_file_in_place_of_the_folder_is_refused(small, workshop, tmp_path):
    (tmp_path / "texts").write_text("mine\n", encoding="utf-8")
    with pytest.raises(WrongUsage, match="is a file"):
        export_published_layout(small, workshop.corpora, tmp_path / "texts")


# Complete or as it was ----------------------------------------------------------------------------------


def test_an_earlier_export_is_replaced_and_nothing_of_it_stays(sample_export, small, workshop, tmp_path):
    folder = Path(shutil.copytree(sample_export, tmp_path / "texts"))
    export_published_layout(small, workshop.corpora, folder)
    assert sorted(path.name for path in (folder / "SOCKET_DATA").iterdir()) == ["moods#mood"]
    assert [path.name for path in tmp_path.glob("*texts*")] == ["texts"]


def test_an_export_that_is_interrupted_leaves_the_earlier_one(sample_export, sample_release, tmp_path):
    folder = Path(shutil.copytree(sample_export, tmp_path / "texts"))
    before = content(folder)

    def interrupt(task: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_published_layout(sample_release, load_corpora(), folder, interrupt)
    assert content(folder) == before
    assert [path.name for path in tmp_path.glob("*texts*")] == ["texts"]


def test_a_disk_that_refuses_is_told_as_a_problem(small, workshop, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("builders.publish.export.os.rename", full)
    with pytest.raises(Problem, match=r"No space left on device\. What was there is as it was"):
        export_published_layout(small, workshop.corpora, tmp_path / "texts")
    assert not list(tmp_path.glob("*texts*"))


# The command --------------------------------------------------------------------------------------------


def test_the_command_says_how_much_is_where(sample_release, tmp_path, capsys):
    lock = json.loads((sample_release / LOCK).read_text(encoding="utf-8"))
    total = sum(facts["items"] for corpus in lock["corpora"].values() for facts in corpus["tasks"].values())
    assert command.run(sample_release, tmp_path / "texts") == 0
    assert capsys.readouterr().out == f"{len(TASKS)} tasks, {total:,} items: {tmp_path / 'texts' / 'SOCKET_DATA'}\n"
