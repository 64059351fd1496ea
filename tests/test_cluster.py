"""The build on a Ray cluster of two nodes on this machine: the same bytes, also when a node dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builders.pipeline.workers import Lost, each
from builders.problems import Problem, WrongUsage

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}  # as the program has it
ray = pytest.importorskip("ray", reason="needs the extra cluster: uv sync --extra cluster")

CORPORA = ("hypo-l", "complaints", "emobank", "bragging")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two nodes with one processor each; gives the address, and a function that kills the second with all it runs."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 0, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1, num_gpus=0)
    cluster.wait_for_nodes()
    yield cluster, second
    cluster.shutdown()


def built(out: Path, *options: str) -> dict[str, bytes]:
    command = [sys.executable, "-c", "from builders.cli import main; main()", "build", *CORPORA]
    command += ["--sample", "--out", str(out), *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def twice(number: int) -> int:
    return 2 * number


def refused(number: int) -> int:
    raise Problem("is refused.", where=[str(number)])


def node_of(number: int) -> str:
    time.sleep(1)
    return ray.get_runtime_context().get_node_id()


def killed_with_its_node_once(job: tuple[str, str]) -> str:
    """The first job on the second node takes the node with it; tried again elsewhere it ends."""
    doomed, marker = job
    node = ray.get_runtime_context().get_node_id()
    if node == doomed and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getppid(), signal.SIGKILL)  # the raylet: its node is gone
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1)
    return node


def test_a_build_on_a_cluster_gives_the_same_bytes(cluster, tmp_path):
    nodes, _ = cluster
    assert built(tmp_path / "there", "--ray", nodes.address) == built(tmp_path / "here")


def test_jobs_are_spread_and_errors_come_back_as_they_are(cluster):
    nodes, _ = cluster
    assert {job: future.result() for job, future in each(twice, [1, 2, 3], ray=nodes.address)} == {1: 2, 2: 4, 3: 6}
    ((_, future),) = each(refused, [7], ray=nodes.address)
    with pytest.raises(Problem, match="7: is refused"):
        future.result()
    assert len({future.result() for _, future in each(node_of, range(4), ray=nodes.address)}) == 2


def test_a_job_outlives_the_node_that_it_ran_on(cluster, tmp_path):
    nodes, second = cluster
    job = (second.node_id, str(tmp_path / "marker"))
    ended = [future.result() for _, future in each(killed_with_its_node_once, [job] * 4, ray=nodes.address)]
    assert (tmp_path / "marker").exists()
    assert len(ended) == 4
    assert second.node_id not in ended


def test_where_no_cluster_is_that_is_told(tmp_path):
    with pytest.raises(Problem, match=r"there is no Ray cluster at 127.0.0.1:1"):
        list(each(twice, [1], ray="127.0.0.1:1"))
    with pytest.raises(WrongUsage, match="no address of a cluster"):
        list(each(twice, [1], ray="here"))


def test_a_lost_job_is_told_as_lost():
    ((_, future),) = each(os._exit, [9], workers=1)
    with pytest.raises(Lost, match="a worker process died"):
        future.result()
