"""`socket-data push`: a release to the Hub."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import typer
from rich.console import Console

from builders.declaration import Corpus, load_corpora
from builders.pipeline.lock import Lock, read_lock
from builders.pipeline.release import take_corpora
from builders.problems import Problem, WrongUsage, examples
from builders.publish.push import Plan, plan, push, refuse_other_tag, set_tag
from builders.publish.verify import verify_folder
from validation.validate import validate

SHOWN = 5


def run(release: Path, repo: str, create_pr: bool, dry_run: bool, tag: str | None, restricted: bool) -> int:
    """Validate, plan, push, tag, and load everything again; 0 if the repository holds the release then."""
    from huggingface_hub import HfApi

    if not release.is_dir():
        raise WrongUsage("there is no such folder.", where=[str(release)])
    if repo.count("/") != 1 or not all(repo.split("/")):
        raise WrongUsage("no name of a Hub repository (owner/name).", where=[repo])
    if create_pr and tag:
        raise WrongUsage("a pull request is tagged when it is merged: --create-pr and --tag exclude each other.")
    corpora, lock, console = load_corpora(), read_lock(release), Console(highlight=False, soft_wrap=True)
    if lock["source"] == "sample":
        console.print("Built from invented samples: a demonstration, not data.", style="yellow")
    with tempfile.TemporaryDirectory() as scratch:
        if restricted:
            _ask(corpora, lock, console)
        else:
            release = _open_part(release, lock, corpora, Path(scratch) / "release", console)
            lock = read_lock(release)
        _refuse_unless_valid(release, lock, corpora, console)
        api, tag = HfApi(), tag or f"v{lock['release']}"
        planned = plan(api, repo, release, lock)
        _print_plan(planned, tag, create_pr, console)
        if dry_run:
            console.print("Nothing was pushed (--dry-run).")
            return 0
        tagged = not create_pr and refuse_other_tag(api, repo, release, lock, tag)
        commit = planned.parent
        if not planned.is_empty:
            commit = push(api, planned, release, lock, create_pr, report=lambda step: console.print(f"{step} …"))
        if not create_pr and not tagged:
            set_tag(api, repo, tag, commit)
        console.print(f"{repo}: {'pull request' if create_pr else tag} at {commit}; loading it again …")
    return _load_again(repo, commit)


def is_restricted(corpus: Corpus) -> bool:
    """Whether the texts of a corpus are gated, or may not be passed on."""
    return corpus.access != "open" or not corpus.redistribution.allowed


def _restricted(corpora: Mapping[str, Corpus], lock: Lock) -> list[Corpus]:
    return [corpora[name] for name in lock["corpora"] if name in corpora and is_restricted(corpora[name])]


def _ask(corpora: Mapping[str, Corpus], lock: Lock, console: Console) -> None:
    """Say what the licences say and go on only if a person agrees. Raises `Problem` otherwise."""
    for corpus in _restricted(corpora, lock):
        why = " ".join(corpus.redistribution.why.split())
        console.print(f"{corpus.name} ({corpus.access}; licence {corpus.license}): {why}", markup=False)
    if not typer.confirm("Do you have the right to publish the texts of these corpora?", default=False):
        raise Problem("nothing was pushed.", todo="Leave out --include-restricted to push the other corpora.")


def _open_part(release: Path, lock: Lock, corpora: Mapping[str, Corpus], out: Path, console: Console) -> Path:
    """The release, or the part of it whose texts may be passed on."""
    left_out = [corpus.name for corpus in _restricted(corpora, lock)]
    if not left_out:
        return release
    kept = [name for name in lock["corpora"] if name not in left_out]
    if not kept:
        raise Problem(
            "no corpus of this release may be passed on.",
            where=[str(release)],
            todo="See --include-restricted.",
        )
    console.print(
        f"{len(left_out)} corpora are gated or may not be passed on and are left out (--include-restricted says why):"
        f" {', '.join(left_out)}."
    )
    damaged = verify_folder(release, lock)
    if damaged:
        raise Problem(f"is not as its lock says: {examples(damaged)}", where=[str(release)], todo="Build it again.")
    why = "left out: gated, or its texts may not be passed on."
    take_corpora(release, corpora, kept, out, dict.fromkeys(left_out, why))
    return out


def _refuse_unless_valid(release: Path, lock: Lock, corpora: Mapping[str, Corpus], console: Console) -> None:
    console.print("validating …")
    errors = validate(release, corpora, workers=os.cpu_count() or 1).errors
    for finding in errors:
        console.print(f"error: {finding}", markup=False)
    if errors:
        raise Problem(
            f"{len(errors):,} errors; nothing was pushed.",
            where=[str(release)],
            todo="See `socket-data validate`.",
        )


def _print_plan(planned: Plan, tag: str, create_pr: bool, console: Console) -> None:
    start = f"from commit {planned.parent[:12]}" if planned.parent else "a new repository"
    console.print(f"{planned.repo}: {start}")
    for what, names in (("add", planned.add), ("replace", planned.replace), ("delete", planned.delete)):
        if names:
            console.print(f"  {what} {len(names):,}: {examples(names, at_most=SHOWN)}", markup=False)
    console.print(f"  leave {planned.same:,} as they are; {planned.bytes / 2**20:,.1f} MiB to upload at most")
    console.print("  as a pull request" if create_pr else f"  tag {tag}")


def _load_again(repo: str, commit: str) -> int:
    """Load every task in a fresh process with empty caches and compare with the lock; its exit status."""
    with tempfile.TemporaryDirectory() as empty:
        caches = {"HF_HUB_CACHE": f"{empty}/hub", "HF_DATASETS_CACHE": f"{empty}/datasets"}
        caches["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"  # four for every task
        command = [sys.executable, "-m", "builders.cli", "verify", f"{repo}@{commit}", "--load"]
        return subprocess.run(command, env={**os.environ, **caches}, check=False).returncode
