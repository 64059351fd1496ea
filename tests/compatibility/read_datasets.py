"""What one version of `datasets` makes of a release. Runs where nothing but `datasets` is installed.

    python read_datasets.py PLACE EXPECTED

PLACE is a release folder or the name of a repository on the Hub, EXPECTED the JSON file that `run.py` writes. Every
task is loaded by its name. The last line printed is JSON: per check, the tasks it failed for with what was seen
instead.
"""

import json
import os
import sys
from pathlib import Path

import datasets
from digests import digest


def main(place, expected):
    failed = {check: {} for check in ("listed", "loads", "splits", "types", "rows", "streams")}
    names = datasets.get_dataset_config_names(place)
    for task, want in expected.items():
        if task not in names:
            failed["listed"][task] = f"{len(names)} other names"
        for check, seen in {**loaded(place, task, want), **streamed(place, task, want)}.items():
            failed[check][task] = seen
    return failed


def loaded(place, task, want):
    """What was seen instead, by check."""
    try:
        data = datasets.load_dataset(place, task)
    except Exception as error:  # whatever it is, the task does not load
        return {"loads": told(error), "splits": "not loaded", "types": "not loaded", "rows": "not loaded"}
    seen = {
        "splits": {name: split.num_rows for name, split in data.items()},
        "types": types(data["train"].features),
        "rows": {name: digest(split) for name, split in data.items()},
    }
    return {check: f"{seen[check]}, expected {want[check]}" for check in seen if seen[check] != want[check]}


def streamed(place, task, want):
    """The same for rows that come one by one."""
    try:
        data = datasets.load_dataset(place, task, streaming=True)
        rows = {name: digest(split) for name, split in data.items()}
    except Exception as error:
        return {"streams": told(error)}
    return {} if rows == want["rows"] else {"streams": f"{rows}, expected {want['rows']}"}


def told(error):
    return f"{type(error).__name__}: {str(error)[:200]}"


def types(feature):
    """The columns in words that mean the same in every version; `["string"]` is a list of strings.

    In the older ones a `Sequence` of a dict is a dict of lists.
    """
    if isinstance(feature, dict):
        return {name: types(inner) for name, inner in feature.items()}
    if isinstance(feature, list):
        return [types(feature[0])]
    if isinstance(feature, datasets.ClassLabel):
        return feature.names
    if isinstance(feature, datasets.Value):
        return feature.dtype
    if type(feature).__name__ == "Sequence" and isinstance(feature.feature, dict):
        return {name: [types(inner)] for name, inner in feature.feature.items()}
    return [types(feature.feature)]


if __name__ == "__main__":
    place, expected = sys.argv[1:]
    print(json.dumps(main(place, json.loads(Path(expected).read_text(encoding="utf-8")))), flush=True)
    # A process that has streamed Parquet may be aborted by Arrow's threads as it ends, whatever the data
    # (https://github.com/huggingface/datasets/issues/7357). All is read by now, so it does not wait for them.
    os._exit(0)
