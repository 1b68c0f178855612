"""How long a thread was ready to run and waited for a processor: its run delay, which Linux counts for each thread."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter_ns, thread_time_ns
from typing import Self

from dbbench.host.metric import Metric, Usage

#: Nanoseconds on a processor, nanoseconds of waiting for one, and how often it came to one (docs of the kernel, sched-stats).
_COUNTED = Path("/proc/thread-self/schedstat")
#: More than three numbers of 64 bits take.
_BYTES = 80


class DelayMeter:
    """Adds up the run delay of the thread that makes it, in the blocks that this thread enters it for.

    What the thread waits for anything else counts nothing: a lock, a disk, a server, another thread.
    """

    def __init__(self, counted: Path = _COUNTED, clock: Callable[[], int] = perf_counter_ns) -> None:
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
            thread_time_ns()  # the scheduler looks at its books: a turn that is over ends here, and not amid the calls
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
