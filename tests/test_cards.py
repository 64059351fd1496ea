"""What a release says of itself: the card, the pages of the tasks and Croissant, held against its files."""

import ast
import copy
import json
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
import yaml
from markdown_it import MarkdownIt

from builders.declaration import Task, load_corpora
from builders.pipeline import release
from builders.pipeline.lock import read_lock
from cards.card import HUB_LICENCES, card, documents, size_category
from cards.markdown import address, fence, plain, prose
from tests.conftest import Workshop, classification, regression
from validation.validate import validate

CORPORA = load_corpora()
TASKS = {task.name: (corpus, task) for corpus in CORPORA.values() for task in corpus.tasks}
SPLITS = ("train", "validation", "test", "sockette")
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
FILE = {"name": "rows.tsv", "format": "tsv", "columns": ["text", "label"]}


# Reading Markdown as its readers do ----------------------------------------------------------------------


def read(folder: Path, name: str = "README.md") -> str:
    return (folder / name).read_text(encoding="utf-8")


def front(text: str) -> dict:
    return yaml.safe_load(text.split("---\n", 2)[1])


def body(text: str) -> str:
    return text.split("---\n", 2)[2]


def cells(line: str) -> list[str]:
    """The cells of a row of a table: `|` parts them unless a backslash stands before it."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def shown(markdown: str) -> str:
    """What a reader sees of text in which no sign means anything: an independent reader of Markdown says so."""
    (inline,) = READER.parseInline(markdown)
    assert {child.type for child in inline.children} <= {"text"}, markdown
    return "".join(child.content for child in inline.children)


def read_cells(text: str) -> list[str]:
    """All cells of all tables as that reader finds them; it takes the backslash from `|`."""
    tokens = READER.parse(text)
    return [inner.content for outer, inner in pairwise(tokens) if outer.type in ("td_open", "th_open")]


def tables(text: str) -> Iterator[list[dict[str, str]]]:
    """Every table as its rows, each a mapping of headings to cells. All rows have as many cells as the heading."""
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        heading, rule, *rows = block.splitlines()
        assert re.fullmatch(r"\|(:?-+:?\|)+", rule), rule
        names = cells(heading)
        assert len(cells(rule)) == len(names)
        for row in rows:
            assert len(cells(row)) == len(names), row
        yield [dict(zip(names, cells(row), strict=True)) for row in rows]


def table(text: str, *headings: str) -> list[dict[str, str]]:
    """The one table that begins with these headings."""
    (found,) = [rows for rows in tables(text) if rows and tuple(rows[0])[: len(headings)] == headings]
    return found


def task_of(cell: str) -> str:
    return re.search(r"`([^`]+)`", cell)[1]


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


def anchors(text: str) -> set[str]:
    """What headings can be linked by, as GitHub and the Hub name them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Release(NamedTuple):
    folder: Path
    lock: dict

    @property
    def tasks(self) -> list[Task]:
        return [TASKS[name][1] for entry in self.lock["corpora"].values() for name in entry["tasks"]]

    def documents(self) -> dict[str, str]:
        data = {name: facts for name, facts in self.lock["files"].items() if name.endswith(".parquet")}
        return documents([CORPORA[name] for name in self.lock["corpora"]], self.lock, data)


@pytest.fixture(scope="module")
def sample(sample_release) -> Release:
    return Release(sample_release, read_lock(sample_release))


def small(workshop: Workshop, name: str = "invented", task: dict | None = None, rows: str = "", **more):
    """Add a corpus of ten texts to the workshop."""
    rows = rows or "".join(f"Invented text number {i} of {name}\t{i % 2}\n" for i in range(10))
    return workshop.corpus(name, {"rows.tsv": rows}, [task or classification(f"mood-{name}")], [FILE], **more)


def built(workshop: Workshop) -> Path:
    folder, outcomes = workshop.build()
    assert {outcome.status for outcome in outcomes.values()} == {"built"}
    return folder


# The metadata --------------------------------------------------------------------------------------------


def test_every_task_has_a_config_by_its_published_name(sample):
    metadata = front(read(sample.folder))
    names = [task.name for task in sample.tasks]
    assert len(names) == 58
    assert [config["config_name"] for config in metadata["configs"]] == names
    assert [info["config_name"] for info in metadata["dataset_info"]] == names


def test_H3_every_path_of_the_metadata_resolves(sample):
    paths = [part["path"] for config in front(read(sample.folder))["configs"] for part in config["data_files"]]
    assert len(paths) == len(set(paths)) == 58 * 4
    assert [path for path in paths if not (sample.folder / path).is_file()] == []


def test_H5_all_counts_are_those_of_the_files(sample):
    text = read(sample.folder)
    infos = {info["config_name"]: info["splits"] for info in front(text)["dataset_info"]}
    rows = {task_of(row["task"]): row for row in table(body(text), "task", "category")}
    assert len(rows) == 58
    for task in sample.tasks:
        files = {s: pq.read_metadata(sample.folder / f"data/{task.slug}/{s}.parquet").num_rows for s in SPLITS}
        assert {split["name"]: split["num_examples"] for split in infos[task.name]} == files
        assert {split: number(rows[task.name][split]) for split in SPLITS} == files
        *classes, total = table(read(sample.folder, f"tasks/{task.slug}.md"), "id", "label", "meaning")
        assert {split: number(total[split]) for split in SPLITS} == files
        if task.has_classes:
            assert {split: sum(number(row[split]) for row in classes) for split in SPLITS} == files


def test_the_numbers_of_a_class_are_those_of_the_files(sample):
    """One task whose classes have different sizes in every split."""
    labels = pq.read_table(sample.folder / "data/tweet_emoji/train.parquet")["label"].to_pylist()
    rows = table(read(sample.folder, "tasks/tweet_emoji.md"), "id", "label", "meaning")[:-1]
    assert [number(row["train"]) for row in rows] == [labels.count(label) for label in range(20)]
    assert len({row["train"] for row in rows}) > 1


@pytest.mark.parametrize(
    ("items", "category"),
    [(1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (99_999, "10K<n<100K"), (2_616_342, "1M<n<10M")],
)
def test_a_size_category_is_that_of_the_count(items, category):
    assert size_category(items) == category


def test_the_size_category_counts_items_once(sample):
    """SocKETTe repeats items of test."""
    items = sum(
        pq.read_metadata(sample.folder / f"data/{task.slug}/{split}.parquet").num_rows
        for task in sample.tasks
        for split in SPLITS[:3]
    )
    assert 1_000 <= items < 10_000
    assert front(read(sample.folder))["size_categories"] == ["1K<n<10K"]
    assert f"{items:,} items of 58 tasks" in read(sample.folder)


def test_H10_nothing_in_the_metadata_is_null_or_empty(sample):
    def values(node) -> Iterator:
        yield node
        for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from values(part)

    assert [value for value in values(front(read(sample.folder))) if value in (None, "", [], {})] == []


def test_the_formats_make_the_task_categories(sample, workshop):
    assert front(read(sample.folder))["task_categories"] == ["text-classification", "token-classification"]
    small(workshop)
    assert front(read(built(workshop)))["task_categories"] == ["text-classification"]


LICENCES = {
    "one that the Hub knows": (["CC-BY-4.0", "CC-BY-4.0"], "cc-by-4.0", None),
    "none that anybody stated": (["unknown"], "unknown", None),
    "two": (["MIT", "CC0-1.0"], "other", "per-corpus"),
    "one of two parts": (["CC0-1.0 AND CC-BY-SA-3.0"], "other", "cc0-1.0-and-cc-by-sa-3.0"),
}


@pytest.mark.parametrize(("stated", "licence", "name"), LICENCES.values(), ids=LICENCES)
def test_H10_the_licence_of_the_metadata(workshop, stated, licence, name):
    for index, one in enumerate(stated):
        small(workshop, f"corpus-{index}", license=one, redistribution={"allowed": False, "why": "Nobody said so."})
    text = read(built(workshop))
    metadata = front(text)
    assert (metadata["license"], metadata.get("license_name")) == (licence, name)
    if name:
        assert re.fullmatch(r"[a-z0-9.-]+", name)
        assert metadata["license_link"].split("#")[1] in anchors(text)
    rows = table(body(text), "corpus", "licence")
    assert [row["licence"] for row in rows] == stated
    assert {(row["may be passed on"], row["why"]) for row in rows} == {("no", "Nobody said so.")}


def test_the_hub_knows_the_licences_by_small_letters():
    assert all(licence == licence.lower() for licence in HUB_LICENCES)


# One writer ----------------------------------------------------------------------------------------------


def test_H3_the_same_facts_give_the_same_bytes(sample):
    made = sample.documents()
    assert set(made) == {"README.md", "croissant.json", *(f"tasks/{task.slug}.md" for task in sample.tasks)}
    assert {name: read(sample.folder, name) for name in made} == made


def test_every_document_is_in_the_lock_with_its_sha256(sample):
    for name in sample.documents():
        facts = sample.lock["files"][name]
        content = (sample.folder / name).read_bytes()
        assert facts == {"sha256": sha256(content).hexdigest(), "bytes": len(content)}


@pytest.mark.parametrize("name", ["README.md", "tasks/mood-invented.md", "croissant.json"])
def test_H3_an_edit_by_hand_is_told_and_lost(workshop, name):
    small(workshop)
    folder = built(workshop)
    before = read(folder, name)
    (folder / name).write_text(before + " \n", encoding="utf-8")
    told = [(one.rule, one.what) for one in validate(folder, workshop.corpora).errors]
    assert told == [("altered-file", name)]
    workshop.build()
    assert read(folder, name) == before


@pytest.mark.parametrize("place", ["cards/card.py", "cards/templates/readme.md", "validation/known.yaml"])
def test_a_release_is_made_anew_when_what_writes_its_card_changed(tmp_path, monkeypatch, place):
    (tmp_path / "builders").mkdir()
    for folder in ("cards", "validation"):
        shutil.copytree(Path(release.PACKAGE.parent / folder), tmp_path / folder)
    monkeypatch.setattr(release, "PACKAGE", tmp_path / "builders")
    before = release._release_fingerprint([], {})
    assert release._release_fingerprint([], {}) == before
    (tmp_path / place).write_text("Something else.\n", encoding="utf-8")
    assert release._release_fingerprint([], {}) != before


def test_no_document_holds_a_date_of_its_making_or_a_path_of_this_machine(workshop):
    small(workshop)
    folder = built(workshop)
    for name in ("README.md", "tasks/mood-invented.md", "croissant.json"):
        text = read(folder, name)
        assert str(workshop.folder) not in text
        assert re.search(r"\d{4}-\d\d-\d\d", text) is None


# What a reader finds -------------------------------------------------------------------------------------


def test_every_link_and_path_of_the_documents_resolves(sample):
    for name in (name for name in sample.documents() if name.endswith(".md")):
        text = read(sample.folder, name)
        here = (sample.folder / name).parent
        links = re.findall(r"\]\(([^<)]+)\)", text)
        assert links
        for link in links:
            path, _, anchor = link.partition("#")
            target = (here / path).resolve() if path else sample.folder / name
            assert target.is_file(), link
            assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link
        for path in re.findall(r"data/[\w-]+/\w+\.parquet", text):
            assert (sample.folder / path).is_file(), path


def test_the_examples_are_python_and_name_what_is_there(sample):
    names = {task.name for task in sample.tasks}
    for name in (name for name in sample.documents() if name.endswith(".md")):
        examples = re.findall(r"```python\n(.*?)```", read(sample.folder, name), flags=re.DOTALL)
        assert examples
        for example in examples:
            ast.parse(example)
            loaded = re.findall(r'load_dataset\("Blablablab/SOCKET", "([^"]+)"', example)
            listed = re.findall(r'^    "([^"]+)",$', example, flags=re.MULTILINE)
            assert names.issuperset(loaded + listed)


def test_only_one_category_are_the_tasks_of_one_category(sample):
    (example,) = re.findall(r"names = \[\n(.*?)\]", read(sample.folder), flags=re.DOTALL)
    names = re.findall(r'"([^"]+)"', example)
    assert names == [task.name for task in sample.tasks if task.category == "humor_sarcasm"]


def test_the_page_of_a_task_names_its_labels_in_the_order_of_their_ids_and_links_back(sample):
    for task in sample.tasks:
        text = read(sample.folder, f"tasks/{task.slug}.md")
        assert "](../README.md)" in text
        assert f"\n# {task.name}\n" in text
        rows = table(text, "id", "label", "meaning")[:-1]
        assert [shown(row["label"]) for row in rows] == list(task.label_names)
        ids = [str(index) for index in range(len(task.labels))] if task.has_classes else [""]
        assert [row["id"] for row in rows] == ids


def test_the_card_links_to_every_page_and_gives_every_meaning(sample):
    text = read(sample.folder)
    rows = table(body(text), "task", "category")
    assert {row["task"] for row in rows} == {f"[`{task.name}`](tasks/{task.slug}.md)" for task in sample.tasks}
    meanings = [(task_of(row["task"]), shown(row["label"])) for row in table(body(text), "task", "id", "label")]
    assert sorted(meanings) == sorted((task.name, name) for task in sample.tasks for name in task.label_names)


def test_a_page_cites_the_authors_and_the_card_the_benchmark(sample):
    for task in sample.tasks:
        corpus = TASKS[task.name][0]
        text = read(sample.folder, f"tasks/{task.slug}.md")
        assert corpus.bibtex.strip() in text
        assert f"<{corpus.homepage}>" in text
    text = read(sample.folder)
    assert re.findall(r"^@\w+\{(\w+),", text, flags=re.MULTILINE) == ["choi2023socket"]


def test_rows_left_out_add_up_and_each_has_its_meaning(sample):
    """The card: raw rows = items + rows left out, by task. The page: the same, with the meaning of the reason."""
    rows = table(body(read(sample.folder)), "task", "raw rows")
    assert len(rows) == 58
    for row in rows:
        drops = {reason: number(count) for count, reason in re.findall(r"([\d,]+) `(\w+)`", row["left out, by reason"])}
        assert number(row["raw rows"]) == number(row["items"]) + sum(drops.values())
        text = read(sample.folder, f"tasks/{TASKS[task_of(row['task'])][1].slug}.md")
        if drops:
            reasons = table(text, "reason", "raw rows")
            assert {task_of(one["reason"]): number(one["raw rows"]) for one in reasons} == drops
            assert not any(one["meaning"] in ("", "No declaration says what it means.") for one in reasons)
        else:
            assert "nothing left out" in text
    meanings = {task_of(row["reason"]) for row in table(body(read(sample.folder)), "reason", "meaning")}
    assert {"duplicate", "held_out_part", "no_preference"} <= meanings


def test_two_corpora_that_mean_something_else_by_one_reason_are_told_apart(sample):
    rows = [r for r in table(body(read(sample.folder)), "reason", "meaning") if r["reason"] == "`neutral`"]
    assert sorted(row["tasks"] for row in rows) == ["`hayati_politeness`", "`sentitreebank`"]
    assert len({row["meaning"] for row in rows}) == 2


def test_offensive_content_is_warned_of_before_the_first_table(sample):
    text = body(read(sample.folder))
    assert 0 < text.index("**Offensive content.**") < text.index("\n|")
    for task in sample.tasks:
        page = read(sample.folder, f"tasks/{task.slug}.md")
        assert ("**Offensive content.**" in page) == (task.category == "offensive"), task.name
        if task.category == "offensive":
            assert page.index("**Offensive content.**") < page.index("\n|")


def test_without_an_offensive_task_there_is_no_warning(workshop):
    small(workshop)
    folder = built(workshop)
    assert "Offensive" not in read(folder)
    assert "Offensive" not in read(folder, "tasks/mood-invented.md")


def test_a_release_of_samples_says_so_at_the_top_and_one_of_raw_files_does_not(sample, workshop):
    told = "Built from invented samples: a demonstration, not data."
    for name in ("README.md", "tasks/sarc.md"):
        text = read(sample.folder, name)
        assert text.index(told) < text.index("\n## ")
    assert told in json.loads(read(sample.folder, "croissant.json"))["description"]
    small(workshop)
    folder = built(workshop)
    assert not any(told in path.read_text(encoding="utf-8") for path in (*folder.rglob("*.md"), *folder.glob("*.json")))


def test_one_task_of_one_corpus_is_not_spoken_of_in_the_plural(workshop):
    small(workshop)
    assert "10 items of 1 task\nfrom 1 public corpus." in read(built(workshop))


def test_the_rules_are_told_with_the_thresholds_of_the_lock(sample):
    rules = {"loose_key_words": 7, "heap_share": 0.03, "heap_units": 41, "sockette_items": 1_234}
    lock = copy.deepcopy(sample.lock)
    lock["rules"] |= rules | {"near_duplicates": lock["rules"]["near_duplicates"] | {"threshold": 0.77}}
    text = " ".join(card([CORPORA[name] for name in lock["corpora"]], lock).split())
    assert "at least 7 words" in text
    assert "more than 3 % of a corpus (and more than 41 texts)" in text
    assert "or 1,234 items of it" in text
    assert "a Jaccard similarity of 0.77 or more" in text


def test_what_a_release_lacks_is_told(sample):
    lock = copy.deepcopy(sample.lock)
    lock["not_built"] = {"sarc": "sarc: a file is missing.\nIt lies in /home/sarah."}
    del lock["corpora"]["sarc"]
    lock["corpora"]["jigsaw"]["missing"] = ["train.csv", "test_labels.csv"]
    lock["corpora"]["empathy"]["tasks"]["empathy#distress"]["off_by"] = {"train": 2, "test": -1}
    text = card([CORPORA[name] for name in lock["corpora"]], lock)
    assert "the corpus `sarc` is not in this release" in text
    assert "sarah" not in text
    assert r"`jigsaw` was built without train.csv, test\_labels.csv." in text
    assert "`empathy#distress` from the exact sizes (train +2, test -1)" in text
    assert "`sarc`" not in {row["task"] for row in table(body(text), "task", "raw rows")}


def test_the_defects_of_the_published_release_that_concern_a_task_are_on_its_page(sample):
    text = body(read(sample.folder))
    changes = {row["in release 1.1.0"]: row["tasks"] for row in table(text, "in release 1.1.0", "now")}
    assert changes["The labels were inverted."] == "`hasbiasedimplication`"
    assert changes["SocKETTe was the first 1,000 test lines."] == "all"
    assert "* The labels were inverted. Now: " in read(sample.folder, "tasks/hasbiasedimplication.md")
    assert "The labels were inverted." not in read(sample.folder, "tasks/sarc.md")
    before, now = table(read(sample.folder, "tasks/sarc.md"), "release", "train")
    assert [before[split] for split in SPLITS] == ["205,665", "51,417", "64,666", "1,000"]
    assert now["release"] == sample.lock["release"]


def test_a_task_that_was_not_in_the_published_release_has_no_changes(workshop):
    small(workshop)
    folder = built(workshop)
    assert "1.1.0" not in read(folder)
    assert "1.1.0" not in read(folder, "tasks/mood-invented.md")


def test_accepted_exceptions_are_told_with_their_reason(sample):
    """Those that were counted in real texts are told of releases from raw files only."""
    lock = copy.deepcopy(sample.lock) | {"source": "raw"}
    corpora = [CORPORA[name] for name in lock["corpora"]]
    found = table(body(card(corpora, lock)), "where", "finding")
    reasons = {(row["where"], row["finding"]): row["reason"] for row in found}
    assert reasons["`dailydialog`", "label-meaning: noemotion"] == 'The published name, "no emotion" in one word.'
    assert r"artefact: \#irony" in {finding for _, finding in reasons}
    invented = {row["finding"] for row in table(body(read(sample.folder)), "where", "finding")}
    assert "label-meaning: noemotion" in invented
    assert not any(finding.startswith("artefact") for finding in invented)


# Signs that mean something in Markdown --------------------------------------------------------------------

ODD = [
    "a|b",
    "*so* and _so_",
    "<b>bold</b>",
    "`code`",
    "❤ [x](y)",
    r"back\slash \| &amp; $x$",
    "# 1",
    "- 2",
    "3. ~~4~~",
]


def test_names_with_special_signs_stand_in_the_tables_as_they_are(workshop):
    labels = [{"name": name, "raw": str(i), "meaning": f"| means {name} |"} for i, name in enumerate(ODD)]
    rows = "".join(f"An invented text that has the number {i}\t{i % len(ODD)}\n" for i in range(3 * len(ODD)))
    more = {
        "title": "A | B *and* <C>",
        "authors": ["O'B|rien", "`K`"],
        "bibtex": "@misc{odd, title={```three```}}",
        "homepage": "https://example.org/a|b>c",
        "license_statement": "*Free* | <i>as</i> beer",
    }
    small(
        workshop,
        task=classification(labels=labels, notes=["A note with `co|de`, `code` and a | b."]),
        rows=rows,
        **more,
    )
    folder = built(workshop)
    page = read(folder, "tasks/mood.md")
    shown_rows = table(page, "id", "label", "meaning")[:-1]
    assert [shown(row["label"]) for row in shown_rows] == ODD
    assert shown(shown_rows[0]["meaning"]) == "| means a|b |"
    for content in (page, body(read(folder))):
        ours = [
            cell
            for rows in tables(content)
            for row in [rows[0].keys(), *(row.values() for row in rows)]
            for cell in row
        ]
        assert read_cells(content) == [cell.replace(r"\|", "|") for cell in ours]
    text = body(read(folder))
    (row,) = table(text, "task", "category")
    assert shown(row["labels"]) == ", ".join(ODD)
    assert row["source"] == r"[A \| B \*and\* \<C\>](<https://example.org/a%7Cb%3Ec>)"
    assert [shown(row["label"]) for row in table(text, "task", "id", "label")] == ODD
    assert "````bibtex\n@misc{odd, title={```three```}}\n````" in page
    assert r"* A note with \`co\|de\`, `code` and a \| b." in page
    names = front(read(folder))["dataset_info"][0]["features"][1]["dtype"]["class_label"]["names"]
    assert list(names.values()) == ODD


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("so_it *is*", r"so\_it \*is\*"),
        ("a\n  b", "a b"),
        ("1. one", r"1\. one"),
        ("+ plus", r"\+ plus"),
        ("-1.5 to 2.5", r"\-1.5 to 2.5"),
        ("# `x`", r"\# \`x\`"),
        ("😜 & ☀", r"😜 \& ☀"),
    ],
)
def test_plain_text_shows_as_it_is(text, markdown):
    assert plain(text) == markdown


def test_prose_keeps_code_and_nothing_else():
    assert prose("the token `[SEP]` of `a_b` and *that*") == r"the token `[SEP]` of `a_b` and \*that\*"
    assert prose("a lone ` backtick") == r"a lone \` backtick"


def test_a_fence_is_longer_than_any_inside():
    assert fence("x", "bibtex") == "```bibtex\nx\n```"
    assert fence("````") == "`````\n````\n`````"


def test_an_address_keeps_what_addresses_are_made_of():
    assert address("https://example.org/~a/b_c?d=e%20f#g") == "https://example.org/~a/b_c?d=e%20f#g"
    assert address("https://example.org/a b|c>`") == "https://example.org/a%20b%7Cc%3E%60"


# Croissant -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def croissant(sample) -> dict:
    return json.loads(read(sample.folder, "croissant.json"))


def test_croissant_names_every_data_file_with_its_sha256(sample, croissant):
    objects = [one for one in croissant["distribution"] if one["@type"] == "cr:FileObject"]
    assert len(objects) == 58 * 4
    for one in objects:
        content = (sample.folder / one["contentUrl"]).read_bytes()
        assert (one["sha256"], one["contentSize"]) == (sha256(content).hexdigest(), f"{len(content)} B")


def test_croissant_has_the_columns_of_the_files(sample, croissant):
    records = {one["@id"]: one for one in croissant["recordSet"]}
    for task in sample.tasks:
        names = {field["name"] for field in records[task.slug]["field"]}
        schema = pq.read_schema(sample.folder / f"data/{task.slug}/train.parquet")
        assert names == {"split", *schema.names}
        files = {one["@id"]: one for one in croissant["distribution"]}[f"{task.slug}/files"]
        assert {path.name for path in sample.folder.glob(files["includes"])} == {f"{split}.parquet" for split in SPLITS}
        if task.has_classes:
            classes = records[f"{task.slug}/labels"]["data"]
            assert [one[f"{task.slug}/labels/name"] for one in classes] == list(task.label_names)
            assert [one[f"{task.slug}/labels/id"] for one in classes] == list(range(len(task.labels)))


def test_croissant_is_valid_and_its_records_are_the_rows(sample):
    """Read with the library of the specification: one task of each format."""
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant, which validates Croissant, is not installed")
    dataset = mlcroissant.Dataset(str(sample.folder / "croissant.json"))
    assert not dataset.metadata.issues.errors
    for slug in ("tweet_irony", "emobank--valence", "humor-pairs", "toxic-span"):
        records = list(dataset.records(slug))
        for split in SPLITS:
            found = [record for record in records if record[f"{slug}/split"] == split.encode()]
            rows = pq.read_table(sample.folder / f"data/{slug}/{split}.parquet").to_pylist()
            assert [record[f"{slug}/text"].decode() for record in found] == [row["text"] for row in rows]
            if slug == "toxic-span":
                starts = [[span[f"{slug}/spans/start"] for span in one[f"{slug}/spans"]] for one in found]
                assert starts == [[span["start"] for span in row["spans"]] for row in rows]
            else:
                assert [record[f"{slug}/label"] for record in found] == [row["label"] for row in rows]


def test_a_value_and_its_scale_are_on_the_page(workshop):
    rows = "".join(f"An invented text with the number {i}\t{i / 4}\n" for i in range(20))
    small(workshop, task=regression(column="label"), rows=rows)
    page = read(built(workshop), "tasks/warmth.md")
    assert "Values lie between 0 and 5." in page
    (value, _) = table(page, "id", "label", "meaning")
    assert (value["id"], value["label"], value["meaning"]) == ("", "warmth", "How warm it is.")
