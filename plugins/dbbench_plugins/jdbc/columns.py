"""Rows between a JVM and Python, some thousands at a time: Columns.java moves them to arrays, and these cross over.

A call through JPype costs about a microsecond, so that rows fetched cell by cell cost ten times as much.
"""

import datetime
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

#: Rows fetched at a time; and those of the first fetch, so that a query of a row or two touches little.
ROWS = 4_096
FIRST = 64

# java.sql.Types -> the letter of Columns.java. Any other type is fetched as text.
_KINDS = {
    **dict.fromkeys((-7, 16, -6, 5, 4, -5), "i"),  # BIT, BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT
    **dict.fromkeys((7, 6, 8), "d"),  # REAL, FLOAT, DOUBLE
    **dict.fromkeys((2, 3), "n"),  # NUMERIC, DECIMAL
    **dict.fromkeys((-2, -3, -4, 2004), "b"),  # BINARY, VARBINARY, LONGVARBINARY, BLOB
    91: "D",
    93: "t",
}
_OF_TEXT: dict[str, Callable[[str], Any]] = {"n": Decimal, "D": datetime.date.fromisoformat}


class Reader:
    """Fetches the rows of one prepared query, as tuples."""

    def __init__(self, statement: Any) -> None:
        import jpype

        self.columns = jpype.JClass("Columns")
        self.execute = statement.executeQuery
        told = statement.getMetaData()
        types = [told.getColumnType(column + 1) for column in range(told.getColumnCount())]
        self.kinds = "".join(_KINDS.get(number, "s") for number in types)
        made = {**dict.fromkeys("it", jpype.JLong), "d": jpype.JDouble, "b": jpype.JArray(jpype.JByte)}
        self.arrays = [jpype.JArray(made.get(kind, jpype.JString))(ROWS) for kind in self.kinds]
        self.nulls = [jpype.JArray(jpype.JBoolean)(ROWS) for _ in self.kinds]
        self.java_arrays = together(self.arrays, jpype.JObject)
        self.java_nulls = together(self.nulls, jpype.JArray(jpype.JBoolean))
        self.java_kinds = jpype.JString(self.kinds)
        self.ends = jpype.JArray(jpype.JInt)(ROWS)

    def run(self) -> Iterator[tuple[Any, ...]]:
        """Run the query; its rows. What is not read to its end is closed with the iterator."""
        return chain.from_iterable(self._pieces(self.execute()))

    def all(self) -> list[tuple[Any, ...]]:
        """Run the query; all of its rows."""
        return list(self.run())

    def _pieces(self, rows: Any) -> Iterator[Iterator[tuple[Any, ...]]]:
        wanted = FIRST
        try:
            while count := self.columns.read(rows, wanted, self.java_kinds, self.java_arrays, self.java_nulls):
                yield zip(*map(partial(self._values, count), range(len(self.kinds))), strict=True)
                if count < wanted:
                    break
                wanted = ROWS
        finally:
            rows.close()

    def _values(self, count: int, column: int) -> Sequence[Any]:
        kind, array = self.kinds[column], self.arrays[column]
        nulls = np.asarray(self.nulls[column])[:count]
        values: list[Any]
        if kind in "id":
            values = np.asarray(array)[:count].tolist()
        elif kind == "t":
            values = np.asarray(array)[:count].astype("M8[us]").tolist()
        elif kind == "b":
            data = bytes(memoryview(self.columns.join(array, count, self.ends)))
            values = [data[start:end] for start, end in pairwise((0, *np.asarray(self.ends)[:count].tolist()))]
        else:
            values = self._texts(array, count)
            if convert := _OF_TEXT.get(kind):
                return [convert(text) if text else None for text in values]
        if nulls.any():
            values = [None if null else value for null, value in zip(nulls, values, strict=True)]
        return values

    def _texts(self, array: Any, count: int) -> list[str]:
        texts = bytes(memoryview(self.columns.join(array, count))).decode().split("\0")
        return texts if len(texts) == count else ["" if text is None else str(text) for text in array[:count]]


class Writer:
    """Inserts rows by one prepared statement: Arrow batches, or lists of values that are bytes."""

    def __init__(self, statement: Any) -> None:
        import jpype

        self.columns = jpype.JClass("Columns")
        self.statement = statement

    def batch(self, batch: pa.RecordBatch) -> None:
        """Insert the rows of a batch."""
        kinds, arrays = zip(*map(self._array, batch.columns), strict=True)
        self._write(batch.num_rows, "".join(kinds), arrays, [_nulls(column) for column in batch.columns])

    def rows(self, rows: Sequence[Sequence[bytes]]) -> None:
        """Run the statement with each list of values."""
        columns = [pa.array(column, pa.binary()) for column in zip(*rows, strict=True)]
        arrays = [self.columns.slices(*_buffers(column)) for column in columns]
        self._write(len(rows), "b" * len(columns), arrays, [None] * len(columns))

    def _write(self, count: int, kinds: str, arrays: Sequence[Any], nulls: Sequence[Any]) -> None:
        import jpype

        missing = together(nulls, jpype.JArray(jpype.JBoolean))
        self.columns.write(self.statement, count, kinds, together(arrays, jpype.JObject), missing)

    def _array(self, column: pa.Array) -> tuple[str, Any]:
        import jpype

        kind = column.type
        if pa.types.is_integer(kind):
            return "i", jpype.JArray(jpype.JLong)(_known(column, 0).to_numpy().astype(np.int64))
        if pa.types.is_floating(kind):
            return "d", jpype.JArray(jpype.JDouble)(_known(column, 0).to_numpy().astype(np.float64))
        if pa.types.is_temporal(kind):
            moments = _known(column.cast(pa.timestamp("us")).cast(pa.int64()), 0).to_numpy()
            return "D" if pa.types.is_date(kind) else "t", jpype.JArray(jpype.JLong)(moments)
        return "n" if pa.types.is_decimal(kind) else "s", self.columns.texts(*_buffers(column.cast(pa.string())))


def _known(column: pa.Array, value: int) -> pa.Array:
    """The column with a value where it has none."""
    return column.fill_null(value) if column.null_count else column


def _nulls(column: pa.Array) -> Any:
    """Java array of the places without a value; None if a column has one everywhere."""
    import jpype

    if not column.null_count:
        return None
    return jpype.JArray(jpype.JBoolean)(column.is_null().to_numpy(zero_copy_only=False))


def together(arrays: Sequence[Any], kind: Any) -> Any:
    """A Java array of Java arrays."""
    import jpype

    made = jpype.JArray(kind)(len(arrays))
    for index, array in enumerate(arrays):
        made[index] = array
    return made


def _buffers(column: pa.Array) -> tuple[Any, Any]:
    """The bytes of texts or bytes, and where each begins and the last one ends, as Java arrays."""
    import jpype

    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    some = np.frombuffer(data, np.int8)[ends[0] : ends[-1]] if data is not None else np.empty(0, np.int8)
    return jpype.JArray(jpype.JByte)(some), jpype.JArray(jpype.JInt)(ends - ends[0])
