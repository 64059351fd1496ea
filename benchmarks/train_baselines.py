"""Items per second in training and inference, batches of like length beside batches as they come, in one run.

uv run python benchmarks/train_baselines.py RELEASE TASK [--model NAME] [--items N] [--set SETTING=VALUE]
"""

import argparse
import platform
import tempfile
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from baselines.data import capped, open_release
from baselines.encode import encode
from baselines.model import load_encoder
from baselines.predict import predict
from baselines.recipe import read_recipe
from baselines.train import train
from builders.declaration import load_corpora


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("task")
    parser.add_argument("--model", default="minilm-l6")
    parser.add_argument("--recipe", default="minilm-l6-cpu")
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    release = open_release(asked.release, load_corpora())
    task = release.tasks[asked.task]
    items = capped(task, release.read(task, "train"), asked.items)
    test = release.read(task, "test").slice(0, asked.items)
    seconds = {}
    for bucketed in (True, False):
        settings = read_recipe(asked.recipe, [*asked.set, "epochs=1", f"bucketed={str(bucketed).lower()}"])
        settings = settings.settings(task.name)
        encoder = load_encoder(asked.model, settings)
        with tempfile.TemporaryDirectory() as folder:
            # Validation takes no time here: one item.
            seconds[bucketed, "training"], trained = timed(
                lambda: train(encoder, task, items, test.slice(0, 1), settings, 1, Path(folder))  # noqa: B023
            )
        encoded = encode(encoder.tokenizer, task, test, settings.max_length, settings.overlap)
        seconds[bucketed, "inference"], _ = timed(
            lambda: predict(trained.model, encoder.tokenizer, task, encoded, len(test), settings, trained.scale)  # noqa: B023
        )
    device = next(trained.model.parameters()).device.type
    title = f"{asked.model}, {task.name}, {settings.max_length} tokens, {settings.precision}, {device}"
    table = Table(title=title, box=None, pad_edge=False)
    for heading in ("", "like length", "as they come", "ratio"):
        table.add_column(heading, justify="left" if not heading else "right")
    for what, count in (("training", len(items)), ("inference", len(test))):
        fast, plain = (count / seconds[bucketed, what] for bucketed in (True, False))
        table.add_row(f"{what}, items per second", f"{fast:.0f}", f"{plain:.0f}", f"{fast / plain:.2f}")
    console = Console(highlight=False)
    console.print(table)
    console.print(f"{len(items):,} and {len(test):,} items; torch {torch.__version__}, {platform.machine()}")


def timed(work):
    """How long `work` took, and what it gave."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    main()
