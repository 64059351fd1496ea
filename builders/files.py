"""Writing files so that they are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; what was written there replaces `path` at the end, unless something failed."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
