"""A release to a Hub, by the real client against a server that can fail: the repository is the old release or the new
one, never a mix."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from builders.cli import app
from builders.pipeline.lock import LOCK, read_lock
from builders.problems import Problem, WrongUsage
from builders.publish.push import plan, push, refuse_other_tag, set_tag
from builders.publish.verify import verify_tree
from tests.conftest import classification
from tests.hub import GITATTRIBUTES, TOKEN, client_env

REPO = "author/SOCKET"

# The client's own: it passes files to `httpx2` under a name that is going away.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")


def rows(last: str) -> str:
    words = ["mild", "grey", "windy", "bright", "icy", "calm", "stormy", "dry", "humid", last]
    lines = [f"{word} {place},{n % 2}" for n, word in enumerate(words) for place in ("bay", "hill", "wood", "moor")]
    return "text,label\n" + "\n".join(lines) + "\n"


@pytest.fixture
def releases(workshop):
    """Two releases of one invented corpus: (old folder, new folder)."""
    folders = []
    for name, last in (("old", "foggy"), ("new", "hazy")):
        file = {"name": "data.csv", "format": "csv"}
        workshop.corpus("weather", {"data.csv": rows(last)}, [classification("weather#mood")], [file])
        folders.append(workshop.build(name)[0])
    return folders


def files(release) -> dict[str, bytes]:
    there = {path.relative_to(release).as_posix(): path.read_bytes() for path in release.rglob("*") if path.is_file()}
    return there | {".gitattributes": GITATTRIBUTES}


def publish(api, release, **more) -> str:
    lock = read_lock(release)
    return push(api, plan(api, REPO, release, lock), release, lock, wait=0, **more)


# What a push does ----------------------------------------------------------------------------------------


def test_a_new_repository_is_the_release_after_one_commit(hub, api, releases):
    commit = publish(api, releases[0])
    assert hub.files(REPO) == files(releases[0])
    assert [one.title for one in hub.history(REPO)] == ["Release 2.0.0", "initial commit"]
    assert hub.history(REPO)[0].oid == commit


def test_a_push_adds_replaces_and_deletes_in_one_commit(hub, api, releases):
    publish(api, releases[0])
    hub.commit(REPO, {"notes.txt": b"somebody's"}, [])
    before = len(hub.history(REPO))
    lock = read_lock(releases[1])
    planned = plan(api, REPO, releases[1], lock)
    assert planned.delete == ["notes.txt"]
    assert set(planned.replace) >= {LOCK, "data/weather--mood/train.parquet"}
    publish(api, releases[1])
    assert hub.files(REPO) == files(releases[1])
    assert len(hub.history(REPO)) == before + 1


def test_the_published_layout_is_replaced_script_and_text_files_go(hub, api, releases):
    old = {"SOCKET.py": b"import datasets\n", "README.md": b"---\nlicense: mit\n---\n"}
    old |= {f"SOCKET_DATA/bragging/{name}_text.txt": b"a text\n" for name in ("train", "val", "test", "sockette")}
    hub.commit(REPO, old, [])
    planned = plan(api, REPO, releases[0], read_lock(releases[0]))
    assert planned.delete == sorted(set(old) - {"README.md"})
    assert "README.md" in planned.replace
    publish(api, releases[0])
    assert hub.files(REPO) == files(releases[0])


def test_a_second_push_of_the_same_release_has_nothing_to_do(hub, api, releases):
    publish(api, releases[0])
    planned = plan(api, REPO, releases[0], read_lock(releases[0]))
    assert planned.is_empty
    assert planned.same == len(files(releases[0])) - 1  # all but .gitattributes


def test_a_pull_request_leaves_the_branch_as_it_is(hub, api, releases):
    publish(api, releases[0])
    publish(api, releases[1], create_pr=True)
    assert hub.files(REPO) == files(releases[0])
    assert hub.files(REPO, "refs/pr/1") == files(releases[1])


def test_what_was_pushed_is_as_the_lock_says(hub, api, releases):
    from builders.publish.hub import tree

    publish(api, releases[0])
    lock = read_lock(releases[0])
    there = hub.files(REPO)
    assert verify_tree(tree(api, REPO, "main"), lock, there.__getitem__) == []
    hub.commit(REPO, {"README.md": b"another card", "extra.txt": b"x"}, ["ledger.parquet"])
    there = hub.files(REPO)
    assert verify_tree(tree(api, REPO, "main"), lock, there.__getitem__) == [
        "README.md: altered: other bytes than the lock says.",
        "ledger.parquet: missing.",
        "extra.txt: not part of the release.",
    ]


# H4: when it fails ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["info", "tree", "preupload", "batch", "upload", "commit"])
def test_H4_a_push_that_dies_at_a_step_leaves_the_old_release_and_can_be_repeated(hub, api, releases, step):
    publish(api, releases[0])
    hub.fail(step, status=403)
    with pytest.raises(Problem, match=r"may not do that here \(403\)"):
        publish(api, releases[1])
    assert hub.files(REPO) == files(releases[0])
    publish(api, releases[1])
    assert hub.files(REPO) == files(releases[1])


def test_H4_the_first_push_that_dies_while_the_repository_is_made(hub, api, releases):
    hub.fail("create", status=403)
    with pytest.raises(Problem, match="403"):
        publish(api, releases[0])
    publish(api, releases[0])
    assert hub.files(REPO) == files(releases[0])


def test_H4_an_upload_that_was_cut_goes_on_with_what_is_missing(hub, api, releases):
    publish(api, releases[0])
    sent = len(hub.asked("upload"))
    hub.fail("commit", status=403)
    with pytest.raises(Problem):
        publish(api, releases[1])
    uploaded = len(hub.asked("upload")) - sent
    assert uploaded > 0
    publish(api, releases[1])
    assert len(hub.asked("upload")) - sent == uploaded  # nothing twice
    assert hub.files(REPO) == files(releases[1])


def test_H4_a_hub_that_fails_once_is_asked_again(hub, api, releases):
    publish(api, releases[0])
    hub.fail("commit", status=500)
    publish(api, releases[1])
    assert hub.files(REPO) == files(releases[1])


def test_H4_a_hub_that_fails_for_good_is_not_asked_for_ever(hub, api, releases):
    publish(api, releases[0])
    asked = len(hub.asked("commit"))
    hub.fail("commit", status=500, times=100)
    with pytest.raises(Problem, match=r"failed \(500\)"):
        publish(api, releases[1])
    assert len(hub.asked("commit")) - asked == 3
    assert hub.files(REPO) == files(releases[0])


@pytest.mark.parametrize("how", [{"status": 500}, {"cut": "answer"}], ids=["500", "cut"])
def test_H4_a_commit_that_was_made_though_the_answer_failed_is_not_made_twice(hub, api, releases, how):
    publish(api, releases[0])
    before = len(hub.history(REPO))
    hub.fail("commit", done=True, **how)
    commit = publish(api, releases[1])
    assert hub.files(REPO) == files(releases[1])
    assert len(hub.history(REPO)) == before + 1
    assert hub.history(REPO)[0].oid == commit


def test_H4_of_two_pushes_at_once_one_wins_and_the_other_says_so(hub, api, releases):
    publish(api, releases[0])
    hub.fail("commit", meanwhile=lambda: hub.commit(REPO, {"theirs.txt": b"first"}, []))
    with pytest.raises(Problem, match=r"somebody else has changed it meanwhile.*nothing of yours"):
        publish(api, releases[1])
    assert hub.files(REPO) == files(releases[0]) | {"theirs.txt": b"first"}


def test_H4_two_real_pushes_from_the_same_commit(hub, api, releases, workshop):
    """Both are planned before either is made; whichever commits first is what the repository holds."""
    publish(api, releases[0])
    file = {"name": "data.csv", "format": "csv"}
    workshop.corpus("weather", {"data.csv": rows("sultry")}, [classification("weather#mood")], [file])
    rivals = [releases[1], workshop.build("third")[0]]
    planned = [(plan(api, REPO, release, read_lock(release)), release) for release in rivals]

    def attempt(one) -> str:
        try:
            return push(api, *one, read_lock(one[1]), wait=0)
        except Problem as problem:
            return str(problem)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(attempt, planned))
    lost = [answer for answer in answers if "somebody else" in answer]
    assert len(lost) == 1, answers
    winner = rivals[1 - answers.index(lost[0])]
    assert hub.files(REPO) == files(winner)


def test_H4_somebody_elses_commit_between_two_tries(hub, api, releases):
    publish(api, releases[0])
    hub.fail("commit", status=500, meanwhile=lambda: hub.commit(REPO, {"theirs.txt": b"first"}, []))
    with pytest.raises(Problem, match="somebody else"):
        publish(api, releases[1])
    assert hub.files(REPO) == files(releases[0]) | {"theirs.txt": b"first"}


def test_a_file_that_changed_since_it_was_validated_is_not_pushed(hub, api, releases):
    publish(api, releases[0])
    lock = read_lock(releases[1])
    planned = plan(api, REPO, releases[1], lock)
    (releases[1] / "data/weather--mood/train.parquet").write_bytes(b"something else")
    with pytest.raises(Problem, match=r"train\.parquet changed since"):
        push(api, planned, releases[1], lock)
    assert hub.files(REPO) == files(releases[0])


# Tags ----------------------------------------------------------------------------------------------------


def test_a_tag_stands_for_one_release(hub, api, releases):
    old, new = (read_lock(release) for release in releases)
    assert refuse_other_tag(api, REPO, releases[0], old, "v2.0.0") is False  # no repository yet
    set_tag(api, REPO, "v2.0.0", publish(api, releases[0]))
    assert refuse_other_tag(api, REPO, releases[0], old, "v2.0.0") is True
    with pytest.raises(Problem, match=r"v2\.0\.0 is there for another release"):
        refuse_other_tag(api, REPO, releases[1], new, "v2.0.0")
    assert refuse_other_tag(api, REPO, releases[1], new, "v2.1.0") is False


# The command ---------------------------------------------------------------------------------------------


def socket_data(hub, home, *arguments, token=TOKEN, answer="") -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "builders.cli", *map(str, arguments)]
    env = client_env(hub.url, home, token)
    return subprocess.run(command, env=env, input=answer, capture_output=True, text=True, timeout=300, check=False)


def test_H1_the_command_pushes_tags_and_loads_all_58_tasks_again(hub, sample_release, tmp_path):
    ran = socket_data(
        hub, tmp_path / "home", "push", sample_release, "--repo", REPO, "--include-restricted", answer="y\n"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert hub.files(REPO) == files(sample_release)
    assert hub.refs(REPO)["refs/tags/v2.0.0"] == hub.history(REPO)[0].oid
    assert "58 tasks as loaded: all as locked" in ran.stdout
    assert TOKEN not in ran.stdout + ran.stderr + repr(hub.requests)
    # And as a researcher would, in a clean process.
    code = """
from datasets import load_dataset
rows = load_dataset("author/SOCKET", "bragging#brag_trait", split="sockette")
print(rows.num_rows, rows.features["label"].names)
"""
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        env=client_env(hub.url, tmp_path / "reader"),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    count = read_lock(sample_release)["corpora"]["bragging"]["tasks"]["bragging#brag_trait"]["splits"]["sockette"]
    assert loaded.stdout.strip() == f"{count['items']} ['not trait bragging', 'trait bragging']"


def test_the_plan_of_a_dry_run_changes_nothing_and_leaves_out_what_may_not_be_passed_on(hub, sample_release, tmp_path):
    ran = socket_data(hub, tmp_path / "home", "push", sample_release, "--repo", REPO, "--dry-run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "left out" in ran.stdout
    assert "tweet_irony" in ran.stdout
    assert "Nothing was pushed" in ran.stdout
    assert not any(request.method in ("POST", "PUT") for request in hub.requests)


@pytest.mark.parametrize("name", ["SOCKET", "a/b/c", "a/"])
def test_a_name_that_is_no_repository_is_told_at_once(sample_release, tmp_path, name):
    command = ["push", str(sample_release), "--repo", name]
    ran = CliRunner().invoke(app, command)
    assert isinstance(ran.exception, WrongUsage)


def test_without_a_login_nothing_is_pushed(hub, sample_release, tmp_path):
    ran = socket_data(hub, tmp_path / "home", "push", sample_release, "--repo", REPO, token=None)
    assert ran.returncode == 1
    assert "hf auth login" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_release_that_does_not_validate_is_not_pushed(hub, sample_release, tmp_path):
    from tests.planting import Planted
    from tests.test_validate import CORPORA

    planted = Planted(sample_release, tmp_path / "release", CORPORA)
    (planted.folder / "README.md").write_text("no card", encoding="utf-8")
    ran = socket_data(
        hub, tmp_path / "home", "push", planted.folder, "--repo", REPO, "--include-restricted", answer="y\n"
    )
    assert ran.returncode == 1
    assert "nothing was pushed" in ran.stderr
    assert hub.requests == []


def test_who_does_not_agree_does_not_push_restricted_corpora(hub, sample_release, tmp_path):
    ran = socket_data(
        hub, tmp_path / "home", "push", sample_release, "--repo", REPO, "--include-restricted", answer="n\n"
    )
    assert ran.returncode == 1
    assert hub.requests == []
