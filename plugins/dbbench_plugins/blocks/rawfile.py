"""A raw file through the system's cache: the reference for engines of blocks. Also with O_DSYNC, and mapped."""

import ctypes
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from dbbench.engine import Tier
from dbbench_plugins.blocks.file import BlockFile, Blocks, BlockSession


class RawFile(BlockFile):
    name = "rawfile"
    title = "raw file (buffered)"
    durability: ClassVar = {
        Tier.POWER: {"after_write": "fdatasync"},
        Tier.PROCESS: {"after_write": "nothing"},  # the pages are the system's: they outlive the process
    }


class RawFileSync(BlockFile):
    name = "rawfile+dsync"
    title = "raw file (O_DSYNC)"
    flags = getattr(os, "O_DSYNC", 0)
    durability: ClassVar = {Tier.POWER: {"open": "O_DSYNC"}}


class MappedBlocks(Blocks):
    """The file in the process's memory. What is written beyond its end makes it longer, as it does with a file."""

    def __init__(self, path: Path, flags: int) -> None:
        super().__init__(path, flags)
        self.map()
        self.msync: Callable[..., int] = ctypes.CDLL(None, use_errno=True).msync

    def map(self) -> None:
        """Map all of the file; who still has the old map keeps it."""
        length = self.bytes
        self.view = memoryview(mmap.mmap(self.descriptor, length) if length else b"")
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.view)) if length else 0

    def grow(self, length: int) -> None:
        """Make the file at least so long. Real blocks, not holes: a full disk is then an error and not a signal."""
        if length > self.bytes:
            os.posix_fallocate(self.descriptor, 0, length)
        self.map()

    def close(self) -> None:
        """Close the file and let go of the map, which would keep its pages in memory."""
        self.view, self.address = memoryview(b""), 0
        super().close()

    def sync(self, offset: int, length: int) -> None:
        """Bring the pages of some bytes to the disk. Raises OSError if it can't."""
        start = offset - offset % mmap.PAGESIZE
        if self.msync(ctypes.c_void_p(self.address + start), ctypes.c_size_t(offset + length - start), _MS_SYNC):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


_MS_SYNC = 4


class MappedSession(BlockSession):
    """Copies from and to memory, and `msync` of the page."""

    blocks: MappedBlocks

    def reader(self) -> Callable[[int, int], bytes]:
        blocks = self.blocks

        def read(length: int, offset: int) -> bytes:
            if offset + length > len(blocks.view) < blocks.bytes:  # another process has made it longer
                blocks.map()
            return bytes(blocks.view[offset : offset + length])

        return read

    def writer(self, *, sync: bool = True) -> Callable[[int, bytes], None]:
        blocks, sync = self.blocks, sync and self.sync

        def write(offset: int, data: bytes) -> None:
            end = offset + len(data)
            if end > len(blocks.view):
                blocks.grow(end)
            blocks.view[offset:end] = data
            if sync:
                blocks.sync(offset, len(data))

        return write

    def synced(self) -> None:
        self.blocks.sync(0, len(self.blocks.view))


class RawFileMapped(BlockFile):
    name = "rawfile+mmap"
    title = "raw file (mmap)"
    session_class = MappedSession
    durability: ClassVar = {Tier.POWER: {"after_write": "msync(MS_SYNC)"}, Tier.PROCESS: {"after_write": "nothing"}}

    def opened(self, path: Path) -> Blocks:
        return MappedBlocks(path, self.flags)
