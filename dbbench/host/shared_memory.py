"""Shared memory that processes leave when they are killed: System V segments, and files in /dev/shm (Linux).

PostgreSQL's in the first place: its initdb makes both kinds in its first moments.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Iterable
from pathlib import Path

import psutil

_IPC_RMID = 0
_MAPPED = re.compile(r" (/dev/shm/[^/\n]+)$", re.MULTILINE)


class SharedMemory:
    """What some processes of ours have, noted while they live; `remove` takes away what they have left."""

    def __init__(self) -> None:
        self.since = psutil.Process().create_time()
        self.makers: set[int] = set()
        self.files: set[str] = set()

    def note(self, processes: Iterable[int]) -> None:
        """Note the files that some processes have mapped, and the processes."""
        for process in processes:
            self.makers.add(process)
            with contextlib.suppress(OSError):
                self.files |= {*_MAPPED.findall(Path(f"/proc/{process}/maps").read_text("utf-8", "replace"))}

    def remove(self) -> None:
        """Remove what was made since this process began, by processes that have ended, and what none uses any more."""
        self._remove_segments()
        for file in self.files:
            with contextlib.suppress(OSError):  # it is gone, as it should be
                if os.stat(file).st_ctime >= self.since:
                    os.unlink(file)

    def _remove_segments(self) -> None:
        with contextlib.suppress(OSError), open("/proc/sysvipc/shm", encoding="ascii") as table:
            names = next(table).split()
            for line in table:
                segment = dict(zip(names, map(int, line.split()), strict=False))
                if segment["cpid"] in self.makers and not segment["nattch"] and segment["ctime"] >= int(self.since):
                    ctypes.CDLL(None).shmctl(segment["shmid"], _IPC_RMID, None)
