"""What the system counts of processes: of this one, and of servers that work for it. Read before and after calls, never within."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import psutil

from dbbench.host.metric import Metric, Usage
from dbbench.host.usage import written

_LINUX = sys.platform == "linux"
_SELF = psutil.Process()
_IO: int | None = None
with contextlib.suppress(OSError):
    _IO = os.open("/proc/self/io", os.O_RDONLY)


class Served(Protocol):
    """What knows the processes that work for it: an engine. At a `url` they are out of sight."""

    url: str

    def processes(self) -> Sequence[int]:
        """The ids of its servers' processes."""


@dataclass(frozen=True)
class Count:
    """A count of a process since its start, of all its threads: of this process, and of another."""

    own: Callable[[], int]
    #: Raises psutil.Error for a process that has ended or may not be looked at.
    of: Callable[[psutil.Process], int]
    #: How many of it are one of the metric's unit.
    per_unit: float = 1.0


class ProcessMeter:
    """Adds up counts of processes over the blocks that it is entered for: of this one, if `own`, and of the servers'.

    What a process that a server has started used counts when it has ended, too.
    """

    def __init__(
        self, served: Served | None = None, counts: Mapping[Metric, Count] | None = None, *, own: bool = True
    ) -> None:
        self._own = own
        self._counts = tuple((COUNTS if counts is None else counts).items())
        self._back = self._counts[::-1]
        self._before: dict[Metric, int] = {}
        self._sums = dict.fromkeys((metric for metric, _ in self._counts), 0)
        self._unknown: set[Metric] = set()
        self._servers: dict[int, psutil.Process] = {}
        self.look(served)

    def usage(self) -> Usage:
        """What was added up. What the system doesn't tell, or is done at a URL, is left out."""
        return {
            metric: self._sums[metric] / count.per_unit for metric, count in self._counts if metric not in self._unknown
        }

    def look(self, served: Served | None) -> None:
        """Look for the servers' processes, which takes milliseconds: again, where there may be others by now."""
        if served is None:
            return
        if served.url:
            self._unknown.update(self._sums)
        found = {}
        for pid in served.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                found[pid] = self._servers.get(pid) or psutil.Process(pid)
        self._servers = found

    def __enter__(self) -> Self:
        for metric, count in self._counts:
            self._before[metric] = self._read(metric, count)
        return self

    def __exit__(self, *_exc: object) -> None:
        for metric, count in self._back:
            self._sums[metric] += max(self._read(metric, count) - self._before[metric], 0)

    def _read(self, metric: Metric, count: Count) -> int:
        """The count so far. A server's process that has ended counts as a child of its parent from then on."""
        try:
            amount = count.own() if self._own else 0
            for process in self._servers.values():
                with contextlib.suppress(psutil.NoSuchProcess):
                    amount += count.of(process)
        except psutil.AccessDenied:
            self._unknown.add(metric)
            return 0
        return amount


def _cpu_time(process: psutil.Process) -> int:
    """Nanoseconds of another process and of its ended children. Those of the children come in steps of 10 ms."""
    times = process.cpu_times()
    children = int((getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)) * 1e9)
    if _LINUX:
        try:  # the number of a process's own clock, as clock_getcpuclockid(3) makes it: to the nanosecond
            return time.clock_gettime_ns((~process.pid << 3) | 2) + children
        except OSError as exc:
            raise psutil.NoSuchProcess(process.pid) from exc
    return int((times.user + times.system) * 1e9) + children


def _written(process: psutil.Process) -> int:
    """Bytes that a process and its ended children had written to storage."""
    if (found := written(process)) is None:
        raise psutil.AccessDenied(process.pid)
    return found


def _own_written() -> int:
    """The same of this process. On Linux by a file that stays open, in a tenth of the time."""
    return _written(_SELF) if _IO is None else int(os.pread(_IO, 500, 0).split()[11])


#: The count behind each metric of processes. The last is read next to the clock: the CPU time of reading the others isn't the calls'.
COUNTS = {
    Metric.WRITTEN: Count(_own_written, _written),
    Metric.CPU: Count(time.process_time_ns, _cpu_time, 1e9),
}
