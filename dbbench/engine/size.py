"""What an engine keeps on disk."""

import os
from collections.abc import Callable, Iterator
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
    #: Its length in bytes.
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
            status = os.lstat(os.path.join(folder, name))
            inner = os.path.relpath(os.path.join(folder, name), directory)
            yield File(inner, role(inner), status.st_size, getattr(status, "st_blocks", 0) * 512)
