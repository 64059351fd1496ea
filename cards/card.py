"""The card of a release: README.md with the metadata that `datasets` loads by.

The Parquet files hold no library metadata, so the features (class names above all) are declared here, in the
spelling that every version of `datasets` reads. All counts come from the lock, which has them from the files.
"""

from collections.abc import Sequence

import yaml

from builders.declaration import Corpus, Task

SPLITS = ("train", "validation", "test", "sockette")


def card(corpora: Sequence[Corpus], lock: dict) -> str:
    """The text of README.md for a release of these corpora with this lock."""
    tasks = [(corpus, task) for corpus in corpora for task in corpus.tasks if _facts(lock, corpus, task)]
    front = {
        "pretty_name": "SocKET",
        "language": sorted({corpus.language for corpus, _ in tasks}),
        "configs": [_config(task, _facts(lock, corpus, task)) for corpus, task in tasks],
        "dataset_info": [_info(task, _facts(lock, corpus, task)) for corpus, task in tasks],
    }
    metadata = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1_000)
    return f"---\n{metadata}---\n\n{_text(tasks, lock)}"


def _facts(lock: dict, corpus: Corpus, task: Task) -> dict | None:
    return lock["corpora"].get(corpus.name, {}).get("tasks", {}).get(task.name)


def _filled(facts: dict) -> list[str]:
    """The splits that have items: `datasets` cannot load a split without any."""
    return [split for split in SPLITS if facts["splits"][split]["items"]]


def _config(task: Task, facts: dict) -> dict:
    return {
        "config_name": task.name,
        "data_files": [{"split": split, "path": f"data/{task.slug}/{split}.parquet"} for split in _filled(facts)],
    }


def _info(task: Task, facts: dict) -> dict:
    return {
        "config_name": task.name,
        "features": features(task),
        "splits": [
            {
                "name": split,
                "num_bytes": facts["splits"][split]["bytes"],
                "num_examples": facts["splits"][split]["items"],
            }
            for split in _filled(facts)
        ],
    }


def features(task: Task) -> list[dict]:
    """The columns of a task as the card declares them, `text` and `label` first."""
    names = {str(index): name for index, name in enumerate(task.label_names)}
    label = {
        "regression": {"dtype": "float64"},
        "span": {"struct": [{"name": task.label_names[0], "sequence": "string"}]},
    }.get(task.format, {"dtype": {"class_label": {"names": names}}})
    extra = {
        "pair": [{"name": "text_a", "dtype": "string"}, {"name": "text_b", "dtype": "string"}],
        "span": [
            {
                "name": "spans",
                "list": [{"name": "start", "dtype": "int64"}, {"name": "end", "dtype": "int64"}],
            }
        ],
    }.get(task.format, [])
    return [
        {"name": "text", "dtype": "string"},
        {"name": "label", **label},
        {"name": "id", "dtype": "string"},
        *extra,
    ]


def _text(tasks: Sequence[tuple[Corpus, Task]], lock: dict) -> str:
    lines = [
        "# SocKET",
        "",
        f"Release {lock['release']} of SocKET, a benchmark of social knowledge in language: {len(tasks)} tasks"
        f" from {len({corpus.name for corpus, _ in tasks})} raw corpora."
        + (" **Built from invented samples: a demonstration, not data.**" if lock["source"] == "sample" else ""),
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'load_dataset("Blablablab/SOCKET", "{tasks[0][1].name}")',
        "```",
        "",
        "Splits: `train`, `validation`, `test`, and `sockette`, a stratified sample of at most 1,000 test items.",
        "Every text is in one split only, in all tasks of its corpus. `ledger.parquet` lists every raw row that"
        " did not become an item, with the reason; `overlaps.parquet` lists texts that occur in several corpora:"
        " multi-task training leaves out the items with `split` train and `other_split` validation or test.",
        "",
        "| task | category | format | labels, in the order of their ids | train | validation | test | sockette |",
        "|---|---|---|---|--:|--:|--:|--:|",
    ]
    for corpus, task in tasks:
        splits = _facts(lock, corpus, task)["splits"]
        counts = " | ".join(f"{splits[split]['items']:,}" for split in SPLITS)
        labels = ", ".join(task.label_names)
        lines.append(f"| {task.name} | {task.category} | {task.format} | {labels} | {counts} |")
    lines += ["", "## Labels and sources", ""]
    for corpus in dict.fromkeys(corpus for corpus, _ in tasks):
        lines += _source(corpus, [task for owner, task in tasks if owner is corpus])
    return "\n".join(lines).rstrip() + "\n"


def _source(corpus: Corpus, tasks: Sequence[Task]) -> list[str]:
    lines = [
        f"### {corpus.name}",
        "",
        f"{corpus.title}. {', '.join(corpus.authors)}. {corpus.venue}, {corpus.year}. <{corpus.homepage}>",
        "",
        f"Licence: {corpus.license}. {corpus.license_statement}",
        "",
    ]
    for task in tasks:
        lines.append(f"* `{task.name}`")
        lines += [f"  * {index}, {label.name}: {label.meaning}" for index, label in enumerate(task.labels)]
        lines += [f"  * Note: {note}" for note in task.notes]
    return [*lines, "", "```bibtex", corpus.bibtex.strip(), "```", ""]
