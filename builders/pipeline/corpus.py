"""One corpus through the stages read, normalise, drop, deduplicate, split, sample and package.

Nothing here depends on another corpus, so a corpus built alone gives the same bytes as one built with all.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from builders.declaration import Corpus, Task
from builders.pipeline.items import TaskItems, task_items
from builders.pipeline.keys import UNIT_SEPARATOR, canonical_keys, item_ids, loose_keys, ranks
from builders.pipeline.labels import SpanLabel, labels, span_labels
from builders.pipeline.package import (
    LEDGER_SCHEMA,
    PAIR_JOINT,
    SPLIT_FILES,
    content_digest,
    data_path,
    schema,
    write_parquet,
)
from builders.pipeline.read import raw_rows
from builders.pipeline.split import SPLITS, Split, sizes, sockette, split_units, with_parts
from builders.pipeline.text import normalised, steps_of
from builders.problems import Problem


class Built(NamedTuple):
    """A corpus that was built: its facts for the lock, and seconds per stage."""

    facts: dict
    seconds: dict[str, float]


def build_corpus(
    corpus: Corpus, files: Mapping[str, Sequence[tuple[str, Path]]], tasks: Sequence[str], folder: Path
) -> Built:
    """Build `tasks` of a corpus from its raw `files` into `folder`.

    Writes `data/<slug>/<split>.parquet` and `parts/<corpus>.ledger.parquet` and returns the facts for the
    lock. The split is that of the whole corpus, whichever tasks are asked for.

    Raises `Problem` naming corpus, file and record; what was written by then is for the caller to remove.
    """
    seconds: dict[str, float] = {}

    @contextmanager
    def stage(name: str):
        start = time.perf_counter()
        yield
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start

    try:
        with stage("read"):
            rows = raw_rows(corpus, files)
        with stage("normalise"):
            texts, found, span_counts = _normalise(corpus, rows)
        with stage("keys"):
            texts = _with_keys(corpus, texts, found)
        with stage("deduplicate"):
            results = {task.name: task_items(task, rows, texts, found[task.name]) for task in corpus.tasks}
            _refuse_empty_tasks(results)
        with stage("split"):
            unit_rows, split = _split(corpus, rows, texts, results)
            results = _without_leaving(results, unit_rows, split)
        with stage("package"):
            facts = {
                "rows": len(rows),
                "units": len(unit_rows),
                "split": split.facts,
                "tasks": {
                    task.name: _package(corpus, task, rows, texts, results[task.name], unit_rows, split, folder)
                    | ({"spans": span_counts[task.name]} if task.name in span_counts else {})
                    for task in corpus.tasks
                    if task.name in tasks
                },
            }
            _write_ledger(corpus, rows, {name: results[name] for name in tasks}, folder)
    except Problem as problem:
        raise problem.within(corpus.name) from None
    return Built(facts, seconds)


def _normalise(corpus: Corpus, rows: pd.DataFrame):
    """The published texts (a table beside the raw rows), the labels of every task, the span counts of span tasks."""
    texts = pd.DataFrame({column: normalised(rows[column], corpus.text_steps) for column in corpus.text_columns})
    found, span_counts = {}, {}
    for task in corpus.tasks:
        if task.format == "span":
            steps = steps_of(corpus.text_steps)
            texts["text"], found[task.name], span_counts[task.name] = span_labels(task, rows, steps)
        else:
            found[task.name] = labels(task, rows)
    return texts, found, span_counts


def _with_keys(corpus: Corpus, texts: pd.DataFrame, found: dict[str, pd.Series]) -> pd.DataFrame:
    """The texts with `key`, `id`, `blank` and `identical`; pairs in their final order, joined in `text`."""
    keys = [canonical_keys(texts[column]) for column in corpus.text_columns]
    if corpus.is_pair:
        keys = _with_swapped_pairs(corpus, texts, keys, found)
        texts["text"] = texts["text_a"] + PAIR_JOINT + texts["text_b"]
    texts["key"] = keys[0] if len(keys) == 1 else keys[0] + UNIT_SEPARATOR + keys[1]
    texts["blank"] = np.any([key == "" for key in keys], axis=0)
    texts["identical"] = keys[0] == keys[1] if corpus.is_pair else False
    texts["id"] = pd.Series(item_ids(corpus.name, texts["key"]), index=texts.index, dtype="str")
    if texts["id"].nunique() != texts["key"].nunique():
        raise Problem("two different texts have the same id.", todo="Report it: the id needs more digits.")
    return texts


def _with_swapped_pairs(
    corpus: Corpus, texts: pd.DataFrame, keys: list[pd.Series], found: dict[str, pd.Series]
) -> list[pd.Series]:
    """Give pairs that came with the preferred text first an order that does not give the label away.

    Which of two texts is first depends on the two alone: a keyed hash of both keys, in alphabetical order, says
    whether that order stays. `texts` and the labels in `found` are changed; the keys are returned.
    """
    swapping = [task for task in corpus.tasks if task.preferred_first]
    if not swapping:
        return keys
    a, b = keys
    names = [UNIT_SEPARATOR.join(sorted(pair)) for pair in zip(a, b, strict=True)]
    reverse = (ranks("pair order", names) % 2).astype(bool)
    stays = pd.Series((a <= b).to_numpy() ^ reverse, index=texts.index)
    for column, other in (("text_a", texts["text_b"]), ("text_b", texts["text_a"])):
        texts[column] = texts[column].where(stays, other)
    for task in swapping:
        found[task.name] = found[task.name].where(stays, 1 - found[task.name])
    return [a.where(stays, b), b.where(stays, a)]


def _refuse_empty_tasks(results: Mapping[str, TaskItems]) -> None:
    for name, (items, ledger) in results.items():
        if items.empty:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in ledger["reason"].value_counts().items())
            raise Problem(
                f"no raw row became an item ({reasons or 'there is no row'}).",
                where=[name],
                todo="Check the raw files, the label column and the rules in corpus.yaml.",
            )


def _split(
    corpus: Corpus, rows: pd.DataFrame, texts: pd.DataFrame, results: Mapping[str, TaskItems]
) -> tuple[pd.Series, Split]:
    """The units of the corpus (id to first row, in source order) and their split."""
    kept = pd.concat([result.items["row"] for result in results.values()]).sort_values(kind="stable")
    kept = pd.DataFrame({"row": kept.to_numpy(), "id": texts["id"].to_numpy()[kept]}).drop_duplicates()
    units = kept.drop_duplicates("id").reset_index(drop=True)
    strata = pd.DataFrame(index=units.index)
    for task in corpus.tasks:
        items = results[task.name].items
        label = items["label"] if task.format in ("classification", "pair") else 0
        strata[task.name] = (
            pd.Series(np.asarray(label) + np.zeros(len(items), dtype=np.int64), index=items["id"])
            .reindex(units["id"], fill_value=-1)
            .to_numpy()
        )
    declared = None
    if corpus.group:
        # A text can be an item through one row in one task and through another row in another. An empty cell is
        # no group.
        groups = rows[corpus.group].iloc[kept["row"]].to_numpy(dtype=object)
        unit = pd.Index(units["id"]).get_indexer(kept["id"])
        declared = pd.DataFrame({"unit": unit, "group": pd.factorize(groups)[0]})[groups != ""]
    keys = texts["key"].iloc[units["row"]].reset_index(drop=True)
    whole = np.ones(len(units), dtype=bool)
    if corpus.parts:
        whole = (rows[corpus.parts].iloc[units["row"]] != "part").to_numpy()
        if declared is not None:
            declared = declared[whole[declared["unit"]]]
            declared = declared.assign(unit=(np.cumsum(whole) - 1)[declared["unit"]])
    split = split_units(units["id"][whole], strata[whole], declared, loose_keys(keys[whole]))
    if corpus.parts:
        split = with_parts(split, whole, keys)
    return pd.Series(units["row"].to_numpy(), index=pd.Index(units["id"])), split


def _without_leaving(results: Mapping[str, TaskItems], unit_rows: pd.Series, split: Split) -> dict[str, TaskItems]:
    """The items without those that have to leave train, which go to the ledger."""
    leaving = np.flatnonzero(split.leaves != None)  # noqa: E711 - element by element
    if not len(leaving):
        return dict(results)
    ids = unit_rows.index.to_numpy(dtype=object)
    reason = dict(zip(ids[leaving], split.leaves[leaving], strict=True))
    because = dict(zip(ids[leaving], ids[split.because_of[leaving]], strict=True))
    thinned = {}
    for name, (items, ledger) in results.items():
        leaves = items["id"].isin(reason)
        gone = items[leaves]
        held_out = gone["id"].map(because)
        # What stays instead is in another split, and in another task maybe: then only the detail names it.
        gone = gone.assign(
            reason=gone["id"].map(reason),
            kept_id=held_out.where(held_out.isin(items["id"][~leaves]), None),
            detail="of " + held_out.astype(str),
        )
        # Repeats of what leaves have lost the item that stayed for them.
        ledger = ledger.assign(kept_id=ledger["kept_id"].where(~ledger["kept_id"].isin(gone["id"]), None))
        ledger = pd.concat([ledger, gone[ledger.columns]]).sort_values("row", kind="stable", ignore_index=True)
        thinned[name] = TaskItems(items[~leaves].reset_index(drop=True), ledger)
    return thinned


def _package(
    corpus: Corpus,
    task: Task,
    rows: pd.DataFrame,
    texts: pd.DataFrame,
    result: TaskItems,
    unit_rows: pd.Series,
    split: Split,
    folder: Path,
) -> dict:
    """Write the four files of a task, rows in order of their id, and return the task's facts."""
    items = result.items.sort_values("id", kind="stable", ignore_index=True)
    table = _table(task, texts.iloc[items["row"]], items)
    dealt = split.split[unit_rows.index.get_indexer(items["id"])]
    parts = {name: np.flatnonzero(dealt == code) for code, name in enumerate(SPLITS)}
    classes = task.format in ("classification", "pair")
    test = parts["test"]
    chosen = sockette(items["id"].iloc[test], items["label"].iloc[test] if classes else None)
    parts["sockette"] = test[chosen]

    parts_in_train = int((rows[corpus.parts].iloc[items["row"]] == "part").sum()) if corpus.parts else 0
    dealt_items = len(items) - parts_in_train + int((result.ledger["reason"] == "near_duplicate").sum())
    wanted = dict(zip(SPLITS, sizes(dealt_items), strict=True))
    wanted["train"] += parts_in_train
    facts = {
        "items": len(items),
        "dropped": {str(k): int(v) for k, v in result.ledger["reason"].value_counts().sort_index().items()},
        "splits": {},
        "off_by": {},
    }
    for name in SPLIT_FILES:
        part = table.take(parts[name])
        path = data_path(task, name)
        write_parquet(part, folder / path)
        facts["splits"][name] = {"items": len(part), "bytes": part.nbytes, "content": content_digest(part)}
        if classes:
            counts = np.bincount(part["label"].to_numpy(), minlength=len(task.labels))
            facts["splits"][name]["labels"] = dict(zip(task.label_names, map(int, counts), strict=True))
        if name in wanted and len(part) != wanted[name]:
            facts["off_by"][name] = len(part) - wanted[name]
    return facts


def _table(task: Task, texts: pd.DataFrame, items: pd.DataFrame) -> pa.Table:
    columns = {"id": items["id"], "label": items["label"], "text": texts["text"]}
    if task.format == "pair":
        columns |= {"text_a": texts["text_a"], "text_b": texts["text_b"]}
    if task.format == "span":
        found: list[SpanLabel] = list(items["label"])
        columns["label"] = [{task.labels[0].name: list(label.surfaces)} for label in found]
        columns["spans"] = [[{"start": s, "end": e} for s, e in label.spans] for label in found]
    fields = schema(task)
    return pa.table([pa.array(columns[field.name], type=field.type) for field in fields], schema=fields)


def _write_ledger(corpus: Corpus, rows: pd.DataFrame, results: Mapping[str, TaskItems], folder: Path) -> None:
    parts = []
    for task in corpus.tasks:
        if task.name not in results:
            continue
        ledger = results[task.name].ledger
        columns = {
            "corpus": [corpus.name] * len(ledger),
            "task": [task.name] * len(ledger),
            "source_row": rows["source_row"].iloc[ledger["row"]],
            **{name: ledger[name] for name in ("id", "reason", "kept_id", "detail")},
        }
        parts.append(
            pa.table(
                [pa.array(columns[f.name], type=f.type, from_pandas=True) for f in LEDGER_SCHEMA],
                schema=LEDGER_SCHEMA,
            )
        )
    write_parquet(pa.concat_tables(parts), folder / f"parts/{corpus.name}.ledger.parquet")
