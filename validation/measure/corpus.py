"""The facts of one corpus in a release: its tables read once, and everything that is measured in them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.declaration import PIPELINE_REASONS, Corpus, Task
from builders.pipeline.keys import UNIT_SEPARATOR, canonical_keys, item_ids, loose_keys
from builders.pipeline.package import (
    LEDGER_SCHEMA,
    PAIR_JOINT,
    SPLIT_FILES,
    content_digest,
    data_path,
    schema,
    type_name,
)
from builders.pipeline.release import LEDGER
from builders.pipeline.schemas import faults, item_schema
from builders.pipeline.split import SPLITS, TRAIN, Split, sizes, sockette, with_parts
from validation.measure.artefacts import Features, artefacts
from validation.measure.near import near_pairs
from validation.measure.traces import KINDS, matched, traces

EXAMPLES = 3
NEAR_EXAMPLES = 10
# A row whose text is blank has no id; one that left nothing behind has no item that stayed.
LEDGER_EMPTY = ("id", "kept_id")
QUANTILES = {"min": 0.0, "median": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
PAIRS_OF_SPLITS = tuple(combinations(range(len(SPLITS)), 2))


class Items(NamedTuple):
    """The items of a task in train, validation and test, in that order; one array entry per item."""

    task: Task
    ids: np.ndarray
    split: np.ndarray
    """0 (train), 1 (validation) or 2 (test)."""
    unit: np.ndarray
    """Position of the item's text among the corpus's units."""
    label: np.ndarray
    """Class id, value, or (of a span task) the spans written out."""


class Measured(NamedTuple):
    """What was measured of a corpus."""

    facts: dict
    hashes: np.ndarray
    """Per unit a 64-bit hash of its canonical key, which texts share across corpora."""
    ids: np.ndarray
    """Per unit its id, as bytes."""
    places: dict[str, tuple[np.ndarray, np.ndarray]]
    """Per task the unit and the split of every item."""
    seconds: dict[str, float]


class Units:
    """The distinct texts of a corpus; a pair is both texts, joined by U+001F."""

    def __init__(self):
        self.texts = pa.array([], pa.string())

    def positions(self, texts: pa.ChunkedArray) -> np.ndarray:
        """Where each of the texts stands among the units; new ones are added."""
        found = pc.index_in(texts, value_set=self.texts)
        if found.null_count:
            new = pc.unique(texts.filter(pc.is_null(found)))
            self.texts = pa.concat_arrays([self.texts, _flat(new).cast(pa.string())])
            found = pc.index_in(texts, value_set=self.texts)
        return found.to_numpy().astype(np.int32)

    def columns(self, corpus: Corpus) -> pd.DataFrame:
        """The texts in the columns that the corpus has."""
        series = pd.Series(self.texts, dtype="str")
        if not corpus.is_pair or not len(series):
            return pd.DataFrame(dict.fromkeys(corpus.text_columns, series))
        halves = series.str.split(UNIT_SEPARATOR, n=1, expand=True, regex=False)
        return pd.DataFrame({"text_a": halves[0].astype("str"), "text_b": halves[1].astype("str")})


def _flat(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def measure_corpus(release: Path, corpus: Corpus, tasks: Sequence[str], settings: Mapping) -> Measured:
    """The facts of `tasks` of a corpus in a release folder.

    `settings` is how near-duplicates are looked for, as the lock's rules say. A file that cannot be read, or that has
    other columns than declared, is told in the facts and counts as empty in the rest of them; nothing is raised.
    """
    seconds: dict[str, float] = {}

    @contextmanager
    def stage(name: str):
        start = time.perf_counter()
        yield
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start

    units, items, facts = Units(), {}, {}
    chosen = [task for task in corpus.tasks if task.name in tasks]
    for task in chosen:
        facts[task.name], items[task.name] = _read_task(release, corpus, task, units, stage)
    with stage("keys"):
        texts = units.columns(corpus)
        keys = [canonical_keys(texts[column]) for column in corpus.text_columns]
        key = keys[0] if len(keys) == 1 else keys[0] + UNIT_SEPARATOR + keys[1]
        codes = pd.factorize(key)[0]
        ids = np.array(item_ids(corpus.name, key), dtype=object)
        hashes = pd.util.hash_array(key.to_numpy(dtype=object), categorize=False)
    shown = texts["text"] if not corpus.is_pair else texts["text_a"] + PAIR_JOINT + texts["text_b"]
    with stage("lengths"):
        characters, words = shown.str.len().to_numpy(), _words(shown)
    with stage("traces"):
        halves = [traces(texts[column]) for column in corpus.text_columns]
        found = {kind.id: np.any([half[kind.id] for half in halves], axis=0) for kind in KINDS}
    with stage("artefacts"):
        features = Features.of(*(texts[column] for column in corpus.text_columns))
        for one in items.values():
            if one.task.format != "span":
                names = one.task.label_names if one.task.has_classes else None
                facts[one.task.name]["artefacts"] = artefacts(features, one.unit, one.label, names)
        del features
    with stage("same texts"):
        whole = _whole(corpus, chosen, items, codes, key, ids)
        for one in items.values():
            facts[one.task.name] |= {
                "repeats": _repeats(one, codes),
                "characters": _spread(characters[one.unit]),
                "words": _spread(words[one.unit]),
                "traces": _traces(one, found, shown),
            }
    with stage("near-duplicates"):
        whole["near_duplicates"] = _near(whole.pop("units_split"), key, ids, settings)
    with stage("ledger"):
        ledger = read_table(release / LEDGER, LEDGER_SCHEMA, pc.field("corpus") == corpus.name, LEDGER_EMPTY)
        for one in items.values():
            facts[one.task.name]["ledger"] = _ledger(ledger, one)
    places = {name: (one.unit, one.split) for name, one in items.items()}
    return Measured(whole | {"tasks": facts}, hashes, np.char.encode(ids.astype("U16"), "ascii"), places, seconds)


# Reading -------------------------------------------------------------------------------------------------


def _read_task(release: Path, corpus: Corpus, task: Task, units: Units, stage) -> tuple[dict, Items]:
    """The facts of a task that its tables show by themselves, and its items."""
    unreadable, wrong, splits = {}, {}, {}
    parts, sample = [], None
    for split in SPLIT_FILES:
        with stage("read"):
            table = read_table(release / data_path(task, split), schema(task))
        if isinstance(table, str):
            unreadable[split] = table
            continue
        with stage("schemas"):
            wrong[split] = faults(item_schema(task), table.to_pandas())
        splits[split] = {"items": len(table), "content": content_digest(table)} | _labels(task, table["label"])
        if split == "sockette":
            sample = table
        else:
            parts.append((SPLITS.index(split), table, _positions(corpus, table, units)))
    label = [_comparable(task, table["label"]) for _, table, _ in parts]
    items = Items(
        task,
        np.concatenate([table["id"].to_numpy() for _, table, _ in parts]) if parts else np.zeros(0, dtype=object),
        np.concatenate(
            [np.full(len(table), code, dtype=np.int8) for code, table, _ in parts] or [np.zeros(0, np.int8)]
        ),
        np.concatenate([unit for _, _, unit in parts] or [np.zeros(0, np.int32)]),
        np.concatenate(label) if label else np.zeros(0),
    )
    test = next((table for code, table, _ in parts if SPLITS[code] == "test"), None)
    return {
        "splits": splits,
        "unreadable": unreadable,
        "schema": {split: found for split, found in wrong.items() if found},
        "sizes": _sizes(items),
        "sockette": _sockette(task, test, sample),
    }, items


def read_table(
    path: Path, wanted: pa.Schema, rows: pc.Expression | None = None, empty: Sequence[str] = ()
) -> pa.Table | str:
    """The table of a Parquet file (or those `rows` of it), or in words why it cannot be worked with: it has to have the
    `wanted` columns, of these types, and empty cells in those that may have some only."""
    if path.exists() and not path.is_file():
        return "it is no regular file"
    try:
        table = pq.read_table(path, partitioning=None, filters=rows)
        table.validate(full=True)  # texts that are no UTF-8, above all
    except FileNotFoundError:
        return "the file is missing"
    except (OSError, pa.ArrowException) as error:
        # Arrow puts the path before what is wrong.
        told = str(error).splitlines()[0].rsplit("': ", 1)[-1].rstrip(".")
        return f"it cannot be read ({told})"
    seen = {field.name: type_name(field.type) for field in table.schema}
    differ = [
        f"{field.name} is {seen.get(field.name, 'missing')} instead of {type_name(field.type)}"
        for field in wanted
        if seen.get(field.name) != type_name(field.type)
    ]
    differ += [f"{name} is not expected" for name in seen if name not in wanted.names]
    if not differ and table.column_names != wanted.names:
        differ = [f"{', '.join(table.column_names)} instead of {', '.join(wanted.names)}"]
    if differ:
        return f"it has other columns: {'; '.join(differ)}"
    holes = [name for name in wanted.names if table[name].null_count and name not in empty]
    if holes:
        return f"it has empty cells in {', '.join(holes)}"
    return table.select(wanted.names)


def _positions(corpus: Corpus, table: pa.Table, units: Units) -> np.ndarray:
    if corpus.is_pair:
        return units.positions(pc.binary_join_element_wise(table["text_a"], table["text_b"], UNIT_SEPARATOR))
    return units.positions(table["text"])


def _comparable(task: Task, label: pa.ChunkedArray) -> np.ndarray:
    """Labels as an array; of a span task the surfaces, written out."""
    if task.format != "span":
        return label.to_numpy()
    return np.array([UNIT_SEPARATOR.join(found[task.labels[0].name]) for found in label.to_pylist()], dtype=object)


# One task ------------------------------------------------------------------------------------------------


def _labels(task: Task, label: pa.ChunkedArray) -> dict:
    """Items per class; mean and standard deviation of values; spans, and texts without any."""
    if task.has_classes:
        ids = label.to_numpy()
        within = ids[(ids >= 0) & (ids < len(task.labels))]
        counts = np.bincount(within, minlength=len(task.labels))
        return {"labels": dict(zip(task.label_names, map(int, counts), strict=True))}
    if task.format == "regression":
        values = label.to_numpy()
        if not len(values):
            return {"mean": None, "deviation": None}
        return {"mean": round(float(values.mean()), 4), "deviation": round(float(values.std()), 4)}
    counts = pc.list_value_length(pc.struct_field(_flat(label), task.labels[0].name)).to_numpy(zero_copy_only=False)
    return {"spans": int(counts.sum()), "without_span": int((counts == 0).sum())}


def _sizes(items: Items) -> dict[str, int]:
    """By how many items each split misses the rule for the items that are there."""
    counts = np.bincount(items.split, minlength=len(SPLITS))
    wanted = sizes(len(items.split))
    return {name: int(counts[code]) - wanted[code] for code, name in enumerate(SPLITS)}


def _sockette(task: Task, test: pa.Table | None, sample: pa.Table | None) -> dict:
    """Rows of SocKETTe that are not rows of test, and how many items differ from the sample that the rule draws."""
    if test is None or sample is None:
        return {"not_in_test": 0, "not_by_rule": 0, "examples": []}
    ids, drawn = test["id"].to_pandas(), sample["id"].to_pandas()
    columns = [test["text"].to_pandas(), pd.Series(_comparable(task, test["label"]))]
    ours = pd.MultiIndex.from_arrays([ids, *columns])
    theirs = pd.MultiIndex.from_arrays(
        [drawn, sample["text"].to_pandas(), pd.Series(_comparable(task, sample["label"]))]
    )
    foreign = ~theirs.isin(ours)
    rule = ids[
        sockette(ids.where(ids.str.fullmatch("[0-9a-f]{16}"), "0" * 16), columns[1] if task.has_classes else None)
    ]
    differ = set(rule) ^ set(drawn)
    examples = _once([*drawn[foreign], *sorted(differ)])
    return {"not_in_test": int(foreign.sum()), "not_by_rule": len(differ), "examples": examples}


def _repeats(items: Items, codes: np.ndarray) -> dict:
    """Canonical keys that several items of a task share: within a split, in several, and with other labels."""
    key = codes[items.unit]
    shared = np.bincount(key, minlength=1)[key] > 1 if len(key) else np.zeros(0, dtype=bool)
    rows = pd.DataFrame({"key": key, "split": items.split, "id": items.ids, "label": items.label})[shared]
    groups = rows.groupby("key", sort=True)
    contradicting = groups["label"].nunique() > 1
    across = {}
    for one, other in PAIRS_OF_SPLITS:
        both = set(rows["key"][rows["split"] == one]) & set(rows["key"][rows["split"] == other])
        if both:
            across[f"{SPLITS[one]} and {SPLITS[other]}"] = {
                "items": int((rows["key"].isin(both) & (rows["split"] == other)).sum()),
                "examples": _once(rows["id"][rows["key"].isin(both)]),
            }
    within = rows[rows.duplicated(["key", "split"])]
    bad = rows[rows["key"].isin(contradicting.index[contradicting])]
    return {
        "within": {"items": len(within), "examples": _once(within["id"])},
        "across": across,
        "contradicting": {"texts": int(contradicting.sum()), "examples": _once(bad["id"])},
    }


def _traces(items: Items, found: Mapping[str, np.ndarray], texts: pd.Series) -> dict:
    """Items per kind of trace and split, with the matching piece of the first few."""
    told = {}
    for kind in KINDS:
        hits = np.flatnonzero(found[kind.id][items.unit])
        if len(hits):
            counts = np.bincount(items.split[hits], minlength=len(SPLITS))
            told[kind.id] = {
                "items": len(hits),
                "splits": dict(zip(SPLITS, map(int, counts), strict=True)),
                "examples": [
                    f"{items.ids[hit]} {matched(texts.iloc[items.unit[hit]], kind)}".strip() for hit in hits[:EXAMPLES]
                ],
            }
    return told


def _words(texts: pd.Series) -> np.ndarray:
    """Stretches between blanks, per text."""
    return pc.count_substring_regex(pa.array(texts), r"[^ ]+").to_numpy(zero_copy_only=False)


def _spread(values: np.ndarray) -> dict[str, int]:
    """Order statistics, each a value that occurs."""
    if not len(values):
        return {}
    ordered = np.sort(values)
    return {name: int(ordered[int(q * (len(ordered) - 1))]) for name, q in QUANTILES.items()}


def _once(ids: Iterable[str]) -> list[str]:
    """The first few, each once."""
    return list(islice(map(str, dict.fromkeys(ids)), EXAMPLES))


def _ledger(table: pa.Table | str, items: Items) -> dict:
    """What the ledger says of a task; as if it were empty if it cannot be read (the release's facts tell that)."""
    unreadable = isinstance(table, str)
    if unreadable:
        table = LEDGER_SCHEMA.empty_table()
    rows = table.filter(pc.field("task") == items.task.name).to_pandas()
    kept = rows["kept_id"].dropna()
    declared = {*PIPELINE_REASONS, *(rule.reason for rule in items.task.drops)}
    dropped = rows["reason"].value_counts().sort_index()
    return {
        "unreadable": unreadable,
        "dropped": {str(reason): int(count) for reason, count in dropped.items()},
        "twice": int(rows["source_row"].duplicated().sum()),
        # As fixed-width texts: sets of Python strings would take a second for a large task.
        "kept_unknown": int((~np.isin(kept.to_numpy().astype("U16"), items.ids.astype("U16"))).sum()),
        "undeclared_reasons": sorted(set(dropped.index) - declared),
    }


# The tasks of a corpus together --------------------------------------------------------------------------


def _whole(
    corpus: Corpus,
    tasks: Sequence[Task],
    items: Mapping[str, Items],
    codes: np.ndarray,
    key: pd.Series,
    ids: np.ndarray,
) -> dict:
    """What concerns several tasks of a corpus, or all texts of it. `units_split` is for the measures that follow."""
    every = [items[task.name] for task in tasks]
    unit = np.concatenate([one.unit for one in every])
    split = np.concatenate([one.split for one in every])
    # Per key a bit for every split that one of its items is in.
    bits = np.zeros(codes.max(initial=-1) + 1, dtype=np.int8)
    np.bitwise_or.at(bits, codes[unit], np.int8(1) << split)
    # A text that one task alone has in two splits is told there.
    torn = np.zeros(len(bits), dtype=bool)
    for one in every:
        own = np.zeros(len(bits), dtype=np.int8)
        np.bitwise_or.at(own, codes[one.unit], np.int8(1) << one.split)
        torn |= (own & (own - 1)) != 0
    several = (((bits & (bits - 1)) != 0) & ~torn)[codes]
    wrong_ids = np.concatenate([one.ids != ids[one.unit] for one in every])
    given = np.concatenate([one.ids for one in every])
    units_split = np.full(len(codes), -1, dtype=np.int8)
    units_split[unit[::-1]] = split[::-1]
    spellings = pd.Series(codes).duplicated(keep=False).to_numpy()
    return {
        "units": len(bits),
        "wrong_ids": {"items": int(wrong_ids.sum()), "examples": list(given[wrong_ids][:EXAMPLES])},
        "several_splits": {"texts": len(np.unique(codes[several])), "examples": _once(ids[several])},
        "several_spellings": {"texts": len(np.unique(codes[spellings])), "examples": _once(ids[spellings])},
        "loose": _loose(units_split, key, ids),
        "parts": _parts(units_split, key, ids) if corpus.parts else None,
        "twins": [_twin(one, other) for one, other in combinations(every, 2) if _alike(one.task, other.task)],
        "relations": [relation for one in every for relation in _relations(one, items)],
        "units_split": units_split,
    }


def _loose(split: np.ndarray, key: pd.Series, ids: np.ndarray) -> dict:
    """Train texts that have the letters and digits of a held-out text."""
    loose = loose_keys(key)
    shared = loose.isin(loose[split > TRAIN].dropna()).to_numpy() & (split == TRAIN) & loose.notna().to_numpy()
    return {"texts": int(shared.sum()), "examples": list(ids[shared][:EXAMPLES])}


def _parts(split: np.ndarray, key: pd.Series, ids: np.ndarray) -> dict:
    """Train texts whose words stand in one piece in a held-out text."""
    held_out = split > TRAIN
    dealt = Split(split[held_out].astype(np.int64), np.full(held_out.sum(), None), np.full(held_out.sum(), -1), {})
    leaves = with_parts(dealt, held_out, key).leaves != None  # noqa: E711 - element by element
    return {"texts": int(leaves.sum()), "examples": list(ids[leaves][:EXAMPLES])}


def _alike(one: Task, other: Task) -> bool:
    return one.has_classes and other.has_classes and len(one.labels) == len(other.labels)


def _both(one: Items, other: Items) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the items of two tasks that have the same text."""
    _, first, second = np.intersect1d(one.unit, other.unit, return_indices=True)
    return first, second


def _twin(one: Items, other: Items) -> dict:
    """How many of the items that two tasks share have the same class id in both."""
    first, second = _both(one, other)
    same = int((one.label[first] == other.label[second]).sum())
    return {"task": one.task.name, "other": other.task.name, "shared": len(first), "same": same}


def _relations(items: Items, others: Mapping[str, Items]) -> list[dict]:
    """For every stated relation of a class: how often its items, and how often others, have the other class.

    For a regression, the mean value instead.
    """
    told = []
    for class_id, label in enumerate(items.task.labels):
        for name, other_class in label.goes_with:
            if name not in others:
                continue
            first, second = _both(items, others[name])
            task = others[name].task
            values = others[name].label[second]
            if task.has_classes:
                values = values == task.label_names.index(other_class)
            within = items.label[first] == class_id
            told.append(
                {
                    "task": items.task.name,
                    "class": label.name,
                    "other": name,
                    "other_class": other_class,
                    "items": int(within.sum()),
                    "others": int((~within).sum()),
                    "share": _mean(values[within]),
                    "share_of_others": _mean(values[~within]),
                }
            )
    return told


def _mean(values: np.ndarray) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None


def _near(split: np.ndarray, key: pd.Series, ids: np.ndarray, settings: Mapping) -> dict:
    """Held-out texts that have a near-duplicate in train, and those that have one in the other held-out split only."""
    found = near_pairs(key, split, settings)
    in_train = split[found["second"]] == TRAIN
    nearest = found[in_train].sort_values("similarity", ascending=False, kind="stable")[:NEAR_EXAMPLES]
    return {
        "held_out": int((split > TRAIN).sum()),
        "train": int(in_train.sum()),
        "held_out_only": int((~in_train).sum()),
        "threshold": settings["threshold"],
        "examples": [
            {"held_out": ids[first], "train": ids[second], "similarity": round(similarity, 3)}
            for first, second, similarity in nearest.itertuples(index=False, name=None)
        ],
    }
