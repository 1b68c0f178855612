"""Joins of Arrow tables: by position where a key is a whole number out of a narrow range, else Arrow's own.

Most keys count the rows of a table. A column of positions, one for each number that a key may be, then finds a row in one
step, and is made once for all parts of an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbbench.suite.answer import last_part

Positions = NDArray[np.integer[Any]]

#: Joins by Arrow's names.
_ARROW = {
    "inner": "inner", "left": "left outer", "right": "right outer", "full": "full outer", "semi": "left semi",
    "anti": "left anti", "cross": "inner",
}  # fmt: skip
#: A key is narrow if its numbers span at most this many times the number of rows.
_NARROW, _ALWAYS_NARROW = 8, 2**20
#: Differences to a least key below this don't wrap around into the range.
_FAR = 2**62


@dataclass(frozen=True)
class Held:
    """A table in memory, and the indexes that joins have made of it."""

    table: pa.Table
    #: By kind and by the last part of their columns' names.
    indexes: dict[tuple[type[_Keys], str], _Keys | None] = field(default_factory=dict)

    def index(self, key: str) -> _Rows | None:
        """Where the rows of each value of a column are; None if that isn't a narrow key."""
        found = self._made(_Rows, key)
        assert found is None or isinstance(found, _Rows)
        return found

    def keys(self, key: str) -> _Keys | None:
        """Which values a column has; None if that isn't a narrow key."""
        return self._made(_Keys, key)

    def _made(self, kind: type[_Keys], key: str) -> _Keys | None:
        place = (kind, last_part(key))
        if place not in self.indexes:
            column = self.table.column(key)
            bounds = _bounds(column)
            self.indexes[place] = None if bounds is None else kind(column, *bounds)
        return self.indexes[place]

    def called(self, prefix: str) -> Held:
        """The same with names that begin with a prefix; both have their indexes in common."""
        return replace(self, table=self.table.rename_columns([f"{prefix}.{name}" for name in self.table.column_names]))


class _Keys:
    """Which numbers of a narrow range a column has."""

    def __init__(self, column: pa.ChunkedArray, least: int, size: int) -> None:
        self.least, self.size = least, size
        #: Key - least -> whether it is there; the last is that of all other keys.
        self.there = np.zeros(size + 1, bool)
        self.there[self.slots(column)] = True
        self.there[size] = False

    def slots(self, keys: pa.ChunkedArray) -> Positions:
        """Key - least of each key; `size` for those that are missing or out of the range."""
        missing = pc.is_null(keys).to_numpy() if keys.null_count else None
        numbers = (keys if missing is None else pc.fill_null(keys, 0)).to_numpy()
        slots: Positions = np.subtract(numbers, self.least, dtype=np.int64)
        if missing is not None:
            slots[missing] = self.size
        if len(slots) and (slots.min() < 0 or slots.max() > self.size):
            slots[(slots < 0) | (slots > self.size)] = self.size
        return slots

    def found(self, keys: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Whether each key is there."""
        found: NDArray[np.bool_] = self.there[self.slots(keys)]
        return found


class _Rows(_Keys):
    """Where the rows of each key are: one position for each, or several that stand together in an order of their own."""

    def __init__(self, column: pa.ChunkedArray, least: int, size: int) -> None:
        super().__init__(column, least, size)
        slots = self.slots(column)
        places = np.arange(len(slots), dtype=np.int32)
        #: Key - least -> position.
        self.first = np.zeros(size + 1, np.int32)
        self.first[slots] = places
        self.order: NDArray[np.int64] | None = None
        if not np.array_equal(self.first[slots[slots < size]], places[slots < size]):
            # Sorted as one number, key above position, which is far faster than to sort positions by their keys.
            self.order = np.sort((slots << 32) | places) & (2**32 - 1)
            self.starts = np.concatenate(([0], np.cumsum(np.bincount(slots, minlength=size + 1))))

    def pairs(self, keys: pa.ChunkedArray) -> tuple[Positions | None, Positions]:
        """The positions of the keys that are there, and those of their rows; None for all, each once."""
        slots = self.slots(keys)
        there = self.there[slots]
        left = None if there.all() else np.flatnonzero(there)
        slots = slots if left is None else slots[left]
        if self.order is None:
            return left, self.first[slots]
        left = np.arange(len(slots)) if left is None else left
        starts = self.starts[slots]
        counts = self.starts[slots + 1] - starts
        ends = np.cumsum(counts)
        steps = np.arange(ends[-1] if len(ends) else 0)
        return np.repeat(left, counts), self.order[steps + np.repeat(starts - (ends - counts), counts)]


def _bounds(column: pa.ChunkedArray) -> tuple[int, int] | None:
    """The least number of a key and how many there may be; None if the key is none, or not narrow."""
    if not pa.types.is_signed_integer(column.type) or not len(column) - column.null_count:
        return None
    bounds = pc.min_max(column).as_py()
    least, size = bounds["min"], bounds["max"] - bounds["min"] + 1
    wide = size > max(_NARROW * len(column), _ALWAYS_NARROW) or max(size, len(column)) >= 2**31 or abs(least) >= _FAR
    return None if wide else (least, size)


def joined(rows: pa.Table, other: Held, pairs: dict[str, str], kind: str, wanted: set[str]) -> pa.Table:
    """The rows of a join: those of `wanted` of the columns on both sides. `pairs` are columns of the other -> those they equal."""
    keys = [(left, right) for right, left in pairs.items() if pa.types.is_signed_integer(rows.schema.field(left).type)]
    chosen = next((each for each in keys if _bounds(other.table.column(each[1])) is not None), None)
    if kind not in ("inner", "left", "semi", "anti") or chosen is None:
        return _by_arrow(rows, other.table, pairs, kind, wanted)
    left, right = chosen
    rest = {mine: its for mine, its in pairs.items() if mine != right}
    if kind in ("semi", "anti") and not rest and (held := other.keys(right)) is not None:
        found = held.found(rows.column(left))
        return rows.select(_kept(rows, wanted)).filter(pa.array(found if kind == "semi" else ~found))
    index = other.index(right)
    assert index is not None
    here, there = index.pairs(rows.column(left))
    if rest:
        here = np.arange(rows.num_rows) if here is None else here
        for mine, its in rest.items():
            same = pc.equal(_taken(rows.column(its), here), _taken(other.table.column(mine), there))
            held = pc.fill_null(same, False).to_numpy(zero_copy_only=False)
            here, there = here[held], there[held]
    if kind in ("semi", "anti"):
        found = np.zeros(rows.num_rows, bool)
        found[slice(None) if here is None else here] = True
        return rows.select(_kept(rows, wanted)).filter(pa.array(found if kind == "semi" else ~found))
    if kind == "left" and here is not None:
        alone = np.ones(rows.num_rows, bool)
        alone[here] = False
        more = np.flatnonzero(alone)
        here = np.concatenate((here, more))
        positions = pa.array(
            np.concatenate((there, np.zeros(len(more), np.int64))), mask=np.arange(len(here)) >= len(there)
        )
    else:
        positions = pa.array(there)
    return _side_by_side(rows.select(_kept(rows, wanted)), here, other.table, positions, wanted)


def _kept(rows: pa.Table, wanted: set[str]) -> list[str]:
    """The columns that are wanted; one to count rows by if none is."""
    return [name for name in rows.column_names if name in wanted] or rows.column_names[:1]


def _side_by_side(
    rows: pa.Table, here: Positions | None, other: pa.Table, there: pa.Array, wanted: set[str]
) -> pa.Table:
    columns = list(rows.columns) if here is None else [_taken(each, here) for each in rows.columns]
    fields = list(rows.schema)
    for added in other.schema:
        if added.name in wanted:
            columns.append(_taken(other.column(added.name), there))
            fields.append(added)
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _taken(column: pa.ChunkedArray, positions: Positions | pa.Array) -> pa.ChunkedArray:
    values = column.combine_chunks()  # to take from many chunks would look for the chunk of each value
    return pc.take(values, positions if isinstance(positions, pa.Array) else pa.array(positions), boundscheck=False)


def _by_arrow(rows: pa.Table, other: pa.Table, pairs: dict[str, str], kind: str, wanted: set[str]) -> pa.Table:
    fields = {each.name: each for each in (*rows.schema, *other.schema)}
    if kind == "cross":
        rows, other, pairs = _with_one(rows, "left"), _with_one(other, "right"), {"right": "left"}
    # Without coalescing both sides keep their keys: where a row has no partner, one of them is missing.
    found = rows.join(
        other, list(pairs.values()), list(pairs), join_type=_ARROW[kind], coalesce_keys=False, use_threads=False
    )
    found = found.drop_columns(["left", "right"]) if kind == "cross" else found
    found = found.select(_kept(found, wanted))
    # A join forgets which columns are fractions.
    return found.cast(pa.schema([fields[field.name] for field in found.schema]))


def _with_one(rows: pa.Table, name: str) -> pa.Table:
    return rows.append_column(name, pa.repeat(1, rows.num_rows))
