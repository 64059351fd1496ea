"""What a person sees of `socket-data`: help, tables, messages and exit statuses."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from builders.cli import app, main
from builders.declaration import load_corpora
from builders.pipeline.lock import LOCK
from builders.pipeline.package import SPLIT_FILES
from tests.conftest import Workshop, classification

COMMANDS = [c.name or c.callback.__name__.replace("_", "-") for c in app.registered_commands]


class Ran(NamedTuple):
    """A command that was run to its end."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch, capsys, tmp_path) -> Run:
    """Run `socket-data` as in a terminal of 80 columns, in an empty folder and with an empty cache."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "SOCKET_DATA_CACHE": "cache"}.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["socket-data", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:  # anything else would be a traceback
            main()
        return Ran(ended.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def invented(workshop, monkeypatch) -> Workshop:
    """The command line knows the invented corpora `bees`, `cats` and `dogs` instead of the project's own."""
    for name in ("bees", "cats", "dogs"):
        raw = "".join(f"text {number} of {name}\t{number % 2}\n" for number in range(12))
        file = {"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}
        workshop.corpus(name, {"a.tsv": raw}, [classification(f"mood-{name}")], [file])
    monkeypatch.setattr("builders.declaration.CORPORA", workshop.folder / "corpora")
    return workshop


def cells(table: str) -> list[list[str]]:
    """The rows of a printed table."""
    return [[cell.strip() for cell in line.strip("│┃|").split("│")] for line in table.splitlines() if "│" in line]


# Help ------------------------------------------------------------------------------------------------------

HELP = """
import contextlib, io, json, sys
from builders.cli import main

told = {}
for command in json.loads(sys.argv[1]):
    sys.argv = ["socket-data", *command, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as ended:
            told[" ".join(command)] = [ended.code or 0, out.getvalue()]
heavy = sorted({"pandas", "pyarrow", "datasets", "numpy", "httpx"} & sys.modules.keys())
print(json.dumps({"told": told, "heavy": heavy}))
"""


@pytest.fixture(scope="module")
def help_of_all() -> dict:
    """The help of every command, and the heavy libraries that were loaded for it."""
    commands = [[], *([command] for command in COMMANDS)]
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", HELP, json.dumps(commands)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)


def test_help_names_every_command(help_of_all):
    status, text = help_of_all["told"][""]
    assert status == 0
    assert {"corpora", "fetch", "build", "show"} <= {*COMMANDS}
    for command in COMMANDS:
        assert re.search(rf"^│ {command} ", text, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_examples_of_that_command(help_of_all, command):
    status, text = help_of_all["told"][command]
    assert status == 0
    assert f"socket-data {command}" in text.split("Examples")[1]


def test_help_loads_no_heavy_library(help_of_all):
    assert help_of_all["heavy"] == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns(help_of_all, command):
    assert max(map(len, help_of_all["told"][command][1].splitlines())) <= 80


def test_without_a_command_the_help_is_shown_and_the_usage_is_wrong(run):
    ran = run()
    assert ran.status == 2
    assert re.search("Usage: .*socket-data", ran.out + ran.err)


# Wrong usage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bild"], ["bild"]),
        (["build", "--smaple"], ["--smaple"]),
        (["build", "--sample", "--workers", "-1"], ["--workers"]),
        (["build", "--sample", "--workers", "many"], ["--workers"]),
        (["build", "--sample", "--raw", "."], ["--raw", "--sample", "exclude each other"]),
        (["build", "--raw", "no-such-folder"], ["no-such-folder", "--raw DIR"]),
        (["corpora", "--raw", "no-such-folder"], ["no-such-folder", "--raw DIR"]),
        (["fetch", "--raw", "no-such-folder"], ["no-such-folder", "--raw DIR"]),
        (["corpora", "--raw", sys.executable], [sys.executable, "--raw DIR"]),
        (["show"], ["TASK"]),
        (["show", "hahackathon"], ["is a corpus", "hahackathon#is_humor", "hahackathon#offense_rating"]),
        (["show", "hahackaton#is_humor"], ["hahackaton#is_humor", "Did you mean hahackathon#is_humor"]),
        (["build", "hahackaton", "--sample"], ["hahackaton is neither", "Did you mean hahackathon"]),
        (["build", "emobank", "EmoBank", "--sample"], ["EmoBank is neither", "Did you mean emobank"]),
        (["build", "emobank#valance", "--sample"], ["emobank#valance", "Did you mean emobank#valence"]),
        (["fetch", "tweet-irony"], ["tweet-irony", "Did you mean tweet_irony"]),
        (["build", "xyzzy", "--sample"], ["xyzzy is neither a corpus nor a task", "`socket-data corpora`"]),
        (["build", "", "--sample"], ["neither a corpus nor a task", "`socket-data corpora`"]),
        (["build", "[red]", "--sample"], ["[red] is neither"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_wrong_usage_ends_with_status_2_and_says_what_to_do_and_nothing_is_written(run, arguments, words):
    ran = run(*arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert [word for word in words if word not in " ".join(ran.err.split())] == []
    assert list(Path().iterdir()) == []


def test_a_folder_that_holds_something_else_is_wrong_usage(run, invented):
    Path("thesis.tex").write_text("years of work")
    ran = run("build", "bees", "--raw", invented.mirror.folder, "--out", ".")
    assert ran.status == 2
    assert "thesis.tex" in ran.err
    assert Path("thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("out", ["/", "\udcff", "a" * 300, "file/release", "file"])
def test_a_folder_that_cannot_be_is_told_without_a_traceback(run, invented, out):
    Path("file").write_text("years of work")
    ran = run("build", "bees", "--raw", invented.mirror.folder, "--out", out)
    assert ran.status in (1, 2)
    assert ran.err.lstrip().startswith("socket-data: ")
    assert Path("file").read_text() == "years of work"


# Declarations and raw files that are wrong ---------------------------------------------------------------------


@pytest.mark.parametrize("command", ["corpora", "fetch", "build", "show"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"title: [", ["cats/corpus.yaml", "line"]),
        (b"\xff", ["cats/corpus.yaml", "UTF-8"]),
        (b"", ["cats/corpus.yaml"]),
        (b"title: Cats\n", ["cats/corpus.yaml", "tasks"]),
        (None, ["cats/corpus.yaml", "missing"]),
    ],
    ids=["not-yaml", "not-utf-8", "empty", "incomplete", "missing"],
)
def test_a_wrong_declaration_is_told_with_its_file(run, invented, command, content, words):
    path = invented.folder / "corpora" / "cats" / "corpus.yaml"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    ran = run(command, *(["mood-bees"] if command == "show" else []))
    assert ran.status == 1
    assert [word for word in words if word not in ran.err] == []


def test_corpora_shows_for_every_corpus_what_is_there_and_what_to_do(run, invented):
    (invented.mirror.folder / "cats" / "a.tsv").write_text("altered")
    (invented.mirror.folder / "dogs" / "a.tsv").unlink()
    ran = run("corpora", "--raw", invented.mirror.folder)
    assert ran.status == 1
    head, *rows = (line for line in ran.out.splitlines() if "licence" in line or "CC0-1.0" in line)
    columns = [slice(head.index(name), head.index(name) + len(name)) for name in ("found", "missing", "wrong", "tasks")]
    seen = {row.split()[0]: [row[column].strip() for column in columns] for row in rows}
    assert seen == {"bees": ["1", "", "", "1"], "cats": ["0", "", "1", "1"], "dogs": ["0", "1", "", "1"]}
    assert "cats: replace the wrong files in cats/ of the mirror" in ran.out
    assert "dogs: give a mirror with --raw DIR" in ran.out
    assert "bees:" not in ran.out


def test_corpora_ends_with_status_0_where_every_raw_file_is_there(run, invented):
    assert run("corpora", "--raw", invented.mirror.folder).status == 0
    assert run("corpora").status == 1  # the cache is empty
    assert run("fetch", "--raw", invented.mirror.folder).status == 0
    assert run("corpora").status == 0


@pytest.mark.parametrize("command", ["corpora", "fetch"])
def test_a_cache_folder_that_is_a_file_is_told_without_a_traceback(run, invented, command):
    Path("cache").write_text("years of work")
    ran = run(command, *(["--raw", invented.mirror.folder] if command == "fetch" else []))
    assert ran.status == 1
    assert "cache" in ran.out + ran.err
    assert Path("cache").read_text() == "years of work"


# Building ------------------------------------------------------------------------------------------------------


def test_building_the_sample_of_one_corpus(run):
    ran = run("build", "tweet_irony", "--sample", "--out", "small", "--workers", "1")
    assert ran.status == 0
    assert "Release: small" in ran.out
    assert sorted(path.name for path in Path().iterdir()) == ["small"]
    lock = json.loads(Path("small", LOCK).read_text())
    assert list(lock["corpora"]) == ["tweet_irony"]
    facts = lock["corpora"]["tweet_irony"]["tasks"]["tweet_irony"]
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["tweet_irony", "built,", str(lock["corpora"]["tweet_irony"]["rows"]), "raw", "rows"] in lines
    sizes = [str(facts["splits"][split]["items"]) for split in SPLIT_FILES]
    assert ["tweet_irony", str(facts["items"]), *sizes] in lines
    assert "tweet_irony unchanged" in run("build", "tweet_irony", "--sample", "--out", "small").out


def test_R10_one_corpus_that_cannot_be_built_is_told_in_the_table_and_ends_with_status_1(run, invented):
    (invented.mirror.folder / "cats" / "a.tsv").unlink()
    ran = run("build", "--raw", invented.mirror.folder, "--workers", "1")
    assert ran.status == 1
    for told in ("bees built", "cats failed", "dogs built"):
        assert told in ran.out
    assert "not built: cats: a.tsv: the raw file is missing." in ran.err
    assert sorted(json.loads(Path("release", LOCK).read_text())["corpora"]) == ["bees", "dogs"]


def test_where_nothing_can_be_built_there_is_no_table_and_no_release(run, invented):
    ran = run("build", "bees", "dogs")
    assert ran.status == 1
    assert ran.out == ""
    assert "not built: bees: a.tsv" in ran.err
    assert "not built: dogs: a.tsv" in ran.err
    assert "Nothing could be built" in ran.err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["bees", "mood-bees"])
def test_a_corpus_is_built_by_its_name_or_by_that_of_its_task(run, invented, name):
    assert run("build", name, "--raw", invented.mirror.folder).status == 0
    assert list(json.loads(Path("release", LOCK).read_text())["corpora"]) == ["bees"]


# Showing ---------------------------------------------------------------------------------------------------------

SHOWN = ["hahackathon#is_humor", "emobank#valence", "emotion-span", "humor-pairs"]


def corpus_of(task: str) -> str:
    return task.split("#")[0]


@pytest.mark.parametrize("task", SHOWN)
def test_show_tells_sizes_and_that_every_raw_row_is_accounted_for(run, sample_release, task):
    ran = run("show", task, "--release", sample_release)
    assert ran.status == 0
    assert ran.err == ""
    assert task in ran.out
    assert "invented sample" in ran.out
    data = sample_release / "data" / task.replace("#", "--")
    sizes = [str(len(pd.read_parquet(data / f"{split}.parquet"))) for split in SPLIT_FILES]
    assert ["items", *sizes] in cells(ran.out)
    rows, items, dropped = re.search(r"([\d,]+) raw rows = ([\d,]+) items \+ (.*)", ran.out).groups()
    assert int(rows) == int(items) + sum(map(int, re.findall(r"\d+", dropped)))
    assert int(items) == sum(map(int, sizes[:3]))


@pytest.mark.parametrize("task", ["hahackathon#is_humor", "humor-pairs"])
def test_show_tells_how_often_each_class_occurs_in_each_split(run, sample_release, task):
    ran = run("show", task, "--release", sample_release)
    data = sample_release / "data" / task.replace("#", "--")
    labels = [pd.read_parquet(data / f"{split}.parquet")["label"] for split in SPLIT_FILES]
    (declared,) = (one for one in load_corpora()[corpus_of(task)].tasks if one.name == task)
    for index, name in enumerate(declared.label_names):
        assert [f"{index} {name}", *(str((split == index).sum()) for split in labels)] in cells(ran.out)


@pytest.mark.parametrize("task", SHOWN)
def test_show_shows_the_first_test_items_with_their_labels(run, sample_release, task, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    ran = run("show", task, "--release", sample_release)
    item = pd.read_parquet(sample_release / "data" / task.replace("#", "--") / "test.parquet").iloc[0]
    (declared,) = (one for one in load_corpora()[corpus_of(task)].tasks if one.name == task)
    if declared.format == "span":
        label = item["text"][item["spans"][0]["start"] : item["spans"][0]["end"]]
    elif declared.format == "regression":
        label = f"{item['label']:g}"
    else:
        label = declared.label_names[item["label"]]
    assert [" ".join(label.split()), " ".join(item["text"].split())] in [
        [" ".join(cell.split()) for cell in row] for row in cells(ran.out)
    ]


def test_show_of_a_task_without_test_items_says_so_in_a_readable_way(run, sample_release):
    """The sample of two-to-lie is three dialogues, so its test split is empty."""
    ran = run("show", "two-to-lie#sender_truth", "--release", sample_release)
    assert ran.status == 0
    assert ran.out.count("two-to-lie#sender_truth") == 2


def test_show_of_a_task_that_was_not_built_says_how_to_build_it(run, invented):
    run("build", "bees", "--raw", invented.mirror.folder)
    ran = run("show", "mood-cats")
    assert ran.status == 1
    assert "mood-cats is not in this release" in ran.err
    assert "socket-data build cats" in ran.err


def test_show_of_a_task_that_could_not_be_built_says_why(run, invented):
    (invented.mirror.folder / "cats" / "a.tsv").unlink()
    run("build", "--raw", invented.mirror.folder, "--workers", "1")
    ran = run("show", "mood-cats")
    assert ran.status == 1
    assert "the raw file is missing" in ran.err


def test_show_where_there_is_no_release(run, invented):
    ran = run("show", "mood-bees")
    assert ran.status == 1
    assert "release" in ran.err


TEST_FILE = "data/mood-bees/test.parquet"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (TEST_FILE, None), (TEST_FILE, b""), (TEST_FILE, b"not Parquet"),
        (LOCK, None), (LOCK, b""), (LOCK, b"\xff"), (LOCK, b"[]"), (LOCK, b"{}"),
        (LOCK, b'{"corpora": 1, "files": 2, "fingerprint": 3, "source": 4}'),
        (LOCK, b'{"corpora": {}, "files": {}, "fingerprint": "", "source": "raw"}'),
        (LOCK, b'{"corpora": {"bees": {"tasks": {"mood-bees": {}}}}, "files": {}, "fingerprint": "", "source": ""}'),
    ],
)  # fmt: skip
def test_show_of_a_damaged_release_is_told_without_a_traceback(run, invented, name, content):
    run("build", "bees", "--raw", invented.mirror.folder)
    Path("release", name).unlink()
    if content is not None:
        Path("release", name).write_bytes(content)
    ran = run("show", "mood-bees")
    assert ran.status == 1
    assert ran.err.lstrip().startswith("socket-data: ")


# The terminal ------------------------------------------------------------------------------------------------------


def uncut(names: set[str], ran: Ran) -> None:
    """Every name can be read whole, and no line is longer than the terminal is wide."""
    assert max(map(len, ran.out.splitlines())) <= 80
    assert [name for name in sorted(names) if name not in ran.out] == []


def test_80_columns_are_enough_for_the_corpora_and_for_what_to_do(run):
    names = {*load_corpora()}
    (Path("mirror")).mkdir()
    uncut(names, run("corpora", "--raw", "mirror"))
    ran = run("corpora")
    uncut(names | {f"socket-data fetch {name}" for name in ("dailydialog", "tweet_irony")}, ran)


def test_80_columns_are_enough_for_the_tasks_of_a_build(run, sample_release):
    shutil.copytree(sample_release, "release")
    ran = run("build", "--sample", "--workers", "1")
    assert ran.status == 0
    uncut({task.name for corpus in load_corpora().values() for task in corpus.tasks}, ran)


@pytest.mark.parametrize("task", SHOWN)
def test_80_columns_are_enough_to_show_a_task(run, sample_release, task):
    uncut({task}, run("show", task, "--release", sample_release))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    "command", [["corpora"], ["build", "tweet_emoji", "--sample"], ["show", "tweet_emoji", "--release"]], ids=str
)
def test_a_terminal_that_knows_few_characters_gets_others_and_no_traceback(
    run, sample_release, monkeypatch, encoding, command
):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    ran = run(*command, *([sample_release] if command[0] == "show" else []))
    stream.flush()
    assert ran.status == (1 if command == ["corpora"] else 0)
    assert b"tweet_emoji" in stream.buffer.getvalue()


def test_an_interrupted_command_says_so_without_a_traceback(run, monkeypatch):
    def interrupted(raw):
        raise KeyboardInterrupt

    monkeypatch.setattr("builders.commands.corpora.run", interrupted)
    ran = run("corpora")
    assert ran.status != 0
    assert "interrupted" in ran.err


def test_a_reader_that_hangs_up_is_no_reason_for_a_traceback():
    """As in `socket-data corpora | true`."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "from builders.cli import main; main()", "corpora"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    os.close(writing)
    assert ended.stderr == ""
