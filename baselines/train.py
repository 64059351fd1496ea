"""Fine-tuning of one model on one task, in epochs that survive a kill.

The loop is the `Trainer` of transformers. What it needs to go on after a kill lies in `OUT/state` until the training is
done; of that only tensors are ever read back.
"""

import os
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.trainer_utils import get_last_checkpoint

from baselines.data import gold_labels
from baselines.encode import IGNORED, encode, with_labels
from baselines.model import Encoder, Model, full, no_space, parameters
from baselines.predict import precision, predict
from baselines.recipe import Settings
from baselines.scores import Epoch, measure
from builders.declaration import Task

# A state keeps three numbers of 4 bytes for every number that a model learns: itself and two of AdamW. There are two
# states at a time (the best, the last), a third while it is written, and the checkpoint itself.
BYTES_PER_PARAMETER = 4 * 3 * 3 + 4

WHOLE = "whole"


class Trained(NamedTuple):
    """A fine-tuned model: that of its best epoch."""

    model: Model
    scale: tuple[float, float]
    """Mean and deviation of the values of train, for a regression; else 0 and 1."""
    epochs: tuple[Epoch, ...]
    cut: int
    """Training items of which the model did not see the end."""


def train(
    encoder: Encoder,
    task: Task,
    items: pa.Table,
    validation: pa.Table,
    settings: Settings,
    seed: int,
    out: Path,
    report: Callable[[int, int, Epoch | None], None] = lambda step, steps, epoch: None,
) -> Trained:
    """Fine-tune an encoder on `items`, choosing the epoch by `validation` (of equal ones the first).

    Deterministic for one seed on one machine. If `out`/state holds the state of such a training, it goes on there;
    whoever calls makes sure that it is the same one. `report` is told the step, how many there are at most, and of an
    epoch that is done what it gave. Raises `Problem` if there is no space for the state.
    """
    check_space(encoder, out)
    gold = gold_labels(task, items)
    scale = (0.0, 1.0)
    if task.format == "regression":
        # Standardised, so that one learning rate suits a scale of 0 to 1 and one of 1 to 100.
        scale = (float(np.mean(gold)), float(np.std(gold)) or 1.0)
    encoded = encode(encoder.tokenizer, task, items, settings.max_length, settings.overlap)
    seen = encode(encoder.tokenizer, task, validation, settings.max_length, settings.overlap)
    # Seeded before the head is made, whose weights are drawn.
    set_seed(seed)
    model = Model(encoder.model, task, settings.dropout)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    state = out / "state"
    answers = gold_labels(task, validation)

    def score(model: Model) -> float:
        predicted = predict(model, encoder.tokenizer, task, seen, len(validation), settings, scale)
        return measure(task, answers, predicted).value

    trainer = _Trainer(
        score,
        report,
        model=model,
        args=_arguments(settings, seed, state),
        train_dataset=with_labels(task, encoded, items, *scale),
        eval_dataset=seen.rows,
        data_collator=lambda rows: _batch(encoder.tokenizer, rows),
        callbacks=[EarlyStoppingCallback(settings.patience)],
    )
    with no_space(out), warnings.catch_warnings():
        # On a machine without an accelerator torch remarks that there is nothing to pin memory for.
        warnings.filterwarnings("ignore", message=".*pin_memory.*")
        trainer.train(resume_from_checkpoint=_last_whole(state))
    return Trained(model, scale, _epochs(trainer.state.log_history), encoded.cut)


def check_space(encoder: Encoder, out: Path) -> None:
    """Raise `Problem` if the disk of `out` has no space for what training keeps."""
    out.mkdir(parents=True, exist_ok=True)
    needed = parameters(encoder.model) * BYTES_PER_PARAMETER
    if shutil.disk_usage(out).free < needed:
        raise full(out, needed)


def _arguments(settings: Settings, seed: int, state: Path) -> TrainingArguments:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind = precision(settings.precision, device)
    return TrainingArguments(
        output_dir=str(state),
        use_cpu=device.type == "cpu",
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,
        lr_scheduler_type="linear",
        weight_decay=settings.weight_decay,
        per_device_train_batch_size=settings.batch,
        num_train_epochs=settings.epochs,
        train_sampling_strategy="group_by_length" if settings.bucketed else "random",
        bf16=kind == torch.bfloat16,
        fp16=kind == torch.float16,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=1,
        restore_callback_states_from_checkpoint=True,
        load_best_model_at_end=True,
        metric_for_best_model="score",
        greater_is_better=True,
        seed=seed,
        report_to=[],
        disable_tqdm=True,
        log_level="error",
        remove_unused_columns=False,
        dataloader_pin_memory=device.type == "cuda",
    )


def _batch(tokenizer, rows: Sequence[dict]) -> dict[str, torch.Tensor]:
    batch = tokenizer.pad([{name: row[name] for name in row if name != "labels"} for row in rows], return_tensors="pt")
    labels = [row["labels"] for row in rows]
    if isinstance(labels[0], list):
        width = batch["input_ids"].shape[1]
        labels = [row + [IGNORED] * (width - len(row)) for row in labels]
    return dict(batch) | {"labels": torch.tensor(labels)}


def _last_whole(state: Path) -> str | None:
    """The newest state that was written to its end; what a kill left half written goes."""
    for folder in state.glob("checkpoint-*"):
        if not (folder / WHOLE).exists():
            shutil.rmtree(folder)
    return get_last_checkpoint(str(state)) if state.is_dir() else None


class _Trainer(Trainer):
    """Validates by the score of the task, and marks states that were written to their end."""

    def __init__(self, score: Callable[[Model], float], report: Callable[[int, int, Epoch | None], None], **more):
        super().__init__(**more)
        self._score = score
        self.remove_callback(PrinterCallback)
        self.add_callback(_Told(report))

    def evaluate(self, *_, **__) -> dict[str, float]:
        scored = {"eval_score": self._score(self.model)}
        self.log(scored)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, scored)
        return scored

    def _save_checkpoint(self, model, trial) -> None:
        super()._save_checkpoint(model, trial)
        (Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}" / WHOLE).touch()


class _Told(TrainerCallback):
    """Passes on how far the training is."""

    def __init__(self, report: Callable[[int, int, Epoch | None], None]):
        self._report = report

    def on_step_end(self, args, state, control, **_) -> None:
        self._report(state.global_step, state.max_steps, None)

    def on_evaluate(self, args, state, control, **_) -> None:
        self._report(state.global_step, state.max_steps, _epochs(state.log_history)[-1])


def _epochs(history: Sequence[dict]) -> tuple[Epoch, ...]:
    losses = [entry["loss"] for entry in history if "loss" in entry]
    scores = [entry["eval_score"] for entry in history if "eval_score" in entry]
    return tuple(
        Epoch(epoch=number, loss=loss, validation=score)
        for number, (loss, score) in enumerate(zip(losses, scores, strict=True), start=1)
    )
