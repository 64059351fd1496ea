"""The schemas at the two borders of the pipeline: what a build.py returns, and what a split of the package holds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandera.config import config_context

from builders.declaration import Corpus, Task, load_corpora
from builders.pipeline.package import SPLIT_FILES, data_path, schema, write_parquet
from builders.pipeline.read import checked
from builders.pipeline.schemas import faults, item_schema, raw_schema
from builders.pipeline.text import WHITE_SPACE, normalised
from builders.problems import Problem, Problems
from tests.conftest import classification, declaration, regression

FILES = [{"name": "a.tsv", "format": "tsv"}]
PAIR = Task(**classification("better", format="pair"))
MOOD = Task(**classification())
WARMTH = Task(**regression())
INSULTS = {
    "name": "insults",
    "dataset": "insults",
    "category": "offensive",
    "format": "span",
    "column": "spans",
    "offsets": "code_points",
    "without_spans": "unlabeled",
    "labels": [{"name": "insult", "meaning": "Words that insult."}],
}
SPANS = Task(**INSULTS)

# Ids as they are in a package: in ascending order.
IDS = [f"{number:016x}" for number in (1, 9, 10, 15, 16, 255)]


def spans(*places: tuple[int, int]) -> list[dict]:
    return [{"start": start, "end": end} for start, end in places]


# A split of six items of every format. The texts hold what may stand in a text: other line breaks than \n and \r,
# blanks that are no white space to Python (U+200B), a joint of another pair.
TEXTS = ["good morning", "a", "one\u2028two", "\u200bnothing\u200b", "so [SEP] so", "\ufeff mark"]
GOOD = {
    MOOD: {"text": TEXTS, "label": [0, 1, 1, 0, 1, 0], "id": IDS},
    WARMTH: {"text": TEXTS, "label": [0.0, 2.35, 5.0, 1e-9, 3.0, 4.0], "id": IDS},
    PAIR: {
        "text": [f"{a} [SEP] {b}" for a, b in zip(TEXTS, reversed(TEXTS), strict=True)],
        "label": [0, 1, 1, 0, 1, 0],
        "id": IDS,
        "text_a": TEXTS,
        "text_b": TEXTS[::-1],
    },
    SPANS: {
        "text": ["you fool", "😀 you fool", "fool and fool", "old fool", "c++", "a"],
        "label": [
            {"insult": surfaces}
            for surfaces in (["fool"], ["fool"], ["fool", "fool"], ["old fool", "fool"], ["c++"], ["a"])
        ],
        "id": IDS,
        # The emoji is one code point: y of `you` is the third, f of `fool` the seventh.
        "spans": [
            spans((4, 8)), spans((6, 10)), spans((0, 4), (9, 13)), spans((0, 8), (4, 8)), spans((0, 3)), spans((0, 1)),
        ],
    },
}  # fmt: skip

ROW = 2
"""Where a fault is planted."""

TEXT_FAULTS = [
    (None, "text"),
    (7, "text"),
    (b"bytes", "text"),
    ("half \ud83d", "Unicode (a lone surrogate is half a character)"),
    ("", "not empty"),
    ("two\nlines", "on one line"),
    ("two\rlines", "on one line"),
    (" begins", "without outer white space"),
    ("ends\u3000", "without outer white space"),
    ("ends\x1f", "without outer white space"),
]
CLASS_FAULTS = [(2, "a class id from 0 to 1"), (-1, "a class id from 0 to 1")]
NUMBERS = "a finite number from 0 to 5"
SPAN_LABEL, SPAN_LIST = "{insult: [text, …]}", "a list of {start, end}"
OUTSIDE, ORDER = "inside the text", "in ascending order, each once"

# Task, column, what is put into its third row, what it has to be.
FAULTS = [
    *((MOOD, "text", value, must) for value, must in TEXT_FAULTS),
    *((PAIR, "text_b", value, must) for value, must in TEXT_FAULTS[:3]),
    *((task, "label", value, must) for task in (MOOD, PAIR) for value, must in CLASS_FAULTS),
    *((WARMTH, "label", value, NUMBERS) for value in (np.nan, np.inf, -np.inf, -0.01, 5.01)),
    (PAIR, "text", "one", "text_a + ' [SEP] ' + text_b"),
    *(
        (SPANS, "label", value, SPAN_LABEL)
        for value in (None, "fool", ["fool", "fool"], {"insult": None}, {"insult": "fool"}, {"insult": ["fool", None]},
                      {"other": ["fool", "fool"]}, {"insult": ["fool", "fool"], "other": []}, {})
    ),
    (SPANS, "label", {"insult": ["fool", "foul"]}, "what the spans cover"),
    (SPANS, "label", {"insult": ["fool"]}, "as many as the spans"),
    *(
        (SPANS, "spans", value, SPAN_LIST)
        for value in (None, "0-4", [(0, 4), (9, 13)], [{"start": 0}], [{"start": 0, "end": None}],
                      [{"start": 0.0, "end": 4.0}], [{"start": False, "end": 4}], {"start": 0, "end": 4})
    ),
]  # fmt: skip


def split(task: Task, **columns) -> pd.DataFrame:
    """The good split of a task with other columns, as pandas reads it from a package."""
    fields = schema(task)
    table = pa.table([pa.array(GOOD[task][field.name], type=field.type) for field in fields], schema=fields)
    return table.to_pandas().assign(**columns)


def planted(frame: pd.DataFrame, column: str, value: object, row: int = ROW) -> pd.DataFrame:
    """The frame with another value in one cell; a column takes the type that it needs to hold it."""
    cells = frame[column].tolist()
    cells[row] = value
    numbers = all(isinstance(cell, int | float) for cell in cells)
    return frame.assign(**{column: pd.Series(cells, dtype=frame[column].dtype if numbers else "object")})


def fault(column: str, check: str, *examples: str | int, rows: int = 1) -> dict:
    return {"column": column, "check": check, "rows": rows, "examples": list(examples)}


# Items ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", GOOD, ids=lambda task: task.format)
def test_a_good_split_has_no_fault(task, tmp_path):
    write_parquet(pa.Table.from_pandas(split(task), schema=schema(task)), tmp_path / "train.parquet")
    assert faults(item_schema(task), pq.read_table(tmp_path / "train.parquet").to_pandas()) == []


@pytest.mark.parametrize("task", GOOD, ids=lambda task: task.format)
def test_a_split_without_items_has_no_fault(task):
    assert faults(item_schema(task), split(task).head(0)) == []


@pytest.mark.parametrize(("task", "column", "value", "must"), FAULTS)
def test_a_wrong_cell_is_told_with_its_column_its_check_and_its_id(task, column, value, must):
    told = faults(item_schema(task), planted(split(task), column, value))
    assert told == [fault(column, must, IDS[ROW])]


def test_infinity_is_no_number_even_on_a_scale_without_end():
    task = Task(**regression(scale=[0.0, np.inf]))
    frame = planted(split(WARMTH), "label", np.inf)
    assert faults(item_schema(task), frame) == [fault("label", "a finite number from 0 to inf", IDS[ROW])]


def test_rows_are_told_whatever_the_index_is():
    """As of a table put together from parts."""
    for task in (PAIR, SPANS):
        frame = planted(split(task), "text", "x").set_axis([0, 1, 0, 1, 0, 1])
        assert {tuple(one["examples"]) for one in faults(item_schema(task), frame)} == {(IDS[ROW],)}


@pytest.mark.parametrize("char", WHITE_SPACE)
def test_every_white_space_of_the_pipeline_is_outer_white_space(char):
    checks = {one["check"] for one in faults(item_schema(MOOD), planted(split(MOOD), "text", f"a{char}"))}
    assert "without outer white space" in checks


@pytest.mark.parametrize(
    ("place", "surface", "musts"),
    [
        ((9, 14), "fool", {OUTSIDE}),  # a slice ends where the text does, so the surface is still the same
        ((9, 9), "", {OUTSIDE}),
        ((-4, 13), "fool", {OUTSIDE, ORDER}),
        ((0, 4), "fool", {ORDER}),
        ((0, 3), "foo", {ORDER}),
        ((8, 13), " fool", {"without outer white space"}),
        ((14, 12), "fool", {OUTSIDE, "what the spans cover"}),
    ],
)
def test_a_span_that_is_not_where_it_should_be_is_told(place, surface, musts):
    """The text is `fool and fool`, 13 characters; its first span is 0-4 and this is the second."""
    frame = planted(split(SPANS), "spans", spans((0, 4), place))
    frame = planted(frame, "label", {"insult": ["fool", surface]})
    told = faults(item_schema(SPANS), frame)
    assert {one["check"] for one in told} == musts
    assert all(one["examples"] == [IDS[ROW]] for one in told)


def test_a_text_without_spans_is_wrong_only_where_the_declaration_says_so():
    frame = planted(planted(split(SPANS), "spans", []), "label", {"insult": []})
    kept = Task(**INSULTS | {"without_spans": "keep"})
    assert faults(item_schema(SPANS), frame) == [fault("spans", "at least one", IDS[ROW])]
    assert faults(item_schema(kept), frame) == []


@pytest.mark.parametrize("id_", [IDS[-1][:-1], IDS[-1] + "0", "00000000000000FF", "00000000000000fg", " " * 16, ""])
def test_an_id_that_is_not_16_hex_digits_is_told_by_its_position(id_):
    told = faults(item_schema(MOOD), planted(split(MOOD), "id", id_, row=5))
    assert fault("id", "16 hex digits", 5) in told


def test_an_id_that_ends_in_a_line_break_is_none():
    assert fault("id", "16 hex digits", 5) in faults(
        item_schema(MOOD), planted(split(MOOD), "id", IDS[5] + "\n", row=5)
    )


def test_an_id_that_occurs_twice_is_told_where_it_does_again():
    told = faults(item_schema(MOOD), planted(split(MOOD), "id", IDS[2], row=3))
    assert told == [fault("id", "unique", IDS[2])]
    assert faults(item_schema(MOOD), split(MOOD, id=IDS[:1] * 6)) == [fault("id", "unique", *IDS[:1] * 3, rows=5)]


def test_an_id_out_of_order_is_told_where_it_is_smaller_than_the_one_before():
    swapped = [*IDS[:3], IDS[4], IDS[3], IDS[5]]
    assert faults(item_schema(MOOD), split(MOOD, id=swapped)) == [fault("id", "in ascending order", IDS[3])]


def test_equal_ids_that_lie_apart_are_not_unique():
    """An order cannot show them."""
    told = faults(item_schema(MOOD), planted(split(MOOD), "id", IDS[0], row=5))
    assert fault("id", "unique", IDS[0]) in told


@pytest.mark.parametrize(
    ("task", "labels", "must"),
    [
        (MOOD, np.array([0, 1, 1, 0, 1, 0], dtype="int32"), "of type int64"),
        (MOOD, np.array([0, 1, 1, 0, 1, 0], dtype="float64"), "of type int64"),
        (MOOD, np.array([False, True, True, False, True, False]), "of type int64"),
        (PAIR, np.array([0, 1, 1, 0, 1, 0], dtype="object"), "of type int64"),
        (WARMTH, np.array([0, 1, 2, 3, 4, 5], dtype="int64"), "of type float64"),
        (WARMTH, np.array([0, 1, 2, 3, 4, 5], dtype="float32"), "of type float64"),
    ],
)
def test_labels_of_another_type_are_told_even_if_their_values_are_right(task, labels, must):
    assert faults(item_schema(task), split(task, label=labels)) == [fault("label", must, *IDS[:3], rows=6)]


def test_labels_that_are_words_are_told_as_of_another_type_and_as_no_class_ids():
    told = faults(item_schema(MOOD), split(MOOD, label=["good"] * 6))
    assert [(one["check"], one["rows"]) for one in told] == [("a class id from 0 to 1", 6), ("of type int64", 6)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda frame: frame.drop(columns="label"), [("label", "there")]),
        (lambda frame: frame.drop(columns=["id", "text"]), [("id", "there"), ("text", "there")]),
        (lambda frame: frame.assign(extra=1), [("extra", "a declared column")]),
        (lambda frame: frame.assign(**{"text ": "a"}), [("text ", "a declared column")]),
        (lambda frame: frame.rename(columns={"text": 0}), [("int 0", "a declared column"), ("text", "there")]),
        (
            lambda frame: frame[["label", "text", "id"]],
            [("label", "in its place (text, label, id)"), ("text", "in its place (text, label, id)")],
        ),
        (lambda frame: pd.concat([frame, frame[["text"]]], axis=1), [("text", "there once")]),
    ],
    ids=["one lacks", "two lack", "one more", "one with a blank", "a number", "other order", "twice"],
)
def test_columns_are_the_declared_ones_in_order(change, told):
    seen = [(one["column"], one["check"]) for one in faults(item_schema(MOOD), change(split(MOOD)))]
    assert [one for one in seen if one in told] == told
    # Twice the same column is out of place, too.
    assert {column for column, _ in seen} == {column for column, _ in told}


@pytest.mark.parametrize("task", GOOD, ids=lambda task: task.format)
def test_all_kinds_of_fault_are_told_at_once(task):
    """Each in a row of its own, a column that nobody declared, and an id that comes again."""
    planned = [(column, value, must) for of, column, value, must in FAULTS if of is task]
    frame = pd.concat([split(task)] * len(planned), ignore_index=True)
    frame["id"] = [f"{number:016x}" for number in range(len(frame))]
    expected = []
    for number, (column, value, must) in enumerate(planned):
        row = 6 * number + ROW
        frame = planted(frame, column, value, row)
        expected.append((column, must, frame["id"][row]))
    frame.loc[len(frame) - 1, "id"] = frame["id"][len(frame) - 2]
    told = faults(item_schema(task), frame.assign(extra=1))
    seen = {(one["column"], one["check"]): one for one in told}
    assert [(column, must) for column, must, _ in expected if (column, must) not in seen] == []
    for (column, check), one in seen.items():
        rows = [id_ for of, must, id_ in expected if (of, must) == (column, check)]
        if rows:
            assert (one["rows"], one["examples"]) == (len(rows), rows[:3])
    assert seen["id", "unique"]["rows"] == 1
    assert ("extra", "a declared column") in seen
    assert [(one["column"], one["check"]) for one in told] == sorted(seen)


CELLS = [
    None,
    np.nan,
    0,
    1.5,
    True,
    "",
    "\ud83d",
    b"x",
    [],
    {},
    {1},
    (1,),
    np.array(3),
    pd.NA,
    pd.NaT,
    object,
    10**30,
]


@pytest.mark.parametrize("task", GOOD, ids=lambda task: task.format)
@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_whatever_a_table_holds_is_told_and_never_raises(task, cell):
    frame = pd.DataFrame({name: pd.Series([cell] * 3, dtype="object") for name in schema(task).names})
    told = faults(item_schema(task), frame)
    assert {one["column"] for one in told} >= {"text", "id"}
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame(index=range(3)),
        pd.DataFrame([["a", 1]], columns=pd.MultiIndex.from_tuples([("text", "x"), ("label", "y")])),
        pd.DataFrame([["a", "b"]], columns=pd.Index(["\ud83d", None], dtype="object")),
        pd.DataFrame({"text": ["a", "b"], "id": ["x", "x"]}, index=["same", "same"]),
        pd.DataFrame(
            dict.fromkeys(["text", "label"], pd.Series(["\ud83d"], dtype=pd.StringDtype("python", na_value=np.nan)))
        ),
        pd.DataFrame({"text": ["a"], "label": pd.Series(["a"], dtype="category"), "id": [[IDS[0]]]}),
    ],
    ids=["nothing", "no column", "two levels", "odd names", "index repeats", "half a character", "odd types"],
)
def test_whatever_shape_a_table_has_is_told_and_never_raises(frame):
    told = faults(item_schema(MOOD), frame)
    assert "label" in {one["column"] for one in told}
    assert json.loads(json.dumps(told)) == told


def test_a_hundred_thousand_faults_are_told_in_a_few_lines():
    """By default pandera writes every failing cell into its error."""
    n = 100_000
    frame = pd.DataFrame({"text": [" " + "x" * 500] * n, "label": [7] * n, "id": ["no id"] * n})
    told = faults(item_schema(MOOD), frame)
    assert fault("text", "without outer white space", 0, 1, 2, rows=n) in told
    assert fault("label", "a class id from 0 to 1", 0, 1, 2, rows=n) in told
    assert fault("id", "unique", 1, 2, 3, rows=n - 1) in told
    assert len(json.dumps(told)) < 1_000


def test_the_table_is_left_as_it_is():
    frame = planted(split(MOOD), "text", " a").set_axis([5, 4, 3, 2, 1, 0])
    before = frame.copy()
    faults(item_schema(MOOD), frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_switch_in_the_environment_does_not_switch_the_checks_off():
    """PANDERA_VALIDATION_ENABLED=False makes every schema of a program accept everything."""
    with config_context(validation_enabled=False, validation_depth="SCHEMA_ONLY"):
        assert faults(item_schema(MOOD), planted(split(MOOD), "text", "")) == [fault("text", "not empty", IDS[ROW])]


@given(st.lists(st.text(), min_size=1))
@settings(max_examples=80, deadline=None)
def test_what_the_pipeline_makes_of_any_text_can_at_most_be_empty(texts):
    texts = normalised(pd.Series(texts, dtype="str"), [])
    ids = [f"{number:016x}" for number in range(len(texts))]
    told = faults(item_schema(MOOD), pd.DataFrame({"text": texts, "label": 0, "id": ids}))
    assert {one["check"] for one in told} <= {"not empty"}


# Declared tasks --------------------------------------------------------------------------------------------------


def test_every_declared_task_has_a_schema_with_the_columns_of_its_package():
    for corpus in load_corpora().values():
        assert {"source_row", *corpus.text_columns} <= {*raw_schema(corpus).columns}
        for task in corpus.tasks:
            assert list(item_schema(task).columns) == schema(task).names


def test_the_schema_of_a_declared_task_knows_its_labels():
    """The last class id, the ends of the scale and the name of the spans are right, and what lies beyond is not."""
    for task in (task for corpus in load_corpora().values() for task in corpus.tasks):
        if task.format == "span":
            right, wrong = [{task.labels[0].name: ["a"]}], [{task.labels[0].name + "s": ["a"]}]
        elif task.format == "regression":
            right, wrong = list(task.scale), [np.nextafter(task.scale[0], -np.inf), np.nextafter(task.scale[1], np.inf)]
        else:
            right, wrong = [0, len(task.labels) - 1], [-1, len(task.labels)]
        columns = {"text": "a", "id": "0", "text_a": "a", "text_b": "a", "spans": [spans((0, 1))] * len(right)}
        for labels, rows in ((right, 0), (wrong, len(wrong))):
            frame = pd.DataFrame({"label": labels, **columns})[schema(task).names]
            assert sum(one["rows"] for one in faults(item_schema(task), frame) if one["column"] == "label") == rows, (
                task
            )


def test_every_split_of_the_sample_release_is_as_its_schema_says(sample_release):
    wrong, seen = {}, 0
    for task in (task for corpus in load_corpora().values() for task in corpus.tasks):
        for name in SPLIT_FILES:
            frame = pq.read_table(sample_release / data_path(task, name)).to_pandas()
            wrong[task.name, name] = faults(item_schema(task), frame)
            seen += len(frame)
    assert {place: told for place, told in wrong.items() if told} == {}
    assert seen > 0


def test_every_split_of_the_real_release_is_as_its_schema_says(real_release):
    for task in (task for corpus in load_corpora().values() for task in corpus.tasks):
        for path in (real_release / data_path(task, name) for name in SPLIT_FILES):
            assert not path.exists() or faults(item_schema(task), pq.read_table(path).to_pandas()) == [], path


# Raw rows --------------------------------------------------------------------------------------------------------


def corpus_of(*tasks: dict, **more) -> Corpus:
    return Corpus(**declaration(list(tasks), FILES, **more), folder=Path("invented"))


DROP = {"reason": "unclear", "column": "sure", "values": ["no"], "why": "The authors say so."}
TREES = corpus_of(classification(drops=[DROP]), regression(), group="dialogue", parts="kind")
RUDE = corpus_of(INSULTS)
PAIRS = corpus_of(classification(format="pair"))


def raw(**columns) -> pd.DataFrame:
    """Three raw rows of `TREES`: blank texts, empty groups and cells without a label are the pipeline's to drop."""
    return pd.DataFrame(
        {
            "source_row": ["a.tsv:1", "a.tsv:2", "a.tsv:3"],
            "text": ["yes", "", "no "],
            "label": ["1", "", "maybe"],
            "score": [2.5, None, 3.0],
            "sure": [True, False, None],
            "dialogue": ["d1", "d1", ""],
            "kind": ["whole", "part", "part"],
            "notes": ["not", "looked", "at"],
        }
    ).assign(**columns)


def told(corpus: Corpus, rows: object) -> list[str]:
    """What is told of the rows, a sentence per problem."""
    with pytest.raises(Problem) as caught:
        checked(corpus, rows)
    problem = caught.value
    return [str(one) for one in (problem.problems if isinstance(problem, Problems) else [problem])]


def test_rows_as_promised_come_back_with_a_fresh_index_and_texts_as_texts():
    rows = raw(text=pd.Series(["yes", "", "no "], dtype="object"), label=[[1], {"a": 1}, np.int64(3)])
    seen = checked(TREES, rows.set_axis([7, 7, 7]))
    assert list(seen.index) == [0, 1, 2]
    assert {str(seen[column].dtype) for column in ("source_row", "text", "dialogue", "kind")} == {"str"}
    # What a label may be is for the task to say, which names the token.
    pd.testing.assert_frame_equal(seen[["label", "score", "sure", "notes"]], rows[["label", "score", "sure", "notes"]])


def test_spans_may_be_lists_tuples_or_arrays_of_whole_numbers():
    spans = [[(0, 1)], [], [[np.int64(0), 1], (1, 2)], np.array([[0, 1]])]
    rows = pd.DataFrame({"source_row": list("abcd"), "text": "fool", "spans": spans})
    assert list(checked(RUDE, rows)["spans"])[:3] == spans[:3]


# A column, its three cells, and what is told of the first that is wrong.
WRONG = {
    "a number for text": ("text", ["yes", 1, 2.5], "build.py: a.tsv:2, a.tsv:3: column text holds int 1, not text."),
    "no text": ("text", ["yes", "no", None], "build.py: a.tsv:3: column text holds None, not text."),
    "not a number": ("text", [np.nan, "", ""], "build.py: a.tsv:1: column text holds float nan, not text."),
    "bytes": ("text", [b"a", "", ""], "build.py: a.tsv:1: column text holds bytes b'a', not text."),
    "half a character": (
        "text", ["a", "b", "c \ud83d"],
        "build.py: a.tsv:3: column text holds 'c \\ud83d', not Unicode (a lone surrogate is half a character).",
    ),
    "half a label": ("label", ["0", "1", "\ud83d"], "build.py: a.tsv:3: column label holds '\\ud83d', not Unicode"),
    "group": ("dialogue", ["d", 2, "d"], "build.py: a.tsv:2: column dialogue holds int 2, not text."),
    "parts": ("kind", ["whole", "half", None], "build.py: a.tsv:2: column kind holds 'half', not whole or part."),
    "label": ("label", ["0", "1", {2}], "build.py: a.tsv:3: column label holds set {2}, not a value of JSON"),
    "score": ("score", [pd.NA, 1, 2], "build.py: a.tsv:1: column score holds NAType <NA>, not a value of JSON"),
    "rule": ("sure", ["no", "no", pd.Timestamp(0)], "build.py: a.tsv:3: column sure holds Timestamp Timestamp("),
    "row repeats": ("source_row", ["x", "y", "x"], "build.py: source_row x stands for several rows."),
    "row without name": ("source_row", ["x", "y", ""], "build.py: row 3: column source_row holds '', not a name."),
    "row is a number": ("source_row", ["x", 2, "z"], "build.py: row 2: column source_row holds int 2, not text."),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_cell_is_told_with_column_record_and_what_it_holds(name):
    column, cells, sentence = WRONG[name]
    seen = told(TREES, raw(**{column: pd.Series(cells, dtype="object")}))
    assert [line for line in seen if line.startswith(sentence)]
    assert all(f" {column} " in line for line in seen)
    assert all(
        line.endswith("Either a raw file has another shape than declared, or build.py is wrong.") for line in seen
    )


@pytest.mark.parametrize("cell", [None, 3, "[(0, 1)]", [3], [(1,)], [(1, 2, 3)], ["ab"], [("0", "1")], [(0.0, 1.0)],
                                  [(True, 2)], {(0, 1)}, np.array(3)], ids=repr)  # fmt: skip
def test_spans_of_another_form_are_told_with_their_record(cell):
    rows = pd.DataFrame({"source_row": ["a:1", "a:2"], "text": "fool", "spans": pd.Series([[], cell], dtype="object")})
    (sentence,) = told(RUDE, rows)
    assert sentence.startswith("build.py: a:2: column spans holds ")
    assert "not a list of (start, end) offsets" in sentence


def test_missing_columns_are_told_together_with_those_there_are():
    (sentence,) = told(TREES, raw().drop(columns=["label", "sure", "dialogue"]))
    assert sentence.startswith("build.py: no column dialogue, label, sure; there are text, score, kind, notes. ")


def test_both_texts_of_a_pair_are_asked_for():
    (sentence,) = told(PAIRS, raw())
    assert "no column text_a, text_b; there are" in sentence


def test_a_column_named_by_a_number_is_not_the_one_named_by_its_digit():
    """The pipeline would look for "1" and stop."""
    corpus = corpus_of(classification(column="1"))
    assert checked(corpus, raw(**{"1": "0"})) is not None
    (sentence,) = told(corpus, raw(**{"1": "0"}).rename(columns={"1": 1}))
    assert "no column 1; there are" in sentence


def test_a_column_that_comes_twice_is_told():
    rows = raw()
    assert told(TREES, pd.concat([rows, rows["text"]], axis=1)) == ["build.py: returned the column text twice."]


def test_what_is_no_table_is_told():
    assert told(TREES, {"text": ["a"]}) == ["build.py: returned a dict, not a table."]


def test_everything_that_is_wrong_is_told_at_once():
    rows = raw(
        source_row=["x", "x", "z"],
        text=pd.Series([1, "\ud83d", "a"], dtype="object"),
        kind=["whole", "half", "part"],
        score=pd.Series([1, {2}, 3], dtype="object"),
    )
    rows = pd.concat([rows.drop(columns=["label", "dialogue"]), rows[["notes"]]], axis=1)
    seen = " ".join(told(TREES, rows))
    for words in (
        "no column dialogue, label",
        "the column notes twice",
        "source_row x stands for several rows",
        "column text holds int 1",
        "column text holds '\\ud83d'",
        "column kind holds 'half'",
        "column score holds set {2}",
    ):
        assert words in seen
    assert len(told(TREES, rows)) == 7


def test_a_hundred_thousand_wrong_rows_are_told_in_a_few_lines():
    n, endless = 100_000, "x" * 10_000
    rows = pd.DataFrame(
        {
            "source_row": [endless] * n,
            "text": [["a list"] * 1_000] * n,
            "label": [{1}] * n,
            "score": [object()] * n,
            "sure": [endless] * n,
            "dialogue": [None] * n,
            "kind": [endless] * n,
        }
    )
    lines = told(TREES, rows)
    assert len(lines) == 6
    assert all(len(line) < 500 and "\n" not in line for line in lines)
    assert sum("99,997 more" in line for line in lines) == 5


def test_of_ten_thousand_columns_a_few_are_told():
    rows = pd.DataFrame({f"column {number}": ["a"] for number in range(10_000)})
    (sentence,) = told(TREES, rows)
    assert "column 0, column 1, " in sentence
    assert len(sentence) < 800


def test_raw_rows_are_checked_whatever_the_environment_says():
    with config_context(validation_enabled=False, validation_depth="SCHEMA_ONLY"):
        assert "column text holds int 1, not text" in told(TREES, raw(text=1))[0]


def test_pandera_is_not_imported_before_a_table_is_checked():
    """It takes longer to import than an unchanged release to be looked through."""
    code = (
        "import sys, builders.cli, builders.pipeline.read, builders.pipeline.release; print('pandera' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
