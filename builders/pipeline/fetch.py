"""Raw files: where they are, whether they are the declared bytes, and how they are downloaded.

A source says where a raw file lies: in a local mirror laid out as `<corpus>/<file>`, in the content-addressed
download cache, or among the invented samples. No byte goes on to the next stage before it was checked.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from hashlib import file_digest, sha1
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit

from builders.declaration import Corpus, RawFile
from builders.problems import Problem

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ATTEMPTS = 4
STALL_SECONDS = 30.0


class Wanted(NamedTuple):
    """One raw file a corpus needs; its sums are None where the declaration has none."""

    name: str
    url: str | None
    sha256: str | None
    bytes: int | None
    git_blob: str | None = None


class Source(Protocol):
    """Where raw files lie."""

    kind: str
    """`mirror`, `cache` or `sample`."""

    def path(self, corpus: Corpus, wanted: Wanted) -> Path: ...


class Mirror(NamedTuple):
    """A folder laid out as `<corpus>/<file>`."""

    folder: Path
    kind: str = "mirror"

    def path(self, corpus: Corpus, wanted: Wanted) -> Path:
        return self.folder / corpus.name / wanted.name


class Cache(NamedTuple):
    """Downloaded files by their sha256."""

    folder: Path
    kind: str = "cache"

    def path(self, corpus: Corpus, wanted: Wanted) -> Path:
        return self.folder / "raw" / (wanted.git_blob or wanted.sha256 or f"{corpus.name}/{wanted.name}")


class Samples(NamedTuple):
    """The invented samples in the corpus folders; their bytes are part of the project and not pinned."""

    kind: str = "sample"

    def path(self, corpus: Corpus, wanted: Wanted) -> Path:
        return corpus.folder / "sample" / wanted.name


def default_cache() -> Path:
    """Where downloads are kept: `SOCKET_DATA_CACHE`, or the user's cache folder."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("SOCKET_DATA_CACHE")
    return Path(chosen) if chosen else user_cache_path("socket-data", appauthor=False)


def wanted_files(corpus: Corpus, file: RawFile, source: Source) -> list[Wanted]:
    """The raw files behind one declaration: the file itself, or for a pattern those of its manifest (among the
    samples: those that are there)."""
    if file.manifest:
        return _listed(corpus, file, source)
    return [Wanted(file.name, corpus.url_of(file, file.name), file.sha256, file.bytes, file.git_blob)]


def _listed(corpus: Corpus, file: RawFile, source: Source) -> list[Wanted]:
    if source.kind == "sample":
        base = corpus.folder / "sample"
        return [Wanted(path.relative_to(base).as_posix(), None, None, None) for path in sorted(base.glob(file.name))]
    wanted = []
    try:
        listed = (corpus.folder / file.manifest).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot be read: {error}.", where=[file.manifest]) from None
    for number, line in enumerate(listed, start=1):
        try:
            digest, size, name = line.split(" ", 2)
            if not fnmatchcase(name, file.name) or ".." in name.split("/"):
                raise ValueError
            wanted.append(Wanted(name, corpus.url_of(file, name), digest, int(size)))
        except ValueError:
            raise Problem(
                f"a line is `sha256 bytes name`, with a name like {file.name}.",
                where=[file.manifest, f"line {number}"],
            ) from None
    return wanted


class Located(NamedTuple):
    """The raw files of a corpus on this machine, every one checked."""

    files: dict[str, list[tuple[str, Path]]]
    """Per declared name the (name, path) of its files; a member that is not unpacked has its archive's path."""
    raw: dict[str, dict]
    """Per raw file its sha256 and size, for the lock."""
    partial: list[str]
    """Declared files that are missing and that the corpus can be built in part without."""


def locate(corpus: Corpus, source: Source) -> tuple[Located, list[Problem]]:
    """The raw files of a corpus that are there and right, and a `Problem` for each that is wrong or lacking."""
    files, raw, absent, problems = {}, {}, {}, []
    for file in corpus.files:
        if file.instead_of and files.keys() >= {*file.instead_of}:
            continue
        found = []
        try:
            listed = wanted_files(corpus, file, source)
        except Problem as problem:
            problems.append(problem.within(corpus.name))
            continue
        for wanted in listed:
            path = source.path(corpus, wanted)
            try:
                if file.inside in files and not path.exists():
                    path = files[file.inside][0][1]
                else:
                    raw[wanted.name] = check(path, wanted, pinned=source.kind != "sample")
                found.append((wanted.name, path))
            except Missing as problem:
                absent.setdefault(file.name, []).append(problem.within(corpus.name, wanted.name))
            except Problem as problem:
                problems.append(problem.within(corpus.name, wanted.name))
        if found and file.name not in absent:
            files[file.name] = found
    partial = [file.name for file in corpus.files if file.name in absent and _can_do_without(file, corpus, files)]
    for name, missing in absent.items():
        problems += missing if name not in partial or not files else ()
    stand_ins = {file.name for file in corpus.files if file.instead_of}
    members = {file.inside for file in corpus.files if file.inside}
    return Located(files, raw, [name for name in partial if name not in stand_ins | members]), problems


def _can_do_without(file: RawFile, corpus: Corpus, there: Mapping[str, object]) -> bool:
    stand_ins = [other.name for other in corpus.files if file.name in other.instead_of]
    members = [other.name for other in corpus.files if other.inside == file.name]
    return (
        file.optional
        or bool(file.instead_of)
        or any(name in there for name in stand_ins)
        or (bool(members) and all(name in there for name in members))
    )


class Missing(Problem):
    """A raw file is not there at all."""


def check(path: Path, wanted: Wanted, pinned: bool = True) -> dict:
    """sha256 and size of a raw file.

    Raises `Missing` if there is none, `Problem` with what was expected and seen if its bytes are others
    (`pinned=False`: any bytes will do).
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(512)
            stream.seek(0)
            digest = file_digest(stream, "sha256").hexdigest()
            size = stream.tell()
    except (FileNotFoundError, NotADirectoryError):
        raise Missing("the raw file is missing.", todo="`socket-data corpora` says how to get it.") from None
    except OSError as error:
        raise Problem(f"cannot be read: {error.strerror}.", todo="Put the raw file itself there.") from None
    if pinned:
        _compare(wanted, path, size, digest, head)
    return {"sha256": digest, "bytes": size}


def _git_blob(path: Path, size: int) -> str:
    """The id git gives to a file: the SHA-1 of `blob <size>`, a zero byte and the content."""
    with path.open("rb") as stream:
        return file_digest(stream, lambda: sha1(f"blob {size}\0".encode(), usedforsecurity=False)).hexdigest()


def _compare(wanted: Wanted, path: Path, size: int, digest: str, head: bytes) -> None:
    if wanted.git_blob and wanted.git_blob == _git_blob(path, size):
        return
    pinned = wanted.sha256 or wanted.git_blob
    if pinned and wanted.bytes in (None, size) and wanted.sha256 == digest:
        return
    if not pinned and wanted.bytes in (None, size):
        return
    expected = ", ".join(
        filter(
            None,
            [
                f"{wanted.bytes:,} bytes" if wanted.bytes is not None else "",
                f"sha256 {wanted.sha256}" if wanted.sha256 else "",
                f"git blob {wanted.git_blob}" if wanted.git_blob else "",
            ],
        )
    )
    kind = "an HTML page" if looks_like_html(head) else "cut" if size < (wanted.bytes or 0) else "altered"
    raise Problem(
        f"{kind}: {size:,} bytes, sha256 {digest}"
        + (f", git blob {_git_blob(path, size)}" if wanted.git_blob else "")
        + f"; expected {expected}.",
        todo="Remove the file and fetch it again.",
    )


def looks_like_html(head: bytes) -> bool:
    """Whether bytes begin like a web page, which servers like to send where a file was."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html"))


def fetch_file(
    corpus: Corpus, wanted: Wanted, cache: Cache, mirror: Mirror | None, progress: Callable[[int], None]
) -> str:
    """Bring one raw file into the cache; returns `cached`, `copied` (from the mirror) or `downloaded`.

    A good cached copy is never touched. `progress` is told the bytes as they arrive.
    Raises `Problem` when the file is not to be had or is not the declared one.
    """
    try:
        return _bring(corpus, wanted, cache.path(corpus, wanted), mirror, progress)
    except OSError as error:
        raise Problem(
            f"cannot be written to the cache: {error.strerror or error}.",
            where=[str(cache.folder)],
            todo="Free some space, or set SOCKET_DATA_CACHE to another folder.",
        ) from None


def _bring(corpus: Corpus, wanted: Wanted, target: Path, mirror: Mirror | None, progress: Callable[[int], None]) -> str:
    try:
        check(target, wanted)
        return "cached"
    except Problem:
        pass  # missing or damaged: get it anew
    if mirror:
        with _placed(target) as partial:
            content = _mirrored(mirror.path(corpus, wanted), wanted)
            partial.write_bytes(content)
        progress(len(content))
        return "copied"
    if not wanted.url:
        raise Missing("cannot be downloaded.", todo=corpus.by_hand or "Give a mirror with --raw DIR.")
    if wanted.git_blob:
        wanted = wanted._replace(sha256=None, bytes=None)  # those of an altered copy
    partial = target.with_name(target.name + ".partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    download(wanted, partial, allowed={urlsplit(wanted.url).hostname, *corpus.redirects_to}, progress=progress)
    os.replace(partial, target)
    return "downloaded"


def _mirrored(path: Path, wanted: Wanted) -> bytes:
    check(path, wanted)
    return path.read_bytes()


@contextmanager
def _placed(target: Path) -> Iterator[Path]:
    """A file beside `target` to write to, moved into place if nothing went wrong."""
    partial = target.with_name(target.name + f".{os.getpid()}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def download(
    wanted: Wanted,
    partial: Path,
    allowed: set[str],
    progress: Callable[[int], None],
    attempts: int = ATTEMPTS,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Download `wanted.url` to `partial`, going on where an earlier cut download stopped, and check it.

    Only https is spoken (plain http to this machine itself), and redirects are followed to `allowed` hosts only.
    Raises `Problem` with what was expected and seen; a file that turned out wrong is removed, a cut one stays
    to be resumed. Lost connections, stalls, 429 and 5xx answers are tried again, `attempts` times in all.
    """
    import httpx

    for attempt in range(1, attempts + 1):
        try:
            with httpx.Client(timeout=STALL_SECONDS, follow_redirects=False) as client:
                _receive(client, wanted, partial, allowed, progress)
            break
        except (httpx.TransportError, _TryAgain) as error:
            if attempt == attempts:
                raise Problem(
                    f"the download failed {attempts} times: {error or type(error).__name__}.",
                    todo="Try again later; what has arrived is kept.",
                ) from None
            wait(2.0 ** (attempt - 1))
    with partial.open("rb") as stream:
        head = stream.read(512)
        stream.seek(0)
        digest = file_digest(stream, "sha256").hexdigest()
        size = stream.tell()
    try:
        _compare(wanted, partial, size, digest, head)
    except Problem:
        partial.unlink()
        raise


class _TryAgain(Exception):
    """The server cannot answer now."""


def _receive(client, wanted: Wanted, partial: Path, allowed: set[str], progress) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    if have and wanted.bytes is not None and have >= wanted.bytes:
        if have == wanted.bytes:
            return
        partial.unlink()
        have = 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    url = wanted.url
    for _ in range(6):
        _refuse_foreign(url, allowed)
        with client.stream("GET", url, headers=headers) as answer:
            if answer.is_redirect:
                url = _joined(url, answer.headers.get("location", ""))
                continue
            if answer.status_code == 416:
                partial.unlink(missing_ok=True)
                raise _TryAgain("the server has less than what had arrived")
            if answer.status_code == 429 or answer.status_code >= 500:
                raise _TryAgain(f"the server answers {answer.status_code}")
            if answer.status_code not in (200, 206):
                raise Problem(f"{wanted.url} answers {answer.status_code}.", todo="Give a mirror with --raw DIR.")
            _write(answer, wanted, partial, have if answer.status_code == 206 else 0, progress)
            without_end = "content-length" not in answer.headers
            if without_end and wanted.bytes is not None and partial.stat().st_size < wanted.bytes:
                raise _TryAgain(f"it ends after {partial.stat().st_size:,} of {wanted.bytes:,} bytes")
            return
    raise Problem(f"{wanted.url} redirects without end.", todo="Give a mirror with --raw DIR.")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise Problem(f"{url} redirects to {location[:80]!r}, which is no address.") from None


def _refuse_foreign(url: str, allowed: set[str]) -> None:
    parts = urlsplit(url)
    if parts.hostname not in allowed:
        raise Problem(
            f"redirected to {parts.hostname}, which corpus.yaml does not allow.",
            todo="If the authors moved their files, add the host to redirects_to.",
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise Problem(f"{url} is not https.")


def _write(answer, wanted: Wanted, partial: Path, have: int, progress) -> None:
    if have and not answer.headers.get("content-range", "").startswith(f"bytes {have}-"):
        partial.unlink()  # ask for the whole file next time
        raise _TryAgain("the server continues at another place")
    chunks = answer.iter_raw()  # as they arrive: what came before a cut is kept
    first = next(chunks, b"")
    if not have and "text/html" in answer.headers.get("content-type", "") and looks_like_html(first):
        raise Problem(
            f"{wanted.url} answers with an HTML page instead of the file"
            f" ({wanted.bytes or 'unknown'} bytes, sha256 {wanted.sha256 or 'unknown'} expected).",
            todo="Open the address in a browser to see what it says, or give a mirror with --raw DIR.",
        )
    with partial.open("ab" if have else "wb") as out:
        for chunk in itertools.chain([first], chunks):
            out.write(chunk)
            progress(len(chunk))
            if wanted.bytes is not None and out.tell() > wanted.bytes:
                break  # longer than declared: the check says so
