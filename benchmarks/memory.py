"""How much memory a program and its workers hold, for benchmarks."""

import os
import resource
import threading
from pathlib import Path


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
