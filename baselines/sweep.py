"""Many trials: tasks × models × seeds, in a folder where a second call goes on.

A trial runs in a process of its own (or, on a Ray cluster, anywhere), so that one that is lost takes nothing with it.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from baselines.data import Release, open_release
from baselines.recipe import Recipe
from baselines.scores import Run, write_scores
from baselines.trial import TRIAL, Trial, read_trial, run_trial, specify
from builders.declaration import Task, load_corpora
from builders.pipeline.workers import Lost, each
from builders.problems import Problem

SCORES = "scores.json"


class Job(NamedTuple):
    """One trial to be."""

    release: Path
    task: str
    model: str
    recipe: Recipe
    seed: int
    out: Path
    """The folder of the trial."""
    keep: bool
    """Whether its checkpoint is kept."""


def jobs(
    release: Release, tasks: Sequence[Task], models: Sequence[str], recipe: Recipe, out: Path, keep: bool = False
) -> list[Job]:
    """The trials of a sweep, task by task."""
    return [
        Job(release.folder.resolve(), task.name, model, recipe, seed, trial_folder(out, model, task.name, seed), keep)
        for task in tasks
        for model in models
        for seed in recipe.seeds
    ]


def trial_folder(out: Path, model: str, task: str, seed: int) -> Path:
    """Where the trial of a model on a task lies in the folder of a sweep."""
    place = re.sub(r"[^A-Za-z0-9._-]+", "--", model).strip("-.") or "model"
    return (out / "trials" / place / task.replace("#", "--") / f"seed-{seed}").resolve()


def sweep(todo: Sequence[Job], out: Path, ray: str | None = None) -> Iterator[tuple[Job, Trial | Problem]]:
    """Run trials, one after the other or on the Ray cluster at the address `ray` with a GPU each; what each gave, as
    they end. Those that are done already come first; one whose process or machine is lost is tried again.

    Raises `Problem` if another sweep works in the folder `out`, or there is no such cluster.
    """
    out.mkdir(parents=True, exist_ok=True)
    lock = FileLock(out / ".sweep.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Problem("another sweep works in this folder.", where=[str(out)], todo="Wait for it to end.") from None
    try:
        left = []
        for job in todo:
            try:
                done = _done(job)
            except Problem as problem:
                yield job, problem.within(*_place(job))
                continue
            if done:
                yield job, done
            else:
                left.append(job)
        for job, future in each(run_job, left, ray=ray, gpus=1):
            yield job, _outcome(job, future)
    finally:
        lock.release()


def _outcome(job: Job, future: Future) -> Trial | Problem:
    try:
        return future.result()
    except Problem as problem:
        return problem.within(*_place(job))
    except Lost as lost:
        return Problem(f"{lost}.", where=_place(job), todo="Run it again: it goes on after its last epoch.")
    except Exception as error:  # one trial must not stop the others, whatever it is
        told = f"stopped with {type(error).__name__}: {_short(error)}."
        return Problem(told, where=_place(job), todo="That is a fault of this program; please report it.")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _place(job: Job) -> tuple[str, ...]:
    return job.task, job.model, f"seed {job.seed}"


def run_job(job: Job) -> Trial:
    """Run one trial. Raises `Problem` like `run_trial`."""
    release = open_release(job.release, load_corpora())
    settings = job.recipe.settings(job.task)
    return run_trial(release, release.tasks[job.task], job.model, settings, job.seed, job.out, job.keep)


def _done(job: Job) -> Trial | None:
    """The trial if it is done and needs no process."""
    if not (job.out / TRIAL).exists():
        return None
    found = read_trial(job.out)
    release = open_release(job.release, load_corpora())
    same = found.spec == specify(release, release.tasks[job.task], job.model, job.recipe.settings(job.task), job.seed)
    return found if same and found.done and not job.keep else None


def runs_of(todo: Sequence[Job], trials: Sequence[Trial]) -> tuple[Run, ...]:
    """The trials that are done as runs, one per model and seed."""
    recipe = todo[0].recipe.model_dump(mode="json")
    runs: dict[tuple, list[Trial]] = {}
    for trial in trials:
        spec = trial.spec
        runs.setdefault((spec.model, trial.done.revision, spec.seed, trial.done.device), []).append(trial)
    return tuple(
        Run(
            release=first.spec.release,
            source=first.spec.source,
            model=model,
            revision=revision,
            recipe=recipe,
            seed=seed,
            versions=first.spec.versions,
            device=device,
            scores=tuple(score for trial in done for score in trial.done.scores),
        )
        for (model, revision, seed, device), done in runs.items()
        for first in done[:1]
    )


def write_runs(todo: Sequence[Job], trials: Sequence[Trial], out: Path) -> None:
    """Write the scores of the trials that are done to `out`/scores.json."""
    write_scores(runs_of(todo, trials), out / SCORES)
