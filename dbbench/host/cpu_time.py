"""The CPU time that calls take: of this process, and of servers that work for it. Read before and after, never within."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Protocol, Self

import psutil

_LINUX = sys.platform == "linux"


class Served(Protocol):
    """What knows the processes that work for it: an engine. At a `url` they are out of sight."""

    url: str

    def processes(self) -> Sequence[int]:
        """The ids of its servers' processes."""


class CpuMeter:
    """Adds up the CPU nanoseconds of the blocks that it is entered for.

    Counted are all threads of this process, user and system time, and all threads of the servers' processes. What a
    process that a server has started used counts when it has ended, too.
    """

    def __init__(
        self,
        served: Served | None = None,
        own: Callable[[], int] = time.process_time_ns,
        of: Callable[[psutil.Process], int] | None = None,
    ) -> None:
        self.nanoseconds = 0
        self._own, self._of = own, of or _used
        self._servers: dict[int, psutil.Process] = {}
        self._blind = False
        self._before = 0
        self.look(served)

    @property
    def seconds(self) -> float | None:
        """What was added up; None where the work is done out of sight."""
        return None if self._blind else self.nanoseconds / 1e9

    def look(self, served: Served | None) -> None:
        """Look for the servers' processes, which takes milliseconds: again, where there may be others by now."""
        if served is None:
            return
        self._blind = self._blind or bool(served.url)
        found = {}
        for pid in served.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                found[pid] = self._servers.get(pid) or psutil.Process(pid)
        self._servers = found

    def read(self) -> int:
        """Nanoseconds so far. A server's process that has ended counts as a child of its parent from then on."""
        total = self._own()
        for process in self._servers.values():
            try:
                total += self._of(process)
            except psutil.NoSuchProcess:
                continue
            except psutil.AccessDenied:
                self._blind = True
        return total

    def __enter__(self) -> Self:
        self._before = self.read()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.nanoseconds += max(self.read() - self._before, 0)


def _used(process: psutil.Process) -> int:
    """Nanoseconds of another process and of its ended children. Those of the children come in steps of 10 ms."""
    times = process.cpu_times()
    children = int((getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)) * 1e9)
    if _LINUX:
        try:  # the number of a process's own clock, as clock_getcpuclockid(3) makes it: to the nanosecond
            return time.clock_gettime_ns((~process.pid << 3) | 2) + children
        except OSError as exc:
            raise psutil.NoSuchProcess(process.pid) from exc
    return int((times.user + times.system) * 1e9) + children
