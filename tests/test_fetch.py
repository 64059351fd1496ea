"""Raw files into the cache: from a server that misbehaves in every way we know of, and from a mirror.

The server is this machine's own; the file is 790 invented bytes.
"""

import hashlib
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import builders.pipeline.fetch as fetching
from builders.commands import fetch as command
from builders.declaration import Corpus
from builders.pipeline.fetch import Cache, Mirror, Missing, Wanted, download, fetch_file, locate
from builders.problems import Problem
from tests.conftest import classification

FILE = b"".join(b"line %d\n" % number for number in range(100))
ALTERED = FILE[:400] + b"X" + FILE[401:]
PAGE = b"<!DOCTYPE html>\n<html><body>Please log in.</body></html>\n"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# What a server may do with a request ---------------------------------------------------------------------


class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, self.headers.get("Range")))
        answers = self.server.answers.get(self.path, [status(404)])
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def reply(self, code: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in ({"Content_Length": str(len(body))} | headers).items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


Answer = Callable[[Request], None]


def whole(content: bytes, **headers: str) -> Answer:
    """The same bytes whatever is asked for: a server that does not know Range."""
    return lambda request: request.reply(200, content, **headers)


def ranged(content: bytes) -> Answer:
    """A server that knows Range."""

    def answer(request: Request) -> None:
        asked = request.headers.get("Range")
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if not asked:
            request.reply(200, content)
        elif start >= len(content):
            request.reply(416)
        else:
            where = f"bytes {start}-{len(content) - 1}/{len(content)}"
            request.reply(206, content[start:], Content_Range=where)

    return answer


def cut(content: bytes, after: int) -> Answer:
    """The connection breaks after some of the announced bytes."""
    return lambda request: request.reply(200, content[:after], Content_Length=str(len(content)))


def cut_unannounced(content: bytes, after: int) -> Answer:
    """The connection ends early and no length was announced, as old servers do."""
    return lambda request: request.reply(200, content[:after], Content_Length="")


def stalled(content: bytes, after: int) -> Answer:
    """The connection stays open, but nothing comes any more."""

    def answer(request: Request) -> None:
        cut(content, after)(request)
        request.server.over.wait(10)

    return answer


def status(code: int, **headers: str) -> Answer:
    return lambda request: request.reply(code, **headers)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Request)
        self.answers: dict[str, list[Answer]] = {}
        self.seen: list[tuple[str, str | None]] = []
        self.over = threading.Event()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"

    def answer(self, *answers: Answer, path: str = "/a.tsv") -> None:
        """What to do with the requests for `path`, one after the other; the last one stands for all further."""
        self.answers[path] = list(answers)

    @property
    def ranges(self) -> list[str | None]:
        return [asked for _, asked in self.seen]

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is no error here


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """No waiting between the attempts, and no proxy between this machine and itself."""
    monkeypatch.setattr(fetching, "download", partial(download, wait=lambda seconds: None))
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01), daemon=True)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def corpus(workshop) -> Corpus:
    return an_open_corpus(workshop, "invented")


def an_open_corpus(workshop, name: str, **more) -> Corpus:
    files = [{"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}]
    return workshop.corpus(name, {}, [classification(f"mood-{name}")], files, **more)


def wanted(server: Server, content: bytes = FILE, path: str = "/a.tsv") -> Wanted:
    return Wanted("a.tsv", server.url(path), sha(content), len(content))


def get(server: Server, corpus: Corpus, cache: Cache, content: bytes = FILE) -> str:
    return fetch_file(corpus, wanted(server, content), cache, None, lambda count: None)


def refused(server: Server, corpus: Corpus, cache: Cache) -> str:
    """Fetching fails with a message for a person, and the cache holds no file; returns the message."""
    with pytest.raises(Problem) as caught:
        get(server, corpus, cache)
    assert not cached(cache)
    return str(caught.value)


def cached(cache: Cache) -> dict[str, bytes]:
    """The finished files of the cache."""
    return {
        path.relative_to(cache.folder).as_posix(): path.read_bytes()
        for path in cache.folder.rglob("*")
        if path.is_file() and path.suffix != ".partial"
    }


THE_FILE = {f"raw/{sha(FILE)}": FILE}


# A good download, and answers that are not the file -------------------------------------------------------


def test_a_download_lies_in_the_cache_under_its_sha256_and_nothing_is_left_beside(server, corpus, cache):
    server.answer(whole(FILE))
    arrived = []
    assert fetch_file(corpus, wanted(server), cache, None, arrived.append) == "downloaded"
    assert cached(cache) == THE_FILE
    assert sum(arrived) == len(FILE)
    assert [path.name for path in (cache.folder / "raw").iterdir()] == [sha(FILE)]


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/octet-stream", ""])
@pytest.mark.parametrize(
    "page",
    [PAGE, b"\xef\xbb\xbf\r\n " + PAGE, b"<HTML>", PAGE.ljust(len(FILE))],
    ids=["page", "mark-and-space-first", "capitals", "same-size"],
)
def test_R9_an_html_page_with_status_200_is_not_the_file(server, corpus, cache, kind, page):
    server.answer(whole(page, Content_Type=kind))
    told = refused(server, corpus, cache)
    assert "HTML" in told
    assert sha(FILE) in told
    assert f"{len(FILE)} bytes" in told


@pytest.mark.parametrize("content", [ALTERED, FILE[:-1], FILE + b"x", b""], ids=["altered", "short", "long", "empty"])
def test_R9_other_bytes_are_refused_with_expected_and_seen_hash_and_size(server, corpus, cache, content):
    server.answer(whole(content))
    told = refused(server, corpus, cache)
    for expected_or_seen in (FILE, content):
        assert sha(expected_or_seen) in told
        assert f"{len(expected_or_seen)} bytes" in told


def test_R9_after_wrong_bytes_the_next_fetch_starts_anew(server, corpus, cache):
    server.answer(whole(ALTERED))
    refused(server, corpus, cache)
    server.answer(ranged(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE
    assert server.ranges == [None, None]


def test_a_file_that_is_html_as_declared_is_accepted_from_any_server_that_does_not_call_it_a_page(
    server, corpus, cache
):
    server.answer(whole(PAGE, Content_Type="application/octet-stream"))
    get(server, corpus, cache, PAGE)
    assert cached(cache) == {f"raw/{sha(PAGE)}": PAGE}


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def test_R9_a_file_known_by_its_git_blob_id_is_checked_against_that(server, corpus, cache):
    """sha256 and size are then those of an altered copy; the address has the original."""
    known = Wanted("a.tsv", server.url("/a.tsv"), sha(ALTERED + b"x"), len(FILE) + 1, git_blob(FILE))
    server.answer(whole(ALTERED))
    with pytest.raises(Problem, match=f"{git_blob(ALTERED)}; expected git blob {git_blob(FILE)}"):
        fetch_file(corpus, known, cache, None, lambda count: None)
    assert not cached(cache)
    server.answer(cut(FILE, 500), ranged(FILE))
    assert fetch_file(corpus, known, cache, None, lambda count: None) == "downloaded"
    assert cached(cache) == {f"raw/{git_blob(FILE)}": FILE}


def test_an_empty_raw_file_is_a_file_too(server, corpus, cache):
    server.answer(whole(b""))
    get(server, corpus, cache, b"")
    assert cached(cache) == {f"raw/{sha(b'')}": b""}


# Cut downloads ----------------------------------------------------------------------------------------------


def test_R9_a_download_cut_in_the_middle_goes_on_where_it_stopped(server, corpus, cache):
    server.answer(cut(FILE, 500), ranged(FILE))
    arrived = []
    fetch_file(corpus, wanted(server), cache, None, arrived.append)
    assert cached(cache) == THE_FILE
    assert server.ranges == [None, "bytes=500-"]
    assert sum(arrived) == len(FILE)


def test_R9_a_download_that_is_cut_every_time_goes_on_in_the_next_run(server, corpus, cache):
    server.answer(cut(FILE, 0), cut(FILE, 0), cut(FILE, 0), cut(FILE, 300))
    assert "4 times" in refused(server, corpus, cache)
    server.answer(ranged(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE
    assert server.ranges[-1] == "bytes=300-"


def test_R9_a_cut_that_no_announced_length_gives_away_is_a_cut_too(server, corpus, cache):
    server.answer(cut_unannounced(FILE, 500), ranged(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE
    assert server.ranges == [None, "bytes=500-"]


def test_R9_a_stalled_download_goes_on_where_it_stopped(server, corpus, cache, monkeypatch):
    monkeypatch.setattr(fetching, "STALL_SECONDS", 0.3)
    server.answer(stalled(FILE, 700), ranged(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE
    assert server.ranges == [None, "bytes=700-"]


def test_a_server_that_ignores_range_sends_the_file_once_not_one_and_a_half_times(server, corpus, cache):
    server.answer(cut(FILE, 500), whole(FILE))
    get(server, corpus, cache)
    assert server.ranges == [None, "bytes=500-"]
    assert cached(cache) == THE_FILE


@pytest.mark.parametrize("where", ["bytes 400-789/790", "bytes */790", "nonsense", ""])
def test_a_part_from_another_place_is_never_glued_to_what_has_arrived(server, corpus, cache, where):
    elsewhere = partial(Request.reply, code=206, body=FILE[400:], Content_Range=where)
    server.answer(cut(FILE, 500), elsewhere, ranged(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE


@pytest.mark.parametrize("where", ["bytes 400-789/790", ""])
def test_a_server_that_always_sends_another_part_is_asked_for_the_whole_file(server, corpus, cache, where):
    """Else what has arrived would stand in the way of the file for ever."""

    def odd(request):
        if request.headers.get("Range"):
            request.reply(206, FILE[400:], Content_Range=where)
        else:
            request.reply(200, FILE)

    server.answer(cut(FILE, 500), odd)
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE


def test_what_has_arrived_of_a_longer_file_does_not_stand_in_the_way(server, corpus, cache):
    """416: the server has less than what is asked for."""
    partial_file = cache.path(corpus, wanted(server)).with_name(sha(FILE) + ".partial")
    partial_file.parent.mkdir(parents=True)
    partial_file.write_bytes(b"x" * 789)
    server.answer(status(416), ranged(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE


@pytest.mark.parametrize("left_over", [FILE + b"more", ALTERED, ALTERED[:500]])
def test_what_an_earlier_run_left_behind_is_in_the_way_of_one_run_at_most(server, corpus, cache, left_over):
    partial_file = cache.path(corpus, wanted(server)).with_name(sha(FILE) + ".partial")
    partial_file.parent.mkdir(parents=True)
    partial_file.write_bytes(left_over)
    server.answer(ranged(FILE))
    try:
        get(server, corpus, cache)
    except Problem:
        assert not cached(cache)
        get(server, corpus, cache)
    assert cached(cache) == THE_FILE


# Statuses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [204, 401, 403, 404, 410])
def test_an_answer_without_the_file_is_told_and_not_asked_for_again(server, corpus, cache, code):
    server.answer(status(code))
    told = refused(server, corpus, cache)
    assert server.url("/a.tsv") in told
    assert str(code) in told
    assert len(server.seen) == 1


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_a_server_that_cannot_answer_now_is_asked_again(server, corpus, cache, code):
    server.answer(status(code), status(code), whole(FILE))
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE


def test_a_server_that_never_answers_well_is_asked_four_times(server, corpus, cache):
    server.answer(status(503))
    told = refused(server, corpus, cache)
    assert "503" in told
    assert len(server.seen) == 4


def test_no_server_at_all_is_told_without_a_traceback(server, corpus, cache):
    server.shutdown()
    server.server_close()
    assert "failed 4 times" in refused(server, corpus, cache)


# Redirects --------------------------------------------------------------------------------------------------


def test_a_redirect_to_another_host_is_refused_and_that_host_never_asked(server, corpus, cache):
    server.answer(status(302, Location=server.url("/b.tsv", host="localhost")))
    server.answer(whole(FILE), path="/b.tsv")
    told = refused(server, corpus, cache)
    assert "localhost" in told
    assert "redirects_to" in told
    assert [path for path, _ in server.seen] == ["/a.tsv"]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_a_declared_host_is_followed(server, workshop, cache, code):
    corpus = an_open_corpus(workshop, "invented", redirects_to=["localhost"])
    server.answer(status(code, Location=server.url("/b.tsv", host="localhost")))
    server.answer(whole(FILE), path="/b.tsv")
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE


def test_a_redirect_within_the_host_is_followed_and_what_has_arrived_still_counts(server, corpus, cache):
    server.answer(status(302, Location="/b.tsv"))
    server.answer(cut(FILE, 500), ranged(FILE), path="/b.tsv")
    get(server, corpus, cache)
    assert cached(cache) == THE_FILE
    assert server.seen[-1] == ("/b.tsv", "bytes=500-")


def test_a_redirect_without_end_ends(server, corpus, cache):
    server.answer(status(302, Location="/a.tsv"))
    assert "redirects without end" in refused(server, corpus, cache)


def test_a_declared_host_is_not_spoken_to_without_encryption(server, workshop, cache):
    corpus = an_open_corpus(workshop, "invented", redirects_to=["example.org"])
    server.answer(status(302, Location="http://example.org/a.tsv"))
    assert "not https" in refused(server, corpus, cache)


@pytest.mark.parametrize(
    "location",
    ["//example.org/a", "http://127.0.0.1@example.org/a", "file:///etc/passwd", "ftp://127.0.0.1/a"],
)
def test_no_spelling_of_a_redirect_leads_elsewhere(server, corpus, cache, location):
    server.answer(status(302, Location=location))
    refused(server, corpus, cache)
    assert [path for path, _ in server.seen] == ["/a.tsv"]


@pytest.mark.parametrize("location", ["http://[", "http://127.0.0.1:99999/a", "http://127.0.0.1:x/a", "http://\x01/"])
def test_a_redirect_that_is_no_address_is_told_without_a_traceback(server, corpus, cache, location):
    server.answer(status(302, Location=location))
    refused(server, corpus, cache)


# The cache --------------------------------------------------------------------------------------------------


def put(cache: Cache, content: bytes) -> Path:
    """`content` where the cache keeps the file."""
    path = cache.folder / "raw" / sha(FILE)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_R9_a_good_cached_copy_is_not_touched_and_the_server_not_asked(server, corpus, cache):
    before = put(cache, FILE).stat()
    server.answer(whole(PAGE))
    assert get(server, corpus, cache) == "cached"
    after = (cache.folder / "raw" / sha(FILE)).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert server.seen == []


@pytest.mark.parametrize("damaged", [ALTERED, FILE[:100], b"", PAGE], ids=["altered", "cut", "empty", "page"])
def test_a_damaged_cached_copy_is_replaced(server, corpus, cache, damaged):
    put(cache, damaged)
    server.answer(whole(FILE))
    assert get(server, corpus, cache) == "downloaded"
    assert cached(cache) == THE_FILE


def test_a_cache_that_cannot_be_written_is_told_without_a_traceback(server, corpus, tmp_path):
    (tmp_path / "in-the-way").write_text("a file")
    server.answer(whole(FILE))
    with pytest.raises(Problem, match="in-the-way"):
        get(server, corpus, Cache(tmp_path / "in-the-way"))


def test_a_full_disk_is_told_without_a_traceback(server, corpus, cache):
    full = cache.path(corpus, wanted(server)).with_name(sha(FILE) + ".partial")
    full.parent.mkdir(parents=True)
    full.symlink_to("/dev/full")
    server.answer(whole(FILE))
    assert "No space left" in refused(server, corpus, cache)


# A mirror instead of the server -------------------------------------------------------------------------------


@pytest.fixture
def mirror(tmp_path) -> Mirror:
    return Mirror(tmp_path / "by-hand")


def copy(server: Server, corpus: Corpus, cache: Cache, mirror: Mirror, content: bytes | None) -> str:
    if content is not None:
        path = mirror.path(corpus, wanted(server))
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return fetch_file(corpus, wanted(server), cache, mirror, lambda count: None)


def test_a_file_is_copied_from_a_mirror_and_the_server_not_asked(server, corpus, cache, mirror):
    assert copy(server, corpus, cache, mirror, FILE) == "copied"
    assert cached(cache) == THE_FILE
    assert server.seen == []


@pytest.mark.parametrize("content", [ALTERED, FILE[:-1], PAGE, b"", None])
def test_a_wrong_or_missing_file_in_a_mirror_is_refused_and_nothing_left_beside(server, corpus, cache, mirror, content):
    with pytest.raises(Problem):
        copy(server, corpus, cache, mirror, content)
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []


def test_a_gated_file_that_is_not_there_says_what_to_do_by_hand(workshop, cache):
    by_hand = "Register at https://example.org and put a.tsv below gated/ of a mirror."
    corpus = an_open_corpus(workshop, "gated", access="form", by_hand=by_hand)
    with pytest.raises(Missing, match=by_hand):
        fetch_file(corpus, Wanted("a.tsv", None, sha(FILE), len(FILE)), cache, None, lambda count: None)


# The command --------------------------------------------------------------------------------------------------


@pytest.fixture
def fetch_all(server, workshop, cache, monkeypatch, capsys):
    """Three corpora, each with one file on the server (below `/<corpus>/`), and `socket-data fetch` for all."""
    pin = {"sha256": sha(FILE), "bytes": len(FILE)}
    corpora = {}
    for name in ("bees", "cats", "dogs"):
        corpus = an_open_corpus(workshop, name)
        # A corpus.yaml may declare https only; this machine itself is spoken to without.
        file = corpus.files[0].model_copy(update=pin | {"url": server.url(f"/{name}/a.tsv")})
        corpora[name] = corpus.model_copy(update={"files": (file,)})
    monkeypatch.setattr(command, "load_corpora", lambda: corpora)
    monkeypatch.setattr(command, "default_cache", lambda: cache.folder)
    monkeypatch.setenv("COLUMNS", "80")

    def fetch_all(raw: Path | None = None):
        exit_status = command.run([], raw)
        located = {name: not locate(corpus, cache)[1] for name, corpus in corpora.items()}
        return exit_status, located, capsys.readouterr()

    return fetch_all


def test_R10_one_corpus_that_answers_404_does_not_stop_the_others(server, fetch_all):
    server.answer(whole(FILE), path="/dogs/a.tsv")
    exit_status, _, told = fetch_all()
    assert exit_status == 1
    assert "dogs: 1 downloaded" in told.out
    assert "bees: nothing, 1 failed" in told.out
    assert "cats: nothing, 1 failed" in told.out
    assert f"bees: a.tsv: {server.url('/bees/a.tsv')} answers 404." in told.err
    assert [path for path, _ in server.seen] == ["/bees/a.tsv", "/cats/a.tsv", "/dogs/a.tsv"]


def test_fetching_all_that_is_there_ends_with_status_0_and_a_second_time_asks_nobody(server, fetch_all):
    for name in ("bees", "cats", "dogs"):
        server.answer(whole(FILE), path=f"/{name}/a.tsv")
    exit_status, located, told = fetch_all()
    assert exit_status == 0
    assert located == {"bees": True, "cats": True, "dogs": True}
    assert told.err.strip() == ""
    asked = len(server.seen)
    exit_status, _, told = fetch_all()
    assert exit_status == 0
    assert told.out.count("1 cached") == 3
    assert len(server.seen) == asked


def test_R10_the_status_table_tells_missing_from_found(server, fetch_all, tmp_path):
    """A mirror with the files of two of three corpora: two are copied, the third is told."""
    for name in ("bees", "dogs"):
        path = tmp_path / "by-hand" / name / "a.tsv"
        path.parent.mkdir(parents=True)
        path.write_bytes(FILE if name == "dogs" else ALTERED)
    exit_status, _, told = fetch_all(tmp_path / "by-hand")
    assert exit_status == 1
    assert "dogs: 1 copied" in told.out
    assert "bees: a.tsv: " in told.err
    assert "cats: a.tsv: " in told.err
    assert "dogs" not in told.err
