"""What a piece of work takes: time, and the memory of its process and workers."""

import os
import resource
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from builders.pipeline.workers import each


def resident() -> int:
    """Bytes that this process and its children hold in memory now."""
    pages, todo = 0, [os.getpid()]
    while todo:
        process = todo.pop()
        try:
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
            todo += map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pages * resource.getpagesize()


class Peak(threading.Thread):
    """Watches the memory of this process and its children until it is stopped: `with Peak() as peak: …`."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.stopped = resident(), threading.Event()

    def run(self):
        while not self.stopped.wait(0.05):
            self.most = max(self.most, resident())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()


class Time(NamedTuple):
    """A moment or a stretch of time: on the wall, and of the CPUs for this process and the workers that have ended.
    Where other work runs beside it, the CPUs tell more."""

    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: "Time") -> "Time":
        return Time(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: "Time") -> "Time":
        return Time(self.wall - other.wall, self.cpu - other.cpu)


def now() -> Time:
    """This moment."""
    return Time(time.perf_counter(), sum(os.times()[:4]))


class Cost(NamedTuple):
    """What something gave and took: its time, and bytes in memory at most, workers included."""

    result: object
    time: Time
    peak: int


def cost(work: Callable, arguments: tuple = ()) -> Cost:
    """Do it, and see what it takes."""
    pa.default_memory_pool().release_unused()
    with Peak() as peak:
        start = now()
        result = work(*arguments)
        spent = now() - start
    return Cost(result, spent, peak.most)


def alone(work: Callable, *arguments) -> Cost:
    """The cost of `work` in a new process, which holds nothing of what was done before. `work` and what it takes and
    gives have to be picklable."""
    ((_, done),) = each(partial(cost, work), [arguments])
    return done.result()
