"""The Hub for tests: that real clients work against it, and that it fails as ordered.

Whatever is pushed with it proves only as much as this server resembles the Hub, so nothing here goes around the
clients: they are `huggingface_hub` and `datasets` as installed, most of the time in this process (an `HfApi` is told
where its Hub is), and in one of their own where settings count.
"""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.hub import GITATTRIBUTES, READ_TOKEN, TOKEN, Hub, client_env, run_client
from tests.hub.server import Handler

REPO = "author/invented"
HUBS_OWN = {".gitattributes": GITATTRIBUTES}

# The client's own: it passes files to `httpx2` under a name that is going away.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")


def add(path: str, content: bytes) -> CommitOperationAdd:
    return CommitOperationAdd(path, content)


def push(api: HfApi, *operations, **more):
    return api.create_commit(REPO, operations, commit_message="A push", repo_type="dataset", **more)


def steps(hub: Hub) -> list[str]:
    return [request.step for request in hub.requests]


def statuses(hub: Hub, step: str) -> list[int]:
    return [request.status for request in hub.asked(step)]


# A push --------------------------------------------------------------------------------------------------


def test_a_push_by_a_client_in_a_process_of_its_own(hub, tmp_path):
    code = """
        import json
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
        api = HfApi()
        there = {"repo_id": "author/invented", "repo_type": "dataset"}
        urls = [str(api.create_repo(**there)), str(api.create_repo(**there, exist_ok=True))]
        api.upload_file(path_or_fileobj=b"old", path_in_repo="old.txt", **there)
        operations = [
            CommitOperationAdd("README.md", b"---\\nlicense: mit\\n---\\n"),
            CommitOperationAdd("data/a--b/test.parquet", b"abc"),
            CommitOperationDelete("old.txt"),
        ]
        info = api.create_commit(operations=operations, commit_message="Release 2.0.0", **there)
        api.create_tag(tag="2.0.0", **there)
        print(json.dumps({"urls": urls, "oid": info.oid, "user": api.whoami()["name"]}))
    """
    ran = run_client(code, client_env(hub.url, tmp_path / "home", TOKEN))
    assert ran.answer["urls"] == [f"{hub.url}/datasets/{REPO}"] * 2
    assert ran.answer["user"] == "author"
    assert hub.files(REPO) == HUBS_OWN | {"README.md": b"---\nlicense: mit\n---\n", "data/a--b/test.parquet": b"abc"}
    assert hub.refs(REPO) == {"refs/heads/main": ran.answer["oid"], "refs/tags/2.0.0": ran.answer["oid"]}
    assert [commit.title for commit in hub.history(REPO)] == [
        "Release 2.0.0",
        "Upload old.txt with huggingface_hub",
        "initial commit",
    ]
    # Every state stays: before the last commit the old file is there and nothing else.
    assert hub.files(REPO, hub.history(REPO)[1].oid) == HUBS_OWN | {"old.txt": b"old"}
    assert statuses(hub, "create") == [200, 409]
    # Only the Parquet file went to the storage, and no token with it.
    assert [request.authorized for request in hub.asked("upload")] == [False]
    assert all(request.authorized for request in hub.requests if request.step != "upload")
    assert TOKEN not in repr(hub.requests) + ran.output


def test_a_client_that_fails_is_told_apart_from_one_that_answers(tmp_path):
    env = client_env("http://127.0.0.1:9", tmp_path / "home")
    assert run_client("print('a line before it'); print('[1, 2]')", env).answer == [1, 2]
    with pytest.raises(AssertionError, match=r"(?s)status 1.*ZeroDivisionError"):
        run_client("1 / 0", env)


def test_the_environment_of_a_client_has_nothing_of_the_user(monkeypatch, tmp_path):
    for name in ("HF_TOKEN", "HF_DATASETS_CACHE", "HUGGING_FACE_HUB_TOKEN", "https_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "the user's")
    env = client_env("http://127.0.0.1:9", tmp_path)
    assert "the user's" not in env.values()
    assert env["PATH"]
    assert client_env("http://127.0.0.1:9", tmp_path, "mine")["HF_TOKEN"] == "mine"


def test_a_repository_is_created_once(hub, api):
    url = api.create_repo(REPO, repo_type="dataset")
    assert api.create_repo(REPO, repo_type="dataset", exist_ok=True) == url == f"{hub.url}/datasets/{REPO}"
    with pytest.raises(HfHubHTTPError, match="You already created this dataset repo") as caught:
        api.create_repo(REPO, repo_type="dataset")
    assert caught.value.response.status_code == 409


def test_the_tree_has_the_ids_of_git_and_of_large_files(hub, api):
    hub.commit(REPO, {"data/a--b/test.parquet": b"abc", "note.txt": b"test content\n"})
    tree = {entry.path: entry for entry in api.list_repo_tree(REPO, repo_type="dataset", recursive=True)}
    assert sorted(tree) == [".gitattributes", "data", "data/a--b", "data/a--b/test.parquet", "note.txt"]
    # From the Git book, chapter "Git Objects".
    assert tree["note.txt"].blob_id == "d670460b4b4aece5915caf5c68d12f560a9fe3e4"
    assert tree["note.txt"].lfs is None
    large = tree["data/a--b/test.parquet"]
    # The sha256 of "abc" is an example of FIPS 180-4; its pointer file has lines of 43, 76 and 7 bytes, and
    # `git hash-object` gives it this id.
    assert large.lfs.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (large.size, large.lfs.size, large.lfs.pointer_size) == (3, 3, 126)
    assert large.blob_id == "80d7d501c2b256023dc42e46d958b9ac2ec283ee"
    siblings = {file.rfilename: file for file in api.dataset_info(REPO, files_metadata=True).siblings}
    assert siblings["data/a--b/test.parquet"].lfs == large.lfs
    assert siblings["note.txt"].blob_id == tree["note.txt"].blob_id


def test_a_folder_is_listed_alone_or_with_all_below(hub, api):
    hub.commit(REPO, {"data/a/x.txt": b"1", "data/a/deep/y.txt": b"2", "data/ab.txt": b"3"})

    def listed(path: str, recursive: bool) -> list[str]:
        return [entry.path for entry in api.list_repo_tree(REPO, path, repo_type="dataset", recursive=recursive)]

    assert sorted(listed("data", False)) == ["data/a", "data/ab.txt"]
    assert sorted(listed("data/a", True)) == ["data/a/deep", "data/a/deep/y.txt", "data/a/x.txt"]
    found = api.get_paths_info(REPO, ["data/a", "data/ab.txt", "data/none"], repo_type="dataset")
    assert [(type(entry).__name__, entry.path) for entry in found] == [
        ("RepoFolder", "data/a"),
        ("RepoFile", "data/ab.txt"),
    ]
    with pytest.raises(RemoteEntryNotFoundError):
        listed("none", True)


def test_what_has_not_changed_is_not_pushed_again(hub, api):
    before = hub.commit(REPO, {"a.parquet": b"abc", "a.txt": b"text"})
    assert push(api, add("a.parquet", b"abc"), add("a.txt", b"text")).oid == before.oid
    assert "upload" not in steps(hub)
    assert "commit" not in steps(hub)


def test_a_commit_is_whole_or_not_at_all(hub, api):
    before = hub.commit(REPO, {"a.txt": b"a"})
    with pytest.raises(RemoteEntryNotFoundError, match="A file with this name doesn't exist"):
        push(api, add("new.txt", b"new"), CommitOperationDelete("missing ❤.txt"))
    assert hub.refs(REPO)["refs/heads/main"] == before.oid
    push(api, add("new.txt", b"new"), CommitOperationDelete("a.txt"))
    assert hub.files(REPO) == HUBS_OWN | {"new.txt": b"new"}


def test_a_folder_is_deleted_and_nothing_beside_it(hub, api):
    hub.commit(REPO, {"data/a/x.txt": b"1", "data/ab/y.txt": b"2"})
    push(api, CommitOperationDelete("data/a/"))
    assert hub.files(REPO) == HUBS_OWN | {"data/ab/y.txt": b"2"}


def test_a_folder_becomes_the_repository_in_one_commit(hub, api, tmp_path):
    before = hub.commit(REPO, {"a.txt": b"old", "gone.txt": b"gone", "same.parquet": b"same"})
    for name, content in {"a.txt": b"new", "b.txt": b"b", "same.parquet": b"same"}.items():
        (tmp_path / name).write_bytes(content)
    info = api.upload_folder(repo_id=REPO, repo_type="dataset", folder_path=tmp_path, delete_patterns="*")
    assert hub.files(REPO) == HUBS_OWN | {"a.txt": b"new", "b.txt": b"b", "same.parquet": b"same"}
    assert [commit.oid for commit in hub.history(REPO)][:2] == [info.oid, before.oid]


def test_a_commit_cut_at_the_end_of_a_line_changes_nothing(hub):
    before = hub.commit(REPO, {"a.txt": b"a"})
    lines = [
        {"key": "header", "value": {"summary": "Half a push"}},
        {"key": "deletedFile", "value": {"path": "a.txt"}},
        {"key": "file", "value": {"path": "b.txt", "content": "Yg==", "encoding": "base64"}},
    ]
    *first, last = [json.dumps(line).encode() + b"\n" for line in lines]
    head = f"POST /api/datasets/{REPO}/commit/main HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Content-Length: {len(b''.join(first) + last)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(hub.url.rsplit(":", 1)[1]))) as client:
        client.sendall(head.encode() + b"".join(first))
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""
    assert hub.refs(REPO)["refs/heads/main"] == before.oid
    assert statuses(hub, "commit") == [0]


def test_a_stale_parent_is_refused(hub, api):
    parent = hub.commit(REPO, {"a.txt": b"1"})
    newer = hub.commit(REPO, {"a.txt": b"2"})
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as caught:
        push(api, add("b.txt", b"b"), parent_commit=parent.oid)
    assert caught.value.response.status_code == 412
    assert hub.refs(REPO) == {"refs/heads/main": newer.oid}
    # The first seven digits will do.
    push(api, add("b.txt", b"b"), parent_commit=newer.oid[:7])
    assert hub.files(REPO) == HUBS_OWN | {"a.txt": b"2", "b.txt": b"b"}


def test_of_two_pushes_at_once_exactly_one_wins(hub, api, monkeypatch):
    parent = hub.commit(REPO, {})
    both_are_there = threading.Barrier(2)
    hub.fail("commit", meanwhile=lambda: both_are_there.wait(10), times=2)
    # Between the look at the parent and the new commit there is time enough for the other one.
    apply = Handler.apply
    monkeypatch.setattr(Handler, "apply", lambda *given: (time.sleep(0.2), apply(*given)))

    def attempt(name: str) -> str:
        try:
            push(api, add(name, b"mine"), parent_commit=parent.oid)
        except HfHubHTTPError as error:
            return str(error.response.status_code)
        return name

    with ThreadPoolExecutor(2) as pool:
        refused, winner = sorted(pool.map(attempt, ["x.txt", "y.txt"]))
    assert refused == "412"
    assert hub.files(REPO) == HUBS_OWN | {winner: b"mine"}
    assert hub.history(REPO)[0].parent == parent.oid


def test_a_pull_request_leaves_main_alone(hub, api):
    before = hub.commit(REPO, {"a.txt": b"a"})
    info = push(api, add("b.txt", b"b"), create_pr=True)
    assert (info.pr_revision, info.pr_num) == ("refs/pr/1", 1)
    assert hub.refs(REPO) == {"refs/heads/main": before.oid, "refs/pr/1": info.oid}
    assert hub.files(REPO, "refs/pr/1") == HUBS_OWN | {"a.txt": b"a", "b.txt": b"b"}
    refs = api.list_repo_refs(REPO, repo_type="dataset", include_pull_requests=True)
    assert [(ref.name, ref.target_commit) for ref in refs.branches] == [("main", before.oid)]
    assert [(ref.ref, ref.target_commit) for ref in refs.pull_requests] == [("refs/pr/1", info.oid)]
    # Further commits go to the pull request, and another one gets the next number.
    push(api, add("c.txt", b"c"), revision="refs/pr/1")
    assert hub.files(REPO, "refs/pr/1").keys() == {".gitattributes", "a.txt", "b.txt", "c.txt"}
    assert push(api, add("d.txt", b"d"), create_pr=True).pr_num == 2
    assert hub.files(REPO) == HUBS_OWN | {"a.txt": b"a"}


def test_a_tag_stays_where_it_was_put(hub, api):
    old = hub.commit(REPO, {"a.txt": b"1"})
    api.create_tag(REPO, tag="2.0.0", repo_type="dataset")
    hub.commit(REPO, {"a.txt": b"2"})
    with pytest.raises(HfHubHTTPError, match="Tag reference exists already") as caught:
        api.create_tag(REPO, tag="2.0.0", repo_type="dataset")
    assert caught.value.response.status_code == 409
    api.create_tag(REPO, tag="2.0.0", repo_type="dataset", exist_ok=True)
    assert api.dataset_info(REPO, revision="2.0.0").sha == old.oid
    assert [commit.commit_id for commit in api.list_repo_commits(REPO, repo_type="dataset")][1] == old.oid
    api.delete_tag(REPO, tag="2.0.0", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(REPO, revision="2.0.0")


def test_a_branch_starts_where_told(hub, api):
    old = hub.commit(REPO, {"a.txt": b"1"})
    newer = hub.commit(REPO, {"a.txt": b"2"})
    api.create_branch(REPO, branch="next", revision=old.oid, repo_type="dataset")
    info = push(api, add("b.txt", b"b"), revision="next")
    assert hub.refs(REPO) == {"refs/heads/main": newer.oid, "refs/heads/next": info.oid}
    assert hub.files(REPO, "next") == HUBS_OWN | {"a.txt": b"1", "b.txt": b"b"}


def test_a_snapshot_has_the_bytes_of_its_revision(hub, api, tmp_path):
    files = {"data/a--b/test.parquet": b"abc" * 1000, "README.md": b"old", "odd #1 %23.txt": b"odd"}
    hub.commit(REPO, files)
    api.create_tag(REPO, tag="2.0.0", repo_type="dataset")
    hub.commit(REPO, {"README.md": b"new"}, delete=["data/a--b/test.parquet"])
    folder = Path(api.snapshot_download(REPO, repo_type="dataset", revision="2.0.0", local_dir=tmp_path / "copy"))
    for path, content in files.items():
        assert (folder / path).read_bytes() == content
    assert [request.authorized for request in hub.asked("download")] == [False]


def test_a_card_that_is_no_yaml_is_refused_before_anything_is_pushed(hub, api):
    hub.commit(REPO, {})
    with pytest.raises(ValueError, match=r"Invalid metadata in README\.md"):
        push(api, add("README.md", b"---\nlicense: [mit\n---\n"))
    assert "preupload" not in steps(hub)


# Who may ----------------------------------------------------------------------------------------------------


def test_without_a_token_nothing_changes(hub, api):
    before = hub.commit(REPO, {"a.txt": b"a"})
    nobody = HfApi(endpoint=hub.url, token=False)
    assert nobody.dataset_info(REPO).sha == before.oid
    with pytest.raises(HfHubHTTPError) as caught:
        nobody.create_repo("author/other", repo_type="dataset")
    assert caught.value.response.status_code == 401
    # The Hub says 401, and this is what the client makes of it.
    with pytest.raises(RepositoryNotFoundError, match="401 Client Error"):
        push(nobody, add("b.txt", b"b"))
    with pytest.raises(RepositoryNotFoundError):
        nobody.create_tag(REPO, tag="2.0.0", repo_type="dataset")
    assert hub.refs(REPO) == {"refs/heads/main": before.oid}
    assert not any(request.authorized for request in hub.requests)


def test_a_token_that_only_reads_and_one_that_nobody_knows(hub, api):
    before = hub.commit(REPO, {"a.txt": b"a"})
    reader, stranger = (HfApi(endpoint=hub.url, token=token) for token in (READ_TOKEN, "unknown"))
    assert reader.whoami()["auth"]["accessToken"]["role"] == "read"
    with pytest.raises(HfHubHTTPError, match="403 Forbidden: You don't have the rights") as caught:
        push(reader, add("b.txt", b"b"))
    assert caught.value.response.status_code == 403
    with pytest.raises(HfHubHTTPError, match="Invalid credentials in Authorization header"):
        stranger.dataset_info(REPO)
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        stranger.whoami()
    assert hub.refs(REPO) == {"refs/heads/main": before.oid}


def test_a_private_repository_is_not_there_for_others(hub, api):
    api.create_repo(REPO, repo_type="dataset", private=True)
    assert api.dataset_info(REPO).private is True
    with pytest.raises(RepositoryNotFoundError, match="401 Client Error"):
        HfApi(endpoint=hub.url, token=False).dataset_info(REPO)


def test_what_is_missing_has_its_own_error(hub, api):
    hub.commit(REPO, {"a.txt": b"a"})
    with pytest.raises(RevisionNotFoundError):
        api.hf_hub_download(REPO, "a.txt", repo_type="dataset", revision="9.9.9")
    with pytest.raises(RemoteEntryNotFoundError):
        api.hf_hub_download(REPO, "b.txt", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError, match="404 Client Error"):
        api.create_commit("author/missing", [add("a.txt", b"a")], commit_message="A push", repo_type="dataset")


# Faults -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 409, 412, 429, 500, 503])
def test_a_commit_fails_as_often_as_ordered(hub, api, status):
    before = hub.commit(REPO, {"a.txt": b"a"})
    hub.fail("commit", status=status, times=2, reason="Ordered by a test")
    for _ in range(2):
        with pytest.raises(HfHubHTTPError, match="Ordered by a test") as caught:
            push(api, add("b.txt", b"b"))
        assert caught.value.response.status_code == status
        assert hub.refs(REPO) == {"refs/heads/main": before.oid}
    push(api, add("b.txt", b"b"))
    assert statuses(hub, "commit") == [status, status, 200]
    assert hub.files(REPO) == HUBS_OWN | {"a.txt": b"a", "b.txt": b"b"}


def test_the_client_asks_again_before_the_commit(hub, api):
    hub.commit(REPO, {})
    hub.fail("preupload", status=500)
    hub.fail("batch", status=429, headers={"Retry-After": "0"})
    push(api, add("a.parquet", b"abc"))
    assert statuses(hub, "preupload") == [500, 200]
    assert statuses(hub, "batch") == [429, 200]
    assert hub.files(REPO) == HUBS_OWN | {"a.parquet": b"abc"}


def test_an_upload_cut_half_way_is_sent_again(hub, api):
    hub.commit(REPO, {})
    hub.fail("upload", cut="request")
    content = bytes(range(256)) * 8192
    push(api, add("a.parquet", content))
    assert statuses(hub, "upload") == [0, 200]
    assert hub.files(REPO) == HUBS_OWN | {"a.parquet": content}


def test_what_was_uploaded_before_a_push_died_is_not_uploaded_again(hub, api):
    before = hub.commit(REPO, {})
    # The sha256 of "abc" (FIPS 180-4); the other file goes through.
    hub.fail("PUT /storage/ba7816bf*", status=403)
    with pytest.raises(RuntimeError, match=r"Error while uploading 'a\.parquet'"):
        push(api, add("a.parquet", b"abc"), add("b.parquet", b"other"))
    assert hub.refs(REPO) == {"refs/heads/main": before.oid}
    assert list(hub.objects.values()) == [b"other"]
    hub.requests.clear()
    push(api, add("a.parquet", b"abc"), add("b.parquet", b"other"))
    assert [request.path[:17] for request in hub.asked("upload")] == ["/storage/ba7816bf"]
    assert hub.files(REPO) == HUBS_OWN | {"a.parquet": b"abc", "b.parquet": b"other"}


def test_a_download_cut_half_way_goes_on_from_there(hub, api):
    # The client keeps what it has read in pieces of 10 MiB, and half of this is 11.
    content = bytes(range(256)) * 4096 * 22
    hub.commit(REPO, {"a.parquet": content})
    hub.fail("download", cut="answer")
    assert Path(api.hf_hub_download(REPO, "a.parquet", repo_type="dataset")).read_bytes() == content
    assert [request.headers.get("range") for request in hub.asked("download")] == [None, f"bytes={10 * 1024**2}-"]
    assert statuses(hub, "download") == [0, 206]


@pytest.mark.parametrize("order", [{"status": 500, "done": True}, {"cut": "answer"}])
def test_a_commit_may_be_done_although_the_client_hears_otherwise(hub, api, order):
    hub.commit(REPO, {})
    hub.fail("commit", **order)
    with pytest.raises((HfHubHTTPError, httpx2.RemoteProtocolError)):
        push(api, add("a.txt", b"a"))
    assert hub.files(REPO) == HUBS_OWN | {"a.txt": b"a"}


def test_a_connection_closed_at_once_does_nothing(hub, api):
    hub.fail("create", cut="at once")
    with pytest.raises(httpx2.TransportError):
        api.create_repo(REPO, repo_type="dataset")
    assert hub.repositories == {}
    api.create_repo(REPO, repo_type="dataset")
    assert hub.files(REPO) == HUBS_OWN


def test_a_client_does_not_wait_for_a_slow_answer(hub, api):
    hub.commit(REPO, {"a.txt": b"a"})
    hub.fail("HEAD /datasets/*/resolve/*", delay=2)
    start = time.monotonic()
    assert Path(api.hf_hub_download(REPO, "a.txt", repo_type="dataset", etag_timeout=0.2)).read_bytes() == b"a"
    assert 0.2 < time.monotonic() - start < 2
    assert [request.method for request in hub.asked("resolve")] == ["HEAD", "HEAD", "GET"]


def test_the_storage_gives_parts_of_a_file(hub, api):
    hub.commit(REPO, {"large.parquet": b"0123456789", "small.txt": b"abcdefghij"})
    for path, whole in [("large.parquet", b"0123456789"), ("small.txt", b"abcdefghij")]:
        url = f"{hub.url}/datasets/{REPO}/resolve/main/{path}"
        parts = [
            httpx2.get(url, headers={"Range": asked}, follow_redirects=True, trust_env=False)
            for asked in ("bytes=2-4", "bytes=7-", "bytes=-4", "bytes=8-99", "bytes=10-")
        ]
        assert [part.content for part in parts] == [whole[2:5], whole[7:], whole[6:], whole[8:], b""]
        assert [part.status_code for part in parts] == [206, 206, 206, 206, 416]
        assert parts[0].headers["Content-Range"] == "bytes 2-4/10"
        assert parts[4].headers["Content-Range"] == "bytes */10"


def test_somebody_else_pushes_meanwhile(hub, api):
    parent = hub.commit(REPO, {})
    hub.fail("commit", meanwhile=lambda: hub.commit(REPO, {"theirs.txt": b"theirs"}))
    with pytest.raises(HfHubHTTPError, match="412"):
        push(api, add("mine.txt", b"mine"), parent_commit=parent.oid)
    assert hub.files(REPO) == HUBS_OWN | {"theirs.txt": b"theirs"}


def test_a_fault_comes_after_so_many_requests_and_only_where_ordered(hub, api):
    hub.commit(REPO, {})
    hub.fail("tag", status=403, after=2)
    refused = []
    for tag in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"]:
        try:
            api.create_tag(REPO, tag=tag, repo_type="dataset")
        except HfHubHTTPError as error:
            refused.append((tag, error.response.status_code))
    assert refused == [("1.2.0", 403)]
    assert hub.refs(REPO).keys() == {"refs/heads/main", "refs/tags/1.0.0", "refs/tags/1.1.0", "refs/tags/1.3.0"}
    with pytest.raises(ValueError, match="'comit' is no step"):
        hub.fail("comit", status=500)


def test_a_stopped_hub_answers_nobody_and_keeps_what_it_has(hub, api):
    hub.commit(REPO, {"a.txt": b"a"})
    assert api.dataset_info(REPO)
    hub.stop()
    # The first over the connection that is still open, the second over none.
    for _ in range(2):
        with pytest.raises(httpx2.TransportError):
            api.dataset_info(REPO)
    again = HfApi(endpoint=hub.start(), token=TOKEN)
    assert again.dataset_info(REPO).sha == hub.history(REPO)[0].oid


# Loading ----------------------------------------------------------------------------------------------------

CARD = """---
configs:
- config_name: a#b
  data_files:
  - split: train
    path: data/a--b/train.parquet
  - split: test
    path: data/a--b/test.parquet
- config_name: c
  data_files:
  - split: train
    path: data/c/train.parquet
---
"""


def parquet(*texts: str) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": list(texts)}), sink)
    return sink.getvalue().to_pybytes()


def test_datasets_loads_streams_and_loads_offline(hub, tmp_path):
    hub.commit(
        REPO,
        {
            "README.md": CARD.encode(),
            "data/a--b/train.parquet": parquet("one", "two"),
            "data/a--b/test.parquet": parquet("three"),
            "data/c/train.parquet": parquet("other"),
        },
    )
    env = client_env(hub.url, tmp_path / "home")
    online = """
        import json, sys, urllib.error
        import pandas
        from datasets import load_dataset
        repo, url = sys.argv[1:]
        texts = lambda dataset: {split: [row["text"] for row in rows] for split, rows in dataset.items()}
        try:
            pandas.read_parquet(f"{url}/data/a%23b/test.parquet")
        except urllib.error.HTTPError as error:
            hash_in_path = error.code
        print(json.dumps({
            "loaded": texts(load_dataset(repo, "a#b")),
            "streamed": texts(load_dataset(repo, "a#b", streaming=True)),
            "pandas": pandas.read_parquet(f"{url}/data/a--b/test.parquet")["text"].to_list(),
            "hash_in_path": hash_in_path,
        }))
    """
    answer = run_client(online, env, REPO, f"{hub.url}/datasets/{REPO}/resolve/main").answer
    rows = {"train": ["one", "two"], "test": ["three"]}
    assert answer == {"loaded": rows, "streamed": rows, "pandas": ["three"], "hash_in_path": 404}
    # No file of another config was fetched.
    other = hub.repositories[REPO].at("main").files["data/c/train.parquet"].sha256
    assert f"/storage/{other}" not in [request.path for request in hub.asked("download")]
    hub.stop()
    offline = """
        import json, sys
        from datasets import load_dataset
        print(json.dumps(load_dataset(sys.argv[1], "a#b")["train"]["text"][:]))
    """
    assert run_client(offline, env | {"HF_HUB_OFFLINE": "1"}, REPO).answer == ["one", "two"]
