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
#: A key is narrow if it may be at most so many times as many numbers as there are rows.
_NARROW, _ALWAYS_NARROW = 8, 2**20
#: Differences to a least key below this don't wrap around into the range.
_FAR = 2**62


@dataclass(frozen=True)
class Held:
    """A table in memory, and the indexes that joins have made of it."""

    table: pa.Table
    #: By the last part of their columns' names.
    indexes: dict[str, _Index | None] = field(default_factory=dict)

    def index(self, key: str) -> _Index | None:
        """The index of a column; None if it can have none."""
        name = last_part(key)
        if name not in self.indexes:
            self.indexes[name] = _index(self.table.column(key))
        return self.indexes[name]

    def called(self, prefix: str) -> Held:
        """The same with names that begin with a prefix; both have their indexes in common."""
        return replace(self, table=self.table.rename_columns([f"{prefix}.{name}" for name in self.table.column_names]))


@dataclass(frozen=True)
class _Index:
    """Where the rows of each key are: one position for each, or several that stand together."""

    least: int
    #: Key - least -> position, or -1; the last is that of keys which aren't there.
    first: NDArray[np.int32]
    #: Where keys have several rows: the positions in order of their keys, to which `first` then leads, and how many there are.
    order: Positions | None = None
    counts: NDArray[np.int64] | None = None

    def slots(self, keys: pa.ChunkedArray) -> Positions:
        """Where in `first` each key is."""
        end = len(self.first) - 1
        missing = pc.is_null(keys).to_numpy() if keys.null_count else None
        slots: Positions = np.subtract(_numbers(keys), self.least, dtype=np.int64)
        if missing is not None:
            slots[missing] = end
        if len(slots) and (slots.min() < 0 or slots.max() > end):
            slots[(slots < 0) | (slots > end)] = end
        return slots

    def found(self, keys: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Whether each key is there."""
        found: NDArray[np.bool_] = self.first[self.slots(keys)] >= 0
        return found

    def pairs(self, keys: pa.ChunkedArray) -> tuple[Positions | None, Positions]:
        """The positions of the keys that are there, and those of their rows; None for all, each once."""
        slots = self.slots(keys)
        first = self.first[slots]
        there = first >= 0
        if self.order is None or self.counts is None:
            return (None, first) if there.all() else (np.flatnonzero(there), first[there])
        left = np.flatnonzero(there)
        counts = self.counts[slots[left]]
        ends = np.cumsum(counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        return np.repeat(left, counts), self.order[np.repeat(first[left].astype(np.int64), counts) + within]


def _numbers(keys: pa.ChunkedArray) -> Positions:
    """Keys for numpy, with 0 where one is missing."""
    numbers: Positions = (pc.fill_null(keys, 0) if keys.null_count else keys).to_numpy()
    return numbers


def _index(column: pa.ChunkedArray) -> _Index | None:
    if not pa.types.is_signed_integer(column.type) or not len(column) - column.null_count:
        return None
    bounds = pc.min_max(column).as_py()
    least, size = bounds["min"], bounds["max"] - bounds["min"] + 1
    if size > max(_NARROW * len(column), _ALWAYS_NARROW) or len(column) >= 2**31 or abs(least) >= _FAR:
        return None
    places: Positions | None = None
    if column.null_count:
        places = np.flatnonzero(pc.is_valid(column).to_numpy())
        column = column.drop_null()
    slots = np.subtract(column.to_numpy(), least, dtype=np.int64)
    counts = np.bincount(slots, minlength=size + 1)
    first = np.full(size + 1, -1, np.int32)
    if counts.max() == 1:
        first[slots] = np.arange(len(slots), dtype=np.int32) if places is None else places
        return _Index(least, first)
    order = np.argsort(slots, kind="stable")
    first = np.where(counts > 0, np.cumsum(counts) - counts, -1).astype(np.int32)
    return _Index(least, first, order if places is None else places[order], counts)


def joined(rows: pa.Table, other: Held, pairs: dict[str, str], kind: str, wanted: set[str]) -> pa.Table:
    """The rows of a join: those of `wanted` of the columns on both sides. `pairs` are columns of the other -> those they equal."""
    keys = [(index, left, right) for right, left in pairs.items() if (index := other.index(right)) is not None]
    keys = [each for each in keys if pa.types.is_signed_integer(rows.schema.field(each[1]).type)]
    if kind not in ("inner", "left", "semi", "anti") or not keys:
        return _by_arrow(rows, other.table, pairs, kind, wanted)
    index, left, right = keys[0]
    rest = {mine: its for mine, its in pairs.items() if mine != right}
    if kind in ("semi", "anti") and not rest:
        found = index.found(rows.column(left))
        return rows.select(_kept(rows, wanted)).filter(pa.array(found if kind == "semi" else ~found))
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
