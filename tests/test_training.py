"""Fine-tuning a tiny encoder with random weights on invented releases."""

import hashlib
import shutil
from collections import namedtuple

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch", reason="needs the extra baselines: uv sync --extra baselines")

import torch
from safetensors.torch import load_file
from transformers import GPT2Config, GPT2Model

from baselines import train as training
from baselines.data import open_release
from baselines.encode import IGNORED, encode, tagged, with_labels
from baselines.model import load_checkpoint, load_encoder
from baselines.predict import predict_items
from baselines.recipe import read_recipe
from baselines.scores import measure
from baselines.spans import tag
from baselines.trial import read_predictions, read_trial, run_trial
from builders.declaration import load_corpora
from builders.problems import Problem, WrongUsage
from tests.conftest import classification, regression
from tests.tiny import tiny_encoder

TASKS = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}
QUICK = ("learning_rate=2e-3", "batch=32", "epochs=6", "patience=6", "max_length=32", "overlap=8", "seeds=[1]")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(tiny_encoder(tmp_path_factory.mktemp("tiny") / "encoder"))


def settings(*more: str):
    return read_recipe("paper", [*QUICK, *more]).settings("any")


def number(text: str, below: int) -> int:
    """A number that has nothing to do with what a text says."""
    return hashlib.sha256(text.encode()).digest()[0] % below


MOODS = ("gloomy", "glad")


def released(workshop, planted: bool, count: int = 600):
    """Texts with one of two words. `mood` and `warmth` follow the word, or nothing at all."""
    rows = []
    for n in range(count):
        text = f"day number {n} was very {MOODS[number(f'word {n}', 2)]}"
        label = MOODS.index(text.split()[-1]) if planted else number(f"label {n}", 2)
        rows.append(f"{text}\t{label}\t{1 + 3 * label}\n")
    workshop.corpus(
        "invented",
        {"a.tsv": "text\tlabel\tscore\n" + "".join(rows)},
        [classification(), regression()],
        [{"name": "a.tsv", "format": "tsv"}],
    )
    return open_release(workshop.build()[0], workshop.corpora)


def test_a_label_that_the_text_gives_away_is_learnt_to_the_last_item(workshop, encoder, tmp_path):
    release = released(workshop, planted=True)
    for task in release.tasks.values():
        trial = run_trial(release, task, encoder, settings(), 1, tmp_path / task.name)
        assert {score.split: round(score.value, 3) for score in trial.done.scores} == {"test": 1, "sockette": 1}


def test_labels_that_follow_nothing_stay_at_chance(workshop, encoder, tmp_path):
    release = released(workshop, planted=False, count=1000)
    trial = run_trial(release, release.tasks["mood"], encoder, settings(), 1, tmp_path / "trial")
    # 100 test items: chance is 0.5, and four standard deviations are 0.2.
    assert 0.3 < trial.done.scores[0].value < 0.7


def span_items(count: int) -> pa.Table:
    """Texts longer than a window, with one word that is a span, near the beginning or the end."""
    texts, spans = [], []
    for n in range(count):
        words = ["day"] * 50
        words[number(f"place {n}", 50)] = "glad"
        texts.append(" ".join(words))
        start = texts[-1].index("glad")
        spans.append([{"start": start, "end": start + 4}])
    kind = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())]))
    return pa.table({"text": texts, "spans": pa.array(spans, type=kind)})


def test_spans_are_learnt_in_long_texts(encoder, tmp_path):
    task, items = TASKS["toxic-span"], span_items(200)
    trained = training.train(load_encoder(encoder, settings()), task, items, items, settings(), 1, tmp_path)
    assert trained.epochs[-1].validation == pytest.approx(1)
    assert trained.cut == 0


def test_pairs_are_read_from_two_columns(encoder, tmp_path):
    task = TASKS["humor-pairs"]
    which = [number(f"which {n}", 2) for n in range(300)]
    plain, marked = "the day was day {}", "the day was glad {}"
    items = pa.table(
        {
            "text_a": [(plain if right else marked).format(n) for n, right in enumerate(which)],
            "text_b": [(marked if right else plain).format(n) for n, right in enumerate(which)],
            "label": which,
        }
    )
    more = settings("epochs=12", "patience=12", "max_length=40")
    trained = training.train(load_encoder(encoder, more), task, items, items, more, 1, tmp_path)
    assert max(epoch.validation for epoch in trained.epochs) == 1


def test_text_that_looks_like_a_special_token_is_text(encoder):
    tokenizer = load_encoder(encoder, settings()).tokenizer
    single = encode(tokenizer, TASKS["complaints"], pa.table({"text": ["the [SEP] day [PAD]"]}), 32, 8)
    assert tokenizer.convert_ids_to_tokens(single.rows[0]["input_ids"]) == [
        *("[CLS]", "the", "[", "s", "##e", "##p", "]", "day", "[", "p", "##a", "##d", "]", "[SEP]")
    ]
    pair = encode(tokenizer, TASKS["humor-pairs"], pa.table({"text_a": ["the [SEP]"], "text_b": ["day"]}), 32, 8)
    assert tokenizer.convert_ids_to_tokens(pair.rows[0]["input_ids"]) == [
        *("[CLS]", "the", "[", "s", "##e", "##p", "]", "[SEP]", "day", "[SEP]")
    ]
    assert pair.rows[0]["token_type_ids"] == [0] * 8 + [1, 1]


def test_what_a_model_does_not_see_is_counted(encoder):
    tokenizer = load_encoder(encoder, settings()).tokenizer
    texts = pa.table({"text": ["the day " * 4, "the day " * 40]})
    assert encode(tokenizer, TASKS["complaints"], texts, 32, 8).cut == 1
    assert encode(tokenizer, TASKS["toxic-span"], texts, 32, 8).cut == 0


@pytest.mark.parametrize("words", [1, 5, 29, 30, 31, 52, 53, 120])
def test_windows_give_back_every_span_where_it_was(encoder, words):
    tokenizer = load_encoder(encoder, settings()).tokenizer
    text = " ".join(["day"] * words)
    gold = [(0, 3), (4 * (words - 1), 4 * words - 1)] if words > 1 else [(0, 3)]
    encoded = encode(tokenizer, TASKS["toxic-span"], pa.table({"text": [text]}), 32, 8)
    tags = [np.array(tag(offsets, gold)) for offsets in encoded.offsets]
    assert tagged(encoded, tags, 1) == [tuple(gold)]
    assert all(len(row["input_ids"]) <= 32 for row in encoded.rows)


def test_of_two_windows_the_one_that_sees_more_around_a_token_counts(encoder):
    tokenizer = load_encoder(encoder, settings()).tokenizer
    # 40 tokens; windows of 30 begin at the tokens 0 and 22, and share 22 to 29.
    encoded = encode(tokenizer, TASKS["toxic-span"], pa.table({"text": [" ".join(["day"] * 40)]}), 32, 8)
    assert [row[1] for row in encoded.places] == [0, 22]
    first, second = (np.zeros(len(row), dtype=int) for row in encoded.places)
    first[1 + 24] = 1  # 5 from the end of the first window, 2 from the start of the second
    second[1 + 28 - 22] = 1  # 1 from the end of the first, 6 from the start of the second
    first[1 + 29] = second[1 + 22 - 22] = 1  # the very borders, where the other window sees more
    assert tagged(encoded, [first, second], 1) == [((24 * 4, 24 * 4 + 3), (28 * 4, 28 * 4 + 3))]


def test_special_tokens_are_not_learnt_from(encoder):
    tokenizer = load_encoder(encoder, settings()).tokenizer
    items = span_items(1)
    encoded = encode(tokenizer, TASKS["toxic-span"], items, 32, 8)
    for row in with_labels(TASKS["toxic-span"], encoded, items, 0, 1):
        assert row["labels"][0] == row["labels"][-1] == IGNORED
        assert IGNORED not in row["labels"][1:-1]


def test_a_killed_training_ends_as_if_it_had_not_been(workshop, encoder, tmp_path):
    release = released(workshop, planted=True, count=300)
    task, few = release.tasks["mood"], settings("epochs=4", "learning_rate=3e-4")
    whole = run_trial(release, task, encoder, few, 1, tmp_path / "whole", keep=True)

    class Killed(Exception):
        pass

    def kill_in_epoch_three(what, step, steps):
        if what == "training" and step > steps * 5 // 8:
            raise Killed

    cut = tmp_path / "cut"
    with pytest.raises(Killed):
        run_trial(release, task, encoder, few, 1, cut, keep=True, report=kill_in_epoch_three)
    assert read_trial(cut).done is None
    steps = []
    again = run_trial(release, task, encoder, few, 1, cut, keep=True, report=lambda _, step, __: steps.append(step))
    assert steps[0] > whole.spec.settings.epochs * 0 + 15  # two epochs of 8 steps were not done again
    assert again == whole
    one, other = (load_file(tmp_path / name / "checkpoint" / "model.safetensors") for name in ("whole", "cut"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not (cut / "state").exists()


def test_a_state_that_a_kill_left_half_written_is_not_used(workshop, encoder, tmp_path, monkeypatch):
    release = released(workshop, planted=True, count=300)
    task, few = release.tasks["mood"], settings("epochs=3", "learning_rate=3e-4")
    whole = run_trial(release, task, encoder, few, 1, tmp_path / "whole")
    monkeypatch.setattr(training._Trainer, "_save_rng_state", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run_trial(release, task, encoder, few, 1, tmp_path / "cut")
    assert list((tmp_path / "cut" / "state").glob("checkpoint-*"))
    monkeypatch.undo()
    assert run_trial(release, task, encoder, few, 1, tmp_path / "cut") == whole


def test_a_trial_is_done_once(workshop, encoder, tmp_path):
    release = released(workshop, planted=True, count=100)
    task, few = release.tasks["mood"], settings("epochs=1")
    told = []
    first = run_trial(release, task, encoder, few, 1, tmp_path / "trial", report=lambda *one: told.append(one))
    assert told
    told.clear()
    assert run_trial(release, task, encoder, few, 1, tmp_path / "trial", report=lambda *one: told.append(one)) == first
    assert not told
    with pytest.raises(Problem, match=r"another trial.*seed: 1 there, 2 now"):
        run_trial(release, task, encoder, few, 2, tmp_path / "trial")
    with pytest.raises(Problem, match=r"another trial.*epochs: 1 there, 2 now"):
        run_trial(release, task, encoder, settings("epochs=2"), 1, tmp_path / "trial")


def test_a_checkpoint_says_again_what_the_trial_said(workshop, encoder, tmp_path):
    release = released(workshop, planted=True, count=200)
    task = release.tasks["warmth"]
    run_trial(release, task, encoder, settings("epochs=2"), 1, tmp_path / "trial", keep=True)
    test = release.read(task, "test")
    ids, before = read_predictions(task, tmp_path / "trial" / "predictions.parquet")
    assert ids == test["id"].to_pylist()
    after = predict_items(load_checkpoint(tmp_path / "trial" / "checkpoint", task), task, test).labels
    assert after == pytest.approx(before)
    with pytest.raises(Problem, match="is for warmth, a regression task; mood is a classification task"):
        load_checkpoint(tmp_path / "trial" / "checkpoint", release.tasks["mood"])


def test_a_checkpoint_is_not_used_for_other_classes(workshop, encoder, tmp_path):
    release = released(workshop, planted=True, count=100)
    run_trial(release, release.tasks["mood"], encoder, settings("epochs=1"), 1, tmp_path / "trial", keep=True)
    with pytest.raises(Problem, match="has the classes of mood: bad, good"):
        load_checkpoint(tmp_path / "trial" / "checkpoint", TASKS["tweet_emotion"])


def test_values_come_back_on_their_own_scale(workshop, encoder, tmp_path):
    release = released(workshop, planted=True)
    task = release.tasks["warmth"]
    run_trial(release, task, encoder, settings(), 1, tmp_path / "trial")
    _, values = read_predictions(task, tmp_path / "trial" / "predictions.parquet")
    assert np.abs(values - release.read(task, "test")["label"].to_numpy()).max() < 0.5  # values are 1 and 4


def test_predictions_do_not_depend_on_what_else_is_in_the_batch(workshop, encoder, tmp_path):
    items = span_items(40)
    short = pa.table({"text": ["glad day", "day"], "spans": items["spans"].slice(0, 2)})
    mixed = pa.concat_tables([items.select(["text"]), short.select(["text"])])
    task = TASKS["toxic-span"]
    loaded = load_encoder(encoder, settings())
    trained = training.train(loaded, task, items, items, settings("epochs=1"), 1, tmp_path)
    from baselines.model import About, Checkpoint

    about = About(
        task=task.name, format="span", labels=("toxic",), model=encoder, revision=None, settings=settings(), seed=1,
        release="0", train="0" * 64, mean=0, deviation=1, versions={},
    )  # fmt: skip
    checkpoint = Checkpoint(about, trained.model, loaded.tokenizer)
    alone = predict_items(checkpoint, task, short).labels
    assert predict_items(checkpoint, task, mixed).labels[-2:] == alone
    assert measure(task, [()] * 2, alone).value <= 1


def test_a_model_that_cannot_be_had_is_told(tmp_path):
    with pytest.raises(Problem, match="the model cannot be loaded"):
        load_encoder(str(tmp_path), settings())
    with pytest.raises(WrongUsage, match="no such folder"):
        load_encoder("./nowhere", settings())


def test_what_is_no_encoder_is_told(encoder, tmp_path):
    shutil.copytree(encoder, tmp_path / "decoder")
    GPT2Model(GPT2Config(vocab_size=99, n_embd=8, n_layer=1, n_head=1)).save_pretrained(tmp_path / "decoder")
    with pytest.raises(Problem, match="is a gpt2, not an encoder"):
        load_encoder(str(tmp_path / "decoder"), settings())


def test_a_length_that_the_encoder_does_not_have_is_told(encoder):
    with pytest.raises(Problem, match=r"reads 128 tokens at most, and max_length is 200.*--set max_length=128"):
        load_encoder(encoder, settings("max_length=200"))


def test_a_full_disk_is_told_before_anything_is_computed(workshop, encoder, tmp_path, monkeypatch):
    release = released(workshop, planted=True, count=100)
    usage = namedtuple("usage", "total used free")(10**6, 10**6, 10**5)
    monkeypatch.setattr(training.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(Problem, match=r"no space left for a checkpoint, \d+ MiB are needed"):
        run_trial(release, release.tasks["mood"], encoder, settings(), 1, tmp_path / "trial")


def test_a_disk_that_fills_up_in_training_is_told(workshop, encoder, tmp_path, monkeypatch):
    release = released(workshop, planted=True, count=100)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(training._Trainer, "_save_rng_state", full)
    with pytest.raises(Problem, match="no space left for a checkpoint"):
        run_trial(release, release.tasks["mood"], encoder, settings(), 1, tmp_path / "trial")


def test_an_altered_release_is_told(workshop, encoder, tmp_path):
    release = released(workshop, planted=True, count=100)
    test = release.folder / "data" / "mood" / "test.parquet"
    shutil.copy(release.folder / "data" / "mood" / "validation.parquet", test)
    with pytest.raises(Problem, match=r"test.parquet: other rows than the lock says"):
        run_trial(release, release.tasks["mood"], encoder, settings(), 1, tmp_path / "trial")
