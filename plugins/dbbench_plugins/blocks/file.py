"""What the raw files have in common: a file without a header, in which block N stands at N times the size of a block.

A block of zeros counts as never written: so the file can be made whole before the clock, as a raw disk is.
"""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Concurrency, Engine, Publication, Session, Tier, Unsupported, disk, file_system

if TYPE_CHECKING:
    from dbbench.engine import Records

Pair = tuple[bytes, bytes]

#: The file is called blocks.SIZE, for it says nothing of itself.
STEM = "blocks."
#: Bytes that a scan, or a transaction of neighbours, moves at a time.
PIECE = 2**20
KEY_BYTES = 8
_IN_MEMORY = ("tmpfs", "ramfs")


class Blocks:
    """An open file of blocks of `size` bytes."""

    def __init__(self, path: Path, flags: int) -> None:
        self.path = path
        self.size = int(path.suffix[1:])
        self.zeros = bytes(self.size)
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | flags)

    @property
    def bytes(self) -> int:
        """How long the file is."""
        return os.fstat(self.descriptor).st_size

    def close(self) -> None:
        """Close it."""
        os.close(self.descriptor)


class BlockSession(Session):
    """Reads and writes through the system's cache; others say otherwise how bytes come and go."""

    def __init__(self, blocks: Blocks, *, sync: bool) -> None:
        self.blocks = blocks
        #: Whether each write is followed by a call of its own that brings it to the disk.
        self.sync = sync

    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        size, number, write = self.blocks.size, int.from_bytes, self.writer()

        def update(key: bytes, value: bytes) -> None:
            if len(value) != size:
                raise wrong_size(value, size)
            write(number(key) * size, value)

        return update

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.prepare_update()

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        size, write = self.blocks.size, self.writer(sync=False)
        synced = self.synced if self.sync else lambda: None

        def update(pairs: list[Pair]) -> None:
            for offset, run in runs(pairs, size):
                write(offset, run)
            synced()

        return update

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        return self.prepare_update_many()

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        size, zeros, number, read = self.blocks.size, self.blocks.zeros, int.from_bytes, self.reader()

        def read_one(key: bytes) -> bytes | None:
            block = read(size, number(key) * size)
            return block if block != zeros and block else None

        return read_one

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Pair | None]:
        size = self.blocks.size
        return lambda key: next(self._from(int.from_bytes(key, "big"), size), None)

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[Pair]]:
        size = self.blocks.size

        def read_range(key: bytes, count: int) -> list[Pair]:
            return list(islice(self._from(int.from_bytes(key, "big"), min(count * size, PIECE)), count))

        return read_range

    def prepare_scan(self) -> Callable[[], Iterable[Pair]]:
        return lambda: self._from(0, PIECE)

    def reader(self) -> Callable[[int, int], bytes]:
        """A callable that gives the bytes at an offset, at most as many as asked for."""
        return partial(os.pread, self.blocks.descriptor)

    def writer(self, *, sync: bool = True) -> Callable[[int, bytes], None]:
        """Writes whole blocks at an offset, and brings them to the disk if the tier and `sync` say so."""
        descriptor, pwrite, flushed = self.blocks.descriptor, os.pwrite, os.fdatasync
        sync = sync and self.sync

        def write(offset: int, data: bytes) -> None:
            if pwrite(descriptor, data, offset) != len(data):
                raise short_write()
            if sync:
                flushed(descriptor)

        return write

    def synced(self) -> None:
        """Bring what was written without it to the disk."""
        os.fdatasync(self.blocks.descriptor)

    def _from(self, first: int, length: int) -> Iterator[Pair]:
        """Blocks that were written, from a number on, `length` bytes at a time."""
        size, zeros, read = self.blocks.size, self.blocks.zeros, self.reader()
        length = max(length // size, 1) * size
        while data := read(length, first * size):
            for at in range(0, len(data), size):
                block = data[at : at + size]
                if block != zeros:
                    yield first.to_bytes(KEY_BYTES, "big"), block
                first += 1


def runs(pairs: Iterable[Pair], size: int) -> Iterator[tuple[int, bytes]]:
    """Neighbouring blocks as one write each: its offset, and its bytes up to a piece. Raises ValueError for others."""
    start = 0
    parts: list[bytes] = []
    for key, value in pairs:
        if len(value) != size:
            raise wrong_size(value, size)
        number = int.from_bytes(key, "big")
        if parts and (number != start + len(parts) or len(parts) * size >= PIECE):
            yield start * size, b"".join(parts)
            parts = []
        if not parts:
            start = number
        parts.append(value)
    if parts:
        yield start * size, b"".join(parts)


def wrong_size(value: bytes, size: int) -> ValueError:
    """What a value of another size is."""
    return ValueError(f"a value of {len(value)} bytes, where blocks have {size}")


def short_write() -> OSError:
    """What a write that stopped in the middle is: the disk, or a limit on files, left no more room."""
    return OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: it was written in part only")


class BlockFile(Engine):
    """A file of blocks; those derived from it say how it is opened."""

    license = "Apache-2.0"
    publication = Publication.ALLOWED
    session_class: ClassVar[type[BlockSession]] = BlockSession
    concurrency = Concurrency(threads=None, processes=None)
    blocks = True
    missing_features: ClassVar = {
        "transactions": "what was written before a failure stays, and a block of zeros isn't kept"
    }
    unsupported_reasons: ClassVar = {
        "delete": "a block of a file can be written anew, but not taken out",
        "delete_many": "a block of a file can be written anew, but not taken out",
        "compact": "a block of a file has its place in it",
    }
    #: How the file is opened.
    flags: ClassVar[int] = 0

    file: Blocks | None = None

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {platform.system(): platform.release()}

    def open(self) -> None:
        if self.flags & getattr(os, "O_DIRECT", 0):
            self.refuse_memory()
        for path in self.directory.glob(f"{STEM}*"):
            self.file = self.opened(path)

    def refuse_memory(self) -> None:
        """Raise Unsupported where there is no disk to go to directly."""
        kind = file_system(self.directory)
        if kind in _IN_MEMORY:
            raise Unsupported(f"{self.name} goes to the disk past the system's cache, and {kind} is nothing but memory")

    def create_store(self, records: Records) -> None:
        """Make the file whole, of zeros, so that no write has to make it longer."""
        refuse_what_is_no_block(self, records)
        size = records.value_bytes
        path = self.directory / f"{STEM}{size}"
        left = size * records.count
        with path.open("wb", buffering=0) as file:
            while left:
                left -= file.write(bytes(min(left, PIECE)))
            os.fsync(file.fileno())
        self.file = self.opened(path)

    def opened(self, path: Path) -> Blocks:
        """The file, open."""
        return Blocks(path, self.flags)

    def connect(self) -> Session:
        return Session() if self.file is None else self.session(self.file)  # before there is a store, there is no block

    def session(self, file: Blocks) -> Session:
        """A client of an open file."""
        return self.session_class(file, sync=self.tier is Tier.POWER and not self.flags & os.O_DSYNC)

    def flush(self) -> None:
        if self.file is not None:
            os.fsync(self.file.descriptor)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "disk": disk(self.directory)}

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


def refuse_what_is_no_block(engine: Engine, records: Records, multiple: int = 1) -> None:
    """Raise Unsupported unless keys are numbers of blocks, and values whole multiples of `multiple` bytes."""
    if records.key_order != "ascending" or records.key_bytes != KEY_BYTES:
        raise Unsupported(f"{engine.name} has numbers of blocks for keys: ascending ones of {KEY_BYTES} bytes")
    if records.value_bytes % multiple:
        raise Unsupported(
            f"{engine.name} writes whole multiples of the disk's {multiple:,} bytes, not {records.value_bytes:,}"
        )
