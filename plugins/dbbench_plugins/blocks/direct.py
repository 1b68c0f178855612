"""A raw file past the system's cache: O_DIRECT, and O_DSYNC for what is written."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Tier, Unavailable, disk_facts
from dbbench_plugins.blocks.file import PIECE, BlockFile, BlockSession, refuse_what_is_no_block, short_write

if TYPE_CHECKING:
    from dbbench.engine import Records

#: Where nobody tells what a disk's blocks are.
_USUAL = 512


class DirectSession(BlockSession):
    """Each prepared operation has a buffer of its own that begins on a page: the disk takes no other."""

    def reader(self) -> Callable[[int, int], bytes]:
        descriptor, preadv, views = self.blocks.descriptor, os.preadv, _Views(self.blocks.size)

        def read(length: int, offset: int) -> bytes:
            into = views[length]
            found = preadv(descriptor, into, offset)
            return bytes(into[0][:found])

        return read

    def writer(self, *, sync: bool = True) -> Callable[[int, bytes], None]:
        descriptor, pwritev, views = self.blocks.descriptor, os.pwritev, _Views(self.blocks.size)

        def write(offset: int, data: bytes) -> None:
            length = len(data)
            source = views[length]
            source[0][:] = data
            if pwritev(descriptor, source, offset) != length:
                raise short_write()

        return write

    def synced(self) -> None:
        """Each write was on the disk when it returned."""


class _Views(dict[int, list[memoryview]]):
    """Length -> the start of one aligned buffer, as preadv takes it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.buffer = mmap.mmap(-1, max(size, mmap.PAGESIZE))

    def __missing__(self, length: int) -> list[memoryview]:
        if length > len(self.buffer):
            self.clear()
            self.buffer = mmap.mmap(-1, max(length, PIECE))
        self[length] = [memoryview(self.buffer)[:length]]
        return self[length]


class RawFileDirect(BlockFile):
    name = "rawfile+direct"
    title = "raw file (O_DIRECT, O_DSYNC)"
    flags = getattr(os, "O_DIRECT", 0) | getattr(os, "O_DSYNC", 0)
    session_class: ClassVar[type[BlockSession]] = DirectSession
    durability: ClassVar = {Tier.POWER: {"open": "O_DIRECT, O_DSYNC"}}

    @classmethod
    def available(cls) -> None:
        if not hasattr(os, "O_DIRECT"):
            raise Unavailable("this system has no O_DIRECT")

    def create_store(self, records: Records) -> None:
        refuse_what_is_no_block(self, records, self.logical_block)
        super().create_store(records)

    @property
    def logical_block(self) -> int:
        """Bytes of the least that the disk reads or writes."""
        return int(disk_facts(self.directory).get("logical_block_size", _USUAL))

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "logical_block_bytes": self.logical_block}
