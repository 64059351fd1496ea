"""`new-corpus` and `check`: from a template to a corpus with nothing left to do."""

import shutil

import pytest

from builders import declaration
from builders.commands import check, new_corpus
from builders.problems import WrongUsage
from validation.corpora import findings

# The last of 24 texts repeats the first: of 23 items 12 are negative (0, 2, ... 22), 11 positive.
RECORDS = [(f"cup number {n} was tasty", n % 2) for n in range(23)] + [("cup number 0 was tasty", 0)]


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    folder = tmp_path / "corpora"
    folder.mkdir()
    monkeypatch.setattr(declaration, "CORPORA", folder)
    return folder


def fill_in(folder):
    """What a contributor does to the template."""
    path = folder / "corpus.yaml"
    text = path.read_text()
    text = text.replace("@inproceedings{FILL IN,", "@inproceedings{cups,").replace("title = {}", "title = {On cups}")
    text = text.replace("author = {}", "author = {Author, A.}").replace("year = {}", "year = {2020}")
    text = text.replace("https://example.org/fill-in", "https://cups.example/paper").replace("FILL IN", "Filled in")
    path.write_text(text.replace("title: Filled in", "title: Cups").replace("[Filled in]", "[A. Author]"))
    (folder / "build.py").write_text((folder / "build.py").read_text().replace("FILL IN", "nothing special:"))
    (folder / "sample" / "data.csv").write_text("text,label\n" + "".join(f"{t},{n}\n" for t, n in RECORDS))
    (folder / "expected.yaml").write_text(
        """
sample:
  rows: 24
  tasks:
    cups: {items: 23, labels: {negative: 12, positive: 11}, dropped: {duplicate: 1}}
  first: {source_row: "data.csv:1", text: cup number 0 was tasty, label: "0"}
  tenth: {source_row: "data.csv:10", text: cup number 9 was tasty, label: "1"}
  last: {source_row: "data.csv:24", text: cup number 0 was tasty, label: "0"}
real: null
"""
    )


def test_a_new_corpus_has_everything_still_to_do(corpora, capsys):
    assert new_corpus.run("cups") == 0
    assert {path.name for path in (corpora / "cups").iterdir()} >= {
        "corpus.yaml",
        "build.py",
        "sample",
        "expected.yaml",
    }
    assert check.run("cups", None) == 1
    told = capsys.readouterr().out
    assert "corpus.yaml, line" in told
    assert "sample has 2 raw rows" in told
    assert "bibtex does not parse" in told


def test_a_filled_in_template_has_nothing_left_to_do(corpora, capsys):
    new_corpus.run("cups")
    fill_in(corpora / "cups")
    assert findings(corpora / "cups") == []
    assert check.run("cups", None) == 0
    assert "nothing left to do" in capsys.readouterr().out


def test_real_files_that_nobody_counted_are_told(corpora, tmp_path):
    new_corpus.run("cups")
    fill_in(corpora / "cups")
    shutil.copytree(corpora / "cups" / "sample", tmp_path / "mirror" / "cups")
    assert findings(corpora / "cups", tmp_path / "mirror") == [
        "expected.yaml: real has no counts, but the real files are there."
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("expected.yaml", "rows: 24", "rows: 25", "24 raw rows, expected.yaml says 25"),
        ("expected.yaml", "items: 23", "items: 24", "cups: items 23, expected.yaml says 24"),
        ("expected.yaml", 'label: "1"', 'label: "0"', "the tenth row has label '1', expected.yaml says '0'"),
        ("expected.yaml", "cups:", "mugs:", "expected.yaml says nothing of cups"),
        ("corpus.yaml", "license: unknown", "license:", "license: "),
        ("corpus.yaml", "allowed: false", "allowed: true", "redistribution is allowed, but the licence is unknown"),
        ("corpus.yaml", "column: label", "column: lable", "no column lable"),
        ("corpus.yaml", 'raw: "1"', 'raw: "2"', "'1' in column label is not a declared label"),
        ("build.py", 'raw["data.csv"]', 'raw["other.csv"]', "does not find what it needs: other.csv"),
        ("build.py", "def build", "def make", "build.py"),
    ],
)
def test_what_is_wrong_is_told_in_words(corpora, file, old, new, told):
    new_corpus.run("cups")
    fill_in(corpora / "cups")
    path = corpora / "cups" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert any(told in sentence for sentence in findings(corpora / "cups")), findings(corpora / "cups")


@pytest.mark.parametrize("name", ["cups/mugs", "..", "a b", "", "ä"])
def test_a_name_that_cannot_be_a_folder_and_a_task_is_wrong_usage(corpora, name):
    with pytest.raises(WrongUsage):
        new_corpus.run(name)
    assert list(corpora.iterdir()) == []


def test_a_corpus_that_is_there_is_not_overwritten(corpora):
    new_corpus.run("cups")
    with pytest.raises(WrongUsage, match="there already"):
        new_corpus.run("CUPS")


def test_check_of_no_corpus_is_wrong_usage(corpora):
    with pytest.raises(WrongUsage, match="new-corpus cups"):
        check.run("cups", None)
