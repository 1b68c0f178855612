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
import pyarrow.compute as pc

from dbbench_plugins.ado.loops import BINARY, DECIMAL, FLOAT, INTEGER, MOMENT, NULL, TEXT
from dbbench_plugins.dotnet.context import FFI

#: The ticks of 1970: tenths of microseconds since the year 1.
_EPOCH = 621_355_968_000_000_000
_START = datetime.datetime(1970, 1, 1)
#: So few rows are not worth numpy's while.
_FEW = 16
_EXACT = 1 << 53


class TooLarge(ValueError):
    """A decimal of more digits than are bound here."""


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
        kinds = np.empty((count, self.columns), np.uint8)
        slots = np.empty((count, self.columns), np.int64)
        heap, start = [], 0
        for place, column in enumerate(columns):
            kinds[:, place] = column.kind if column.nulls is None else np.where(column.nulls, NULL, column.kind)
            slots[:, place] = column.slots + (start << 32 if column.heap else 0)
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


def column_of(values: pa.Array, form: str = "") -> Column:
    """An Arrow column, in the form that a session declares for its type: "text", "float", or its own."""
    kind, nulls = values.type, values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
    if form == "text" and pa.types.is_timestamp(kind):
        values = pc.strftime(values, format="%Y-%m-%d %H:%M:%S")
    elif form == "text":
        values = values.cast(pa.string())
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _heaped(TEXT if pa.types.is_string(kind) else BINARY, values, nulls)
    if values.null_count:
        values = values.fill_null(
            0 if not pa.types.is_temporal(kind) else pa.scalar(0, pa.int64()).cast(pa.timestamp("us")).cast(kind)
        )
    if pa.types.is_integer(kind):
        return Column(INTEGER, np.from_dlpack(values.cast(pa.int64())), nulls)
    if pa.types.is_floating(kind):
        return Column(FLOAT, np.from_dlpack(values.cast(pa.float64())).view(np.int64), nulls)
    if pa.types.is_temporal(kind):
        moments = values.cast(pa.timestamp("us")).cast(pa.int64())
        return Column(MOMENT, np.from_dlpack(moments) * 10 + _EPOCH, nulls)
    words = _digits(values)
    if form != "float":
        return Column(DECIMAL + kind.scale, words, nulls)
    if np.abs(words).max(initial=0) > _EXACT:
        floats = np.array([float(value) for value in values.to_pylist()])
    else:
        floats = words / 10.0**kind.scale  # one division of two exact numbers, which rounds once
    return Column(FLOAT, floats.view(np.int64), nulls)


def _heaped(kind: int, values: pa.Array, nulls: Any) -> Column:
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    heap = bytes(memoryview(data)[ends[0] : ends[-1]]) if data is not None else b""
    return Column(kind, (ends[:-1] - ends[0]) << 32 | np.diff(ends), nulls, heap)


def _digits(values: pa.Array) -> Any:
    """The digits of decimals as whole numbers."""
    both = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)[values.offset : values.offset + len(values)]
    words = both[:, 0]
    if (both[:, 1] != words >> 63).any():
        raise TooLarge(f"a {values.type} of more than 18 digits can't be bound")
    return words


def _decimal(value: Decimal) -> tuple[int, int, None]:
    sign, digits, exponent = value.as_tuple()
    whole = int("".join(map(str, digits))) * 10 ** max(int(exponent), 0)
    if whole >= 2**63 or -int(exponent) > 28:
        raise TooLarge(f"{value} has too many digits to be bound")
    return DECIMAL + max(-int(exponent), 0), -whole if sign else whole, None


def _moment(value: datetime.datetime) -> tuple[int, int, None]:
    return MOMENT, (value - _START) // datetime.timedelta(microseconds=1) * 10 + _EPOCH, None


_LAID: Mapping[type, Callable[[Any], tuple[int, int, bytes | None]]] = {
    type(None): lambda _: (NULL, 0, None),
    int: lambda value: (INTEGER, value, None),
    bool: lambda value: (INTEGER, value, None),
    float: lambda value: (FLOAT, struct.unpack("=q", struct.pack("=d", value))[0], None),
    str: lambda value: (TEXT, 0, value.encode()),
    bytes: lambda value: (BINARY, 0, value),
    Decimal: _decimal,
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
        kinds = self.kinds[number :: self.columns]
        if self.rows < _FEW or kinds.count(kinds[0]) < self.rows or kinds[0] not in _WHOLE:
            numbers = struct.unpack(f"={len(self.slots) // 8}q", self.slots)[number :: self.columns]
            return [_READ[kind](self, slot) for kind, slot in zip(kinds, numbers, strict=True)]
        return _WHOLE[kinds[0]](self, np.frombuffer(self.slots, np.int64)[number :: self.columns])

    @cached_property
    def text(self) -> str | None:
        """The heap as one text, if each of its units is a character."""
        text = self.heap.decode("utf-16-le", "replace")
        return text if len(text) * 2 == len(self.heap) else None

    def texts(self, slots: Any) -> list[str]:
        """The texts in these slots."""
        starts, ends = (slots >> 32).tolist(), ((slots >> 32) + (slots & 0xFFFFFFFF)).tolist()
        if (text := self.text) is not None:
            return [text[start:end] for start, end in zip(starts, ends, strict=True)]
        return [self.heap[2 * start : 2 * end].decode("utf-16-le") for start, end in zip(starts, ends, strict=True)]

    def bytes_at(self, slot: int) -> bytes:
        """The bytes in a slot."""
        start = slot >> 32 << 1
        return self.heap[start : start + (slot & 0xFFFFFFFF)]

    def decimal_at(self, slot: int) -> Decimal:
        """The decimal in a slot."""
        low, middle, high, flags = struct.unpack("=4I", self.bytes_at(slot))
        sign = "-" if flags >> 31 else ""
        return Decimal(f"{sign}{high << 64 | middle << 32 | low}E-{flags >> 16 & 0xFF}")


_READ: Mapping[int, Callable[[Piece, int], Any]] = {
    NULL: lambda _piece, _slot: None,
    INTEGER: lambda _, slot: slot,
    FLOAT: lambda _, slot: struct.unpack("=d", struct.pack("=q", slot))[0],
    MOMENT: lambda _, slot: _START + datetime.timedelta(microseconds=(slot - _EPOCH) // 10),
    TEXT: lambda piece, slot: piece.heap[slot >> 32 << 1 : ((slot >> 32) + (slot & 0xFFFFFFFF)) * 2].decode(
        "utf-16-le"
    ),
    BINARY: Piece.bytes_at,
    DECIMAL: Piece.decimal_at,
}
_WHOLE: Mapping[int, Callable[[Piece, Any], list[Any]]] = {
    INTEGER: lambda _, slots: slots.tolist(),
    FLOAT: lambda _, slots: np.ascontiguousarray(slots).view(np.float64).tolist(),
    MOMENT: lambda _, slots: ((slots - _EPOCH) // 10).astype("M8[us]").tolist(),
    TEXT: Piece.texts,
}
