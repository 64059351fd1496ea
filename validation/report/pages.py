"""The pages of a report: from facts, findings and content to HTML.

Everything that comes from data is hostile: templates escape it, control characters are shown as pictures, and a
policy in every page forbids scripts, styles and images that are not files of the report.
"""

import math
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from builders.declaration import Corpus, Task
from builders.pipeline.package import SPLIT_FILES
from builders.pipeline.split import SPLITS
from validation.measure.traces import KINDS
from validation.report import plots
from validation.report.content import CorpusContent, corpus_content, difference, matrix, overlap_pairs
from validation.rules import ERROR, Finding, rule_table
from validation.validate import Validated

if TYPE_CHECKING:
    from rich.progress import Progress

STATIC = Path(__file__).parent / "static"

CATEGORY_NAMES = {
    "humor_sarcasm": "humor & sarcasm",
    "offensive": "offensiveness",
    "sentiment_emotion": "sentiment & emotion",
    "social_factors": "social factors",
    "trustworthy": "trustworthiness",
}
# What the report adds to the rules, in their form.
OTHER_RULES = (
    {
        "id": "known-exception",
        "severity": ERROR,
        "scope": "all",
        "about": "Every finding that known.yaml accepts is still found.",
    },
    {
        "id": "expectation",
        "severity": ERROR,
        "scope": "task",
        "about": "Every expectation of the great-expectations suite holds; Data Docs show them all.",
    },
)
# Findings whose message quotes a piece of a text.
QUOTING = ("artefact", "cue")

# Control characters, which HTML does not allow, and their pictures; line ends and tabs are none here.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {0x7F: 0x2421}


def write_pages(
    release: Path, corpora: Mapping[str, Corpus], validated: Validated, folder: Path, progress: "Progress"
) -> None:
    """Write every page, plot and style of the report to `folder`; `data-docs` is there already."""
    shutil.copytree(STATIC, folder / "static")
    for name in ("tasks", "plots"):
        (folder / name).mkdir()
    facts = validated.facts["corpora"]
    declared = {task.name: task for corpus in corpora.values() for task in corpus.tasks}
    rows = [
        overview_row(corpora[name], declared[task], measured, validated.findings)
        for name, of in facts.items()
        for task, measured in of["tasks"].items()
    ]
    bar = progress.add_task("pages", total=len(rows))
    shared = []
    for name, of in facts.items():
        near = of["near_duplicates"].get("examples", ())
        wanted = {id_ for pair in near for id_ in (pair["held_out"], pair["train"])}
        content = corpus_content(release, corpora[name], of["tasks"], wanted)
        shared += content.shared
        for row in rows:
            if row["corpus"] == name:
                _write_task(folder, corpora[name], declared[row["task"]], of, row, content, validated)
                progress.update(bar, advance=1, description=row["task"])
    _write_overlaps(folder, validated, rows, shared)
    _write(folder, "rules.html", "rules.html", validated, rules=rule_rows(validated.findings, rows))
    _write(
        folder,
        "index.html",
        "index.html",
        validated,
        rows=rows,
        categories=[name for name in CATEGORY_NAMES if any(row["category"] == name for row in rows)],
        findings=release_findings(validated.findings, rows),
        totals=Counter(kind_of(finding) for finding in validated.findings),
        partial=_is_partial(validated),
    )


# Rendering -----------------------------------------------------------------------------------------------


def _visible(value: object) -> object:
    return value.translate(_PICTURES) if isinstance(value, str) else value


def _words(text: str) -> Markup:
    """Words of the project: white space is folded, and what stands between backticks is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(" ".join(text.split())))))


def _name(name: str) -> Markup:
    """A name that may break after its signs."""
    return Markup(re.sub("([#_-])", r"\1<wbr>", str(escape(name))))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("validation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "percent": lambda share, digits=0: f"{share:.{digits}%}",
        "kind": kind_of,
        "words": _words,
        "name": _name,
    }
    environment.globals |= {"category_names": CATEGORY_NAMES, "splits": SPLIT_FILES}
    return environment


def _write(folder: Path, path: str, template: str, validated: Validated, **content: object) -> None:
    html = _environment().get_template(template).render(
        root="../" * path.count("/"), lock=validated.lock, errors=len(validated.errors), **content
    )  # fmt: skip
    # A half surrogate, which only a damaged lock could hold, must not cost the whole report.
    (folder / path).write_text(html, encoding="utf-8", errors="replace", newline="\n")


# Findings ------------------------------------------------------------------------------------------------


def kind_of(finding: Finding) -> str:
    """`error`, `warning` or `accepted`."""
    return "accepted" if finding.known else finding.severity


def _of_task(findings: Iterable[Finding], corpus: str, task: str) -> list[Finding]:
    """What concerns a task: its own findings, then those of its whole corpus."""
    own = [finding for finding in findings if finding.place == task]
    return own + [finding for finding in findings if finding.place == corpus != task]


def release_findings(findings: Iterable[Finding], rows: Iterable[Mapping]) -> list[Finding]:
    """What concerns no task in particular."""
    places = {place for row in rows for place in (row["task"], row["corpus"])}
    return [finding for finding in findings if finding.place not in places]


def rule_rows(findings: Sequence[Finding], rows: Sequence[Mapping]) -> list[dict]:
    """Every rule with the numbers of its findings, and in which tasks or corpora they are."""
    slugs = {row["task"]: row["slug"] for row in rows}
    told = []
    for rule in (*rule_table(), *OTHER_RULES):
        found = [finding for finding in findings if finding.rule == rule["id"]]
        places = Counter(finding.place for finding in found)
        told.append(
            rule
            | {"counts": Counter(map(kind_of, found)), "number": len(found)}
            | {"places": [(place, slugs.get(place), count) for place, count in places.items()]}
        )
    return told


# Overview ------------------------------------------------------------------------------------------------


def overview_row(corpus: Corpus, task: Task, measured: Mapping, findings: Iterable[Finding]) -> dict:
    """A task in the table of all: counts, balance, drops, and what was found of it and its corpus."""
    found = _of_task(findings, corpus.name, task.name)
    counts = Counter(map(kind_of, found))
    sizes = {split: measured["splits"].get(split, {"items": 0})["items"] for split in SPLIT_FILES}
    status = "blocked" if counts["error"] else "warnings" if counts["warning"] else "clean"
    return {
        "task": task.name,
        "slug": task.slug,
        "corpus": corpus.name,
        "category": task.category,
        "format": task.format,
        "items": sum(sizes[split] for split in SPLITS),
        "sizes": sizes,
        "dropped": measured["ledger"]["dropped"],
        "balance": balance(task, measured["splits"]),
        "counts": counts,
        "status": status,
        "found": found,
    }


def balance(task: Task, splits: Mapping[str, Mapping]) -> dict:
    """A bar from 0 to 100 for the labels of train, validation and test together.

    `segments` are (start, width, shade); `words` say the same, `short` in a few words, `share` is what to sort by.
    """
    parts = [splits[split] for split in SPLITS if splits.get(split, {"items": 0})["items"]]
    if not parts:
        return {"segments": [], "words": "no items", "short": "–", "share": -1.0}
    if task.has_classes:
        return _of_classes({name: sum(part["labels"][name] for part in parts) for name in task.label_names})
    items = sum(part["items"] for part in parts)
    if task.format == "span":
        without = sum(part["without_span"] for part in parts)
        told = _of_classes({"with a span": items - without, "without": without})
        per_text = sum(part["spans"] for part in parts) / items
        return told | {"short": f"{per_text:.1f} spans a text", "share": per_text}
    return _of_values(task, parts, items)


def _of_classes(counts: Mapping[str, int]) -> dict:
    total = max(sum(counts.values()), 1)
    segments, start = [], 0.0
    for number, count in enumerate(counts.values()):
        segments.append((round(start, 2), round(100 * count / total, 2), number % 2))
        start += 100 * count / total
    most = max(counts, key=lambda name: counts[name])
    words = ", ".join(f"{name} {count / total:.1%}" for name, count in counts.items())
    return {
        "segments": segments,
        "words": words,
        "short": f"{counts[most] / total:.0%} {most}",
        "share": counts[most] / total,
    }


def _of_values(task: Task, parts: Sequence[Mapping], items: int) -> dict:
    """Mean and standard deviation of all splits from those of each, on the scale."""
    mean = sum(part["items"] * part["mean"] for part in parts) / items
    squares = sum(part["items"] * (part["deviation"] ** 2 + (part["mean"] - mean) ** 2) for part in parts)
    deviation = math.sqrt(squares / items)
    low, high = task.scale

    def place(value: float) -> float:
        return round(100 * min(max((value - low) / (high - low), 0), 1), 2)

    left, right = place(mean - deviation), place(mean + deviation)
    segments = [(left, round(right - left, 2), 1), (round(max(place(mean) - 1, 0), 2), 2, 0)]
    words = f"mean {mean:.2f}, deviation {deviation:.2f}, on a scale from {low:g} to {high:g}"
    return {"segments": segments, "words": words, "short": f"{mean:.2f} ± {deviation:.2f}", "share": place(mean) / 100}


def _is_partial(validated: Validated) -> bool:
    """Whether only some tasks of the release were looked at."""
    seen = {task for of in validated.facts["corpora"].values() for task in of["tasks"]}
    there = {task for entry in validated.lock["corpora"].values() for task in entry["tasks"]}
    return bool(there - seen - set(validated.facts["undeclared"]))


# A task --------------------------------------------------------------------------------------------------


def _write_task(
    folder: Path, corpus: Corpus, task: Task, of: Mapping, row: Mapping, content: CorpusContent, validated: Validated
) -> None:
    measured, shown = of["tasks"][task.name], content.tasks[task.name]
    drawn = {"labels": _label_plot(task, measured, shown), "lengths": _length_plot(task, shown)}
    for kind, (svg, _) in drawn.items():
        (folder / "plots" / f"{task.slug}-{kind}.svg").write_text(svg, encoding="utf-8", newline="\n")
    _write(
        folder,
        f"tasks/{task.slug}.html",
        "task.html",
        validated,
        corpus=corpus,
        task=task,
        of=of,
        row=row,
        measured=measured,
        shown=shown,
        plots={kind: {"path": f"plots/{task.slug}-{kind}.svg", "words": words} for kind, (_, words) in drawn.items()},
        near=_near(of["near_duplicates"], content.texts, task),
        artefacts=measured.get("artefacts", ()),
        traces=[(kind, measured["traces"][kind.id]) for kind in KINDS if kind.id in measured["traces"]],
        sensitive=task.category == "offensive",
        quoting=QUOTING,
    )


def _label_plot(task: Task, measured: Mapping, shown) -> tuple[str, str]:
    """SVG and words of the plot of a task's labels."""
    if task.has_classes:
        counts = {split: part["labels"] for split, part in measured["splits"].items()}
        words = "Share of every class, by split. The counts are in the table."
        return plots.class_shares(counts or {"train": dict.fromkeys(task.label_names, 0)}, words), words
    if task.format == "regression":
        words = f"Distribution of the values of {task.labels[0].name}, by split."
        return plots.distribution(
            shown.values, plots.edges(shown.values, task.scale), words, task.labels[0].name
        ), words
    words = "How many spans the texts have, by split."
    return plots.distribution(shown.values, plots.edges(shown.values), words, "spans in a text"), words


def _length_plot(task: Task, shown) -> tuple[str, str]:
    what = "both texts and the joint" if task.format == "pair" else "the text"
    words = f"How long the items are (characters of {what}), by split."
    return plots.distribution(shown.lengths, plots.log_edges(shown.lengths), words, "characters", log=True), words


def _near(near: Mapping, texts: Mapping[str, Mapping], task: Task) -> list[dict]:
    """The example pairs of a corpus whose texts are in the release, with the words marked that differ."""
    pairs = []
    for pair in near.get("examples", ()):
        if pair["held_out"] in texts and pair["train"] in texts:
            sides = [texts[pair["held_out"]], texts[pair["train"]]]
            marked = [difference(one, other) for one, other in zip(sides[0]["texts"], sides[1]["texts"], strict=True)]
            pairs.append(
                {
                    "similarity": pair["similarity"],
                    "sides": [
                        {
                            "id": pair[name],
                            "split": side["split"],
                            "label": side["labels"].get(task.name),
                            "texts": [both[number] for both in marked],
                        }
                        for number, (name, side) in enumerate(zip(("held_out", "train"), sides, strict=True))
                    ],
                }
            )
    return pairs


# Overlaps ------------------------------------------------------------------------------------------------


def _write_overlaps(folder: Path, validated: Validated, rows: Sequence[Mapping], shared: Sequence[Mapping]) -> None:
    places = {row["task"]: row for row in rows}
    pairs = [pair | {"within": True} for pair in shared]
    pairs += [pair | {"within": False} for pair in overlap_pairs(validated.facts["overlaps"])]
    pairs.sort(key=lambda pair: (-pair["test_in_train"], -pair["shared"]))
    words = "Test items of a task (row) that are in train of another (column); the table below has the same numbers."
    sharing = {pair[side] for pair in pairs for side in ("task", "other")}
    tasks = [task for task in places if task in sharing]
    if tasks:
        svg = plots.heat_map(tasks, [places[task]["corpus"] for task in tasks], matrix(tasks, pairs), words)
        (folder / "plots" / "overlaps.svg").write_text(svg, encoding="utf-8", newline="\n")
    _write(
        folder,
        "overlaps.html",
        "overlaps.html",
        validated,
        pairs=pairs,
        rows=places,
        alone=[task for task in places if task not in sharing],
        words=words,
        partial=_is_partial(validated),
        test_in_train=sum(pair["test_in_train"] for pair in pairs if not pair["within"]),
        within=sum(pair["test_in_train"] for pair in pairs if pair["within"]),
    )
