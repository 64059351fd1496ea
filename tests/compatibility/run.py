"""Load a release in every environment of `environments.yaml`: from its folder, and over HTTP from the Hub for tests.

    uv run python -m tests.compatibility.run RELEASE [--only NAME] [--write]

Every task is loaded by its name, in one process per environment and place, and held against what pyarrow reads from the
files. Environments are kept in the user's cache folder (or `--cache`). `--write` records the result in `results.md`.
Ends with status 1 if anything differs. Needs uv and a package index; for the samples about ten minutes on two cores.
"""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import platformdirs
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from builders.pipeline.lock import read_lock
from builders.pipeline.package import SPLIT_FILES
from tests.compatibility.digests import digest
from tests.hub import TOKEN, Hub, client_env, run_client

HERE = Path(__file__).parent
REPO = "author/socket"
SHOWN = ("datasets", "pyarrow", "pandas", "numpy", "fsspec", "huggingface-hub", "polars", "duckdb")
TIMEOUT = 1800
# More than there are CPUs: older versions mostly wait, for a service of the Hub that is not here.
AT_ONCE = 4

PUSH = """
    import sys
    from pathlib import Path
    from huggingface_hub import CommitOperationAdd, HfApi

    repo, release = sys.argv[1], Path(sys.argv[2])
    files = [path for path in sorted(release.rglob("*")) if path.is_file()]
    operations = [CommitOperationAdd(path.relative_to(release).as_posix(), path) for path in files]
    api = HfApi()
    api.create_repo(repo, repo_type="dataset")
    api.create_commit(repo, operations, commit_message="The release", repo_type="dataset")
    print(len(files))
"""

Failed = Mapping[str, Mapping[str, str]]
"""Per check, the tasks for which it does not hold, with what was seen instead."""


class Result(NamedTuple):
    """What one environment made of a release in one place; `versions` of the packages that matter."""

    environment: str
    place: str
    versions: dict[str, str]
    failed: Failed


def main() -> int:
    """Run the environments asked for, tell each result as it comes, and record them all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("release", type=Path, help="the release folder")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this environment; can be repeated")
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("socket-data"), "compatibility"))
    parser.add_argument("--write", action="store_true", help="record the result in results.md")
    given = parser.parse_args()
    environments = yaml.safe_load((HERE / "environments.yaml").read_text(encoding="utf-8"))
    chosen = {name: about for name, about in environments.items() if not given.only or name in given.only}
    expected = expectation(given.release)
    results = []
    with served(given.release) as url, ThreadPoolExecutor(AT_ONCE) as pool:

        def measure(environment: tuple[str, dict]) -> list[Result]:
            return list(measured(*environment, given.release, url, expected, given.cache.resolve()))

        for result in chain.from_iterable(pool.map(measure, chosen.items())):
            print(told(result, len(expected)), flush=True)
            results.append(result)
    if given.write:
        text = report(results, chosen, expected, read_lock(given.release)["source"])
        (HERE / "results.md").write_text(text, encoding="utf-8", newline="\n")
    return 1 if any(failed for result in results for failed in result.failed.values()) else 0


def expectation(release: Path) -> dict[str, dict]:
    """What a client has to find of every task: `paths`, items (`splits`) and the digest of the `rows` per split, and
    the `types` of the columns as `read_datasets.types` tells them."""
    expected = {}
    for corpus in read_lock(release)["corpora"].values():
        for task, facts in corpus["tasks"].items():
            paths = {split: f"data/{task.replace('#', '--')}/{split}.parquet" for split in SPLIT_FILES}
            tables = {split: pq.read_table(release / path, partitioning=None) for split, path in paths.items()}
            types = {field.name: _type(field.type) for field in tables["train"].schema}
            if names := facts["splits"]["train"].get("labels"):
                types["label"] = list(names)
            expected[task] = {
                "paths": paths,
                "types": types,
                "splits": {split: facts["splits"][split]["items"] for split in SPLIT_FILES},
                "rows": {split: digest(table.to_pylist()) for split, table in tables.items()},
            }
    return expected


def _type(kind: pa.DataType) -> object:
    if pa.types.is_list(kind):
        return [_type(kind.value_type)]
    if pa.types.is_struct(kind):
        return {field.name: _type(field.type) for field in kind}
    return "float64" if kind == pa.float64() else str(kind)


@contextlib.contextmanager
def served(release: Path) -> Iterator[str]:
    """The address of a Hub that holds the release, in one commit."""
    with Hub() as hub:
        with tempfile.TemporaryDirectory() as home:
            run_client(PUSH, client_env(hub.url, Path(home), TOKEN), REPO, str(release.resolve()), timeout=TIMEOUT)
        # By this name the Hub is another host than its storage, as it is in the world: some clients follow a redirect
        # that stays on the host and would take the storage for the Hub.
        yield hub.url.replace("127.0.0.1", "localhost")


def measured(name: str, about: dict, release: Path, url: str, expected: dict, cache: Path) -> Iterator[Result]:
    """What an environment, made or brought up to date first, makes of a release: a result per place."""
    try:
        python = _environment(cache / name.replace(" ", "-"), about["install"])
    except subprocess.CalledProcessError:
        yield Result(name, "", {}, {"installs": dict.fromkeys(expected, "uv could not install it")})
        return
    versions = _versions(python)
    for place, failed in readings(python, about.get("reader"), release, url, expected):
        yield Result(name, place, versions, failed)


def _environment(folder: Path, install: list[str]) -> Path:
    uv = os.environ.get("UV", "uv")
    python = folder / "bin" / "python"
    if not python.exists():
        version = ".".join(platform.python_version_tuple()[:2])
        subprocess.run([uv, "venv", "--quiet", "--python", version, folder], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--upgrade", "--python", python, *install], check=True)
    return python


def _versions(python: Path) -> dict[str, str]:
    code = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    installed = json.loads(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout)
    found = {name.lower().replace("_", "-"): version for name, version in installed.items()}
    return {name: found[name] for name in SHOWN if name in found}


def readings(python: Path, reader: str | None, release: Path, url: str, expected: dict) -> Iterator[tuple[str, Failed]]:
    """What fails with this Python, by place: loaded by `datasets`, or read by a `reader` without it."""
    places = {
        "its folder": ["read_datasets.py", release.resolve()],
        "the Hub": ["read_datasets.py", REPO],
    }
    if reader:
        places = {"files over HTTP": ["read_raw.py", reader, f"{url}/datasets/{REPO}/resolve/main"]}
    for place, (script, *arguments) in places.items():
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder) / "expected.json"
            wanted.write_text(json.dumps(expected), encoding="utf-8")
            env = client_env(url, Path(folder) / "home") | {"PYTHONUTF8": "1"}
            command = [python, HERE / script, *arguments, wanted]
            ran = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
        if ran.returncode:
            yield place, {"runs": dict.fromkeys(expected, ran.stderr.strip().rsplit("\n", 1)[-1])}
        else:
            yield place, json.loads(ran.stdout.rsplit("\n", 2)[-2])


def told(result: Result, tasks: int) -> str:
    """A result in a line, and one more for every check that fails."""
    scores = ", ".join(f"{check} {_score(failed, tasks)}" for check, failed in result.failed.items())
    return "\n  ".join([f"{result.environment}, {result.place}: {scores}", *_failures(result)])


def _score(failed: Mapping[str, str], tasks: int) -> str:
    return f"{tasks - len(failed)}/{tasks}"


def _failures(result: Result) -> list[str]:
    """A line for every check that fails, with the first of its tasks."""
    lines = []
    for check, failed in result.failed.items():
        if failed:
            task, seen = next(iter(failed.items()))
            more = f" (and {len(failed) - 1} more tasks)" if len(failed) > 1 else ""
            lines.append(f"{result.environment}, {result.place}, {check}: {task}{more}: {shorten(seen, 300)}")
    return lines


def report(results: list[Result], environments: dict[str, dict], expected: dict, source: str) -> str:
    """The text of `results.md`: a table for `datasets`, one for other readers, the environments, and what fails."""
    rows = sum(sum(want["splits"].values()) for want in expected.values())
    loaders = [result for result in results if "reader" not in environments[result.environment]]
    readers = [result for result in results if "reader" in environments[result.environment]]
    versions = {result.environment: result.versions for result in results}
    return "\n".join(
        [
            "# Compatibility: the last result",
            "",
            "```sh",
            "uv run socket-data build --sample --out release-sample",
            "uv run python -m tests.compatibility.run release-sample --write",
            "```",
            "",
            f"A release built from {'invented samples' if source == 'sample' else 'raw corpora'}:"
            f" {len(expected)} tasks, {len(expected) * len(SPLIT_FILES)} files, {rows:,} rows."
            f" {platform.system()} {platform.machine()}, Python {platform.python_version()}."
            " A cell says for how many tasks the check holds.",
            "",
            "* **listed**: the task is among the config names, `#` included",
            "* **loads**, **reads**: without an error, all four splits",
            "* **splits**: train, validation, test and sockette, with as many rows as the lock says",
            "* **types**: class names in their order, float64, the label of a span `{name: [string]}`, `spans` a list"
            " of start and end",
            "* **rows**: every value of every row is the one that pyarrow reads from the file",
            '* **streams**: the same rows with `streaming=True` (as such a process ends, Arrow may abort it, "terminate'
            ' called without an active exception", whatever the data: huggingface/datasets#7357)',
            "",
            "## Loaded by name with `datasets`",
            "",
            *_table(loaders, len(expected)),
            "",
            "## The files over plain HTTP, without `datasets`",
            "",
            *_table(readers, len(expected)),
            "",
            "## What fails",
            "",
            *([f"* {line}" for result in results for line in _failures(result)] or ["Nothing."]),
            "",
            "## Environments",
            "",
            "| environment | versions | why |",
            "|---|---|---|",
            *(
                f"| {name} | {', '.join(f'{package} {number}' for package, number in versions[name].items())} |"
                f" {' '.join(about['why'].split())} |"
                for name, about in environments.items()
            ),
            "",
        ]
    )


def _table(results: list[Result], tasks: int) -> list[str]:
    checks = list(dict.fromkeys(check for result in results for check in result.failed))
    lines = [f"| environment | from | {' | '.join(checks)} |", f"|---|---|{'--:|' * len(checks)}"]
    for result in results:
        cells = [_score(result.failed[check], tasks) if check in result.failed else "" for check in checks]
        lines.append(f"| {result.environment} | {result.place} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
