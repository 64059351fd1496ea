"""What is done to the build, the push and the fetch. Trials say what is wrong afterwards: nothing, at best."""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from builders.declaration import CORPORA, load_corpus
from builders.pipeline.fetch import Cache, Wanted, fetch_file
from builders.pipeline.lock import read_lock
from builders.publish.push import plan, push, refuse_other_tag, set_tag
from tests.hub import GITATTRIBUTES, TOKEN, Hub, client_env
from tests.hub.server import Fault, Request
from tests.survival.site import (
    Undisturbed,
    build,
    faults_after,
    faults_of_next,
    faults_of_sentence,
    new_site,
    tree,
)
from tests.survival.victim import Setting, Victim, ran, started


class Trial(NamedTuple):
    """One thing that was done, and what was wrong afterwards."""

    scenario: str
    point: str
    faults: list[str]


def spread(total: int, count: int) -> list[int]:
    """`count` numbers from 1 to `total`, evenly spread; each once, so perhaps fewer."""
    return sorted({1 + index * total // count for index in range(count)})


# The build is killed ------------------------------------------------------------------------------------


def killed_builds(folder: Path, known: Undisturbed, count: int, had_release: bool) -> Iterator[Trial]:
    """Kill the build just before one of its changes to the file system, at `count` of them."""
    scenario = "a build that replaces a release" if had_release else "a first build"
    before = known.before if had_release else None
    total = ran(*build(new_site(folder, before))).changes
    for point in spread(total, count):
        site = new_site(folder, before)
        ended = ran(*build(site), die_at=point)
        faults = [] if ended.status == -signal.SIGKILL else [f"it was not killed: {ended.status}: {ended.said}"]
        yield Trial(scenario, f"before change {point} of {total}", faults + faults_after(site, known, had_release))


def timed_builds(folder: Path, known: Undisturbed, count: int) -> Iterator[Trial]:
    """Kill a build with two workers at `count` moments spread over the time it takes."""
    start = time.monotonic()
    ran(*build(new_site(folder, known.before), workers=2))
    takes = time.monotonic() - start
    for index in range(count):
        site = new_site(folder, known.before)
        moment = takes * (index + 0.5) / count
        with started(*build(site, workers=2)) as victim:
            with contextlib.suppress(TimeoutError):
                victim.wait(moment)
            victim.kill()
            victim.wait()
        yield Trial("a build with two workers", f"after {moment:.2f} s", faults_after(site, known, True))


# The push is killed -------------------------------------------------------------------------------------

REPO = "author/SOCKET"


class DeadlyHub(Hub):
    """A Hub whose n-th request kills the client that sent it, before or after it has done what was asked."""

    def __init__(self, deadly: int = 0, done: bool = False):
        super().__init__()
        self.deadly, self.done = deadly, done
        self.kill = lambda: None

    def fault_for(self, request: Request) -> Fault | None:
        if len(self.requests) != self.deadly:
            return super().fault_for(request)
        return Fault(request.step, meanwhile=lambda: self.kill(), cut=None if self.done else "at once")


def push_release(url: str, release: Path, tag: str) -> None:
    """What `socket-data push` does with the Hub, once the release is known to be valid."""
    from huggingface_hub import HfApi

    api, lock = HfApi(endpoint=url, token=TOKEN), read_lock(release)
    planned = plan(api, REPO, release, lock)
    tagged = refuse_other_tag(api, REPO, release, lock, tag)
    commit = planned.parent if planned.is_empty else push(api, planned, release, lock)
    if not tagged:
        set_tag(api, REPO, tag, commit)


def _files(release: Path) -> dict[str, bytes]:
    found = {path.relative_to(release).as_posix(): path.read_bytes() for path in release.rglob("*") if path.is_file()}
    return found | {".gitattributes": GITATTRIBUTES}


def killed_pushes(folder: Path, known: Undisturbed, count: int) -> Iterator[Trial]:
    """Kill the push of the new release at `count` of its requests, half of them before and half after the Hub has done
    what the request asks for."""
    with DeadlyHub() as hub:
        hub.commit(REPO, _files(known.before))
        ended = ran(push_release, (hub.url, known.after, "v2.0.0"), _pushing(folder, hub))
        assert ended.status == 0, ended.said
        total = len(hub.requests)
    for point in spread(2 * total, count):
        request, done = (point + 1) // 2, point % 2 == 0
        with DeadlyHub(request, done) as hub:
            faults = _killed_push(folder, known, hub)
        yield Trial("a push", f"at request {request} of {total}, {'done' if done else 'not done'}", faults)


def _pushing(folder: Path, hub: Hub) -> Setting:
    site = new_site(folder)
    return site.setting(client_env(hub.url, folder / "home" / "hub", TOKEN))


def _killed_push(folder: Path, known: Undisturbed, hub: DeadlyHub) -> list[str]:
    old_files, new_files = _files(known.before), _files(known.after)
    hub.commit(REPO, old_files)
    commits, setting = len(hub.history(REPO)), _pushing(folder, hub)
    with started(push_release, (hub.url, known.after, "v2.0.0"), setting) as victim:
        hub.kill = victim.kill
        ended = victim.wait()
    time.sleep(0.05)  # the Hub may still be busy with what the dead had asked for
    faults = [] if ended.status == -signal.SIGKILL else [f"it was not killed: {ended.status}: {ended.said}"]
    if hub.files(REPO) not in (old_files, new_files):
        faults.append("half a release is visible")
    again = ran(push_release, (hub.url, known.after, "v2.0.0"), setting)
    if again.status:
        faults.append(f"the next run ends with status {again.status}: {again.said}")
    if hub.files(REPO) != new_files:
        faults.append("the next run gives other bytes")
    if len(hub.history(REPO)) != commits + 1:
        faults.append(f"{len(hub.history(REPO)) - commits} commits instead of one")
    if hub.refs(REPO).get("refs/tags/v2.0.0") != hub.history(REPO)[0].oid:
        faults.append("the tag is not at the release")
    if tree(known.after) != known.new:
        faults.append("the release folder was touched")
    return faults


# The download is killed ---------------------------------------------------------------------------------

CONTENT = b"".join(b"line %d\n" % number for number in range(200_000))
PIECES = 64


class _Slow(BaseHTTPRequestHandler):
    """Sends the rest of the content in pieces, and kills the client when it has sent as many as the test says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.send_header("Connection", "close")
        self.end_headers()
        size = len(CONTENT) // PIECES + 1
        for number, place in enumerate(range(start, len(CONTENT), size)):
            if number == self.server.deadly:
                self.server.kill()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(CONTENT[place : place + size])

    def log_message(self, *_: object) -> None:
        pass


def fetch(url: str, cache: Path) -> None:
    """Bring the content into the cache."""
    wanted = Wanted("a.txt", url, hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))
    fetch_file(load_corpus(CORPORA / "bragging"), wanted, Cache(cache), None, lambda count: None)


def _kill_once_written(victim: Victim, cache: Path, piece: int) -> None:
    """Kill a download when it has begun to write what it was sent, which may lie on the way for a while."""
    patience = time.monotonic() + 20
    while piece and not any(path.stat().st_size for path in cache.rglob("*") if path.is_file()):
        assert time.monotonic() < patience, "what was sent is never written"
        time.sleep(0.005)
    victim.kill()


def killed_fetches(folder: Path, count: int) -> Iterator[Trial]:
    """Kill a download when a part of the file has been sent, at `count` parts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    server.daemon_threads = True
    threading.Thread(target=partial(server.serve_forever, poll_interval=0.02), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/a.txt"
    try:
        for piece in (point - 1 for point in spread(PIECES, count)):
            site = new_site(folder)
            cache = site.place / "release"
            with started(fetch, (url, cache), site.setting()) as victim:
                server.deadly, server.kill = piece, partial(_kill_once_written, victim, cache, piece)
                ended = victim.wait()
            faults = [] if ended.status == -signal.SIGKILL else [f"it was not killed: {ended.status}: {ended.said}"]
            whole = {f"raw/{hashlib.sha256(CONTENT).hexdigest()}": hashlib.sha256(CONTENT).hexdigest(), "raw": "/"}
            if set(tree(cache) or {}) & set(whole) - {"raw"}:
                faults.append("a part of the file lies in the cache as the file")
            server.deadly = None
            again = ran(fetch, (url, cache), site.setting())
            if again.status:
                faults.append(f"the next run ends with status {again.status}: {again.said}")
            if tree(cache) != whole:
                faults.append(f"the next run leaves {sorted(tree(cache))}")
            if left := site.left():
                faults.append(f"left over: {', '.join(left)}")
            yield Trial("a download", f"after {piece} of {PIECES} pieces", faults)
    finally:
        server.shutdown()
        server.server_close()


# The disk -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def small_disk(folder: Path, kibibytes: int) -> Iterator[None]:
    """A disk of that size at `folder`. Raises `OSError` where nothing can be mounted (that takes root)."""
    options = ["-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        raise OSError("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disks(folder: Path, known: Undisturbed, count: int) -> Iterator[Trial]:
    """Build on a disk that has no room for a second release beside the first, of `count` sizes."""
    blocks = sum(-(-path.stat().st_size // 4096) * 4 for path in known.before.rglob("*") if path.is_file())
    for step in range(count):
        size = blocks + 8 + blocks * step // count
        site = new_site(folder)
        shutil.rmtree(site.place)
        site.place.mkdir()
        with small_disk(site.place, size):
            (site.place / "neighbour").mkdir()
            (site.place / "neighbour" / "notes.txt").write_text("not to be touched\n")
            shutil.copytree(known.before, site.release)
            ended = ran(*build(site))
            faults = faults_of_sentence(ended)
            if ended.status == 1 and "No space left" not in ended.said:
                faults.append(f"the reason is not told: {ended.said}")
            if tree(site.release) != known.old:
                faults.append("the old release is not as it was")
            if left := site.left():
                faults.append(f"left over: {', '.join(left)}")
            subprocess.run(["mount", "-o", "remount,size=64m", str(site.place)], check=True)
            faults += faults_of_next(site, known)
        yield Trial("a full disk", f"{size - blocks} KiB free", faults)


def read_only_folders(folder: Path, known: Undisturbed) -> Iterator[Trial]:
    """Build where the folder around the release may not be written, and where those of the release itself may not, by
    their owner either."""
    for name in ("place", "place/release"):
        site = new_site(folder, known.before)
        closed = [site.place] if name == "place" else [site.release, *site.release.glob("**/")]
        for path in closed:
            path.chmod(0o555)
        ended = ran(*build(site), as_owner=True)
        for path in folder.glob("**/"):
            path.chmod(0o755)
        if name == "place":
            faults = faults_of_sentence(ended)
            if tree(site.release) != known.old:
                faults.append("the old release is not as it was")
            if left := site.left():
                faults.append(f"left over: {', '.join(left)}")
        else:  # it may be put aside all the same
            faults = [] if ended.status == 0 else faults_of_sentence(ended)
            if tree(site.release) != (known.old if ended.status else known.new):
                faults.append("the release is neither the old nor the new one")
        yield Trial("a read-only folder", name, faults + faults_of_next(site, known))


def modes_count() -> bool:
    """Whether modes can be made to count (for root that takes Linux)."""
    return os.geteuid() != 0 or os.uname().sysname == "Linux"


def summary(trials: Sequence[Trial]) -> str:
    """A table of the trials by scenario."""
    lines = ["| what is done to | times | all well | next run completes, same bytes |", "|---|--:|--:|--:|"]
    for scenario in dict.fromkeys(trial.scenario for trial in trials):
        of = [trial for trial in trials if trial.scenario == scenario]
        well = sum(not trial.faults for trial in of)
        next_well = sum(not any("next run" in fault for fault in trial.faults) for trial in of)
        lines.append(f"| {scenario} | {len(of)} | {well} | {next_well} |")
    return "\n".join(lines)
