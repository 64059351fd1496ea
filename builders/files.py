"""Writing files so that they are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to; what was written there replaces `path` at the end, unless something failed.

    A link stays one, and what it points to is replaced. What is no regular file, such as a terminal, is written to as
    it is: there is nothing to be half of.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
