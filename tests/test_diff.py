"""What changed between two releases, and the version number that asks for (H6)."""

import json

import pandas as pd
import pytest

from builders.commands.diff import run
from builders.problems import Problem
from builders.publish.changelog import entry
from builders.publish.diff import diff
from tests.conftest import classification, regression
from tests.planting import Planted

WEATHER = ["mild", "grey", "windy", "bright", "icy", "calm", "stormy", "dry", "humid", "foggy"]
PLACES = ["bay", "hill", "wood", "moor"]


@pytest.fixture
def old(workshop):
    """40 items of a mood and a warmth: 32 in train, 4 in validation, 4 in test."""
    lines = [f"{w} {p},{n % 2},{n % 5}" for n, w in enumerate(WEATHER) for p in PLACES]
    raw = "text,label,score\n" + "\n".join(lines) + "\n"
    file = {"name": "data.csv", "format": "csv"}
    workshop.corpus("weather", {"data.csv": raw}, [classification(), regression()], [file])
    return workshop.build("old")[0]


@pytest.fixture
def new(old, workshop) -> Planted:
    return Planted(old, workshop.folder / "new", workshop.corpora)


def changed(old, new: Planted):
    return diff(old, new.seal())


def test_two_equal_releases_need_no_new_version(old, new):
    found = diff(old, new.folder)
    assert (found.bump, found.next_version, found.counts, found.files) == ("none", "2.0.0", {}, ())


def test_other_bytes_with_the_same_items_are_a_patch(old, new):
    (new.folder / "README.md").write_text("another card", encoding="utf-8")
    lock = new.lock()
    lock["files"]["README.md"]["sha256"] = "0" * 64
    new.put_lock(lock)
    found = diff(old, new.folder)
    assert (found.bump, found.next_version, found.counts, found.files) == ("patch", "2.0.1", {}, ("README.md",))


def test_items_added_are_minor(old, new):
    rows = new.rows("mood", "train")
    new.put("mood", "train", pd.concat([rows, pd.DataFrame({"text": ["sunny bay"], "label": [1], "id": [None]})]))
    found = changed(old, new)
    assert (found.bump, found.next_version) == ("minor", "2.1.0")
    assert found.counts == {"added": 1}
    mood = next(task for task in found.tasks if task.task == "mood")
    assert (mood.before, mood.after, list(mood.rows["after"])) == (40, 41, ["train"])


def test_H6_a_flipped_label_is_major_and_shown(old, new):
    rows = new.rows("mood", "train")
    flipped = int(rows["label"].iloc[0])
    rows.loc[0, "label"] = 1 - flipped
    new.put("mood", "train", rows)
    found = changed(old, new)
    assert (found.bump, found.next_version) == ("major", "3.0.0")
    assert found.counts == {"relabelled": 1}
    mood = next(task for task in found.tasks if task.task == "mood")
    names = ["0 bad", "1 good"]
    assert mood.by("relabelled", "way") == {f"{names[flipped]} > {names[1 - flipped]}": 1}
    assert list(mood.rows["id"]) == [rows["id"].iloc[0]]


def test_a_value_that_changed_is_relabelled(old, new):
    rows = new.rows("warmth", "train")
    rows.loc[0, "label"] = rows["label"].iloc[0] + 0.25
    new.put("warmth", "train", rows)
    assert changed(old, new).counts == {"relabelled": 1}


def test_an_item_that_left_says_the_ledgers_reason(old, new):
    rows = new.rows("mood", "train")
    gone = rows["id"].iloc[0]
    new.put("mood", "train", rows.iloc[1:])
    line = {"corpus": "weather", "task": "mood", "source_row": "data.csv:1", "id": gone, "reason": "contradiction"}
    new.put_ledger(pd.concat([new.ledger(), pd.DataFrame([line | {"kept_id": None, "detail": ""}])]))
    found = changed(old, new)
    assert (found.bump, found.counts) == ("major", {"removed": 1})
    mood = next(task for task in found.tasks if task.task == "mood")
    assert mood.by("removed", "after") == {"contradiction": 1}
    assert "removed as contradiction (1)" in entry(found)


def test_an_item_that_changed_its_split_moved(old, new):
    train, validation = new.rows("mood", "train"), new.rows("mood", "validation")
    new.put("mood", "train", train.iloc[1:])
    new.put("mood", "validation", pd.concat([validation, train.iloc[:1]]))
    found = changed(old, new)
    assert (found.bump, found.counts) == ("major", {"moved": 1})
    assert found.tasks[0].by("moved", "way") == {"train > validation": 1}


def test_an_item_that_left_sockette_is_told(old, new):
    rows = new.rows("mood", "sockette")
    new.put("mood", "sockette", rows.iloc[1:])
    found = changed(old, new)
    assert (found.bump, found.counts) == ("major", {"left sockette": 1})


def test_another_spelling_of_the_same_text(old, new):
    rows = new.rows("mood", "train")
    rows.loc[0, "text"] = rows["text"].iloc[0].replace(" ", "  ")
    new.put("mood", "train", rows)
    assert changed(old, new).counts == {"text": 1}


def test_a_task_that_came_is_minor_and_one_that_went_is_major(old, workshop):
    workshop.corpora["weather"] = workshop.corpora["weather"].model_copy(
        update={"tasks": workshop.corpora["weather"].tasks[:1]}
    )
    fewer = workshop.build("fewer")[0]
    assert diff(fewer, old).bump == "minor"
    assert diff(old, fewer).bump == "major"
    assert [task.task for task in diff(old, fewer).tasks] == ["mood", "warmth"]


def test_the_command_prints_and_writes_every_changed_row(old, new, tmp_path, capsys):
    rows = new.rows("mood", "train")
    rows.loc[0, "label"] = 1 - rows["label"].iloc[0]
    new.put("mood", "train", rows)
    assert run(str(old), str(new.seal()), tmp_path / "diff.json", changelog=False) == 0
    printed = capsys.readouterr().out
    assert "1 relabelled" in printed
    assert "major change: the version after 2.0.0 is 3.0.0" in printed
    content = json.loads((tmp_path / "diff.json").read_text(encoding="utf-8"))
    assert content["bump"] == "major"
    assert [row["id"] for row in content["tasks"]["mood"]["rows"]["relabelled"]] == [rows["id"].iloc[0]]


def test_a_damaged_release_is_named(old, new):
    rows = new.rows("mood", "train")
    rows.loc[0, "label"] = 1 - rows["label"].iloc[0]
    new.put("mood", "train", rows)
    folder = new.seal()
    (folder / "data/mood/train.parquet").write_bytes(b"PAR1")
    with pytest.raises(Problem, match=r"data/mood/train\.parquet"):
        diff(old, folder)
