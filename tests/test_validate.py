"""The defects of the published release that data shows, planted one by one, are each found by a named rule; and what
`socket-data validate` says and does."""

import json

import pandas as pd
import pytest

from builders.declaration import load_corpora
from builders.pipeline.fetch import Mirror
from builders.pipeline.release import build_release
from tests.planting import Planted
from validation.validate import validate

CORPORA = load_corpora()


@pytest.fixture
def planted(sample_release, tmp_path) -> Planted:
    return Planted(sample_release, tmp_path / "release", CORPORA)


def rules(planted: Planted, *tasks: str) -> dict[str, list]:
    """The errors that validation finds, by rule."""
    found: dict[str, list] = {}
    for finding in validate(planted.seal(), CORPORA, tasks).errors:
        found.setdefault(finding.rule, []).append(finding)
    return found


def test_the_sample_release_passes(sample_release):
    assert validate(sample_release, CORPORA).errors == []


def test_defect_3_a_task_with_the_labels_of_another(planted):
    for split in ("train", "validation", "test", "sockette"):
        sender = planted.rows("two-to-lie#sender_truth", split).set_index("id")["label"]
        rows = planted.rows("two-to-lie#receiver_truth", split)
        rows = rows[rows["id"].isin(sender.index)]
        planted.put("two-to-lie#receiver_truth", split, rows.assign(label=sender[rows["id"]].to_numpy()))
    found = rules(planted, "two-to-lie#sender_truth", "two-to-lie#receiver_truth")["twin-labels"]
    assert "receiver_truth" in found[0].message
    assert "sender_truth" in found[0].message


def test_defect_4_labels_that_are_turned_round(planted):
    for split in ("train", "validation", "test", "sockette"):
        rows = planted.rows("hasbiasedimplication", split)
        planted.put("hasbiasedimplication", split, rows.assign(label=1 - rows["label"]))
    found = rules(planted, "hasbiasedimplication", "offensiveyn")
    assert set(found) == {"label-relation"}
    assert '"biased" should go with offensiveyn "offensive"' in found["label-relation"][0].message


def test_defect_5_rows_repeated_and_lost_by_a_shuffle(planted):
    """Some test rows repeat, some stand in train too, and as many rows of train are lost."""
    train, test = planted.rows("hateoffensive", "train"), planted.rows("hateoffensive", "test")
    planted.put("hateoffensive", "train", pd.concat([train.iloc[4:], test.iloc[:1]]))
    planted.put("hateoffensive", "test", pd.concat([test, test.iloc[1:2]]))
    found = rules(planted, "hateoffensive")
    assert found["repeated-text"][0].number == 1
    assert (found["split-overlap"][0].what, found["split-overlap"][0].number) == ("train and test", 1)
    assert found["ledger-balance"][0].number == 2  # four lost, two there twice


def test_defect_6_phrases_of_test_sentences_in_train(planted):
    test = planted.rows("sentitreebank", "test")
    phrase = " ".join(test["text"].iloc[0].split(" ")[1:3])
    train = planted.rows("sentitreebank", "train")
    more = pd.DataFrame({"text": [phrase], "label": [0], "id": [None]})
    planted.put("sentitreebank", "train", pd.concat([train, more]))
    found = rules(planted, "sentitreebank")
    assert found["part-overlap"][0].number == 1


def test_defect_7_a_sockette_of_another_text(planted):
    rows = planted.rows("talkdown-pairs", "sockette")
    planted.put("talkdown-pairs", "sockette", rows.assign(text_b="older: " + rows["text_b"]))
    found = rules(planted, "talkdown-pairs")["sockette"]
    assert (found[0].what, found[0].number) == ("rows", len(rows))


def test_defect_8_duplicates_with_conflicting_labels(planted):
    rows = planted.rows("dailydialog", "train")
    again = rows.iloc[:1].assign(label=lambda row: 1 - row["label"].clip(upper=1))
    planted.put("dailydialog", "train", pd.concat([rows, again]))
    found = rules(planted, "dailydialog")
    assert found["contradiction"][0].number == 1
    assert found["repeated-text"][0].number == 1


def test_defect_9_other_proportions(planted):
    """Half of train moved to test, as tweet_emoji was (45/5/50)."""
    train, test = planted.rows("tweet_emoji", "train"), planted.rows("tweet_emoji", "test")
    half = len(train) // 2
    planted.put("tweet_emoji", "train", train.iloc[half:])
    planted.put("tweet_emoji", "test", pd.concat([test, train.iloc[:half]]))
    planted.put("tweet_emoji", "sockette", pd.concat([test, train.iloc[:half]]))
    found = rules(planted, "tweet_emoji")
    assert f"test {half:+,}" in found["proportions"][0].message


def test_defect_10_a_text_in_train_of_one_task_and_in_test_of_another(planted):
    name, other = "implicit-hate#explicit_hate", "implicit-hate#implicit_hate"
    test = planted.rows(name, "test")
    planted.put(name, "train", pd.concat([planted.rows(name, "train"), test.iloc[:1]]))
    planted.put(name, "test", test.iloc[1:])
    planted.put(name, "sockette", test.iloc[1:])
    found = rules(planted, name, other)
    assert (found["task-overlap"][0].number, list(found["task-overlap"][0].examples)) == (1, [test["id"].iloc[0]])


def test_defect_11_what_is_left_of_an_emoji_gives_it_away(shared, tmp_path):
    """tweet_emoji from its real files without our repair: nobody tells the scan what to look for."""
    corpus = CORPORA["tweet_emoji"].model_copy(update={"text_steps": ()})
    corpora = {"tweet_emoji": corpus}
    build_release({"tweet_emoji": ["tweet_emoji"]}, corpora, Mirror(shared / "raw"), tmp_path / "release", workers=1)
    found = [f for f in validate(tmp_path / "release", corpora).errors if f.rule == "artefact"]
    assert "U+FE0F" in {finding.what.split(" ")[0] for finding in found}


def test_defect_12_a_sockette_that_is_the_head_of_test(workshop):
    """1,200 test items sorted by label: the first 1,000 hold one class only where the rule takes both."""
    from tests.conftest import classification

    raw = "text,label\n" + "".join(f"a quite unusual sentence number {n},{n % 3 // 2}\n" for n in range(12_000))
    workshop.corpus("invented", {"data.csv": raw}, [classification()], [{"name": "data.csv", "format": "csv"}])
    folder, _ = workshop.build()
    planted = Planted(folder, workshop.folder / "planted", workshop.corpora)
    test = planted.rows("mood", "test")
    planted.put("mood", "sockette", test.sort_values("label", kind="stable").iloc[:1000])
    found = {f.rule: f for f in validate(planted.seal(), workshop.corpora).errors}
    assert found["sockette"].what == "sample"


def test_defect_13_a_label_with_a_piece_of_a_column_name(planted):
    """The card is what users read: there the old name is put in again."""
    path = planted.seal() / "README.md"
    lock = planted.lock()
    card = path.read_text(encoding="utf-8").replace("'1': distress\n", "'1': distress bin\n")
    assert "distress bin" in card
    path.write_text(card, encoding="utf-8")
    lock["files"]["README.md"] |= _facts_of(path)
    planted.put_lock(lock)
    found = {f.rule: f for f in validate(planted.folder, CORPORA, ["empathy#distress_bin"]).errors}
    assert '"distress bin" holds a piece of a column name' in found["label-name-form"].message
    assert "declares other columns or label names" in found["card"].message


def _facts_of(path) -> dict:
    from hashlib import sha256

    return {"sha256": sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}


def test_the_lock_is_read_back_whole(sample_release):
    from builders.pipeline.lock import LOCK, read_lock

    assert read_lock(sample_release) == json.loads((sample_release / LOCK).read_text(encoding="utf-8"))
