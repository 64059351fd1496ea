"""Markdown: facts that show as they are written, whatever signs they hold, and the templates they are put into."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import quote

TEMPLATES = Path(__file__).parent / "templates"

# What means something inside a line or a table cell (CommonMark; `|` and `~` by GitHub, `$` by the Hub).
_SIGNS = re.compile(r"[\\`*_\[\]<>|~&$#]")
# What would make a list of a line that begins with it.
_LIST = re.compile(r"^(\d*)([-+.)])")
_CODE = re.compile(r"(`[^`]+`)")
_BACKTICKS = re.compile("`+")


def plain(text: str) -> str:
    """`text` on one line, each sign in it shown as itself: in a paragraph, a list or a table cell."""
    return _LIST.sub(r"\1\\\2", _escaped(" ".join(text.split())))


def prose(text: str) -> str:
    """As `plain`, but what stands between two backticks is code: so the notes of declarations are written.

    Code with a `|` is shown as plain text: in a table it would end the cell, elsewhere it must not be escaped.
    """
    parts = _CODE.split(" ".join(text.split()))
    kept = [part if place % 2 and "|" not in part else _escaped(part) for place, part in enumerate(parts)]
    return _LIST.sub(r"\1\\\2", "".join(kept))


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text)


def fence(text: str, language: str = "") -> str:
    """`text` as a block of code, whatever backticks it holds."""
    marks = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(text))])
    return f"{marks}{language}\n{text.strip()}\n{marks}"


def address(url: str) -> str:
    """`url` so that it can stand between < and >, in a table cell too."""
    return quote(url, safe="%/:?#@!$&'()*+,;=~")


def row(*cells: object) -> str:
    """A row of a table; the cells are Markdown already. A list is as many cells."""
    spread = [one for cell in cells for one in (cell if isinstance(cell, list) else [cell])]
    return f"| {' | '.join(map(str, spread))} |"


def codes(names: Iterable[str]) -> str:
    """Names of tasks, splits or reasons, one after the other: they hold no sign that means something in code."""
    return ", ".join(f"`{name}`" for name in names)


def render(template: str, **facts: object) -> str:
    """The template of that name with the facts filled in; a fact that it names and is not given raises."""
    return _environment().get_template(template).render(facts).strip() + "\n"


def number(count: int, one: str, many: str) -> str:
    """So many of a thing, in words."""
    return f"{count:,} {one if count == 1 else many}"


@cache
def _environment():
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.globals |= {"row": row}
    environment.filters |= {
        "codes": codes,
        "plain": plain,
        "prose": prose,
        "fence": fence,
        "address": address,
        "count": "{:,}".format,
        "number": number,
        "value": "{:g}".format,
    }
    return environment
