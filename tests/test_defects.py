"""Each defect of the published release (validation/published.yaml) that is corrected stays corrected.

The raw side is read here with the standard library, so a test does not repeat the mistake of a builder.
"""

import csv
import json
import re

import pandas as pd
import pytest

from builders.declaration import CORPORA, load_corpora

SAMPLES = {path.parent.parent.name: path.parent for path in CORPORA.glob("*/sample/*")}


@pytest.fixture(scope="module")
def items(sample_release):
    """The items of a task of the sample release, all splits (SocKETTe apart), with class names."""

    def read(name: str) -> pd.DataFrame:
        task = next(t for corpus in load_corpora().values() for t in corpus.tasks if t.name == name)
        parts = [
            pd.read_parquet(sample_release / "data" / task.slug / f"{split}.parquet").assign(split=split)
            for split in ("train", "validation", "test")
        ]
        table = pd.concat(parts, ignore_index=True)
        if task.format in ("classification", "pair"):
            table["label"] = table["label"].map(dict(enumerate(task.label_names)))
        return table

    return read


def records(corpus: str, file: str) -> list[dict]:
    with (SAMPLES[corpus] / file).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def single_line(text: str) -> str:
    return re.sub("[\n\r]", " ", text).strip()


def test_defect_1_a_release_holds_no_code(sample_release):
    files = [path for path in sample_release.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".md", ".json", ".parquet"}


def test_defect_2_no_path_of_a_release_has_a_hash(sample_release):
    assert not [path for path in sample_release.rglob("*") if "#" in path.name]


def test_defect_3_the_receiver_of_a_message_has_labels_of_its_own(items):
    """For texts said once, the label is what the receiver said, also where the sender said otherwise."""
    said = {}
    for line in (SAMPLES["two-to-lie"] / "train.jsonl").read_text(encoding="utf-8").strip("\n").split("\n"):
        dialog = json.loads(line)
        for text, *labels in zip(dialog["messages"], dialog["sender_labels"], dialog["receiver_labels"], strict=True):
            said.setdefault(single_line(text), []).append(labels)
    once = {text: labels[0] for text, labels in said.items() if len(labels) == 1}
    receiver = items("two-to-lie#receiver_truth").set_index("text")["label"]
    both = [text for text in once if text in receiver.index]
    assert [receiver[text] for text in both] == ["truth" if once[text][1] else "lie" for text in both]
    assert any(once[text][0] != once[text][1] for text in both)


def sbic_posts() -> dict[str, list[dict]]:
    posts = {}
    for path in sorted(SAMPLES["sbic"].iterdir()):
        for record in records("sbic", path.name):
            posts.setdefault(single_line(record["post"]), []).append(record)
    return posts


def test_defect_4_biased_means_that_somebody_named_a_stereotype(items):
    labels = items("hasbiasedimplication").set_index("text")["label"]
    named = {text: any(record["targetStereotype"] for record in posts) for text, posts in sbic_posts().items()}
    checked = [text for text in named if text in labels.index]
    assert {labels[text] for text in checked} == {"biased", "not biased"}
    assert [labels[text] for text in checked] == ["biased" if named[text] else "not biased" for text in checked]


def test_defect_5_every_tweet_is_there_once(items):
    tweets = {single_line(record["tweet"]) for record in records("hateoffensive", "labeled_data.csv")}
    table = items("hateoffensive")
    assert table["text"].is_unique
    assert {*table["text"]} <= tweets


def test_defect_6_train_holds_no_phrase_of_a_held_out_sentence(items):
    table = items("sentitreebank")
    held_out = [f" {text} ".casefold() for text in table["text"][table["split"] != "train"]]
    train = table["text"][table["split"] == "train"]
    assert not [text for text in train if any(f" {text} ".casefold() in sentence for sentence in held_out)]
    assert len(train) > 2 * len(held_out)  # it does hold phrases


def test_defect_6_only_whole_sentences_are_held_out(items):
    lines = (SAMPLES["sentitreebank"] / "SOStr.txt").read_text(encoding="utf-8").strip("\n").split("\n")
    sentences = {re.sub(r"\s+('s|n't)\b", r"\1", line.replace("|", " ")) for line in lines}
    table = items("sentitreebank")
    assert {*table["text"][table["split"] != "train"]} <= {single_line(text) for text in sentences}


@pytest.mark.parametrize("defect", [7, 20])
def test_defects_7_and_20_no_reply_is_in_any_split(items, sample_release, defect):
    replies = []
    for path in SAMPLES["talkdown-pairs"].glob("*.jsonl"):
        replies += [json.loads(line)["reply"] for line in path.read_text(encoding="utf-8").strip("\n").split("\n")]
    last_words = {single_line(reply.split("\n")[-1]) for reply in replies} - {""}
    sockette = pd.read_parquet(sample_release / "data/talkdown-pairs/sockette.parquet")["text"]
    texts = pd.concat([items("talkdown-pairs")["text"], sockette])
    assert last_words
    assert not [text for text in texts if any(words in text for words in last_words)]


@pytest.mark.parametrize(
    "task", ["dailydialog", "emobank#valence", "crowdflower", "tweet_offensive", "stanfordpoliteness", "tweet_emoji"]
)
def test_defect_8_no_text_is_left_twice(items, task):
    texts = items(task)["text"].str.split().str.join(" ")
    assert texts.is_unique


def test_defect_9_splits_are_80_10_10(items):
    """100 tweets would be 80/10/10; the sample's n items are floor(.8 n) and half of the rest."""
    sizes = items("tweet_emoji")["split"].value_counts()
    n = sizes.sum()
    assert sizes["train"] == n * 8 // 10
    assert abs(sizes["validation"] - sizes["test"]) <= 1


@pytest.mark.parametrize("corpus", [name for name, c in load_corpora().items() if len(c.tasks) > 1])
def test_defect_10_a_text_is_in_the_same_split_in_every_task(items, corpus):
    parts = pd.concat([items(task.name) for task in load_corpora()[corpus].tasks])
    assert (parts.groupby("id")["split"].nunique() == 1).all()


def test_defect_11_no_variation_selector_of_a_removed_emoji_is_left(items):
    raw = "".join(path.read_text(encoding="utf-8") for path in SAMPLES["tweet_emoji"].glob("*_text.txt"))
    assert re.search(r"\s\ufe0f", raw)  # the sample shows the case
    texts = items("tweet_emoji")["text"]
    assert not texts.str.contains(r"(?:^|\s)\ufe0f").any()


def test_defect_12_sockette_is_not_the_first_1000_lines(workshop):
    """2,000 test-sized classes in file order: the first lines are of one class, SocKETTe is of both."""
    from tests.conftest import classification

    raw = "".join(f"a text of number {n}\t{n // 10_000}\n" for n in range(20_000))
    file = {"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}
    workshop.corpus("sorted", {"a.tsv": raw}, [classification()], [file])
    release, _ = workshop.build()
    sockette = pd.read_parquet(release / "data/mood/sockette.parquet")
    assert sockette["label"].value_counts().to_dict() == {0: 500, 1: 500}


def labels_of(name: str) -> tuple[str, ...]:
    return next(t for corpus in load_corpora().values() for t in corpus.tasks if t.name == name).label_names


def test_defect_13_the_positive_class_is_called_distress():
    assert labels_of("empathy#distress_bin") == ("not distress", "distress")


def test_defect_14_intimacy_has_six_classes():
    assert len(labels_of("questionintimacy")) == 6
    assert labels_of("questionintimacy")[0] == "Very-intimate"


@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("sarc", "sarcastic"),
        ("sentitreebank", "positive"),
        ("stanfordpoliteness", "polite"),
        ("humor-pairs", "the first sentence is funnier"),
        ("two-to-lie#sender_truth", "lie"),
    ],
)
def test_defect_15_the_published_order_of_labels_is_kept(task, first):
    assert labels_of(task)[0] == first


def edited_headline(record: dict) -> str:
    return re.sub("<.*?/>", lambda _: record["edit"], record["original"])


def test_defect_18_a_pair_without_preference_is_no_item(items):
    graded = {file: records("humor-pairs", f"task-1/{file}.csv") for file in ("train", "dev", "test")}
    none = [record for rows in graded.values() for record in rows if float(record["meanGrade"]) == 0]
    assert none
    table = items("humor-pairs")
    edited = {" ".join(edited_headline(record).split()) for record in none}
    texts = {" ".join(text.split()) for column in ("text_a", "text_b") for text in table[column]}
    funny = {
        " ".join(edited_headline(record).split())
        for rows in graded.values()
        for record in rows
        if float(record["meanGrade"]) > 0
    }
    assert not (edited - funny) & texts


def test_defect_19_test_and_validation_come_from_the_whole_file(workshop):
    """A file ordered by class: both halves of it give test and validation items, in proportion."""
    from tests.conftest import classification

    raw = "".join(f"a text of number {n}\t{int(n >= 900)}\n" for n in range(1_000))
    file = {"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}
    workshop.corpus("ordered", {"a.tsv": raw}, [classification()], [file])
    release, _ = workshop.build()
    for split in ("validation", "test"):
        table = pd.read_parquet(release / f"data/mood/{split}.parquet")
        assert table["label"].value_counts().to_dict() == {0: 90, 1: 10}
        numbers = table["text"].str.split().str[-1].astype(int)
        assert (numbers < 450).any()
        assert numbers.between(450, 899).any()


@pytest.mark.parametrize(
    ("task", "column", "positive"),
    [
        ("offensiveyn", "offensiveYN", "offensive"),
        ("intentyn", "intentYN", "intentional"),
        ("sexyn", "sexYN", "sexism"),
    ],
)
def test_defect_21_a_mean_of_a_half_is_positive(items, task, column, positive):
    labels = items(task).set_index("text")["label"]
    means = {}
    for text, posts in sbic_posts().items():
        votes = [float(record[column]) for record in posts if record[column]]
        if votes and text in labels.index:
            means[text] = sum(votes) / len(votes)
    assert [labels[text] == positive for text in means] == [mean >= 0.5 for mean in means.values()]
    assert any(0.5 <= mean < 1 for mean in means.values())
