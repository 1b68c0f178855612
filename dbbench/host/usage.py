"""What this process, and others that work for it, have used: memory, CPU, bytes, waits. Read outside the clock."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_WAITS = "voluntary_ctxt_switches:"


@dataclass(frozen=True)
class Reading:
    """CPU seconds of this process and its ended children; bytes it had written to storage; how often it waited.

    A wait is a voluntary context switch of any thread: for a disk, a lock, a socket. None where the system doesn't
    tell.
    """

    cpu: float
    written: int | None
    waits: int | None
    #: Waits of each thread of other processes, which are lost with it.
    theirs: Mapping[str, int] = field(default_factory=dict)

    def since(self, earlier: Reading) -> Reading:
        """What was used between two readings. Of who has ended, only what passed to a parent that is read counts."""
        waits = _less(self.waits, earlier.waits)
        if waits is not None:
            waits += sum(max(0, count - earlier.theirs.get(thread, 0)) for thread, count in self.theirs.items())
        return Reading(max(0.0, self.cpu - earlier.cpu), _less(self.written, earlier.written), waits)


def usage(others: Iterable[int] = ()) -> Reading:
    """A reading of this process and of `others`, processes that work for it, parents first.

    Where one has ended meanwhile all are read again: now its parent has what it used, and may have been read before.
    """
    own, left = psutil.Process(), list(others)
    while True:
        readings, gone = [Reading(_cpu(own), written(own), _own_waits())], set[int]()
        for pid in left:
            try:
                process, theirs = psutil.Process(pid), waits_of_threads(pid)
                readings.append(Reading(_cpu(process), written(process), 0 if theirs else None, theirs))
            except psutil.NoSuchProcess:
                gone.add(pid)
        if not gone:
            break
        left = [pid for pid in left if pid not in gone]
    return Reading(
        sum(each.cpu for each in readings),
        _sum([each.written for each in readings]),
        _sum([each.waits for each in readings]),
        {thread: count for each in readings for thread, count in each.theirs.items()},
    )


def _less(later: int | None, earlier: int | None) -> int | None:
    """The difference; None too if what counted earlier has ended meanwhile."""
    return None if later is None or earlier is None or later < earlier else later - earlier


def _sum(amounts: Sequence[int | None]) -> int | None:
    return None if None in amounts else sum(filter(None, amounts))


def _cpu(process: psutil.Process) -> float:
    return float(sum(process.cpu_times()[:4]))


def _own_waits() -> int | None:
    """Waits of this process's threads, ended ones too, and of its ended children."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    return sum(resource.getrusage(who).ru_nvcsw for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def threads_of(pid: int) -> list[Path]:
    """The folders of a process's threads; none of one that has ended, or where the system has no such folders."""
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{pid}/task").iterdir())
    return []


def waits_of_threads(pid: int) -> dict[str, int]:
    """Waits of each thread that another process has; empty where the system doesn't tell."""
    counts = {}
    for thread in threads_of(pid):
        with contextlib.suppress(OSError):  # it has ended
            if rest := (thread / "status").read_text("ascii", "replace").partition(f"\n{_WAITS}")[2]:
                counts[str(thread)] = int(rest.split()[0])
    return counts


def waits(pid: int) -> int | None:
    """Waits of the threads that another process has."""
    counts = waits_of_threads(pid)
    return sum(counts.values()) if counts else None


def written(process: psutil.Process) -> int | None:
    """Bytes that a process had written to storage; None where the system doesn't tell. Raises psutil.NoSuchProcess."""
    with contextlib.suppress(AttributeError, FileNotFoundError, psutil.AccessDenied, NotImplementedError):
        return int(process.io_counters().write_bytes)
    return None


def read(processes: Iterable[psutil.Process]) -> int | None:
    """Bytes that processes, their ended children too, have read from storage; None where the system doesn't tell."""
    found = []
    for process in processes:
        try:
            found.append(int(process.io_counters().read_bytes))
        except psutil.NoSuchProcess:
            continue
        except (AttributeError, OSError, psutil.AccessDenied, NotImplementedError):
            return None
    return sum(found)


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
        return int(psutil.Process().memory_info().peak_wset)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if psutil.MACOS else 1024)


def forget_peak() -> None:
    """Let the peak start anew from what is resident now, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
