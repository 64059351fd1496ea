"""`socket-data validate`: whether a release may be published, and why not."""

import os
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from builders.commands import select
from builders.declaration import load_corpora
from builders.problems import WrongUsage, examples, visible
from validation.rules import ERROR, RULES
from validation.statistics import check_folder as check_statistics
from validation.statistics import write_statistics
from validation.validate import Validated, validate


def run(release: Path, names: list[str], report: Path | None, statistics: Path | None, workers: int) -> int:
    """Print what was found in a release; 0 if nothing blocks it.

    Raises `WrongUsage` if there is no such folder or task, or if something is to be written into the release.
    """
    if not release.is_dir():
        what = "is a file, not a release folder." if release.exists() else "there is no such folder."
        raise WrongUsage(what, where=[str(release)])
    for folder in filter(None, (report, statistics)):
        if release.resolve() in (folder.resolve(), *folder.resolve().parents):
            raise WrongUsage("lies in the release, which is only read.", where=[str(folder)], todo="Choose another.")
    if report:
        from validation.report import check_folder

        check_folder(report)
    if statistics and names:
        raise WrongUsage("--statistics needs the whole release, not --task.")
    if statistics:
        check_statistics(statistics)
    corpora = load_corpora()
    tasks = {task for chosen in select(corpora, names).values() for task in chosen} if names else set()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("corpora", total=len(select(corpora, names)))
        validated = validate(
            release,
            corpora,
            tasks,
            workers or os.cpu_count() or 1,
            lambda corpus: progress.update(bar, advance=1, description=corpus),
        )
        if report:
            from validation.report import write_report

            validated = write_report(release, corpora, validated, report, progress)
    if statistics:
        write_statistics(validated, statistics)
    _print(validated, bool(names), report)
    return 1 if validated.errors else 0


def _print(validated: Validated, in_full: bool, report: Path | None) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if validated.lock["source"] == "sample":
        console.print("Built from invented samples: a demonstration, not data.")
    console.print(_tasks(validated))
    if in_full:
        for finding in validated.findings:
            if not finding.blocks:
                console.print(
                    f"{'known' if finding.known else finding.severity}: {visible(str(finding))}", markup=False
                )
                if finding.known:
                    console.print(f"  accepted: {' '.join(finding.known.split())}", markup=False)
    else:
        console.print(_warnings(validated))
    for finding in validated.errors:
        console.print(f"[red]error[/red]: {escape(visible(str(finding)))}")
    if validated.errors:
        console.print(
            "Repair each at its source; what has to stay is listed, with its reason, in validation/known.yaml."
        )
    known = sum(bool(finding.known) for finding in validated.findings)
    warnings = sum(finding.severity != ERROR and not finding.known for finding in validated.findings)
    verdict = "may not be published" if validated.errors else "nothing blocks it"
    console.print(
        f"{len(RULES)} rules: {len(validated.errors):,} errors, {warnings:,} warnings, {known:,} accepted; {verdict}."
    )
    if report:
        console.print(f"Report: {report / 'index.html'}", soft_wrap=True)


def _tasks(validated: Validated) -> Table:
    """A line per task; narrow enough for 80 columns."""
    errors = Counter(finding.place for finding in validated.errors)
    warnings = Counter(finding.place for finding in validated.findings if not finding.blocks and not finding.known)
    known = Counter(finding.place for finding in validated.findings if finding.known)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("task", "items", "errors", "warnings", "accepted"):
        table.add_column(heading, justify="left" if heading == "task" else "right", no_wrap=True)

    def add(place: str, shown: str, items: str) -> None:
        counts = [f"{count[place]:,}" if count[place] else "" for count in (errors, warnings, known)]
        table.add_row(shown, items, f"[red]{counts[0]}[/red]", *counts[1:])

    if errors["release"] or warnings["release"] or known["release"]:
        add("release", "[bold]the release[/bold]", "")
    for name, facts in validated.facts["corpora"].items():
        add(name, f"[bold]{name}[/bold]", "")
        for task, measured in facts["tasks"].items():
            items = sum(part["items"] for split, part in measured["splits"].items() if split != "sockette")
            add(task, f" {task}", f"{items:,}")
    return table


def _warnings(validated: Validated) -> Table:
    """A line per rule that only warns, with the places it found most in."""
    table = Table(title="Warnings by rule", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("rule", "places", "most in"):
        table.add_column(heading, justify="right" if heading == "places" else "left")
    for rule in RULES:
        found = [f for f in validated.findings if f.rule == rule.id and not f.blocks and not f.known]
        if found:
            found.sort(key=lambda finding: -finding.number)
            places = [
                f"{finding.what if finding.place == 'release' else finding.place} ({finding.number:,})"
                for finding in found
            ]
            table.add_row(rule.id, f"{len(found):,}", escape(examples(places)))
    return table
