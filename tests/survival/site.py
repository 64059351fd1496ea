"""A place to break things in, and what must hold there afterwards."""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from builders.declaration import CORPORA
from tests.survival.victim import Ended, Setting, ran, socket_data

Tree = Mapping[str, str]

# A build that is quick and has several corpora, tasks and formats; the release before it lacks one of them.
ALL, BEFORE = ("bragging", "empathy", "toxic-span"), ("bragging", "empathy")


def tree(folder: Path) -> Tree | None:
    """Every file and empty folder below a folder with the digest of its bytes; None if there is no such folder."""
    if not folder.exists():
        return None
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "/"
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


class Site(NamedTuple):
    """Folders of one trial: `place` holds the release and a neighbour; `home`, `temp` and `cwd` are the program's."""

    folder: Path

    @property
    def place(self) -> Path:
        return self.folder / "place"

    @property
    def release(self) -> Path:
        return self.place / "release"

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    def setting(self, env: Mapping[str, str] | None = None, answer: str = "") -> Setting:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"HOME": str(self.folder / "home"), "TMPDIR": str(self.temp), "NO_PROXY": "*"}
        return Setting(self.folder / "cwd", kept | dict(env or {}) | own, self.folder / "log", self.folder, answer)

    def left(self) -> list[str]:
        """What lies about that is neither the release nor the neighbour."""
        kept = {"place/release", "place/neighbour", "log"}
        below = [self.place, self.temp, self.folder / "home", self.folder / "cwd"]
        found = [path.relative_to(self.folder).as_posix() for base in below for path in base.iterdir()]
        return sorted(set(found) - kept)


def new_site(folder: Path, release: Path | None = None) -> Site:
    """A fresh site, with a copy of a release if one is given."""
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    for name in ("place/neighbour", "temp", "home", "cwd"):
        (folder / name).mkdir(parents=True)
    (site.place / "neighbour" / "notes.txt").write_text("not to be touched\n")
    if release:
        shutil.copytree(release, site.release)
    return site


def build(site: Site, workers: int = 1) -> tuple[Callable, tuple, Setting]:
    """The build of a site's release, as `victim.ran` and `victim.started` take it."""
    arguments = ("build", *ALL, "--sample", "--out", site.release, "--workers", workers)
    return socket_data, arguments, site.setting()


class Undisturbed(NamedTuple):
    """What a build gives when nothing goes wrong."""

    before: Path
    """A release from before."""
    after: Path
    """The release that is built."""
    old: Tree
    new: Tree


def undisturbed(folder: Path) -> Undisturbed:
    """Build both releases below `folder`, undisturbed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, corpora in (("before", BEFORE), ("after", ALL)):
        site = new_site(folder / name)
        ended = ran(socket_data, ("build", *corpora, "--sample", "--out", site.release), site.setting())
        assert ended.status == 0, ended.said
    before, after = (folder / name / "place/release" for name in ("before", "after"))
    return Undisturbed(before, after, tree(before), tree(after))


@cache
def outside() -> Tree:
    """The corpora as they are when this is first asked for; a build reads them and writes nothing there."""
    return tree(CORPORA)


def faults_after(site: Site, known: Undisturbed, had_release: bool) -> list[str]:
    """What is wrong in a site after a build was disturbed, and after the next one, which nothing disturbs."""
    faults = []
    found = tree(site.release)
    if found not in ([None, known.old, known.new] if had_release else [None, known.new]):
        faults.append("half a release is visible")
    if had_release and found is None and tree(site.place / ".release.previous") != known.old:
        faults.append("the old release is lost")
    faults += faults_of_next(site, known)
    return faults


def faults_of_next(site: Site, known: Undisturbed) -> list[str]:
    """What is wrong with the next build and after it."""
    faults = []
    again = ran(*build(site))
    if again.status:
        faults.append(f"the next run ends with status {again.status}: {again.said}")
    if tree(site.release) != known.new:
        faults.append("the next run gives other bytes")
    if left := site.left():
        faults.append(f"left over: {', '.join(left)}")
    if tree(site.place / "neighbour") != {"notes.txt": hashlib.sha256(b"not to be touched\n").hexdigest()}:
        faults.append("the folder beside the release was touched")
    if tree(CORPORA) != outside():
        faults.append("the corpora were touched")
    return faults


def faults_of_sentence(ended: Ended) -> list[str]:
    """What is wrong with how a program ended that could not do its work: status 1 and a sentence are right."""
    faults = [] if ended.status == 1 else [f"it ends with status {ended.status}: {ended.said}"]
    if "Traceback" in ended.said:
        faults.append(f"a traceback: {ended.said}")
    elif "socket-data: " not in ended.said and "not built: " not in ended.said:
        faults.append(f"nothing is told: {ended.said}")
    return faults
