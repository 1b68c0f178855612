"""Texts that drivers and strangers wrote, made fit for terminals, charts and files.

A driver may say anything: codes that clear the screen, half a character, 300 kB. Every text is cleaned where a result
is made, and again where one is read, since a run directory may come from elsewhere. A name that doesn't exist is
answered with the nearest one that does.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

#: A longer message is cut; the trial's stderr.txt has all of it.
MOST = 2_000
#: More levels than anything that dbbench writes has.
DEEPEST = 20
#: Control characters but tab and newline; halves of surrogate pairs; what turns the direction of writing; no
#: characters.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_CARRIAGE = re.compile("\r\n?")
#: Terminals' own codes: these go as a whole, so that no "[31m" is left of them.
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]{0,200}(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])")
#: A longer name is no slip of the pen, and takes long to compare.
_LONGEST = 48


def printable(text: str) -> str:
    """A text of which every character can be printed and written; lines stay."""
    if text.isascii() and text.isprintable():  # nearly every text: a run has a hundred thousand
        return text
    return _UNFIT.sub("\ufffd", _CARRIAGE.sub("\n", _ESCAPES.sub("", text)))


def cleaned(text: str, most: int = MOST) -> str:
    """A printable text of at most `most` characters; one that was longer says how many it had."""
    if len(text) <= most:
        return printable(text)
    note = f"... ({len(text):,} characters)"
    return f"{printable(text[: most - len(note)])}{note}"


def clean(document: Any, depth: int = 0) -> Any:
    """A JSON document with every text cleaned, and null for what is no number. Raises ValueError if it is too deep."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(document, str):
        return cleaned(document)
    if isinstance(document, float):
        return document if math.isfinite(document) else None
    if isinstance(document, Mapping):
        return {cleaned(str(key)): clean(value, depth + 1) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [clean(value, depth + 1) for value in document]
    return document


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like this one, whatever the case of its letters; empty if none is."""
    if len(name) > _LONGEST:
        return ""
    lower = {str(one).lower(): str(one) for one in known}
    found = difflib.get_close_matches(name.lower(), lower, n=1)
    return lower[found[0]] if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What follows the name in a message: `; did you mean 'x'?`, or nothing."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""
