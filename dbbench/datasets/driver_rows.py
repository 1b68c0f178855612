"""Arrow batches as rows of Python values, for drivers that take rows. Always outside the clock."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from dbbench.errors import Unsupported
from dbbench.host import spared_pandas  # noqa: F401 - before `to_numpy`: its time and memory would count as the engine's
from dbbench.suite.dataset import Table

Row = tuple[Any, ...]


@dataclass(frozen=True)
class CsvChunk:
    """Rows as CSV text in UTF-8, without a header: a NULL is an empty field, text is quoted."""

    #: The text.
    data: memoryview
    #: How many rows it has.
    rows: int
    #: Whether a text in a nullable column is empty: its quotes alone tell it from a NULL.
    empty: bool = False


#: Whole numbers up to this one, and ten to this power, are floats exactly.
_EXACT, _EXACT_POWER = 1 << 53, 22


def chunk(batch: pa.RecordBatch, table: Table, form: str, bind: Mapping[str, str]) -> Any:
    """A batch as a session takes it: see `Session.takes` and `Session.bind`."""
    if form == "batches":
        return pa.record_batch(dict(_bound(batch, table, bind))) if bind else batch
    if form == "csv":
        if any(batch.column(name).null_count for name, column in table.columns.items() if not column.nullable):
            raise Unsupported("a NULL among the rows of a load, in a column that has none by its schema")
        text = pa.BufferOutputStream()
        csv.write_csv(batch, text, csv.WriteOptions(include_header=False))
        return CsvChunk(memoryview(text.getvalue()), batch.num_rows, _has_empty(batch, table))
    if form == "mappings":
        return [dict(zip(table.columns, row, strict=True)) for row in rows(batch, table, bind)]
    return rows(batch, table, bind)


def _has_empty(batch: pa.RecordBatch, table: Table) -> bool:
    nullable = (batch.column(name) for name, column in table.columns.items() if column.nullable)
    return any(pc.any(pc.equal(each, "")).as_py() for each in nullable if pa.types.is_string(each.type))


def rows(batch: pa.RecordBatch, table: Table, bind: Mapping[str, str]) -> list[Row]:
    """A batch as a list of tuples.

    `bind` says, for the names of types that a driver can't take as they are, what they become:
    "text" or "float". A decimal as text keeps its scale, a datetime becomes `YYYY-MM-DD HH:MM:SS`.
    """
    return list(zip(*(_values(column) for _, column in _bound(batch, table, bind)), strict=True))


def values(column: pa.Array, form: str) -> list[Any]:
    """A column as a list; `form` is what `bind` says for its type, or empty."""
    return _values(_in_form(column, form))


def _values(column: pa.Array) -> list[Any]:
    if (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)) and not column.null_count:
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def _bound(batch: pa.RecordBatch, table: Table, bind: Mapping[str, str]) -> Iterator[tuple[str, pa.Array]]:
    """The columns with their names, in the forms that `bind` says."""
    for name, column in table.columns.items():
        yield name, _in_form(batch.column(name), bind.get(column.data_type.name, ""))


def _in_form(column: pa.Array, form: str) -> pa.Array:
    if form == "float" and pa.types.is_decimal(column.type):
        return _floats(column)
    if form == "text":
        text = pc.strftime(column, format="%Y-%m-%d %H:%M:%S") if pa.types.is_timestamp(column.type) else column
        return text.cast(pa.string())
    if form == "filled" and pc.index(column, "").as_py() >= 0:
        raise Unsupported("an empty text, which the system takes for a NULL")
    return column


def _floats(column: pa.Array) -> pa.Array:
    """Decimals as the nearest floats: one division of two exact numbers, which rounds once."""
    both = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)[column.offset : column.offset + len(column)]
    words = both[:, 0]
    large = (both[:, 1] != words >> 63).any()  # a number that one word doesn't hold
    if column.null_count or large or np.abs(words).max(initial=0) > _EXACT or column.type.scale > _EXACT_POWER:
        return pa.array([None if value is None else float(value) for value in column.to_pylist()], pa.float64())
    return pa.array(words / 10.0**column.type.scale)
