"""Raw labels to labels, and what happens to rows that share a text: every raw row is an item or in the ledger."""

import os
import subprocess
import sys
import textwrap
from hashlib import blake2b, sha256
from pathlib import Path

import pandas as pd
import pytest

from builders.pipeline.lock import read_lock
from builders.pipeline.release import LEDGER
from tests.conftest import Workshop, classification, regression

SPLITS = ("train", "validation", "test")
TSV = {"name": "a.tsv", "format": "tsv"}
JSON_LINES = {"name": "a.jsonl", "format": "json_lines"}


def tsv(*rows: tuple, header: str = "text label") -> str:
    """A TSV file of these rows."""
    return "".join("\t".join(map(str, row)) + "\n" for row in [tuple(header.split()), *rows])


def corpus(workshop: Workshop, content: str, *tasks: dict, file: dict = TSV, **more) -> None:
    workshop.corpus("invented", {file["name"]: content}, list(tasks), [file], **more)


def failure(workshop: Workshop) -> str:
    """What the build says about the corpus that it had to leave out."""
    _, outcomes = workshop.build()
    assert outcomes["invented"].status == "failed"
    message = str(outcomes["invented"].problem)
    assert "fault of this program" not in message
    return message


def item_table(workshop: Workshop, task: str = "mood") -> pd.DataFrame:
    """All items of a task, with their split."""
    release, outcomes = workshop.build()
    failed = [str(outcome.problem) for outcome in outcomes.values() if outcome.problem]
    assert not failed, failed
    paths = {split: release / f"data/{task}/{split}.parquet" for split in SPLITS}
    return pd.concat([pd.read_parquet(path).assign(split=split) for split, path in paths.items()])


def items(workshop: Workshop, task: str = "mood") -> dict:
    """Text to label."""
    table = item_table(workshop, task)
    return dict(zip(table["text"], table["label"], strict=True))


def ledger(workshop: Workshop, task: str = "mood") -> pd.DataFrame:
    """The ledger lines of a task of the release that `items` built, by record number."""
    table = pd.read_parquet(workshop.folder / "release" / LEDGER)
    table = table[table["task"] == task]
    return table.set_index(table["source_row"].map(lambda source_row: int(source_row.rpartition(":")[2])))


def reasons(workshop: Workshop, task: str = "mood") -> dict:
    return ledger(workshop, task)["reason"].to_dict()


def identity(*keys: str) -> str:
    """The id of a text as the design defines it."""
    return blake2b("\x1f".join(["invented", *keys]).encode(), digest_size=8).hexdigest()


def pair(**more) -> dict:
    return classification(format="pair") | more


def in_ranges(*ranges: dict, **more) -> dict:
    """A task with the classes `class 0`, `class 1`, ... made from a score."""
    labels = [{"name": f"class {index}", "meaning": "A range."} | bounds for index, bounds in enumerate(ranges)]
    return classification(labels=labels, **more)


# L1: rows that nobody labelled, and tokens that nobody declared ----------------------------------------------

NOBODY = ["-1", "", "nan", "NOANNOTATION"]
UNKNOWN = ["2", "-2", "NaN", "None", "null", "NA", "0.0", "1.0", "01", "+1", " 1", "1 ", "True", "good", "１", "-1.0"]


def test_L1_a_row_that_nobody_labelled_is_unlabeled(workshop):
    rows = [(f"text {token}", token) for token in NOBODY]
    corpus(workshop, tsv(("a", 0), *rows, ("b", 1)), classification())
    assert items(workshop) == {"a": 0, "b": 1}
    assert reasons(workshop) == dict.fromkeys((2, 3, 4, 5), "unlabeled")
    assert ledger(workshop)["detail"].to_list() == NOBODY


def test_L1_a_pair_that_nobody_labelled_is_unlabeled(workshop):
    rows = [("a", "b", 1), *(("c", f"d{token}", token) for token in NOBODY)]
    corpus(workshop, tsv(*rows, header="text_a text_b label"), pair())
    assert items(workshop) == {"a [SEP] b": 1}
    assert reasons(workshop) == dict.fromkeys((2, 3, 4, 5), "unlabeled")


def test_L1_a_value_that_nobody_gave_is_unlabeled_but_minus_one_is_a_value(workshop):
    content = tsv(("a", 2.35), ("b", ""), ("c", "nan"), ("d", -1), header="text score")
    corpus(workshop, content, regression(scale=[-1.0, 5.0]))
    assert items(workshop, "warmth") == {"a": 2.35, "d": -1.0}
    assert reasons(workshop, "warmth") == {2: "unlabeled", 3: "unlabeled"}


def test_L1_null_and_nan_of_json_are_unlabeled_numbers_are_tokens(workshop):
    values = ["0", "null", "NaN", '"1"', '"-1"', "-1", '""']
    content = "".join(f'{{"text": "text {n}", "label": {value}}}\n' for n, value in enumerate(values, 1))
    corpus(workshop, content, classification(), file=JSON_LINES)
    assert items(workshop) == {"text 1": 0, "text 4": 1}
    assert reasons(workshop) == dict.fromkeys((2, 3, 5, 6, 7), "unlabeled")


@pytest.mark.parametrize("token", UNKNOWN)
def test_L1_an_unknown_token_stops_the_build_and_names_the_record(workshop, token):
    corpus(workshop, tsv(("a", 0), ("b", token), ("c", 1)), classification())
    message = failure(workshop)
    assert message.startswith("invented: mood: a.tsv:2: ")
    assert f"{token!r} in column label is not a declared label ('0', '1')" in message


@pytest.mark.parametrize(("value", "token"), [("true", "true"), ("1.0", "1.0"), ("[1]", "[1]"), ('"nAn"', "nAn")])
def test_L1_an_unknown_json_value_stops_the_build_too(workshop, value, token):
    """`ClassLabel` would take 1.0 and True for class 1."""
    corpus(workshop, f'{{"text": "a", "label": {value}}}\n', classification(), file=JSON_LINES)
    assert f"a.jsonl:1: {token!r} in column label" in failure(workshop)


@pytest.mark.parametrize("token", ["NaN", "inf", "-1", "5.01", "five", "2,35", "0_1", "４", "0x1", "NOANNOTATION"])
def test_L1_a_value_that_is_no_number_on_the_scale_stops_the_build(workshop, token):
    corpus(workshop, tsv(("a", 1), ("b", token), header="text score"), regression())
    assert f"warmth: a.tsv:2: {token!r} in column score" in failure(workshop)


def test_L1_many_unknown_tokens_are_told_in_one_short_message(workshop):
    corpus(workshop, tsv(*((f"text {n}", f"x{n % 9}" + "y" * 5000 * (n == 2)) for n in range(900))), classification())
    message = failure(workshop)
    assert "a.tsv:1, a.tsv:10, a.tsv:19 and 97 more" in message
    assert "'x0'" in message
    assert len(message) < 1000


def test_L1_what_unlabeled_means_can_be_declared(workshop):
    labels = [{"name": "minus", "raw": "-1", "meaning": "-"}, {"name": "plus", "raw": "1", "meaning": "+"}]
    task = classification(labels=labels, unlabeled=["?"])
    corpus(workshop, tsv(("a", -1), ("b", 1), ("c", "?")), task)
    assert items(workshop) == {"a": 0, "b": 1}
    assert reasons(workshop) == {3: "unlabeled"}


def test_L1_a_declared_unlabeled_replaces_the_default(workshop):
    corpus(workshop, tsv(("a", 0), ("b", -1)), classification(unlabeled=["?"]))
    assert "a.tsv:2: '-1'" in failure(workshop)


def test_L1_an_unlabeled_row_in_one_task_is_an_item_of_another(workshop):
    content = tsv(("a", 0, 1), ("b", -1, 0), ("c", 1, ""), header="text label calm")
    corpus(workshop, content, classification(), classification("calm", column="calm"))
    assert items(workshop) == {"a": 0, "c": 1}
    assert items(workshop, "calm") == {"a": 1, "b": 0}


def test_L1_minus_one_and_minus_one_point_zero_have_one_fate_where_scores_make_the_classes(workshop):
    """The range below 0 covers -1; a default may not take it out in silence."""
    rows = [("a", "-1"), ("b", "-1.0"), ("c", "1")]
    corpus(workshop, tsv(*rows), in_ranges({"below": 0.0}, {"at_least": 0.0}))
    assert items(workshop) == {"a": 0, "b": 0, "c": 1}


# L2: the same bytes -----------------------------------------------------------------------------------------


def test_L2_the_bytes_do_not_depend_on_hash_seed_locale_or_time_zone(tmp_path):
    """Two whole builds in processes of their own: groups, contradictions, near-duplicates, three formats."""
    script = """
        import sys
        from pathlib import Path
        from tests.conftest import Workshop, classification, regression
        workshop = Workshop(Path(sys.argv[1]))
        rows = [(f"text {n % 70} of them", n % 3 - 1, n % 5, f"g{n % 17}") for n in range(100)]
        rows += [(f"one text in so many words {n // 2}{'!' * (n % 2)}", n % 2, 1, "") for n in range(40)]
        content = "".join("\\t".join(map(str, row)) + "\\n" for row in [("text", "label", "score", "who"), *rows])
        tsv = {"name": "a.tsv", "format": "tsv"}
        tasks = [classification(), regression()]
        workshop.corpus("singles", {"a.tsv": content}, tasks, [tsv], group="who")
        pairs = "text_a\\ttext_b\\tlabel\\n" + "".join(f"left {n}\\tright {n}\\t{n % 2}\\n" for n in range(30))
        task = classification("better", format="pair", preferred_first=True)
        workshop.corpus("pairs", {"a.tsv": pairs}, [task], [tsv])
        _, outcomes = workshop.build()
        assert {outcome.status for outcome in outcomes.values()} == {"built"}, outcomes
    """
    processes = []
    for number, more in enumerate(
        (
            {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"},
        )
    ):
        (tmp_path / str(number)).mkdir()
        command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / str(number))]
        processes.append(
            subprocess.Popen(command, env=os.environ | more, cwd=Path(__file__).parents[1], stderr=subprocess.PIPE)
        )
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()

    def digests(number: int) -> dict:
        release = tmp_path / str(number) / "release"
        paths = [path for path in release.rglob("*") if path.is_file()]
        return {path.relative_to(release).as_posix(): sha256(path.read_bytes()).hexdigest() for path in paths}

    assert len(digests(0)) == 3 * (4 + 1) + 5
    assert digests(0) == digests(1)


# L3: a split without one of the classes -----------------------------------------------------------------------


def test_L3_classes_keep_their_ids_in_a_split_without_one_of_them(workshop):
    """Of 30 rows one is `rare`: a class of one goes to train whole."""
    labels = [{"name": name, "raw": name, "meaning": name} for name in ("rare", "often", "never")]
    rows = [(f"text {n}", "often") for n in range(29)] + [("text 29", "rare")]
    corpus(workshop, tsv(*rows), classification(labels=labels))
    table = item_table(workshop)
    assert table["label"][table["split"] == "train"].value_counts().to_dict() == {1: 23, 0: 1}
    assert set(table["label"][table["split"] != "train"]) == {1}
    splits = read_lock(workshop.folder / "release")["corpora"]["invented"]["tasks"]["mood"]["splits"]
    assert splits["test"]["labels"] == {"rare": 0, "often": 3, "never": 0}
    assert splits["train"]["labels"] == {"rare": 1, "often": 23, "never": 0}


def test_L3_label_ids_are_integers_in_every_split_even_in_an_empty_one(workshop):
    corpus(workshop, tsv(("a", 1)), classification())
    release, _ = workshop.build()
    for split in (*SPLITS, "sockette"):
        assert str(pd.read_parquet(release / f"data/mood/{split}.parquet")["label"].dtype) == "int64"


# L4: several annotators ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "label"),
    [("11111", 1), ("11100", 1), ("00111", 1), ("01011", 1), ("10000", 0), ("1", 1)],
)
def test_L4_the_rows_of_one_post_become_one_item_by_strict_majority(workshop, votes, label):
    corpus(workshop, tsv(*(("one post", vote) for vote in votes)), classification())
    assert items(workshop) == {"one post": label}
    assert len(ledger(workshop)) == len(votes) - 1


@pytest.mark.parametrize("votes", ["01", "10", "0011", "0110", "001122", "01122", "0012"])
def test_L4_without_a_strict_majority_the_post_is_dropped_whole(workshop, votes):
    labels = [{"name": f"class {n}", "raw": str(n), "meaning": "x"} for n in range(3)]
    corpus(workshop, tsv(*(("one post", vote) for vote in votes), ("other", 0)), classification(labels=labels))
    assert items(workshop) == {"other": 0}
    assert reasons(workshop) == dict.fromkeys(range(1, len(votes) + 1), "contradiction")


def test_L4_annotators_who_gave_no_label_have_no_vote(workshop):
    corpus(workshop, tsv(*(("one post", vote) for vote in (1, -1, "", -1, 1))), classification())
    assert items(workshop) == {"one post": 1}
    assert reasons(workshop) == {2: "unlabeled", 3: "unlabeled", 4: "unlabeled", 5: "duplicate"}


def test_L4_values_become_their_mean(workshop):
    rows = [("one post", value) for value in (1, 1, 4)] + [("other", 2.5), ("other", 2.5)]
    corpus(workshop, tsv(*rows, header="text score"), regression())
    assert items(workshop, "warmth") == {"one post": 2.0, "other": 2.5}
    assert reasons(workshop, "warmth") == {2: "contradiction", 3: "contradiction", 5: "duplicate"}


def test_L4_the_mean_does_not_depend_on_the_order_of_the_rows(workshop):
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 for a computer that adds one after the other."""
    orders = [(0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.2, 0.3, 0.1)]
    posts = [(f"post {number}", value) for number, values in enumerate(orders) for value in values]
    corpus(workshop, tsv(*posts, header="text score"), regression())
    means = items(workshop, "warmth")
    assert means == pytest.approx({f"post {number}": 0.2 for number in range(3)})
    assert len(set(means.values())) == 1


# L5: exactly on a threshold -------------------------------------------------------------------------------------

LAST_BELOW, FIRST_ABOVE = "0.49999999999999994", "0.5000000000000001"
ON_IT = ["0.5", ".5", "0.50", "5e-1", "0.5000"]


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [({"below": 0.5}, {"at_least": 0.5}, 1), ({"at_most": 0.5}, {"above": 0.5}, 0)],
    ids=["at_least", "at_most"],
)
@pytest.mark.parametrize("turned", [False, True], ids=["low first", "high first"])
def test_L5_a_score_on_the_threshold_goes_to_the_declared_side(workshop, low, high, side, turned):
    rows = [("below", LAST_BELOW), ("above", FIRST_ABOVE), *((f"on it as {score}", score) for score in ON_IT)]
    corpus(workshop, tsv(*rows), in_ranges(*([high, low] if turned else [low, high])))
    expected = {"below": 0, "above": 1} | {f"on it as {score}": side for score in ON_IT}
    assert items(workshop) == {text: 1 - label if turned else label for text, label in expected.items()}


def test_L5_both_thresholds_of_a_middle_class(workshop):
    rows = [(f"score {score}", score) for score in (-1.01, -0.5, -0.49, 0, 0.49, 0.5, 7)]
    corpus(workshop, tsv(*rows), in_ranges({"at_most": -0.5}, {"above": -0.5, "below": 0.5}, {"at_least": 0.5}))
    assert [items(workshop)[text] for text, _ in rows] == [0, 0, 1, 1, 1, 2, 2]


def test_L5_a_class_of_one_exact_score_can_be_declared(workshop):
    rows = [("minus", -0.1), ("zero", 0), ("negative zero", "-0.0"), ("plus", 0.1)]
    corpus(workshop, tsv(*rows), in_ranges({"below": 0.0}, {"at_least": 0.0, "at_most": 0.0}, {"above": 0.0}))
    assert items(workshop) == {"minus": 0, "zero": 1, "negative zero": 1, "plus": 2}


@pytest.mark.parametrize("token", ["0.5", "maybe", "Yes", "y"])
def test_L5_one_half_in_a_yes_no_column_stops_the_build(workshop, token):
    labels = [{"name": "no", "raw": ["no", "0"], "meaning": "-"}, {"name": "yes", "raw": ["yes", "1"], "meaning": "+"}]
    corpus(workshop, tsv(("a", "no"), ("b", 1), ("c", token)), classification(labels=labels))
    assert f"a.tsv:3: {token!r} in column label is not a declared label ('no', '0', 'yes', '1')" in failure(workshop)


@pytest.mark.parametrize("token", ["inf", "-inf", "NaN", "half", "1_0", "0,5"])
def test_L5_what_is_no_finite_number_has_no_range(workshop, token):
    corpus(workshop, tsv(("a", 0), ("b", token)), in_ranges({"below": 0.5}, {"at_least": 0.5}))
    assert f"a.tsv:2: {token!r} in column label" in failure(workshop)


# L6: one text, several labels -------------------------------------------------------------------------------------


def test_L6_every_row_is_accounted_for(workshop):
    """Texts that differ in case are two texts; white space around a text is no part of it."""
    rows = [("so proud of you", 1), ("So proud of you ", 0), ("so proud of you", 1)]
    corpus(workshop, tsv(*rows), classification())
    assert items(workshop) == {"so proud of you": 1, "So proud of you": 0}
    assert reasons(workshop) == {3: "duplicate"}
    assert ledger(workshop).loc[3, "kept_id"] == identity("so proud of you")


@pytest.mark.parametrize("labels", [(1, 0, 1), (0, 1, 1), (1, 1, 0)])
def test_L6_the_majority_wins_wherever_it_stands(workshop, labels):
    texts = ["so proud of you", " so  proud of you ", "so proud of&nbsp;you"]
    corpus(workshop, tsv(*zip(texts, labels, strict=True)), classification())
    winner, loser = labels.index(1), labels.index(0) + 1
    assert items(workshop) == {texts[winner].strip(): 1}
    seen = ledger(workshop)
    assert sorted(seen["reason"]) == ["contradiction", "duplicate"]
    assert seen.loc[loser, "reason"] == "contradiction"
    assert set(seen["id"]) == set(seen["kept_id"]) == {identity("so proud of you")}
    assert all("1 x 2" in detail and "0 x 1" in detail for detail in seen["detail"])


def test_L6_policy_drop_keeps_none_of_them(workshop):
    rows = [("a", 1), ("a", 0), ("a", 1), ("b", 0), ("b", 0)]
    corpus(workshop, tsv(*rows), classification(contradiction="drop"))
    assert items(workshop) == {"b": 0}
    assert reasons(workshop) == dict.fromkeys((1, 2, 3), "contradiction") | {5: "duplicate"}
    assert ledger(workshop)["kept_id"].isna().to_list() == [True, True, True, False]


def test_L6_policy_drop_of_a_regression_keeps_no_value(workshop):
    rows = [("a", 1), ("a", 2), ("b", 3), ("b", "3.0")]
    corpus(workshop, tsv(*rows, header="text score"), regression(contradiction="drop"))
    assert items(workshop, "warmth") == {"b": 3.0}
    assert reasons(workshop, "warmth") == {1: "contradiction", 2: "contradiction", 4: "duplicate"}


def test_L6_a_pair_is_the_two_texts_in_their_order(workshop):
    rows = [("a", "b", 1), ("b", "a", 1), ("a ", "b", 1), ("a", "b", 0), ("c", "c ", 1), ("", "d", 1)]
    corpus(workshop, tsv(*rows, header="text_a text_b label"), pair())
    assert items(workshop) == {"a [SEP] b": 1, "b [SEP] a": 1}
    assert reasons(workshop) == {3: "duplicate", 4: "contradiction", 5: "identical_pair", 6: "empty_text"}
    assert set(item_table(workshop)["id"]) == {identity("a", "b"), identity("b", "a")}


def test_L6_spans_agree_if_they_cover_the_same_text(workshop):
    task = {
        "name": "mood",
        "dataset": "mood",
        "category": "offensive",
        "format": "span",
        "column": "spans",
        "labels": [{"name": "insult", "meaning": "Somebody is insulted."}],
        "offsets": "code_points",
        "without_spans": "keep",
    }
    rows = [
        ("you fool", "[[4, 8]]"), (" you fool", "[[5, 9]]"),
        ("an idiot", "[[3, 8]]"), ("an idiot", "[[0, 8]]"), ("an idiot", "[[3, 8]]"),
        ("all fine", "[]"), ("all fine", "[]"),
    ]  # fmt: skip
    content = "".join(f'{{"text": "{text}", "spans": {spans}}}\n' for text, spans in rows)
    corpus(workshop, content, task, file=JSON_LINES)
    table = item_table(workshop)
    found = {text: label["insult"].tolist() for text, label in zip(table["text"], table["label"], strict=True)}
    assert found == {"you fool": ["fool"], "all fine": []}
    assert reasons(workshop) == dict.fromkeys((2, 7), "duplicate") | dict.fromkeys((3, 4, 5), "contradiction")


# Rules of the corpus, and the ledger --------------------------------------------------------------------------------

BOTS = {"reason": "bot", "column": "who", "values": ["bot", "script"], "why": "Not written by a person."}


def test_a_rule_of_the_corpus_drops_what_it_names_and_says_why(workshop):
    rows = [("a", 0, "ann"), ("b", 1, "bot"), ("c", 1, "robot"), ("d", 1, "script"), ("e", 1, "Bot")]
    corpus(workshop, tsv(*rows, header="text label who"), classification(drops=[BOTS]))
    assert items(workshop) == {"a": 0, "c": 1, "e": 1}
    assert ledger(workshop)[["reason", "detail"]].to_dict("index") == {
        2: {"reason": "bot", "detail": "bot"},
        4: {"reason": "bot", "detail": "script"},
    }


def test_a_rule_applies_to_its_own_task_only(workshop):
    rows = [("a", 0, "ann"), ("b", 1, "bot")]
    corpus(
        workshop, tsv(*rows, header="text label who"), classification(drops=[BOTS]), classification("calm", drops=[])
    )
    assert items(workshop) == {"a": 0}
    assert items(workshop, "calm") == {"a": 0, "b": 1}


def test_the_first_reason_counts_and_dropped_rows_have_no_vote(workshop):
    rows = [("a", -1, "bot"), ("", 1, "bot"), ("b", 0, "bot"), ("b", 0, "bot"), ("b", 1, "ann"), ("c", 0, "ann")]
    corpus(workshop, tsv(*rows, header="text label who"), classification(drops=[BOTS]))
    assert items(workshop) == {"b": 1, "c": 0}
    assert reasons(workshop) == {1: "unlabeled", 2: "empty_text", 3: "bot", 4: "bot"}


def test_a_rule_can_drop_a_label_that_is_no_class(workshop):
    rule = {"reason": "mixed", "column": "label", "values": ["both"], "why": "The annotators could not agree."}
    corpus(workshop, tsv(("a", 0), ("b", "both"), ("c", 1), ("d", "")), classification(drops=[rule]))
    assert items(workshop) == {"a": 0, "c": 1}
    assert reasons(workshop) == {2: "mixed", 4: "unlabeled"}


def test_a_rule_on_a_column_that_is_not_there_stops_the_build(workshop):
    corpus(workshop, tsv(("a", 0), ("b", 1)), classification(drops=[BOTS]))
    assert "no column who" in failure(workshop)


# Names that raw files like for their columns; the pipeline has columns of its own.
COMMON_NAMES = ["id", "key", "blank", "identical", "row", "label_", "split", "reason"]


@pytest.mark.parametrize("name", COMMON_NAMES)
def test_a_rule_reads_the_raw_column_whatever_its_name_is(workshop, name):
    rule = BOTS | {"column": name, "values": ["7"]}
    rows = [("a", 0, 6), ("b", 1, 7), ("c", 1, 8)]
    corpus(workshop, tsv(*rows, header=f"text label {name}"), classification(drops=[rule]))
    assert items(workshop) == {"a": 0, "c": 1}
    assert ledger(workshop)["detail"].to_list() == ["7"]


@pytest.mark.parametrize("name", COMMON_NAMES)
def test_a_label_column_may_have_any_name(workshop, name):
    corpus(workshop, tsv(("a", 0), ("b", 1), ("c", -1), header=f"text {name}"), classification(column=name))
    assert items(workshop) == {"a": 0, "b": 1}
    assert ledger(workshop)["detail"].to_list() == ["-1"]


@pytest.mark.parametrize("name", COMMON_NAMES)
def test_a_group_column_may_have_any_name(workshop, name):
    """Ten groups of ten; a group that is taken apart has items in two splits."""
    rows = [(f"text {n}", n % 2, f"group {n // 10}") for n in range(100)]
    corpus(workshop, tsv(*rows, header=f"text label {name}"), classification(), group=name)
    table = item_table(workshop)
    groups = table["text"].str.removeprefix("text ").astype(int) // 10
    assert table.groupby(groups)["split"].nunique().to_dict() == dict.fromkeys(range(10), 1)


def test_the_ledger_names_what_it_speaks_of(workshop):
    """`verbatim`: the very text was there before; `&nbsp;a` is the same text only for the duplicate check."""
    rows = [("a", 1), ("&nbsp;a", 1), (" a", 1), ("b", -1), ("\u200b", 1), ("c", 0)]
    corpus(workshop, tsv(*rows), classification())
    assert items(workshop) == {"a": 1, "c": 0}
    seen = ledger(workshop)
    assert seen.columns.to_list() == ["corpus", "task", "source_row", "id", "reason", "kept_id", "detail"]
    assert seen.astype(object).where(seen.notna(), None).to_numpy().tolist() == [
        ["invented", "mood", "a.tsv:2", identity("a"), "duplicate", identity("a"), ""],
        ["invented", "mood", "a.tsv:3", identity("a"), "duplicate", identity("a"), "verbatim"],
        ["invented", "mood", "a.tsv:4", identity("b"), "unlabeled", None, "-1"],
        ["invented", "mood", "a.tsv:5", None, "empty_text", None, ""],
    ]


def test_raw_rows_are_items_and_ledger_lines_in_every_task(workshop):
    rows = [(f"text {n % 40}", n % 4 - 1, n % 3, ("ann", "bot")[n % 11 == 0]) for n in range(120)]
    tasks = [classification(drops=[BOTS]), regression(), classification("other", contradiction="drop")]
    tasks[0]["labels"] = tasks[2]["labels"] = [{"name": f"class {n}", "raw": str(n), "meaning": "x"} for n in range(3)]
    content = tsv(*rows, ("", 0, 1, ""), ("&nbsp;", -1, "", ""), header="text label score who")
    corpus(workshop, content, *tasks)
    for task in ("mood", "warmth", "other"):
        table = item_table(workshop, task)
        assert table["id"].is_unique
        assert len(table) + len(ledger(workshop, task)) == 122
        assert not set(ledger(workshop, task)["kept_id"].dropna()) - set(table["id"])


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_few_rows_are_no_special_case(workshop, rows):
    """train = floor(0.8 n), test = half of the rest rounded down, validation what is left."""
    corpus(workshop, tsv(*((f"text {n}", n % 2) for n in range(rows))), classification())
    sizes = item_table(workshop)["split"].value_counts()
    train = rows * 8 // 10
    test = (rows - train) // 2
    assert [int(sizes.get(split, 0)) for split in SPLITS] == [train, rows - train - test, test]


def test_L3_a_class_that_a_split_lacks_is_told_with_the_count(workshop, capsys, monkeypatch):
    """Three of 33 texts are good: one class, too few for every split; the ids are the same in all of them."""
    from builders.commands.build import run

    raw = "".join(f"text number {n}\t{int(n < 3)}\n" for n in range(33))
    file = {"name": "a.tsv", "format": "tsv", "columns": ["text", "label"]}
    workshop.corpus("invented", {"a.tsv": raw}, [classification()], [file])
    monkeypatch.setattr("builders.declaration.CORPORA", workshop.folder / "corpora")
    assert run([], workshop.mirror.folder, False, workshop.folder / "release", 1) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "warning: mood: no item of class good in" in told
    assert "(3 in all)" in told
