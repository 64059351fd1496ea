"""Croissant metadata of a release: croissant.json, JSON-LD after the Croissant Format Specification 1.0
(<https://docs.mlcommons.org/croissant/docs/croissant-spec.html>).

A file is named by its path in the release, beside which croissant.json lies: so it holds for a folder, a mirror and
every revision of a repository, and every sha256 is that of the file it was made from.
"""

import json
from collections.abc import Mapping, Sequence

from builders.declaration import Corpus, Task
from builders.pipeline.lock import FileFacts, Lock
from builders.pipeline.package import SPLIT_FILES
from cards.facts import REPOSITORY, Entry, by_category, by_corpus, entries
from cards.markdown import TEMPLATES, number

PARQUET = "application/x-parquet"

# The context of the specification, 1.0.
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(corpora: Sequence[Corpus], lock: Lock, files: Mapping[str, FileFacts]) -> str:
    """The text of croissant.json: a file object for every data file, and per task a file set and a record set.

    `files` are the facts of the data files by path. Classes are a record set of their own, `<slug>/labels`.
    """
    tasks = entries(corpora, lock)
    content = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "SocKET",
        "description": _description(tasks, lock),
        "url": f"https://huggingface.co/datasets/{REPOSITORY}",
        "version": lock["release"],
        "license": _licences(tasks),
        "citeAs": (TEMPLATES / "socket.bib").read_text(encoding="utf-8").strip(),
        "inLanguage": sorted({entry.corpus.language for entry in tasks}),
        "keywords": ["social knowledge", "benchmark", *(name.replace("_", " ") for name in by_category(tasks))],
        "isLiveDataset": False,
        "distribution": [one for entry in tasks for one in _distribution(entry, files)],
        "recordSet": [_splits(), *(one for entry in tasks for one in _record_sets(entry))],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _description(tasks: Sequence[Entry], lock: Lock) -> str:
    built = " Built from invented samples: a demonstration, not data." if lock["source"] == "sample" else ""
    size, corpora = number(len(tasks), "task", "tasks"), number(len(by_corpus(tasks)), "corpus", "corpora")
    return f"A benchmark of social knowledge in language: {size} from {corpora}.{built}"


def _licences(tasks: Sequence[Entry]) -> list[str]:
    """Addresses of the licences that corpora state, and of the card's table for those that state none."""
    stated = {name for entry in tasks for name in entry.corpus.license.split(" AND ")}
    known = [f"https://spdx.org/licenses/{name}.html" for name in sorted(stated - {"unknown"})]
    return [*known, f"https://huggingface.co/datasets/{REPOSITORY}#licences"]


def _distribution(entry: Entry, files: Mapping[str, FileFacts]) -> list[dict]:
    objects = [
        {
            "@type": "cr:FileObject",
            "@id": path,
            "name": path,
            "contentUrl": path,
            "contentSize": f"{files[path]['bytes']} B",
            "encodingFormat": PARQUET,
            "sha256": files[path]["sha256"],
        }
        for path in entry.files
    ]
    together = {
        "@type": "cr:FileSet",
        "@id": f"{entry.task.slug}/files",
        "name": f"{entry.task.name}: files",
        "encodingFormat": PARQUET,
        "includes": f"data/{entry.task.slug}/*.parquet",
    }
    return [*objects, together]


def _splits() -> dict:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "description": "The splits of every task; sockette is a sample of test.",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [_field("splits/name", "name", "sc:Text")],
        "data": [{"splits/name": split} for split in SPLIT_FILES],
    }


def _record_sets(entry: Entry) -> list[dict]:
    task = entry.task
    records = {
        "@type": "cr:RecordSet",
        "@id": task.slug,
        "name": task.name,
        "description": f"{task.format}, {task.category}, from {entry.corpus.title}. {_meaning(task)}",
        "key": [{"@id": f"{task.slug}/split"}, {"@id": f"{task.slug}/id"}],
        "field": _fields(task),
    }
    return [records, _classes(task)] if task.has_classes else [records]


def _meaning(task: Task) -> str:
    return "" if task.has_classes else f"{task.labels[0].name}: {task.labels[0].meaning}"


def _fields(task: Task) -> list[dict]:
    files = {"@id": f"{task.slug}/files"}

    def column(name: str, kind: str, **more) -> dict:
        source = {"fileSet": files, "extract": {"column": name}}
        return _field(f"{task.slug}/{name}", name, kind, source=source, **more)

    def inner(outer: str, name: str, kind: str, path: str, **more) -> dict:
        source = {"fileSet": files, "extract": {"column": outer}, "transform": {"jsonPath": path}}
        return _field(f"{task.slug}/{outer}/{name}", name, kind, source=source, **more)

    split = {
        "fileSet": files,
        "extract": {"fileProperty": "filename"},
        "transform": {"regex": r"^(.+)\.parquet$"},
    }
    fields = [
        _field(f"{task.slug}/split", "split", "sc:Text", source=split, references={"field": {"@id": "splits/name"}}),
        column("text", "sc:Text"),
        column("id", "sc:Text"),
    ]
    if task.format == "regression":
        return [*fields, column("label", "sc:Float")]
    if task.format == "span":
        name = task.labels[0].name
        surfaces = inner("label", name, "sc:Text", json.dumps(name, ensure_ascii=False), repeated=True)
        ends = [inner("spans", end, "sc:Integer", end) for end in ("start", "end")]
        return [
            *fields,
            {"@type": "cr:Field", "@id": f"{task.slug}/label", "name": "label", "subField": [surfaces]},
            {"@type": "cr:Field", "@id": f"{task.slug}/spans", "name": "spans", "repeated": True, "subField": ends},
        ]
    label = column("label", "sc:Integer", references={"field": {"@id": f"{task.slug}/labels/id"}})
    texts = [column(name, "sc:Text") for name in ("text_a", "text_b")] if task.format == "pair" else []
    return [*fields, label, *texts]


def _classes(task: Task) -> dict:
    where = f"{task.slug}/labels"
    columns = {"id": "sc:Integer", "name": "sc:Text", "meaning": "sc:Text"}
    return {
        "@type": "cr:RecordSet",
        "@id": where,
        "name": f"{task.name}: labels",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{where}/id"},
        "field": [_field(f"{where}/{name}", name, kind) for name, kind in columns.items()],
        "data": [
            {f"{where}/id": number, f"{where}/name": label.name, f"{where}/meaning": label.meaning}
            for number, label in enumerate(task.labels)
        ],
    }


def _field(identifier: str, name: str, kind: str, **more) -> dict:
    return {"@type": "cr:Field", "@id": identifier, "name": name, "dataType": kind, **more}
