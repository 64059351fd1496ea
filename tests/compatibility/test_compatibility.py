"""That the scripts of the compatibility run work with what is installed here, and that each check can fail."""

import copy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compatibility.run import Result, expectation, readings, report, served
from tests.conftest import classification, regression

CHECKS = ["listed", "loads", "splits", "types", "rows", "streams"]


@pytest.fixture
def release(workshop) -> Path:
    """A release of two tasks with twenty items each."""
    tasks = [classification("moods#mood", dataset="moods"), regression()]
    raw = "text\tlabel\tscore\n" + "".join(f"an invented text {n}\t{n % 2}\t{n / 8}\n" for n in range(20))
    workshop.corpus("invented", {"a.tsv": raw}, tasks, [{"name": "a.tsv", "format": "tsv"}])
    return workshop.build()[0]


@pytest.fixture
def url(release) -> Iterator[str]:
    with served(release) as url:
        yield url


def test_a_release_loads_from_its_folder_and_from_the_hub_and_reads_without_datasets(release, url):
    expected = expectation(release)
    nothing = {check: {} for check in CHECKS}
    found = dict(readings(Path(sys.executable), None, release, url, expected))
    assert found == {"its folder": nothing, "the Hub": nothing}
    read = dict(readings(Path(sys.executable), "pandas", release, url, expected))
    assert read == {"files over HTTP": {"reads": {}, "splits": {}, "rows": {}}}


def test_what_is_not_as_expected_is_told_by_check_and_task(release, url):
    expected = expectation(release)
    wrong = copy.deepcopy(expected["moods#mood"])
    wrong["splits"]["test"] = 3
    wrong["types"]["label"] = ["good", "bad"]
    wrong["rows"]["sockette"] = "of another text"
    wrong["paths"]["train"] = "data/moods--mood/train.csv"
    asked = {"moods#mood": wrong, "warmth": expected["warmth"], "moods#other": expected["warmth"]}
    for place, failed in readings(Path(sys.executable), None, release, url, asked):
        assert {check: list(tasks) for check, tasks in failed.items()} == {
            "listed": ["moods#other"],
            "loads": ["moods#other"],
            "splits": ["moods#mood", "moods#other"],
            "types": ["moods#mood", "moods#other"],
            "rows": ["moods#mood", "moods#other"],
            "streams": ["moods#mood", "moods#other"],
        }, place
    ((_, failed),) = readings(Path(sys.executable), "pandas", release, url, asked)
    assert list(failed["reads"]) == ["moods#mood"]


def test_the_report_counts_the_tasks_that_pass_and_names_what_fails():
    expected = {task: {"splits": {"train": 4}} for task in ("mood", "warmth")}
    failed = {"loads": {}, "types": {"mood": "int32,\nexpected int64"}}
    results = [
        Result("old", "the Hub", {"datasets": "1.0"}, failed),
        Result("pandas", "files over HTTP", {"pandas": "1.0"}, {"reads": {}}),
    ]
    environments = {"old": {"why": "It is old."}, "pandas": {"reader": "pandas", "why": "It reads."}}
    lines = report(results, environments, expected, "sample").splitlines()
    assert "| environment | from | loads | types |" in lines
    assert "| old | the Hub | 2/2 | 1/2 |" in lines
    assert "| pandas | files over HTTP | 2/2 |" in lines
    assert "* old, the Hub, types: mood: int32, expected int64" in lines
    assert "| old | datasets 1.0 | It is old. |" in lines
