"""One trial: one model, one task, one seed. It is trained, scored, and written down; a second call finds it done.

`OUT/trial.json` says what the trial is and, once it is done, what it gave. Beside it lie `predictions.parquet`, of
test, and, if asked for, the `checkpoint`.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from baselines.data import Release, capped, gold_labels
from baselines.recipe import Settings
from baselines.scores import Epoch, Score, measure, versions
from builders.declaration import Task
from builders.files import whole_file
from builders.problems import Problem

TRIAL = "trial.json"
PREDICTIONS = "predictions.parquet"
COMPUTING = ("torch", "transformers", "tokenizers", "numpy")


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Spec(_Kept):
    """What makes a trial: the same spec gives the same scores on one machine."""

    release: str
    source: str
    task: str
    train: str
    """The digests of the splits that training sees."""
    validation: str
    test: str
    model: str
    settings: Settings
    seed: int
    versions: dict[str, str]


class Done(_Kept):
    """What a trial gave."""

    revision: str | None
    """Of a model from the Hub: the commit."""
    epochs: tuple[Epoch, ...]
    """The model is that of the epoch with the best score on validation."""
    items: int
    """Items trained on."""
    cut: dict[str, int]
    """By split the items that were longer than what the model reads."""
    scores: tuple[Score, ...]
    device: str


class Trial(_Kept):
    """What `trial.json` says."""

    spec: Spec
    done: Done | None = None


def specify(release: Release, task: Task, model: str, settings: Settings, seed: int) -> Spec:
    """The spec of a trial on a release."""
    digests = {split: release.digest(task, split) for split in ("train", "validation", "test")}
    return Spec(
        release=release.lock["release"],
        source=release.lock["source"],
        task=task.name,
        model=model,
        settings=settings,
        seed=seed,
        versions=versions(*COMPUTING),
        **digests,
    )


def read_trial(folder: Path) -> Trial | None:
    """What `folder` says of a trial; None if it holds none. Raises `Problem` if that cannot be read."""
    try:
        return Trial.model_validate_json((folder / TRIAL).read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Problem(f"cannot be read ({error.strerror}).", where=[str(folder / TRIAL)]) from None
    except ValidationError as error:
        what = f"does not say what a trial is ({error.errors()[0]['msg']})."
        raise Problem(what, where=[str(folder / TRIAL)], todo="Remove the folder, or give another --out.") from None


def run_trial(
    release: Release,
    task: Task,
    model: str,
    settings: Settings,
    seed: int,
    out: Path,
    keep: bool = False,
    report: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Trial:
    """Train and score a model on a task; `out` holds the trial afterwards, with its checkpoint if `keep` says so.

    A trial that is done there is not done again, one that was cut off goes on after its last epoch. `report` is told
    what is being done, how far it is and out of how much. Raises `Problem` if `out` holds another trial, the model
    cannot be had, a split has no item, or the disk is full.
    """
    spec = specify(release, task, model, settings, seed)
    found = read_trial(out)
    if found and found.spec != spec:
        raise Problem(
            f"holds another trial ({_difference(found.spec, spec)}).", where=[str(out)], todo="Give another --out."
        )
    if found and found.done and (not keep or (out / "checkpoint").is_dir()):
        return found
    splits = {split: release.read(task, split) for split in ("train", "validation", "test", "sockette")}
    for split in ("train", "validation", "test"):
        if not len(splits[split]):
            raise Problem(f"{split} has no item.", where=[str(release.folder), task.name])

    # Here, so that the command line, and a sweep where all is done, need no torch.
    from baselines.model import About, Checkpoint, load_encoder, save_checkpoint
    from baselines.predict import predict_items
    from baselines.train import train

    encoder = load_encoder(model, settings)
    items = capped(task, splits["train"], settings.train_items)
    out.mkdir(parents=True, exist_ok=True)
    _write(out / TRIAL, Trial(spec=spec))
    trained = train(
        encoder, task, items, splits["validation"], settings, seed, out, lambda *told: report("training", *told[:2])
    )
    about = About(
        task=task.name,
        format=task.format,
        labels=tuple(label.name for label in task.labels),
        model=model,
        revision=encoder.revision,
        settings=settings,
        seed=seed,
        release=spec.release,
        train=spec.train,
        mean=trained.scale[0],
        deviation=trained.scale[1],
        versions=spec.versions,
    )
    checkpoint = Checkpoint(about, trained.model, encoder.tokenizer)
    predicted = predict_items(checkpoint, task, splits["test"], lambda *told: report("predicting", *told))
    write_predictions(task, splits["test"]["id"], predicted.labels, out / PREDICTIONS)
    if keep:
        save_checkpoint(checkpoint, out / "checkpoint")
    done = Done(
        revision=encoder.revision,
        epochs=trained.epochs,
        items=len(items),
        cut={"train": trained.cut, "test": predicted.cut},
        scores=tuple(scored(release, task, splits, predicted.labels)),
        device=trained.model.encoder.device.type,
    )
    _write(out / TRIAL, Trial(spec=spec, done=done))
    shutil.rmtree(out / "state", ignore_errors=True)
    return Trial(spec=spec, done=done)


def scored(release: Release, task: Task, splits: dict[str, pa.Table], predicted: Sequence) -> list[Score]:
    """The scores on test and on SocKETTe of predictions for test: SocKETTe is a part of it."""
    among = pc.is_in(splits["test"]["id"], value_set=splits["sockette"]["id"].combine_chunks()).to_pylist()
    parts = {
        "test": list(predicted),
        "sockette": [one for one, inside in zip(predicted, among, strict=True) if inside],
    }
    return [
        Score(task=task.name, split=split, value=value, flag=flag, n=len(part), content=release.digest(task, split))
        for split, part in parts.items()
        for value, flag in [measure(task, gold_labels(task, splits[split]), part)]
    ]


def write_predictions(task: Task, ids: pa.ChunkedArray, predicted: Sequence, path: Path) -> None:
    """Write predictions as Parquet: `id`, `label` as the release has it and the `name` of a class; for spans `id`
    and `spans`."""
    if task.format == "span":
        kind = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())]))
        spans = [[{"start": start, "end": end} for start, end in one] for one in predicted]
        columns = {"id": ids, "spans": pa.array(spans, type=kind)}
    else:
        columns = {"id": ids, "label": pa.array(predicted, type=pa.int64() if task.has_classes else pa.float64())}
        if task.has_classes:
            columns["name"] = pa.array([task.labels[at].name for at in predicted], type=pa.string())
    with whole_file(path) as beside:
        pq.write_table(pa.table(columns), beside, store_schema=False)


def read_predictions(task: Task, path: Path) -> tuple[list[str], Sequence]:
    """Ids and predictions of a file of `write_predictions`. Raises `Problem` if it is none."""
    column = "spans" if task.format == "span" else "label"
    try:
        table = pq.read_table(path, columns=["id", column], partitioning=None)
    except (OSError, pa.ArrowException, KeyError):
        raise Problem("holds no predictions for this task.", where=[str(path)]) from None
    if column == "label":
        return table["id"].to_pylist(), table["label"].to_numpy()
    return table["id"].to_pylist(), gold_labels(task, table)


def _difference(one: Spec, other: Spec) -> str:
    """In which settings two specs differ."""
    flat = [{**spec.model_dump(exclude={"settings"}), **spec.settings.model_dump()} for spec in (one, other)]
    names = [name for name in flat[0] if flat[0][name] != flat[1][name]]
    return "; ".join(f"{name}: {str(flat[0][name])[:60]} there, {str(flat[1][name])[:60]} now" for name in names)


def _write(path: Path, trial: Trial) -> None:
    with whole_file(path) as beside:
        beside.write_text(trial.model_dump_json(indent=1) + "\n", encoding="utf-8", newline="\n")
