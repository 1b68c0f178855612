"""What can be told of a statement by its text alone, without a parser: whether it returns rows."""

from __future__ import annotations

import re

_COMMENTS_AND_TEXTS = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"", re.DOTALL)
_RETURNS_ROWS = frozenset({"SELECT", "VALUES", "TABLE", "SHOW", "EXPLAIN", "DESCRIBE"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"})


def returns_rows(sql: str) -> bool:
    """Whether a statement is sure to return rows: by its first keyword, by RETURNING, and behind a WITH by what it isn't.

    SELECT ... INTO makes a table and returns none. Of what this can't know (CALL, PRAGMA) the driver tells at run time.
    """
    words = re.findall(r"\w+", _COMMENTS_AND_TEXTS.sub(" ", sql).upper())
    first = words[0] if words else ""
    if "RETURNING" in words:
        return True
    if first == "WITH":
        return not _WRITES & set(words)
    return first in _RETURNS_ROWS and not (first == "SELECT" and "INTO" in words)
