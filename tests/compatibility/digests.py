"""A digest of rows, the same for what `run.py` reads with pyarrow and for what a client gets."""

import hashlib
import json


def digest(rows):
    """The sha256 of rows (dicts of texts, numbers, lists and dicts), in their order, whatever the order of columns."""
    lines = (json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
