"""`socket-data baseline`: scores of models on a release."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from baselines.correlate import DRAWS, SEED, check_plot, correlate, plot, points_of, published_points
from baselines.majority import score_release
from baselines.published import TOLERANCE, Printed, corrected, groups, printed, stated_correlation
from baselines.scores import ABSENT, UNDEFINED, Run, Score, figures, is_score_file, read_all, write_scores
from baselines.table import SUFFIXES, WRITERS, make_table
from builders.commands.training import print_note
from builders.declaration import Task, load_corpora
from builders.files import whole_file
from builders.problems import WrongUsage

COLUMNS = (("majority", "majority", "test"), ("sockette", "majority", "sockette"), ("random", "random", "test"))


def run_majority(release: Path, json_file: Path | None) -> int:
    """Print what the most frequent label and chance score on every task, beside what the paper prints; 0.

    Raises `WrongUsage` if there is no such folder or the file would lie in the release.
    """
    if not release.is_dir():
        raise WrongUsage("there is no such folder.", where=[str(release)])
    if json_file:
        _writable(json_file)
    if json_file and release.resolve() in json_file.resolve().parents:
        raise WrongUsage("lies in the release, which is only read.", where=[str(json_file)], todo="Choose another.")
    corpora = load_corpora()
    runs = score_release(release, corpora)
    if json_file:
        write_scores(runs, json_file)
    console = Console(highlight=False)
    scores = {run.model: {(score.task, score.split): score for score in run.scores} for run in runs}
    scored = {task for task, _ in scores["majority"]}
    declared = [task for corpus in corpora.values() for task in corpus.tasks if task.name in scored]
    console.print(_tasks(declared, scores))
    console.print()
    for remark in _remarks(declared, scores["majority"]):
        console.print(remark, markup=False, soft_wrap=True)
    console.print()
    console.print(_figures(declared, runs))
    return 0


def _writable(path: Path) -> None:
    if not path.parent.is_dir():
        raise WrongUsage("there is no such folder.", where=[str(path.parent)])


def _table(title: str, first: str, *headings: str) -> Table:
    table = Table(title=title, box=None, padding=(0, 1, 0, 0), pad_edge=False, caption_justify="left")
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "paper" else "right", no_wrap=True)
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _as_printed(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _tasks(declared: Sequence[Task], scores: dict[str, dict]) -> Table:
    table = _table("Without a model", "task", "majority", "sockette", "paper", "random", "paper")
    for task in declared:
        ours = {place: scores[model].get((task.name, split)) for place, model, split in COLUMNS}
        numbers = {place: _number(score and score.value) for place, score in ours.items()}
        theirs = printed().get(task.name, Printed())
        differs = ours["majority"] and theirs.majority is not None and not _same(ours["majority"], theirs)
        table.add_row(
            task.name,
            numbers["majority"],
            numbers["sockette"],
            _as_printed(theirs.majority) + (" ≠" if differs else ""),
            numbers["random"],
            _as_printed(theirs.random),
        )
    table.caption = "Majority and random on test. ≠: the majority is more than 0.01 off what the paper prints."
    return table


def _same(ours: Score, theirs: Printed) -> bool:
    return abs(ours.value - theirs.majority) <= TOLERANCE


def _remarks(declared: Sequence[Task], majority: dict) -> Iterator[str]:
    """How the majority compares with what the paper prints, tasks whose data we changed set apart."""
    ours = {task.name: majority[task.name, "test"] for task in declared if (task.name, "test") in majority}
    theirs = {task: printed()[task] for task in ours if task in printed() and printed()[task].majority is not None}
    moved = {task: corrected(task) for task in theirs}
    same = {task for task in theirs if _same(ours[task], theirs[task])}
    for what, tasks in (
        ("not changed", [task for task in theirs if not moved[task]]),
        ("changed (defects of 1.1.0 that were corrected)", [task for task in theirs if moved[task]]),
    ):
        if tasks:
            off = [task for task in tasks if task not in same]
            told = [f"{task} ({', '.join(map(str, moved[task]))})" if moved[task] else task for task in off]
            count = f"{len(tasks) - len(off)} of {len(tasks)} as printed, to 0.01"
            yield f"Tasks whose labels in test we have {what}: {count}" + (f"; not {', '.join(told)}." if off else ".")
    if absent := [task for task, score in ours.items() if score.flag == ABSENT]:
        yield f"A class that is in no item of test and is never predicted counts as 0: {', '.join(absent)}."
    if bare := [
        task.name for task in declared if task.format == "span" and task.name in ours and ours[task.name].value > 0
    ]:
        yield f"No span is right for a text that has none (the paper's row is 0 all the same): {', '.join(bare)}."
    if [task for task, score in ours.items() if score.flag == UNDEFINED]:
        yield "A regression whose prediction is constant has no correlation: it counts as 0, the score is 0.5."


def _figures(declared: Sequence[Task], runs: Sequence[Run]) -> Table:
    """The ten figures; beside them the mean of the values that the paper prints task by task, and its own figures."""
    table = _table("Means over tasks", "", "tasks", "majority", "by task", "paper", "random", "by task", "paper")
    rows: dict[str, list[str]] = {}
    for run in runs:
        ours = figures({score.task: score.value for score in run.scores if score.split == "test"}, declared)
        theirs = {task.name: getattr(printed().get(task.name), run.model, None) for task in declared}
        by_task = figures({task: value for task, value in theirs.items() if value is not None}, declared)
        (paper,) = (group.figures for group in groups() if group.model == run.model)
        for name, figure in ours.items():
            row = rows.setdefault(name, [str(figure.tasks)])
            row += [_number(figure.value), _number(by_task[name].value if name in by_task else None)]
            row.append(_as_printed(paper[name]))
    for name, row in rows.items():
        table.add_row(name, *row)
    table.caption = (
        "by task: the mean of what the paper prints task by task, for these tasks. Its own means of categories and its "
        "average count a regression as 0, not 0.5."
    )
    return table


def run_table(paths: list[Path], kind: str | None, out: Path | None, split: str, allow_mixed: bool) -> int:
    """Print scores beside the published ones, or write them to a file; 0."""
    if out:
        if out.exists() and not out.is_file():
            what = "is a folder." if out.is_dir() else "is no file."
            raise WrongUsage(what, where=[str(out)], todo="Give --out the name of a file.")
        if is_score_file(out):
            raise WrongUsage("is a score file, which would be lost.", where=[str(out)], todo="Choose another --out.")
        _writable(out)
    runs = read_all(paths)
    tasks = [task for corpus in load_corpora().values() for task in corpus.tasks]
    table = make_table(runs, tasks, split, allow_mixed)
    for warning in table.warnings:
        print_note(warning)
    text = WRITERS[kind or (out and SUFFIXES.get(out.suffix.lower())) or "markdown"](table)
    if not out:
        print(text, end="")
        return 0
    with whole_file(out.resolve()) as beside:  # a link stays one
        beside.write_text(text, encoding="utf-8", newline="\n")
    rows = sum(len(block.rows) for block in table.blocks)
    Console(highlight=False).print(f"{rows} tasks in {out}.", markup=False, soft_wrap=True)
    return 0


def run_correlate(paths: list[Path], model: str | None, plot_file: Path | None) -> int:
    """Print how scores on test and on SocKETTe go together, of score files or as the paper prints them; 0."""
    if model is not None and not paths:
        raise WrongUsage("--model chooses among score files, and none is given.")
    if plot_file:
        check_plot(plot_file)
        _writable(plot_file)
    points = points_of(read_all(paths), model) if paths else published_points()
    found = correlate(points)
    if plot_file:
        plot(found, plot_file)
    console = Console(highlight=False)
    title = "Scores on test and on SocKETTe" if paths else "DeBERTa-v3-base, as the paper prints it"
    table = _table(title, "task", "test", "sockette", "difference", "r without")
    for task, *numbers in found.tasks[["test", "sockette"]].itertuples():
        difference, without = found.tasks.loc[task, ["difference", "without"]]
        table.add_row(task, *map(_number, numbers), f"{difference:+.3f}", _number(without))
    console.print(table)
    console.print(
        f"\nr = {found.r:.3f} over {len(found.tasks)} tasks; "
        f"95 % interval {found.low:.3f} to {found.high:.3f} ({DRAWS:,} bootstrap draws of tasks, seed {SEED})."
    )
    most = found.tasks.index[0]
    console.print(f"Without {most}, which moves it most: {found.tasks['without'].iloc[0]:.3f}.", markup=False)
    if not paths:
        console.print(f"The paper's text says {stated_correlation():.3f}.")
    return 0
