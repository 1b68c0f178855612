"""What an engine keeps on disk."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

#: What a file of a database is for. `reserved` is a journal that no recovery reads after a flush: kept to be written
#: again.
FileRole = Literal["data", "journal", "reserved", "other"]


@dataclass(frozen=True)
class File:
    """One file of a database: its name inside the engine's directory, its bytes, and those on disk."""

    #: Its path inside the engine's directory; absolute if it is elsewhere.
    name: str
    #: What it is for.
    role: FileRole
    #: Its length in bytes, less holes.
    apparent: int
    #: Its bytes on disk.
    allocated: int


@dataclass(frozen=True)
class Size:
    """What an engine keeps on disk."""

    #: Every file, sorted by name.
    files: tuple[File, ...]
    #: Bytes of the data files that hold indexes; None if nobody can say.
    index: int | None = None
    #: Bytes in use by the count of a runtime's collector, after a full collection, above those before the store was
    #: opened; None where there is no collector.
    heap: int | None = None

    @property
    def total(self) -> int:
        """Apparent bytes of all files."""
        return sum(file.apparent for file in self.files)


def files_in(directory: Path, role: Callable[[str], FileRole]) -> Iterator[File]:
    """Every file in a directory and those below; `role` says by its name what each is for."""
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            inner = os.path.relpath(path, directory)
            with suppress(FileNotFoundError):  # a compaction in the background has removed it since
                yield file_at(path, os.lstat(path), inner, role(inner))


def file_at(path: str, status: os.stat_result, name: str, role: FileRole) -> File:
    """What is at `path`, where a database has the file `name`."""
    length, allocated = status.st_size, getattr(status, "st_blocks", 0) * 512
    if allocated < length and stat.S_ISREG(status.st_mode) and hasattr(os, "SEEK_DATA"):
        return File(name, role, _filled(path, length), allocated)
    return File(name, role, length, allocated)


def _filled(path: str, length: int) -> int:
    """Bytes that are no holes, by the file system's word: what is allocated may be compressed, or come later."""
    filled = end = 0
    try:
        with open(path, "rb") as opened:
            while True:
                start = os.lseek(opened.fileno(), end, os.SEEK_DATA)
                end = os.lseek(opened.fileno(), start, os.SEEK_HOLE)
                filled += end - start
    except OSError as exc:
        return filled if exc.errno == errno.ENXIO else length  # no more follow; or nobody may look
