"""One client of a store of .NET's, in Python: calls of the bridge's functions. Import it when the runtime runs."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from dbbench_plugins.dotnet.bridge import Functions
from dbbench_plugins.dotnet.context import FAILED, FFI, free, new_context, thrown_in
from dbbench_plugins.dotnet.store import Pair, StoreFailed

_REFUSALS = {"insert": "already exists", "update": "isn't there", "delete": "isn't there"}
#: Records of one crossing of a scan, and how few are not worth numpy's while.
_AT_ONCE, _FEW = 4_096, 32


class Client:
    """One client of a store: what it reads comes into its own memory."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.context = new_context()

    def close(self) -> None:
        """Give its memory back."""
        free(self.context)

    def write(self, operation: str) -> Callable[..., None]:
        """A function that writes a key and a value."""
        run, context, refused = self.functions[operation], self.context, _REFUSALS[operation]

        def write(key: bytes, value: bytes = b"") -> None:
            if status := run(context, key, len(key), value, len(value)):
                self._raise(status, f"the key {key[:32].hex()} {refused}")

        return write

    def write_many(self, operation: str) -> Callable[[list[bytes], list[bytes]], None]:
        """A function that writes keys and values in one crossing."""
        run, context, refused = self.functions[f"{operation}_many"], self.context, _REFUSALS[operation]
        from_buffer = FFI.from_buffer

        def write(keys: list[bytes], values: list[bytes]) -> None:
            lengths, sizes = array("i", map(len, keys)), array("i", map(len, values))
            status = run(
                context,
                b"".join(keys),
                from_buffer("int[]", lengths),
                b"".join(values),
                from_buffer("int[]", sizes),
                len(keys),
            )
            if status:
                self._raise(status, f"one of {len(keys)} keys {refused}")

        return write

    def read(self) -> Callable[[bytes], bytes | None]:
        """A function that gives the value of a key, or None."""
        run, context, unpack, null = self.functions["read"], self.context, FFI.unpack, FFI.NULL

        def read(key: bytes) -> bytes | None:
            length = run(context, key, len(key), null, 0)
            if length < 0:
                if length == FAILED:
                    self._raise(length, "")
                return None
            return unpack(context.data, length)  # type: ignore[no-any-return]

        return read

    def seek(self) -> Callable[[bytes], Pair | None]:
        """A function that gives the record at a key, or the next above it."""
        run, context, unpack, null = self.functions["range"], self.context, FFI.unpack, FFI.NULL
        lengths = struct.Struct("=ii").unpack_from

        def seek(key: bytes) -> Pair | None:
            count = run(context, key, len(key), null, 1)
            if count < 0:
                self._raise(count, "")
            if not count:
                return None
            data = unpack(context.data, context.used)
            size, _ = lengths(data)
            return data[8 : 8 + size], data[8 + size :]

        return seek

    def range(self) -> Callable[[bytes, int], list[Pair]]:
        """A function that gives up to `count` records from a key on."""
        run, null = self.functions["range"], FFI.NULL

        def read_range(key: bytes, count: int) -> list[Pair]:
            return self._pairs(run(self.context, key, len(key), null, count))

        return read_range

    def scan(self) -> Iterator[Pair]:
        """All records, in the order of the store."""
        return chain.from_iterable(self._batches())

    def _batches(self) -> Iterator[list[Pair]]:
        scanning, null = Client(self.functions), FFI.NULL
        start, step = self.functions["start"], self.functions["next"]
        try:
            if (status := start(scanning.context, null, 0, null, 0)) < 0:
                scanning._raise(status, "")
            while pairs := scanning._pairs(step(scanning.context, null, _AT_ONCE, null, 0)):
                yield pairs
        finally:
            scanning.close()

    def _pairs(self, count: int) -> list[Pair]:
        """What was walked over."""
        if count < 0:
            self._raise(count, "")
        data = FFI.unpack(self.context.data, self.context.used) if count else b""
        if count >= _FEW and (pairs := _alike(data, count)):
            return pairs
        found, at = [], 0
        for _ in range(count):
            size, length = struct.unpack_from("=ii", data, at)
            start = at + 8 + size
            found.append((data[at + 8 : start], data[start : start + length]))
            at = start + length
        return found

    def _raise(self, status: int, refused: str) -> None:
        if status != FAILED:
            raise StoreFailed(refused)
        raise thrown_in(self.context, StoreFailed)


def _alike(data: bytes, count: int) -> list[Pair]:
    """The records, if all have the same lengths: then numpy takes them apart. Otherwise an empty list."""
    size, length = struct.unpack_from("=ii", data)
    if not size or not length or len(data) != count * (8 + size + length):
        return []
    records = np.frombuffer(data, [("lengths", "V8"), ("key", f"V{size}"), ("value", f"V{length}")])
    if len(set(records["lengths"].tolist())) > 1:
        return []
    found: list[Pair] = records[["key", "value"]].tolist()
    return found
