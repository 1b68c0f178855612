"""Rows that an order leaves alike: the rows of a tie may come in any order, and any of them where a limit cuts through.

An answer with ties has one column more, the last, which says of each row whether it is tied with the one before it. All
rows of a tie at the limit are there, and the column's metadata says how many rows there are to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbbench.errors import UserError, WrongAnswer
from dbbench.suite.answer import Answer

#: The name of the column that is no column of the query.
TIED = " tied"
_LIMIT = b"limit"
#: Rows that a tie at a limit may have.
MOST = 1_000_000
#: Numbers with a fraction are summed up in another order by some: this part of one doesn't tell two apart.
_NEAR = 1e-9


def tied(rows: pa.Table, order: Sequence[str]) -> NDArray[np.bool_]:
    """Of each of some ordered rows, whether the row before it may as well come after it."""
    found = np.ones(rows.num_rows, bool)
    if not rows.num_rows:
        return found
    for name in reversed(order):
        column = rows.column(name).combine_chunks()
        before, after = column[:-1], column[1:]
        null, same = pc.and_(pc.is_null(before), pc.is_null(after)), pc.fill_null(pc.equal(before, after), False)
        exact = pc.or_(null, same).to_numpy(zero_copy_only=False)
        near = np.zeros(len(exact), bool)
        if pa.types.is_floating(column.type):
            first, second = (each.to_numpy(zero_copy_only=False).astype(float) for each in (before, after))
            near = np.abs(first - second) <= _NEAR * np.maximum(np.abs(first), np.abs(second))
        # What comes later in the order counts only where this is the same to the last bit.
        found[1:] = np.where(exact, found[1:], near)
    found[0] = False
    return found


def cut(rows: pa.Table, answer: Answer, *, ties: bool) -> pa.Table:
    """The first of some ordered rows, as many as the answer's limit, and with `ties` those tied with the last of them.

    Raises UserError for ties at the limit, or without end with `ties`.
    """
    if answer.limit is None or rows.num_rows <= answer.limit:
        return rows
    alike = tied(rows.slice(answer.limit - 1), answer.order_by)
    alike[0] = True
    more = len(alike) if alike.all() else int(np.argmin(alike))
    if more > (MOST if ties else 1):
        what = "ties" if not ties else f"more than {MOST:,} rows tied"
        raise UserError(f"the order leaves {what} at the limit of {answer.limit}: order by one column more")
    return rows[: answer.limit - 1 + more]


def marked(rows: pa.Table, answer: Answer, *, always: bool = False) -> pa.Table:
    """Ordered rows with the column of ties, if there are any, or `always`."""
    found = tied(rows, answer.order_by)
    if not always and not found.any():
        return rows
    limit = {} if answer.limit is None else {_LIMIT: str(answer.limit)}
    field = pa.field(TIED, pa.bool_(), metadata=limit or None)
    return rows.append_column(field, pa.array(found))


def is_marked(rows: pa.Table) -> bool:
    """Whether an answer's last column says which rows are tied."""
    return bool(rows.column_names) and rows.column_names[-1] == TIED


def row_count(answer: pa.Table) -> int:
    """How many rows an answer's query returns."""
    rows: int = answer.num_rows
    limit = (answer.schema.field(TIED).metadata or {}).get(_LIMIT) if is_marked(answer) else None
    return rows if limit is None else min(rows, int(limit))


def only_column(answer: pa.Table, number: int) -> pa.Table:
    """One of an answer's columns, and which of its rows are tied."""
    return answer.select([number, TIED] if is_marked(answer) else [number])


@dataclass(frozen=True)
class Ties:
    """Which rows of an answer are tied; of each the number of its tie, and how many rows there are to be."""

    groups: NDArray[np.int64]
    count: int

    def aligned(self, given: pa.Table, answer: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The rows of both sides, of which each pair is to be the same. Both have the same types.

        Raises WrongAnswer for a row that is not among those tied at the limit.
        """
        if answer.num_rows > self.count:
            start = int(np.searchsorted(self.groups, self.groups[-1]))
            places = start + _matched(given.slice(start), answer.slice(start))
            answer = answer.take(np.concatenate((np.arange(start), places)))
        groups = self.groups[: self.count]
        return _sorted(given, groups), _sorted(answer, groups)


def parted(answer: pa.Table, *, ordered: bool) -> tuple[pa.Table, Ties | None]:
    """An answer's own columns, and its ties if it has any and its order counts."""
    if not is_marked(answer):
        return answer, None
    found = answer.column(TIED).to_numpy()
    rows = answer.drop_columns([TIED])
    if not ordered or not found.any():
        return rows, None
    return rows, Ties(np.cumsum(~found), row_count(answer))


def row_order(rows: pa.Table) -> list[str]:
    """Columns in the order to sort rows by that are to be compared: floats last, for their last bits may differ."""
    return sorted(rows.column_names, key=lambda name: (pa.types.is_floating(rows.schema.field(name).type), int(name)))


def _sorted(rows: pa.Table, groups: NDArray[np.int64]) -> pa.Table:
    """Rows in one order within each tie."""
    order = [("group", "ascending"), *((name, "ascending") for name in row_order(rows))]
    return rows.append_column("group", pa.array(groups)).sort_by(order).drop_columns(["group"])


def _matched(given: pa.Table, candidates: pa.Table) -> NDArray[np.int64]:
    """For each row given the place of a candidate with the same values, the nearest where they are floats; each once."""
    floats = [name for name in given.column_names if pa.types.is_floating(given.schema.field(name).type)]
    exact = [name for name in given.column_names if name not in floats]
    free: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(_rows(candidates, exact)):
        free.setdefault(key, []).append(place)
    theirs = _rows(candidates, floats)
    found = []
    for key, numbers in zip(_rows(given, exact), _rows(given, floats), strict=True):
        places = free.get(key)
        if not places:
            words = f"{candidates.num_rows:,} rows that are tied at the limit"
            raise WrongAnswer(f"a row of which the {words} have none, or no more: {_shown(key + numbers)}")
        best = min(places, key=lambda place: _distance(numbers, theirs[place])) if floats else places[-1]
        places.remove(best)
        found.append(best)
    return np.array(found, np.int64)


def _rows(table: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    if not names:
        return [()] * table.num_rows
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _distance(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    """How far apart floats are; a missing one is as far as can be from any other."""
    apart = 0.0
    for one, other in zip(ours, theirs, strict=True):
        if one is None or other is None:
            apart += 0.0 if one is other else 1e300
        else:
            apart += abs(one - other)
    return apart


def _shown(values: Sequence[object]) -> str:
    shown = ", ".join(map(str, values))
    return f"({shown if len(shown) <= 200 else shown[:197] + '...'})"
