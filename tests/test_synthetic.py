"""The release of invented rows that speed is measured with."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.synthetic import FEWEST, make_corpus, make_release, mixed
from builders.declaration import load_corpora
from builders.pipeline.lock import read_lock
from validation.published import facts as published

SCALE = Fraction(1, 500)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A small release of all corpora."""
    out = tmp_path_factory.mktemp("synthetic") / "out"
    outcomes = make_release(out, SCALE, [], workers=1).outcomes
    assert {outcome.status for outcome in outcomes.values()} == {"built"}
    return out


@pytest.fixture(scope="module")
def items(made) -> dict[str, int]:
    """How many items every task has."""
    corpora = read_lock(made / "release")["corpora"].values()
    return {name: task["items"] for entry in corpora for name, task in entry["tasks"].items()}


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_58_tasks_are_there(items):
    assert items.keys() == published()[0].keys()
    assert len(items) == 58


def test_a_large_task_has_its_share_of_the_published_items(items):
    # 200,703 / 500 = 401, 321,748 / 500 = 643, 119,794 / 500 = 240, 93,790 / 500 = 188; 15 % to either side.
    assert 341 <= items["jigsaw#threat"] <= 461
    assert 547 <= items["sarc"] <= 739
    assert 204 <= items["sentitreebank"] <= 276
    assert 160 <= items["neutralizing-bias-pairs"] <= 216


def test_item_totals_are_those_of_the_scale(items):
    wanted = {name: max(FEWEST, task.total / 500) for name, task in published()[0].items()}
    assert sum(items.values()) == pytest.approx(sum(wanted.values()), rel=0.15)
    # In the smallest tasks a handful of rows is much.
    assert {
        name: count for name, count in items.items() if abs(count - wanted[name]) > max(6, 0.15 * wanted[name])
    } == {}


def test_a_task_that_labels_fewer_texts_has_fewer_items(tmp_path):
    # Published: 10,000 of is_humor, 6,179 of humor_rating. A twentieth: 500 and 309.
    make_release(tmp_path / "out", Fraction(1, 20), ["hahackathon"], workers=1)
    tasks = read_lock(tmp_path / "out/release")["corpora"]["hahackathon"]["tasks"]
    assert 425 <= tasks["hahackathon#is_humor"]["items"] <= 575
    assert 263 <= tasks["hahackathon#humor_rating"]["items"] <= 355


def test_the_same_bytes_every_time(made, tmp_path):
    for corpus in load_corpora().values():
        make_corpus(corpus, SCALE, tmp_path)
    for folder in ("corpora", "mirror"):
        assert content(tmp_path / folder) == content(made / folder)


def test_rows_repeat_and_contradict_others(made):
    lock = read_lock(made / "release")
    rows = sum(entry["rows"] * len(entry["tasks"]) for entry in lock["corpora"].values())
    dropped: Counter = Counter()
    for entry in lock["corpora"].values():
        for task in entry["tasks"].values():
            dropped.update(task["dropped"])
    assert 0.01 < dropped["duplicate"] / rows < 0.05
    assert 0 < dropped["contradiction"] / rows < 0.02
    assert 0.01 < dropped["unlabeled"] / rows < 0.1
    assert dropped["held_out_part"] > 0
    assert sum(entry["split"]["joined_by_loose_key"] for entry in lock["corpora"].values()) > 0


def test_texts_are_as_long_as_those_of_the_corpus(made):
    def median(slug: str) -> float:
        texts = pq.read_table(made / f"release/data/{slug}/train.parquet", columns=["text"])["text"]
        return float(np.median([len(text) for text in texts.to_pylist()]))

    assert 40 < median("sarc") < 60
    assert 150 < median("jigsaw--toxic") < 250
    assert 3_000 < median("propaganda-span") < 6_000


def test_the_hash_is_splitmix64():
    # The first outputs of the published generator for the seed 1234567, as its other implementations give them.
    states = np.uint64(1234567) + np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert mixed(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]
