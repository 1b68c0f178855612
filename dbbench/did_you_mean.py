"""The nearest of the names that exist, for messages about one that doesn't."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: A longer name is no slip of the pen, and takes long to compare.
_LONGEST = 48


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
