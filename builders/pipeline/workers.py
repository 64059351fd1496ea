"""Worker processes: corpora are independent, so they are worked on side by side."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def pool(workers: int) -> ProcessPoolExecutor:
    """A pool of that many fresh processes, which end when the program that started them is killed."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    import threading
    from multiprocessing import parent_process

    def watch() -> None:
        parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
