"""The card of a release, README.md with the metadata that `datasets` loads by, and a page for every task.

The Parquet files hold no library metadata, so the features (class names above all) are declared here, in the
spelling that every version of `datasets` reads. All counts come from the lock, which has them from the files.
"""

import re
from collections.abc import Mapping, Sequence

import yaml

from builders.declaration import Corpus, Task
from builders.pipeline.lock import FileFacts, Lock
from builders.pipeline.package import data_path
from cards import facts
from cards.croissant import croissant
from cards.facts import REPOSITORY, Entry
from cards.markdown import render

# Licences that the Hub knows, of those that corpora state (docs/hub/repositories-licenses of its documentation).
HUB_LICENCES = (
    "apache-2.0", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-sa-3.0",
    "cc-by-sa-4.0", "mit", "unknown",
)  # fmt: skip

# The Hub's classes of sizes, each with the first number that is too large for it.
SIZES = {
    "n<1K": 10**3,
    "1K<n<10K": 10**4,
    "10K<n<100K": 10**5,
    "100K<n<1M": 10**6,
    "1M<n<10M": 10**7,
    "10M<n<100M": 10**8,
}


def documents(corpora: Sequence[Corpus], lock: Lock, files: Mapping[str, FileFacts]) -> dict[str, str]:
    """Everything a release says of itself, by path: the card, a page for every task, and Croissant metadata.

    `lock` may be without its `files`; those given are the data files, whose sha256 Croissant states.
    """
    pages = {entry.page: page(entry, lock) for entry in facts.entries(corpora, lock)}
    return {"README.md": card(corpora, lock), **pages, "croissant.json": croissant(corpora, lock, files)}


def card(corpora: Sequence[Corpus], lock: Lock) -> str:
    """The text of README.md for a release of these corpora with this lock."""
    tasks = facts.entries(corpora, lock)
    metadata = yaml.safe_dump(_front(tasks), sort_keys=False, allow_unicode=True, width=1_000)
    text = render(
        "readme.md",
        lock=lock,
        tasks=tasks,
        items=facts.items(tasks),
        groups=facts.by_category(tasks),
        corpora=facts.by_corpus(tasks),
        reasons=facts.reasons(tasks),
        changes=facts.differences(tasks),
        exceptions=facts.exceptions(tasks),
        categories=facts.CATEGORIES,
        repository=REPOSITORY,
    )
    return f"---\n{metadata}---\n\n{text}"


def page(entry: Entry, lock: Lock) -> str:
    """The page of a task: labels, sizes, what was left out, notes, source, licence, citation."""
    return render("task.md", lock=lock, entry=entry, categories=facts.CATEGORIES, repository=REPOSITORY)


# The metadata --------------------------------------------------------------------------------------------


def _front(tasks: Sequence[Entry]) -> dict:
    languages = sorted({entry.corpus.language for entry in tasks})
    return {
        "pretty_name": "SocKET",
        "language": languages,
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        **_licence(tasks),
        "task_categories": _task_categories(tasks),
        "size_categories": [size_category(facts.items(tasks))],
        "source_datasets": ["extended"],
        "tags": ["benchmark", "social-knowledge", *(name.replace("_", "-") for name in facts.by_category(tasks))],
        "configs": [_config(entry) for entry in tasks],
        "dataset_info": [_info(entry) for entry in tasks],
    }


def _licence(tasks: Sequence[Entry]) -> dict[str, str]:
    """The licence of all corpora, if they have one and the same, else that it is told per corpus."""
    stated = {entry.corpus.license for entry in tasks}
    only = stated.pop().lower() if len(stated) == 1 else ""
    if only in HUB_LICENCES:
        return {"license": only}
    # An id of the form my-license-1.0, as the Hub's template of a dataset card wants it.
    name = re.sub(r"[^a-z0-9.]+", "-", only).strip("-") or "per-corpus"
    return {
        "license": "other",
        "license_name": name,
        "license_link": f"https://huggingface.co/datasets/{REPOSITORY}#licences",
    }


def _task_categories(tasks: Sequence[Entry]) -> list[str]:
    formats = {entry.task.format for entry in tasks}
    found = {"text-classification": formats - {"span"}, "token-classification": formats & {"span"}}
    return [category for category, present in found.items() if present]


def size_category(items: int) -> str:
    """The Hub's class for so many items."""
    return next(name for name, too_many in SIZES.items() if items < too_many)


def _filled(entry: Entry) -> dict:
    """The splits that have items: `datasets` cannot load a split without any."""
    return {split: one for split, one in entry.splits.items() if one["items"]}


def _config(entry: Entry) -> dict:
    return {
        "config_name": entry.task.name,
        "data_files": [{"split": split, "path": data_path(entry.task, split)} for split in _filled(entry)],
    }


def _info(entry: Entry) -> dict:
    return {
        "config_name": entry.task.name,
        "features": features(entry.task),
        "splits": [
            {"name": split, "num_bytes": one["bytes"], "num_examples": one["items"]}
            for split, one in _filled(entry).items()
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
