"""What a library without `datasets` makes of the Parquet files of a release, over plain HTTP.

    python read_raw.py READER URL EXPECTED

URL is where the files of the repository lie (`…/resolve/main`), EXPECTED the JSON file that `run.py` writes. The last
line printed is JSON: per check, the tasks it failed for with what was seen instead.
"""

import json
import sys
from pathlib import Path

from digests import digest


def pandas(url):
    import pandas

    return plain(pandas.read_parquet(url).to_dict("records"))


def polars(url):
    import polars

    return polars.read_parquet(url).to_dicts()


def duckdb(url):
    """With the extension for HTTP that a package brings; duckdb holds its signature against the version."""
    import duckdb
    import duckdb_extension_httpfs

    (extension,) = Path(duckdb_extension_httpfs.__file__).parent.rglob("httpfs.duckdb_extension")
    connection = duckdb.connect()
    connection.load_extension(str(extension))
    found = connection.execute("SELECT * FROM read_parquet(?)", [url])
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def plain(value):
    """pandas gives arrays for lists and numpy's numbers for numbers."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(inner) for inner in value] if isinstance(value, list) else value


READERS = {reader.__name__: reader for reader in (pandas, polars, duckdb)}


def main(reader, url, expected):
    failed = {check: {} for check in ("reads", "splits", "rows")}
    for task, want in expected.items():
        for check, seen in read(READERS[reader], url, want).items():
            failed[check][task] = seen
    return failed


def read(reader, url, want):
    """What was seen instead, by check."""
    try:
        rows = {split: reader(f"{url}/{path}") for split, path in want["paths"].items()}
    except Exception as error:  # whatever it is, the task cannot be read
        return {"reads": f"{type(error).__name__}: {str(error)[:200]}", "splits": "not read", "rows": "not read"}
    seen = {
        "splits": {split: len(found) for split, found in rows.items()},
        "rows": {split: digest(found) for split, found in rows.items()},
    }
    return {check: f"{seen[check]}, expected {want[check]}" for check in seen if seen[check] != want[check]}


if __name__ == "__main__":
    reader, url, expected = sys.argv[1:]
    print(json.dumps(main(reader, url, json.loads(Path(expected).read_text(encoding="utf-8")))))
