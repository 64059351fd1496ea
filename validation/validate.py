"""A release from its folder to facts and findings: what `socket-data validate` does."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from builders.declaration import Corpus
from builders.pipeline.keys import NEAR_DUPLICATES
from builders.pipeline.lock import LOCK, Lock, read_lock
from builders.pipeline.overlaps import matrix, overlaps
from builders.pipeline.package import LEDGER_SCHEMA, OVERLAPS_SCHEMA
from builders.pipeline.release import CARD, LEDGER, OVERLAPS
from builders.pipeline.split import SPLITS
from builders.pipeline.workers import pool
from builders.problems import Problem
from cards.card import features
from validation.known import judge, read_known
from validation.measure.corpus import LEDGER_EMPTY, Measured, measure_corpus, read_table
from validation.rules import Finding, findings


class Validated(NamedTuple):
    """A release that was measured and judged."""

    lock: Lock
    facts: dict
    """`files` (missing, altered, foreign), `not_built`, `undeclared`, `overlaps` (matrix) and `corpora`: per corpus
    what `validation.measure.corpus` measures, with `tasks`. Plain numbers and words, ready for JSON."""
    findings: list[Finding]
    """In the order of the release; accepted ones carry their reason."""
    seconds: dict[str, float]
    """Per kind of measure, summed over workers."""

    @property
    def errors(self) -> list[Finding]:
        """What blocks the release."""
        return [finding for finding in self.findings if finding.blocks]


def validate(
    release: Path,
    corpora: Mapping[str, Corpus],
    tasks: Collection[str] = (),
    workers: int = 1,
    report: Callable[[str], None] = lambda corpus: None,
) -> Validated:
    """Measure and judge a release folder, or only `tasks` of it.

    With `tasks`, what needs the whole release (texts shared by corpora) is left out. `report` is told each corpus that
    is done. Raises `Problem` if the folder holds no lock that can be read: everything else that is wrong is a finding.
    """
    lock = read_lock(release)
    declared = {task.name: corpus.name for corpus in corpora.values() for task in corpus.tasks}
    chosen = {
        name: [task for task in entry["tasks"] if declared.get(task) == name and (not tasks or task in tasks)]
        for name, entry in lock["corpora"].items()
    }
    chosen = {name: names for name, names in chosen.items() if names}
    settings = lock["rules"].get("near_duplicates", NEAR_DUPLICATES)
    seconds: Counter = Counter()
    measured = {}
    for name, one in _measured(release, corpora, chosen, settings, lock, workers):
        measured[name] = one
        seconds.update(one.seconds)
        report(name)
    measured = {name: measured[name] for name in chosen}
    facts = _release_facts(release, lock, declared) | {
        "corpora": {name: _corpus_facts(lock, name, one.facts) for name, one in measured.items()}
    }
    facts |= _overlaps(release, {} if tasks else measured)
    _compare_with_card(release, corpora, facts)
    places = {name for name, names in chosen.items() if not tasks} | {
        task for names in chosen.values() for task in names
    }
    known = read_known()
    if lock["source"] == "sample":
        # What was counted in real data says nothing of invented samples, nor need they show any exception.
        known, places = [entry for entry in known if entry.at_most is None], set()
    elif not tasks:
        places.add("release")
    judged = judge(findings(facts, corpora), known, places)
    return Validated(lock, facts, judged, dict(seconds))


def _measured(release, corpora, chosen, settings, lock, workers):
    """Every chosen corpus with what was measured, the largest first."""
    size = {name: sum(task["items"] for task in lock["corpora"][name]["tasks"].values()) for name in chosen}
    order = sorted(chosen, key=lambda name: -size[name])
    if workers == 1 or len(order) == 1:
        for name in order:
            future: Future = Future()
            try:
                future.set_result(measure_corpus(release, corpora[name], chosen[name], settings))
            except Exception as error:  # told by _result, as from a worker
                future.set_exception(error)
            yield name, _result(name, future)
        return
    with pool(min(workers, len(order))) as together:
        futures = [
            (name, together.submit(measure_corpus, release, corpora[name], chosen[name], settings)) for name in order
        ]
        try:
            for name, future in futures:
                yield name, _result(name, future)
        finally:
            together.shutdown(cancel_futures=True)


def _result(name: str, future: Future) -> Measured:
    try:
        return future.result()
    except BrokenProcessPool:
        raise Problem("a worker process died (out of memory?).", where=[name], todo="Try with --workers 1.") from None
    except (Problem, OSError):
        raise
    except Exception as error:
        raise Problem(
            f"validation stopped with {type(error).__name__}: {error}.",
            where=[name],
            todo="That is a fault of this program; please report it.",
        ) from error


# The release as a whole ----------------------------------------------------------------------------------


def _release_facts(release: Path, lock: Lock, declared: Mapping[str, str]) -> dict:
    files: dict[str, list] = {"missing": [], "altered": [], "foreign": []}
    for name, said in lock["files"].items():
        try:
            with (release / name).open("rb") as stream:
                sha256 = file_digest(stream, "sha256").hexdigest()
        except OSError:
            files["missing"].append(name)
            continue
        if sha256 != said["sha256"]:
            files["altered"].append({"name": name, "sha256": sha256, "lock": said["sha256"]})
    present = {
        path.relative_to(release).as_posix() for path in release.rglob("*") if path.is_symlink() or path.is_file()
    }
    files["foreign"] = sorted(present - {LOCK, *lock["files"]})
    in_lock = [(name, task) for name, entry in lock["corpora"].items() for task in entry["tasks"]]
    ledger = read_table(release / LEDGER, LEDGER_SCHEMA, empty=LEDGER_EMPTY)
    return {
        "release": lock["release"],
        "source": lock["source"],
        "files": files,
        "not_built": lock["not_built"],
        "undeclared": [task for name, task in in_lock if declared.get(task) != name],
        "ledger_unreadable": ledger if isinstance(ledger, str) else "",
    }


def _corpus_facts(lock: Lock, name: str, facts: dict) -> dict:
    """The facts of a corpus with what only the lock knows of it, and where the lock says something else."""
    entry = lock["corpora"][name]
    facts = facts | {"rows": entry["rows"], "missing": entry["missing"]}
    for task, measured in facts["tasks"].items():
        said = entry["tasks"][task]
        measured["ledger"] |= {"rows": entry["rows"]}
        differs = []
        for split, seen in measured["splits"].items():
            differs += _other_counts(f"{split}: ", seen, said["splits"].get(split, {}), "the lock")
        if said["dropped"] != measured["ledger"]["dropped"] and not measured["ledger"]["unreadable"]:
            differs.append(
                f"dropped: the ledger has {_counts(measured['ledger']['dropped'])}, the lock {_counts(said['dropped'])}"
            )
        measured["lock_differs"] = differs
    return facts


def _other_counts(place: str, seen: dict, said: dict, who: str) -> list[str]:
    """In words where items, or items per class, are not those that somebody said."""
    if said.get("items") != seen["items"]:
        return [f"{place}{seen['items']:,} items, {who} says {said.get('items', 'nothing')}"]
    if said.get("labels", seen.get("labels")) != seen.get("labels"):
        return [f"{place}the file has {_counts(seen['labels'])}, {who} {_counts(said['labels'])}"]
    return []


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing"


def _overlaps(release: Path, measured: Mapping[str, Measured]) -> dict:
    """Which items of a task are also items of another corpus's tasks, counted anew and held against the list.

    Of a part of a release nothing is said: the other side may lie in what was left out."""
    if not measured:
        return {"overlaps": {}, "overlaps_listed": {"unlisted": 0, "unfounded": 0, "unreadable": ""}}
    hashes = [np.unique(one.hashes) for one in measured.values()]
    values, counts = np.unique(np.concatenate(hashes), return_counts=True)
    shared = values[counts > 1]
    table = (
        overlaps([_keyed(one, shared) for one in measured.values()]) if len(shared) else OVERLAPS_SCHEMA.empty_table()
    )
    listed = read_table(release / OVERLAPS, OVERLAPS_SCHEMA)
    return {"overlaps": matrix(table), "overlaps_listed": _listed(table, listed)}


def _keyed(measured: Measured, shared: np.ndarray) -> pd.DataFrame:
    """The items of a corpus whose key is among the `shared` ones, as `overlaps` wants them."""
    wanted = np.isin(measured.hashes, shared)
    rows = [
        pd.DataFrame(
            {
                "task": task,
                "id": measured.ids[unit[wanted[unit]]].astype(str),
                "split": np.array(SPLITS)[split[wanted[unit]]],
                "key": measured.hashes[unit[wanted[unit]]],
            }
        )
        for task, (unit, split) in measured.places.items()
    ]
    return pd.concat(rows, ignore_index=True)


def _listed(table: pa.Table, listed: pa.Table | str) -> dict:
    """How the list in a release differs from the overlaps that were found, in rows."""
    if isinstance(listed, str):
        return {"unlisted": 0, "unfounded": 0, "unreadable": listed}
    ours, theirs = (
        set(zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True)) for rows in (table, listed)
    )
    return {"unlisted": len(ours - theirs), "unfounded": len(theirs - ours), "unreadable": ""}


def _compare_with_card(release: Path, corpora: Mapping[str, Corpus], facts: dict) -> None:
    """Add to every task where the card says something else than its files: `card_differs`, `card_labels`."""
    front, unreadable = _front_matter(release / CARD)
    configs = _by_name(front, "configs")
    infos = _by_name(front, "dataset_info")
    for name, corpus in facts["corpora"].items():
        for task in corpora[name].tasks:
            if task.name not in corpus["tasks"]:
                continue
            seen = corpus["tasks"][task.name]
            info, config = infos.get(task.name, {}), configs.get(task.name, {})
            counts = {split: part["items"] for split, part in seen["splits"].items() if part["items"]}
            paths = [{"split": split, "path": f"data/{task.slug}/{split}.parquet"} for split in counts]
            said = info.get("splits")
            said = {one.get("name"): one.get("num_examples") for one in said} if _is_rows(said) else {}
            differs = [unreadable] if unreadable else []
            if not differs:
                if not seen["unreadable"] and config.get("data_files") != paths:
                    differs.append("names other files or splits")
                if info.get("features") != features(task):
                    differs.append("declares other columns or label names")
                for split, part in seen["splits"].items():
                    if part["items"] != said.get(split, 0):
                        differs.append(f"says that {split} has {said.get(split, 'no')} items, it has {part['items']:,}")
            seen["card_differs"], seen["card_labels"] = differs, _labels_of(info)


def _front_matter(path: Path) -> tuple[dict, str]:
    """The metadata of a card, and in words why there is none."""
    try:
        parts = path.read_text(encoding="utf-8").split("---\n", 2)
        front = yaml.safe_load(parts[1]) if len(parts) == 3 else None
        return (front, "") if isinstance(front, dict) else ({}, "has no metadata")
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return {}, f"cannot be read ({str(error).splitlines()[0][:80]})"


def _is_rows(content: object) -> bool:
    return isinstance(content, list) and all(isinstance(row, dict) for row in content)


def _by_name(front: dict, key: str) -> dict[str, dict]:
    rows = front.get(key)
    return {row["config_name"]: row for row in rows if "config_name" in row} if _is_rows(rows) else {}


def _labels_of(info: dict) -> list[str]:
    """The class names that a card's features give, in the order of their ids; none if it gives none."""
    for feature in info.get("features") or () if _is_rows(info.get("features")) else ():
        kind = feature.get("dtype")
        names = kind.get("class_label", {}).get("names") if isinstance(kind, dict) else None
        if feature.get("name") == "label" and isinstance(names, dict):
            return [str(name) for _, name in sorted(names.items(), key=lambda pair: int(pair[0]))]
    return []
