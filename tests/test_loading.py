"""A release as its users load it: by config name, from the folder, with the library of today."""

import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import datasets
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Value

from builders.declaration import load_corpora
from tests.conftest import classification, regression

TASKS = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}
SPLITS = ["train", "validation", "test", "sockette"]


class Heard(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.warnings: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.warnings.append(record.getMessage())


@contextmanager
def heard() -> Iterator[list[str]]:
    """The warnings of the libraries that read a card and load by it."""
    handler = Heard()
    loggers = [logging.getLogger(name) for name in ("datasets", "huggingface_hub")]
    for logger in loggers:
        logger.addHandler(handler)
    with warnings.catch_warnings(record=True) as python_warnings:
        yield handler.warnings
    handler.warnings += [str(warning.message) for warning in python_warnings]
    for logger in loggers:
        logger.removeHandler(handler)


@pytest.fixture(scope="module")
def load(sample_release, tmp_path_factory):
    """Load a config once: (the dataset, warnings)."""
    folder = str(tmp_path_factory.mktemp("cache"))

    @cache
    def load_by_name(task: str):
        with heard() as said:
            data = datasets.load_dataset(str(sample_release), task, cache_dir=folder)
        return data, said

    datasets.disable_progress_bars()
    yield load_by_name
    datasets.enable_progress_bars()


def of_format(*formats: str) -> list[str]:
    return [name for name, task in TASKS.items() if task.format in formats]


@pytest.mark.parametrize("name", TASKS)
def test_H1_every_task_loads_by_its_name_with_all_rows_and_without_a_warning(name, load, sample_release):
    data, said = load(name)
    assert said == []
    assert list(data) == SPLITS
    for split, rows in data.items():
        assert rows.column_names[:3] == ["text", "label", "id"]
        path = sample_release / "data" / TASKS[name].slug / f"{split}.parquet"
        assert rows.to_list() == pq.read_table(path).to_pylist()


def test_the_configs_are_the_tasks(sample_release):
    assert sorted(datasets.get_dataset_config_names(str(sample_release))) == sorted(TASKS)


@pytest.mark.parametrize("name", of_format("classification", "pair"))
def test_H8_class_names_come_with_every_split_whatever_classes_it_has(name, load):
    names = [label.name for label in TASKS[name].labels]
    for split, rows in load(name)[0].items():
        assert rows.features["label"] == ClassLabel(names=names), split
        assert rows.features["text"] == Value("string")
        assert all(type(label) is int and 0 <= label < len(names) for label in rows["label"])


@pytest.mark.parametrize("name", of_format("pair"))
def test_a_pair_comes_as_one_text_and_as_two(name, load):
    for row in load(name)[0]["train"]:
        assert row["text"] == f"{row['text_a']} [SEP] {row['text_b']}"


@pytest.mark.parametrize("name", of_format("regression"))
def test_a_value_is_a_double_and_nothing_was_rounded(name, load):
    for split, rows in load(name)[0].items():
        assert rows.features["label"] == Value("float64"), split
        assert all(type(value) is float for value in rows["label"])


def test_2_35_stays_2_35(workshop, tmp_path):
    """As a float of 32 bits it would come back as 2.3499999."""
    scores = [2.35, 0.1, 4.999, 0.0, 5.0, 1e-17, 1 / 3, 3.3000000000000003, 2.0, 1.15]
    release = small_release(workshop, [(f"text {score}", score) for score in scores], regression())
    data = datasets.load_dataset(str(release), "warmth", cache_dir=str(tmp_path / "cache"))
    found = {row["text"]: row["label"] for split in SPLITS[:3] for row in data[split]}
    assert found == {f"text {score}": score for score in scores}


def test_H8_a_split_without_any_item_does_not_keep_the_task_from_loading(workshop, tmp_path):
    """Of three texts two are train, one is validation, none is test."""
    release = small_release(workshop, [(f"text {i}", i % 2) for i in range(3)], classification())
    data = datasets.load_dataset(str(release), "mood", cache_dir=str(tmp_path / "cache"))
    assert (len(data["train"]), len(data["validation"])) == (2, 1)
    assert not data.get("test")


def small_release(workshop, rows: list[tuple], task: dict):
    """A release of one corpus with these texts and labels."""
    files = [{"name": "rows.tsv", "format": "tsv", "columns": ["text", task["column"]]}]
    workshop.corpus("invented", {"rows.tsv": "".join(f"{a}\t{b}\n" for a, b in rows)}, [task], files)
    return workshop.build()[0]


@pytest.mark.parametrize("name", of_format("span"))
def test_H7_a_span_label_is_the_name_with_its_surfaces(name, load):
    """As in the published release; `spans` says where they are in the text."""
    label = TASKS[name].labels[0].name
    for rows in load(name)[0].values():
        for row in rows:
            cut = [row["text"][span["start"] : span["end"]] for span in row["spans"]]
            assert row["label"] == {label: cut}


def test_H7_the_card_uses_no_feature_type_that_older_libraries_do_not_know(sample_release):
    """`List` came with datasets 4; the older spelling is read by all."""
    for path in (sample_release / "data").rglob("*.parquet"):
        assert pq.read_schema(path).metadata is None, path
    front = (sample_release / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    assert "List" not in front
    assert "_type" not in front


def test_H1_no_path_holds_a_sign_that_a_url_would_need_to_escape(sample_release):
    for path in (sample_release / "data").rglob("*"):
        assert set(path.relative_to(sample_release).as_posix()) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
        )


def test_a_task_that_is_not_there_is_refused_with_the_names_that_are(sample_release, tmp_path):
    with pytest.raises(ValueError, match="emobank#valence"):
        datasets.load_dataset(str(sample_release), "emobank#valenz", cache_dir=str(tmp_path))


def test_a_card_without_metadata_would_have_been_heard(sample_release, tmp_path):
    """So that the check for warnings above can fail."""
    shutil.copytree(sample_release / "data" / "tweet_irony", tmp_path / "data")
    (tmp_path / "README.md").write_text("A card without metadata.\n", encoding="utf-8")
    with heard() as said:
        datasets.load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
    assert any("metadata" in line for line in said)
