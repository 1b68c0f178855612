"""Values laid out for the loops, and read back: see `loops`. Import it when the runtime runs."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dbbench_plugins.ado.loops import BINARY, DECIMAL, FLOAT, INTEGER, MOMENT, NULL, TEXT
from dbbench_plugins.dotnet.context import FFI

#: The ticks of 1970: tenths of microseconds since the year 1.
_EPOCH = 621_355_968_000_000_000
_START = datetime.datetime(1970, 1, 1)
#: The lower half of a slot.
_LENGTH = 0xFFFFFFFF


class Values:
    """Rows of values for the parameters of a statement. What was set last keeps its memory."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.struct = FFI.new("struct values *")
        self._one = FFI.new("char[]", max(columns, 1)), FFI.new("int64_t[]", max(columns, 1))
        self._kept: Any = None

    def row(self, values: Sequence[Any]) -> bytes:
        """Lay out one row of Python values; their kinds."""
        kinds, slots = self._one
        heap = b""
        for place, value in enumerate(values):
            kind, slot, data = _LAID[type(value)](value)
            if data is not None:
                slot = len(heap) << 32 | len(data)
                heap += data
            kinds[place] = kind.to_bytes()
            slots[place] = slot
        self._set(kinds, slots, heap, 1)
        return bytes(FFI.buffer(kinds, self.columns))

    def rows(self, columns: Sequence[Column], count: int) -> None:
        """Lay out rows out of columns."""
        kinds, slots = np.empty((self.columns, count), np.uint8), np.empty((self.columns, count), np.int64)
        heap, start = [], 0
        for place, column in enumerate(columns):
            kinds[place] = column.kind if column.nulls is None else np.where(column.nulls, NULL, column.kind)
            np.add(column.slots, start << 32 if column.heap else 0, out=slots[place])
            heap.append(column.heap)
            start += len(column.heap)
        self._set(FFI.from_buffer("char[]", kinds), FFI.from_buffer("int64_t[]", slots), b"".join(heap), count)

    def _set(self, kinds: Any, slots: Any, heap: bytes, rows: int) -> None:
        made, self._kept = self.struct, (kinds, slots, heap)
        made.kinds, made.slots, made.rows = kinds, slots, rows
        made.heap, made.heap_bytes = FFI.from_buffer(heap), len(heap)


@dataclass(frozen=True)
class Column:
    """Values of one kind for one parameter."""

    kind: int
    slots: Any
    nulls: Any = None
    heap: bytes = b""


def column_of(values: pa.Array) -> Column:
    """An Arrow column."""
    kind, nulls = values.type, values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
    if pa.types.is_string(kind):
        return _heaped(TEXT, values, nulls)
    if pa.types.is_binary(kind):
        return _heaped(BINARY, values, nulls)
    if pa.types.is_decimal(kind):
        return _heaped(DECIMAL, values.cast(pa.string()), nulls)
    if pa.types.is_floating(kind):
        return Column(FLOAT, _words(values.cast(pa.float64())), nulls)
    if pa.types.is_temporal(kind):
        return Column(MOMENT, _words(values.cast(pa.timestamp("us"))) * 10 + _EPOCH, nulls)
    return Column(INTEGER, _words(values.cast(pa.int64())), nulls)


def _words(values: pa.Array) -> Any:
    """Values of 8 bytes as whole numbers; those of NULLs are any."""
    return np.frombuffer(values.buffers()[1], np.int64)[values.offset : values.offset + len(values)]


def _heaped(kind: int, values: pa.Array, nulls: Any) -> Column:
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    heap = bytes(memoryview(data)[ends[0] : ends[-1]]) if data is not None else b""
    return Column(kind, (ends[:-1] - ends[0]) << 32 | np.diff(ends), nulls, heap)


def _moment(value: datetime.datetime) -> tuple[int, int, None]:
    return MOMENT, (value - _START) // datetime.timedelta(microseconds=1) * 10 + _EPOCH, None


_LAID: Mapping[type, Callable[[Any], tuple[int, int, bytes | None]]] = {
    type(None): lambda _: (NULL, 0, None),
    int: lambda value: (INTEGER, value, None),
    bool: lambda value: (INTEGER, value, None),
    float: lambda value: (FLOAT, struct.unpack("=q", struct.pack("=d", value))[0], None),
    str: lambda value: (TEXT, 0, value.encode()),
    bytes: lambda value: (BINARY, 0, value),
    Decimal: lambda value: (DECIMAL, 0, str(value).encode()),
    datetime.datetime: _moment,
    datetime.date: lambda value: _moment(datetime.datetime.combine(value, datetime.time())),
}


@dataclass(frozen=True)
class Piece:
    """Some rows that were read, as they came from .NET. Values become Python's when they are asked for."""

    rows: int
    columns: int
    kinds: bytes
    slots: bytes
    heap: bytes

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """The rows."""
        return zip(*map(self.column, range(self.columns)), strict=True)

    def column(self, number: int) -> list[Any]:
        """The values of a column."""
        kinds, slots = self.kinds[number :: self.columns], self._numbers[number :: self.columns]
        if kinds.count(kinds[:1]) == self.rows:  # all of one kind
            return _READ[kinds[0]](self, slots)
        return [value for kind, slot in zip(kinds, slots, strict=True) for value in _READ[kind](self, [slot])]

    @cached_property
    def _numbers(self) -> list[int]:
        return memoryview(self.slots).cast("q").tolist()

    @cached_property
    def _text(self) -> str | None:
        """The heap as one text, if each of its units is a character."""
        text = self.heap.decode("utf-16-le", "replace")
        return text if len(text) * 2 == len(self.heap) else None

    def texts(self, slots: Sequence[int]) -> list[str]:
        """The texts in these slots."""
        if (text := self._text) is not None:
            return [text[slot >> 32 : (slot >> 32) + (slot & _LENGTH)] for slot in slots]
        return [self._bytes(slot, 2 * (slot & _LENGTH)).decode("utf-16-le") for slot in slots]

    def binaries(self, slots: Sequence[int]) -> list[bytes]:
        """The bytes in these slots."""
        return [self._bytes(slot, slot & _LENGTH) for slot in slots]

    def _bytes(self, slot: int, length: int) -> bytes:
        start = slot >> 32 << 1
        return self.heap[start : start + length]


#: Kind -> the values in slots of a piece.
_READ: Mapping[int, Callable[[Piece, list[int]], list[Any]]] = {
    NULL: lambda _, slots: [None] * len(slots),
    INTEGER: lambda _, slots: slots,
    FLOAT: lambda _, slots: list(struct.unpack(f"={len(slots)}d", struct.pack(f"={len(slots)}q", *slots))),
    MOMENT: lambda _, slots: [_START + datetime.timedelta(microseconds=(slot - _EPOCH) // 10) for slot in slots],
    TEXT: Piece.texts,
    BINARY: Piece.binaries,
    DECIMAL: lambda piece, slots: [*map(Decimal, piece.texts(slots))],
}
