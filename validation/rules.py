"""The rules: from facts to findings. Each is small and pure; its docstring says why it is one.

A rule looks at one task, one corpus or the whole release. An error blocks the release unless `known.yaml` lists it
with a reason; a warning is shown.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from builders.declaration import Corpus, Task
from builders.pipeline.items import LEDGER
from validation.measure.traces import KINDS
from validation.published import facts as published

Severity = Literal["error", "warning"]
ERROR: Severity = "error"
WARNING: Severity = "warning"

HELD_OUT = ("validation", "test")
SPLITS = ("train", *HELD_OUT)

# Two tasks whose labels agree on so many shared texts, all of them, are one task under two names.
TWIN_TEXTS = 20
# A stated relation between two tasks is judged from so many items on each side.
RELATION_ITEMS = 5
# Groups that stay together may keep a split from its exact size by so many items, or by this share of the task.
OFF_BY_ITEMS = 5
OFF_BY_SHARE = 0.005
# More held-out texts than this share (and than so many) with a near-duplicate in train make the test a memory test.
NEAR_SHARE = 0.05
NEAR_TEXTS = 2
# Above this share a class leaves nothing to predict.
MAJORITY_SHARE = 0.995


class Look(NamedTuple):
    """What a rule looks at."""

    facts: dict
    """Of the task, the corpus or the release (see `validation.validate.Validated`)."""
    corpus: Corpus | None = None
    task: Task | None = None


class Seen(NamedTuple):
    """What a rule found wrong."""

    message: str
    """With the number seen and what it may mean; the place is put before it."""
    number: int | float = 1
    what: str = ""
    """Tells several findings of a rule in one place apart: a split, a character, a kind."""
    examples: tuple[str, ...] = ()


class Finding(NamedTuple):
    """What a rule found wrong, and where."""

    rule: str
    severity: Severity
    corpus: str
    task: str
    what: str
    message: str
    number: int | float
    examples: tuple[str, ...]
    known: str = ""
    """The reason for which it is accepted, if `known.yaml` lists it."""

    @property
    def place(self) -> str:
        return self.task or self.corpus or "release"

    @property
    def blocks(self) -> bool:
        return self.severity == ERROR and not self.known

    def __str__(self) -> str:
        told = f" (e.g. {', '.join(self.examples[:3])})" if self.examples else ""
        return f"{self.place}: {self.rule}: {self.message}{told}"


class Rule(NamedTuple):
    """A named rule."""

    id: str
    severity: Severity
    scope: Literal["task", "corpus", "release"]
    about: str
    look: Callable[[Look], Iterator[Seen]]


RULES: list[Rule] = []


def rule(name: str, severity: Severity, scope: Literal["task", "corpus", "release"]):
    """Register a function as the rule `name`; its docstring says in a sentence what has to hold."""

    def register(look: Callable[[Look], Iterator[Seen]]):
        about = " ".join(look.__doc__.split("\n\n")[0].split())
        RULES.append(Rule(name, severity, scope, about, look))
        return look

    return register


def findings(release: dict, corpora: Mapping[str, Corpus]) -> list[Finding]:
    """Everything that the rules find in the facts of a release; by corpus and task in the order of the facts."""
    found = _found("release", Look(release), "", "")
    for name, facts in release["corpora"].items():
        corpus = corpora[name]
        found += _found("corpus", Look(facts, corpus), name, "")
        for task in corpus.tasks:
            if task.name in facts["tasks"]:
                found += _found("task", Look(facts["tasks"][task.name], corpus, task), name, task.name)
    return found


def _found(scope: str, look: Look, corpus: str, task: str) -> list[Finding]:
    return [
        Finding(rule.id, rule.severity, corpus, task, seen.what, seen.message, seen.number, seen.examples)
        for rule in RULES
        if rule.scope == scope
        for seen in rule.look(look)
    ]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


# Files ---------------------------------------------------------------------------------------------------


@rule("missing-file", ERROR, "release")
def missing_file(look: Look) -> Iterator[Seen]:
    """Every file that the lock names is there, a regular file."""
    for name in look.facts["files"]["missing"]:
        yield Seen(f"{name} is named by the lock but not there as a file; build the release again.", what=name)


@rule("altered-file", ERROR, "release")
def altered_file(look: Look) -> Iterator[Seen]:
    """Every file has the sha256 and size that the lock says."""
    for file in look.facts["files"]["altered"]:
        yield Seen(
            f"{file['name']} has sha256 {file['sha256'][:12]}…, the lock says {file['lock'][:12]}…; it was changed"
            " after the build.",
            what=file["name"],
        )


@rule("foreign-file", ERROR, "release")
def foreign_file(look: Look) -> Iterator[Seen]:
    """The folder holds nothing that the lock does not name."""
    for name in look.facts["files"]["foreign"]:
        yield Seen(f"{name} is not named by the lock; it would not be published as it is. Move it away.", what=name)


@rule("undeclared-task", ERROR, "release")
def undeclared_task(look: Look) -> Iterator[Seen]:
    """Every task of the lock is declared by a corpus of this project."""
    for name in look.facts["undeclared"]:
        yield Seen(f"{name} is in the lock, but no corpus.yaml here declares it; build the release again.", what=name)


@rule("not-built", WARNING, "release")
def not_built(look: Look) -> Iterator[Seen]:
    """Every corpus could be built."""
    for corpus, why in look.facts["not_built"].items():
        yield Seen(f"{corpus} is not in the release: {why.partition(chr(10))[0]}", what=corpus)


@rule("no-task", ERROR, "release")
def no_task(look: Look) -> Iterator[Seen]:
    """A release has a task, and every table and ledger row belongs to a task of the lock."""
    if not look.facts["tasks"]:
        yield Seen("the lock has no task; build the release again.")
    for name in look.facts["without_task"]:
        yield Seen(f"{name} has files or ledger rows, but the lock has no such task; build again.", what=name)


@rule("other-raw-file", ERROR, "release")
def other_raw_file(look: Look) -> Iterator[Seen]:
    """The raw files of the lock are those that corpus.yaml declares."""
    for name in look.facts["other_raw"]:
        yield Seen(f"the lock has another sha256 for the raw file {name} than its corpus.yaml; build again.", what=name)


@rule("document", ERROR, "release")
def document(look: Look) -> Iterator[Seen]:
    """The card and the other documents are what the lock and the declarations give, to the byte."""
    for name in look.facts["documents"]:
        yield Seen(f"{name} is not what this lock and these declarations give; build the release again.", what=name)
    if look.facts["card_unreadable"]:
        yield Seen(f"README.md {look.facts['card_unreadable']}; build the release again.", what="metadata")


@rule("unreadable-table", ERROR, "task")
def unreadable_table(look: Look) -> Iterator[Seen]:
    """Every table can be read and has the columns and types of its format."""
    for split, why in look.facts["unreadable"].items():
        yield Seen(f"{split}: {why}; build the release again.", what=split)


@rule("row-schema", ERROR, "task")
def row_schema(look: Look) -> Iterator[Seen]:
    """Every row is as the schema of the task says."""
    for split, faults in look.facts["schema"].items():
        for fault in faults:
            yield Seen(
                f"{split}: column {fault['column']} has to be {fault['check']};"
                f" {_count(fault['rows'], 'row is', 'rows are')} not.",
                fault["rows"],
                f"{split} {fault['column']} {fault['check']}",
                tuple(map(str, fault.get("examples", ()))),
            )


@rule("empty-split", ERROR, "task")
def empty_split(look: Look) -> Iterator[Seen]:
    """Every split has items; `datasets` cannot load one without."""
    for split, facts in look.facts["splits"].items():
        if not facts["items"]:
            yield Seen(f"{split} has no item; `datasets` cannot load it.", what=split)


@rule("lock-counts", ERROR, "task")
def lock_counts(look: Look) -> Iterator[Seen]:
    """The lock counts what is in the files (those that can be read)."""
    for difference in look.facts.get("lock_differs", ()):
        yield Seen(f"{difference}.", what=difference.split(":")[0])


@rule("card", ERROR, "task")
def card(look: Look) -> Iterator[Seen]:
    """The card declares the task's files, columns and counts as they are."""
    for difference in look.facts.get("card_differs", ()):
        yield Seen(f"the card {difference}.", what=difference)


# Items and ledger ----------------------------------------------------------------------------------------


@rule("ledger-balance", ERROR, "task")
def ledger_balance(look: Look) -> Iterator[Seen]:
    """Raw rows are items and ledger rows, none is lost and none is counted twice."""
    ledger = look.facts["ledger"]
    if ledger["unreadable"] or look.facts["unreadable"].keys() & set(SPLITS):
        return
    items = sum(look.facts["splits"].get(split, {"items": 0})["items"] for split in SPLITS)
    dropped = sum(ledger["dropped"].values())
    if ledger["rows"] != items + dropped:
        yield Seen(
            f"{ledger['rows']:,} raw rows, but {items:,} items and {dropped:,} ledger rows: "
            + (
                f"{_count(ledger['rows'] - items - dropped, 'row is', 'rows are')} unaccounted for."
                if ledger["rows"] > items + dropped
                else f"{_count(items + dropped - ledger['rows'], 'row')} too many."
            ),
            ledger["rows"] - items - dropped,
        )


@rule("ledger-rows", ERROR, "task")
def ledger_rows(look: Look) -> Iterator[Seen]:
    """The ledger names each raw row once, with a reason that is declared, and an item that stayed is one."""
    ledger = look.facts["ledger"]
    if ledger["twice"]:
        yield Seen(f"{_count(ledger['twice'], 'raw row')} dropped twice.", ledger["twice"], "twice")
    if ledger["kept_unknown"] and not look.facts["unreadable"].keys() & set(SPLITS):
        yield Seen(
            f"{_count(ledger['kept_unknown'], 'ledger row')} with a kept_id that no item has.",
            ledger["kept_unknown"],
            "kept_id",
        )
    for reason in ledger["undeclared_reasons"]:
        yield Seen(f"the reason {reason} is neither the pipeline's nor the task's.", what=reason)


@rule("repeated-text", ERROR, "task")
def repeated_text(look: Look) -> Iterator[Seen]:
    """No text (by canonical key) stands twice in a split."""
    within = look.facts["repeats"]["within"]
    if within["items"]:
        yield Seen(
            f"{_count(within['items'], 'item repeats', 'items repeat')} the text of another in the same split.",
            within["items"],
            examples=tuple(within.get("examples", ())),
        )


@rule("split-overlap", ERROR, "task")
def split_overlap(look: Look) -> Iterator[Seen]:
    """No text (by canonical key) stands in two splits of a task."""
    for pair, found in look.facts["repeats"]["across"].items():
        yield Seen(
            f"{_count(found['items'], 'text stands', 'texts stand')} in {pair}: what is learnt there is tested here.",
            found["items"],
            pair,
            tuple(found.get("examples", ())),
        )


@rule("contradiction", ERROR, "task")
def contradiction(look: Look) -> Iterator[Seen]:
    """No text has two labels in a task."""
    found = look.facts["repeats"]["contradicting"]
    if found["texts"]:
        yield Seen(
            f"{_count(found['texts'], 'text')} with more than one label; the task's policy is"
            f" {look.task.policy}, so none should be left.",
            found["texts"],
            examples=tuple(found.get("examples", ())),
        )


@rule("id", ERROR, "corpus")
def item_id(look: Look) -> Iterator[Seen]:
    """The id of an item is the hash of its corpus and canonical key."""
    wrong = look.facts["wrong_ids"]
    if wrong["items"]:
        yield Seen(
            f"{_count(wrong['items'], 'item')} whose id is not that of the text; build the release again.",
            wrong["items"],
            examples=tuple(wrong.get("examples", ())),
        )


@rule("one-text", ERROR, "corpus")
def one_text(look: Look) -> Iterator[Seen]:
    """A text is spelled alike in all tasks of its corpus."""
    several = look.facts["several_spellings"]
    if several["texts"]:
        yield Seen(
            f"{_count(several['texts'], 'text')} spelled in several ways (other white space, entities or invisible"
            " characters).",
            several["texts"],
            examples=tuple(several.get("examples", ())),
        )


# Splits --------------------------------------------------------------------------------------------------


@rule("task-overlap", ERROR, "corpus")
def task_overlap(look: Look) -> Iterator[Seen]:
    """No text is in one split of a task and in another split of another task of its corpus."""
    several = look.facts["several_splits"]
    if several["texts"]:
        yield Seen(
            f"{_count(several['texts'], 'text is', 'texts are')} in several splits over the tasks of the corpus;"
            " multi-task training would see what it is tested on.",
            several["texts"],
            examples=tuple(several.get("examples", ())),
        )


@rule("loose-overlap", ERROR, "corpus")
def loose_overlap(look: Look) -> Iterator[Seen]:
    """No train text of five words or more has the letters and digits of a held-out text."""
    loose = look.facts["loose"]
    if loose["texts"]:
        yield Seen(
            f"{_count(loose['texts'], 'train text differs', 'train texts differ')} from a held-out text in"
            " punctuation or case only.",
            loose["texts"],
            examples=tuple(loose.get("examples", ())),
        )


@rule("part-overlap", ERROR, "corpus")
def part_overlap(look: Look) -> Iterator[Seen]:
    """Where a corpus has parts of texts, none in train stands in a held-out text."""
    parts = look.facts["parts"]
    if parts and parts["texts"]:
        yield Seen(
            f"{_count(parts['texts'], 'train text stands', 'train texts stand')} in one piece in a held-out text.",
            parts["texts"],
            examples=tuple(parts.get("examples", ())),
        )


def _many(near: dict) -> bool:
    return near["train"] > max(NEAR_TEXTS, NEAR_SHARE * near["held_out"])


def _near_examples(near: dict) -> tuple[str, ...]:
    return tuple(f"{one['held_out']} and {one['train']}: {one['similarity']:.2f}" for one in near.get("examples", ()))


def _near_message(near: dict) -> str:
    share = near["train"] / near["held_out"]
    return (
        f"{near['train']:,} of {near['held_out']:,} held-out texts ({share:.1%}) have a near-duplicate in train"
        f" (similarity {near['threshold']:g} or more); scores on them show memory."
    )


@rule("near-duplicate", WARNING, "corpus")
def near_duplicate(look: Look) -> Iterator[Seen]:
    """Few held-out texts have a near-duplicate in train."""
    near = look.facts["near_duplicates"]
    if near["train"] and not _many(near):
        yield Seen(_near_message(near), near["train"], examples=_near_examples(near))


@rule("many-near-duplicates", ERROR, "corpus")
def many_near_duplicates(look: Look) -> Iterator[Seen]:
    """At most one held-out text in twenty has a near-duplicate in train."""
    near = look.facts["near_duplicates"]
    if _many(near):
        yield Seen(_near_message(near), near["train"], examples=_near_examples(near))


@rule("proportions", ERROR, "task")
def proportions(look: Look) -> Iterator[Seen]:
    """The splits are 80/10/10 by the rule, but for what groups that stay together force (a few items).

    Parts of texts go to train on top, and near-duplicates that left it are missing there, so train is only judged
    where there are neither.
    """
    facts = look.facts
    items = sum(facts["splits"].get(split, {"items": 0})["items"] for split in SPLITS)
    if look.corpus.parts or not items:
        return
    dropped = facts["ledger"]["dropped"]
    bound = max(OFF_BY_ITEMS, OFF_BY_SHARE * items) + dropped.get("near_duplicate", 0)
    off = {split: count for split, count in facts["sizes"].items() if abs(count) > bound}
    if off:
        counts = "/".join(f"{facts['splits'].get(split, {'items': 0})['items'] / items:.1%}" for split in SPLITS)
        told = ", ".join(f"{split} {count:+,}" for split, count in off.items())
        yield Seen(f"split {counts} instead of 80/10/10 ({told} items).", max(map(abs, off.values())))


@rule("sockette", ERROR, "task")
def sockette(look: Look) -> Iterator[Seen]:
    """SocKETTe holds rows of the test split, as the rule samples them."""
    found = look.facts["sockette"]
    seen = tuple(found.get("examples", ()))
    if found["not_in_test"]:
        yield Seen(
            f"{_count(found['not_in_test'], 'row')} of sockette not as in test (text, label and id).",
            found["not_in_test"],
            "rows",
            seen,
        )
    if found["not_by_rule"]:
        yield Seen(
            f"{_count(found['not_by_rule'], 'item')} more or less than the rule samples (stratified by label, lowest"
            " ids first).",
            found["not_by_rule"],
            "sample",
            seen,
        )


@rule("corpus-overlap", WARNING, "release")
def corpus_overlap(look: Look) -> Iterator[Seen]:
    """Few test texts of a task stand in train of a task of another corpus.

    They tie no corpus to another; `overlaps.parquet` lists them, so that multi-task training leaves them out."""
    for task, others in look.facts["overlaps"].items():
        shared = {other: cell.get("test > train", 0) for other, cell in others.items()}
        total = sum(shared.values())
        if total:
            most = max(shared, key=lambda other: shared[other])
            yield Seen(
                f"{task}: {_count(total, 'test text')} in train of tasks of other corpora, most in {most}"
                f" ({shared[most]:,}); multi-task training has to leave them out (overlaps.parquet).",
                total,
                task,
            )


@rule("overlaps-list", ERROR, "release")
def overlaps_list(look: Look) -> Iterator[Seen]:
    """`overlaps.parquet` lists every pair of items of two corpora with one canonical key, and nothing else."""
    listed = look.facts["overlaps_listed"]
    for what, word in (("unlisted", "not listed"), ("unfounded", "listed, but not so")):
        if listed[what]:
            yield Seen(f"{_count(listed[what], 'pair')} of items {word} in overlaps.parquet.", listed[what], what)
    if listed["other_in_lock"] and not listed["unreadable"]:
        yield Seen("the lock counts other overlaps than there are; build the release again.", what="lock")
    if listed["unreadable"]:
        yield Seen(f"overlaps.parquet: {listed['unreadable']}; build the release again.", what="unreadable")


@rule("ledger-table", ERROR, "release")
def ledger_table(look: Look) -> Iterator[Seen]:
    """The ledger can be read and has its columns."""
    if look.facts["ledger_unreadable"]:
        columns = ", ".join(LEDGER)
        yield Seen(f"ledger.parquet: {look.facts['ledger_unreadable']}; it has to have the columns {columns}.")


# Labels --------------------------------------------------------------------------------------------------


@rule("label-names", ERROR, "task")
def label_names(look: Look) -> Iterator[Seen]:
    """Label names stand in the order of the published release, so that ids mean what they meant."""
    known, _ = published()
    if look.task.name not in known:
        return
    names, was = list(look.facts["card_labels"] or look.task.label_names), known[look.task.name].labels
    if names != was:
        kind = "stand in another order" if sorted(names) == sorted(was) else "differ"
        yield Seen(f"the names {_quoted(names)} {kind} from the published {_quoted(was)}.")


def _quoted(names: list[str]) -> str:
    shown = [f'"{name}"' for name in names[:4]]
    return ", ".join(shown) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


# What a column name leaves in a label that was made from it.
_TECHNICAL = re.compile(r"_|(?:^|\s)(?:bin|yn|bool|label|class|cls|\d+)(?:\s|$)|yn$|bin$", re.IGNORECASE)


@rule("label-name-form", ERROR, "task")
def label_name_form(look: Look) -> Iterator[Seen]:
    """A label name is words, not a left-over of a column name (`distress bin`)."""
    for name in look.facts["card_labels"] or look.task.label_names:
        if _TECHNICAL.search(name):
            yield Seen(f'the label "{name}" holds a piece of a column name.', what=name)


_STOP = {"not", "non", "the", "and", "with", "more", "very", "other", "first", "second", "sentence"}


def _stems(text: str) -> set[str]:
    """The first four letters of every word that says something."""
    words = re.findall(r"[a-z]{3,}", text.lower())
    return {word[:4] for word in words if word not in _STOP}


@rule("label-meaning", ERROR, "task")
def label_meaning(look: Look) -> Iterator[Seen]:
    """A label's name says what its meaning says (`sexism` is no name for a lewd reference).

    Told where no word of the name, by its first four letters, stands in the meaning of any class of the task."""
    if not look.task.has_classes:
        return
    meanings = _stems(" ".join(label.meaning for label in look.task.labels))
    for label in look.task.labels:
        stems = _stems(label.name)
        if stems and not stems & meanings:
            yield Seen(f'no word of the label "{label.name}" is in what it means: {label.meaning}', what=label.name)


@rule("absent-class", WARNING, "task")
def absent_class(look: Look) -> Iterator[Seen]:
    """Every class has items in every split."""
    if not look.task.has_classes:
        return
    splits = {name: facts["labels"] for name, facts in look.facts["splits"].items() if facts["items"]}
    for label in look.task.label_names:
        absent = [name for name, labels in splits.items() if not labels[label]]
        if absent:
            total = sum(splits[name][label] for name in SPLITS if name in splits)
            yield Seen(f'no item of class "{label}" in {", ".join(absent)} ({total:,} in all).', total, label)


@rule("one-class", ERROR, "task")
def one_class(look: Look) -> Iterator[Seen]:
    """No split is of one class (nearly) alone, unless the task is.

    A test file sorted by label and cut shows here."""
    if not look.task.has_classes:
        return
    shares = {}
    for name, facts in look.facts["splits"].items():
        if facts["items"] >= TWIN_TEXTS:
            shares[name] = max(facts["labels"].values()) / facts["items"]
    whole = min(shares.values(), default=1.0)
    for name, share in shares.items():
        if share > MAJORITY_SHARE and whole < 0.9 * share:
            yield Seen(f"{share:.1%} of {name} is one class, in another split it is {whole:.1%}.", share, name)


@rule("twin-labels", ERROR, "corpus")
def twin_labels(look: Look) -> Iterator[Seen]:
    """No task carries the labels of another task of its corpus."""
    for twin in look.facts["twins"]:
        if twin["shared"] >= TWIN_TEXTS and twin["same"] in (0, twin["shared"]):
            how = "the same label" if twin["same"] else "opposite labels"
            yield Seen(
                f"{twin['task']} and {twin['other']} give all {twin['shared']:,} texts that they share {how}; does one"
                " read the column of the other?",
                twin["shared"],
                f"{twin['task']} {twin['other']}",
            )


@rule("label-relation", ERROR, "corpus")
def label_relation(look: Look) -> Iterator[Seen]:
    """Classes go together as their corpus.yaml says (`goes_with`): labels that were turned round do not."""
    for one in look.facts["relations"]:
        if min(one["items"], one["others"]) >= RELATION_ITEMS and one["share"] <= one["share_of_others"]:
            yield Seen(
                f'{one["task"]} "{one["class"]}" should go with {one["other"]} "{one["other_class"]}", but has'
                f" {one['share']:.2f} of it where others have {one['share_of_others']:.2f}: turned round?",
                one["items"],
                f"{one['task']} {one['class']} {one['other']}",
            )


# Texts ---------------------------------------------------------------------------------------------------


def _artefact_message(found: dict) -> str:
    if "class" in found:
        return (
            f'{found["kind"]} {found["what"]} points to "{found["class"]}": {found["share"]:.0%} of the'
            f" {found['support']:,} items with it, {found['base']:.1%} of all (lift {found['lift']:.1f})."
        )
    return (
        f"{found['kind']} {found['what']} moves the value: {found['support']:,} items with it have a mean of"
        f" {found['mean_with']:.2f}, the others {found['mean_without']:.2f} ({found['effect']:+.1f} deviations)."
    )


def _artefacts(look: Look, strong: bool) -> Iterator[Seen]:
    for found in look.facts.get("artefacts", ()):
        if found["strong"] == strong:
            yield Seen(_artefact_message(found), found["support"], found["what"])


@rule("artefact", ERROR, "task")
def artefact(look: Look) -> Iterator[Seen]:
    """No character, token or white space gives the label away."""
    yield from _artefacts(look, strong=True)


@rule("cue", WARNING, "task")
def cue(look: Look) -> Iterator[Seen]:
    """Characters and tokens that say much of the label are known to whoever reads scores."""
    yield from _artefacts(look, strong=False)


def _trace_rule(kind) -> None:
    def look_for(look: Look) -> Iterator[Seen]:
        found = look.facts["traces"].get(kind.id)
        if found:
            yield Seen(
                f"{_count(found['items'], 'item')} with {kind.about}.",
                found["items"],
                examples=tuple(found.get("examples", ())),
            )

    look_for.__doc__ = f"No text has {kind.about}."
    rule(kind.id, kind.severity, "task")(look_for)


for _kind in KINDS:
    _trace_rule(_kind)


# Papers --------------------------------------------------------------------------------------------------


@rule("licence", ERROR, "corpus")
def licence(look: Look) -> Iterator[Seen]:
    """The licence is stated or `unknown`, and an unknown one does not allow redistribution."""
    corpus = look.corpus
    if corpus.license == "unknown" and corpus.redistribution.allowed:
        yield Seen("the licence is unknown, so redistribution cannot be allowed; decide in corpus.yaml.")


@rule("redistribution", WARNING, "corpus")
def redistribution(look: Look) -> Iterator[Seen]:
    """The texts may be passed on."""
    if not look.corpus.redistribution.allowed:
        why = " ".join(look.corpus.redistribution.why.split())
        yield Seen(f"the texts may not be passed on (licence {look.corpus.license}): {why}")


@rule("incomplete", WARNING, "corpus")
def incomplete(look: Look) -> Iterator[Seen]:
    """The corpus was built from all of its raw files."""
    if look.facts["missing"]:
        names = ", ".join(look.facts["missing"])
        yield Seen(f"built in part, without {names}.", len(look.facts["missing"]))


def rule_table() -> list[dict[str, Any]]:
    """The rules as rows: id, severity, scope, about."""
    return [{"id": r.id, "severity": r.severity, "scope": r.scope, "about": r.about} for r in RULES]
