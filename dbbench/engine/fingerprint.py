"""Whether an engine is still the one that was looked at: its author changes its code, and no version with it."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from dbbench.engine.base import Engine


def fingerprint(kind: type[Engine]) -> str:
    """A hash of the files that an engine and its session are defined in, those of their base classes too."""
    classes = dict.fromkeys([*kind.__mro__, *getattr(kind, "session_class", object).__mro__])
    names = {getattr(sys.modules.get(each.__module__), "__file__", None) for each in classes}
    total = hashlib.sha256()
    for file in sorted(map(Path, filter(None, names))):
        if file.is_file():
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:24]
