"""What every release keeps, counted again with plain tables: on the samples and on the real files.

Nothing of the pipeline's rules is used here. What a key, a loose key, an id and a size are is written down
anew, from the words of the design; only declarations, raw rows and the lock come from the project.
"""

import html
import json
import unicodedata
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from builders.declaration import Corpus, Task, load_corpora
from builders.pipeline.fetch import Mirror, Samples, locate
from builders.pipeline.read import raw_rows

SPLITS = ("train", "validation", "test")
HELD_OUT = ("validation", "test")


# The rules in the words of the design -------------------------------------------------------------------


@cache
def is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(char, "")


@cache
def key_of(text: str) -> str:
    """HTML entities unescaped (twice at most), NFKC, format characters and variation selectors removed, white
    space collapsed, ends stripped."""
    text = html.unescape(html.unescape(text))
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKC", text) if c.isascii() or not is_invisible(c))
    return " ".join(text.split())


def loose_key_of(key: str) -> str | None:
    """Canonical key, casefolded, letters and digits only; none for texts of fewer than five words."""
    words = sum(any(map(str.isalnum, word)) for word in key.split(" "))
    return "".join(filter(str.isalnum, key.casefold())) if words >= 5 else None


def id_of(corpus: str, key: str) -> str:
    return blake2b(f"{corpus}\x1f{key}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def rule(n: int) -> dict[str, int]:
    train = int(8 * n / 10)
    test = (n - train) // 2
    return {"train": train, "validation": n - train - test, "test": test}


def arrow_types(task: Task) -> dict[str, pa.DataType]:
    text, integer = pa.string(), pa.int64()
    spans = pa.list_(pa.struct({"start": integer, "end": integer}))
    surfaces = pa.struct({task.labels[0].name: pa.list_(text)})
    return {
        "classification": {"text": text, "label": integer, "id": text},
        "regression": {"text": text, "label": pa.float64(), "id": text},
        "pair": {"text": text, "label": integer, "id": text, "text_a": text, "text_b": text},
        "span": {"text": text, "label": surfaces, "id": text, "spans": spans},
    }[task.format]


# A release and where it came from -----------------------------------------------------------------------


class Seen(NamedTuple):
    folder: object
    lock: dict
    corpora: dict[str, Corpus]
    items: dict[str, pd.DataFrame]
    """Per task all items with their `split` and `key`."""
    sockette: dict[str, pd.DataFrame]
    ledger: pd.DataFrame
    rows: dict[str, pd.DataFrame]
    """The raw rows of every corpus in the release."""

    def tasks(self) -> list[tuple[Corpus, Task]]:
        return [(c, task) for c in self.corpora.values() for task in c.tasks if task.name in self.items]

    def whole(self, corpus: Corpus) -> pd.DataFrame:
        """The items of all tasks of a corpus."""
        ours = {task.name: self.items[task.name] for task in corpus.tasks if task.name in self.items}
        return pd.concat(ours, names=["task"]).reset_index("task")


def read_part(folder, task: Task, split: str) -> pd.DataFrame:
    return pd.read_parquet(folder / "data" / task.name.replace("#", "--") / f"{split}.parquet")


def key_column(task: Task, items: pd.DataFrame) -> list[str]:
    if task.format == "pair":
        return [f"{key_of(a)}\x1f{key_of(b)}" for a, b in zip(items["text_a"], items["text_b"], strict=True)]
    return [key_of(text) for text in items["text"]]


def look(folder, source) -> Seen:
    lock = json.loads((folder / "release.lock.json").read_text(encoding="utf-8"))
    corpora = {name: corpus for name, corpus in load_corpora().items() if name in lock["corpora"]}
    items, sockette = {}, {}
    for corpus in corpora.values():
        for task in corpus.tasks:
            parts = [read_part(folder, task, split).assign(split=split) for split in SPLITS]
            table = pd.concat(parts, ignore_index=True)
            items[task.name] = table.assign(key=key_column(task, table))
            sockette[task.name] = read_part(folder, task, "sockette")
    rows = {name: raw_rows(corpus, locate(corpus, source)[0].files) for name, corpus in corpora.items()}
    return Seen(folder, lock, corpora, items, sockette, pd.read_parquet(folder / "ledger.parquet"), rows)


@pytest.fixture(scope="module")
def seen_sample(sample_release) -> Seen:
    return look(sample_release, Samples())


@pytest.fixture(scope="module")
def seen_real(real_release, shared) -> Seen:
    return look(real_release, Mirror(shared / "raw"))


@pytest.fixture(scope="module", params=["sample", "real"])
def seen(request) -> Seen:
    return request.getfixturevalue(f"seen_{request.param}")


# Items and ledger ---------------------------------------------------------------------------------------


def test_every_declared_task_is_in_the_sample_release(seen_sample):
    assert set(seen_sample.items) == {task.name for corpus in load_corpora().values() for task in corpus.tasks}


def test_raw_rows_are_items_and_ledger_rows(seen):
    for corpus, task in seen.tasks():
        ours = seen.ledger[seen.ledger["task"] == task.name]
        facts = seen.lock["corpora"][corpus.name]["tasks"][task.name]
        assert len(seen.rows[corpus.name]) == len(seen.items[task.name]) + len(ours), task.name
        assert facts["dropped"] == ours["reason"].value_counts().to_dict(), task.name
        assert ours["source_row"].is_unique, task.name
        assert set(ours["source_row"]) <= set(seen.rows[corpus.name]["source_row"]), task.name
        assert set(ours["corpus"]) <= {corpus.name}
    assert set(seen.ledger["task"]) <= set(seen.items)


def test_a_row_that_gave_way_names_an_item_that_stayed(seen):
    """A repeat names the item of its own text, unless that one left train for a held-out near-duplicate."""
    for corpus, task in seen.tasks():
        ours = seen.ledger[seen.ledger["task"] == task.name]
        left = ours["reason"].isin(["near_duplicate", "held_out_part"])
        repeat = ours["reason"].isin(["duplicate", "contradiction"]) & ~ours["id"].isin(ours["id"][left])
        same = ours[repeat & ours["kept_id"].notna()]
        assert (same["id"] == same["kept_id"]).all(), task.name
        assert set(same["kept_id"]) <= set(seen.items[task.name]["id"]), task.name
        assert ours["kept_id"][repeat & (ours["reason"] == "duplicate")].notna().all(), task.name
        items = seen.whole(corpus)
        assert set(ours["kept_id"][left]) <= set(items["id"][items["split"] != "train"]), task.name
        assert set(ours["kept_id"].dropna()) <= set(items["id"]), task.name


def test_ids_are_the_hash_of_corpus_and_key(seen):
    for corpus, task in seen.tasks():
        items = seen.items[task.name]
        expected = [id_of(corpus.name, key) for key in items["key"]]
        assert items["id"].to_list() == expected, task.name


def test_rows_are_sorted_by_id_in_every_file(seen):
    for _, task in seen.tasks():
        for split in SPLITS:
            ids = seen.items[task.name].query("split == @split")["id"]
            assert ids.to_list() == sorted(ids), (task.name, split)
        assert seen.sockette[task.name]["id"].is_monotonic_increasing


def test_the_lock_counts_what_is_in_the_files(seen):
    for corpus, task in seen.tasks():
        facts = seen.lock["corpora"][corpus.name]["tasks"][task.name]
        counts = seen.items[task.name]["split"].value_counts()
        expected = {split: int(counts.get(split, 0)) for split in SPLITS} | {"sockette": len(seen.sockette[task.name])}
        assert {split: part["items"] for split, part in facts["splits"].items()} == expected, task.name
        # The digest is of what a file holds: the table that was written and the file that is read have the same.
        for split, part in facts["splits"].items():
            file = seen.lock["files"][f"data/{task.name.replace('#', '--')}/{split}.parquet"]
            assert part["content"] == file["content"], (task.name, split)


# Splits -------------------------------------------------------------------------------------------------


def test_D1_no_key_is_in_two_splits_of_a_task_or_twice_in_one(seen):
    for _, task in seen.tasks():
        assert seen.items[task.name]["key"].is_unique, task.name


def test_D7_no_key_is_in_train_of_one_task_and_held_out_in_another(seen):
    for corpus in seen.corpora.values():
        items = seen.whole(corpus)
        train, held_out = (items["key"][items["split"].isin(part)] for part in (["train"], HELD_OUT))
        assert not set(train) & set(held_out), corpus.name


def test_D2_no_loose_key_of_five_words_is_in_train_and_held_out(seen):
    linked = 0
    for corpus in seen.corpora.values():
        items = seen.whole(corpus).drop_duplicates("key")
        loose = items["key"].map(loose_key_of)
        train, held_out = (set(loose[items["split"].isin(part)].dropna()) for part in (["train"], HELD_OUT))
        assert not train & held_out, corpus.name
        linked += loose.dropna().duplicated().sum()
    assert linked > 0


def kept_rows(seen: Seen, corpus: Corpus, task: Task) -> pd.DataFrame:
    """The raw rows that became items of a task, with the split they are in (found by their own text)."""
    gone = seen.ledger["source_row"][seen.ledger["task"] == task.name]
    rows = seen.rows[corpus.name]
    rows = rows[~rows["source_row"].isin(gone)]
    split = seen.items[task.name].set_index("key")["split"]
    keys = pd.Series(key_column(task, rows), index=rows.index)
    if task.preferred_first:  # the two texts of a pair may have changed places
        turned = keys.str.split("\x1f").str[::-1].str.join("\x1f")
        keys = keys.where(keys.isin(split.index), turned)
    return rows.assign(split=keys.map(split))


def test_D3_no_declared_group_is_in_two_splits(seen):
    largest = 0
    for corpus in (corpus for corpus in seen.corpora.values() if corpus.group):
        kept = pd.concat(kept_rows(seen, corpus, task) for task in corpus.tasks)
        assert kept["split"].notna().all(), corpus.name
        assert kept.groupby(corpus.group)["split"].nunique().eq(1).all(), corpus.name
        largest = max(largest, kept[corpus.group].value_counts().max())
    assert largest > 1


def sizes_off(seen: Seen, corpus: Corpus, task: Task) -> dict[str, int]:
    """What a task has more or less than the rule. Near-duplicates that left train count for the rule; parts of
    other texts do not, they are train's."""
    gone = seen.ledger["reason"][seen.ledger["task"] == task.name]
    parts = kept_rows(seen, corpus, task)[corpus.parts].eq("part").sum() if corpus.parts else 0
    wanted = rule(len(seen.items[task.name]) - parts + (gone == "near_duplicate").sum())
    counts = seen.items[task.name]["split"].value_counts()
    off = {split: int(counts.get(split, 0)) - wanted[split] for split in SPLITS}
    off["train"] -= int(parts)
    return {split: count for split, count in off.items() if count}


def test_sizes_are_80_10_10_to_the_item_where_the_lock_does_not_say_otherwise(seen):
    for corpus, task in seen.tasks():
        stated = seen.lock["corpora"][corpus.name]["tasks"][task.name]["off_by"]
        assert stated == sizes_off(seen, corpus, task), task.name
        assert not stated or corpus.group, task.name


def test_D6_sockette_is_a_sample_of_the_test_split_with_every_class_of_it(seen):
    for _, task in seen.tasks():
        test, sample = seen.items[task.name].query("split == 'test'"), seen.sockette[task.name]
        assert len(sample) == min(len(test), 1000), task.name
        same = test[test["id"].isin(sample["id"])][sample.columns].reset_index(drop=True)
        pd.testing.assert_frame_equal(same, sample)
        if task.format in ("classification", "pair"):
            assert set(sample["label"]) == set(test["label"]), task.name
            shares = sample["label"].value_counts(normalize=True) - test["label"].value_counts(normalize=True)
            assert (shares.abs() < 0.005).all(), task.name


def test_D8_overlaps_are_the_keys_that_two_corpora_share(seen):
    """Every pair of items of two corpora with one key, from both sides; nothing else."""
    columns = ["task", "id", "split"]
    parts = [seen.whole(corpus)[[*columns, "key"]].assign(corpus=name) for name, corpus in seen.corpora.items()]
    items = pd.concat(parts, ignore_index=True)
    in_many = items.groupby("key")["corpus"].nunique().loc[lambda count: count > 1].index
    items = items[items["key"].isin(in_many)]
    pairs = items.merge(items, on="key", suffixes=("", "_other")).query("corpus != corpus_other")
    expected = pairs[[*columns, *(f"{column}_other" for column in columns)]]
    overlaps = pd.read_parquet(seen.folder / "overlaps.parquet")
    assert list(overlaps.columns) == [*columns, *(f"other_{column}" for column in columns)]
    seen_pairs = list(overlaps.itertuples(index=False, name=None))
    assert sorted(seen_pairs) == sorted(expected.itertuples(index=False, name=None))


# Files --------------------------------------------------------------------------------------------------


def test_H8_columns_have_exactly_the_types_of_the_format_in_every_file(seen):
    """Text and label first; whatever the rows are, and if there are none."""
    for _, task in seen.tasks():
        for split in (*SPLITS, "sockette"):
            path = seen.folder / "data" / task.name.replace("#", "--") / f"{split}.parquet"
            found = pq.read_table(path)
            types = dict(zip(found.schema.names, found.schema.types, strict=True))
            wanted = arrow_types(task)
            assert list(types) == list(wanted), path
            for column, kind in wanted.items():
                assert plain(types[column]) == plain(kind), (path, column)
                assert found[column].null_count == 0, (path, column)


def plain(kind: pa.DataType) -> str:
    """A type without the name that a Parquet reader gives the elements of a list."""
    return str(kind).replace("element:", "item:")


def test_labels_are_ids_of_declared_classes_values_on_the_scale_or_slices_of_the_text(seen):
    for _, task in seen.tasks():
        items = seen.items[task.name]
        if task.format == "regression":
            assert items["label"].between(*task.scale).all(), task.name
        elif task.format == "span":
            for text, label, spans in zip(items["text"], items["label"], items["spans"], strict=True):
                cut = [text[span["start"] : span["end"]] for span in spans]
                assert cut == list(label[task.labels[0].name])
                assert all(surface and surface == surface.strip() for surface in cut)
        else:
            assert items["label"].between(0, len(task.labels) - 1).all(), task.name


def test_texts_are_on_one_line_and_stripped(seen):
    for _, task in seen.tasks():
        columns = ("text_a", "text_b") if task.format == "pair" else ("text",)
        for column in columns:
            texts = seen.items[task.name][column]
            assert not texts.str.contains("[\r\n]").any(), task.name
            assert (texts == texts.str.strip()).all(), task.name
            assert (texts != "").all(), task.name
        if task.format == "pair":
            items = seen.items[task.name]
            assert (items["text"] == items["text_a"] + " [SEP] " + items["text_b"]).all()


def card_of(seen: Seen) -> dict:
    text = (seen.folder / "README.md").read_text(encoding="utf-8")
    _, front, _ = text.split("---\n", 2)
    return yaml.safe_load(front)


def test_H5_the_card_counts_what_is_in_the_files(seen):
    infos = {info["config_name"]: info["splits"] for info in card_of(seen)["dataset_info"]}
    assert set(infos) == set(seen.items)
    for task, splits in infos.items():
        counts = {split["name"]: split["num_examples"] for split in splits}
        files = seen.items[task]["split"].value_counts()
        assert counts == {split: files.get(split, 0) for split in SPLITS} | {"sockette": len(seen.sockette[task])}


def test_every_file_is_named_by_the_card_and_the_other_way_round(seen):
    named = {part["path"] for config in card_of(seen)["configs"] for part in config["data_files"]}
    there = {path.relative_to(seen.folder).as_posix() for path in (seen.folder / "data").rglob("*.parquet")}
    assert named == there


# Against the published release --------------------------------------------------------------------------

# Label names that the published release has wrong; defects.md gives the reason.
CORRECTED = {"empathy#distress_bin": ["not distress", "distress"]}


def test_class_names_and_their_order_are_as_published(seen_sample, shared):
    published = pd.read_csv(shared / "published" / "tasks.csv", keep_default_na=False).set_index("task")
    names = published["label_names"].map(json.loads).to_dict()
    assert names["empathy#distress_bin"] != CORRECTED["empathy#distress_bin"]
    names |= CORRECTED
    features = {info["config_name"]: info["features"] for info in card_of(seen_sample)["dataset_info"]}
    for corpus, task in seen_sample.tasks():
        assert list(task.label_names) == names[task.name], task.name
        row = published.loc[task.name]
        assert (task.dataset, task.category, task.format) == (row["dataset"], row["category"], row["format"])
        if task.format in ("classification", "pair"):
            shown = features[task.name][1]["dtype"]["class_label"]["names"]
            assert [shown[str(index)] for index in range(len(shown))] == names[task.name], task.name
        assert corpus.name in seen_sample.lock["corpora"]


def published_rows(shared) -> dict[str, pd.DataFrame]:
    rows = {}
    for path in sorted((shared / "published" / "rows").glob("*.test.jsonl")):
        lines = path.read_text(encoding="utf-8").split("\n")
        task = path.name.removesuffix(".test.jsonl").replace("--", "#")
        rows[task] = pd.DataFrame([json.loads(line) for line in lines if line])
    return rows


def test_published_test_rows_are_items_with_that_label_or_in_the_ledger(seen_real, shared):
    """Of tasks whose corpus is complete; of the others those rows that are there."""
    compared = {}
    for task, rows in published_rows(shared).items():
        if task not in seen_real.items:
            continue
        corpus, declared = next(pair for pair in seen_real.tasks() if pair[1].name == task)
        ids = pd.Series([id_of(corpus.name, key) for key in key_column(declared, rows)], index=rows.index)
        items = seen_real.items[task].set_index("id")
        gone = seen_real.ledger["id"][seen_real.ledger["task"] == task]
        there = ids.isin(items.index)
        if not seen_real.lock["corpora"][corpus.name]["missing"]:
            assert rows["text"][~there & ~ids.isin(gone)].to_list() == [], task
        ours = items.loc[ids[there]]
        labels = ours["label"].map(dict(enumerate(declared.label_names)))
        differ = rows["label"][there].to_numpy() != labels.to_numpy()
        assert rows["text"][there][differ].to_list() == [], task
        assert ours["text"].to_list() == rows["text"][there].to_list(), task
        compared[task] = int(there.sum())
    assert sum(compared.values()) >= 1000, compared
