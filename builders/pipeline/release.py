"""A release: a folder that is complete or absent.

What has to be built is built beside the release folder and renamed into place at the end. A corpus whose raw
bytes, declaration, code and library versions are those of the release already there is taken from it.
"""

import contextlib
import json
import os
import platform
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import cache, partial
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from builders import __version__
from builders.declaration import Corpus
from builders.pipeline.fetch import Located, Source, locate
from builders.pipeline.lock import LOCK, Lock, read_lock
from builders.pipeline.workers import Lost, each, side_by_side
from builders.problems import Problem, Problems, WrongUsage, examples

LEDGER = "ledger.parquet"
OVERLAPS = "overlaps.parquet"
CARD = "README.md"

PACKAGE = Path(__file__).parents[1]
LIBRARIES = ("numpy", "pandas", "pyarrow")


class Outcome(NamedTuple):
    """What became of one corpus: `built`, `unchanged` or `failed`."""

    status: str
    problem: Problem | None = None
    seconds: dict[str, float] | None = None


class Job(NamedTuple):
    """A corpus to put into the release."""

    corpus: Corpus
    tasks: tuple[str, ...]
    located: Located
    fingerprint: str


Report = Callable[[str, Outcome], None]


def build_release(
    selected: Mapping[str, Sequence[str]],
    corpora: Mapping[str, Corpus],
    source: Source,
    out: Path,
    workers: int,
    report: Report = lambda corpus, outcome: None,
    ray: str | None = None,
) -> dict[str, Outcome]:
    """Build the `selected` tasks (corpus name to task names) into the release folder `out`, with so many worker
    processes, or on the Ray cluster at the address `ray`.

    A corpus that cannot be built is left out and told in its outcome; the others are built. If nothing could be
    built, or anything else goes wrong, `out` stays as it was. `report` is told every outcome as it is known.

    Raises `WrongUsage` if `out` holds anything but a release that this build may replace, `Problem` if the
    release cannot be written.
    """
    out = out.resolve()
    try:
        str(out).encode()
    except UnicodeEncodeError:
        raise WrongUsage(
            "the name of the folder is not Unicode.", where=[repr(out)], todo="Choose another --out."
        ) from None
    if not out.name:
        raise WrongUsage("the root of the disk is no release folder.", todo="Choose another --out.")
    with _told_as_problems(out), _only_writer(out):
        previous = _previous(out, selected, source)
        outcomes: dict[str, Outcome] = {}
        jobs = []
        for name, tasks in selected.items():
            try:
                jobs.append(_job(corpora[name], tuple(tasks), source))
            except Problem as problem:
                outcomes[name] = Outcome("failed", problem)
                report(name, outcomes[name])
        intact = _intact(out, previous) if previous else set()
        not_built = {name: str(outcome.problem) for name, outcome in outcomes.items()}
        if (
            previous
            and previous["fingerprint"] == _release_fingerprint(jobs, not_built)
            and _complete(previous, intact)
        ):
            unchanged = {job.corpus.name: Outcome("unchanged") for job in jobs}
            for name, outcome in unchanged.items():
                report(name, outcome)
            return {name: (outcomes | unchanged)[name] for name in selected}
        with _staging(out) as staging:
            outcomes |= _stage(jobs, previous, intact, out, staging, workers, report, ray)
            outcomes = {name: outcomes[name] for name in selected}
            built = [job for job in jobs if outcomes[job.corpus.name].status != "failed"]
            not_built = {name: str(outcome.problem) for name, outcome in outcomes.items() if outcome.problem}
            as_before = (
                previous
                and previous["fingerprint"] == _release_fingerprint(built, not_built)
                and _complete(previous, intact)
            )
            if built and not as_before:
                _finish(built, not_built, _kind(source), staging)
                _swap(staging, out)
    return outcomes


def _job(corpus: Corpus, tasks: tuple[str, ...], source: Source) -> Job:
    located, problems = locate(corpus, source)
    if problems:
        raise Problems(problems) if len(problems) > 1 else problems[0]
    return Job(corpus, tasks, located, _fingerprint(corpus, tasks, located))


def _kind(source: Source) -> str:
    """What the lock says of where the raw files came from."""
    return "sample" if source.kind == "sample" else "raw"


# What a result depends on ------------------------------------------------------------------------------


@cache
def versions() -> dict[str, str]:
    """Everything outside the project that the bytes of a release depend on."""
    found = {"python": platform.python_version(), "unicode": unicodedata.unidata_version}
    return found | {library: version(library) for library in LIBRARIES}


def _digest_of(folder: Path, *patterns: str) -> str:
    """One digest for the files below `folder` that match."""
    digest = sha256()
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        digest.update(f"{path.name}\x1f".encode() + path.read_bytes() + b"\x1f")
    return digest.hexdigest()


@cache
def _code() -> str:
    """The code that a corpus goes through, as it was when the program started."""
    return _digest_of(PACKAGE, "*.py", "pipeline/*.py")


def _fingerprint(corpus: Corpus, tasks: tuple[str, ...], located: Located) -> str:
    return _sha256_of(
        {
            "code": _code(),
            "corpus": _digest_of(corpus.folder, "corpus.yaml", "*.py", "*.sha256"),
            "tasks": tasks,
            "raw": located.raw,
            "versions": versions(),
        }
    )


def _release_fingerprint(jobs: Sequence[Job], not_built: Mapping[str, str]) -> str:
    return _sha256_of(
        {
            "release": __version__,
            "cards": _digest_of(PACKAGE.parent / "cards", "*.py", "templates/*"),
            "card facts": _digest_of(PACKAGE.parent / "validation", "published.yaml", "known.yaml"),
            "corpora": {job.corpus.name: job.fingerprint for job in jobs},
            "not_built": not_built,
        }
    )


def _sha256_of(content: object) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# The folder that is there already ----------------------------------------------------------------------


def _previous(out: Path, selected: Mapping[str, Sequence[str]], source: Source) -> Lock | None:
    """The lock of the release in `out`, None if there is nothing. Raises `WrongUsage` if it is to be left alone."""
    _recover(out)
    if not out.exists():
        return None
    if not out.is_dir():
        raise WrongUsage("is a file.", where=[str(out)], todo="Choose another --out.")
    present = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_symlink() or not path.is_dir()}
    if not present:
        return None
    try:
        lock = read_lock(out)
    except Problem as problem:
        raise WrongUsage(
            f"{problem.what} It was left as it was ({examples(sorted(present))}).",
            where=[str(out)],
            todo="Choose another --out.",
        ) from None
    foreign = sorted(present - {LOCK, *lock["files"]})
    if foreign:
        raise WrongUsage(
            f"holds files that are not the release's: {examples(foreign)}. It was left as it was.",
            where=[str(out)],
            todo="Move them elsewhere or choose another --out.",
        )
    if lock["source"] != _kind(source):
        raise WrongUsage(
            f"holds a release built from {lock['source']} files; this build reads {_kind(source)} files.",
            where=[str(out)],
            todo="Choose another --out.",
        )
    asked = {task for tasks in selected.values() for task in tasks}
    lost = sorted(task for entry in lock["corpora"].values() for task in entry["tasks"] if task not in asked)
    if lost:
        raise WrongUsage(
            f"holds a release with tasks this build was not asked for: {examples(lost)}.",
            where=[str(out)],
            todo="Choose another --out, or name those as well.",
        )
    return lock


def _intact(out: Path, lock: dict) -> set[str]:
    """The files of a release that are as its lock says."""
    intact = set()
    for name, facts in lock["files"].items():
        with contextlib.suppress(OSError), (out / name).open("rb") as stream:
            if file_digest(stream, "sha256").hexdigest() == facts["sha256"]:
                intact.add(name)
    return intact


def _complete(lock: dict, intact: set[str]) -> bool:
    return intact == lock["files"].keys()


# Building beside it ------------------------------------------------------------------------------------


def _stage(jobs, previous, intact, out, staging, workers, report, ray) -> dict[str, Outcome]:
    """Put every corpus into `staging`: from the release in `out` where nothing changed, else built."""
    outcomes, todo = {}, []
    for job in jobs:
        if previous and _reusable(job, previous, intact):
            _reuse(job, previous, out, staging)
            outcomes[job.corpus.name] = Outcome("unchanged")
            report(job.corpus.name, outcomes[job.corpus.name])
        else:
            todo.append(job)
    todo.sort(key=lambda job: -sum(file["bytes"] for file in job.located.raw.values()))
    for name, outcome in _built(todo, staging, workers, ray):
        outcomes[name] = outcome
        report(name, outcome)
    return outcomes


def _files_of(job: Job) -> list[str]:
    from builders.pipeline.package import SPLIT_FILES, data_path

    tasks = [task for task in job.corpus.tasks if task.name in job.tasks]
    return [data_path(task, split) for task in tasks for split in SPLIT_FILES]


def _reusable(job: Job, previous: dict, intact: set[str]) -> bool:
    entry = previous["corpora"].get(job.corpus.name, {})
    return entry.get("fingerprint") == job.fingerprint and intact.issuperset({*_files_of(job), LEDGER})


def _reuse(job: Job, previous: dict, out: Path, staging: Path) -> None:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from builders.pipeline.package import write_parquet

    for name in _files_of(job):
        (staging / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out / name, staging / name)
    ledger = pq.read_table(out / LEDGER, filters=pc.field("corpus") == job.corpus.name)
    write_parquet(ledger, _part(staging, job.corpus.name, "ledger.parquet"))
    facts = {key: value for key, value in previous["corpora"][job.corpus.name].items() if key != "fingerprint"}
    _part(staging, job.corpus.name, "json").write_text(json.dumps(facts), encoding="utf-8")
    _write_keys(job, staging)


def take_corpora(
    release: Path,
    corpora: Mapping[str, Corpus],
    names: Sequence[str],
    out: Path,
    left_out: Mapping[str, str],
) -> None:
    """Write the part of a release that these corpora make to the new folder `out`, a release by itself.

    `left_out` says of the others why; the lock of the new release tells. The files of `release` have to be as its lock
    says (see `builders.publish.verify`). Raises `Problem` if the folder cannot be written.
    """
    lock = read_lock(release)
    jobs = []
    for name in names:
        entry = lock["corpora"][name]
        located = Located({}, entry["raw"], entry["missing"])
        jobs.append(Job(corpora[name], tuple(entry["tasks"]), located, entry["fingerprint"]))
    with _told_as_problems(out), _staging(out) as staging:
        for job in jobs:
            _reuse(job, lock, release, staging)
        _finish(jobs, lock["not_built"] | left_out, lock["source"], staging)
        _swap(staging, out)


def _part(staging: Path, corpus: str, kind: str) -> Path:
    """Where a corpus leaves what the whole release needs of it."""
    return staging / "parts" / f"{corpus}.{kind}"


def _write_keys(job: Job, staging: Path) -> None:
    import pyarrow as pa

    from builders.pipeline.overlaps import keyed_items
    from builders.pipeline.package import write_parquet

    keyed = keyed_items(job.corpus, job.tasks, staging)
    write_parquet(pa.Table.from_pandas(keyed, preserve_index=False), _part(staging, job.corpus.name, "keys.parquet"))


def _build(job: Job, staging: Path) -> dict[str, float]:
    """Build one corpus into `staging` (in a worker); returns the seconds each stage took."""
    from builders.pipeline.corpus import build_corpus

    built = build_corpus(job.corpus, job.located.files, job.tasks, staging)
    facts = {"raw": job.located.raw, "missing": job.located.partial} | built.facts
    _part(staging, job.corpus.name, "json").write_text(json.dumps(facts), encoding="utf-8")
    _write_keys(job, staging)
    return built.seconds


def _built(jobs: Sequence[Job], staging: Path, workers: int, ray: str | None) -> Iterator[tuple[str, Outcome]]:
    if ray is not None:
        ended = each(partial(_build_elsewhere, staging=staging, here=_here()), jobs, ray=ray)
    else:
        ended = side_by_side(partial(_build, staging=staging), jobs, workers)
    for job, future in ended:
        yield job.corpus.name, _outcome(job, future, staging)


def _here() -> dict[str, str]:
    """What has to be the same wherever a corpus of one release is built, for the same bytes."""
    return versions() | {"code": _code()}


def _build_elsewhere(job: Job, staging: Path, here: Mapping[str, str]) -> dict[str, float]:
    """Build a corpus on another machine. Raises `Problem` if that could give other bytes or does not see `staging`."""
    there = _here()
    if other := [f"{name} {there[name][:12]}, not {here[name][:12]}" for name in here if there[name] != here[name]]:
        raise Problem(f"a node of the cluster has {'; '.join(other)}.", todo="Install the same on every node.")
    if not staging.is_dir():
        what = "a node of the cluster does not see this folder."
        raise Problem(what, where=[str(staging)], todo="Give an --out on a file system that all nodes share.")
    return _build(job, staging)


def _outcome(job: Job, future: Future, staging: Path) -> Outcome:
    try:
        return Outcome("built", seconds=future.result())
    except Lost as lost:
        problem = Problem(f"{lost}.", where=[job.corpus.name], todo="Try with --workers 1.")
    except Problem as found:
        problem = found
    except OSError:
        raise  # the disk, not the corpus
    except Exception as error:  # one corpus must not stop the others, whatever it is
        problem = Problem(
            f"the pipeline stopped with {type(error).__name__}: {error}.",
            where=[job.corpus.name],
            todo="That is a fault of this program; please report it.",
        )
    for name in _files_of(job):
        (staging / name).unlink(missing_ok=True)
    return Outcome("failed", problem)


def _finish(built: Sequence[Job], not_built: Mapping[str, str], source: str, staging: Path) -> None:
    """Make a release of the staged corpora: ledger, overlaps, what it says of itself (cards), and lock."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    from builders.pipeline.overlaps import matrix, overlaps
    from builders.pipeline.package import LEDGER_SCHEMA, content_digest, write_parquet
    from cards.card import documents

    names = [job.corpus.name for job in built]
    ledgers = [pq.read_table(_part(staging, name, "ledger.parquet")) for name in names]
    write_parquet(pa.concat_tables(ledgers).cast(LEDGER_SCHEMA), staging / LEDGER)
    shared = overlaps([pd.read_parquet(_part(staging, name, "keys.parquet")) for name in names])
    write_parquet(shared, staging / OVERLAPS)
    facts = {
        job.corpus.name: {"fingerprint": job.fingerprint}
        | json.loads(_part(staging, job.corpus.name, "json").read_text(encoding="utf-8"))
        for job in built
    }
    shutil.rmtree(staging / "parts")
    lock = {
        "release": __version__,
        "source": source,
        "fingerprint": _release_fingerprint(built, not_built),
        "versions": versions(),
        "rules": _rules(),
        "not_built": not_built,
        "corpora": facts,
        "overlaps": matrix(shared),
    }
    files = {
        path.relative_to(staging).as_posix(): _file_facts(path, pq, content_digest)
        for path in staging.rglob("*")
        if path.is_file()
    }
    for name, text in documents([job.corpus for job in built], lock, files).items():
        path = staging / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        files[name] = _file_facts(path, pq, content_digest)
    lock["files"] = dict(sorted(files.items()))
    text = json.dumps(lock, indent=1, ensure_ascii=False) + "\n"
    (staging / LOCK).write_text(text, encoding="utf-8", newline="\n")


def _file_facts(path: Path, pq, content_digest) -> dict:
    facts = {"sha256": sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
    if path.suffix == ".parquet":
        facts["content"] = content_digest(pq.read_table(path))
    return facts


def _rules() -> dict:
    """The rules and thresholds behind a release, as numbers."""
    from builders.pipeline.keys import LOOSE_WORDS, NEAR_DUPLICATES
    from builders.pipeline.split import HEAP_SHARE, HEAP_UNITS, SOCKETTE_ITEMS

    return {
        "split": "train = floor(0.8 n), test = floor((n - train) / 2), validation the rest",
        "loose_key_words": LOOSE_WORDS,
        "heap_share": HEAP_SHARE,
        "heap_units": HEAP_UNITS,
        "sockette_items": SOCKETTE_ITEMS,
        "near_duplicates": NEAR_DUPLICATES,
    }


# Writing safely ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _told_as_problems(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Problem(
            f"cannot be written: {error.strerror or error}. What was there is as it was.",
            where=[str(error.filename or out)],
            todo="Free some space or choose another --out.",
        ) from None


@contextlib.contextmanager
def _only_writer(out: Path) -> Iterator[None]:
    """Hold the right to write `out`; meanwhile a lock file lies in the system's folder for temporary files."""
    import filelock

    name = sha256(os.fsencode(out)).hexdigest()[:16]
    lock = filelock.FileLock(Path(tempfile.gettempdir()) / f"socket-data-{name}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise Problem("another build is writing this folder.", where=[str(out)], todo="Wait for it.") from None
    try:
        yield
    finally:
        # Before the release: afterwards somebody else may hold it.
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _beside(out: Path, what: str) -> Path:
    return out.with_name(f".{out.name}.{what}")


@contextlib.contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """An empty folder beside `out`; gone at the end unless it became `out`."""
    staging = _beside(out, "building")
    shutil.rmtree(staging, ignore_errors=True)
    (staging / "parts").mkdir(parents=True)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _swap(staging: Path, out: Path) -> None:
    old = _beside(out, "previous")
    if out.exists():
        os.rename(out, old)
    try:
        os.rename(staging, out)
    except OSError:
        _recover(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _recover(out: Path) -> None:
    """Put back a release that a killed build had moved aside, or remove what it no longer needed."""
    old = _beside(out, "previous")
    if old.exists():
        if out.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(old, out)
