"""What the system counts of calls besides their time by the clock: of processes, and of the thread that calls.

It is read before and after the calls, never within.
"""

import contextlib
import ctypes
import os
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, Self

import psutil

from dbbench.host.metric import Metric, Usage
from dbbench.host.processes import descendants

_LINUX = sys.platform == "linux"
#: Nanoseconds on a processor, nanoseconds of waiting for one, and how often it came to one (docs of the kernel,
#: sched-stats).
_COUNTED = Path("/proc/thread-self/schedstat")
#: More than three numbers of 64 bits take.
_BYTES = 80


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
    """Adds up counts of processes over the blocks it is entered for: servers, and if `own` this and its children.

    What a process that one of them has started used counts when it has ended, too.
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
        """The sums, without what the system doesn't report or a server at a URL does."""
        return {
            metric: self._sums[metric] / count.per_unit for metric, count in self._counts if metric not in self._unknown
        }

    def look(self, served: Served | None) -> None:
        """Look for the other processes, which takes milliseconds: again, where there may be others by now."""
        if served is None:
            return
        if served.url:
            self._unknown.update(self._sums)
        found = {}
        for pid in {*served.processes(), *(descendants() if self._own else ())}:
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


def _own_cpu_time() -> int:
    """Nanoseconds of this process and of its ended children."""
    times = os.times()
    return time.process_time_ns() + int((times.children_user + times.children_system) * 1e9)


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


#: The count behind each metric of processes. The last is read next to the clock: the CPU time of reading the others
#: isn't the calls'.
COUNTS = {Metric.CPU: Count(_own_cpu_time, _cpu_time, 1e9)}


class DelayMeter:
    """Adds up the run delay of the thread that makes it, in the blocks that this thread enters it for.

    What the thread waits for anything else counts nothing: a lock, a disk, a server, another thread.
    """

    def __init__(self, counted: Path = _COUNTED, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self.nanoseconds = 0
        self._clock = clock
        self._before, self._since = b"", 0
        self._held = ctypes.create_string_buffer(_BYTES)
        self._file: int | None = None
        try:
            self._file = os.open(counted, os.O_RDONLY)
        except OSError:  # another system than Linux, or a kernel built without it
            return
        weakref.finalize(self, os.close, self._file)
        if not any(map(int, self._read().split())):  # a kernel that counts nothing says so by three zeros
            self._file = None

    def usage(self, seconds: float) -> Usage:
        """The undelayed time of calls that took `seconds` by the clock, where the system counts the delay."""
        return {} if self._file is None else {Metric.UNDELAYED: max(seconds - self.nanoseconds / 1e9, 0.0)}

    def __enter__(self) -> Self:
        if self._file is not None:
            time.thread_time_ns()  # the scheduler looks at its books: a turn that is over ends here, and not amid the calls
            self._before = self._read()
            self._since = self._clock()
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._file is None:
            return
        most = self._clock() - self._since  # what was waited for between the file and the clock is not the calls'
        waited = _delay(self._read()) - _delay(self._before)
        self.nanoseconds += min(waited, most)

    def _read(self) -> bytes:
        length = _library().pread(self._file, self._held, _BYTES, 0)
        return self._held.raw[:length]


@cache
def _library() -> ctypes.PyDLL:
    """The C library, called without letting go of Python's lock: other clients' threads take no turn for a reading."""
    library = ctypes.PyDLL(None)
    library.pread.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64)
    library.pread.restype = ctypes.c_ssize_t
    return library


def _delay(counted: bytes) -> int:
    return int(counted.split()[1])


class CallMeter:
    """Each metric of the calls that one thread makes in the blocks that it enters this for."""

    def __init__(self, served: Served | None = None) -> None:
        self._processes, self._delay = ProcessMeter(served), DelayMeter()

    def usage(self, seconds: float) -> Usage:
        """What was counted of calls that took `seconds` by the clock."""
        return {**self._processes.usage(), **self._delay.usage(seconds)}

    def look(self, served: Served) -> None:
        """Look for the servers' processes again."""
        self._processes.look(served)

    def __enter__(self) -> Self:
        self._processes.__enter__()
        self._delay.__enter__()  # next to the clock: what is waited for before is not the calls'
        return self

    def __exit__(self, *exc: object) -> None:
        self._delay.__exit__(*exc)
        self._processes.__exit__(*exc)
