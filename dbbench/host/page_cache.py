"""The operating system's cache of files: dropping it, and finding out what of it is left."""

import contextlib
import ctypes
import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from dbbench.host import machine

#: More than this share of the files' bytes still in memory is not cold.
MOST_RESIDENT = 0.05
#: File systems that are nothing but this cache.
_IN_MEMORY = ("tmpfs", "ramfs")
_WINDOW = 1 << 30  # bytes mapped at once


@dataclass(frozen=True)
class Dropped:
    """Result of dropping. `resident`: the share of the files' `bytes` still in memory, None where nobody can tell.

    `held`: names of files that this process still has open, whose pages it may keep by itself.
    """

    resident: float | None
    bytes: int = 0
    held: tuple[str, ...] = ()

    @property
    def cold(self) -> bool:
        """Whether a reader finds next to nothing in memory."""
        return self.resident is not None and self.resident <= MOST_RESIDENT and not self.held

    @property
    def why(self) -> str:
        """The reason why it is not cold, in words; empty if it is."""
        if self.held:
            return f"the engine keeps files open after it was closed ({', '.join(self.held)})"
        if self.resident is None:
            return "this system's file cache can't be dropped or looked into"
        return "" if self.cold else f"{self.resident:.0%} of the files stayed in the system's cache"


def drop(directory: Path, others: Iterable[str] = ()) -> Dropped:
    """Write all files under `directory`, and `others`, to the disk and let the system forget their pages.

    File by file (posix_fadvise); where that is not enough, all of the system's clean pages, which only root may do.
    """
    open_files = tuple(sorted(_held(directory)))
    if not hasattr(os, "posix_fadvise"):
        return Dropped(None, present(directory), open_files)
    for descriptor in _opened(chain((path for path, _ in _files(directory)), others)):
        os.fsync(descriptor)  # only clean pages are forgotten
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    left = resident(directory)
    if left is not None and left > MOST_RESIDENT and machine.file_system(directory) not in _IN_MEMORY:
        with contextlib.suppress(OSError):
            Path("/proc/sys/vm/drop_caches").write_text("1\n", "ascii")
            left = resident(directory)
    return Dropped(left, present(directory), open_files)


def present(directory: Path) -> int:
    """Bytes of all files under `directory`."""
    return sum(size for _, size in _files(directory))


def resident(directory: Path) -> float | None:
    """The share of the bytes of all files under `directory` that is in memory; None where nobody can tell."""
    try:
        mincore = ctypes.CDLL(None, use_errno=True).mincore
    except (OSError, AttributeError, TypeError):
        return None
    inside, pages = 0, 0
    for descriptor in _opened(path for path, _ in _files(directory)):
        status = os.fstat(descriptor)
        # Holes take no page: what is allocated counts, if that is less.
        pages += min(-(-status.st_size // mmap.PAGESIZE), -(-status.st_blocks * 512 // mmap.PAGESIZE))
        for offset in range(0, status.st_size, _WINDOW):
            length = min(_WINDOW, status.st_size - offset)
            # A private copy that nobody writes to: ctypes takes an address from a writable one only.
            with mmap.mmap(descriptor, length, access=mmap.ACCESS_COPY, offset=offset) as mapped:
                vector = ctypes.create_string_buffer(-(-length // mmap.PAGESIZE))
                start = ctypes.c_char.from_buffer(mapped)
                failed = mincore(ctypes.byref(start), ctypes.c_size_t(length), vector)
                del start
            if failed:
                return None
            inside += sum(byte & 1 for byte in vector.raw)
    return min(1.0, inside / pages) if pages else 0.0


def _files(directory: Path) -> Iterator[tuple[str, int]]:
    """Every file that has bytes, and how many; no links, no sockets. An open engine may remove one meanwhile."""
    for folder, _, names in os.walk(directory):
        for path in (os.path.join(folder, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode) and status.st_size:
                    yield path, status.st_size


def _opened(files: Iterable[str]) -> Iterator[int]:
    """A descriptor of each file that is there, until the next is asked for."""
    for path in files:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                yield descriptor
            finally:
                os.close(descriptor)


def _held(directory: Path) -> Iterable[str]:
    """The files under `directory` that this process has open."""
    real = directory.resolve()
    found = set()
    with contextlib.suppress(OSError):  # no /proc
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                target = Path(os.readlink(link))
                if target.is_relative_to(real):
                    found.add(str(target.relative_to(real)))
    return found
