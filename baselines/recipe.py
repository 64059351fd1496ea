"""A recipe: every setting of fine-tuning, from a YAML file, each of which can be overridden."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from builders.problems import WrongUsage, examples

RECIPES = Path(__file__).parent / "recipes"

Count = Annotated[int, Field(ge=1)]


class Settings(BaseModel):
    """How one model is trained on one task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    learning_rate: Annotated[float, Field(gt=0, le=1)]
    """The highest, after the warm-up; AdamW."""
    warmup: Annotated[float, Field(ge=0, lt=1)]
    """Share of the steps over which the rate rises from 0; then it falls to 0, linearly."""
    weight_decay: Annotated[float, Field(ge=0)]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    """In the head."""
    batch: Count
    """Items (windows, for spans) a step."""
    epochs: Count
    """At most."""
    patience: Count
    """Epochs without a better score on validation after which training stops."""
    precision: Literal["auto", "fp32", "bf16", "fp16"]
    """auto: 16-bit on a GPU, 32-bit elsewhere."""
    max_length: Annotated[int, Field(ge=8)]
    """Tokens of a text, of both texts of a pair, or of a window; special tokens count."""
    overlap: Annotated[int, Field(ge=0)]
    """Tokens that neighbouring windows of a span text share."""
    train_items: Count | None
    """At most so many items to train on; null: all. See `baselines.data.capped`."""
    bucketed: bool
    """Batches of texts of like length, which wastes less on padding."""

    @model_validator(mode="after")
    def _windows_move(self):
        if self.overlap > self.max_length // 2:
            raise ValueError(f"overlap: {self.overlap} is more than half of max_length, {self.max_length}")
        return self


class Recipe(Settings):
    """Settings, the seeds to repeat them with, and what is different for single tasks."""

    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**32)], ...], Field(min_length=1)]
    tasks: dict[str, dict] = {}
    """By task: settings that it needs otherwise."""

    def settings(self, task: str) -> Settings:
        """The settings for a task."""
        own = self.model_dump(exclude={"seeds", "tasks"})
        return Settings.model_validate(own | self.tasks.get(task, {}))

    @model_validator(mode="after")
    def _each(self):
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds: one stands there twice")
        for task in self.tasks:
            try:
                self.settings(task)
            except ValidationError as error:
                raise ValueError(f"tasks.{task}: {_told(error)}") from None
        return self


def read_recipe(name: str, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe of that name (`baselines/recipes/`), or of a YAML file; `overrides` are `SETTING=VALUE` and count for
    every task, also those that have their own.

    Raises `WrongUsage` if there is no such recipe or it says what no recipe says.
    """
    file = Path(name) if name.endswith((".yaml", ".yml")) else RECIPES / f"{name}.yaml"
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError:
        known = examples(sorted(path.stem for path in RECIPES.glob("*.yaml")))
        todo = f"There are {known}; or give a .yaml file."
        raise WrongUsage(f"there is no recipe {name}.", todo=todo) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WrongUsage(f"is not YAML ({' '.join(str(error).split())}).", where=[str(file)]) from None
    if not isinstance(content, dict):
        raise WrongUsage("is not a list of settings.", where=[str(file)])
    for override in overrides:
        setting, equals, value = override.partition("=")
        if not equals or setting not in Recipe.model_fields or setting == "tasks":
            settings = ", ".join(field for field in Recipe.model_fields if field != "tasks")
            raise WrongUsage(f"--set {override}: give SETTING=VALUE.", todo=f"Settings: {settings}.")
        try:
            content[setting] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise WrongUsage(f"--set {override}: the value cannot be read.") from None
        for own in (content.get("tasks") or {}).values():
            own.pop(setting, None)
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        raise WrongUsage(f"{_told(error)}.", where=[str(file)]) from None


def _told(error: ValidationError) -> str:
    faults = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors()]
    return "; ".join(
        f"{place}: {message}" if place else message.removeprefix("Value error, ") for place, message in faults
    )
