"""Errors that a person reads: what is wrong, where (corpus, file, record) and what to do."""

from collections.abc import Iterable, Sequence


class Problem(Exception):
    """One thing that is wrong with the input.

    ``what`` says what was seen and what was expected, ``where`` names corpus, file and record from the
    outside in, ``todo`` says how to go on. A ``Problem`` is never a bug of this program: the command line
    prints it without a traceback.
    """

    def __init__(self, what: str, *, where: Sequence[str] = (), todo: str = ""):
        super().__init__(what)
        self.what = what
        self.where = tuple(where)
        self.todo = todo

    def within(self, *outer: str) -> "Problem":
        """The same problem, seen from further outside: ``outer`` is put before the place."""
        return type(self)(self.what, where=(*outer, *self.where), todo=self.todo)

    def __str__(self) -> str:
        return ": ".join((*self.where, self.what)) + (f" {self.todo}" if self.todo else "")

    def __reduce__(self):
        # Problems cross process borders; the default would lose the keyword arguments.
        return (_rebuild, (type(self), self.what, self.where, self.todo))


class Problems(Problem):
    """Several problems found in one go, told together."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def within(self, *outer: str) -> "Problems":
        return Problems(problem.within(*outer) for problem in self.problems)

    def __reduce__(self):
        return (Problems, (self.problems,))


class WrongUsage(Problem):
    """The command was called wrongly (exit status 2): nothing was read or written."""


def _rebuild(kind, what, where, todo):
    return kind(what, where=where, todo=todo)


def raise_all(problems: Sequence[Problem]) -> None:
    """Raise what was collected: nothing, the one problem, or all of them together."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise Problems(problems)


def examples(values: Iterable[object], total: int | None = None, at_most: int = 3) -> str:
    """A short list for a message: the first few values and how many there are in all."""
    values = list(values)
    total = len(values) if total is None else total
    shown = ", ".join(str(value) for value in values[:at_most])
    return shown + (f" and {total - at_most:,} more" if total > at_most else "")


def visible(text: str, at_most: int = 1_000) -> str:
    """Text from a file as a terminal may show it: on one line, control characters spelled out, cut to a length."""
    shown = "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text[:at_most])
    return shown + ("…" if len(text) > at_most else "")
