"""A release from its folder to facts and findings: what `socket-data validate` does."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml
from pydantic import BaseModel, ValidationError

from builders.declaration import Corpus
from builders.pipeline.keys import NEAR_DUPLICATES
from builders.pipeline.lock import LOCK, Lock, read_lock
from builders.pipeline.overlaps import matrix, overlaps
from builders.pipeline.package import LEDGER_SCHEMA, OVERLAPS_SCHEMA, data_path_of
from builders.pipeline.release import CARD, LEDGER, OVERLAPS
from builders.pipeline.split import SPLITS
from builders.pipeline.workers import Lost, side_by_side
from builders.problems import Problem, examples
from cards.card import documents, features
from validation.known import judge, read_known
from validation.measure.corpus import LEDGER_EMPTY, Measured, measure_corpus, read_table
from validation.rules import ERROR, Finding, findings


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
    absent = sorted(set(tasks) - {task for names in chosen.values() for task in names})
    if absent:
        raise Problem(
            f"not in this release: {examples(absent)}.",
            where=[str(release)],
            todo=f"It has {examples(sorted(task for names in chosen.values() for task in names))}." if chosen else "",
        )
    settings = lock["rules"].get("near_duplicates", NEAR_DUPLICATES)
    seconds: Counter = Counter()
    measured = {}
    failed = {}
    for name, one in _measured(release, corpora, chosen, settings, lock, workers):
        report(name)
        if isinstance(one, str):
            failed[name] = one
        else:
            measured[name] = one
            seconds.update(one.seconds)
    measured = {name: measured[name] for name in chosen if name in measured}
    facts = _release_facts(release, lock, declared, corpora) | {
        "corpora": {name: _corpus_facts(lock, name, one.facts) for name, one in measured.items()},
    }
    whole = (
        not tasks
        and not failed
        and not any(task["unreadable"] for corpus in facts["corpora"].values() for task in corpus["tasks"].values())
    )
    facts |= _overlaps(release, lock, measured if whole else {})
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
    # No rule: it is this program that failed, whatever the release is like.
    unmeasured = [Finding("not-measured", ERROR, name, "", "", why, 1, ()) for name, why in failed.items()]
    judged = [*unmeasured, *judge(findings(facts, corpora), known, places)]
    return Validated(lock, facts, judged, dict(seconds))


def _measured(release, corpora, chosen, settings, lock, workers):
    """Every chosen corpus with what was measured, the largest first."""
    size = {name: sum(task["items"] for task in lock["corpora"][name]["tasks"].values()) for name in chosen}
    order = sorted(chosen, key=lambda name: -size[name])
    for name, future in side_by_side(partial(_measure, release, corpora, chosen, settings), order, workers):
        yield name, _result(name, future)


def _measure(release, corpora, chosen, settings, name) -> Measured:
    return measure_corpus(release, corpora[name], chosen[name], settings)


def _result(name: str, future: Future) -> Measured | str:
    """What was measured of a corpus, or in words why nothing could be: the others are measured all the same."""
    try:
        return future.result()
    except Lost:
        return "a worker process died (out of memory?); try with --workers 1"
    except Exception as error:
        return f"validation stopped with {type(error).__name__}: {error}; that is a fault of this program, report it"


# The release as a whole ----------------------------------------------------------------------------------


def _release_facts(release: Path, lock: Lock, declared: Mapping[str, str], corpora: Mapping[str, Corpus]) -> dict:
    files: dict[str, list] = {"missing": [], "altered": [], "foreign": []}
    for name, said in lock["files"].items():
        path = release / name
        if path.is_symlink() or not path.is_file():
            files["missing"].append(name)
            continue
        with path.open("rb") as stream:
            seen = {"sha256": file_digest(stream, "sha256").hexdigest(), "bytes": path.stat().st_size}
        if any(seen[key] != said[key] for key in seen):
            files["altered"].append({"name": name, "sha256": seen["sha256"], "lock": said["sha256"]})
    present = {
        path.relative_to(release).as_posix() for path in release.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    files["foreign"] = sorted(present - {LOCK, *lock["files"]})
    in_lock = {task: name for name, entry in lock["corpora"].items() for task in entry["tasks"]}
    ledger = read_table(release / LEDGER, LEDGER_SCHEMA, empty=LEDGER_EMPTY)
    slugs = {task.replace("#", "--") for task in in_lock}
    in_files = {name.split("/")[1] for name in lock["files"] if name.startswith("data/")}
    in_ledger = set() if isinstance(ledger, str) else set(ledger["task"].unique().to_pylist())
    return {
        "release": lock["release"],
        "source": lock["source"],
        "files": files,
        "not_built": lock["not_built"],
        "undeclared": [task for task, name in in_lock.items() if declared.get(task) != name],
        "without_task": sorted({*(in_files - slugs), *(in_ledger - in_lock.keys())}),
        "tasks": len(in_lock),
        "other_raw": _other_raw(lock, corpora),
        "documents": sorted({*_other_documents(release, lock, corpora)} - {file["name"] for file in files["altered"]}),
        "ledger_unreadable": ledger if isinstance(ledger, str) else "",
    }


def _other_raw(lock: Lock, corpora: Mapping[str, Corpus]) -> list[str]:
    """Raw files that the lock has with another sha256 than their declaration."""
    found = []
    for name, entry in lock["corpora"].items():
        pinned = {file.name: file.sha256 for file in corpora[name].files if file.sha256} if name in corpora else {}
        for file, facts in entry["raw"].items():
            if lock["source"] == "raw" and pinned.get(file, facts["sha256"]) != facts["sha256"]:
                found.append(f"{name}/{file}")
    return found


def _other_documents(release: Path, lock: Lock, corpora: Mapping[str, Corpus]) -> list[str]:
    """Cards and other documents that are not what the lock and the declarations give."""
    from jinja2 import TemplateError

    known = [corpora[name] for name in lock["corpora"] if name in corpora]
    if len(known) < len(lock["corpora"]):
        return []  # told by themselves
    data = {name: facts for name, facts in lock["files"].items() if name.endswith(".parquet")}
    try:
        wanted = documents(known, lock, data)
    except (LookupError, TypeError, ValueError, AttributeError, TemplateError) as error:
        return [f"README.md (cards cannot be made of this lock: {error})"]
    found = []
    for name, text in wanted.items():
        path = release / name
        if path.is_file() and path.read_bytes() != text.encode():
            found.append(name)
        if name not in lock["files"]:
            found.append(name)
    return found


def _corpus_facts(lock: Lock, name: str, facts: dict) -> dict:
    """The facts of a corpus with what only the lock knows of it, and where the lock says something else."""
    entry = lock["corpora"][name]
    facts = facts | {"rows": entry["rows"], "missing": entry["missing"]}
    for task, measured in facts["tasks"].items():
        said = entry["tasks"][task]
        measured["ledger"] |= {"rows": entry["rows"]}
        differs = []
        for split, seen in measured["splits"].items():
            told = _other_counts(f"{split}: ", seen, said["splits"].get(split, {}), "the lock")
            if not told and not _is_content(lock, data_path_of(task, split), said["splits"][split], seen["content"]):
                told = [f"{split}: other rows than the lock has a digest of"]
            differs += told
        whole = sum(part["items"] for split, part in measured["splits"].items() if split in SPLITS)
        if not measured["unreadable"] and said["items"] != whole:
            differs.append(f"items: {whole:,}, the lock says {said['items']:,}")
        if said["dropped"] != measured["ledger"]["dropped"] and not measured["ledger"]["unreadable"]:
            differs.append(
                f"dropped: the ledger has {_counts(measured['ledger']['dropped'])}, the lock {_counts(said['dropped'])}"
            )
        measured["lock_differs"] = differs
    return facts


def _is_content(lock: Lock, name: str, said: Mapping, digest: str) -> bool:
    """Whether both places of the lock that tell what a table holds say this."""
    return {said["content"], lock["files"].get(name, {}).get("content", digest)} == {digest}


def _other_counts(place: str, seen: dict, said: dict, who: str) -> list[str]:
    """In words where items, or items per class, are not those that somebody said."""
    if said.get("items") != seen["items"]:
        return [f"{place}{seen['items']:,} items, {who} says {said.get('items', 'nothing')}"]
    if said.get("labels", seen.get("labels")) != seen.get("labels"):
        return [f"{place}the file has {_counts(seen['labels'])}, {who} {_counts(said['labels'])}"]
    return []


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing"


def _overlaps(release: Path, lock: Lock, measured: Mapping[str, Measured]) -> dict:
    """Which items of a task are also items of another corpus's tasks, counted anew and held against the list.

    Of a part of a release nothing is said: the other side may lie in what was left out."""
    listed = read_table(release / OVERLAPS, OVERLAPS_SCHEMA)
    if not measured:
        unreadable = listed if isinstance(listed, str) else ""
        none = {"unlisted": 0, "unfounded": 0, "unreadable": unreadable, "other_in_lock": False}
        return {"overlaps": {}, "overlaps_listed": none}
    hashes = [np.unique(one.hashes) for one in measured.values()]
    values, counts = np.unique(np.concatenate(hashes), return_counts=True)
    shared = values[counts > 1]
    table = (
        overlaps([_keyed(one, shared) for one in measured.values()]) if len(shared) else OVERLAPS_SCHEMA.empty_table()
    )
    counts = matrix(table)
    return {
        "overlaps": counts,
        "overlaps_listed": _listed(table, listed) | {"other_in_lock": counts != lock["overlaps"]},
    }


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
    return {"unlisted": len(ours - theirs), "unfounded": len(listed) - len(ours & theirs), "unreadable": ""}


class _Part(BaseModel):
    split: str
    path: str


class _Config(BaseModel):
    config_name: str
    data_files: list[_Part]


class _Size(BaseModel):
    name: str
    num_examples: int


class _Info(BaseModel):
    config_name: str
    features: list[dict]
    splits: list[_Size]


class _Front(BaseModel):
    """What a card's metadata has to be like to be compared."""

    configs: list[_Config]
    dataset_info: list[_Info]


def _compare_with_card(release: Path, corpora: Mapping[str, Corpus], facts: dict) -> None:
    """Add to every task where the card says something else than its files: `card_differs`, `card_labels`."""
    front, facts["card_unreadable"] = _front_matter(release / CARD)
    configs = {one.config_name: one for one in front.configs}
    infos = {one.config_name: one for one in front.dataset_info}
    for name, corpus in facts["corpora"].items():
        for task in corpora[name].tasks:
            if task.name not in corpus["tasks"]:
                continue
            seen = corpus["tasks"][task.name]
            seen["card_differs"], seen["card_labels"] = [], []
            if facts["card_unreadable"]:
                continue
            info, config = infos.get(task.name), configs.get(task.name)
            if not info or not config:
                seen["card_differs"].append("does not name the task")
                continue
            filled = {split: part["items"] for split, part in seen["splits"].items() if part["items"]}
            paths = {split: data_path_of(task.name, split) for split in filled}
            if not seen["unreadable"] and {part.split: part.path for part in config.data_files} != paths:
                seen["card_differs"].append(f"names other files or splits than {', '.join(paths)}")
            if info.features != features(task):
                seen["card_differs"].append("declares other columns or label names")
            said = {size.name: size.num_examples for size in info.splits}
            for split, part in seen["splits"].items():
                if part["items"] != said.get(split, 0):
                    seen["card_differs"].append(
                        f"says that {split} has {said.get(split, 'no')} items, it has {part['items']:,}"
                    )
            seen["card_labels"] = _labels_of(info)


def _front_matter(path: Path) -> tuple[_Front, str]:
    """The metadata of a card, and in words why there is none that can be compared."""
    none = _Front(configs=[], dataset_info=[])
    if not path.is_file():
        return none, ""  # told as a missing file
    try:
        parts = path.read_text(encoding="utf-8").split("---\n", 2)
        return (_Front.model_validate(yaml.safe_load(parts[1])), "") if len(parts) == 3 else (none, "has no metadata")
    except ValidationError as error:
        fault = error.errors()[0]
        return none, f"has other metadata than a card ({'.'.join(map(str, fault['loc'])) or 'all of it'})"
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 2}: " if mark else ""
        return none, f"has metadata that is no YAML ({where}{getattr(error, 'problem', error)})"
    except (OSError, ValueError, RecursionError) as error:
        return none, f"cannot be read ({type(error).__name__})"


def _labels_of(info: _Info) -> list[str]:
    """The class names that a card's features give, in the order of their ids; none if it gives none."""
    for feature in info.features:
        kind = feature.get("dtype")
        names = kind.get("class_label") if isinstance(kind, dict) else None
        names = names.get("names") if isinstance(names, dict) else None
        if feature.get("name") == "label" and isinstance(names, dict) and all(str(key).isdigit() for key in names):
            return [str(name) for _, name in sorted(names.items(), key=lambda pair: int(pair[0]))]
    return []
