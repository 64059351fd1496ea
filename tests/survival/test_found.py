"""What the fuzz run found, each on an input that can be read at a glance."""

import shutil

import pytest

from builders.declaration import CORPORA, load_corpus
from builders.pipeline.fetch import Samples, locate
from builders.pipeline.read import raw_rows
from builders.problems import Problem
from tests.conftest import classification

TOGETHER = """
import pandas as pd

def build(raw):
    return pd.concat([raw["a.csv"], raw["b.csv"]])
"""
LOOKS_UP = """
def build(raw):
    return raw["a.csv"].assign(label=raw["a.csv"]["id"].map(raw["b.csv"].set_index("id")["label"]))
"""
TWO = [{"name": "a.csv", "format": "csv"}, {"name": "b.csv", "format": "csv"}]


def refused(workshop, raw: dict, files: list, **more) -> str:
    """The sentence with which reading stops."""
    workshop.corpus("invented", raw, [classification()], files, **more)
    _, outcomes = workshop.build()
    assert outcomes["invented"].status == "failed"
    return str(outcomes["invented"].problem)


def test_a_column_that_one_of_several_files_lacks_is_no_missing_label(workshop):
    raw = {"a.csv": "text,label\nfine,1\n", "b.csv": "text,lable\npoor,0\ndull,0\n"}
    told = refused(workshop, raw, TWO, build=TOGETHER)
    assert "b.csv:1, b.csv:2: column label has no value here" in told


def test_a_look_up_that_fails_is_no_missing_label(workshop):
    raw = {"a.csv": "id,text\n1,fine\n2,poor\n", "b.csv": "id,label\n1,1\n"}
    assert "a.csv:2: column label has no value here" in refused(workshop, raw, TWO, build=LOOKS_UP)


def test_a_null_of_json_is_a_missing_label_as_before(workshop):
    file = {"name": "a.jsonl", "format": "json_lines"}
    raw = {"a.jsonl": '{"text": "fine", "label": 1}\n{"text": "poor", "label": null}\n'}
    workshop.corpus("invented", raw, [classification()], [file])
    assert workshop.build()[1]["invented"].status == "built"


KEYED = [
    {"name": "ids.csv", "format": "csv"},
    {"name": "texts.json", "format": "json_object", "columns": ["text"], "keys_from": ["ids.csv/id"]},
]


def test_a_file_that_cannot_be_read_is_told_once_and_takes_none_along(workshop):
    told = refused(workshop, {"ids.csv": "id,label\n1\n", "texts.json": '{"1": {"text": "fine"}}'}, KEYED)
    assert told.startswith("invented: ids.csv: record 1: 1 fields, 2 expected")
    assert "\n" not in told


def test_a_key_that_comes_twice_in_a_large_json_object_is_refused(workshop):
    raw = {"ids.csv": "id,label\n1,1\n", "texts.json": '{"1": {"text": "fine"}, "1": {"text": "poor"}}'}
    assert "texts.json: the key '1' occurs twice" in refused(workshop, raw, KEYED)


@pytest.mark.parametrize(
    ("corpus", "file", "old", "new", "told"),
    [
        ("sbic", "SBIC.v2.dev.csv", "targetStereotype", "stereotype", "targetStereotype is not in this file"),
        ("sentitreebank", "sentiment_labels.txt", "\n1|", "\n0|", "the phrase has a score already"),
        ("toxic-span", "tsd_trial.csv", "spans", "span", "tsd_trial.csv:1: 'nan' is not a list"),
        ("talkdown-pairs", "balanced_dev.jsonl", '"start_offset": 24', '"start_offset": "24"', "jsonl:1: post or"),
        (
            "talkdown-pairs",
            "balanced_dev.jsonl",
            '"quotedpost": "Turn it',
            '"quotedpost": 3, "x": "',
            "jsonl:1: post or",
        ),
        (
            "two-to-lie",
            "train.jsonl",
            "[true, true, false, true, true, true, true, false]",
            '"TTFTTTTF"',
            "one of messages",
        ),
        ("two-to-lie", "train.jsonl", "Good morning", "Good \\ud800 morning", "train.jsonl:1: the text holds half a"),
        ("crowdflower", "text_emotion.csv", "content", "contents", "does not find what it needs"),
    ],
)
def test_a_sample_with_one_thing_wrong_is_refused_with_the_reason(tmp_path, corpus, file, old, new, told):
    copy = tmp_path / corpus
    shutil.copytree(CORPORA / corpus, copy)
    path = copy / "sample" / file
    content = path.read_bytes()
    assert old.encode() in content
    path.write_bytes(content.replace(old.encode(), new.encode(), 1))
    corpus = load_corpus(copy)
    with pytest.raises(Problem) as caught:
        raw_rows(corpus, locate(corpus, Samples())[0].files)
    assert told in str(caught.value)
