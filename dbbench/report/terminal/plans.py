"""Two plans of one query, with what differs marked: beside each other where there is room, else one under the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from dbbench.analysis.queryplans import shape

#: What stands between two columns: the lines are alike, differ, or are on one side only.
_ALIKE, _DIFFER, _LEFT, _RIGHT = "   ", " | ", " < ", " > "


def two_plans(titles: Sequence[str], texts: Sequence[str], width: int) -> Iterator[str]:
    """Lines of at most `width` columns, if the plans' own are not longer. Numbers are estimates: they mark no line."""
    rows = list(_rows(*(text.splitlines() for text in texts)))
    widths = [max(map(len, (title, *text.splitlines()))) for title, text in zip(titles, texts, strict=True)]
    if sum(widths) + len(_ALIKE) <= width:
        yield f"{titles[0]:<{widths[0]}}   {titles[1]}"
        yield from (f"{left:<{widths[0]}}{mark}{right}".rstrip() for left, mark, right in rows)
        return
    for title, column, other in ((titles[0], 0, _RIGHT), (titles[1], 2, _LEFT)):
        yield title
        yield from (f"{' ' if row[1] == _ALIKE else '*'} {row[column]}" for row in rows if row[1] != other)


def _rows(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Lines that belong beside each other, and the mark between them."""
    matched = SequenceMatcher(None, [*map(shape, ours)], [*map(shape, theirs)], autojunk=False)
    for tag, low, high, first, last in matched.get_opcodes():
        for left, right in zip_longest(ours[low:high], theirs[first:last]):
            mark = _ALIKE if tag == "equal" else _LEFT if right is None else _RIGHT if left is None else _DIFFER
            yield left or "", mark, right or ""
