"""What the Hub for tests holds: files, commits that never change, and the refs of a repository that point at them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

# Every new repository of the Hub starts with a commit of this file.
GITATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"

LARGE = 10 * 1024 * 1024


def is_large(path: str, size: int) -> bool:
    """Whether the Hub keeps a file outside git (LFS): Parquet of any size, and anything above `LARGE` bytes."""
    return path.endswith(".parquet") or size > LARGE


def git_oid(content: bytes) -> str:
    """The id git gives a blob: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass(frozen=True)
class File:
    """A file of a commit. Of a large one git only knows a pointer, whose format is
    https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md."""

    content: bytes
    large: bool

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def oid(self) -> str:
        """The id of what git has of it."""
        return git_oid(self._pointer if self.large else self.content)

    @property
    def etag(self) -> str:
        """What changes with the content: the sha256 of a large file, the git id of another."""
        return self.sha256 if self.large else self.oid

    @property
    def _pointer(self) -> bytes:
        version = "version https://git-lfs.github.com/spec/v1"
        return f"{version}\noid sha256:{self.sha256}\nsize {len(self.content)}\n".encode()

    def lfs(self, name_of_sha256: str) -> dict[str, Any] | None:
        """What the Hub tells of a large file; it has two names for the sha256, `oid` and `sha256`."""
        size, pointer_size = len(self.content), len(self._pointer)
        return {name_of_sha256: self.sha256, "size": size, "pointerSize": pointer_size} if self.large else None


@dataclass(frozen=True)
class Commit:
    """A state of all files, by path; `parent` is the id of the commit before it."""

    oid: str
    parent: str | None
    files: Mapping[str, File]
    title: str
    message: str
    date: str

    @cached_property
    def tree(self) -> dict[str, dict[str, Any]]:
        """Every file and folder, by path, as the Hub lists them. (The ids of folders are not git's.)"""
        listed: dict[str, dict[str, Any]] = {}
        for path, file in self.files.items():
            for depth in range(path.count("/"), 0, -1):
                folder = path.rsplit("/", depth)[0]
                oid = hashlib.sha1(f"{self.oid} {folder}".encode()).hexdigest()
                listed[folder] = {"type": "directory", "path": folder, "oid": oid, "size": 0}
            listed[path] = {"type": "file", "path": path, "oid": file.oid, "size": len(file.content)}
            if file.large:
                listed[path]["lfs"] = file.lfs("oid")
        return listed


class RevisionNotFound(Exception):
    """No branch, tag, ref or commit of this name."""


class Repository:
    """A dataset repository. `refs` are the full names of branches, tags and pull requests, with commit ids."""

    def __init__(self, name: str, private: bool):
        self.name = name
        self.private = private
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        self.add("refs/heads/main", None, {".gitattributes": File(GITATTRIBUTES, False)}, "initial commit", "")

    def add(self, ref: str, parent: str | None, files: Mapping[str, File], title: str, message: str) -> Commit:
        """One more commit, at which `ref` points from now on."""
        content = [self.name, len(self.commits), parent, title, message, [(path, files[path].oid) for path in files]]
        oid = hashlib.sha1(json.dumps(content).encode()).hexdigest()
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.commits[oid] = Commit(oid, parent, dict(sorted(files.items())), title, message, date)
        self.refs[ref] = oid
        return self.commits[oid]

    def at(self, revision: str) -> Commit:
        """The commit of a branch, a tag, a full ref, or (the first seven digits or more of) a commit id.

        Raises `RevisionNotFound`.
        """
        for ref in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            if ref in self.refs:
                return self.commits[self.refs[ref]]
        for oid, commit in self.commits.items():
            if len(revision) >= 7 and oid.startswith(revision):
                return commit
        raise RevisionNotFound(f"Invalid rev id: {revision}")

    def history(self, revision: str) -> list[Commit]:
        """The commits that lead to a revision, newest first. Raises `RevisionNotFound`."""
        commits = [self.at(revision)]
        while commits[-1].parent:
            commits.append(self.commits[commits[-1].parent])
        return commits
