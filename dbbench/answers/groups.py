"""Groups of rows, and sums, counts and extremes of each: exact for whole numbers and decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers import scaled
from dbbench.errors import UserError
from dbbench.suite.answer import Answer

#: Column and function.
Aggregate = tuple[str, str]
_ALL = "*"
#: What extremes begin with.
_EXTREMES = {"min": (np.minimum, np.iinfo(np.int64).max), "max": (np.maximum, np.iinfo(np.int64).min)}
_SUMMED = ("sum", "min", "max")
#: Rows that are looked at at a time.
_AT_ONCE = 2**20
#: A key is the position of its group if its numbers span at most this many times the number of rows.
_NARROW, _ALWAYS_NARROW = 4, 2**16


def aggregated(answer: Answer, rows: pa.Table) -> pa.Table:
    """A row for each group, or one for all rows, also for none.

    A mean is the sum by the count, in floats, whether the groups come from one part of the rows or from many.
    """
    asked = [
        (column, function)
        for _, kind, column in answer.aggregates
        for function in (("sum", "count") if kind == "avg" else (kind,))
    ]
    keys = list(answer.group_by)
    groups, found = _grouped(rows, keys, list(dict.fromkeys(asked)))
    for name, kind, column in answer.aggregates:
        values = mean(found[column, "sum"], found[column, "count"]) if kind == "avg" else found[column, kind]
        groups = groups.append_column(name, values)
    return groups


def merged(pieces: Sequence[pa.Table], keys: Sequence[str], kinds: Mapping[str, str]) -> pa.Table:
    """Each group of several tables once: its columns are put together by their functions."""
    rows = pa.concat_tables(pieces, promote_options="default")
    groups, found = _grouped(rows, keys, list(kinds.items()))
    columns = [*groups.columns, *(found[pair] for pair in kinds.items())]
    fields = [rows.schema.field(name).with_type(each.type) for name, each in zip((*keys, *kinds), columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def mean(total: pa.ChunkedArray, count: pa.ChunkedArray) -> pa.ChunkedArray:
    """Sums by counts, as floats; missing where nothing is counted."""
    divisor = count.cast(pa.float64())
    none = pa.scalar(None, pa.float64())
    return pc.divide(total.cast(pa.float64()), pc.if_else(pc.equal(divisor, 0.0), none, divisor))


def _grouped(
    rows: pa.Table, keys: Sequence[str], asked: Sequence[Aggregate]
) -> tuple[pa.Table, Mapping[Aggregate, pa.ChunkedArray]]:
    """The keys of the groups, and what was asked for of each."""
    columns = {key: scaled.plain(rows.column(key)) for key in keys}
    kinds: dict[Aggregate, pa.DataType | None] = {}
    plan: dict[Aggregate, tuple[str, str]] = {}
    for number, (column, function) in enumerate(asked):
        if column == _ALL:
            plan[column, function] = ("", "count_all")
        else:
            name = f" {number}"
            columns[name], kinds[column, function] = _summable(rows.column(column), function)
            plan[column, function] = (name, function)
    table = pa.table(columns) if columns else rows.select(rows.column_names[:1])
    groups = _by_position(table, keys, list(plan.values()))
    if groups is None:
        wanted: list[Any] = [(name or [], function) for name, function in plan.values()]
        groups = table.group_by(list(keys), use_threads=False).aggregate(wanted)
    found = {}
    for pair, (name, function) in plan.items():
        values = groups.column(f"{name}_{function}" if name else function)
        kind = kinds.get(pair)
        found[pair] = values if kind is None else _as(values, kind)
    return groups.select(list(keys)), found


def _summable(values: pa.ChunkedArray, function: str) -> tuple[pa.ChunkedArray, pa.DataType | None]:
    """A column as Arrow is to aggregate it, and the type that the result then gets; None for the one that Arrow gives it.

    Sums are of whole numbers of 8 bytes where none can get too long for these, else of decimals of 38 digits.
    """
    kind = values.type
    if function == "count" and pa.types.is_decimal64(kind):
        return scaled.integers(values), None
    whole = pa.types.is_integer(kind)
    if not (whole and function == "sum") and not (pa.types.is_decimal(kind) and function in ("sum", "min", "max")):
        return scaled.plain(values), None
    short = scaled.integers(values)
    if short is not None and (function != "sum" or scaled.largest(short) * len(short) < 2**63):
        if whole:
            return short, pa.int64()
        return short, pa.decimal128(scaled.MOST_DIGITS, kind.scale) if function == "sum" else scaled.plain_type(kind)
    return (values.cast(pa.decimal128(20, 0)), pa.int64()) if whole else (scaled.plain(values), None)


def _as(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_integer(values.type) and pa.types.is_decimal(kind):
        return scaled.decimals(values.cast(pa.int64()), kind)
    try:
        return values.cast(kind)
    except pa.ArrowInvalid as exc:
        raise UserError(f"a sum of an answer is too long for a whole number of 8 bytes: {exc}") from exc


def _by_position(rows: pa.Table, keys: Sequence[str], plan: Sequence[tuple[str, str]]) -> pa.Table | None:
    """Groups by one key that is a whole number out of a narrow range; None for others."""
    if len(keys) != 1 or not rows.num_rows or not pa.types.is_signed_integer(rows.schema.field(keys[0]).type):
        return None
    if not {function for _, function in plan} <= {"count_all", "count", "sum", "min", "max"}:
        return None
    summed = [rows.column(name) for name, function in plan if function in _SUMMED]
    if any(each.null_count for each in (rows.column(keys[0]), *summed)):
        return None
    if not all(pa.types.is_integer(each.type) for each in summed):
        return None
    key = rows.column(keys[0])
    bounds = pc.min_max(key).as_py()
    least, size = bounds["min"], bounds["max"] - bounds["min"] + 1
    if size > max(_NARROW * len(key), _ALWAYS_NARROW):
        return None
    counts = np.zeros(size, np.int64)
    # Where no value is missing, there are as many as rows.
    own = [each for each in plan if each[1] in _SUMMED or (each[0] and rows.column(each[0]).null_count)]
    starts = {each: _EXTREMES.get(each[1], (np.add, 0)) for each in own}
    found = {each: np.full(size, start, np.int64) for each, (_, start) in starts.items()}
    for batch in rows.to_batches(max_chunksize=_AT_ONCE):
        slots = np.subtract(batch.column(keys[0]).to_numpy(), least, dtype=np.int64)
        np.add.at(counts, slots, 1)
        for (name, function), (operation, _) in starts.items():
            column = batch.column(name)
            values = (pc.is_valid(column) if function == "count" else column).cast(pa.int64()).to_numpy()
            operation.at(found[name, function], slots, values)
    there = np.flatnonzero(counts)
    columns = {keys[0]: pa.array(there + least).cast(key.type)}
    for name, function in plan:
        values = found.get((name, function), counts)[there]
        columns[f"{name}_{function}" if name else function] = _like(values, rows, name, function)
    return pa.table(columns)


def _like(found: np.ndarray, rows: pa.Table, name: str, function: str) -> pa.Array:
    """What Arrow's own aggregate would be: an extreme has its column's type."""
    return pa.array(found).cast(rows.schema.field(name).type) if function in _EXTREMES else pa.array(found)
