"""A Hugging Face Hub on this machine, for tests: dataset repositories over the Hub's own HTTP interface.

It speaks what the real clients (`huggingface_hub`, `datasets`) use to create, push, tag, list, load and stream a
dataset, over plain HTTP and without Xet (clients must set `HF_HUB_DISABLE_XET`). Large files live on a second port, as
the Hub's live on another host: clients are sent there, and a request that takes a token along is refused.

Tests may order faults (`Hub.fail`) and look at what was asked (`Hub.requests`) and at what is there (`Hub.files`).
"""

import base64
import hashlib
import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit

import yaml

from tests.hub.repository import Commit, File, Repository, RevisionNotFound, is_large

TOKEN = "invented-token-that-writes"
READ_TOKEN = "invented-token-that-reads"
USER = "author"

_REPO = r"(?P<repo>[^/]+/[^/]+?)"
_REVISION = r"(?P<revision>[^/]+)"

# The steps of the protocol: method, path, and whether it needs a token that may write. HEAD counts as GET.
STEPS: dict[str, tuple[str, str, bool]] = {
    "whoami": ("GET", "/api/whoami-v2", False),
    "yaml": ("POST", "/api/validate-yaml", False),
    "create": ("POST", "/api/repos/create", True),
    "info": ("GET", f"/api/datasets/{_REPO}(?:/revision/{_REVISION})?", False),
    "refs": ("GET", f"/api/datasets/{_REPO}/refs", False),
    "commits": ("GET", f"/api/datasets/{_REPO}/commits/{_REVISION}", False),
    "tree": ("GET", f"/api/datasets/{_REPO}/tree/{_REVISION}(?:/(?P<path>.*))?", False),
    "paths": ("POST", f"/api/datasets/{_REPO}/paths-info/{_REVISION}", False),
    "preupload": ("POST", f"/api/datasets/{_REPO}/preupload/{_REVISION}", True),
    "batch": ("POST", rf"/datasets/{_REPO}\.git/info/lfs/objects/batch", True),
    "upload": ("PUT", "/storage/(?P<oid>[0-9a-f]{64})", False),
    "verify": ("POST", rf"/datasets/{_REPO}\.git/info/lfs/verify", True),
    "commit": ("POST", f"/api/datasets/{_REPO}/commit/{_REVISION}", True),
    "tag": ("POST", f"/api/datasets/{_REPO}/tag/{_REVISION}", True),
    "untag": ("DELETE", f"/api/datasets/{_REPO}/tag/{_REVISION}", True),
    "branch": ("POST", f"/api/datasets/{_REPO}/branch/{_REVISION}", True),
    "resolve": ("GET", f"/datasets/{_REPO}/resolve/{_REVISION}/(?P<path>.+)", False),
    "download": ("GET", "/storage/(?P<oid>[0-9a-f]{64})", False),
}

# What the Hub says with a status, where a request gives no better reason.
REASONS = {
    401: "Invalid username or password.",
    403: "You don't have the rights to write to this repository.",
    404: "Sorry, we can't find the page you are looking for.",
    412: "A commit has happened since. Please refresh and try again.",
    429: "We had to rate limit you.",
    500: "Internal Error - We're working hard to fix this as soon as possible!",
    503: "Service Unavailable",
}


class Refusal(Exception):
    """A request that is answered with an error; `code` is the Hub's word for it (`EntryNotFound`)."""

    def __init__(self, status: int, reason: str = "", code: str = "", **more: Any):
        self.status = status
        self.reason = reason or REASONS.get(status, f"Error {status}")
        self.code = code
        self.more = more


@dataclass
class Request:
    """One request as it came in, with all headers but Authorization, their names in lower case.

    `authorized` is whether an Authorization header came along; `status` is 0 until the request is answered, and for
    ever if its connection was cut.
    """

    method: str
    path: str
    step: str
    headers: dict[str, str]
    authorized: bool
    status: int = 0


@dataclass
class Fault:
    """What goes wrong with the next `times` requests that `where` meets, once `after` of them have passed.

    * `where` is a step (see `STEPS`), or a method and a path pattern without the query
      (`GET /datasets/*/resolve/*`; HEAD and GET differ here).
    * `status` is answered and nothing done or, with `done`, answered although it has been done. `reason` and `headers`
      go with it (`{"Retry-After": "1"}`).
    * `cut` closes the connection: before the body is read (`at once`), half way through reading it (`request`), or half
      way through the answer (`answer`), when all has been done.
    * `delay` (seconds) and then `meanwhile` (called, and waited for) come between reading the request and whatever is
      done with it, alone or with the others.

    Raises `ValueError` for an unknown step or cut, since a fault that never comes proves nothing.
    """

    where: str
    status: int | None = None
    cut: Literal["at once", "request", "answer"] | None = None
    delay: float = 0
    meanwhile: Callable[[], object] | None = None
    done: bool = False
    after: int = 0
    times: int = 1
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if " " not in self.where and self.where not in STEPS:
            raise ValueError(f"{self.where!r} is no step; the steps are {', '.join(STEPS)}")
        if self.cut not in (None, "at once", "request", "answer"):
            raise ValueError(f"{self.cut!r} is no place to cut")

    def meets(self, request: Request) -> bool:
        if " " in self.where:
            return fnmatchcase(f"{request.method} {urlsplit(request.path).path}", self.where)
        return request.step == self.where


class Hub:
    """The server. `with Hub() as hub:` starts and stops it; what it holds outlives a stop.

    `url` and `storage_url` are there once it has started; `requests` is the log, in order of arrival; `tokens` says
    what a token may do (`write` or `read`); `objects` are the large files by sha256, committed or only uploaded.
    """

    def __init__(self) -> None:
        self.url = self.storage_url = ""
        self.tokens = {TOKEN: "write", READ_TOKEN: "read"}
        self.repositories: dict[str, Repository] = {}
        self.objects: dict[str, bytes] = {}
        self.requests: list[Request] = []
        self.lock = threading.RLock()
        self.stopped = threading.Event()
        self._faults: list[Fault] = []
        self._servers: list[_Server] = []

    def start(self) -> str:
        """Listen on two free ports of this machine; gives the address for `HF_ENDPOINT`."""
        self.stopped.clear()
        self._servers = [_Server(self), _Server(self)]
        for server in self._servers:
            # Stopping waits for one round of this loop.
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.url, self.storage_url = (f"http://127.0.0.1:{server.server_port}" for server in self._servers)
        return self.url

    def stop(self) -> None:
        """No further request is answered, not even over a connection that is open."""
        self.stopped.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()
        self._servers = []

    def __enter__(self) -> "Hub":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def fail(self, where: str, **order: Any) -> None:
        """Order a `Fault`; its fields say what can be ordered. Of several for one request the first ordered comes."""
        with self.lock:
            self._faults.append(Fault(where, **order))

    def fault_for(self, request: Request) -> Fault | None:
        """The fault ordered for a request, which counts as come."""
        with self.lock:
            for fault in self._faults:
                if fault.times and fault.meets(request):
                    if fault.after:
                        fault.after -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None

    def commit(
        self, repo: str, files: Mapping[str, bytes], delete: Iterable[str] = (), private: bool = False
    ) -> Commit:
        """Change `main` without a client, as somebody else's push does. A missing repository is made (`private`)."""
        with self.lock:
            if repo not in self.repositories:
                self.repositories[repo] = Repository(repo, private)
            head = self.repositories[repo].at("main")
            added = {path: File(content, is_large(path, len(content))) for path, content in files.items()}
            gone = set(delete)
            kept = {path: file for path, file in head.files.items() if path not in gone}
            self.objects |= {file.sha256: file.content for file in added.values() if file.large}
            return self.repositories[repo].add("refs/heads/main", head.oid, kept | added, "Somebody else's push", "")

    def files(self, repo: str, revision: str = "main") -> dict[str, bytes]:
        """The content of every file at a revision, `.gitattributes` included, which the Hub puts there itself."""
        return {path: file.content for path, file in self.repositories[repo].at(revision).files.items()}

    def refs(self, repo: str) -> dict[str, str]:
        """What every ref points at: `{"refs/heads/main": "<commit id>", "refs/tags/2.0.0": …, "refs/pr/1": …}`."""
        return dict(self.repositories[repo].refs)

    def history(self, repo: str, revision: str = "main") -> list[Commit]:
        """The commits that lead to a revision, newest first; the last one is the Hub's own."""
        return self.repositories[repo].history(revision)

    def asked(self, step: str) -> list[Request]:
        """The requests of one step, in order of arrival."""
        return [request for request in self.requests if request.step == step]


@dataclass
class Answer:
    """`body` is bytes, or what is sent as JSON."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, hub: Hub):
        super().__init__(("127.0.0.1", 0), Handler)
        self.hub = hub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news; anything else is a mistake in here."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection. Each step has its method `answer_<step>`, called with what its path holds."""

    protocol_version = "HTTP/1.1"
    # Otherwise the body waits until the client has acknowledged the head: 40 ms for every request.
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.hub = self.server.hub
        headers = {name.lower(): value for name, value in self.headers.items()}
        authorization = headers.pop("authorization", None)
        step, found = self.step()
        request = Request(self.command, self.path, step, headers, authorization is not None)
        self.hub.requests.append(request)
        # None ordered is one that orders nothing.
        fault = self.hub.fault_for(request) or Fault("GET nothing")
        length = int(headers.get("content-length", 0))
        self.body = self.rfile.read({"at once": 0, "request": length // 2}.get(fault.cut or "", length))
        self.hub.stopped.wait(fault.delay)
        if fault.meanwhile:
            fault.meanwhile()
        if self.hub.stopped.is_set() or len(self.body) < length or fault.cut in ("at once", "request"):
            self.close_connection = True
            return
        try:
            if fault.status and not fault.done:
                raise Refusal(fault.status, fault.reason)
            self.authorize(step, authorization)
            with self.hub.lock:
                answer = getattr(self, f"answer_{step}")(**found)
            if fault.status:
                raise Refusal(fault.status, fault.reason)
        except RevisionNotFound as problem:
            answer = self.refused(Refusal(404, str(problem), "RevisionNotFound"))
        except Refusal as refusal:
            answer = self.refused(refusal)
        answer.headers |= fault.headers
        request.status = 0 if fault.cut else answer.status
        self.send(answer, half=fault.cut == "answer")

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET

    def step(self) -> tuple[str, dict[str, str]]:
        """Which step a request is ("" for none), and what its path holds. A `%23` in it is a `#` like any other."""
        path = urlsplit(self.path).path
        for step, (method, pattern, _) in STEPS.items():
            match = re.fullmatch(pattern, path)
            if match and self.command.replace("HEAD", "GET") == method:
                return step, {name: unquote(value) for name, value in match.groupdict().items() if value is not None}
        return "", {}

    def authorize(self, step: str, authorization: str | None) -> None:
        """Refuse what is no step, an unknown token, a change without a token that may write, any token at the storage.

        `self.role` is what the token may do, None without one.
        """
        self.role = self.hub.tokens.get((authorization or "").removeprefix("Bearer "))
        if not step:
            raise Refusal(404)
        if step in ("upload", "download"):
            if authorization:
                raise Refusal(400, "Only one auth mechanism allowed: the address is signed already")
            return
        if authorization and self.role is None:
            raise Refusal(401, "Invalid credentials in Authorization header")
        if STEPS[step][2] and self.role is None:
            # Clients take a 401 from the address of a repository for "not found". They only know such an address by
            # its https, which this server does not have, so it says what they would make of it.
            raise Refusal(401, code="" if step == "create" else "RepoNotFound")
        if STEPS[step][2] and self.role != "write":
            raise Refusal(403)

    def refused(self, refusal: Refusal) -> Answer:
        # Headers are ASCII, names of files need not be.
        headers = {"X-Error-Message": refusal.reason.encode("ascii", "replace").decode()}
        if refusal.code:
            headers["X-Error-Code"] = refusal.code
        return Answer({"error": refusal.reason} | refusal.more, refusal.status, headers)

    def send(self, answer: Answer, half: bool) -> None:
        is_bytes = isinstance(answer.body, bytes)
        content = answer.body if is_bytes else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        if not is_bytes:
            self.send_header("Content-Type", "application/json")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if half else content)
        self.close_connection |= half

    def repository(self, name: str) -> Repository:
        repository = self.hub.repositories.get(name)
        if repository is None or (repository.private and self.role is None):
            # Who shows no token is not told whether a repository is missing or private.
            status, reason = (404, "Repository not found") if self.role else (401, "")
            raise Refusal(status, reason, "RepoNotFound")
        return repository

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as problem:
            raise Refusal(400, f"Not JSON: {problem}") from problem

    # The account and its repositories

    def answer_whoami(self) -> Answer:
        if self.role is None:
            raise Refusal(401)
        auth = {"type": "access_token", "accessToken": {"displayName": "tests", "role": self.role}}
        return Answer({"type": "user", "name": USER, "orgs": [], "auth": auth})

    def answer_yaml(self) -> Answer:
        head = re.match(r"---\r?\n(.*?)\r?\n---", self.json()["content"], re.DOTALL)
        if head is None:
            return Answer({"errors": [], "warnings": [{"message": "empty or missing yaml metadata in repo card"}]})
        try:
            yaml.safe_load(head[1])
        except yaml.YAMLError as problem:
            return Answer({"errors": [{"message": str(problem)}], "warnings": []}, 400)
        return Answer({"errors": [], "warnings": []})

    def answer_create(self) -> Answer:
        asked = self.json()
        if asked.get("type") != "dataset":
            raise Refusal(400, "This Hub has datasets only")
        name = f"{asked.get('organization') or USER}/{asked['name']}"
        url = f"{self.hub.url}/datasets/{name}"
        if name in self.hub.repositories:
            raise Refusal(409, "You already created this dataset repo", url=url)
        self.hub.repositories[name] = Repository(name, asked.get("visibility") == "private")
        return Answer({"url": url, "name": name})

    # What is there

    def answer_info(self, repo: str, revision: str = "main") -> Answer:
        repository = self.repository(repo)
        commit = repository.at(revision)
        siblings: list[dict[str, Any]] = [{"rfilename": path} for path in commit.files]
        query = parse_qs(urlsplit(self.path).query)
        if "blobs" in query:
            for sibling, file in zip(siblings, commit.files.values(), strict=True):
                sibling |= {"size": len(file.content), "blobId": file.oid, "lfs": file.lfs("sha256")}
        about = {
            "id": repo,
            "author": repo.split("/")[0],
            "sha": commit.oid,
            "createdAt": repository.history(revision)[-1].date,
            "lastModified": commit.date,
            "private": repository.private,
            "gated": False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": siblings,
        }
        wanted = query.get("expand", list(about))
        return Answer({key: value for key, value in about.items() if key == "id" or key in wanted})

    def answer_refs(self, repo: str) -> Answer:
        refs = self.repository(repo).refs
        listed: dict[str, list] = {"converts": []}
        for kind, prefix in (("branches", "refs/heads/"), ("tags", "refs/tags/"), ("pullRequests", "refs/pr/")):
            listed[kind] = [
                {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": oid}
                for ref, oid in refs.items()
                if ref.startswith(prefix)
            ]
        return Answer(listed)

    def answer_commits(self, repo: str, revision: str) -> Answer:
        return Answer(
            [
                {"id": it.oid, "title": it.title, "message": it.message, "date": it.date, "authors": [{"user": USER}]}
                for it in self.repository(repo).history(revision)
            ]
        )

    def answer_tree(self, repo: str, revision: str, path: str = "") -> Answer:
        commit = self.repository(repo).at(revision)
        tree = commit.tree
        if path and path not in tree:
            raise Refusal(404, f"{path} does not exist on {revision}", "EntryNotFound")
        if "expand=true" in self.path.lower():  # clients of 2023 ask for it
            last = {"id": commit.oid, "title": commit.title, "date": commit.date}
            tree = {name: about | {"lastCommit": last} for name, about in tree.items()}
        if path and tree[path]["type"] == "file":
            return Answer([tree[path]])
        prefix = f"{path}/" if path else ""
        below = {name: about for name, about in tree.items() if name.startswith(prefix)}
        if "recursive=true" not in self.path.lower():
            below = {name: about for name, about in below.items() if "/" not in name.removeprefix(prefix)}
        return Answer(list(below.values()))

    def answer_paths(self, repo: str, revision: str) -> Answer:
        tree = self.repository(repo).at(revision).tree
        return Answer([tree[path] for path in parse_qs(self.body.decode()).get("paths", []) if path in tree])

    def answer_resolve(self, repo: str, revision: str, path: str) -> Answer:
        commit = self.repository(repo).at(revision)
        file = commit.files.get(path)
        if file is None:
            answer = self.refused(Refusal(404, "Entry not found", "EntryNotFound"))
        elif file.large:
            # Here, not at the storage, clients learn what the file is; they need not follow.
            location = f"{self.hub.storage_url}/storage/{file.sha256}"
            linked = {"X-Linked-Etag": f'"{file.etag}"', "X-Linked-Size": str(len(file.content))}
            answer = Answer(b"", 302, linked | {"Location": location})
        else:
            answer = self.ranged(file.content, file.etag)
        answer.headers["X-Repo-Commit"] = commit.oid
        return answer

    def answer_download(self, oid: str) -> Answer:
        if oid not in self.hub.objects:
            raise Refusal(404, "NoSuchKey")
        return self.ranged(self.hub.objects[oid], oid)

    def ranged(self, content: bytes, etag: str) -> Answer:
        """The bytes that the Range header asks for (`bytes=0-99`, `bytes=100-`, `bytes=-100`), or all of them."""
        headers = {"ETag": f'"{etag}"', "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            return Answer(content, 200, headers)
        first, last = asked.groups()
        start = int(first) if first else max(0, len(content) - int(last))
        stop = min(int(last) + 1, len(content)) if first and last else len(content)
        if start >= stop:
            return Answer(b"", 416, {"Content-Range": f"bytes */{len(content)}"})
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
        return Answer(content[start:stop], 206, headers)

    # A push: which files are large, the large ones, the commit, the tag

    def answer_preupload(self, repo: str, revision: str) -> Answer:
        files = self.repository(repo).at(revision).files
        answers = []
        for asked in self.json()["files"]:
            path = asked["path"]
            mode = "lfs" if is_large(path, asked["size"]) else "regular"
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False})
            if path in files:
                # By this the client sees what has not changed, and leaves it out.
                answers[-1]["oid"] = files[path].etag
        return Answer({"files": answers})

    def answer_batch(self, repo: str) -> Answer:
        """https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md: no actions for what is there already."""
        self.repository(repo)
        objects = [{"oid": asked["oid"], "size": asked["size"]} for asked in self.json()["objects"]]
        for about in objects:
            if about["oid"] not in self.hub.objects:
                upload = {"href": f"{self.hub.storage_url}/storage/{about['oid']}"}
                verify = {"href": f"{self.hub.url}/datasets/{quote(repo)}.git/info/lfs/verify"}
                about["actions"] = {"upload": upload, "verify": verify}
        return Answer({"transfer": "basic", "objects": objects})

    def answer_upload(self, oid: str) -> Answer:
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Refusal(400, "The content does not have this sha256")
        self.hub.objects[oid] = self.body
        return Answer(b"", 200, {"ETag": f'"{oid}"'})

    def answer_verify(self, repo: str) -> Answer:
        self.repository(repo)
        asked = self.json()
        if len(self.hub.objects.get(asked["oid"], b"")) != asked["size"]:
            raise Refusal(404, "The object has not arrived")
        return Answer({})

    def answer_commit(self, repo: str, revision: str) -> Answer:
        """All of it or nothing: there is no new commit before the last operation has gone well."""
        repository = self.repository(repo)
        ref = revision if revision.startswith("refs/") else f"refs/heads/{revision}"
        if ref not in repository.refs:
            raise RevisionNotFound(f"Invalid rev id: {revision}")
        try:
            header, *operations = (json.loads(line) for line in self.body.splitlines())
            about = header["value"]
            parent = about.get("parentCommit", "")
            pull = "create_pr=1" in self.path
            head = repository.at(parent if pull and parent else ref)
            if not head.oid.startswith(parent):
                raise Refusal(412)
            files = dict(head.files)
            for operation in operations:
                self.apply(operation["key"], operation["value"], files)
        except (ValueError, KeyError) as problem:
            raise Refusal(400, f"Not a commit: {problem!r}") from problem
        url = f"{self.hub.url}/datasets/{repo}"
        answer = {"success": True}
        if pull:
            number = 1 + sum(name.startswith("refs/pr/") for name in repository.refs)
            ref = f"refs/pr/{number}"
            answer["pullRequestUrl"] = f"{url}/discussions/{number}"
        commit = repository.add(ref, head.oid, files, about["summary"], about.get("description", ""))
        return Answer(answer | {"commitOid": commit.oid, "commitUrl": f"{url}/commit/{commit.oid}"})

    def apply(self, key: str, value: dict[str, Any], files: dict[str, File]) -> None:
        """One operation of a commit, on the files as they are before it. Raises `ValueError` if it is malformed."""
        path = value["path"]
        if key == "file":
            files[path] = File(base64.b64decode(value["content"], validate=True), False)
        elif key == "lfsFile":
            if value["oid"] not in self.hub.objects:
                raise Refusal(400, f"{path} has not been uploaded")
            files[path] = File(self.hub.objects[value["oid"]], True)
        elif key in ("deletedFile", "deletedFolder"):
            is_folder = key == "deletedFolder"
            gone = [name for name in files if (name.startswith(path.rstrip("/") + "/") if is_folder else name == path)]
            if not gone:
                raise Refusal(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
            for name in gone:
                del files[name]
        else:
            raise ValueError(f"unknown operation {key}")

    def answer_tag(self, repo: str, revision: str) -> Answer:
        return self.new_ref(repo, f"refs/tags/{self.json()['tag']}", revision, "Tag reference exists already")

    def answer_untag(self, repo: str, revision: str) -> Answer:
        if self.repository(repo).refs.pop(f"refs/tags/{revision}", None) is None:
            raise RevisionNotFound(f"Invalid rev id: {revision}")
        return Answer({})

    def answer_branch(self, repo: str, revision: str) -> Answer:
        start = self.json().get("startingPoint", "main")
        return self.new_ref(repo, f"refs/heads/{revision}", start, "Reference already exists")

    def new_ref(self, repo: str, ref: str, revision: str, taken: str) -> Answer:
        repository = self.repository(repo)
        oid = repository.at(revision).oid
        if ref in repository.refs:
            raise Refusal(409, taken)
        repository.refs[ref] = oid
        return Answer({})
