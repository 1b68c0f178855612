"""What this process has used: memory, CPU, bytes written. Read outside the clock."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import psutil

_SELF = psutil.Process()


@dataclass(frozen=True)
class Usage:
    """CPU seconds of this process and its ended children; bytes it caused to be written to storage.

    `written` is None where the system doesn't tell.
    """

    cpu: float
    written: int | None

    def since(self, earlier: Usage) -> Usage:
        """What was used between two readings."""
        both = self.written is not None and earlier.written is not None
        return Usage(self.cpu - earlier.cpu, self.written - earlier.written if both else None)  # type: ignore[operator]


def usage() -> Usage:
    """A reading."""
    times = _SELF.cpu_times()
    written = None
    with contextlib.suppress(AttributeError, psutil.AccessDenied, NotImplementedError):
        written = _SELF.io_counters().write_bytes
    return Usage(sum(times[:4]), written)


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
