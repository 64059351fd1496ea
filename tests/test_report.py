"""The report of a validation: it says what the lock says, holds up against hostile texts, replaces nothing else."""

import json
import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from rich.progress import Progress

from builders.declaration import Corpus
from builders.pipeline.package import SPLIT_FILES, data_path
from builders.problems import Problem, WrongUsage
from tests.conftest import Workshop, classification, regression
from tests.test_spans import insults
from validation import report as reports
from validation.report import plots, write_report
from validation.report.content import difference, shown
from validation.report.pages import balance
from validation.rules import ERROR, WARNING, Finding
from validation.suite import SuiteResult
from validation.validate import Validated, validate

SCRIPT = "<script>alert(1)</script> is what somebody wrote"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(2)> and more of it',
    "\u202ethis runs from right to left",
    "unbroken" * 150,
    "a \x00 and a \x07 in the middle",
    "{{ 6 * 7 }} {% raw %} &lt;b&gt; </bdi></td></table>",
]
# What a page shows of the two control characters above.
PICTURED = "a \u2400 and a \u2407 in the middle"
GOOD, BAD = "<b>good</b>", "$bad_1$"
VILE, SHARED = "you vile weasel", "you vile person"


class Site(NamedTuple):
    """A report, and what it was written from."""

    folder: Path
    release: Path
    corpora: dict[str, Corpus]
    validated: Validated

    def page(self, path: str) -> "Page":
        return Page((self.folder / path).read_text(encoding="utf-8"))

    @property
    def pages(self) -> dict[str, "Page"]:
        paths = sorted(path for path in self.folder.rglob("*.html") if reports.DATA_DOCS not in path.parts)
        return {path.relative_to(self.folder).as_posix(): self.page(str(path)) for path in paths}


class Element(NamedTuple):
    """An element of a page: its text, and the elements it lies in, outermost first."""

    tag: str
    attributes: dict[str, str]
    text: list[str]
    inside: tuple["Element", ...]

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


class Page(HTMLParser):
    """The elements of a page in order. Fails where tags do not close as they were opened."""

    VOID = ("meta", "link", "img", "input", "wbr", "br")

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {name: value or "" for name, value in attrs}, [], tuple(self.open))
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        for element in self.open:
            element.text.append(data)

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        return [
            element
            for element in self.elements
            if tag in ("", element.tag) and attributes.items() <= element.attributes.items()
        ]

    def figure(self, name: str, **data: str) -> list[int]:
        """The numbers that are marked as this figure."""
        marked = {"data-figure": name} | {f"data-{key}": value for key, value in data.items()}
        return [
            int(element.words.replace(",", ""))
            for element in self.elements
            if marked.items() <= element.attributes.items()
        ]

    @property
    def table(self) -> list[list[str]]:
        """The cells of all rows of all tables."""
        return [[cell.words for cell in self.all("td") if cell.inside[-1] is row] for row in self.all("tr")]

    @property
    def words(self) -> str:
        return self.elements[0].words


# An invented release -------------------------------------------------------------------------------------


def build(folder: Path) -> tuple[Path, dict[str, Corpus]]:
    """A release with a task of every format; one corpus is offensive, one holds hostile texts."""
    workshop = Workshop(folder)
    mood = classification(
        labels=[
            {"name": GOOD, "raw": "1", "meaning": "In a <b>good</b> mood."},
            {"name": BAD, "raw": "0", "meaning": "In a bad mood, or `grumpy`."},
        ]
    )
    chat = [(text, number % 2, number % 6) for number, text in enumerate([*HOSTILE, *map(plain, range(30))])]
    # A repeat; a text in both moods, whose warmth is 1 and 4, so 2.5; a text of another corpus.
    chat += [(plain(0), 0, 0), ("said in two moods", 0, 1), ("said in two moods", 1, 4), (SHARED, 0, 0)]
    lines = [{"text": text, "label": label, "score": score} for text, label, score in chat]
    files = [{"name": "a.jsonl", "format": "json_lines"}]
    workshop.corpus("chat", {"a.jsonl": json_lines(lines)}, [mood, regression()], files)
    texts = [SHARED, *map(vile, range(19))]
    lines = [{"text": text, "spans": [[4, 8], [4, 15]][: 1 + number % 2]} for number, text in enumerate(texts)]
    workshop.corpus("rude", {"a.jsonl": json_lines(lines)}, [insults()], files)
    lines = [{"text_a": left(number), "text_b": right(number), "label": number % 2} for number in range(20)]
    pair = classification("better", format="pair", category="social_factors")
    workshop.corpus("pairs", {"a.jsonl": json_lines(lines)}, [pair], files)
    release, outcomes = workshop.build()
    assert {outcome.status for outcome in outcomes.values()} == {"built"}, outcomes
    return release, workshop.corpora


def left(number: int) -> str:
    return "left " + chr(ord("a") + number) * 3


def right(number: int) -> str:
    return left(number).replace("left", "right")


def vile(number: int) -> str:
    """A text that shares most of its words with the others, so that they are near-duplicates."""
    return f"{VILE} {number} has a long tail of words that every one of you has in the end"


def plain(number: int) -> str:
    return f"an invented text, number {number}"


def json_lines(records: list[dict]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


FOUND = [
    Finding("card", ERROR, "chat", "mood", "", f"the card says {SCRIPT}.", 1, ()),
    Finding("email", WARNING, "chat", "mood", "", "2 items with an e-mail address.", 2, ("0123 <i>a@b</i>",)),
    Finding("cue", WARNING, "rude", "insults", "", f"word {VILE} points to it.", 9, ()),
    Finding("near-duplicate", WARNING, "chat", "", "", "1 of 8 held-out texts.", 1, ()),
    Finding("label-names", ERROR, "pairs", "better", "", "the names differ.", 1, (), "They are `better` now."),
    Finding("not-built", WARNING, "", "", "sarc", "sarc is not in the release.", 1, ()),
]


def write(folder: Path, release: Path, corpora: dict[str, Corpus], validated: Validated) -> Site:
    with Progress(disable=True) as progress:
        return Site(folder, release, corpora, write_report(release, corpora, validated, folder, progress))


def site(folder: Path) -> Site:
    """The report of the invented release, with the findings above and no others."""
    release, corpora = build(folder)
    validated = validate(release, corpora)
    return write(folder / "report", release, corpora, validated._replace(findings=FOUND))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Site:
    return site(tmp_path_factory.mktemp("report"))


@pytest.fixture
def no_suite(monkeypatch) -> Callable[..., None]:
    """The suite finds nothing, or what it is told to find."""

    def find(*failed: SuiteResult) -> None:
        def run_suite(release, corpora, tasks, docs, progress):
            docs.mkdir()
            (docs / "index.html").write_text("the suite")
            return list(failed)

        monkeypatch.setattr("validation.suite.run_suite", run_suite)

    find()
    return find


# Figures -------------------------------------------------------------------------------------------------


def assert_figures_are_those_of_the_lock(made: Site) -> None:
    index = made.page("index.html")
    for name, entry in made.validated.lock["corpora"].items():
        for task in made.corpora[name].tasks:
            if task.name not in entry["tasks"]:
                continue
            said = entry["tasks"][task.name]
            for page in (index, made.page(f"tasks/{task.slug}.html")):
                assert page.figure("items", task=task.name) == [said["items"]]
                for split in SPLIT_FILES:
                    assert page.figure("split", task=task.name, split=split) == [said["splits"][split]["items"]]
                reasons = [
                    element.attributes["data-reason"] for element in page.elements if is_drop(element, task.name)
                ]
                assert reasons == list(said["dropped"])
                for reason, count in said["dropped"].items():
                    assert page.figure("dropped", task=task.name, reason=reason) == [count]
            for split in SPLIT_FILES:
                for label, count in said["splits"][split].get("labels", {}).items():
                    assert page.figure("label", task=task.name, split=split, label=label) == [count]


def is_drop(element: Element, task: str) -> bool:
    return (element.attributes.get("data-figure"), element.attributes.get("data-task")) == ("dropped", task)


def test_the_figures_of_the_report_are_those_of_the_lock(made):
    assert_figures_are_those_of_the_lock(made)


def test_the_overview_adds_up(made):
    """38 texts in chat, one of which contradicts itself in `mood` and has a mean in `warmth`; 20 and 20 more."""
    index = made.page("index.html")
    assert index.figure("tasks") == [4]
    assert index.figure("items", task="mood") == [37]
    assert index.figure("items", task="warmth") == [38]
    assert index.figure("items-total") == [37 + 38 + 20 + 20]
    assert index.figure("dropped", task="mood", reason="contradiction") == [2]
    assert index.figure("dropped", task="warmth", reason="duplicate") == [1]


def test_a_corpus_finding_counts_for_each_of_its_tasks_and_once_in_all(made):
    index = made.page("index.html")
    assert [index.figure(f"{kind}-total") for kind in ("errors", "warnings", "accepted")] == [[1], [4], [1]]
    assert [index.figure("warnings", task=task) for task in ("mood", "warmth", "insults", "better")] == [
        [2],
        [1],
        [1],
        [0],
    ]
    assert [index.figure("errors", task=task) for task in ("mood", "better")] == [[1], [0]]
    assert index.figure("accepted", task="better") == [1]
    rows = {row.attributes["data-status"]: row for row in index.all("tr") if "data-status" in row.attributes}
    assert rows.keys() == {"blocked", "warnings", "clean"}
    assert "mood" in rows["blocked"].words
    assert "better" in rows["clean"].words


def test_the_verdict_says_whether_something_blocks(made, tmp_path, no_suite):
    assert "May not be published. 1 error blocks it." in made.page("index.html").words
    fine = write(tmp_path / "report", made.release, made.corpora, made.validated._replace(findings=FOUND[1:]))
    (verdict,) = fine.page("index.html").all("p", **{"data-verdict": "clean"})
    assert verdict.words == "✓ Nothing blocks it."


def test_findings_stand_where_they_belong(made):
    index, mood, better = (made.page(path) for path in ("index.html", "tasks/mood.html", "tasks/better.html"))
    assert "sarc is not in the release." in index.words
    assert "sarc is not" not in mood.words
    assert "the card says" in mood.words
    assert "chat: 1 of 8 held-out texts." in mood.words
    assert "the names differ. Accepted: They are better now." in better.words
    assert "better" in [code.words for code in better.all("code")]
    (row,) = made.page("rules.html").all("tr", id="label-names")
    assert "1 accepted" in row.words
    assert made.page("rules.html").figure("findings", rule="email") == [1]


def test_what_the_suite_finds_becomes_an_error(made, tmp_path, no_suite):
    no_suite(SuiteResult("better", "test", "expect_column_values_to_be_unique", "id", "No id occurs twice; 2 do."))
    found = write(tmp_path / "report", made.release, made.corpora, made.validated._replace(findings=[]))
    (error,) = found.validated.errors
    assert (error.rule, error.place, error.corpus) == ("expectation", "better", "pairs")
    assert "test: No id occurs twice; 2 do." in found.page("tasks/better.html").words
    assert found.page("index.html").figure("errors", task="better") == [1]
    assert (found.folder / "data-docs/index.html").read_text() == "the suite"


def test_data_docs_are_a_part_of_the_report(made):
    assert (made.folder / "data-docs/index.html").is_file()
    assert [one for one in made.validated.findings if one.rule == "expectation"] == []


# Tasks ---------------------------------------------------------------------------------------------------


def test_contradictions_are_shown_as_they_were_settled(made):
    """`mood` has no majority; `warmth` is the mean of 1 and 4."""
    mood, warmth = (made.page(f"tasks/{task}.html").table for task in ("mood", "warmth"))
    assert ["a.jsonl:38, a.jsonl:39", f"{BAD} × 1, {GOOD} × 1", "all dropped"] in mood
    assert ["a.jsonl:39", "1 × 1, 4 × 1", "kept as 2.5"] in warmth


def test_dropped_rows_are_named(made):
    """The repeat is record 37; its text was record 7."""
    row = next(row for row in made.page("tasks/mood.html").all("tr") if row.words.startswith("duplicate"))
    assert "a.jsonl:37" in row.words
    assert "verbatim" in row.words


def test_every_item_of_a_small_split_is_in_the_sample_and_says_where_it_is(made):
    page = made.page("tasks/better.html")
    rows = [row for row in page.all("tr") if "data-split" in row.attributes]
    assert [row.attributes["data-split"] for row in rows] == ["train"] * 16 + ["validation"] * 2 + ["test"] * 2
    assert sum("and sockette" in row.words for row in rows) == 2
    assert {left(number) for number in range(20)} <= {text.words for text in page.all("bdi")}


def test_spans_are_marked_where_they_are(made):
    page = made.page("tasks/insults.html")
    marked = [
        mark.words for mark in page.all("mark") if any(one.attributes.get("id") == "samples" for one in mark.inside)
    ]
    assert sorted(marked) == ["vile"] * 10 + ["vile weasel"] * 10


def test_offensive_texts_stay_closed_until_opened_and_the_warning_comes_first(made):
    page = made.page("tasks/insults.html")
    assert page.all("div", id="content-warning")
    order = [element.attributes.get("id") for element in page.elements]
    assert order.index("content-warning") < order.index("findings") < order.index("samples")
    quoting = [element for element in page.elements if VILE in element.words]
    innermost = [one for one in quoting if not any(one in other.inside for other in quoting)]
    assert len(innermost) >= 20
    for element in innermost:
        assert [one.attributes.get("open") for one in element.inside if one.tag == "details"][:1] == [None], element


def test_near_duplicates_stand_side_by_side_with_what_differs_marked(made):
    """Of two such texts only the numbers differ."""
    page = made.page("tasks/insults.html")
    pairs = page.all("div", **{"class": "pair"})
    assert pairs
    for pair in pairs:
        sides = [element for element in page.all("div", **{"class": "side"}) if pair in element.inside]
        assert {side.words.split()[0] for side in sides} in ({"test", "train"}, {"validation", "train"})
        marked = [mark.words for side in sides for mark in page.all("mark") if side in mark.inside]
        assert len(set(marked)) == 2
        assert all(mark.isdigit() for mark in marked)


def test_a_task_that_does_not_hurt_shows_its_texts_and_has_no_warning(made):
    page = made.page("tasks/better.html")
    assert not page.all("div", id="content-warning")
    assert not any(one.tag == "details" for text in page.all("bdi") if text.words == left(3) for one in text.inside)


def test_a_long_text_begins_on_the_page_and_can_be_read_whole(made):
    page = made.page("tasks/mood.html")
    whole = "unbroken" * 150
    (beginning,) = [text for text in page.all("bdi") if text.words == whole[:500] + "…"]
    (text,) = [text for text in page.all("bdi") if text.words == whole]
    assert text.inside[-1].tag == "details"
    assert "whole text, 1,200 characters" in text.inside[-1].words
    assert not any(one.tag == "details" for one in beginning.inside)


# Hostile texts -------------------------------------------------------------------------------------------


def test_hostile_texts_are_shown_as_text(made):
    page = made.page("tasks/mood.html")
    texts = {"".join(text.text) for text in page.all("bdi")}
    assert {*HOSTILE[:3], PICTURED, HOSTILE[5]} <= texts
    assert {GOOD, BAD} <= {text.words for text in page.all("bdi")}


def test_no_page_holds_what_runs_or_loads_from_elsewhere(made):
    for path, page in made.pages.items():
        assert [script.attributes.get("src", "").rpartition("/")[2] for script in page.all("script")] == ["site.js"], (
            path
        )
        assert all(
            "onerror" not in element.attributes and "style" not in element.attributes for element in page.elements
        )
        assert {element.tag for element in page.elements}.isdisjoint({"iframe", "object", "embed", "style", "b\x00"})
        html = (made.folder / path).read_text(encoding="utf-8")
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", html), path
    for plot in made.folder.glob("plots/*.svg"):
        svg = plot.read_text(encoding="utf-8")
        assert "<script" not in svg
        assert set(re.findall(r"https?://[^\"/ ]+", svg)) <= {
            "http://www.w3.org",
            "http://purl.org",
            "http://creativecommons.org",
        }


def test_every_link_leads_to_a_file_and_a_place_in_it(made):
    pages = made.pages
    for path, page in pages.items():
        for element in page.elements:
            for name in ("href", "src"):
                url = urlsplit(element.attributes.get(name, path.rpartition("/")[2]))
                if url.scheme:
                    assert (element.tag, url.scheme) == ("a", "https"), path
                    continue
                target = (made.folder / path).parent / unquote(url.path) if url.path else made.folder / path
                assert target.is_file(), (path, url)
                if url.fragment:
                    there = pages[target.resolve().relative_to(made.folder.resolve()).as_posix()]
                    assert there.all(id=url.fragment), (path, url)


# Form ----------------------------------------------------------------------------------------------------


def test_pages_can_be_read_without_seeing_them(made):
    for path, page in made.pages.items():
        assert page.elements[0].attributes["lang"] == "en"
        headings = [int(element.tag[1]) for element in page.elements if re.fullmatch("h[1-6]", element.tag)]
        assert headings[0] == 1, path
        assert headings.count(1) == 1, path
        assert all(after <= before + 1 for before, after in pairwise(headings)), path
        ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids)), path
        assert all(image.attributes["alt"] for image in page.all("img"))
        assert all(
            "label" in [one.tag for one in field.inside] for tag in ("input", "select") for field in page.all(tag)
        )
        first = next(element for element in page.elements if element.tag == "a")
        assert first.attributes["href"] == "#content", path
        assert page.all("main", id="content"), path


def test_only_a_release_of_samples_has_the_banner(made, tmp_path, no_suite):
    assert not any(page.all("p", id="sample-banner") for page in made.pages.values())
    sample = made.validated._replace(lock=made.validated.lock | {"source": "sample"})
    for path, page in write(tmp_path / "report", made.release, made.corpora, sample).pages.items():
        assert page.all("p", id="sample-banner"), path


def test_plots_name_themselves_and_take_no_label_for_a_formula(made):
    for plot in made.folder.glob("plots/*.svg"):
        svg = plot.read_text(encoding="utf-8")
        assert re.search("<title>[^<]+</title>", svg), plot
        assert not {plots.INK, plots.GRID} & set(re.findall("#[0-9a-f]{6}", svg)), plot
    svg = (made.folder / "plots/mood-labels.svg").read_text(encoding="utf-8")
    assert f">1 {BAD}<" in svg
    assert ">0 &lt;b&gt;good&lt;/b&gt;<" in svg


def test_the_same_release_gives_the_same_bytes_in_place_of_an_earlier_report(made, tmp_path, no_suite):
    other = made.validated._replace(findings=[])
    folder = write(tmp_path / "report", made.release, made.corpora, other).folder
    before = contents(folder)
    write(folder, made.release, made.corpora, made.validated)
    ours = {path: content for path, content in contents(made.folder).items() if reports.DATA_DOCS not in path}
    del ours[reports.MANIFEST]  # names the pages of the suite
    assert ours.items() <= contents(folder).items()
    assert not ours.items() <= before.items()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_part_of_a_damaged_release_has_a_report_that_says_so(made, tmp_path, no_suite):
    """Without its train file the task has the two items of validation and the two of test."""
    path = made.release / data_path(made.corpora["pairs"].tasks[0], "train")
    content = path.read_bytes()
    path.unlink()
    try:
        validated = validate(made.release, made.corpora, ["better"])
        part = write(tmp_path / "report", made.release, made.corpora, validated)
    finally:
        path.write_bytes(content)
    index = part.page("index.html")
    assert index.figure("items", task="better") == [4]
    assert index.figure("split", task="better", split="train") == [0]
    assert "Only the tasks below were looked at" in index.words
    (unreadable,) = [finding for finding in validated.findings if finding.rule == "unreadable-table"]
    assert unreadable.message in part.page("tasks/better.html").words


# The folder ----------------------------------------------------------------------------------------------


def write_to(folder: Path) -> None:
    with Progress(disable=True) as progress:
        write_report(folder, {}, None, folder, progress)


def test_a_folder_with_anything_else_in_it_is_left_alone(made, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(WrongUsage, match=r"not a report's: thesis\.tex"):
        write_to(tmp_path)
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_a_report_to_which_something_was_added_is_left_alone(made, tmp_path, no_suite):
    folder = write(tmp_path / "report", made.release, made.corpora, made.validated).folder
    (folder / "tasks/notes.txt").write_text("mine")
    with pytest.raises(WrongUsage, match=r"tasks/notes\.txt"):
        write_to(folder)
    assert (folder / "tasks/notes.txt").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "report").write_text("text")
    with pytest.raises(WrongUsage, match="is a file"):
        write_to(tmp_path / "report")


@pytest.mark.parametrize("manifest", ["", "[]", '{"files": 7}', '{"files": ["../elsewhere"]}'])
def test_a_damaged_manifest_makes_no_folder_a_report(tmp_path, manifest):
    (tmp_path / reports.MANIFEST).write_text(manifest)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(WrongUsage, match=r"thesis\.tex"):
        write_to(tmp_path)


def test_a_report_that_fails_half_way_leaves_the_earlier_one(made, tmp_path, no_suite, monkeypatch):
    folder = write(tmp_path / "report", made.release, made.corpora, made.validated).folder
    before = contents(folder)

    def full(path, *_, **__):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("validation.report.pages._write_overlaps", full)
    with pytest.raises(Problem, match="No space left on device"):
        write(folder, made.release, made.corpora, made.validated)
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_missing_library_is_told_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "LIBRARIES", ("jinja2", "a_library_that_nobody_has"))
    with pytest.raises(Problem, match=r"a_library_that_nobody_has.*`uv sync --group reports`"):
        write_to(tmp_path / "report")
    assert not (tmp_path / "report").exists()


# Pieces --------------------------------------------------------------------------------------------------


@pytest.fixture
def tasks(made) -> dict:
    return {task.name: task for corpus in made.corpora.values() for task in corpus.tasks}


def split(items: int, **more) -> dict:
    return {"items": items} | more


def test_the_bar_of_classes_is_their_share_of_all_items(tasks):
    """3 of 4 items are of the first class; sockette is a part of test and does not count again."""
    counts = [split(2, labels={GOOD: 2, BAD: 0}), split(2, labels={GOOD: 1, BAD: 1})]
    bar = balance(tasks["mood"], {"train": counts[0], "test": counts[1], "sockette": counts[1]})
    assert bar["segments"] == [(0.0, 75.0, 0), (75.0, 25.0, 1)]
    assert bar["words"] == f"{GOOD} 75.0%, {BAD} 25.0%"


def test_mean_and_deviation_of_all_splits_come_from_those_of_each(tasks):
    """Values 1, 1 and 4, 4: mean 2.5, all of them 1.5 away from it; on a scale from 0 to 5."""
    parts = {"train": split(2, mean=1.0, deviation=0.0), "test": split(2, mean=4.0, deviation=0.0)}
    bar = balance(tasks["warmth"], parts)
    assert bar["short"] == "2.50 ± 1.50"
    assert bar["segments"][0] == (20.0, 60.0, 1)
    assert math.isclose(bar["share"], 0.5)


def test_the_bar_of_spans_is_texts_with_and_without(tasks):
    bar = balance(tasks["insults"], {"train": split(4, spans=6, without_span=1)})
    assert bar["short"] == "1.5 spans a text"
    assert bar["segments"] == [(0.0, 75.0, 0), (75.0, 25.0, 1)]


def test_a_task_without_items_has_no_bar(tasks):
    assert balance(tasks["mood"], {"train": split(0, labels={GOOD: 0, BAD: 0})})["words"] == "no items"


def test_a_text_is_cut_at_500_characters_with_its_marks():
    assert shown([("a" * 500, False)]).beginning is None
    cut = shown([("a" * 499, False), ("bc", True)])
    assert cut.beginning == [("a" * 499, False), ("b", True)]
    assert cut.length == 501


def test_the_words_that_differ_are_marked():
    one, other = difference("a cat sat here", "a dog sat here now")
    assert [text for text, marked in one if marked] == ["cat"]
    assert [text.strip() for text, marked in other if marked] == ["dog", "now"]
    assert "".join(text for text, _ in other) == "a dog sat here now"


@pytest.mark.parametrize(
    ("values", "scale", "expected"),
    [
        # Few whole numbers get a bin each.
        ([0, 1, 3], None, [-0.5, 0.5, 1.5, 2.5, 3.5]),
        ([], None, [0, 1]),
    ],
)
def test_whole_numbers_have_bins_of_their_own(values, scale, expected):
    assert plots.edges({"train": np.array(values)}, scale).tolist() == expected


def test_bins_cover_the_scale_and_what_lies_outside_of_it():
    edges = plots.edges({"train": np.array([2.0, 7.0])}, (0.0, 5.0))
    assert (edges[0], edges[-1], len(edges)) == (0.0, 7.0, plots.BINS + 1)


@pytest.mark.parametrize("lengths", [[], [0], [1], [7, 7], [3, 100_000]])
def test_bins_of_lengths_hold_every_text_but_an_empty_one(lengths):
    edges = plots.log_edges({"train": np.array(lengths, dtype=int)})
    assert len(edges) >= 2
    assert np.histogram(lengths, edges)[0].sum() == sum(length > 0 for length in lengths)


def test_a_plot_of_an_empty_task_is_one():
    empty = {name: np.zeros(0) for name in SPLIT_FILES}
    assert "<svg" in plots.distribution(empty, plots.edges(empty), "nothing", "spans")
    assert "<svg" in plots.distribution(empty, plots.log_edges(empty), "nothing", "characters", log=True)
    assert "<svg" in plots.class_shares({"train": {"a": 0}}, "nothing")
