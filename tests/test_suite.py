"""The great-expectations suite: a good release passes, a planted fault is named, and its pages stand alone.

great-expectations takes seconds to import, so one process runs the suite over every release of this module; it has an
empty home, an empty folder for temporary files and no network.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.pipeline.lock import LOCK
from tests.conftest import Workshop, classification, regression

# Looked for, not imported.
if importlib.util.find_spec("great_expectations") is None:
    pytest.skip("the group `reports` is not installed", allow_module_level=True)

SPLITS = ("train", "validation", "test", "sockette")
TASKS = ["mood#now", "warmth", "rare", "better", "insults"]

RUN = """
import json, socket, sys
from pathlib import Path

asked = []

def refuse(*what, **more):
    asked.append(str(what))
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse

from builders.declaration import load_corpora
from builders.problems import Problem
from validation.suite import run_suite

folder, docs, *tasks = sys.argv[1:]
corpora, told = load_corpora(Path(folder) / "corpora"), {"asked": asked}
for name, release, chosen in (
    ("good", "good", tasks), ("again", "good", tasks[:1]), ("bad", "bad", tasks), ("cut", "cut", tasks)
):
    done = []
    try:
        failed = run_suite(Path(folder) / release, corpora, chosen, Path(docs) / name, done.append)
        told[name] = {"done": done, "failed": [one._asdict() for one in failed]}
    except Problem as problem:
        told[name] = {"problem": str(problem)}
print(json.dumps(told))
"""

IMPORTS = """
import importlib, pkgutil, sys
import builders.cli, validation
modules = [module.name for module in pkgutil.walk_packages(validation.__path__, "validation.")]
for module in modules:
    importlib.import_module(module)
print("validation.suite" in modules, "great_expectations" in sys.modules)
"""


class Ran(NamedTuple):
    """What the suite said of the releases of this module, and what it left."""

    told: dict
    docs: Path
    left: list[Path]
    """What lies in the home, the folder for temporary files and the working folder afterwards."""
    release: Path
    """The good one."""

    def failed(self, name: str) -> set[tuple]:
        return {(one["task"], one["split"], one["column"], one["expectation"]) for one in self.told[name]["failed"]}

    def message(self, task: str, split: str, column: str | None, expectation: str) -> str:
        """What was said of one fault of the bad release."""
        place = {"task": task, "split": split, "column": column, "expectation": expectation}
        (message,) = [one["message"] for one in self.told["bad"]["failed"] if one.items() >= place.items()]
        return message

    def row(self, task: str, split: str, row: int) -> dict:
        """A row of the good release."""
        return table(self.release, task, split).to_pylist()[row]

    def pages(self, name: str) -> dict[str, str]:
        folder = self.docs / name
        return {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in folder.rglob("*")
            if path.is_file()
        }


def path_of(release: Path, task: str, split: str) -> Path:
    return release / "data" / task.replace("#", "--") / f"{split}.parquet"


def table(release: Path, task: str, split: str) -> pa.Table:
    return pq.read_table(path_of(release, task, split))


def change(release: Path, task: str, split: str, column: str, row: int, value: object) -> None:
    """Put `value` into one cell of a split."""
    old = table(release, task, split)
    place = old.column_names.index(column)
    cells = old[column].to_pylist()
    cells[row] = value
    new = old.set_column(place, old.schema.field(column), pa.array(cells, old.schema.field(column).type))
    pq.write_table(new, path_of(release, task, split))


def build_good(workshop: Workshop) -> Path:
    """A release of all four formats. Twenty items make splits of 16, 2, 2 and 2; three of 2, 1, 0 and 0."""
    words = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "jay", "koi")
    words += ("lynx", "mole", "newt", "owl", "pig", "quail", "rat", "seal", "toad", "vole")
    mood = classification(name="mood#now", column="label")
    mood["labels"][0]["name"] = "bad & <sad>"
    rows = "".join(f"The {word} sleeps,{n % 2},{n % 6}\n" for n, word in enumerate(words))
    workshop.corpus(
        "zoo",
        {"a.csv": "text,label,score\n" + rows},
        [mood, regression(name="warmth")],
        [{"name": "a.csv", "format": "csv"}],
    )
    workshop.corpus(
        "few",
        {"a.csv": "text,label\nOne fish,0\nTwo fish,0\nThree fish,0\n"},
        [classification(name="rare")],
        [{"name": "a.csv", "format": "csv"}],
    )
    pairs = "".join(f"The {word} sings,The {word} snores,{n % 2}\n" for n, word in enumerate(words))
    workshop.corpus(
        "duel",
        {"a.csv": "text_a,text_b,label\n" + pairs},
        [classification(name="better", format="pair")],
        [{"name": "a.csv", "format": "csv"}],
    )
    spans = [{"text": f"You {word} over there", "spans": [[4, 4 + len(word)]]} for word in words]
    workshop.corpus(
        "rude",
        {"a.jsonl": "".join(json.dumps(row) + "\n" for row in spans)},
        [
            classification(name="insults", column="spans", format="span")
            | {
                "offsets": "code_points",
                "without_spans": "unlabeled",
                "labels": [{"name": "insult", "meaning": "Words that insult."}],
            }
        ],
        [{"name": "a.jsonl", "format": "json_lines"}],
    )
    release, outcomes = workshop.build("good")
    assert {outcome.problem for outcome in outcomes.values()} == {None}
    return release


def spoil(release: Path) -> None:
    """One fault or a few in most splits; what has to be told is in `test_planted_faults_are_named`."""
    change(release, "mood#now", "train", "label", 3, 2)
    change(release, "mood#now", "validation", "text", 1, None)
    pq.write_table(table(release, "mood#now", "test").slice(1), path_of(release, "mood#now", "test"))
    change(release, "mood#now", "sockette", "text", 0, "two\nlines")
    change(release, "mood#now", "sockette", "text", 1, "")
    change(release, "warmth", "train", "label", 0, 5.5)
    change(release, "warmth", "train", "id", 15, "<script>alert(1)</script>")
    turned = table(release, "warmth", "validation").take([1, 0])
    pq.write_table(turned, path_of(release, "warmth", "validation"))
    words = table(release, "warmth", "test")
    words = words.set_column(1, "label", words["label"].cast(pa.string()))
    pq.write_table(words, path_of(release, "warmth", "test"))
    first = table(release, "warmth", "sockette")["id"][0].as_py()
    change(release, "warmth", "sockette", "id", 1, first)
    change(release, "better", "train", "text_a", 2, "Somebody else")
    change(release, "better", "test", "text_b", 0, " outer")
    change(release, "insults", "train", "spans", 0, [{"start": 0, "end": 99}])
    change(release, "insults", "train", "spans", 1, [])
    change(release, "insults", "validation", "spans", 0, [{"start": -1, "end": -1}])


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Ran:
    """The suite over a good release (a part of it twice), one with faults, and one with a file that is cut off."""
    folder = tmp_path_factory.mktemp("suite")
    good = build_good(Workshop(folder))
    spoil(Path(shutil.copytree(good, folder / "bad")))
    cut = path_of(Path(shutil.copytree(good, folder / "cut")), "mood#now", "train")
    cut.write_bytes(cut.read_bytes()[:-20])
    places = {name: folder / name for name in ("home", "temporary", "working")}
    for place in places.values():
        place.mkdir()
    here = Path(__file__).parents[1]
    more = {"HOME": places["home"], "TMPDIR": places["temporary"], "PYTHONPATH": here, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, folder, folder / "docs", *TASKS],
        cwd=places["working"],
        env=os.environ | {name: str(value) for name, value in more.items()},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    left = [path for place in places.values() for path in place.rglob("*")]
    return Ran(json.loads(done.stdout), folder / "docs", left, good)


def test_a_good_release_has_no_failure(ran):
    assert ran.told["good"] == {"done": TASKS, "failed": []}
    # Among them two splits without a row.
    assert ran.release.joinpath(LOCK).exists()
    assert len(table(ran.release, "rare", "test")) == len(table(ran.release, "rare", "sockette")) == 0


def test_planted_faults_are_named(ran):
    values, pairs = "expect_column_values_to", "expect_column_pair_values"
    rows, columns = "expect_table_row_count_to_equal", "expect_table_columns_to_match_ordered_list"
    assert ran.failed("bad") == {
        # 2 is no class, and a class has an item less.
        ("mood#now", "train", "label", f"{values}_be_in_set"),
        ("mood#now", "train", "label", rows),
        ("mood#now", "validation", "text", f"{values}_not_be_null"),
        # An item is gone, so its class has one less, too.
        ("mood#now", "test", None, rows),
        ("mood#now", "test", "label", rows),
        ("mood#now", "sockette", "text", f"{values}_not_match_regex"),
        ("mood#now", "sockette", "text", "expect_column_value_lengths_to_be_between"),
        ("warmth", "train", "label", f"{values}_be_between"),
        # `<` comes before every digit, so the rows are out of order as well.
        ("warmth", "train", "id", f"{values}_match_regex"),
        ("warmth", "train", "id", f"{pairs}_a_to_be_greater_than_b"),
        ("warmth", "validation", "id", f"{pairs}_a_to_be_greater_than_b"),
        ("warmth", "test", None, columns),
        ("warmth", "sockette", "id", f"{values}_be_unique"),
        ("better", "train", "text", f"{pairs}_to_be_equal"),
        ("better", "test", "text", f"{pairs}_to_be_equal"),
        ("better", "test", "text_b", f"{values}_not_match_regex"),
        # A span of 99 characters; no span where the label has one.
        ("insults", "train", "spans", f"{pairs}_a_to_be_greater_than_b"),
        ("insults", "train", "spans", f"{values}_be_between"),
        ("insults", "train", "label", f"{pairs}_to_be_equal"),
        # A span of no characters that begins before the text, where the surface has some.
        ("insults", "validation", "spans", f"{values}_be_between"),
        ("insults", "validation", "label", f"{pairs}_to_be_equal"),
    }


def test_a_fault_is_told_with_counts_and_ids(ran):
    row = ran.row("mood#now", "train", 3)
    told = ran.message("mood#now", "train", "label", "expect_column_values_to_be_in_set")
    assert told == f"Labels are 0 (bad & <sad>), 1 (good); not so in 1 of 16 rows (ids {row['id']})."
    # The items of two classes alternate, so each has eight of the sixteen in train.
    name = ["bad & <sad>", "good"][row["label"]]
    told = ran.message("mood#now", "train", "label", "expect_table_row_count_to_equal")
    assert told == f"8 items are {row['label']} ({name}), as in the lock; seen: 7."
    told = ran.message("mood#now", "test", None, "expect_table_row_count_to_equal")
    assert told == "2 items, as in the lock; seen: 1."
    told = ran.message("warmth", "test", None, "expect_table_columns_to_match_ordered_list")
    assert told.endswith("seen: text, label (string), id, id_before.")


def test_a_file_that_cannot_be_read_is_named(ran):
    assert ran.told["cut"]["problem"].startswith("data/mood--now/train.parquet: cannot be read (")


def test_every_split_has_a_page_that_the_index_leads_to(ran):
    for name in ("good", "bad"):
        pages = ran.pages(name)
        splits = {f"{task.replace('#', '--')}/{split}.html" for task in TASKS for split in SPLITS}
        assert pages.keys() == {"index.html", "style.css"} | splits
        for page, text in pages.items():
            for link in re.findall(r'(?:href|src)="([^"]*)"', text):
                assert (ran.docs / name / page).parent.joinpath(link).is_file(), f"{page}: {link}"
        assert splits <= set(re.findall(r'href="([^"]*)"', pages["index.html"]))
    good, bad = (ran.pages(name)["index.html"] for name in ("good", "bad"))
    assert "✗" not in good
    # A mark for every split with a fault: four of mood, four of warmth, two of better, two of insults.
    assert bad.count("✗") == 12
    failed = ran.pages("bad")["mood--now/train.html"]
    assert failed.count("✗ failed") == 2
    assert "Labels are 0 (bad &amp; &lt;sad&gt;), 1 (good)" in failed
    assert ran.row("mood#now", "train", 3)["id"] in failed


def test_pages_ask_nothing_of_the_network(ran):
    assert ran.told["asked"] == []
    for text in {**ran.pages("good"), **ran.pages("bad")}.values():
        assert not re.search(r"//|<script|@import|url\(", text)


def test_no_text_of_a_corpus_is_in_the_pages(ran):
    everything = "".join(ran.pages("bad").values())
    for text in ("sleeps", "fish", "sings", "snores", "over there", "Somebody else", "lines", "outer\n"):
        assert text not in everything
    # An id that is none is cut to the length of one.
    assert "&lt;script&gt;alert(1)" in everything
    assert "alert(1)&lt;" not in everything


def test_nothing_is_written_elsewhere(ran):
    assert ran.left == []
    assert sorted(path.name for path in ran.docs.iterdir()) == ["again", "bad", "cut", "good"]


def test_equal_releases_give_equal_pages(ran):
    good, again = ran.pages("good"), ran.pages("again")
    assert {f"mood--now/{split}.html" for split in SPLITS} <= again.keys()
    assert all(text == good[page] for page, text in again.items() if page != "index.html")


def test_nothing_else_imports_great_expectations():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
