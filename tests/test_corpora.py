"""What every corpus promises in its `expected.yaml`, seen on its sample and on its real files."""

import json

import bibtexparser
import pandas as pd
import pytest
import yaml

from builders.declaration import CORPORA, load_corpora
from builders.pipeline.fetch import Mirror, Samples, locate
from builders.pipeline.read import raw_rows
from builders.pipeline.release import LEDGER, LOCK

NAMES = sorted(path.name for path in CORPORA.iterdir() if (path / "corpus.yaml").exists())


def expected(name: str) -> dict:
    return yaml.safe_load((CORPORA / name / "expected.yaml").read_text(encoding="utf-8"))


def plain(value):
    """Spans as YAML writes them."""
    return [list(span) for span in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", NAMES)
def test_sample_has_the_expected_first_tenth_and_last_row(name):
    corpus, want = load_corpora()[name], expected(name)["sample"]
    rows = raw_rows(corpus, locate(corpus, Samples())[0].files)
    assert len(rows) == want["rows"]
    for place, index in (("first", 0), ("tenth", 9), ("last", -1)):
        row = rows.iloc[index]
        assert {column: plain(row[column]) for column in want[place]} == want[place]


def counts(release, name: str) -> dict:
    """Rows, items, drops and labels of a corpus as its release says, in the form of expected.yaml."""
    lock = json.loads((release / LOCK).read_text(encoding="utf-8"))
    entry = lock["corpora"][name]
    ledger = pd.read_parquet(release / LEDGER)
    tasks = {}
    for task, facts in entry["tasks"].items():
        dropped = ledger["reason"][ledger["task"] == task].value_counts().to_dict()
        tasks[task] = {"items": facts["items"], "dropped": dropped}
        assert facts["dropped"] == dropped
        if "labels" in facts["splits"]["train"]:
            splits = (facts["splits"][split]["labels"] for split in ("train", "validation", "test"))
            tasks[task]["labels"] = pd.DataFrame(list(splits)).sum().to_dict()
    return {"rows": entry["rows"], "tasks": tasks}


def assert_as_expected(seen: dict, want: dict):
    assert seen["rows"] == want["rows"]
    assert seen["tasks"].keys() == want["tasks"].keys()
    for task, facts in want["tasks"].items():
        assert seen["tasks"][task]["items"] == facts["items"], task
        assert seen["tasks"][task]["dropped"] == facts.get("dropped", {}), task
        assert seen["tasks"][task].get("labels") == facts.get("labels"), task


@pytest.mark.parametrize("name", NAMES)
def test_sample_builds_with_the_expected_counts(name, sample_release):
    assert_as_expected(counts(sample_release, name), expected(name)["sample"])


@pytest.mark.parametrize("name", NAMES)
def test_real_files_build_with_the_expected_counts(name, real_release):
    assert_as_expected(counts(real_release, name), expected(name)["real"])


@pytest.mark.parametrize("name", NAMES)
def test_real_files_are_the_declared_ones(name, shared):
    assert locate(load_corpora()[name], Mirror(shared / "raw"))[1] == []


@pytest.mark.parametrize("name", NAMES)
def test_bibtex_parses(name):
    entries = bibtexparser.loads(load_corpora()[name].bibtex).entries
    assert entries
    assert all(entry.get("title") and entry.get("author") for entry in entries)


@pytest.mark.parametrize("name", NAMES)
def test_sample_holds_no_text_of_the_corpus(name, shared):
    """Samples are invented. Words that the facts about a corpus quote (`None`, `Yes`) may be in both."""
    corpus = load_corpora()[name]
    texts = {}
    for source in (Samples(), Mirror(shared / "raw")):
        rows = raw_rows(corpus, locate(corpus, source)[0].files)
        texts[source.kind] = {
            text.strip() for column in corpus.text_columns for text in rows[column] if len(text.split()) > 2
        }
    assert not texts["sample"] & texts["mirror"]
