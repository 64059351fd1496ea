"""`fidelity`: every difference to the published release has a reason, or is told."""

import json

import pytest

from builders.declaration import load_corpora
from builders.problems import Problem, WrongUsage
from builders.publish.hub import folder_of
from tests.conftest import classification, regression
from validation import fidelity
from validation.published import Published, facts, rows

TEXTS = [f"an invented text, number {number}" for number in range(20)]


@pytest.fixture
def known(monkeypatch):
    """Pretend that tasks of invented corpora were published; gives a function that says so."""
    tasks, defects = dict(facts()[0]), dict(facts()[1])
    monkeypatch.setattr("validation.fidelity.facts", lambda: (tasks, defects))
    monkeypatch.setattr("validation.published.facts", lambda: (tasks, defects))

    def say(task, total, repeats="kept", about=(), labels=("bad", "good")):
        tasks[task] = Published({}, total, repeats, list(labels), list(about))

    return say


def corpus(workshop, records, tasks=None, header="text\tlabel\n"):
    """An invented corpus of (text, label) records with the task `mood`, built; gives the release."""
    raw = header + "".join("\t".join(map(str, record)) + "\n" for record in records)
    workshop.corpus("invented", {"a.tsv": raw}, tasks or [classification()], [{"name": "a.tsv", "format": "tsv"}])
    release, outcomes = workshop.build()
    assert outcomes["invented"].status == "built", outcomes
    return release


def compared(workshop, release, published=None):
    (one,) = fidelity.compare(release, workshop.corpora, published)
    return one


def test_a_release_without_any_drop_has_the_published_total(workshop, known):
    known("mood", 20)
    one = compared(workshop, corpus(workshop, [(text, n % 2) for n, text in enumerate(TEXTS)]))
    assert (one.items, one.drops, one.unexplained, one.accounted) == (20, {}, 0, True)
    assert one.labels == {"bad": 10, "good": 10}


def test_a_removed_duplicate_explains_one_item_less_and_names_its_row(workshop, known):
    known("mood", 21)
    one = compared(workshop, corpus(workshop, [*((text, 1) for text in TEXTS), (TEXTS[0], 1)]))
    assert (one.items, one.drops, one.unexplained) == (20, {"duplicate": 1}, 0)
    assert one.source_rows == {"duplicate": ["a.tsv:21"]}


def test_a_repeat_that_the_published_release_removed_too_is_no_difference(workshop, known):
    """It compared texts: the second verbatim copy went, the one in capitals with entities stayed."""
    known("mood", 21, repeats="removed")
    records = [*((text, 1) for text in TEXTS), (TEXTS[0], 1), (TEXTS[1].replace("an ", "an&#32;"), 1)]
    one = compared(workshop, corpus(workshop, records))
    assert (one.items, one.drops, one.unexplained) == (20, {"duplicate": 1}, 0)
    assert one.source_rows == {"duplicate": ["a.tsv:22"]}


def test_contradicting_copies_are_counted_once_by_a_release_that_keeps_the_first(workshop, known):
    """Two labels, no majority: both rows go here, one of them went there."""
    known("mood", 20, repeats="removed")
    one = compared(workshop, corpus(workshop, [*((text, 1) for text in TEXTS), (TEXTS[0], 0)]))
    assert (one.items, one.drops, one.unexplained) == (19, {"contradiction": 1}, 0)


def test_a_total_that_nothing_explains_is_told(workshop, known):
    known("mood", 25)
    one = compared(workshop, corpus(workshop, [(text, 1) for text in TEXTS]))
    assert (one.unexplained, one.accounted) == (5, False)


def test_a_listed_defect_is_a_reason(workshop, known):
    known("mood", 25, about=[17])
    one = compared(workshop, corpus(workshop, [(text, 1) for text in TEXTS]))
    assert (one.unexplained, one.accounted, one.defects) == (5, True, {"total": [17]})


def publish(folder, task, texts, labels, split="test"):
    base = folder / "SOCKET_DATA" / task
    base.mkdir(parents=True, exist_ok=True)
    (base / f"{split}_text.txt").write_text("".join(f"{text}\n" for text in texts))
    (base / f"{split}_labels.txt").write_text("".join(f"{label}\n" for label in labels))
    return folder


def test_published_rows_are_same_relabelled_missing_or_unknown(workshop, known, tmp_path):
    known("mood", 21)
    release = corpus(workshop, [*((text, 1) for text in TEXTS), ("said twice", 1), ("said twice", 0)])
    texts = [TEXTS[0], TEXTS[1], "said twice", "never said"]
    published = publish(tmp_path / "old", "mood", texts, ["good", "bad", "good", "bad"])
    found = compared(workshop, release, published).found
    assert (found["rows"], found["same"], found["unknown"]) == (4, 1, 1)
    assert found["relabelled"] == {"unexplained": 1}
    assert found["missing"] == {"contradiction": 1}
    assert found["new"] == 18
    assert found["where"] == {
        "relabelled, unexplained": ["test:2"],
        "missing, contradiction": ["test:3"],
        "unknown": ["test:4"],
    }


def test_a_corrected_defect_explains_a_relabelled_row(workshop, known, tmp_path):
    known("mood", 20, about=[3])
    release = corpus(workshop, [(text, 1) for text in TEXTS])
    published = publish(tmp_path / "old", "mood", TEXTS[:1], ["bad"])
    one = compared(workshop, release, published)
    assert one.found["relabelled"] == {"defect 3": 1}
    assert one.accounted


def test_a_mean_of_two_ratings_explains_another_value(workshop, known, tmp_path):
    known("warmth", 21, labels=["warmth"])
    records = [*((text, "2.5") for text in TEXTS), (TEXTS[0], "3.5")]
    release = corpus(workshop, records, [regression()], header="text\tscore\n")
    published = publish(tmp_path / "old", "warmth", TEXTS[:2], ["2.5", "2.5"])
    found = compared(workshop, release, published).found
    assert (found["same"], found["relabelled"]) == (1, {"contradiction": 1})


def test_the_json_says_what_the_table_says(workshop, known):
    known("mood", 21)
    release = corpus(workshop, [*((text, 1) for text in TEXTS), (TEXTS[0], 1)])
    (record,) = json.loads(fidelity.as_json(fidelity.compare(release, workshop.corpora)))
    assert record["task"] == "mood"
    assert (record["published"], record["items"], record["drops"]) == (21, 20, {"duplicate": 1})


@pytest.mark.parametrize(
    ("labels", "told"),
    [(["good"], "2 texts, but 1 labels"), (["good", "odd"], "'odd' is not a label"), (None, "label file is missing")],
)
def test_published_files_that_do_not_fit_are_told(workshop, known, tmp_path, labels, told):
    known("mood", 20)
    corpus(workshop, [(text, 1) for text in TEXTS])
    folder = publish(tmp_path / "old", "mood", TEXTS[:2], labels or [])
    if labels is None:
        (folder / "SOCKET_DATA/mood/test_labels.txt").unlink()
    with pytest.raises(Problem, match=told):
        rows(folder, workshop.corpora["invented"].tasks[0])


def test_a_place_that_is_neither_folder_nor_repository_is_wrong_usage():
    with pytest.raises(WrongUsage, match="neither a folder nor a Hub repository"):
        folder_of("nowhere")


def test_the_published_sizes_add_up_to_the_paper():
    """2,616,342 items, 269,246 of them test items, 43,731 SocKETTe items (the paper's figures)."""
    tasks = facts()[0]
    assert len(tasks) == 58
    assert sum(task.total for task in tasks.values()) == 2_616_342
    assert sum(task.sizes["test"] for task in tasks.values()) == 269_246
    assert sum(task.sizes["sockette"] for task in tasks.values()) == 43_731


def test_all_58_published_tasks_are_declared_with_their_class_names():
    """The one correction: the positive class of empathy#distress_bin (defect 13)."""
    declared = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}
    assert declared.keys() == facts()[0].keys()
    other = {
        name: (task.labels, list(declared[name].label_names))
        for name, task in facts()[0].items()
        if task.labels != list(declared[name].label_names)
    }
    assert other == {"empathy#distress_bin": (["not distress", "distress bin"], ["not distress", "distress"])}


def test_every_difference_of_the_real_release_has_a_reason(real_release, shared):
    """Counts are the published ones where nothing is partial and no rule of ours drops a row."""
    for one in fidelity.compare(real_release, load_corpora(), shared / "published" / "rows"):
        assert one.accounted, one.task
        if not one.missing and "total" not in one.defects:
            assert one.items == one.published - sum(one.drops.values()), one.task
        if one.found and not one.missing:
            assert one.found["same"] == one.found["rows"], one.task
