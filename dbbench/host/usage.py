"""What this process, and a server that works for it, has used: memory, CPU, bytes written. Read outside the clock."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

_SELF = psutil.Process()


@dataclass(frozen=True)
class Reading:
    """CPU seconds of this process and its ended children; bytes it caused to be written to storage.

    `written` is None where the system doesn't tell.
    """

    cpu: float
    written: int | None

    def since(self, earlier: Reading) -> Reading:
        """What was used between two readings."""
        both = self.written is not None and earlier.written is not None
        return Reading(self.cpu - earlier.cpu, self.written - earlier.written if both else None)  # type: ignore[operator]


def usage(servers: Iterable[int] = ()) -> Reading:
    """A reading of this process and of `servers`, processes that work for it."""
    readings = [_reading(_SELF)]
    for pid in servers:
        with contextlib.suppress(psutil.NoSuchProcess):
            readings.append(_reading(psutil.Process(pid)))
    amounts = [reading.written for reading in readings]
    return Reading(
        sum(reading.cpu for reading in readings),
        None if None in amounts else sum(filter(None, amounts)),
    )


def _reading(process: psutil.Process) -> Reading:
    return Reading(sum(process.cpu_times()[:4]), written(process))


def written(process: psutil.Process) -> int | None:
    """Bytes that a process had written to storage; None where the system doesn't tell. Raises psutil.NoSuchProcess."""
    with contextlib.suppress(AttributeError, FileNotFoundError, psutil.AccessDenied, NotImplementedError):
        return int(process.io_counters().write_bytes)
    return None


def resident(servers: Iterable[int]) -> int:
    """Bytes that `servers` hold in memory now; pages that several share count once (PSS, where Linux tells it)."""
    total = 0
    for pid in servers:
        with contextlib.suppress(psutil.Error):
            memory = psutil.Process(pid).memory_full_info()
            total += getattr(memory, "pss", memory.rss)
    return total


def peak_memory() -> int | None:
    """Peak resident set of this process in bytes since it started or since `forget_peak`."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return int(_SELF.memory_info().peak_wset)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> bool:
    """Let the peak start anew from what is resident now; whether the system could (Linux can)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True
