"""Recipes: what they hold, how settings are overridden, and what is told of wrong ones."""

import pytest

from baselines.data import capped
from baselines.recipe import RECIPES, read_recipe
from builders.declaration import load_corpora
from builders.problems import WrongUsage

TASKS = {task.name: task for corpus in load_corpora().values() for task in corpus.tasks}


def test_the_paper_recipe_is_that_of_the_paper():
    recipe = read_recipe("paper")
    # Choi et al. 2023, appendix on fine-tuning.
    assert (recipe.learning_rate, recipe.warmup, recipe.batch, recipe.epochs, recipe.patience) == (
        1e-5,
        0.06,
        32,
        10,
        3,
    )
    assert len(recipe.seeds) == 3
    assert recipe.precision == "auto"


@pytest.mark.parametrize("name", sorted(path.stem for path in RECIPES.glob("*.yaml")))
def test_every_recipe_names_only_tasks_that_there_are(name):
    assert read_recipe(name).tasks.keys() <= TASKS.keys()


def test_every_setting_can_be_overridden(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text((RECIPES / "paper.yaml").read_text() + "tasks:\n  complaints: {epochs: 4, batch: 8}\n")
    recipe = read_recipe(str(file), ["epochs=2", "learning_rate=3e-5", "seeds=[7, 8]", "train_items=100"])
    assert recipe.seeds == (7, 8)
    own = recipe.settings("complaints")
    assert (own.epochs, own.batch, own.learning_rate, own.train_items) == (2, 8, 3e-5, 100)
    assert recipe.settings("sarc").batch == 32


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("epochs=0", "epochs: Input should be greater than or equal to 1"),
        ("epochs=two", "epochs: Input should be a valid integer"),
        ("epoch=2", r"--set epoch=2: give SETTING=VALUE. Settings: learning_rate, "),
        ("epochs", "--set epochs: give SETTING=VALUE"),
        ("seeds=[1, 1]", "seeds: one stands there twice"),
        ("overlap=200", "overlap: 200 is more than half of max_length, 256"),
        ("precision=fp8", "precision: Input should be 'auto'"),
        ("batch=[", "the value cannot be read"),
    ],
)
def test_a_wrong_override_is_told(override, told):
    with pytest.raises(WrongUsage, match=told.replace("[", r"\[")):
        read_recipe("paper", [override])


@pytest.mark.parametrize(
    ("content", "told"),
    [("[1]", "not a list of settings"), ("a: [", "is not YAML"), ("batch: 32", "learning_rate: Field required")],
)
def test_a_wrong_file_is_told(tmp_path, content, told):
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    with pytest.raises(WrongUsage, match=told):
        read_recipe(str(file))


def test_a_recipe_that_there_is_not_is_told():
    with pytest.raises(WrongUsage, match=r"there is no recipe papers. There are minilm-l6-cpu, paper"):
        read_recipe("papers")


def test_classes_share_a_cap_as_evenly_as_they_have_items():
    import pyarrow as pa

    task = TASKS["tweet_emotion"]  # four classes
    labels = [0] * 10 + [1] * 2 + [2] * 8 + [3] * 1
    table = pa.table({"label": labels, "id": [f"{at:016x}" for at in range(len(labels))]})
    found = capped(task, table, 12)["label"].to_pylist()
    assert [found.count(label) for label in range(4)] == [5, 2, 4, 1]
    assert capped(task, table, 12)["id"].to_pylist()[:5] == [f"{at:016x}" for at in range(5)]
    assert len(capped(task, table, 21)) == len(capped(task, table, None)) == 21
    assert capped(TASKS["emobank#valence"], table, 3)["id"].to_pylist() == [f"{at:016x}" for at in range(3)]
