"""The release suite: great-expectations over every split of a release, with Data Docs as static pages.

What is expected follows from the declaration and the lock alone, so this is a second opinion, by an engine that others
wrote, on what the rules say. Nested columns stand in it for the number of their elements, and what compares two values
of a row gets a derived column (see `_frame`).

The pages hold counts and ids, never a text. They ask nothing of the network, and equal releases give equal pages:
great-expectations renders what it expected and saw, the frame around it and the style are those below (its own load
style sheets, scripts and fonts from elsewhere, show the time, and have an index that is empty without scripts).

great-expectations takes seconds to import and belongs to the `reports` group, so it is imported in functions only.
"""

import html
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.declaration import Corpus, Task
from builders.pipeline.lock import SplitFacts, read_lock
from builders.pipeline.package import PAIR_JOINT, SPLIT_FILES, data_path, schema
from builders.pipeline.text import WHITE_SPACE
from builders.problems import Problem

# In a text of one line without outer white space this is not found.
UNTIDY = f"[\n\r]|^[{WHITE_SPACE}]|[{WHITE_SPACE}]$"
EXAMPLES = 3

# The columns that a split gets for what compares two values of a row, by format.
DERIVED = {
    "classification": ("id_before",),
    "regression": ("id_before",),
    "pair": ("id_before", "joined"),
    "span": (
        "id_before", "text_characters", "surface_characters", "span_characters", "shortest_span", "first_start",
        "last_end",
    ),
}  # fmt: skip


class SuiteResult(NamedTuple):
    """An expectation that failed."""

    task: str
    split: str
    expectation: str
    """Its name in great-expectations, such as `expect_column_values_to_be_in_set`."""
    column: str | None
    """None if it is about the whole split."""
    message: str
    """What was expected, and what was seen: counts, and ids at most."""


class _Page(NamedTuple):
    """A split in the index."""

    task: Task
    split: str
    items: int
    expected: int
    failed: int

    @property
    def path(self) -> str:
        return f"{self.task.slug}/{self.split}.html"

    @property
    def status(self) -> str:
        return "all hold" if not self.failed else f"{self.failed} of {self.expected} failed"


def run_suite(
    release: Path,
    corpora: Mapping[str, Corpus],
    tasks: Sequence[str],
    docs: Path,
    progress: Callable[[str], None] = lambda task: None,
) -> list[SuiteResult]:
    """Run the suite over `tasks` of a release and write its Data Docs to the folder `docs`.

    Returns what failed, in the order of `tasks` and splits. `progress` is told each task that is done. In `docs` lie
    then `index.html`, `style.css` and a page `<slug>/<split>.html` for every split; nothing is written elsewhere.
    Raises `Problem` naming the file for a lock or a Parquet file that cannot be read.
    """
    lock = read_lock(release)
    facts = {name: task for corpus in lock["corpora"].values() for name, task in corpus["tasks"].items()}
    declared = {task.name: task for corpus in corpora.values() for task in corpus.tasks}
    batches, pages = _batches(), _Pages(docs, lock["release"])
    failed = []
    for name in tasks:
        task = declared[name]
        for split in SPLIT_FILES:
            said = facts[name]["splits"][split]
            results = _validate(batches, task, split, said, _read(release, data_path(task, split)))
            found = [_told(name, split, result) for result in results if not result.success]
            pages.add(_Page(task, split, said["items"], len(results), len(found)), results)
            failed += found
        progress(name)
    pages.write_index(failed)
    return failed


# The data -----------------------------------------------------------------------------------------------


def _read(release: Path, path: str) -> pa.Table:
    try:
        table = pq.read_table(release / path)
        # Text that is not UTF-8 would only be met in the middle of an expectation.
        table.validate(full=True)
    except (OSError, pa.ArrowException) as error:
        raise Problem(
            f"cannot be read ({str(error).partition(chr(10))[0]}).", where=[path], todo="Build the release again."
        ) from None
    return table.combine_chunks()


def _frame(task: Task, table: pa.Table) -> pd.DataFrame:
    """A split as the suite sees it: its columns in order, then the derived ones.

    A column of another type than declared holds nothing and has the type in its name, so that it is not the column
    that is expected.
    """
    declared = schema(task)
    columns: dict[str, Any] = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        right = field.name in declared.names and field.type == declared.field(field.name).type
        name = field.name if right else f"{field.name} ({field.type})"
        columns[name] = _counted(column).to_pandas() if right else [None] * len(table)
    frame = pd.DataFrame(columns, index=range(len(table)))
    if "id" in frame:
        frame["id_before"] = frame["id"].shift()
    if task.format == "pair" and {"text_a", "text_b"} <= columns.keys():
        frame["joined"] = pc.binary_join_element_wise(table["text_a"], table["text_b"], PAIR_JOINT).to_pandas()
    if task.format == "span" and {"text", "label", "spans"} <= columns.keys():
        frame = frame.assign(**_span_columns(table))
    return frame


def _counted(column: pa.ChunkedArray) -> pa.Array:
    """A column; a nested one as the number of its elements."""
    array = _one(column)
    if pa.types.is_struct(array.type):
        array = pc.struct_field(array, 0)
    return pc.list_value_length(array) if pa.types.is_list(array.type) else array


def _one(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _span_columns(table: pa.Table) -> dict[str, np.ndarray | pd.Series]:
    """The derived columns of a span task; null where a row has no span."""
    spans, surfaces = _one(table["spans"]), pc.struct_field(_one(table["label"]), 0)
    places = pd.DataFrame({edge: pc.struct_field(pc.list_flatten(spans), edge) for edge in ("start", "end")})
    places["length"] = places["end"] - places["start"]
    by_row = places.groupby(pc.list_parent_indices(spans).to_numpy())
    lengths = pd.Series(pc.utf8_length(pc.list_flatten(surfaces)).to_numpy(zero_copy_only=False))
    by_label = lengths.groupby(pc.list_parent_indices(surfaces).to_numpy())
    rows = range(len(table))
    return {
        "text_characters": pc.utf8_length(table["text"]).to_pandas(),
        "surface_characters": by_label.sum().reindex(rows),
        "span_characters": by_row["length"].sum().reindex(rows),
        "shortest_span": by_row["length"].min().reindex(rows),
        "first_start": by_row["start"].min().reindex(rows),
        "last_end": by_row["end"].max().reindex(rows),
    }


# What is expected ---------------------------------------------------------------------------------------


def _expectations(task: Task, said: SplitFacts, present: Collection[str]) -> list:
    """The suite of a split: what its columns hold, and how many items it has by the lock.

    What needs a column that is not `present` is left out: there the list of columns fails.
    """
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    suite: list = []

    def expect(about: str | None, words: str, kind, **values) -> None:
        needed = {value for key, value in values.items() if key in ("column", "column_A", "column_B")}
        if needed <= set(present):
            # Great-expectations takes a description for HTML, and gives results in an order of its own.
            meta = {"column": about, "place": len(suite)}
            suite.append(kind(description=html.escape(words, quote=False), meta=meta, **values))

    def compare(about: str, words: str, kind, one: str, other: str, **values) -> None:
        missing = {"ignore_row_if": "either_value_is_missing"}
        expect(about, words, kind, column_A=one, column_B=other, **missing, **values)

    columns, derived = schema(task).names, DERIVED[task.format]
    expect(None, f"{said['items']:,} items, as in the lock", gxe.ExpectTableRowCountToEqual, value=said["items"])
    expect(
        None,
        f"The columns are {', '.join(columns)}, in this order and of the declared types (the suite adds "
        f"{', '.join(derived)})",
        gxe.ExpectTableColumnsToMatchOrderedList,
        column_list=[*columns, *derived],
    )
    for column in columns:
        expect(column, "No value is missing", gxe.ExpectColumnValuesToNotBeNull, column=column)

    for column in ("text_a", "text_b") if task.format == "pair" else ("text",):
        expect(column, "No text is empty", gxe.ExpectColumnValueLengthsToBeBetween, column=column, min_value=1)
        words = "Texts are on one line, without outer white space"
        expect(column, words, gxe.ExpectColumnValuesToNotMatchRegex, column=column, regex=UNTIDY)
    compare("text", f"text is text_a, “{PAIR_JOINT}”, text_b", gxe.ExpectColumnPairValuesToBeEqual, "text", "joined")

    words = "Ids are 16 hexadecimal digits"
    expect("id", words, gxe.ExpectColumnValuesToMatchRegex, column="id", regex="^[0-9a-f]{16}$")
    expect("id", "No id occurs twice", gxe.ExpectColumnValuesToBeUnique, column="id")
    words = "Rows lie in the order of their ids"
    compare("id", words, gxe.ExpectColumnPairValuesAToBeGreaterThanB, "id", "id_before", or_equal=True)

    if task.has_classes:
        classes = range(len(task.labels))
        words = f"Labels are {', '.join(f'{label} ({task.label_names[label]})' for label in classes)}"
        expect("label", words, gxe.ExpectColumnValuesToBeInSet, column="label", value_set=list(classes))
        for label in classes if "label" in present else ():
            count = said.get("labels", {}).get(task.label_names[label], 0)
            words = f"{count:,} items are {label} ({task.label_names[label]}), as in the lock"
            where = Column("label") == label
            expect("label", words, gxe.ExpectTableRowCountToEqual, value=count, row_condition=where)
    if task.scale:
        low, high = task.scale
        words = f"Labels lie between {low:g} and {high:g}"
        expect("label", words, gxe.ExpectColumnValuesToBeBetween, column="label", min_value=low, max_value=high)
    if task.format == "span":
        _expect_spans(task, gxe, expect, compare)
    return suite


def _expect_spans(task: Task, gxe, expect: Callable, compare: Callable) -> None:
    if task.without_spans != "keep":
        expect("spans", "Every text has a span", gxe.ExpectColumnValuesToBeBetween, column="spans", min_value=1)
    expect("spans", "No span is empty", gxe.ExpectColumnValuesToBeBetween, column="shortest_span", min_value=1)
    words = "No span starts before its text"
    expect("spans", words, gxe.ExpectColumnValuesToBeBetween, column="first_start", min_value=0)
    words = "No span ends after its text"
    after = gxe.ExpectColumnPairValuesAToBeGreaterThanB
    compare("spans", words, after, "text_characters", "last_end", or_equal=True)
    words = "A label has as many surfaces as the text has spans"
    compare("label", words, gxe.ExpectColumnPairValuesToBeEqual, "label", "spans")
    words = "Surfaces have as many characters as the spans cover"
    compare("label", words, gxe.ExpectColumnPairValuesToBeEqual, "surface_characters", "span_characters")


# The engine ---------------------------------------------------------------------------------------------


def _batches():
    """Where great-expectations takes data from: a context that lives in memory, leaves no file and tells nobody."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults

    context = gx.get_context(
        mode="ephemeral",
        project_config=DataContextConfig(
            analytics_enabled=False,
            progress_bars={"globally": False},
            store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        ),
    )
    asset = context.data_sources.add_pandas("release").add_dataframe_asset("split")
    return asset.add_batch_definition_whole_dataframe("split")


def _validate(batches, task: Task, split: str, said: SplitFacts, table: pa.Table) -> list:
    """The results of the suite on a split, without a value of the data in them but ids.

    Raises `Problem` if an expectation cannot be run, which great-expectations would show as one that failed.
    """
    from great_expectations import ExpectationSuite

    frame = _frame(task, table)
    suite = ExpectationSuite(f"{task.slug}.{split}", _expectations(task, said, frame.columns))
    batch = batches.get_batch({"dataframe": frame})
    found = batch.validate(suite, result_format={"result_format": "BASIC", "partial_unexpected_count": 0})
    if not found.success:
        # Which rows they are takes half as long again, so it is asked only where something failed.
        found = batch.validate(suite, result_format={"result_format": "SUMMARY", "partial_unexpected_count": EXAMPLES})
    for result in found.results:
        raised = [one["exception_message"] for one in _exceptions(result.exception_info)]
        if raised:
            raise Problem(
                f"great-expectations stopped at {result.expectation_config.type} ({raised[0].partition(chr(10))[0]}).",
                where=[data_path(task, split)],
                todo="That is a fault of this program; please report it.",
            )
        result.result = _seen(result, frame)
    return sorted(found.results, key=lambda result: result.expectation_config.meta["place"])


def _exceptions(info: dict) -> list[dict]:
    """What was raised: great-expectations tells it flat, or once per metric."""
    if "raised_exception" in info:
        return [info] if info["raised_exception"] else []
    return [one for one in info.values() if one["raised_exception"]]


def _seen(result, frame: pd.DataFrame) -> dict:
    """What was seen, as HTML: counts, and the ids of the first rows that are not as expected."""
    if "unexpected_count" not in result.result:
        value = result.result["observed_value"]
        return {"observed_value": html.escape(", ".join(value) if isinstance(value, list) else f"{value:,}")}
    seen = {key: result.result[key] for key in ("element_count", "unexpected_count", "unexpected_percent")}
    rows = result.result.get("partial_unexpected_index_list") or []
    if rows and "id" in frame:
        ids = ", ".join(str(one)[:16] for one in frame["id"].iloc[rows[:EXAMPLES]].fillna("none"))
        more = ", …" if seen["unexpected_count"] > EXAMPLES else ""
        seen["observed_value"] = html.escape(f"ids {ids}{more}")
    return seen


def _told(task: str, split: str, result) -> SuiteResult:
    expected, seen = result.expectation_config, result.result
    words = html.unescape(seen.get("observed_value", ""))
    if "unexpected_count" in seen:
        words = f"not so in {seen['unexpected_count']:,} of {seen['element_count']:,} rows" + (words and f" ({words})")
    else:
        words = f"seen: {words}"
    message = f"{html.unescape(expected.description)}; {words}."
    return SuiteResult(task, split, expected.type, expected.meta["column"], message)


# The pages ----------------------------------------------------------------------------------------------


class _Pages:
    """The Data Docs of a release."""

    def __init__(self, docs: Path, release: str):
        from great_expectations.render.view import DefaultJinjaPageView
        from jinja2 import ChoiceLoader, DictLoader

        self.docs, self.release, self.pages = docs, release, []
        # Its filters make HTML of what great-expectations renders; nothing of its own frame is used.
        self.templates = DefaultJinjaPageView().env
        self.templates.loader = ChoiceLoader([DictLoader(TEMPLATES), self.templates.loader])
        self._write("style.css", STYLE)

    def add(self, page: _Page, results: list) -> None:
        """Write the page of a split."""
        from great_expectations.render.renderer.content_block import ValidationResultsTableContentBlockRenderer

        by_column: dict[str, list] = {}
        for result in results:
            by_column.setdefault(result.expectation_config.meta["column"] or "the split", []).append(result)
        sections = {}
        for column, of_column in by_column.items():
            table = ValidationResultsTableContentBlockRenderer.render(of_column).to_json_dict()["table"]
            sections[column] = [
                (result.success, expected, seen) for result, (_, expected, seen) in zip(of_column, table, strict=True)
            ]
        self.pages.append(page)
        self._write(page.path, self._html("split", page=page, splits=SPLIT_FILES, sections=sections))

    def write_index(self, failed: list[SuiteResult]) -> None:
        """Write the page that leads to the others."""
        by_task: dict[str, list[_Page]] = {}
        for page in self.pages:
            by_task.setdefault(page.task.name, []).append(page)
        paths = {(page.task.name, page.split): page.path for page in self.pages}
        count = sum(page.expected for page in self.pages)
        values = {"splits": SPLIT_FILES, "tasks": by_task, "paths": paths, "expected": count, "failed": failed}
        self._write("index.html", self._html("index", **values))

    def _html(self, template: str, **values) -> str:
        text = self.templates.get_template(template).render(release=self.release, **values)
        return "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"

    def _write(self, path: str, text: str) -> None:
        file = self.docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


TEMPLATES = {
    "frame": """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{% block title %}{% endblock %}</title>
        <link rel="stylesheet" href="{% block up %}{% endblock %}style.css">
        </head>
        <body>
        {% block body %}{% endblock %}
        <footer>Expectations run and rendered by great-expectations {{ ge_version }}.
        Counts and ids only: no text of the corpora is shown here.</footer>
        </body>
        </html>
        """,
    "split": """
        {% extends "frame" %}
        {% block title %}{{ page.task.name }}, {{ page.split }}{% endblock %}
        {% block up %}../{% endblock %}
        {% block body %}
        <nav><a href="../index.html">All tasks</a>{% for split in splits %}
        {% if split == page.split %}<b>{{ split }}</b>{% else %}<a href="{{ split }}.html">{{ split }}</a>{% endif %}
        {% endfor %}</nav>
        <h1>{{ page.task.name }}, {{ page.split }}</h1>
        <p><b class="{{ "failed" if page.failed else "holds" }}">{{ page.status }}</b>:
        {{ page.expected }} expectations of {{ "{:,}".format(page.items) }} items of release {{ release }}.</p>
        {% for column, rows in sections.items() %}
        <h2>{{ column }}</h2>
        <table>
        <thead><tr><th>Status</th><th>Expected</th><th>Seen</th></tr></thead>
        <tbody>
        {% for holds, expected, seen in rows %}
        <tr class="{{ "holds" if holds else "failed" }}">
        <td>{{ "✓ holds" if holds else "✗ failed" }}</td>
        <td>{{ expected | render_content_block }}</td>
        <td>{{ seen | render_content_block }}</td>
        </tr>
        {% endfor %}
        </tbody>
        </table>
        {% endfor %}
        {% endblock %}
        """,
    "index": """
        {% extends "frame" %}
        {% block title %}Release suite {{ release }}{% endblock %}
        {% block body %}
        <h1>Release suite {{ release }}</h1>
        <p><b class="{{ "failed" if failed else "holds" }}">{{ failed | length or "none" }}</b> of
        {{ "{:,}".format(expected) }} expectations of {{ tasks | length }} tasks failed.</p>
        {% if failed %}
        <ul>
        {% for one in failed %}
        <li><a href="{{ paths[one.task, one.split] }}">{{ one.task }}, {{ one.split }}</a>{{
        ", " + one.column if one.column else "" }}: {{ one.message | e }}</li>
        {% endfor %}
        </ul>
        {% endif %}
        <table class="index">
        <thead><tr><th>Task</th><th>Format</th>{% for split in splits %}<th>{{ split }}</th>{% endfor %}</tr></thead>
        <tbody>
        {% for task, pages in tasks.items() %}
        <tr>
        <th>{{ task }}</th>
        <td>{{ pages[0].task.format }}</td>
        {% for page in pages %}
        <td data-split="{{ page.split }}">
        <a class="{{ "failed" if page.failed else "holds" }}" href="{{ page.path }}">{{ "✗" if page.failed else "✓" }}
        {{ "{:,}".format(page.items) }}</a></td>
        {% endfor %}
        </tr>
        {% endfor %}
        </tbody>
        </table>
        {% endblock %}
        """,
}

STYLE = """\
:root { color-scheme: light dark; --line: #8886; --holds: #1a7f37; --failed: #c9252d; }
@media (prefers-color-scheme: dark) { :root { --holds: #56d364; --failed: #ff7b72; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; }
nav *, .index a { display: inline-block; padding: .25rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .75rem .4rem 0; text-align: left; }
th, td { vertical-align: baseline; }
thead th { white-space: nowrap; }
tbody th { font-weight: normal; }
td:first-child { white-space: nowrap; width: 5.5rem; }
td:last-child { width: 30%; }
.index td { white-space: nowrap; width: auto; padding-block: .1rem; }
.holds, .holds td:first-child { color: var(--holds); }
.failed, .failed td:first-child { color: var(--failed); font-weight: bold; }
tr.holds, tr.failed { color: inherit; font-weight: inherit; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .5rem; font-size: .875rem; opacity: .8; }
@media (max-width: 40rem) {
  thead { position: absolute; clip-path: inset(50%); }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  th, td, td:first-child, td:last-child { display: block; border: 0; padding: .1rem 0; }
  td:first-child, td:last-child { width: auto; white-space: normal; }
  .index th { font-weight: bold; }
  .index [data-split] { display: inline-block; width: 49%; }
  [data-split]::before { content: attr(data-split) " "; }
}
"""
