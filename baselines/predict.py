"""Predictions of a model for items."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from transformers import PreTrainedTokenizerBase

from baselines.encode import Encoded, encode, tagged
from baselines.model import Checkpoint, Model
from baselines.recipe import Settings
from builders.declaration import Task

# Rows at a time. Nothing is kept for gradients, so more than in training.
ROWS = 128


def precision(setting: str, device: torch.device) -> torch.dtype:
    """The type to compute in: as the recipe says, or for `auto` 16-bit on a GPU and 32-bit elsewhere."""
    if setting == "auto":
        if device.type != "cuda":
            return torch.float32
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[setting]


class Predicted(NamedTuple):
    """What a model says of items."""

    labels: Sequence
    """As `baselines.scores.measure` takes them: class ids, values, or spans per item."""
    cut: int
    """Items of which it did not see the end."""


def predict_items(
    checkpoint: Checkpoint, task: Task, items: pa.Table, report: Callable[[int, int], None] = lambda done, total: None
) -> Predicted:
    """What a model says of `items` (`text`, or `text_a` and `text_b`). `report` is told how many rows of how many are
    done."""
    about = checkpoint.about
    encoded = encode(checkpoint.tokenizer, task, items, about.settings.max_length, about.settings.overlap)
    labels = predict(
        checkpoint.model,
        checkpoint.tokenizer,
        task,
        encoded,
        len(items),
        about.settings,
        (about.mean, about.deviation),
        report,
    )
    return Predicted(labels, encoded.cut)


def predict(
    model: Model,
    tokenizer: PreTrainedTokenizerBase,
    task: Task,
    encoded: Encoded,
    items: int,
    settings: Settings,
    scale: tuple[float, float],
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Sequence:
    """The labels of `items` encoded items. Values are mapped back by `scale`: mean and deviation of train."""
    found = outputs(model, tokenizer, encoded, settings, report)
    if task.format == "span":
        return tagged(encoded, found, items)
    if not items:
        return np.empty(0, dtype=np.int64 if task.has_classes else np.float64)
    logits = np.stack(found)
    return logits.argmax(axis=1) if task.has_classes else scale[0] + scale[1] * logits[:, 0].astype(np.float64)


def outputs(
    model: Model,
    tokenizer: PreTrainedTokenizerBase,
    encoded: Encoded,
    settings: Settings,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[np.ndarray]:
    """Per row of `encoded` what the head gives: a number per class, one value, or for spans the tag of every token."""
    device = next(model.parameters()).device
    lengths = [len(row["input_ids"]) for row in encoded.rows]
    order = np.argsort(lengths, kind="stable")[::-1] if settings.bucketed else np.arange(len(lengths))
    found: list[np.ndarray] = [np.empty(0)] * len(lengths)
    training = model.training
    model.eval()
    kind = precision(settings.precision, device)
    reduced = nullcontext() if kind == torch.float32 else torch.autocast(device.type, dtype=kind)
    try:
        with torch.inference_mode(), reduced:
            for first in range(0, len(order), ROWS):
                at = order[first : first + ROWS]
                batch = tokenizer.pad([encoded.rows[row] for row in at], return_tensors="pt").to(device)
                logits = model(**batch)["logits"].float().cpu().numpy()
                for row, values in zip(at, logits, strict=True):
                    found[row] = values[: lengths[row]].argmax(axis=1) if values.ndim == 2 else values
                report(min(first + ROWS, len(order)), len(order))
    finally:
        model.train(training)
    return found
