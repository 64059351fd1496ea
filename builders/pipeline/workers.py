"""Independent jobs side by side: in worker processes of this machine, or on a Ray cluster."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from builders.problems import Problem, WrongUsage

Job = TypeVar("Job")

# A lost job is tried again so many times: a machine may be taken away, but a job that no machine survives must end.
RETRIES = 2

# Seconds in which a cluster has to answer.
ANSWER = 5


class Lost(Exception):
    """The process that worked on a job, or its machine, is gone."""


def each(
    function: Callable[[Job], Any],
    jobs: Sequence[Job],
    workers: int = 1,
    ray: str | None = None,
    gpus: int = 0,
) -> Iterator[tuple[Job, Future]]:
    """`function` of every job, as a future that is done: its result, the exception that it raised, or `Lost`.

    Up to `workers` processes of this machine work, and what they did comes in the order of the jobs; what a lost worker
    was at is tried again, alone. With `ray`, the address of a cluster, its nodes work, with `gpus` of their own for
    every job, and jobs come as they end; the nodes have to see the project and its files under the same paths as this
    machine. Raises `Problem` if there is no such cluster.
    """
    if ray is not None:
        yield from _on_cluster(function, jobs, ray, gpus)
    else:
        yield from _here(function, jobs, min(workers, len(jobs)))


def side_by_side(function: Callable[[Job], Any], jobs: Sequence[Job], workers: int) -> Iterator[tuple[Job, Future]]:
    """As `each`, but without a process of its own where one worker, or one job, needs none."""
    if workers > 1 and len(jobs) > 1:
        yield from each(function, jobs, workers)
        return
    for job in jobs:
        future: Future = Future()
        try:
            future.set_result(function(job))
        except Exception as error:
            future.set_exception(error)
        yield job, future


def _here(function: Callable[[Job], Any], jobs: Sequence[Job], workers: int) -> Iterator[tuple[Job, Future]]:
    if not jobs:
        return
    together = _pool(workers)
    try:
        futures = [together.submit(function, job) for job in jobs]
        for job, future in zip(jobs, futures, strict=True):
            if isinstance(future.exception(), BrokenProcessPool):
                # Some worker died and took the pool along; on its own each job shows whether it was the one.
                future = _alone(function, job)
            yield job, future
    finally:
        together.shutdown(cancel_futures=True)


def _alone(function: Callable[[Job], Any], job: Job) -> Future:
    for _ in range(RETRIES):
        with _pool(1) as alone:
            future = alone.submit(function, job)
            if not isinstance(future.exception(), BrokenProcessPool):
                return future
    lost: Future = Future()
    lost.set_exception(Lost("a worker process died (out of memory?)"))
    return lost


def _pool(workers: int) -> ProcessPoolExecutor:
    """A pool of that many fresh processes, which end when the program that started them is killed."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    import signal
    import threading
    from multiprocessing import parent_process

    # Ctrl-C goes to all processes of a terminal; the one that a person started answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_cluster(
    function: Callable[[Job], Any], jobs: Sequence[Job], address: str, gpus: int
) -> Iterator[tuple[Job, Future]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Under `uv run` Ray would make an environment for every worker, from the network; nodes have the project installed.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    try:
        import ray
    except ImportError:
        raise Problem("--ray needs Ray, which is not installed.", todo="Run `uv sync --extra cluster`.") from None
    if problem := _unreachable(address):
        raise problem
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except ValueError as error:
        raise WrongUsage(f"--ray {address}: {_first_line(error)}.") from None
    except (ConnectionError, RuntimeError) as error:
        todo = "Start one with `ray start --head`, or leave --ray out."
        raise Problem(f"there is no Ray cluster at {address} ({_first_line(error)}).", todo=todo) from None
    try:
        # Asked for a GPU, a cluster that has none would wait for one for ever.
        gpus = gpus if ray.cluster_resources().get("GPU") else 0
        # Ray wants a function, and `function` may be any callable.
        remote = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)(lambda job: function(job))
        open_jobs = {remote.remote(job): job for job in jobs}
        while open_jobs:
            (reference, *_), _ = ray.wait(list(open_jobs), num_returns=1)
            yield open_jobs.pop(reference), _fetched(ray, reference)
    finally:
        ray.shutdown()


def _unreachable(address: str) -> Problem | None:
    """What to say of an address where nothing answers; Ray itself would wait for it without end."""
    if address == "auto":
        return None  # Ray looks among what runs here, and says at once if there is nothing
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return WrongUsage(f"--ray {address}: no address of a cluster.", todo="Give HOST:PORT, or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        todo = "Start one with `ray start --head`, or leave --ray out."
        return Problem(f"there is no Ray cluster at {address} ({_first_line(error)}).", todo=todo)
    return None


def _fetched(ray, reference) -> Future:
    future: Future = Future()
    try:
        future.set_result(ray.get(reference))
    except ray.exceptions.RayTaskError as error:
        future.set_exception(error.cause if isinstance(error.cause, Exception) else error)
    except ray.exceptions.RayError as error:
        future.set_exception(Lost(f"the node that worked on it is gone ({_first_line(error)})"))
    return future


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:200]
