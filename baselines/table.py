"""Scores of models, task by task and as means over tasks, beside those that the paper prints.

A difference is told between scores of the same model only: a small encoder that is not as good as DeBERTa is no
finding. Task by task the paper prints DeBERTa, majority and random; of other models the means over tasks.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from baselines.published import BASELINES, DEBERTA, TOLERANCE, Mean, changed, corrected, group, score_of
from baselines.recipe import read_recipe
from baselines.scores import (
    FIGURES,
    FLAGS,
    Flag,
    Run,
    Score,
    Series,
    figures,
    mixed,
    refuse_mixed,
    releases,
    series,
)
from builders.declaration import CATEGORIES, Task
from builders.problems import Problem, visible
from validation.published import facts

SPLITS = ("test", "sockette", "validation")

PAPER_RECIPE = "paper"
DIFFERS, NOT_GIVEN = "≠", "–"
TEMPLATES = Path(__file__).parent / "templates"
# The page carries the sheet of the reports with it.
STYLE = Path(__file__).parent.parent / "validation" / "report" / "static" / "style.css"

FIELDS = (
    *("kind", "name", "category", "format", "data", "defects"),
    *("model", "revision", "release", "source", "settings", "split"),
    *("mean", "deviation", "seeds", "n", "tasks", "flags"),
    *("published", "published_deviation", "difference", "differs", "deberta", "majority"),
)
"""Of the CSV. `kind`: a task, or a figure, which has `tasks` and no `n`; `published` is of the same model. The
`difference` of a figure is that of `Average`, so it need not be `mean` minus `published`."""

AS_PUBLISHED, CHANGED, NEW = "as_published", "corrected", "not_published"
BLOCKS = {
    AS_PUBLISHED: (
        "Data as published",
        "Texts, labels and the choice of items are those of the published release, duplicates aside. They are dealt "
        "into splits anew, so test is not the published one row for row; the numbers name the defects of the old "
        "splits.",
    ),
    CHANGED: (
        "Data corrected",
        "Texts, labels or the choice of items were wrong in the published release, or items of test were in train; "
        "the numbers name the defects. A difference may be that of the data.",
    ),
    NEW: ("Not in the published release", "The means over tasks leave them out."),
}
BARE_SPANS = "no span is right for a text that has none, which counts as 1 here; the paper's row is 0 all the same"


class Column(NamedTuple):
    """A model in the table: runs that differ in their seeds, or in the tasks they scored."""

    name: str
    """The model; numbered if there are several columns of it."""
    series: Series
    runs: tuple[Run, ...]


class Cell(NamedTuple):
    """What a model scored on a split of a task."""

    score: Mean
    """Over seeds; the deviation is the sample's."""
    seeds: int
    n: int
    """Items scored."""
    flags: tuple[Flag, ...]
    published: Mean | None
    """What the paper prints of the same model."""
    remarks: tuple[str, ...]

    @property
    def difference(self) -> float | None:
        """Ours minus the published one."""
        return None if self.published is None else self.score.mean - self.published.mean

    @property
    def differs(self) -> bool:
        """Whether that is more than rounding and twice the larger standard deviation over seeds."""
        if self.published is None:
            return False
        spread = max(self.score.deviation or 0, self.published.deviation or 0)
        return abs(self.difference) > TOLERANCE + 2 * spread


class Row(NamedTuple):
    """A task."""

    task: Task
    cells: tuple[Cell | None, ...]
    """By column."""
    paper: tuple[Mean | None, ...]
    """By the models in `Table.paper`."""
    defects: tuple[int, ...]
    """The published defects whose correction changed its data or its splits."""


class Block(NamedTuple):
    """Tasks that compare with the published ones alike."""

    key: str
    rows: tuple[Row, ...]
    """By category, then as declared."""


class Average(NamedTuple):
    """What a model scored as a mean over tasks."""

    value: float
    tasks: int
    whole: bool
    """Whether these are all tasks of the paper's figure."""
    difference: float | None
    """To the paper's figure of the same model; of a model that it prints task by task, the mean of the differences of
    the tasks."""

    @property
    def differs(self) -> bool:
        """Whether the difference is more than rounding."""
        return self.difference is not None and abs(self.difference) > TOLERANCE


class Figures(NamedTuple):
    """One of the paper's ten figures."""

    name: str
    tasks: int
    """Of the published release."""
    cells: tuple[Average | None, ...]
    paper: tuple[float, ...]
    """By the models in `Table.paper_figures`."""


class Table(NamedTuple):
    """Scores on one split, beside the published ones."""

    split: str
    releases: tuple[str, ...]
    warnings: tuple[str, ...]
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    """What has to be known of the columns."""
    paper: tuple[str, ...]
    """The models of which the paper prints scores for these tasks."""
    blocks: tuple[Block, ...]
    figures: tuple[Figures, ...]
    paper_figures: tuple[str, ...]
    missing: tuple[str, ...]
    """Published tasks that nobody scored."""

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The remarks on cells, each once, in order."""
        cells = [cell for block in self.blocks for row in block.rows for cell in row.cells if cell]
        return tuple(dict.fromkeys(remark for cell in cells for remark in cell.remarks))

    @property
    def defects(self) -> dict[int, str]:
        """What the defects were that the rows name, and what is so now."""
        known = facts()[1]
        named = sorted({number for block in self.blocks for row in block.rows for number in row.defects})
        return {number: f"{known[number]['was']} Now: {known[number]['now']}" for number in named}


def columns(runs: Iterable[Run]) -> tuple[Column, ...]:
    """The runs by series, in their order: seeds of one model and recipe stand together, and nothing else does."""
    found: dict[Series, list[Run]] = {}
    for run in runs:
        found.setdefault(series(run), []).append(run)
    names = []
    for one in found:
        same = [other for other in found if other.model == one.model]
        names.append(visible(one.model) + (f" ({same.index(one) + 1})" if len(same) > 1 else ""))
    return tuple(Column(name, one, tuple(of)) for name, (one, of) in zip(names, found.items(), strict=True))


def make_table(runs: Sequence[Run], tasks: Iterable[Task], split: str = "test", allow_mixed: bool = False) -> Table:
    """The scores of `runs` (of `read_all`: nothing twice) on a split, `tasks` being all that are declared.

    Raises `Problem` if the runs are not of the same data and `allow_mixed` does not say that they may be, if seeds of
    one model were scored on other rows, for a task that is not declared, and if there is no score on the split.
    """
    if not allow_mixed:
        refuse_mixed(runs, "Give the files of one release, or --allow-mixed.")
    tasks = sorted(tasks, key=lambda task: CATEGORIES.index(task.category))
    scored = {score.task for run in runs for score in run.scores}
    if unknown := sorted(scored - {task.name for task in tasks}):
        raise Problem(f"no corpus.yaml declares {', '.join(map(visible, unknown))}, which a score is of.")
    found = columns(runs)
    shown = tuple(column for column in found if any(score.split == split for score in _scores(column)))
    if not shown:
        raise Problem(f"there is no score on {split}.", todo="Choose another --split.")
    cells = [_cells(column, tasks, split) for column in shown]
    there = [task for task in tasks if any(task.name in of for of in cells)]
    models = dict.fromkeys((DEBERTA, "majority", *(column.series.model for column in shown)))
    paper = tuple(model for model in models if any(score_of(model, task.name, split) for task in there))
    rows = [
        Row(
            task,
            tuple(of.get(task.name) for of in cells),
            tuple(score_of(model, task.name, split) for model in paper),
            tuple(sorted({*(changed(task.name) or ()), *(corrected(task.name) or ())})),
        )
        for task in there
    ]
    blocks = (Block(key, tuple(row for row in rows if _block(row.task) == key)) for key in BLOCKS)
    several = mixed(runs)
    paper_figures = tuple(model for model in models if split == "test" and group(model))
    published = [task for task in tasks if task.name in facts()[0]]
    return Table(
        split,
        tuple(releases(runs)),
        tuple(several),
        shown,
        (
            *(_about(column, len(releases(runs)) > 1) for column in shown),
            *_differing(shown),
            *(f"{column.name} has no score on {split}." for column in found if column not in shown),
        ),
        paper,
        tuple(block for block in blocks if block.rows),
        tuple(_figures(shown, cells, published, split, paper_figures)),
        paper_figures,
        tuple(task.name for task in published if task not in there),
    )


def _scores(column: Column) -> list[Score]:
    return [score for run in column.runs for score in run.scores]


def _block(task: Task) -> str:
    defects = changed(task.name)
    return NEW if defects is None else CHANGED if defects else AS_PUBLISHED


def _cells(column: Column, tasks: Sequence[Task], split: str) -> dict[str, Cell]:
    """A model's scores by task."""
    by_task: dict[str, list[Score]] = {}
    for score in _scores(column):
        if score.split == split:
            by_task.setdefault(score.task, []).append(score)
    most = max(map(len, by_task.values()))
    return {task.name: _cell(column, task, by_task[task.name], most) for task in tasks if task.name in by_task}


def _cell(column: Column, task: Task, scores: Sequence[Score], most: int) -> Cell:
    first = scores[0]
    if any(score.content != first.content for score in scores):
        what = f"its seeds were scored on other rows each, {first.split} of {task.name}, and have no mean."
        raise Problem(what, where=[column.name], todo="Give the scores of one release only.")
    values = [score.value for score in scores]
    flags = tuple(flag for flag in FLAGS if any(score.flag == flag for score in scores))
    remarks = [FLAGS[flag] for flag in flags]
    published = score_of(column.series.model, task.name, first.split)
    if len(scores) < most:
        remarks.append(f"{len(scores)} of {most} seeds")
    if task.format == "span" and column.series.model in BASELINES and published and mean(values) > 0:
        remarks.append(BARE_SPANS)
    score = Mean(mean(values), stdev(values) if len(values) > 1 else None)
    return Cell(score, len(values), first.n, flags, published, tuple(remarks))


def _figures(
    shown: Sequence[Column], cells: Sequence[dict[str, Cell]], published: Sequence[Task], split: str, paper: tuple
) -> Iterable[Figures]:
    """The ten figures over the published tasks."""
    names = {task.name for task in published}
    of_paper = figures(dict.fromkeys(names, 0.0), published)
    ours = [figures({task: cell.score.mean for task, cell in of.items() if task in names}, published) for of in cells]
    by_task = [
        figures({task: cell.difference for task, cell in of.items() if cell.published}, published) for of in cells
    ]
    for name in FIGURES:
        averages = []
        for column, figure, difference in zip(shown, ours, by_task, strict=True):
            if name not in figure:
                averages.append(None)
                continue
            value, tasks = figure[name]
            whole = tasks == of_paper[name].tasks
            told = difference[name].value if name in difference else None
            theirs = group(column.series.model)
            if not difference and theirs and whole and split == "test":
                told = value - theirs[name]
            averages.append(Average(value, tasks, whole, told))
        if any(averages):
            yield Figures(name, of_paper[name].tasks, tuple(averages), tuple(group(model)[name] for model in paper))


# What has to be known of a column ------------------------------------------------------------------------------------


def _about(column: Column, with_release: bool) -> str:
    """Release where there are several, revision, seeds, device, versions that vary, and how far from the paper's
    recipe."""
    seeds = list(dict.fromkeys(run.seed for run in column.runs if run.seed is not None))
    devices = dict.fromkeys(run.device for run in column.runs if run.device)
    told = [
        f"release {releases(column.runs)[0]}" if with_release else "",
        f"revision {column.series.revision}" if column.series.revision else "",
        ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds)) if seeds else "",
        f"on {' and '.join(devices)}" if devices else "",
        *(f"{name} {' and '.join(of)}" for name, of in _versions(column).items() if len(of) > 1),
    ]
    told = [visible(one) for one in told if one]
    settings = _settings(column)
    if settings:
        paper = _flat(read_recipe(PAPER_RECIPE).model_dump(mode="json"))
        other = [f"{name} {settings.get(name, NOT_GIVEN)}" for name in _names([paper, settings])]
        told.append(f"other than the paper's recipe: {visible(', '.join(other))}" if other else "the paper's recipe")
    else:
        told.append("without training")
    return f"{column.name}: {'; '.join(told)}."


def _versions(column: Column) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {}
    for run in column.runs:
        for name, version in run.versions.items():
            found.setdefault(name, {})[version] = None
    return found


def _differing(shown: Sequence[Column]) -> Iterable[str]:
    """In what the columns of the same model differ."""
    for model in dict.fromkeys(column.series.model for column in shown):
        same = [column for column in shown if column.series.model == model]
        if len(same) > 1:
            each = [
                {"release": releases(column.runs)[0], "revision": column.series.revision or NOT_GIVEN}
                | _settings(column)
                for column in same
            ]
            told = [f"{name} ({' / '.join(of.get(name, NOT_GIVEN) for of in each)})" for name in _names(each)]
            yield f"{', '.join(column.name for column in same)} differ in {visible(', '.join(told))}."


def _settings(column: Column) -> dict[str, str]:
    return _flat(json.loads(column.series.recipe))


def _flat(recipe: dict) -> dict[str, str]:
    """The settings of a recipe but its seeds, as they are written in JSON; those of single tasks as `tasks.TASK`."""
    told = {}
    for name, value in recipe.items():
        if name != "seeds":
            told |= {f"{name}.{one}": of for one, of in value.items()} if isinstance(value, dict) else {name: value}
    return {name: json.dumps(value) for name, value in told.items()}


def _names(each: Sequence[dict[str, str]]) -> list[str]:
    """What is not the same in all of them."""
    names = dict.fromkeys(name for one in each for name in one)
    return [name for name in names if len({one.get(name) for one in each}) > 1]


# Writing -------------------------------------------------------------------------------------------------------------


def as_csv(table: Table) -> str:
    """A line a task or figure and model."""
    file = io.StringIO()
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    for block in table.blocks:
        for row in block.rows:
            paper = dict(zip(table.paper, row.paper, strict=True))
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell is None:
                    continue
                published = cell.published
                writer.writerow(
                    _of_column(column, table.split)
                    | {
                        "kind": "task",
                        "name": row.task.name,
                        "category": row.task.category,
                        "format": row.task.format,
                        "data": block.key,
                        "mean": _rounded(cell.score.mean),
                        "deviation": _rounded(cell.score.deviation),
                        "seeds": cell.seeds,
                        "n": cell.n,
                        "flags": " ".join(cell.flags),
                        "published": published and published.mean,
                        "published_deviation": published and published.deviation,
                        "difference": _rounded(cell.difference),
                        "differs": _truth(cell),
                        "deberta": getattr(paper.get(DEBERTA), "mean", None),
                        "majority": getattr(paper.get("majority"), "mean", None),
                        "defects": " ".join(map(str, row.defects)),
                    }
                )
    for figure in table.figures:
        paper = dict(zip(table.paper_figures, figure.paper, strict=True))
        for column, average in zip(table.columns, figure.cells, strict=True):
            if average is not None:
                writer.writerow(
                    _of_column(column, table.split)
                    | {
                        "kind": "figure",
                        "name": figure.name,
                        "mean": _rounded(average.value),
                        "tasks": average.tasks,
                        "published": paper.get(column.series.model),
                        "difference": _rounded(average.difference),
                        "differs": _truth(average),
                        "deberta": paper.get(DEBERTA),
                        "majority": paper.get("majority"),
                    }
                )
    return file.getvalue()


def _of_column(column: Column, split: str) -> dict[str, str | None]:
    one = column.series
    told = {"model": column.name, "revision": one.revision, "release": one.release, "source": one.source}
    return told | {"settings": one.recipe, "split": split}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _truth(cell: Cell | Average) -> str:
    return "" if cell.difference is None else str(cell.differs).lower()


def as_markdown(table: Table) -> str:
    """Sections with a table each, for a terminal or a repository."""
    numbers = {remark: number for number, remark in enumerate(table.footnotes, start=1)}
    models = [_plain(column.name) for column in table.columns]

    def cells(of: Iterable[Cell | Average | None]) -> list[str]:
        return [_markdown(cell, numbers) if cell else "" for cell in of]

    parts = [f"# {title(table)}", *map(_plain, about(table)), _listed(table.notes)]
    for block in table.blocks:
        parts += [f"## {BLOCKS[block.key][0]}", BLOCKS[block.key][1]]
        rows = []
        for category, of in by_category(block):
            rows.append([f"*{category.replace('_', ' ')}*"])
            for row in of:
                defects = ", ".join(map(str, row.defects))
                rows.append([f"`{row.task.name}`", *cells(row.cells), *map(printed_as, row.paper), defects])
        parts.append(_grid(["task", *models, *map(paper_heading, table.paper), "defects"], rows))
    if table.figures:
        parts += ["## Means over tasks", about_figures(table)]
        parts.append(
            _grid(
                ["mean over", "tasks", *models, *map(paper_heading, table.paper_figures)],
                [
                    [f"`{one.name}`", str(one.tasks), *cells(one.cells), *map(printed_as, one.paper)]
                    for one in table.figures
                ],
            )
        )
    if table.missing:
        parts.append(f"Published tasks without a score: {', '.join(f'`{name}`' for name in table.missing)}.")
    if table.defects:
        parts += ["## Defects of the published release", _listed(f"{n}: {told}" for n, told in table.defects.items())]
    if numbers:
        parts.append("\n".join(f"[^{number}]: {_plain(sentence(remark))}" for remark, number in numbers.items()))
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(cell: Cell | Average, numbers: dict[str, int]) -> str:
    notes = "".join(f"[^{numbers[remark]}]" for remark in cell.remarks) if isinstance(cell, Cell) else ""
    difference = difference_as(cell)
    return score_as(cell) + (f" ({difference})" if difference else "") + notes


def _plain(text: str) -> str:
    """Text that shows as it is written. An underscore inside a word means nothing, and is easier to read unescaped."""
    from cards.markdown import plain

    return re.sub(r"(?<=\w)\\_(?=\w)", "_", plain(text))


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"* {_plain(line)}" for line in lines)


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns are aligned in plain text too; a row may be shorter than the header."""
    from cards.markdown import row as line

    rows = [[*row, *[""] * (len(header) - len(row))] for row in rows]
    widths = [max(3, *map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(line(*(cell.ljust(width) for cell, width in zip(of, widths, strict=True))) for of in lines)


def as_html(table: Table) -> str:
    """One page that needs no other file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    words = (title, about, about_figures, sentence, paper_heading, by_category, score_as, printed_as, difference_as)
    environment.globals |= {function.__name__: function for function in words} | {
        "blocks": BLOCKS,
        "style": Markup(STYLE.read_text(encoding="utf-8")),
    }
    return environment.get_template("table.html").render(table=table)


WRITERS: dict[str, Callable[[Table], str]] = {"markdown": as_markdown, "csv": as_csv, "html": as_html}
SUFFIXES = {".md": "markdown", ".csv": "csv", ".html": "html"}


# Words that Markdown and HTML have in common -------------------------------------------------------------------------


def title(table: Table) -> str:
    """The heading of all."""
    return f"Scores on {'SocKETTe' if table.split == 'sockette' else table.split}, beside the published ones"


def about(table: Table) -> list[str]:
    """What the numbers are, a paragraph each; what warns comes first."""
    cells = [cell for block in table.blocks for row in block.rows for cell in row.cells if cell]
    told = [f"These scores are not of the same data. {' '.join(table.warnings)}"] if table.warnings else []
    if any(column.series.source == "sample" for column in table.columns):
        told.append("Built from samples: the texts were invented to try the programs, and no score means anything.")
    told.append(
        f"{'Release' if len(table.releases) == 1 else 'Releases'} {', '.join(table.releases)}. Macro-F1 for "
        "classification and pairs, (r + 1) / 2 for regression, F1 of the characters for spans"
        + ("; ± is the standard deviation over seeds." if any(cell.seeds > 1 for cell in cells) else ".")
    )
    if any(cell.published for cell in cells):
        told.append(
            "A number with a sign is the difference to what the paper prints of the same model; "
            f"{DIFFERS}: more than rounding (0.01) and twice the larger standard deviation over seeds."
        )
    if any(not cell.published for cell in cells) and table.paper:
        told.append("What the paper prints of another model than ours stands there to look at: no difference is told.")
    return told


def about_figures(table: Table) -> str:
    """How the means are made, and what keeps them from comparing with those of the paper."""
    told = ["Every task counts the same."]
    if any(block.key == CHANGED for block in table.blocks):
        told.append("Tasks whose data was corrected count too, so a difference may be that of the data.")
    averages = [cell for figure in table.figures for cell in figure.cells if cell]
    if any(not cell.whole for cell in averages):
        told.append("In square brackets: the number of tasks where they are fewer than the paper's.")
    if any(cell.difference is not None for cell in averages):
        told.append(
            "A number with a sign is the difference to the paper's mean of the same model; for a model that it prints "
            f"task by task, the mean of the differences of the tasks that both scored. {DIFFERS}: more than 0.01."
        )
    if set(BASELINES).intersection(table.paper_figures):
        told.append(
            "Of majority and random, the paper's means over categories and its average count a regression as 0, where "
            "ours count 0.5."
        )
    return " ".join(told)


def sentence(remark: str) -> str:
    """A remark as it stands among the notes."""
    return f"{remark[0].upper()}{remark[1:]}."


def paper_heading(model: str) -> str:
    """The heading of a column with the paper's scores."""
    return f"{model}, paper"


def by_category(block: Block) -> list[tuple[str, list[Row]]]:
    """The rows of a block, category by category."""
    return [(name, list(rows)) for name, rows in groupby(block.rows, key=lambda row: row.task.category)]


def score_as(cell: Cell | Average) -> str:
    """Three digits; with the deviation over seeds, or the number of tasks where they are fewer than the paper's."""
    if isinstance(cell, Average):
        return f"{cell.value:.3f}" + ("" if cell.whole else f" [{cell.tasks}]")
    return f"{cell.score.mean:.3f}" + ("" if cell.score.deviation is None else f" ± {cell.score.deviation:.3f}")


def printed_as(score: Mean | float | None) -> str:
    """Two digits, as the paper has them; nothing if it has none."""
    if score is None:
        return ""
    score = Mean(score) if isinstance(score, float) else score
    return f"{score.mean:.2f}" + ("" if score.deviation is None else f" ± {score.deviation:.2f}")


def difference_as(cell: Cell | Average) -> str:
    """The difference to the published score of the same model, marked where it counts; nothing if there is none."""
    if cell.difference is None:
        return ""
    difference = round(cell.difference, 3) or 0.0  # no minus before nothing
    return f"{difference:+.3f}" + (f" {DIFFERS}" if cell.differs else "")
