"""Traces in texts: what files, web pages, keyboards and people have left there, found by kind.

A trace is no fault by itself: a published text stays as its corpus has it. Validation counts traces and shows where
they are, so that whoever publishes or uses a corpus decides with open eyes. Only what the pipeline makes impossible is
an error.

Every kind is searched in two steps: a hint (RE2, fast) goes over the whole column, then the pattern (Python's `re`,
exact) over the few texts that are left. Patterns are made to be right rather than complete: a number is a phone number
only if it is written as one.
"""

import re
from html.entities import name2codepoint
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from builders.pipeline.text import WHITE_SPACE

SHOWN = 20
# Fewer texts than this have no usual length.
USUAL_TEXTS = 20


class Kind(NamedTuple):
    """One kind of trace."""

    id: str
    severity: Literal["error", "warning"]
    about: str
    """What such a text has: goes after "No text has" and "3 items with"."""
    pattern: re.Pattern | None
    """Finds the trace; None for `OVERLONG`, which a text has beside others only."""
    hint: str
    """In RE2, what every text with the trace has as well; kinds of one hint agree in `beyond_ascii`."""
    beyond_ascii: bool = False
    """No text in ASCII has it."""
    personal: bool = False
    """Points to a person: never shown as it is."""


def _kind(id: str, about: str, pattern: str, hint: str = "", severity="warning", **more) -> Kind:
    """A kind whose hint is, if none is given, the pattern itself."""
    return Kind(id, severity, about, re.compile(pattern, re.ASCII), hint or pattern, **more)


# Characters ----------------------------------------------------------------------------------------------

_ODD_SPACE = "".join(sorted(set(WHITE_SPACE) - set(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85")))

_NON_CHARACTERS = "\ufdd0-\ufdef" + "".join(chr(code) + chr(code + 1) for code in range(0xFFFE, 0x110000, 0x10000))

# Format characters that leave no mark of their own (category Cf but for the signs of a few scripts), and variation
# selectors. They have their place between emoji and in some scripts.
INVISIBLE = (
    "\u00ad\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001fbff"
_IN_PLACE = "|".join(
    [
        f"(?<=[#*0-9{_EMOJI}])[\ufe0e\ufe0f]",
        f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])",
        "(?<=[\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007f]",  # flags of England, Scotland, Wales
        "(?<=[\u0590-\u1fff])[\u200b-\u200f]",  # joiners and marks in scripts from Hebrew to Greek with accents
        "(?<=[\u1820-\u18aa])[\u180b-\u180f]",
        "(?<=[\u3400-\u9fff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]",
    ]
)

# What the second and later bytes of a character in UTF-8 (80 to BF) become in Latin-1 or Windows-1252 ...
_SIGNS = "\u0080-\u009f€‚ƒ†‡ˆ‰Š‹ŒŽ˜š›œžŸ¡-ª¬¯±-¶¸-º¼-¿"
# ... with those that may as well end a word in capitals.
_LATER = f"{_SIGNS}\u00a0«\u00ad®°·»„…‘’“”•–—™"
_MOJIBAKE = "|".join(
    [
        f"[ÂÃ][{_LATER}]",
        "(?<=[a-z0-9.,!?])Â(?= |$)",  # the no-break space behind it has become a blank
        f"[Ä-ÖØ-Þ][{_SIGNS}]|×[\u0090-\u009f¡-ªœšž˜]",
        f"â[{_LATER}]{{2}}|â[\u0080-\u009f€]",
        f"ã[\u0080-\u0083€‚ƒ][{_LATER}]",
        f"ï[¸-¾][{_LATER}]|ï¿[\u0080-¼¾¿]",
        f"ð[\u009fŸ][{_LATER}]",
        f"(?:[à-í][{_LATER}]{{2}}){{2}}",
        "‚Ä[^ ]|√[©®]",  # Mac Roman
    ]
)

# Leftovers of formats ------------------------------------------------------------------------------------

_REFERENCE = f"(?:{'|'.join(sorted(name2codepoint))}|apos|#[0-9]{{2,7}}|#[xX][0-9A-Fa-f]{{2,6}});"
_BARE_REFERENCE = r"(?:amp|lt|gt|quot|#[0-9]{2,7})(?![\w;=])"

_ESCAPE = "|".join(
    [
        r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|n(?![a-z])|[rt](?![A-Za-z]))",
        r"(?<![^ ])\\ n",  # \n in a tokenised text
        r"\\[\"'*>#~]",
        r"(?<![¯|])\\_(?![(/|])",  # but no shrug
        r"\\/(?=\w)|(?<=\w)\\/",
    ]
)

# <url> or <person> is put in deliberately, as @user is.
_MASKS = "url|link|user|person|name|number|email|phone|date|time|location|hashtag|mention"
_MARKUP = "|".join(
    [
        rf"<(?!(?i:{_MASKS})>)/?[A-Za-z][A-Za-z0-9]*(?:\s+[A-Za-z-]+\s*=[^<>]*)?\s*/?>",
        r"<[A-Za-z]+\s+[A-Za-z-]+\s*=|<!--",
        r"\[(?:linebreak|newline|br|tab)\]",
        r"\[(?i:url|img|quote|color|size|font)(?:=[^\[\]]*)?\]|\[/[A-Za-z]{1,10}\]",
        r"\]\(\\?(?:https?:|www\.|[/#])",
        # Of what may enclose any words, the first sign only.
        r"(?<![\w*])\*\*(?=\w[^*]*\w\*\*(?![\w*]))",
        r"\[\[(?=[^\[\]|:]*[|:][^\[\]]*\]\])|\{\{(?=[a-z#][^{}]*\}\})",
        r"(?<!\S)(={2,4})(?= ?[^=]+\1(?!\S))|'''(?=[^']+''')",
    ]
)

# People --------------------------------------------------------------------------------------------------

# @user is a mask; @home and @8am are places and times.
_NO_NAMES = "user(?:name)?[_-]?[0-9]{0,2}|mention|name|person|handle|url|me|home|work|school|noon|midnight|night|least"
_HANDLE = "|".join(
    [
        rf"(?<![\w@])@(?!(?i:{_NO_NAMES})(?!\w))(?![0-9]+(?:[ap]m|st|nd|rd|th|h|k)?(?!\w))\w{{2,}}",
        r"(?<![\w@])@[0-9]{6,}",
        r"(?<![\w/])/?u/[\w-]{3,}",
        r"reddit\.com/u(?:ser)?/[\w-]{3,}|twitter\.com/\w+/status",
        r"(?<!\w)User(?:[ _]talk)?:\w{2,}",
    ]
)
_EMAIL = r"(?<![\w.+%-])[\w.+%-]*\w@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}"
_ALONE = r"(?<![\w.,/$#=@-])"
_THREE = r"[2-9]\d{2}"
_PHONE = "|".join(
    [
        # North America, with and without area code; 500-1000 is a range.
        rf"{_ALONE}(?:\+?1[ .-]?)?(?:\({_THREE}\)|{_THREE})[ .-]{{0,3}}{_THREE}[ .-]\d{{4}}(?![\w-])",
        rf"{_ALONE}(?!\d00){_THREE}-(?!\d000)\d{{4}}(?![\w-])",
        # International; national with a leading zero.
        r"(?<!\w)\+[1-9](?:[ .()-]{0,2}\d){8,14}(?!\w)",
        rf"{_ALONE}0[1-9](?:\d{{9}}|\d{{2,3}} \d{{6}}|\d{{1,3}} \d{{3,4}} \d{{3,4}})(?![\w-])",
    ]
)
# Of a tweet, a user or a message: neither the end of an address nor a large round number.
_ID = r"(?<![/=#A-Z\d_-])(?<!\d\.)(?!\d?(\d)\1{5})[1-9]\d{14,18}(?!\w)"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IP_ADDRESS = rf"(?<![\w.-])(?!0){_OCTET}(?:\.{_OCTET}){{3}}(?![\w-]|\.[0-9])"

# Hints that several kinds share, and long ones ----------------------------------------------------------
_CONTROLS = "[\x00-\x1f\x7f-\x9f]"
_NUMBERS = r"[0-9][0-9 .()-]{5,}[0-9]"
_REFERENCES = "&[#A-Za-z]"
# Not @user alone, which is in most texts of a corpus with masked names.
_NAMES = r"@(?i:[^u\W]\w|u[^s\W]|us(?:[^e]|$)|use(?:[^r]|$)|user\w)|u/[\w-]{3}|/user/|/status|User(?:[ _]talk)?:"
_SIGNS_OF_MARKUP = (
    r"<[/!A-Za-z]|\[[/\[]|\]\(|\[(?:linebreak|newline|br|tab|(?i:url|img|quote|color|size|font))|\*\*\w|==|\{\{|'''"
)

# ---------------------------------------------------------------------------------------------------------

OVERLONG = Kind(
    "overlong",
    "warning",
    "a length out of all proportion to the corpus's other texts, as if records had run together",
    None,
    "",
)

KINDS = (
    _kind("line-break", "a line break", "[\n\r]", _CONTROLS, severity="error"),
    _kind("outer-space", "white space at an end", f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+$", severity="error"),
    _kind("control", "control characters", "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", _CONTROLS),
    _kind("tab", "a tab, as between the fields of a record", "\t", _CONTROLS),
    _kind("odd-space", "white space other than the blank", f"[{_ODD_SPACE}]", beyond_ascii=True),
    _kind(
        "invisible",
        "format characters or variation selectors out of their place",
        f"(?!{_IN_PLACE})[{INVISIBLE}]",
        f"[{INVISIBLE}]",
        beyond_ascii=True,
    ),
    _kind(
        "private-use",
        "private-use characters or non-characters",
        f"[\ue000-\uf8ff\U000f0000-\U0010ffff{_NON_CHARACTERS}]",
        beyond_ascii=True,
    ),
    _kind("lost", "replacement characters (U+FFFD), whose original is lost", "\ufffd+|(?:ï¿½)+", beyond_ascii=True),
    _kind(
        "mojibake", "UTF-8 that was read as another encoding, such as Ã© for é", _MOJIBAKE, "[Â-ð‚√]", beyond_ascii=True
    ),
    _kind("entity", "HTML entities, such as &amp;", f"&(?:{_REFERENCE}|{_BARE_REFERENCE})", _REFERENCES),
    _kind("double-entity", "HTML entities that were escaped twice", f"&amp;{_REFERENCE}", _REFERENCES),
    _kind("escape", "escapes that were not resolved, such as a backslash and an n", _ESCAPE, r"\\"),
    _kind("quoting", "doubled quotation marks, as in a CSV file", r"(?<!\")\"\"+(?=\w)|(?<=[\w.,!?…'])\"\"+", '""'),
    _kind("markup", "markup, such as tags or the signs of a wiki", _MARKUP, _SIGNS_OF_MARKUP),
    _kind("handle", "user names, such as @name or u/name", _HANDLE, _NAMES, personal=True),
    _kind("email", "e-mail addresses", _EMAIL, r"@[A-Za-z0-9-]+\.", personal=True),
    _kind("phone", "phone numbers", _PHONE, _NUMBERS, personal=True),
    _kind("ip-address", "IP addresses", _IP_ADDRESS, _NUMBERS, personal=True),
    _kind("long-number", "a number of 15 to 19 digits, as ids have", _ID, _NUMBERS, personal=True),
    OVERLONG,
)


def traces(texts: pd.Series) -> dict[str, np.ndarray]:
    """Which of the distinct `texts` of a corpus have which kind of trace: by id of the kind, in the order of `KINDS`, a
    boolean array as long as `texts`."""
    array = pa.array(texts)
    foreign = np.flatnonzero(~pc.string_is_ascii(array).to_numpy(zero_copy_only=False))
    beyond_ascii = array.take(pa.array(foreign))
    found, hinted = {}, {}
    for kind in KINDS:
        if kind is OVERLONG:
            found[kind.id] = _overlong(array)
            continue
        among = beyond_ascii if kind.beyond_ascii else array
        if kind.hint not in hinted:
            hits = pc.match_substring_regex(among, kind.hint).to_numpy(zero_copy_only=False)
            hinted[kind.hint] = np.flatnonzero(hits)
        places = hinted[kind.hint]
        sure = [bool(kind.pattern.search(text)) for text in among.take(pa.array(places)).to_pylist()]
        places = places[np.array(sure, dtype=bool)]
        found[kind.id] = np.zeros(len(array), dtype=bool)
        found[kind.id][foreign[places] if kind.beyond_ascii else places] = True
    return found


def _overlong(array: pa.Array) -> np.ndarray:
    """Texts that are, on a log scale, more than three times as far above the median length as the 95th percentile is,
    and more than twice as long as that percentile.

    Both measures leave the few longest texts out of account, and texts with a limit (tweets) are held to a stricter
    measure than those of which some are long anyway (comments).
    """
    lengths = pc.utf8_length(array).to_numpy(zero_copy_only=False)
    if len(lengths) < USUAL_TEXTS:
        return np.zeros(len(lengths), dtype=bool)
    median, long = np.quantile(lengths, [0.5, 0.95], method="lower")
    return lengths > max(median * (long / max(median, 1)) ** 3, 2 * long)


def matched(text: str, kind: Kind) -> str:
    """The first piece of `text` that is of this kind, to be shown in a message; empty if there is none.

    At most `SHOWN` characters of it, with those that cannot be seen written as U+XXXX. Of what points to a person only
    the form is given: `@…`, `u/…`, `…@…`, `(…) …`; of an overlong text its length.
    """
    if kind.pattern is None:
        return f"{len(text):,} characters"
    match = kind.pattern.search(text)
    if not match:
        return ""
    piece = match.group()
    if kind.personal:
        return re.sub(r"(?!u/)[\w.%-]+", "…", piece)
    cut = piece[:SHOWN]
    shown = "".join(_visible(char) for char in cut) if cut.strip(" ") else " ".join(map(_code, cut))
    return shown + "…" * (len(piece) > SHOWN)


def _visible(char: str) -> str:
    hidden = char != " " and (not char.isprintable() or re.match(f"[{INVISIBLE}]", char))
    return _code(char) if hidden else char


def _code(char: str) -> str:
    return f"U+{ord(char):04X}"
