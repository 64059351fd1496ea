"""What `corpus.yaml` declares about a corpus, and the checks it has to pass when it is loaded.

One `Corpus` holds everything the pipeline may know about a corpus; the field docstrings below are the
reference for whoever writes a `corpus.yaml`. Loading reports all problems of all files at once, each
naming the file and the key.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from builders.problems import Problem, raise_all

CORPORA = Path(__file__).parent / "corpora"

CATEGORIES = ("humor_sarcasm", "offensive", "sentiment_emotion", "social_factors", "trustworthy")
FORMATS = ("classification", "regression", "pair", "span")

# What a raw label column holds where nobody labelled the row, unless the task says otherwise.
# For a regression -1 may be a value, so it is not among the defaults there.
UNLABELED = {
    "classification": ("", "-1", "nan", "NOANNOTATION"),
    "pair": ("", "-1", "nan", "NOANNOTATION"),
    "regression": ("", "nan"),
    "span": (),
}

# What happens to rows of one canonical key that disagree. The first is the default.
CONTRADICTION = {
    "classification": ("majority", "drop"),
    "pair": ("majority", "drop"),
    "regression": ("mean", "drop"),
    "span": ("drop",),
}

# Reasons the pipeline itself gives in the ledger; a corpus rule may not reuse them.
PIPELINE_REASONS = (
    "unlabeled", "empty_text", "identical_pair", "duplicate", "contradiction", "near_duplicate", "held_out_part",
)  # fmt: skip


def _as_tuple(value):
    """A YAML list, or a single value where a list of one is meant."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _as_pairs(value):
    """A YAML mapping as its pairs."""
    return tuple(value.items()) if isinstance(value, dict) else value


def _https(url: str) -> str:
    if urlsplit(url).scheme != "https" or not urlsplit(url).hostname or re.search(r"[\s\x00-\x1f]", url):
        raise PydanticCustomError("https", "{url} is not an https address", {"url": repr(url)})
    return url


def _inside(name: str) -> str:
    if name.startswith("/") or ".." in name.split("/") or "\\" in name or "\0" in name:
        raise PydanticCustomError("inside", "{name} leads out of the corpus folder", {"name": repr(name)})
    return name


Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Tokens = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
Names = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple)]
Pairs = Annotated[tuple[tuple[Text, Text], ...], BeforeValidator(_as_pairs)]
Url = Annotated[str, AfterValidator(_https)]
RelativePath = Annotated[Text, AfterValidator(_inside)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Reason = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
_TASK_NAME = r"^[A-Za-z0-9_-]+(#[A-Za-z0-9_-]+)?$"
TaskName = Annotated[str, StringConstraints(pattern=_TASK_NAME)]


Rule = Callable[[], str | None]


class _Declared(BaseModel):
    """Values of the right types, and rules between them; all that is wrong is told at once.

    A rule gives `key: what is wrong`, or None. One that needs a value which is wrong itself is left out.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def _rules(self) -> Iterable[Rule]:
        return ()

    @model_validator(mode="wrap")
    @classmethod
    def _all_at_once(cls, content, handler):
        try:
            declared, told = handler(content), []
        except ValidationError as error:
            told = [line for fault in error.errors() for line in _lines(fault)]
            wrong = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
            declared = cls._of_right_values(content, wrong)
        for rule in declared._rules() if declared else ():
            with contextlib.suppress(AttributeError):
                told += filter(None, [rule()])
        if told:
            raise PydanticCustomError("rules", "{told}", {"told": "\n".join(told)})
        return declared

    @classmethod
    def _of_right_values(cls, content, wrong: set[str]):
        """What is left without the keys that are wrong; it has no attribute for those."""
        if not isinstance(content, dict):
            return None
        values = {
            name: TypeAdapter(field.rebuild_annotation()).validate_python(content[name], strict=True)
            for name, field in cls.model_fields.items()
            if name in content and name not in wrong
        }
        declared = cls.model_construct(**values)
        for name in wrong:
            declared.__dict__.pop(name, None)
        return declared


# What pydantic says of the commonest mistakes, in the words of whoever writes a corpus.yaml.
_IN_OUR_WORDS = {
    "extra_forbidden": "no such key",
    "missing": "is missing",
    "string_type": "a text is expected",
    "model_type": "a mapping of keys is expected",
    "model_attributes_type": "a mapping of keys is expected",
    "bool_type": "true or false is expected",
    "int_type": "a whole number is expected",
    "float_type": "a number is expected",
}
_PATTERNS = {
    r"\S": "is blank",
    _TASK_NAME: "is no task name: letters, digits, _ and -, at most one # between them",
}


def _lines(fault: dict) -> list[str]:
    """`key: what is wrong` for one fault, which for nested declarations holds several."""
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"]).lstrip(".")
    told = _PATTERNS.get(fault.get("ctx", {}).get("pattern"), _IN_OUR_WORDS.get(fault["type"], fault["msg"]))
    inner = fault["msg"].split("\n") if fault["type"] == "rules" else [f": {told}"]
    return [key + line if not key or line.startswith(":") else f"{key}.{line}" for line in inner]


class RawFile(_Declared):
    """One raw file, or one folder of raw files that are read alike."""

    name: RelativePath
    """Path below `raw/<corpus>/`; with a `manifest`, a pattern such as `articles/*.txt`."""
    url: Url | None = None
    """Where the bytes come from, pinned to a commit where there is one; else `base_url` + `name`."""
    sha256: Sha256 | None = None
    bytes: Annotated[int, Field(ge=0)] | None = None
    manifest: RelativePath | None = None
    """For a pattern: a file in the corpus folder with one line `sha256 bytes name` for every raw file."""
    git_blob: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None
    """Accepted besides `sha256`: the file with this git blob id, where that is all that is known of the authors'
    own bytes. A download is held against it."""
    format: Literal["csv", "tsv", "lines", "json_lines", "json_object", "documents", "archive"]
    """`csv`: quoted by `"`; `tsv`: no quoting; `lines`: a record a line; `json_lines`: an object a line;
    `json_object`: one object, a record a key (column `key`); `documents`: the whole file is one record (columns
    `name` and `text`); `archive`: a zip or tar that other files lie in."""
    columns: Names | None = None
    """Column names of a csv, tsv or lines file without a header; the keys to take from JSON records."""
    delimiter: Literal[",", "\t", "|", ":"] | None = None
    """Between the fields of a csv (a comma by default) or tsv (a tab by default) file."""
    quoting: Literal["strict", "lenient"] = "strict"
    """`lenient`: a csv file whose quoted fields may go on after the closing quote."""
    encoding: Literal["utf-8", "utf-16", "latin-1", "cp1252"] = "utf-8"
    line_end: Literal["lf", "crlf"] = "lf"
    """What ends a record; no other character ever does."""
    beside: RelativePath | None = None
    """A parallel file: record k here belongs to record k there; both must hold equally many."""
    inside: RelativePath | None = None
    """The archive this file is a member of; it may also lie unpacked under its own name."""
    keys_from: Names = ()
    """For a large json_object: take only the records whose keys these tables mention, as `<file>/<column>`
    (several keys in a cell are set apart by blanks)."""
    optional: bool = False
    """The corpus builds without this file, in part."""
    instead_of: Names = ()
    """A part of those files for whoever lacks them: read only where one of them is missing."""

    @property
    def separator(self) -> str:
        return self.delimiter or {"csv": ",", "tsv": "\t"}[self.format]

    @property
    def is_pattern(self) -> bool:
        return "*" in self.name

    def _rules(self):
        return (
            lambda: None if self.is_pattern == bool(self.manifest)
            else "manifest: a name with * needs a manifest, and only such a name",
            lambda: "sha256: a pattern has its sums in the manifest"
            if self.is_pattern and (self.sha256 or self.bytes) else None,
            lambda: "format: a pattern is read as documents, a single file is not"
            if self.is_pattern != (self.format == "documents") else None,
            lambda: "columns: a file of lines needs exactly one column name"
            if self.format == "lines" and len(self.columns or ()) != 1 else None,
            lambda: _twice("columns", self.columns or ()),
            lambda: "columns: documents and archives have none"
            if self.format in ("documents", "archive") and self.columns else None,
            lambda: "columns: a json_object needs the keys to take"
            if self.format == "json_object" and not self.columns else None,
            lambda: "delimiter: only for csv and tsv"
            if self.delimiter and self.format not in ("csv", "tsv") else None,
            lambda: "quoting: only for csv" if self.quoting == "lenient" and self.format != "csv" else None,
            lambda: "keys_from: only for json_object" if self.keys_from and self.format != "json_object" else None,
            lambda: "keys_from: a place is <file>/<column>" if any("/" not in k for k in self.keys_from) else None,
        )  # fmt: skip


class Label(_Declared):
    """One class of a task, the value of a regression, or the one span name of a span task."""

    name: Text
    meaning: Text
    """What the authors mean by it."""
    raw: Tokens = ()
    """The raw tokens that stand for this class."""
    at_least: float | None = None
    above: float | None = None
    below: float | None = None
    at_most: float | None = None
    """Instead of tokens: the range of a raw score that makes this class; the name says which side a score
    exactly on the threshold goes to."""
    goes_with: Pairs = ()
    """Other tasks of the corpus, each with the class that texts of this class have more often there than other
    texts (of a regression: the value that is higher). Validation holds the items to it, so labels that were
    turned round are found."""

    @property
    def is_range(self) -> bool:
        return any(bound is not None for bound in (self.at_least, self.above, self.below, self.at_most))

    @property
    def low(self) -> tuple[float, bool]:
        """Lower bound of the range, and whether it belongs to the class."""
        if self.at_least is not None:
            return self.at_least, True
        return (float("-inf") if self.above is None else self.above), False

    @property
    def high(self) -> tuple[float, bool]:
        """Upper bound of the range, and whether it belongs to the class."""
        if self.at_most is not None:
            return self.at_most, True
        return (float("inf") if self.below is None else self.below), False

    def _rules(self):
        return (
            lambda: "raw: either raw tokens or a range, not both" if self.raw and self.is_range else None,
            lambda: "at_least: either at_least or above" if None not in (self.at_least, self.above) else None,
            lambda: "below: either below or at_most" if None not in (self.below, self.at_most) else None,
        )


class Drop(_Declared):
    """A rule of the corpus: raw rows with one of these values do not become items."""

    reason: Reason
    column: Text
    values: Tokens
    why: Text

    def _rules(self):
        return (
            lambda: f"reason: {self.reason} is the pipeline's own" if self.reason in PIPELINE_REASONS else None,
            lambda: None if self.values else "values: at least one",
        )


class TextStep(_Declared):
    """A declared repair of the text, beyond what is done to every corpus."""

    step: Literal["replace", "entities", "nfc"]
    """`replace`: every match of `pattern`; `entities`: HTML entities, once; `nfc`: Unicode composition."""
    pattern: Text | None = None
    replacement: str | None = None
    """Literal text: no group references."""
    why: Text

    def _rules(self):
        return (
            lambda: None if (self.step == "replace") == (None not in (self.pattern, self.replacement))
            else "step: replace, and only replace, has a pattern and a replacement",
            lambda: _no_pattern(self.pattern or ""),
        )  # fmt: skip


class Redistribution(_Declared):
    """Whether the package may carry the texts, and why we think so."""

    allowed: bool
    why: Text


class Task(_Declared):
    """One task (one config of the package)."""

    name: TaskName
    dataset: Text
    """SocKET's name of the dataset the task belongs to."""
    category: Literal[CATEGORIES]
    format: Literal[FORMATS]
    column: Text
    """The raw column with the label, the value, or the spans."""
    labels: Annotated[tuple[Label, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    """In published order: the position is the label id."""
    unlabeled: Tokens | None = None
    """Raw tokens of rows that nobody labelled; the default depends on the format."""
    contradiction: Literal["majority", "mean", "drop"] | None = None
    drops: Annotated[tuple[Drop, ...], BeforeValidator(_as_tuple)] = ()
    scale: Annotated[tuple[float, float], BeforeValidator(_as_tuple)] | None = None
    """Regression: lowest and highest possible value; anything outside stops the build."""
    offsets: Literal["code_points", "utf16"] | None = None
    """Span: the unit in which the corpus counts."""
    without_spans: Literal["unlabeled", "keep"] | None = None
    """Span: what a text without any span is."""
    preferred_first: bool = False
    """Pair: the raw rows put the text that the first label speaks of first. The pipeline then swaps every
    second pair, by a keyed hash of its texts, and the label with it."""
    notes: Annotated[tuple[Text, ...], BeforeValidator(_as_tuple)] = ()
    """What a user has to know and would not expect; shown on the card."""

    @property
    def slug(self) -> str:
        """The task name as a path: `#` in a path breaks old clients and raw URLs."""
        return self.name.replace("#", "--")

    @property
    def label_names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.labels)

    @property
    def unlabeled_tokens(self) -> tuple[str, ...]:
        if self.unlabeled is not None:
            return self.unlabeled
        # -1 may be a score where scores make the classes.
        ranges = any(label.is_range for label in self.labels)
        return UNLABELED["regression" if ranges else self.format]

    @property
    def policy(self) -> str:
        """What happens to rows of one canonical key that disagree."""
        return self.contradiction or CONTRADICTION[self.format][0]

    @property
    def has_classes(self) -> bool:
        return self.format in ("classification", "pair")

    @property
    def _tokens(self) -> list[str]:
        return [token for label in self.labels for token in label.raw]

    def _rules(self):
        return (
            lambda: _twice("labels", self.label_names),
            lambda: _twice("labels: raw token", self._tokens),
            lambda: _also_unlabeled({*self._tokens} & {*self.unlabeled_tokens}) if self.has_classes else None,
            lambda: "labels: at least two classes" if self.has_classes and len(self.labels) < 2 else None,
            lambda: "labels: every class needs raw tokens, or every class a range"
            if self.has_classes and not (all(label.raw for label in self.labels)
                                         or all(label.is_range for label in self.labels)) else None,
            lambda: _range_gap(self.labels)
            if self.has_classes and all(label.is_range for label in self.labels) else None,
            lambda: f"labels: a {self.format} task has exactly one"
            if not self.has_classes and len(self.labels) != 1 else None,
            lambda: f"labels: a {self.format} task has no raw tokens or ranges"
            if not self.has_classes and any(label.raw or label.is_range for label in self.labels) else None,
            lambda: f"contradiction: a {self.format} task knows {' and '.join(CONTRADICTION[self.format])}"
            if self.policy not in CONTRADICTION[self.format] else None,
            lambda: "scale: a regression, and only that, has a lowest and a highest value"
            if (self.format == "regression") != bool(self.scale) else None,
            lambda: "scale: the lowest value comes first"
            if self.scale and not self.scale[0] < self.scale[1] else None,
            lambda: "offsets: a span task, and only that, says in which unit it counts"
            if (self.format == "span") != bool(self.offsets) else None,
            lambda: "without_spans: a span task, and only that, says what a text without spans is"
            if (self.format == "span") != bool(self.without_spans) else None,
            lambda: "preferred_first: only for pairs with two classes"
            if self.preferred_first and (self.format != "pair" or len(self.labels) != 2) else None,
        )  # fmt: skip


class Corpus(_Declared):
    """One raw corpus as its `corpus.yaml` declares it."""

    folder: Path
    """Where the corpus lies; its name is the corpus's name. Not written in the file."""
    title: Text
    authors: Names
    year: Annotated[int, Field(ge=1950, le=2100)]
    venue: Text
    bibtex: Text
    homepage: Annotated[str, StringConstraints(pattern=r"^https?://")]
    language: Text = "en"
    license: Text
    """As the authors state it (an SPDX id where there is one), or `unknown`."""
    license_statement: Text
    """The authors' words, or where they were looked for."""
    redistribution: Redistribution
    access: Literal["open", "registration", "form", "kaggle"]
    by_hand: Text | None = None
    """For gated corpora: what to get, from where, and which file to put where."""
    base_url: Url | None = None
    """Put before the name of every file that has no `url`."""
    redirects_to: Names = ()
    """Hosts to which the download addresses may redirect."""
    files: Annotated[tuple[RawFile, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    group: Text | None = None
    """The column of rows that belong together (a dialogue, a participant) and stay in one split."""
    parts: Text | None = None
    """The column that says "part" for rows whose text is a piece of other rows' texts (a phrase of a sentence).
    Only the whole texts are split; parts go to train, but for those that occur in a held-out text."""
    text_steps: Annotated[tuple[TextStep, ...], BeforeValidator(_as_tuple)] = ()
    tasks: Annotated[tuple[Task, ...], BeforeValidator(_as_tuple), Field(min_length=1)]

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def is_pair(self) -> bool:
        return self.tasks[0].format == "pair"

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The text columns `build.py` has to return."""
        return ("text_a", "text_b") if self.is_pair else ("text",)

    def url_of(self, file: RawFile, name: str) -> str | None:
        """Where the raw file `name` of the declaration `file` is downloaded from, if it can be."""
        if file.inside:
            return None
        if file.url and not file.manifest:
            return file.url
        base = file.url or self.base_url
        return base + name if base else None

    def _rules(self):
        return (
            lambda: _twice("files", [file.name for file in self.files]),
            lambda: _same_path(self.tasks),
            lambda: _forward_reference(self.files),
            lambda: _chain(self.files),
            lambda: "tasks: pairs and single texts cannot share a corpus"
            if len({task.format == "pair" for task in self.tasks}) > 1 else None,
            lambda: "by_hand: a gated corpus says what to get, from where, and which file to put where"
            if self.access != "open" and not self.by_hand else None,
            lambda: self._unpinned(),
            lambda: self._unknown_relation(),
        )  # fmt: skip

    def _unknown_relation(self) -> str | None:
        known = {(task.name, name) for task in self.tasks if task.format != "span" for name in task.label_names}
        stated = [pair for task in self.tasks for label in task.labels for pair in label.goes_with]
        unknown = [f"{task}: {name}" for task, name in stated if (task, name) not in known]
        return f"tasks: goes_with names what is no class here: {', '.join(unknown)}" if unknown else None

    def _unpinned(self) -> str | None:
        unpinned = [
            file.name
            for file in self.files
            if not file.manifest and self.url_of(file, file.name)
            and not (file.sha256 and file.bytes) and not file.git_blob
        ]  # fmt: skip
        if not unpinned:
            return None
        return f"files: {', '.join(unpinned)} can be downloaded, so it needs sha256 and bytes, or git_blob"


def _twice(key: str, values: Sequence[str]) -> str | None:
    repeated = sorted({value for value in values if values.count(value) > 1})
    return f"{key}: {', '.join(repeated)} occurs twice" if repeated else None


def _also_unlabeled(tokens: set[str]) -> str | None:
    told = f"labels: {', '.join(sorted(tokens))} is a raw token and also means unlabeled; set `unlabeled`"
    return told if tokens else None


def _same_path(tasks: Sequence[Task]) -> str | None:
    """Slugs that differ in case only would share a folder on some disks."""
    slugs = [task.slug.casefold() for task in tasks]
    clash = [task.name for task in tasks if slugs.count(task.slug.casefold()) > 1]
    return f"tasks: {', '.join(clash)} would lie in one folder" if clash else None


def _forward_reference(files: Sequence[RawFile]) -> str | None:
    """Files that others refer to come first."""
    seen: set[str] = set()
    for file in files:
        for other in (file.beside, file.inside, *file.instead_of, *(key.rsplit("/", 1)[0] for key in file.keys_from)):
            if other and other not in seen:
                return f"files: {file.name} refers to {other}, which is not declared before it"
        seen.add(file.name)
    return None


def _chain(files: Sequence[RawFile]) -> str | None:
    beside = {file.name: file.beside for file in files if file.beside}
    chained = [name for name, other in beside.items() if other in beside and name != other]
    return f"files: {', '.join(chained)} is beside a file that is beside another itself" if chained else None


def _no_pattern(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"pattern: not a regular expression: {error}"
    return None


def _range_gap(labels: Iterable[Label]) -> str | None:
    """Ranges have to cover the line once: each ends where the next begins, on one side only."""
    ordered = sorted(labels, key=lambda label: (label.low[0], not label.low[1]))
    for label in ordered:
        if label.low[0] > label.high[0] or (label.low[0] == label.high[0] and not (label.low[1] and label.high[1])):
            return f"labels: the range of {label.name} holds no score"
    edges = [(float("-inf"), True)] + [label.high for label in ordered]
    starts = [label.low for label in ordered] + [(float("inf"), False)]
    for (end, end_in), (start, start_in) in zip(edges, starts, strict=True):
        if end != start or (abs(end) != float("inf") and end_in == start_in):
            return f"labels: the ranges leave a gap or overlap between {end} and {start}"
    return None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Safe YAML in which a key may not occur twice (plain YAML lets the last one win in silence)."""


def _scalar(kind: str):
    """A constructor that tells the line of a value that is not of its type (a 13th month, `!!int x`)."""
    construct = getattr(yaml.SafeLoader, f"construct_yaml_{kind}")

    def constructor(loader, node):
        try:
            return construct(loader, node)
        except (ValueError, KeyError) as error:
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.value} is no {kind} ({error})", node.start_mark
            ) from None

    return constructor


def _mapping(loader, node):
    seen = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node)
        if not isinstance(key, str | int):
            raise yaml.constructor.ConstructorError(None, None, "a key has to be a word", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key} occurs twice", key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


for _kind in ("int", "float", "bool", "timestamp"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _scalar(_kind))
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> object:
    """The content of a YAML file.

    Raises `Problem` naming file and line when it is not there, not UTF-8, or not YAML.
    """
    shown = f"{path.parent.name}/{path.name}"
    try:
        return _Loader(path.read_text(encoding="utf-8")).get_single_data()
    except FileNotFoundError:
        raise Problem("the file is missing.", where=[shown]) from None
    except UnicodeDecodeError as error:
        raise Problem(f"not UTF-8 at byte {error.start}.", where=[shown]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else "somewhere"
        raise Problem(f"not YAML: {getattr(error, 'problem', error)}.", where=[shown, line]) from None


def load_corpus(folder: Path) -> Corpus:
    """The declaration in `folder/corpus.yaml`.

    Raises `Problem`, or `Problems` with everything that is wrong, each naming file and key.
    """
    content = read_yaml(folder / "corpus.yaml")
    shown = f"{folder.name}/corpus.yaml"
    if not isinstance(content, dict):
        raise Problem("a mapping of keys is expected.", where=[shown])
    odd = [str(key) for key in content if not isinstance(key, str) or key == "folder"]
    try:
        if odd:
            raise Problem("no such key.", where=[shown, ", ".join(odd)])
        return Corpus(**{**content, "folder": folder})
    except ValidationError as error:
        told = [line.split(": ", 1) for fault in error.errors() for line in _lines(fault)]
        raise_all([Problem(what, where=[shown, *filter(None, [key])]) for key, what in told])


def load_corpora(folder: Path | None = None) -> dict[str, Corpus]:
    """Every corpus in `folder` (the project's own by default) by name, in name order.

    Raises `Problems` with all that is wrong in all declarations, names that clash between corpora included:
    two tasks may not have slugs that differ in case only (they would share a folder on some disks).
    """
    corpora, problems, owner = {}, [], {}
    for path in sorted((folder or CORPORA).iterdir()):
        if not path.is_dir() or path.name.startswith(("_", ".")):
            continue
        try:
            corpus = corpora[path.name] = load_corpus(path)
        except Problem as problem:
            problems.append(problem)
            continue
        for task in corpus.tasks:
            first = owner.setdefault(task.slug.casefold(), corpus.name)
            if first != corpus.name:
                problems.append(
                    Problem(f"{task.name} is already a task of {first}.", where=[f"{path.name}/corpus.yaml"])
                )
    raise_all(problems)
    return corpora
