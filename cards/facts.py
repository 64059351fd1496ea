"""The facts of a release as its card and pages tell them: per task, from the lock and the declarations, from what is
known of the published release, and from the accepted exceptions of validation."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from builders.declaration import Corpus, Task
from builders.pipeline.lock import CorpusFacts, Lock, SplitFacts, TaskFacts
from builders.pipeline.package import SPLIT_FILES, data_path
from validation.known import Known, read_known
from validation.published import Published
from validation.published import facts as published

REPOSITORY = "Blablablab/SOCKET"

# The categories as the paper calls them.
CATEGORIES = {
    "humor_sarcasm": "Humor & sarcasm",
    "offensive": "Offensiveness",
    "sentiment_emotion": "Sentiment & emotion",
    "social_factors": "Social factors",
    "trustworthy": "Trustworthiness",
}

# Why the pipeline leaves out a raw row; a corpus gives its own reasons in its declaration.
REASONS = {
    "unlabeled": "Nobody labelled the row for this task.",
    "empty_text": "The text is blank.",
    "identical_pair": "The two texts of the pair are the same.",
    "duplicate": "The same text with the same label is an item already.",
    "contradiction": "Rows of the same text have different labels.",
    "near_duplicate": "Has the letters and digits of a held-out text; leaves train.",
    "held_out_part": "A part of texts whose words stand in a held-out text; leaves train.",
}

POLICIES = {
    "majority": "one item with the label of a strict majority of them, or no item if there is none",
    "mean": "one item with their mean",
    "drop": "no item",
}


class Entry(NamedTuple):
    """A task of a release with what is known of it."""

    corpus: Corpus
    task: Task
    facts: TaskFacts
    origin: CorpusFacts
    """What the lock says of the corpus."""
    sample: bool
    """Built from invented samples."""

    @property
    def page(self) -> str:
        """Where the page of the task lies in the release."""
        return f"tasks/{self.task.slug}.md"

    @property
    def files(self) -> list[str]:
        """Where the data files of the task lie in the release."""
        return [data_path(self.task, split) for split in SPLIT_FILES]

    @property
    def splits(self) -> dict[str, SplitFacts]:
        """The splits in their order."""
        return {split: self.facts["splits"][split] for split in SPLIT_FILES}

    @property
    def link(self) -> str:
        """A link to the page, from the card."""
        return f"[`{self.task.name}`]({self.page})"

    @property
    def reference(self) -> str:
        """The publication of the corpus, in a line."""
        corpus = self.corpus
        year = "" if str(corpus.year) in corpus.venue else f", {corpus.year}"
        return f"{', '.join(corpus.authors)}: {corpus.title}. {corpus.venue}{year}."

    @property
    def sizes(self) -> list[str]:
        """Items per split."""
        return [f"{split['items']:,}" for split in self.splits.values()]

    def sizes_of(self, label: str) -> list[str]:
        """Items of a class per split."""
        return [f"{split['labels'][label]:,}" for split in self.splits.values()]

    @property
    def off_by(self) -> str:
        """By how many items splits miss the rule, if they do."""
        return ", ".join(f"{split} {count:+,}" for split, count in self.facts["off_by"].items())

    @property
    def counted_out(self) -> str:
        """How many raw rows became no item, by reason."""
        return ", ".join(f"{count:,} `{reason}`" for reason, count in self.facts["dropped"].items())

    @property
    def left_out(self) -> list[tuple[str, int, str]]:
        """The raw rows that became no item: reason, how many, and what the reason means."""
        meanings = REASONS | {rule.reason: rule.why for rule in self.task.drops}
        unknown = "No declaration says what it means."
        return [(reason, count, meanings.get(reason, unknown)) for reason, count in self.facts["dropped"].items()]

    @property
    def policy(self) -> str:
        """What becomes of rows with the same text and different labels."""
        return POLICIES[self.task.policy]

    @property
    def published(self) -> Published | None:
        """The task in the published release."""
        return published()[0].get(self.task.name)

    @property
    def defects(self) -> list[dict]:
        """The defects of the published release that concern the task."""
        return [published()[1][number] for number in self.published.defects] if self.published else []

    @property
    def exceptions(self) -> list[Known]:
        """The accepted exceptions about the task or its corpus."""
        return _accepted({self.task.name, self.corpus.name}, self.sample)


def _accepted(places: Collection[str], sample: bool) -> list[Known]:
    """What was accepted in these places; what was counted in real texts says nothing of invented ones."""
    return [one for one in _known() if one.place in places and not (sample and one.at_most is not None)]


@cache
def _known() -> list[Known]:
    return read_known()


def entries(corpora: Iterable[Corpus], lock: Lock) -> list[Entry]:
    """The tasks of a release, in the order of its corpora."""
    found = []
    for corpus in corpora:
        origin = lock["corpora"].get(corpus.name)
        for task in corpus.tasks:
            if origin and task.name in origin["tasks"]:
                found.append(Entry(corpus, task, origin["tasks"][task.name], origin, lock["source"] == "sample"))
    return found


def items(tasks: Iterable[Entry]) -> int:
    """Items of all tasks; SocKETTe repeats some of them and is not counted."""
    return sum(entry.facts["items"] for entry in tasks)


def by_category(tasks: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The tasks per category, in the order of the paper; only categories that have some."""
    groups = {name: [entry for entry in tasks if entry.task.category == name] for name in CATEGORIES}
    return {name: group for name, group in groups.items() if group}


def by_corpus(tasks: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The tasks per corpus."""
    groups: dict[str, list[Entry]] = {}
    for entry in tasks:
        groups.setdefault(entry.corpus.name, []).append(entry)
    return groups


def reasons(tasks: Sequence[Entry]) -> dict[tuple[str, str], list[str]]:
    """Every reason for which a raw row was left out, with its meaning: the tasks where it happened."""
    found: dict[tuple[str, str], list[str]] = {}
    for entry in tasks:
        for reason, _, why in entry.left_out:
            found.setdefault((reason, why), []).append(entry.task.name)
    return dict(sorted(found.items()))


def differences(tasks: Sequence[Entry]) -> list[tuple[dict, list[str]]]:
    """The defects of the published release, in the order of their numbers, with the tasks that they concern."""
    concerned: dict[int, list[str]] = {}
    for entry in tasks:
        for number in entry.published.defects if entry.published else ():
            concerned.setdefault(number, []).append(entry.task.name)
    return [(published()[1][number], concerned[number]) for number in sorted(concerned)]


def exceptions(tasks: Sequence[Entry]) -> list[Known]:
    """The accepted exceptions about the release, the tasks and their corpora, in the order of the list."""
    places = {"release", *(entry.task.name for entry in tasks), *(entry.corpus.name for entry in tasks)}
    return _accepted(places, tasks[0].sample)
