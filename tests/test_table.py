"""Scores beside the published ones: what is compared with what, what stands apart, and what is refused."""

import csv
import io
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from baselines.published import BASELINES, changed, known_as, score_of
from baselines.scores import ABSENT, UNDEFINED, Run, Score, read_all, write_scores
from baselines.table import WRITERS, as_csv, as_html, as_markdown, make_table
from builders.cli import main
from builders.commands.baseline import run_table
from builders.declaration import Task, load_corpora
from builders.problems import Problem, WrongUsage

TASKS = [task for corpus in load_corpora().values() for task in corpus.tasks]
REGRESSIONS = [task.name for task in TASKS if task.format == "regression"]
ONE, OTHER = "1" * 64, "2" * 64


def run(values: dict, seed: int | None = 1, split: str = "test", content: str = ONE, flags=None, **more) -> Run:
    """A run with a score by task."""
    scores = [
        Score(task=task, split=split, value=value, n=100, content=content, flag=(flags or {}).get(task))
        for task, value in values.items()
    ]
    settings = {"release": "2.0.0", "source": "raw", "model": "invented", "recipe": {"epochs": 2}, "versions": {}}
    return Run(scores=tuple(scores), seed=seed, **settings | more)


def table(*runs: Run, **how):
    return make_table(runs, TASKS, **how)


def row(table, task: str):
    return next(row for block in table.blocks for row in block.rows if row.task.name == task)


def figure(table, name: str, column: int = 0):
    return next(figure.cells[column] for figure in table.figures if figure.name == name)


def lines_of(text: str, beginning: str) -> list[list[str]]:
    """The cells of the Markdown rows that begin so."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows if row.startswith(f"| {beginning}")
    ]


# Seeds, models, recipes ----------------------------------------------------------------------------------------------


def test_seeds_of_a_model_are_averaged():
    found = table(run({"sarc": 0.6}, seed=1), run({"sarc": 0.7}, seed=2), run({"sarc": 0.8}, seed=3))
    assert [column.name for column in found.columns] == ["invented"]
    cell = row(found, "sarc").cells[0]
    # Deviations -0.1, 0, 0.1: the sample's variance is 0.02 / 2.
    assert (cell.score.mean, cell.score.deviation, cell.seeds) == (pytest.approx(0.7), pytest.approx(0.1), 3)
    assert "0.700 ± 0.100" in as_markdown(found)
    assert "seeds 1, 2, 3" in found.notes[0]


def test_one_seed_has_no_deviation():
    found = table(run({"sarc": 0.6}))
    assert row(found, "sarc").cells[0].score.deviation is None
    assert lines_of(as_markdown(found), "`sarc`")[0][1] == "0.600"


def test_a_task_with_fewer_seeds_says_so():
    found = table(run({"sarc": 0.6, "complaints": 0.5}, seed=1), run({"sarc": 0.6}, seed=2))
    assert row(found, "complaints").cells[0].remarks == ("1 of 2 seeds",)
    assert row(found, "sarc").cells[0].remarks == ()
    assert "0.500[^1]" in as_markdown(found)
    assert "[^1]: 1 of 2 seeds." in as_markdown(found)


def test_another_recipe_of_a_model_is_another_column_and_the_settings_are_named():
    one, other = {"epochs": 2, "batch": 32, "seeds": [1]}, {"epochs": 3, "batch": 32, "seeds": [2], "tasks": {}}
    found = table(run({"sarc": 0.6}, recipe=one), run({"sarc": 0.8}, seed=2, recipe=other))
    assert [column.name for column in found.columns] == ["invented (1)", "invented (2)"]
    assert [cell.score.mean for cell in row(found, "sarc").cells] == [0.6, 0.8]
    assert "invented (1), invented (2) differ in epochs (2 / 3)." in found.notes


def test_other_seeds_are_no_other_recipe():
    recipes = [{"epochs": 2, "seeds": [seed]} for seed in (1, 2)]
    found = table(*(run({"sarc": 0.6}, seed=seed, recipe=recipes[seed - 1]) for seed in (1, 2)))
    assert len(found.columns) == 1


def test_a_setting_of_one_task_and_a_revision_tell_columns_apart_too():
    runs = (
        run({"sarc": 0.6}, recipe={"epochs": 2, "tasks": {"sarc": {"epochs": 5}}}, revision="abc"),
        run({"sarc": 0.6}, recipe={"epochs": 2}, revision="abd"),
    )
    told = 'invented (1), invented (2) differ in revision (abc / abd), tasks.sarc ({"epochs": 5} / –).'
    assert told in table(*runs).notes


def test_what_is_other_than_in_the_paper_s_recipe_is_told():
    (note,) = table(run({"sarc": 0.6}, recipe={"epochs": 2, "batch": 32}, device="cpu")).notes
    assert note.startswith("invented: seed 1; on cpu; other than the paper's recipe: ")
    assert "epochs 2" in note  # the paper has 10
    assert "batch" not in note  # 32 there too
    assert "learning_rate –" in note


def test_libraries_that_vary_among_the_seeds_are_told():
    runs = [run({"sarc": 0.6}, seed=seed, versions={"torch": f"2.{seed}", "numpy": "2.0"}) for seed in (1, 2)]
    (note,) = table(*runs).notes
    assert "torch 2.1 and 2.2" in note
    assert "numpy" not in note


# Beside the paper ----------------------------------------------------------------------------------------------------


def test_a_difference_is_told_to_the_same_model_only():
    found = table(run({"complaints": 0.85}, model="deberta-v3-base"), run({"complaints": 0.85}, model="MiniLM"))
    deberta, minilm = row(found, "complaints").cells
    assert deberta.difference == pytest.approx(-0.07)  # the paper has 0.92 ± 0.01
    assert minilm.difference is None
    ours = lines_of(as_markdown(found), "`complaints`")[0]
    assert ours[1:5] == ["0.850 (-0.070 ≠)", "0.850", "0.92 ± 0.01", "0.36"]


@pytest.mark.parametrize("model", ["microsoft/deberta-v3-base", "deberta-v3-base@abc", "microsoft/deberta-v3-base@abc"])
def test_a_place_on_the_hub_is_the_model_that_the_paper_names(model):
    found = table(
        run({"complaints": 0.85}, model=model, seed=1), run({"complaints": 0.95}, model="deberta-v3-base", seed=2)
    )
    assert [column.name for column in found.columns] == ["deberta-v3-base"]
    assert row(found, "complaints").cells[0].difference == pytest.approx(-0.02)


def test_a_model_of_somebody_else_with_the_same_last_name_is_another():
    assert known_as("somebody/deberta-v3-base") == "somebody/deberta-v3-base"


@pytest.mark.parametrize(
    ("values", "differs"),
    [
        # The paper has 0.92 ± 0.01: 0.01 for rounding and twice 0.01 is 0.03.
        ([0.895], False),
        ([0.885], True),
        # Deviations ± 0.02, so the sample's is 0.028: 0.01 and twice that is 0.067.
        ([0.84, 0.88], False),
        ([0.83, 0.87], True),
    ],
)
def test_a_difference_is_marked_where_it_is_more_than_rounding_and_seeds(values, differs):
    runs = [run({"complaints": value}, seed=seed, model="deberta-v3-base") for seed, value in enumerate(values)]
    assert row(table(*runs), "complaints").cells[0].differs is differs


def test_majority_and_random_are_compared_with_their_own_rows():
    found = table(*(run({"complaints": 0.4}, None, model=model, recipe={}) for model in BASELINES))
    assert found.paper == ("deberta-v3-base", "majority", "random")
    assert lines_of(as_markdown(found), "`complaints`")[0][1:6] == [
        "0.400 (+0.040 ≠)", "0.400 (-0.100 ≠)", "0.92 ± 0.01", "0.36", "0.50",
    ]  # fmt: skip
    assert "majority: without training." in found.notes


def test_what_the_paper_prints_depends_on_the_split():
    assert score_of("deberta-v3-base", "sarc", "test") == (0.74, None)  # its table of single tasks lacks it
    assert score_of("deberta-v3-base", "sarc", "sockette") == (0.77, None)
    assert score_of("deberta-v3-base", "humor-pairs", "test") == (0.98, 0.0)
    assert score_of("deberta-v3-base", "complaints", "sockette") is None
    assert score_of("deberta-v3-base", "complaints", "validation") is None
    assert score_of("majority", "complaints", "sockette") is None


def test_scores_on_sockette_stand_beside_those_of_sockette():
    runs = [run({"sarc": 0.7}, split="sockette"), run({"sarc": 0.1}, split="test", seed=2)]
    found = table(*runs, split="sockette")
    assert lines_of(as_markdown(found), "`sarc`")[0][1:3] == ["0.700", "0.77"]
    assert found.paper_figures == ()
    assert as_markdown(found).startswith("# Scores on SocKETTe")


def test_a_majority_that_finds_texts_without_spans_is_explained():
    found = table(run({"toxic-span": 0.1}, None, model="majority", recipe={}))
    assert "the paper's row is 0 all the same" in as_markdown(found)
    assert "the paper's row is 0" not in as_markdown(table(run({"toxic-span": 0.1})))


# What stands apart ---------------------------------------------------------------------------------------------------


def test_tasks_whose_data_was_corrected_stand_apart_with_the_defects():
    found = table(run({"two-to-lie#receiver_truth": 0.5, "complaints": 0.5, "hahackathon#is_humor": 0.5}))
    assert {block.key: [row.task.name for row in block.rows] for block in found.blocks} == {
        "as_published": ["hahackathon#is_humor", "complaints"],
        "corrected": ["two-to-lie#receiver_truth"],
    }
    # The labels were those of the sender (3), held-out rows in file order (19).
    assert row(found, "two-to-lie#receiver_truth").defects == (3, 19)
    text = as_markdown(found)
    assert text.index("## Data corrected") < text.index("`two-to-lie#receiver_truth`")
    assert "* 3: It carried the sender's labels. Now: The receiver's own labels." in text


def test_what_counts_as_corrected():
    assert changed("hateoffensive") == [5]  # most test rows were in train
    assert changed("tweet_emoji") == [8, 11]  # 11: a sign in the text gave labels away
    assert changed("complaints") == []  # 19: only which items are held out
    assert changed("nobody's") is None


def test_a_task_that_was_never_published_is_in_no_mean():
    new = next(task for task in TASKS if task.name == "complaints").model_copy(update={"name": "newcomer"})
    assert isinstance(new, Task)
    found = make_table([run({"newcomer": 0.1, "complaints": 0.5})], [*TASKS, new])
    assert [(block.key, len(block.rows)) for block in found.blocks] == [("as_published", 1), ("not_published", 1)]
    assert figure(found, "average")[:2] == (0.5, 1)


def test_rows_are_in_the_order_of_the_categories():
    names = ["complaints", "hypo-l", "tweet_emotion", "sarc", "hahackathon#is_humor", "jigsaw#toxic"]
    (block,) = table(run(dict.fromkeys(names, 0.5))).blocks
    assert [one.task.name for one in block.rows] == [
        "hahackathon#is_humor", "sarc", "jigsaw#toxic", "tweet_emotion", "complaints", "hypo-l",
    ]  # fmt: skip


# Figures -------------------------------------------------------------------------------------------------------------


def test_a_figure_of_all_tasks_is_compared_with_the_paper_s_of_the_same_model():
    found = table(run(dict.fromkeys(REGRESSIONS, 0.75), model="roberta-base"))
    assert figure(found, "regression") == (pytest.approx(0.75), 7, True, pytest.approx(-0.04))  # the paper has 0.79
    assert lines_of(as_markdown(found), "`regression`")[0] == [
        "`regression`", "7", "0.750 (-0.040 ≠)", "0.79", "0.50", "0.79",
    ]  # fmt: skip
    assert found.paper_figures == ("deberta-v3-base", "majority", "roberta-base")


@pytest.mark.parametrize(("value", "differs"), [(0.8, False), (0.78, False), (0.801, True), (0.779, True)])
def test_a_figure_is_marked_where_it_differs_by_more_than_rounding(value, differs):
    found = table(run(dict.fromkeys(REGRESSIONS, value), model="roberta-base"))
    assert figure(found, "regression").differs is differs  # the paper has 0.79


@pytest.mark.parametrize("form", [as_markdown, as_html])
def test_means_with_corrected_tasks_say_that_these_count(form):
    told = "Tasks whose data was corrected count too, so a difference may be that of the data."
    assert told in form(table(run({"complaints": 0.5, "hateoffensive": 0.5})))
    assert told not in form(table(run({"complaints": 0.5})))


def test_a_figure_of_fewer_tasks_says_so_and_tells_no_difference():
    found = table(run(dict.fromkeys(REGRESSIONS[1:], 0.75), model="roberta-base"))
    assert figure(found, "regression") == (pytest.approx(0.75), 6, False, None)
    assert lines_of(as_markdown(found), "`regression`")[0][2] == "0.750 [6]"
    assert f"Published tasks without a score: `{'`, `'.join(found.missing)}`." in as_markdown(found)
    assert len(found.missing) == 58 - 6


def test_what_the_paper_prints_by_task_is_compared_task_by_task():
    # The paper: complaints 0.36, hayati_politeness 0.41; and in its own means regressions count as 0.
    values = {"complaints": 0.38, "hayati_politeness": 0.43, "empathy#empathy": 0.5}
    found = table(run(values, None, model="majority", recipe={}))
    assert figure(found, "social_factors").difference == pytest.approx((0.02 + 0.02 + 0) / 3)
    assert "count a regression as 0" in as_markdown(found)


def test_what_the_paper_has_of_another_way_of_training_is_not_the_same_model():
    found = table(run(dict.fromkeys(REGRESSIONS, 0.5), model="T5"))  # its T5 is prompted
    assert figure(found, "regression").difference is None
    assert found.paper_figures == ("deberta-v3-base", "majority")


# Releases, rows, repeats ---------------------------------------------------------------------------------------------


def test_M5_scores_of_several_releases_are_refused_unless_asked_for_and_then_said():
    runs = run({"sarc": 0.5}), run({"sarc": 0.7}, release="2.1.0", content=OTHER)
    with pytest.raises(Problem, match=r"several releases: 2\.0\.0, 2\.1\.0.*--allow-mixed"):
        table(*runs)
    found = table(*runs, allow_mixed=True)
    assert [cell.score.mean for cell in row(found, "sarc").cells] == [0.5, 0.7]
    for text in (as_markdown(found), as_html(found)):
        assert "not of the same data" in text
        assert "Scores of several releases: 2.0.0, 2.1.0." in text
        assert "release 2.1.0" in text
    assert [line["release"] for line in csv.DictReader(io.StringIO(as_csv(found)))][:2] == ["2.0.0", "2.1.0"]


def test_M5_seeds_that_were_scored_on_other_rows_have_no_mean():
    runs = run({"sarc": 0.5}, seed=1), run({"sarc": 0.7}, seed=2, content=OTHER)
    with pytest.raises(Problem, match=r"invented: its seeds were scored on other rows each, test of sarc"):
        table(*runs, allow_mixed=True)


def test_scores_of_samples_are_told():
    assert "Built from samples" in as_markdown(table(run({"sarc": 0.5}, source="sample")))


def test_a_score_that_is_there_twice_is_refused_with_both_files(tmp_path):
    write_scores([run({"sarc": 0.5})], tmp_path / "one.json")
    write_scores([run({"sarc": 0.7}), run({"sarc": 0.7}, seed=2)], tmp_path / "two.json")
    with pytest.raises(
        Problem, match=r"two\.json: the score of invented with seed 1 on test of sarc is in .*one\.json"
    ):
        read_all([tmp_path / "one.json", tmp_path / "two.json"])


def test_a_file_that_is_named_twice_is_read_once(tmp_path):
    write_scores([run({"sarc": 0.5})], tmp_path / "one.json")
    (tmp_path / "folder").mkdir()
    assert len(read_all([tmp_path, tmp_path / "one.json", tmp_path / "folder" / ".." / "one.json"])) == 1


def test_a_folder_stands_for_the_score_files_in_it(tmp_path):
    for number, name in enumerate(("b/scores.json", "a/deep/scores.json")):
        (tmp_path / name).parent.mkdir(parents=True)
        write_scores([run({"sarc": 0.5}, seed=number)], tmp_path / name)
    (tmp_path / "b" / "trial.json").write_text('{"spec": {"runs": 1}}')
    assert [run.seed for run in read_all([tmp_path])] == [1, 0]


def test_a_damaged_score_file_in_a_folder_is_told(tmp_path):
    write_scores([run({"sarc": 0.5})], tmp_path / "scores.json")
    (tmp_path / "cut.json").write_bytes((tmp_path / "scores.json").read_bytes()[:200])
    with pytest.raises(Problem, match=r"cut\.json: is not a score file"):
        read_all([tmp_path])


def test_paths_without_scores_are_told(tmp_path):
    with pytest.raises(Problem, match="there is no score file in this folder"):
        read_all([tmp_path])
    with pytest.raises(WrongUsage, match="there is no such file or folder"):
        read_all([tmp_path / "none.json"])


def test_a_split_without_scores_and_a_task_that_is_not_declared_are_told():
    with pytest.raises(Problem, match="no score on validation"):
        table(run({"sarc": 0.5}), split="validation")
    with pytest.raises(Problem, match=r"no corpus\.yaml declares nonsense"):
        table(run({"nonsense": 0.5}))


def test_a_model_without_scores_on_the_split_is_told():
    found = table(run({"sarc": 0.5}), run({"sarc": 0.5}, model="other", split="validation"))
    assert [column.name for column in found.columns] == ["invented"]
    assert "other has no score on test." in found.notes


# Forms ---------------------------------------------------------------------------------------------------------------


def test_flags_are_footnotes():
    flags = {"sarc": ABSENT, "emobank#valence": UNDEFINED}
    text = as_markdown(table(run({"sarc": 0.5, "emobank#valence": 0.5, "complaints": 0.5}, flags=flags)))
    assert [lines_of(text, f"`{task}`")[0][1] for task in ("sarc", "emobank#valence", "complaints")] == [
        "0.500[^1]", "0.500[^2]", "0.500",
    ]  # fmt: skip
    assert "[^1]: A class that is in no item and is never predicted counts as 0." in text
    assert "[^2]: The predictions are all equal" in text


def test_the_rows_of_a_markdown_table_are_equally_wide():
    text = as_markdown(table(run({"sarc": 0.5, "emobank#valence": 0.5}), run({"sarc": 0.5}, model="a|b*c")))
    for section in text.split("\n\n"):
        if section.startswith("| "):
            assert len({len(line) for line in section.splitlines()}) == 1
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in section.splitlines()}) == 1


def test_the_csv_has_a_line_a_task_and_model():
    flags = {"hateoffensive": ABSENT}
    runs = [
        run({"complaints": 0.85, "hateoffensive": 0.5}, seed=1, model="deberta-v3-base", flags=flags),
        run({"complaints": 0.95}, seed=2, model="deberta-v3-base"),
        run({"complaints": 0.4}, None, model="majority", recipe={}),
    ]  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(as_csv(table(*runs)))))
    tasks = [line for line in lines if line["kind"] == "task"]
    assert [(line["name"], line["model"]) for line in tasks] == [
        ("complaints", "deberta-v3-base"), ("complaints", "majority"), ("hateoffensive", "deberta-v3-base"),
    ]  # fmt: skip
    first, second, third = tasks
    wanted = {"mean": "0.9", "deviation": "0.070711", "seeds": "2", "n": "100", "published": "0.92", "split": "test"}
    wanted |= {"published_deviation": "0.01", "difference": "-0.02", "differs": "false", "majority": "0.36"}
    wanted |= {"defects": "19", "data": "as_published", "release": "2.0.0", "category": "social_factors"}
    assert {name: first[name] for name in wanted} == wanted
    assert (second["difference"], second["differs"], second["deberta"]) == ("0.04", "true", "0.92")
    assert (third["flags"], third["defects"], third["data"]) == ("absent_class", "5 9", "corrected")
    figures = [line for line in lines if line["kind"] == "figure" and line["model"] == "majority"]
    assert [(line["name"], line["mean"], line["tasks"], line["published"]) for line in figures] == [
        ("social_factors", "0.4", "1", "0.25"), ("classification", "0.4", "1", "0.39"), ("average", "0.4", "1", "0.32"),
    ]  # fmt: skip


class Page(HTMLParser):
    """Checks that tags are balanced, and collects ids, links, and what would be loaded."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, text: str):
        super().__init__()
        self.open, self.ids, self.links, self.loaded, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.tags.append(tag)
        self.ids += filter(None, [known.get("id")])
        self.links += filter(None, [known.get("href")])
        self.loaded += filter(None, [known.get("src")])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone():
    flags = {"sarc": ABSENT}
    text = as_html(table(run({"sarc": 0.5, "hateoffensive": 0.5}, flags=flags), run({"sarc": 0.5}, seed=2)))
    page = Page(text)
    assert page.loaded == []
    assert not {"script", "link", "img"}.intersection(page.tags)
    assert len(set(page.ids)) == len(page.ids)
    assert page.links
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert "url(" not in text
    assert "@import" not in text
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')


def test_names_are_shown_and_never_run():
    hostile = '<script>alert(1)</script>|"\n\x1b[31m'
    found = table(run({"sarc": 0.5}, model=hostile, revision=hostile, release=hostile))
    html = as_html(found)
    assert "script" not in Page(html).tags
    assert "&lt;script&gt;alert(1)" in html
    for write in (as_markdown, as_html):
        assert "\x1b" not in write(found)
    assert r"\<script\>alert(1)\</script\>\|" in as_markdown(found)


@pytest.mark.parametrize("form", WRITERS)
def test_equal_scores_give_equal_bytes(form):
    runs = [run({"sarc": 0.5, "complaints": 0.3}, seed=seed, model=model) for seed in (1, 2) for model in ("a", "b")]
    assert WRITERS[form](table(*runs)) == WRITERS[form](table(*runs))
    assert WRITERS[form](table(*runs)).endswith("\n")


# The command ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def scores(tmp_path) -> Path:
    write_scores([run({"sarc": 0.625})], tmp_path / "scores.json")
    return tmp_path / "scores.json"


def status(monkeypatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["socket-data", "baseline", "table", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0


def test_the_command_prints_markdown(scores, monkeypatch, capsys):
    assert status(monkeypatch, scores) == 0
    assert "0.625" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments", "begins"),
    [
        ("table.html", [], "<!DOCTYPE html>"),
        ("table.csv", [], "kind,name,"),
        ("table.md", [], "# Scores on test"),
        ("table", [], "# Scores on test"),
        ("table.md", ["--format", "csv"], "kind,name,"),
    ],
)
def test_the_form_follows_the_name_of_the_file(scores, monkeypatch, capsys, name, arguments, begins):
    out = scores.parent / name
    assert status(monkeypatch, scores, "--out", out, *arguments) == 0
    assert out.read_text(encoding="utf-8").startswith(begins)
    assert capsys.readouterr().out.endswith(f"in {out}.\n")
    assert {path.name for path in out.parent.iterdir()} == {"scores.json", name}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["none.json"], 2, "no such file or folder"),
        (["empty"], 1, "no score file in this folder"),
        (["other.json"], 1, "is not a score file"),
        (["scores.json", "--split", "validation"], 1, "no score on validation"),
        (["scores.json", "--split", "train"], 2, "--split"),
        (["scores.json", "--format", "pdf"], 2, "--format"),
        (["scores.json", "--out", "empty"], 2, "is a folder"),
        (["scores.json", "--out", "none/table.md"], 2, "no such folder"),
        (["scores.json", "--out", "scores.json"], 2, "is a score file, which would be lost"),
        ([], 2, "Missing argument"),
    ],
)
def test_wrong_calls_are_told(scores, monkeypatch, capsys, arguments, code, told):
    (scores.parent / "empty").mkdir()
    (scores.parent / "other.json").write_text("{}")
    monkeypatch.chdir(scores.parent)
    before = scores.read_bytes()
    assert status(monkeypatch, *arguments) == code
    assert told in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert scores.read_bytes() == before


def test_mixed_scores_are_said_beside_a_csv_too_and_a_refusal_leaves_the_old_table(scores, capsys):
    write_scores([run({"sarc": 0.5}, release="2.1.0")], scores.parent / "later.json")
    out = scores.parent / "table.csv"
    out.write_text("old")
    with pytest.raises(Problem, match="several releases"):
        run_table([scores.parent], None, out, "test", False)
    assert out.read_text() == "old"
    assert run_table([scores.parent], None, out, "test", True) == 0
    assert "Scores of several releases: 2.1.0, 2.0.0." in capsys.readouterr().err
    assert out.read_text().startswith("kind,")


def test_a_table_is_written_through_a_link(scores):
    (scores.parent / "link.md").symlink_to(scores.parent / "table.md")
    assert run_table([scores], None, scores.parent / "link.md", "test", False) == 0
    assert (scores.parent / "link.md").is_symlink()
    assert "0.625" in (scores.parent / "table.md").read_text()
