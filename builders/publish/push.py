"""Bringing a release to the Hub: one commit that makes the repository equal to the release folder, then a tag.

The commit names its parent, so two pushes cannot mix: the second is refused. Tables are uploaded before the commit and
are no part of the repository until then; a push that was cut repeats only what is missing.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from builders.pipeline.lock import LOCK, Lock
from builders.problems import Problem
from builders.publish.hub import GIT_ATTRIBUTES, status_of, told, tree

# How often a commit is tried when the Hub itself fails, and how many seconds are between the tries.
TRIES = 3
WAIT = 2.0


class Plan(NamedTuple):
    """What a push would do to a repository."""

    repo: str
    parent: str | None
    """The commit it starts from; None if there is no such repository yet."""
    add: list[str]
    replace: list[str]
    delete: list[str]
    same: int
    bytes: int
    """To upload at most; what the Hub holds already is not uploaded again."""

    @property
    def is_empty(self) -> bool:
        return not (self.add or self.replace or self.delete)


def plan(api, repo: str, release: Path, lock: Lock) -> Plan:
    """Compare a repository with a release folder. Raises `Problem` if the Hub cannot be asked."""
    from huggingface_hub.errors import RepositoryNotFoundError

    with told(repo):
        try:
            parent = api.repo_info(repo, repo_type="dataset").sha
            there = tree(api, repo, parent)
        except RepositoryNotFoundError:
            parent, there = None, {}
    names = [*lock["files"], LOCK]
    same = [name for name in names if name in there and there[name].holds(release / name, _sha256(lock, name))]
    add = [name for name in names if name not in there]
    replace = [name for name in names if name in there and name not in same]
    delete = sorted(there.keys() - {GIT_ATTRIBUTES, *names})
    size = sum((release / name).stat().st_size for name in (*add, *replace))
    return Plan(repo, parent, add, replace, delete, len(same), size)


def _sha256(lock: Lock, name: str) -> str:
    return lock["files"][name]["sha256"] if name in lock["files"] else ""


def refuse_other_tag(api, repo: str, release: Path, lock: Lock, tag: str) -> bool:
    """Whether the repository has the tag already, for this very release.

    Raises `Problem` if it stands for another one: what was published under a version stays.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    with told(repo):
        try:
            tags = {one.name for one in api.list_repo_refs(repo, repo_type="dataset").tags}
        except RepositoryNotFoundError:
            return False
        if tag not in tags:
            return False
        there = tree(api, repo, tag)
    names = {*lock["files"], LOCK}
    if there.keys() - {GIT_ATTRIBUTES} == names and all(
        there[name].holds(release / name, _sha256(lock, name)) for name in names
    ):
        return True
    raise Problem(
        f"the tag {tag} is there for another release.",
        where=[repo],
        todo="Raise the version (`socket-data diff` says how), or give another --tag.",
    )


def push(
    api,
    planned: Plan,
    release: Path,
    lock: Lock,
    create_pr: bool = False,
    wait: float = WAIT,
    report: Callable[[str], None] = lambda step: None,
) -> str:
    """Carry out a plan; gives the commit that holds the release now (or the pull request's, with `create_pr`).

    Raises `Problem` if the repository changed meanwhile, if a file of the release did, or if the Hub fails for good.
    The repository is the old or the new release then, nothing between.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    repo = planned.repo
    if planned.parent is None:
        report("creating the repository")
        with told(repo):
            api.create_repo(repo, repo_type="dataset", exist_ok=True)
            planned = planned._replace(parent=api.repo_info(repo, repo_type="dataset").sha)
    additions = [CommitOperationAdd(name, release / name) for name in (*planned.add, *planned.replace)]
    changed = [
        one.path_in_repo
        for one in additions
        if one.path_in_repo in lock["files"]
        and one.upload_info.sha256.hex() != lock["files"][one.path_in_repo]["sha256"]
    ]
    if changed:
        raise Problem(f"{changed[0]} changed since it was validated.", where=[str(release)], todo="Validate it again.")
    deletions = [CommitOperationDelete(name) for name in planned.delete]
    report(f"uploading {len(additions)} files")
    with told(repo):
        api.preupload_lfs_files(repo, additions, repo_type="dataset", free_memory=False)
    report("committing")
    return _commit(api, planned, [*additions, *deletions], lock, release, create_pr, wait)


def _commit(api, planned: Plan, operations: list, lock: Lock, release: Path, create_pr: bool, wait: float) -> str:
    """One commit, tried again where the Hub failed and the repository is still as it was."""
    from huggingface_hub.errors import HfHubHTTPError

    for left in reversed(range(TRIES)):
        try:
            with told(planned.repo):
                try:
                    return api.create_commit(
                        planned.repo,
                        operations,
                        repo_type="dataset",
                        commit_message=f"Release {lock['release']}",
                        parent_commit=planned.parent,
                        create_pr=create_pr,
                    ).oid
                except HfHubHTTPError as error:
                    # 4xx is an answer; what failed on the way (5xx, a cut line) may have been done all the same.
                    if (status_of(error) or 500) < 500 or create_pr:
                        raise
                    failed = error
        except Problem as problem:
            if "cannot be reached" not in problem.what or create_pr:
                raise
            failed = problem
        now = plan(api, planned.repo, release, lock)
        if now.is_empty:
            return now.parent
        if now.parent != planned.parent:
            raise Problem(
                "somebody else has changed it meanwhile; nothing of yours is there.",
                where=[planned.repo],
                todo="Look what they did, then repeat it.",
            ) from None
        if left:
            time.sleep(wait)
    with told(planned.repo):
        raise failed


def set_tag(api, repo: str, tag: str, commit: str) -> None:
    """Give a commit the tag. Raises `Problem` if somebody else used it meanwhile."""
    with told(repo):
        api.create_tag(repo, tag=tag, revision=commit, repo_type="dataset", tag_message=f"Release {tag}")
