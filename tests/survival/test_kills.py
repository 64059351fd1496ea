"""Twenty kills of build, push and download, full disks and closed folders (`tests.survival.run` has more)."""

import sys

import pytest

from tests.survival.scenarios import (
    full_disks,
    killed_builds,
    killed_fetches,
    killed_pushes,
    modes_count,
    read_only_folders,
    timed_builds,
)
from tests.survival.site import outside, undisturbed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are those of POSIX")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    outside()
    return undisturbed(tmp_path_factory.mktemp("known"))


def wrong(trials) -> dict[str, list[str]]:
    """The trials after which something is wrong, which have to be some."""
    trials = list(trials)
    assert trials
    return {trial.point: trial.faults for trial in trials if trial.faults}


@pytest.mark.parametrize("had_release", [False, True], ids=["first build", "build over a release"])
def test_a_killed_build_leaves_no_half_release_and_the_next_one_gives_the_same_bytes(known, tmp_path, had_release):
    assert wrong(killed_builds(tmp_path / "site", known, 6, had_release)) == {}


def test_a_build_with_two_workers_can_be_killed_at_any_moment(known, tmp_path):
    assert wrong(timed_builds(tmp_path / "site", known, 2)) == {}


@pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")
def test_a_killed_push_leaves_the_old_or_the_new_release_and_the_next_one_completes_it(known, tmp_path):
    assert wrong(killed_pushes(tmp_path / "site", known, 4)) == {}


def test_a_killed_download_is_no_file_of_the_cache_and_the_next_one_completes_it(known, tmp_path):
    assert wrong(killed_fetches(tmp_path / "site", 2)) == {}


@pytest.mark.skipif(not modes_count(), reason="modes do not count for root here")
def test_a_folder_that_may_not_be_written_is_told_in_a_sentence(known, tmp_path):
    assert wrong(read_only_folders(tmp_path / "site", known)) == {}


def test_a_full_disk_is_told_in_a_sentence_and_leaves_the_old_release(known, tmp_path):
    try:
        assert wrong(full_disks(tmp_path / "site", known, 3)) == {}
    except OSError as error:
        pytest.skip(f"{error}: mounting a small disk takes root")
