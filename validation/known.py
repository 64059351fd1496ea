"""Accepted exceptions: findings that stand, each with a reason. The list works both ways: what is not listed blocks a
release, and what is listed but no longer found has to be taken off the list."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from builders.declaration import read_yaml
from builders.problems import Problem
from validation.rules import ERROR, Finding

KNOWN = Path(__file__).parent / "known.yaml"

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


class Known(BaseModel):
    """One accepted finding."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    rule: Text
    place: Text
    """The task or corpus, or `release`."""
    what: str | None = None
    """Which of several findings; all of that rule in that place if it is left out."""
    at_most: int | float | None = None
    """The number that was accepted; more is a new finding."""
    reason: Text

    def accepts(self, finding: Finding) -> bool:
        return (
            (self.rule, self.place) == (finding.rule, finding.place)
            and self.what in (None, finding.what)
            and (self.at_most is None or finding.number <= self.at_most)
        )


_LIST = TypeAdapter(list[Known])


def read_known(path: Path = KNOWN) -> list[Known]:
    """The accepted exceptions. Raises `Problem` naming the entry and what is wrong with it."""
    try:
        return _LIST.validate_python(read_yaml(path) or [], strict=True)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "all of it"
        raise Problem(f"{place}: {fault['msg']}.", where=[f"{path.parent.name}/{path.name}"]) from None


def judge(found: Sequence[Finding], known: Sequence[Known], looked_at: Collection[str]) -> list[Finding]:
    """The findings, accepted ones with their reason; and an error for every entry that was not found.

    `looked_at` are the places that were measured: entries about others are not judged.
    """
    judged, used = [], set()
    for finding in found:
        entry = next((one for one in known if one.accepts(finding)), None)
        used.add(entry)
        judged.append(finding._replace(known=entry.reason if entry else ""))
    for entry in known:
        if entry not in used and entry.place in looked_at:
            told = " ".join(filter(None, [entry.rule, entry.what]))
            bound = f" at {entry.at_most:,} or less" if entry.at_most is not None else ""
            message = f"{told} is listed in known.yaml, but is not found{bound}; take it off the list."
            judged.append(Finding("known-exception", ERROR, "", entry.place, told, message, 1, ()))
    return judged
