"""A release is complete or absent, says what is wrong with its input, and depends on nothing but its input."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from errno import ENOSPC
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from builders.pipeline.fetch import Samples
from builders.pipeline.lock import LOCK
from builders.pipeline.release import CARD, LEDGER, OVERLAPS, build_release
from builders.problems import Problem, WrongUsage
from tests.conftest import Workshop, classification, regression

TSV = {"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}


def lines(name: str, count: int = 12) -> str:
    """So many texts, bad and good by turns."""
    return "".join(f"text {number} of {name}\t{number % 2}\n" for number in range(count))


def add(workshop: Workshop, *names: str, raw: str | bytes | None = None, file: dict = TSV, **more) -> None:
    """Corpora of these names with one task each, `mood-<name>`."""
    for name in names:
        content = lines(name) if raw is None else raw
        workshop.corpus(name, {"a.tsv": content}, [classification(f"mood-{name}")], [file], **more)


def tree(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder: the bytes of files, where links lead, and empty folders too."""
    return {
        path.relative_to(folder).as_posix(): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """What changes when a file is written again, even with the same bytes."""
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in [folder, *folder.rglob("*")]}


def lock_of(release: Path) -> dict:
    return json.loads((release / LOCK).read_text(encoding="utf-8"))


def statuses(outcomes: Mapping) -> dict[str, str]:
    return {name: outcome.status for name, outcome in outcomes.items()}


def assert_nothing_beside(workshop: Workshop, *more: str) -> None:
    names = {path.name for path in workshop.folder.iterdir()}
    assert names <= {"corpora", "mirror", "release", *more}


# Builds in processes of their own ---------------------------------------------------------------------------


def many_kinds(workshop: Workshop) -> None:
    """Three corpora: repeated, contradictory and unlabeled texts, two tasks, groups, texts in two corpora."""
    shared = "".join(f"this text is in two corpora {number}\t{number % 2}\n" for number in range(8))
    add(workshop, "bees", raw=lines("bees", 30) + shared + lines("bees", 3) + "text 1 of bees\t0\nx\t-1\n")
    odd = "café ☕\t1\ncafe\u0301 ☕\t1\nİstanbul ß ſ\t0\nSTRASSE\t1\n😀 \u200d x\t0\n"
    add(workshop, "cats", raw=shared + odd + lines("cats", 20))
    rows = "".join(f"{number} of dogs\t{number % 2}\t{number / 7}\tgroup {number % 9}\n" for number in range(40))
    file = {"name": "a.tsv", "format": "tsv", "columns": ["text", "label", "score", "talk"]}
    tasks = [classification("dogs#mood"), regression("dogs#warmth", scale=[0.0, 6.0])]
    workshop.corpus("dogs", {"a.tsv": rows}, tasks, [file], group="talk")


COMMAND = """
import sys
from pathlib import Path
import builders.declaration
from builders.cli import main
builders.declaration.CORPORA = Path(sys.argv.pop(1))
main()
"""


def start(workshop: Workshop, out: str, *options: str, **environment: str) -> subprocess.Popen:
    """`socket-data build` of all invented corpora in a process, and a process group, of its own."""
    command = [sys.executable, "-c", COMMAND, str(workshop.folder / "corpora"), "build"]
    command += ["--raw", str(workshop.mirror.folder), "--out", str(workshop.folder / out), *options]
    return subprocess.Popen(
        command,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def alive(group: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, rest = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        state, _, its_group = rest.split()[:3]
        if int(its_group) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


ENDS_THE_BUILD = """
import os, signal, time

def build(raw):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.2)
    return raw["a.tsv"]
"""

ENDS_ITS_WORKER = """
import os, time
from pathlib import Path

def build(raw):
    while not (Path(__file__).parent / "begun").exists():
        time.sleep(0.01)
    os._exit(3)
"""

BEGINS = """
import time
from pathlib import Path

def build(raw):
    (Path(__file__).parents[1] / "cats" / "begun").touch()
    time.sleep(0.5)
    return raw["a.tsv"]
"""


# Bad input ------------------------------------------------------------------------------------------------

# What befalls a raw file after its bytes were declared, and what is told.
NOT_THE_FILE = {
    "missing": (Path.unlink, ["a.tsv", "missing"]),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-3]), ["a.tsv", "expected"]),
    "altered": (lambda path: path.write_bytes(path.read_bytes().replace(b"text 3", b"text 4")), ["a.tsv", "expected"]),
    "html": (lambda path: path.write_bytes(b"<!doctype html><html></html>"), ["a.tsv", "HTML"]),
    "empty": (lambda path: path.write_bytes(b""), ["a.tsv", "expected"]),
    "folder": (lambda path: (path.unlink(), path.mkdir()), ["a.tsv", "directory"]),
}

CSV, JSON = ({"name": "a.tsv", "format": name} for name in ("csv", "json_lines"))

# The content of a raw file, its declaration, and what is told.
NOT_AS_DECLARED = {
    "unknown-labels": ("a\t1\nb\t7\nc\t0\nd\t7\n", TSV, ["mood-unknown-labels", "a.tsv:2, a.tsv:4", "'7'", "label"]),
    "word-for-label": ("a\t1\nb\tbad\n", TSV, ["a.tsv:2", "'bad'"]),
    "float-for-label": ("a\t1\nb\t1.0\n", TSV, ["a.tsv:2", "'1.0'"]),
    "third-field": ("a\t1\nb\t0\tmore\nc\t1\n", TSV, ["a.tsv", "record 2", "3 fields, 2 expected"]),
    "no-second-field": ("a\t1\nb\nc\t1\n", TSV, ["a.tsv", "record 2", "1 fields, 2 expected"]),
    "not-utf-8": (b"a\t1\nb\xff\t0\n", TSV, ["a.tsv", "line 2", "utf-8"]),
    "not-utf-16": (b"a\t1\nb\xe9\t0\n", TSV | {"encoding": "utf-16"}, ["a.tsv", "utf-16"]),
    "not-json": ("a\t1\n", JSON, ["a.tsv", "record 1", "not JSON"]),
    # JSON can spell half of a surrogate pair, which no UTF-8 file can hold.
    "half-a-character": (
        '{"text": "a", "label": "1"}\n{"text": "b \\ud83d", "label": "0"}\n', JSON, ["a.tsv:2", "half a character"],
    ),
    "other-header": ("a\t1\n", CSV, ["no column text, label", "there are"]),
    "quote-left-open": ('text,label\n"a,1\n', CSV, ["a.tsv", "record 1"]),
    "no-header": ("", CSV, ["a.tsv", "empty"]),
    "all-dropped": ("a\t-1\n \t1\n", TSV, ["no raw row became an item"]),
    "no-records": ("", TSV, ["no raw row became an item"]),
}  # fmt: skip

# The code of a build.py, and what is told.
WRONG_CODE = {
    "raises": ("def build(raw):\n    return 1 / 0\n", ["build.py line 2", "ZeroDivisionError"]),
    "unknown-file": (
        "def build(raw):\n    return raw['b.tsv']\n",
        ["build.py line 2", "does not find what it needs", "b.tsv"],
    ),
    "unreadable-file": ("def build(raw):\n    open('/no/such/file')\n", ["build.py line 2", "/no/such/file"]),
    "not-python": ("def build(raw:\n", ["build.py", "SyntaxError", "line 1"]),
    "unknown-module": ("import no_such_module\n", ["build.py", "no_such_module"]),
    "no-build": ("def make(raw):\n    pass\n", ["build.py", "build"]),
    "no-argument": ("def build():\n    pass\n", ["build.py", "TypeError"]),
    "returns-nothing": ("def build(raw):\n    pass\n", ["build.py", "NoneType, not a table"]),
    "returns-a-dict": ("def build(raw):\n    return raw\n", ["build.py", "dict, not a table"]),
    "no-source-row": ("def build(raw):\n    return raw['a.tsv'][['text', 'label']]\n", ["no column source_row"]),
    "no-label": ("def build(raw):\n    return raw['a.tsv'][['source_row', 'text']]\n", ["no column label"]),
    "number-for-text": ("def build(raw):\n    return raw['a.tsv'].assign(text=1)\n", ["a.tsv:1", "text holds int"]),
    "no-text": ("def build(raw):\n    return raw['a.tsv'].assign(text=None)\n", ["build.py", "a.tsv:1", "not text"]),
    "row-repeats": ("def build(raw):\n    return raw['a.tsv'].assign(source_row='x')\n", ["build.py", "source_row x"]),
    "columns-twice": (
        "import pandas as pd\n\ndef build(raw):\n    return pd.concat([raw['a.tsv'], raw['a.tsv']], axis=1)\n",
        ["build.py", "column", "twice"],
    ),
}


@pytest.fixture(scope="module")
def among_bad_ones(tmp_path_factory):
    """A release of `dogs` and of as many corpora with bad input as there are kinds: the workshop and the outcomes."""
    workshop = Workshop(tmp_path_factory.mktemp("bad"))
    add(workshop, "dogs")
    for name, (spoil, _) in NOT_THE_FILE.items():
        add(workshop, name)
        spoil(workshop.mirror.folder / name / "a.tsv")
    for name, (raw, file, _) in NOT_AS_DECLARED.items():
        add(workshop, name, raw=raw, file=file)
    for name, (code, _) in WRONG_CODE.items():
        add(workshop, name, build=code)
    add(workshop, "no-code")
    (workshop.corpora["no-code"].folder / "build.py").unlink()
    return workshop, workshop.build()[1]


def assert_only_dogs_are_built(workshop: Workshop, outcomes: Mapping) -> None:
    """Nothing of the other corpora is in the release except, in its lock, why."""
    bad = workshop.corpora.keys() - {"dogs"}
    assert statuses(outcomes) == {"dogs": "built"} | dict.fromkeys(bad, "failed")
    release = workshop.folder / "release"
    lock = lock_of(release)
    assert lock["not_built"] == {name: str(outcomes[name].problem) for name in bad}
    assert list(lock["corpora"]) == ["dogs"]
    data = [f"data/mood-dogs/{split}.parquet" for split in ("train", "validation", "test", "sockette")]
    pages = {"tasks", "tasks/mood-dogs.md", "croissant.json"}
    assert {*tree(release)} == {"data", "data/mood-dogs", *data, *pages, LEDGER, OVERLAPS, CARD, LOCK}
    assert_nothing_beside(workshop)


def test_R10_however_many_corpora_have_bad_input_the_others_are_built(among_bad_ones):
    assert_only_dogs_are_built(*among_bad_ones)


def told(among_bad_ones, name: str) -> str:
    """What is told of a corpus with bad input; it begins with its name."""
    _, outcomes = among_bad_ones
    message = str(outcomes[name].problem)
    assert message.startswith(f"{name}: ")
    return message


@pytest.mark.parametrize("name", NOT_THE_FILE)
def test_R10_a_raw_file_that_is_not_the_declared_one_is_told_with_its_name(among_bad_ones, name):
    _, words = NOT_THE_FILE[name]
    assert [word for word in words if word not in told(among_bad_ones, name)] == []


@pytest.mark.parametrize("name", NOT_AS_DECLARED)
def test_a_raw_file_with_other_content_than_declared_is_told_with_the_record(among_bad_ones, name):
    *_, words = NOT_AS_DECLARED[name]
    assert [word for word in words if word not in told(among_bad_ones, name)] == []


@pytest.mark.parametrize("name", WRONG_CODE)
def test_a_build_py_that_breaks_its_promise_is_told_with_its_line(among_bad_ones, name):
    _, words = WRONG_CODE[name]
    assert [word for word in words if word not in told(among_bad_ones, name)] == []


def test_a_missing_build_py_is_told(among_bad_ones):
    assert "build.py: the file is missing" in told(among_bad_ones, "no-code")


@pytest.mark.parametrize("name", [*NOT_THE_FILE, *NOT_AS_DECLARED])
def test_every_message_about_a_raw_file_says_what_to_do(among_bad_ones, name):
    _, outcomes = among_bad_ones
    assert outcomes[name].problem.todo


@pytest.mark.parametrize("code", ["import sys\n\ndef build(raw):\n    sys.exit(0)\n", "raise SystemExit(0)\n"])
def test_a_build_py_that_wants_to_end_the_program_ends_its_corpus_only(workshop, code):
    add(workshop, "dogs")
    add(workshop, "cats", build=code)
    _, outcomes = workshop.build()
    assert_only_dogs_are_built(workshop, outcomes)
    assert "build.py" in str(outcomes["cats"].problem)


def test_a_missing_manifest_costs_its_corpus_only(workshop):
    add(workshop, "dogs")
    texts = {"name": "texts/*.txt", "format": "documents", "manifest": "texts.sha256"}
    workshop.corpus("cats", {}, [classification("mood-cats")], [texts])
    _, outcomes = workshop.build()
    assert_only_dogs_are_built(workshop, outcomes)
    assert "texts.sha256" in str(outcomes["cats"].problem)


def test_several_wrong_raw_files_are_told_together(workshop):
    files = [TSV, TSV | {"name": "b.tsv"}, TSV | {"name": "c.tsv"}]
    raw = {name: lines(name) for name in ("a.tsv", "b.tsv", "c.tsv")}
    workshop.corpus("cats", raw, [classification()], files)
    (workshop.mirror.folder / "cats" / "a.tsv").unlink()
    (workshop.mirror.folder / "cats" / "c.tsv").write_text("altered")
    message = str(workshop.build()[1]["cats"].problem)
    assert sorted(re.findall(r"cats: (\w)\.tsv", message)) == ["a", "c"]


def test_where_nothing_can_be_built_nothing_is_written(workshop):
    add(workshop, "cats", raw="a\t7\n")
    release, outcomes = workshop.build()
    assert statuses(outcomes) == {"cats": "failed"}
    assert not release.exists()
    assert_nothing_beside(workshop)


def test_where_nothing_can_be_built_the_release_that_is_there_stays(workshop):
    add(workshop, "cats")
    release, _ = workshop.build()
    before = stamps(release)
    add(workshop, "cats", raw="a\t7\n")
    workshop.build()
    assert stamps(release) == before
    assert_nothing_beside(workshop)


# The folder that is there already ------------------------------------------------------------------------


def assert_refused(workshop: Workshop, *words: str, names: list[str] | None = None) -> None:
    """Building into `release` is wrong usage, and everything stays as it was, byte for byte."""
    before, stamped = tree(workshop.folder), stamps(workshop.folder)
    with pytest.raises(WrongUsage) as caught:
        workshop.build(names=names)
    assert str(workshop.folder / "release") in str(caught.value)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)
    assert caught.value.todo
    assert tree(workshop.folder) == before
    assert stamps(workshop.folder) == stamped


@pytest.mark.parametrize("name", ["thesis.tex", "data/thesis.tex", ".git/HEAD", "README.md", "data/a/train.parquet"])
def test_a_folder_that_is_no_release_is_left_alone(workshop, name):
    add(workshop, "bees")
    path = workshop.folder / "release" / name
    path.parent.mkdir(parents=True)
    path.write_text("years of work")
    assert_refused(workshop, "not a release", name)


@pytest.mark.parametrize("name", ["notes.txt", "data/mood-bees/notes.txt", "data/mood-cats/train.parquet"])
def test_a_release_with_a_foreign_file_is_left_alone(workshop, name):
    add(workshop, "bees")
    release, _ = workshop.build()
    path = release / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("years of work")
    add(workshop, "bees", raw=lines("bees", 14))
    assert_refused(workshop, name)


def test_a_link_to_a_folder_is_a_foreign_file_too(workshop):
    add(workshop, "bees")
    release, _ = workshop.build()
    (release / "thesis").symlink_to(workshop.mirror.folder)
    add(workshop, "bees", raw=lines("bees", 14))
    assert_refused(workshop, "thesis")


@pytest.mark.parametrize(
    "lock",
    [
        "", "not JSON", "[]", "{}", "null", "\x00",
        '{"corpora": {}}',
        '{"corpora": 1, "files": 2, "fingerprint": 3, "source": 4}',
        '{"corpora": {}, "files": [], "fingerprint": "", "source": "raw"}',
        '{"corpora": {"bees": {}}, "files": {}, "fingerprint": "", "source": "raw"}',
        '{"corpora": {}, "files": {"README.md": {}}, "fingerprint": "", "source": "raw"}',
    ],
)  # fmt: skip
def test_a_folder_with_a_damaged_lock_is_left_alone(workshop, lock):
    add(workshop, "bees")
    (workshop.folder / "release").mkdir()
    (workshop.folder / "release" / LOCK).write_text(lock)
    assert_refused(workshop, LOCK)


def test_an_empty_folder_is_filled(workshop):
    add(workshop, "bees")
    (workshop.folder / "release").mkdir()
    assert statuses(workshop.build()[1]) == {"bees": "built"}


def test_a_file_in_place_of_the_folder_is_left_alone(workshop):
    add(workshop, "bees")
    (workshop.folder / "release").write_text("years of work")
    assert_refused(workshop, "is a file")


def test_the_root_of_the_disk_is_no_place_for_a_release(workshop):
    add(workshop, "bees")
    with pytest.raises(WrongUsage):
        build_release({"bees": ["mood-bees"]}, workshop.corpora, workshop.mirror, Path("/"), 1)


def test_a_link_to_a_release_is_followed_each_time(workshop):
    add(workshop, "bees")
    real, _ = workshop.build("real")
    (workshop.folder / "release").symlink_to(real)
    for count in (14, 16):
        add(workshop, "bees", raw=lines("bees", count))
        release, outcomes = workshop.build()
        assert statuses(outcomes) == {"bees": "built"}
        assert lock_of(release)["corpora"]["bees"]["rows"] == count
        assert_nothing_beside(workshop, "real")


def samples(workshop: Workshop) -> None:
    """Give every corpus its raw file as its sample."""
    for name, corpus in workshop.corpora.items():
        shutil.copytree(workshop.mirror.folder / name, corpus.folder / "sample")


def test_a_release_of_samples_and_one_of_raw_files_never_replace_each_other(workshop):
    add(workshop, "bees")
    samples(workshop)
    tasks = {"bees": ["mood-bees"]}
    build_release(tasks, workshop.corpora, Samples(), workshop.folder / "release", 1)
    assert_refused(workshop, "sample", "raw")
    release, _ = workshop.build("of-raw")
    before = stamps(release)
    with pytest.raises(WrongUsage, match="raw files; this build reads sample files"):
        build_release(tasks, workshop.corpora, Samples(), release, 1)
    assert stamps(release) == before


def test_a_build_of_fewer_corpora_than_the_release_has_is_refused(workshop):
    add(workshop, "bees", "cats", "dogs")
    workshop.build()
    assert_refused(workshop, "mood-bees", "mood-dogs", names=["cats"])


def test_a_build_of_fewer_tasks_than_the_release_has_is_refused(workshop):
    workshop.corpus("bees", {"a.tsv": lines("bees")}, [classification("mood"), classification("again")], [TSV])
    release, _ = workshop.build()
    before = stamps(release)
    with pytest.raises(WrongUsage, match="again"):
        build_release({"bees": ["mood"]}, workshop.corpora, workshop.mirror, release, 1)
    assert stamps(release) == before


def test_a_build_of_more_corpora_adds_them_and_keeps_the_others(workshop):
    add(workshop, "bees", "cats")
    workshop.build(names=["bees"])
    release, outcomes = workshop.build()
    assert statuses(outcomes) == {"bees": "unchanged", "cats": "built"}
    assert tree(release) == tree(workshop.build("anew")[0])


# Building again --------------------------------------------------------------------------------------------


def test_where_nothing_changed_nothing_is_written(workshop):
    add(workshop, "bees", "cats")
    release, _ = workshop.build()
    before = stamps(release)
    _, outcomes = workshop.build()
    assert statuses(outcomes) == {"bees": "unchanged", "cats": "unchanged"}
    assert stamps(release) == before


@pytest.mark.parametrize("wrong", ["label", "missing"])
def test_a_corpus_that_still_cannot_be_built_is_no_reason_to_write_the_release_again(workshop, wrong):
    add(workshop, "bees")
    add(workshop, "cats", raw="a\t7\n")
    if wrong == "missing":
        (workshop.mirror.folder / "cats" / "a.tsv").unlink()
    release, _ = workshop.build()
    before = stamps(release)
    _, outcomes = workshop.build()
    assert statuses(outcomes) == {"bees": "unchanged", "cats": "failed"}
    assert stamps(release) == before


def assert_only_cats_is_built(workshop: Workshop) -> None:
    """A further build does what is needed and no more."""
    _, outcomes = workshop.build()
    assert statuses(outcomes) == {"bees": "unchanged", "cats": "built"}
    assert_nothing_beside(workshop)


def test_changed_raw_bytes_rebuild_their_corpus_only_and_give_what_a_build_from_nothing_gives(workshop):
    add(workshop, "bees", "cats")
    release, _ = workshop.build()
    add(workshop, "cats", raw=lines("cats", 14))
    assert_only_cats_is_built(workshop)
    assert lock_of(release)["corpora"]["cats"]["rows"] == 14
    assert tree(release) == tree(workshop.build("anew")[0])


def test_a_changed_declaration_rebuilds_its_corpus_only(workshop):
    add(workshop, "bees", "cats")
    release, _ = workshop.build()
    task = classification("mood-cats")
    task["labels"].reverse()
    workshop.corpus("cats", {}, [task], [TSV])
    assert_only_cats_is_built(workshop)
    labels = lock_of(release)["corpora"]["cats"]["tasks"]["mood-cats"]["splits"]["train"]["labels"]
    assert list(labels) == ["good", "bad"]


def test_a_changed_build_py_rebuilds_its_corpus_only(workshop):
    add(workshop, "bees", "cats")
    release, _ = workshop.build()
    build = workshop.corpora["cats"].folder / "build.py"
    build.write_text("def build(raw):\n    return raw['a.tsv'].head(10)\n")
    assert_only_cats_is_built(workshop)
    assert lock_of(release)["corpora"]["cats"]["rows"] == 10


def test_a_corpus_that_was_repaired_joins_the_release(workshop):
    add(workshop, "bees")
    add(workshop, "cats", raw="a\t7\n")
    workshop.build()
    add(workshop, "cats")
    assert_only_cats_is_built(workshop)
    assert lock_of(workshop.folder / "release")["not_built"] == {}


FLIPPED = {"missing": Path.unlink, "altered": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?")}


@pytest.mark.parametrize(("name", "how"), [*zip(["train", "sockette"], FLIPPED.values(), strict=True)], ids=FLIPPED)
def test_a_data_file_that_is_missing_or_altered_in_the_release_is_built_again(workshop, name, how):
    add(workshop, "bees", "cats")
    release, _ = workshop.build()
    before = tree(release)
    how(release / f"data/mood-cats/{name}.parquet")
    _, outcomes = workshop.build()
    assert statuses(outcomes) == {"bees": "unchanged", "cats": "built"}
    assert tree(release) == before


@pytest.mark.parametrize("how", FLIPPED.values(), ids=FLIPPED)
@pytest.mark.parametrize("name", [LEDGER, OVERLAPS, CARD])
def test_a_file_about_the_whole_release_that_is_missing_or_altered_is_made_again(workshop, name, how):
    add(workshop, "bees")
    release, _ = workshop.build()
    before = tree(release)
    how(release / name)
    workshop.build()
    assert tree(release) == before


def test_a_release_without_its_lock_is_left_alone(workshop):
    add(workshop, "bees")
    release, _ = workshop.build()
    (release / LOCK).unlink()
    assert_refused(workshop, LOCK)


# The same bytes ----------------------------------------------------------------------------------------------


def test_one_corpus_alone_has_the_same_bytes_as_among_others(workshop):
    many_kinds(workshop)
    together = workshop.build()[0]
    ledger = pd.read_parquet(together / LEDGER)
    assert lock_of(together)["overlaps"]  # so it does see the others
    for name in ("bees", "cats", "dogs"):
        alone = workshop.build(f"{name}-alone", names=[name])[0]
        data = {path: content for path, content in tree(alone).items() if path.endswith(".parquet")}
        del data[LEDGER], data[OVERLAPS]
        assert len(data) == 4 * len(workshop.corpora[name].tasks)
        assert data.items() <= tree(together).items()
        assert lock_of(alone)["corpora"][name] == lock_of(together)["corpora"][name]
        pd.testing.assert_frame_equal(
            pd.read_parquet(alone / LEDGER), ledger[ledger["corpus"] == name].reset_index(drop=True)
        )


@pytest.mark.parametrize("task", ["dogs#mood", "dogs#warmth"])
def test_one_task_alone_has_the_same_bytes_as_with_the_other_task_of_its_corpus(workshop, task):
    many_kinds(workshop)
    together = workshop.build(names=["dogs"])[0]
    alone = workshop.folder / "alone"
    build_release({"dogs": [task]}, workshop.corpora, workshop.mirror, alone, 1)
    data = {path: content for path, content in tree(alone).items() if path.endswith(("train.parquet", "test.parquet"))}
    assert sorted(data) == [f"data/{task.replace('#', '--')}/{split}.parquet" for split in ("test", "train")]
    assert data.items() <= tree(together).items()
    assert set(pd.read_parquet(alone / LEDGER)["task"]) <= {task}


def test_L2_the_bytes_depend_on_no_hash_seed_locale_time_zone_worker_count_or_run(workshop):
    """Nor does what is told of a corpus that cannot be built: `eels` has an unknown label."""
    many_kinds(workshop)
    add(workshop, "eels", raw="a\t1\nb\t7\n")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "utf-8"}
    utf_8 = {"LC_ALL": "C.UTF-8"}
    runs = {
        "one": start(workshop, "one", "--workers=1", PYTHONHASHSEED="0", TZ="Pacific/Kiritimati", **ascii_only),
        "two": start(workshop, "two", "--workers=2", PYTHONHASHSEED="1", TZ="America/New_York", **utf_8),
    }
    here, outcomes = workshop.build("here")
    problem = str(outcomes["eels"].problem)
    assert "mood-eels: a.tsv:2: '7'" in problem
    for out, run in runs.items():
        printed, _ = run.communicate(timeout=60)
        assert run.returncode == 1, printed
        assert f"not built: {problem}" in printed
        assert tree(workshop.folder / out) == tree(here)


def test_two_builds_from_nothing_are_the_same(workshop):
    many_kinds(workshop)
    assert tree(workshop.build("one")[0]) == tree(workshop.build("two")[0])


# Interrupted builds -------------------------------------------------------------------------------------------

MOMENTS = {
    "while a corpus is built": ("os.mkdir", "mood-cats", 1),
    "while the lock is written": ("open", LOCK, 2),
    "before the old release is moved": ("os.rename", "", 1),
    "between the old release and the new one": ("os.rename", "", 2),
    "before the old release is removed": ("shutil.rmtree", "previous", 1),
}


def die_at(event: str, part: str, times: int) -> None:
    """End this process when it does something for the n-th time with a path that has `part` in it."""
    left = [times]

    def watch(seen: str, arguments: tuple) -> None:
        if seen == event and part in str(arguments[0]):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_killed_build_leaves_no_half_release_and_the_next_one_completes_it(workshop, moment):
    add(workshop, "cats")
    release, _ = workshop.build()
    old = tree(release)
    add(workshop, "cats", raw=lines("cats", 14))
    new = tree(workshop.build("anew")[0])
    process = os.fork()
    if not process:
        die_at(*moment)
        workshop.build()
        os._exit(0)
    _, ended = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(ended) == -signal.SIGKILL
    assert not release.exists() or tree(release) in (old, new)
    workshop.build()
    assert tree(release) == new
    assert_nothing_beside(workshop, "anew")


def test_an_interrupted_build_leaves_everything_as_it_was(workshop):
    add(workshop, "bees", "cats")
    release, _ = workshop.build()
    before = stamps(release)
    add(workshop, "bees", raw=lines("bees", 14))
    add(workshop, "cats", raw=lines("cats", 14))

    def interrupt(corpus, outcome):
        raise KeyboardInterrupt

    tasks = {"bees": ["mood-bees"], "cats": ["mood-cats"]}
    with pytest.raises(KeyboardInterrupt):
        build_release(tasks, workshop.corpora, workshop.mirror, release, 1, interrupt)
    assert stamps(release) == before
    assert_nothing_beside(workshop)


def test_the_workers_of_a_killed_build_end_too(workshop):
    """Else they go on writing into the folder that the next build uses. Here a worker kills the build."""
    add(workshop, "bees", "cats", "dogs", build=ENDS_THE_BUILD)
    run = start(workshop, "release", "--workers=2")
    with run.stdout:
        assert run.wait(timeout=60) == -signal.SIGKILL
    deadline = time.monotonic() + 15
    while alive(run.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = alive(run.pid)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


def test_a_worker_that_dies_costs_its_corpus_only(workshop):
    """`cats` takes its worker down while `dogs` is being built beside it, and `eels` waits."""
    add(workshop, "cats", build=ENDS_ITS_WORKER)
    add(workshop, "dogs", "eels", build=BEGINS)
    _, outcomes = workshop.build(workers=2)
    assert statuses(outcomes) == {"cats": "failed", "dogs": "built", "eels": "built"}
    assert "worker process died" in str(outcomes["cats"].problem)


# The disk and other builds --------------------------------------------------------------------------------------


def assert_not_written(workshop: Workshop, *words: str, beside: tuple[str, ...] = ()) -> None:
    """The build stops with a message for a person, and the release that is there stays as it was."""
    release = workshop.folder / "release"
    before = stamps(release)
    with pytest.raises(Problem) as caught:
        workshop.build()
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)
    assert caught.value.todo
    assert release.exists()
    assert stamps(release) == before
    assert_nothing_beside(workshop, *beside)


@pytest.fixture
def outdated(workshop) -> Workshop:
    """A workshop with a release from before its raw files changed."""
    add(workshop, "bees")
    workshop.build()
    add(workshop, "bees", raw=lines("bees", 14))
    return workshop


def full(*arguments, **options):
    raise OSError(ENOSPC, os.strerror(ENOSPC), "somewhere")


def test_a_full_disk_while_a_corpus_is_written(outdated, monkeypatch):
    monkeypatch.setattr(pq, "write_table", full)
    assert_not_written(outdated, "No space left on device")


def test_a_full_disk_while_the_release_is_finished(outdated, monkeypatch):
    write = Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda path, *a, **k: (full if path.name == LOCK else write)(path, *a, **k))
    assert_not_written(outdated, "No space left on device")


@pytest.mark.parametrize("at", [1, 2])
def test_a_folder_that_cannot_be_renamed(outdated, monkeypatch, at):
    """The old release moves aside, the new one takes its place: neither may cost the old one."""
    rename, calls = os.rename, []

    def fails(source, target):
        calls.append(target)
        if len(calls) == at:
            full()
        rename(source, target)

    monkeypatch.setattr(os, "rename", fails)
    assert_not_written(outdated, "cannot be written")


def test_a_file_in_the_way_of_the_folder_that_is_built_in(outdated):
    (outdated.folder / ".release.building").write_text("years of work")
    assert_not_written(outdated, ".release.building", beside=(".release.building",))
    assert (outdated.folder / ".release.building").read_text() == "years of work"


def test_a_file_in_place_of_a_parent_folder(workshop):
    add(workshop, "bees")
    (workshop.folder / "thesis.tex").write_text("years of work")
    with pytest.raises(Problem, match=re.escape("thesis.tex")):
        workshop.build("thesis.tex/release")
    assert (workshop.folder / "thesis.tex").read_text() == "years of work"


def test_no_place_for_temporary_files(outdated, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(outdated.folder / "corpora" / "bees" / "corpus.yaml"))
    assert_not_written(outdated, "corpus.yaml")


def test_two_builds_never_write_one_folder_at_the_same_time(workshop):
    add(workshop, "bees", "cats")
    told = []

    def build_again(corpus, outcome):
        with pytest.raises(Problem) as caught:
            workshop.build()
        told.append(str(caught.value))

    tasks = {"bees": ["mood-bees"], "cats": ["mood-cats"]}
    release = workshop.folder / "release"
    build_release(tasks, workshop.corpora, workshop.mirror, release, 1, build_again)
    assert len(told) == 2
    assert all("another build is writing this folder" in one and str(release) in one for one in told)
    assert tree(release) == tree(workshop.build("anew")[0])
