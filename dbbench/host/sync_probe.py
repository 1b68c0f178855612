"""What a sync shows of itself in a place: how often the thread that calls it waits, and what counts as written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

_SYNCS = 100
#: Bytes before each sync: a page of memory, the least that the kernel counts of a file that isn't opened for direct writes.
PAGE = 4096
_IO = Path("/proc/thread-self/io")


@dataclass(frozen=True)
class Sync:
    """What one write of a page with its fdatasync came to, on average."""

    waits: float
    written: float


def probe(directory: Path) -> Sync | None:
    """Write and sync a page of a new file in `directory` again and again. None where the system doesn't tell, or refuses."""
    with (
        contextlib.suppress(OSError, AttributeError, ImportError),
        tempfile.NamedTemporaryFile(prefix=".dbbench-probe-", dir=directory) as file,
    ):
        import resource

        block = os.urandom(PAGE)
        waits, written = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, _written()
        for _ in range(_SYNCS):
            os.pwrite(file.fileno(), block, 0)
            os.fdatasync(file.fileno())
        waited = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - waits
        return Sync(waited / _SYNCS, (_written() - written) / _SYNCS)
    return None


def _written() -> int:
    return int(_IO.read_text("ascii").partition("\nwrite_bytes: ")[2].split()[0])
