"""What disturbs a measurement: other processes, the CPU's frequency, other virtual machines, a disk that lies.

All of it is read outside the clock: before a run, at both ends of each trial, or where commits are doubted. Where the
system doesn't tell (`root` lacks the file), the value is None.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil

_ROOT = Path("/")
_CPUS = "sys/devices/system/cpu"
#: The share of all cores above which other processes disturb a trial.
MOST_OTHERS = 0.10
#: The probe of fdatasync: this many writes of this many bytes, but no longer than this once a few are done.
_WRITES, _FEWEST_WRITES, _WRITE_BYTES, _WRITE_SECONDS = 20, 3, 4096, 0.1
#: Bytes of the file of which one is changed: more than a kernel keeps together.
_OVERWRITTEN = 4 << 20
_SYNCS = 100
#: Bytes before each sync: a page of memory, the least that the kernel counts of a file that isn't opened for direct
#: writes.
PAGE = 4096
_IO = Path("/proc/thread-self/io")


@dataclass(frozen=True)
class Reading:
    """CPU seconds of all cores since the machine was started, those of this process, and how often heat slowed it.

    `total` counts idle seconds too, `busy` neither them nor stolen ones. `own` has the ended children in it.
    """

    total: float
    busy: float
    steal: float
    own: float
    throttled: int | None = None


def reading(root: Path = _ROOT) -> Reading | None:
    """The machine's current counters; None without /proc/stat."""
    try:
        total, busy, steal = cpu_times((root / "proc/stat").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return Reading(total, busy, steal, sum(os.times()[:4]), _throttled(root))


def between(earlier: Reading | None, later: Reading | None) -> dict[str, object]:
    """What happened between two readings of one process.

    `others` is the share of all cores that other processes used, `steal` the share that other virtual
    machines took, `throttled` how often the CPU was slowed down because it was hot.
    """
    if earlier is None or later is None or later.total <= earlier.total:
        return {}
    total = later.total - earlier.total
    others = later.busy - earlier.busy - (later.own - earlier.own)
    slowed = (
        None if later.throttled is None or earlier.throttled is None else max(0, later.throttled - earlier.throttled)
    )
    return {
        "others": round(max(0.0, others / total), 4),
        "steal": round(max(0.0, (later.steal - earlier.steal) / total), 4),
        "throttled": slowed,
    }


def before(directory: Path, *, root: Path = _ROOT) -> dict[str, object]:
    """What a run starts with, for a run directory that is to lie in `directory`: all but the load, in base units."""
    disk = _disk(directory)
    return {
        "loadavg": loadavg(),
        "governor": _setting(root, "scaling_governor"),
        "frequency_driver": _setting(root, "scaling_driver"),
        "frequency_limit_hz": _hertz(root, "scaling_max_freq"),
        "frequency_most_hz": _hertz(root, "cpuinfo_max_freq"),
        "memory_available": psutil.virtual_memory().available,
        "memory_total": psutil.virtual_memory().total,
        "disk_free": disk and disk.free,
        "disk_total": disk and disk.total,
        "on_battery": _on_battery(),
        "fdatasync": fdatasync(directory),
        "overwritten": overwritten(directory),
    }


def cpu_times(stat: str) -> tuple[float, float, float]:
    """Seconds of all cores from the text of /proc/stat: (total, busy, stolen). Raises ValueError.

    Guests' time is in `user` and `nice` already; older kernels have fewer columns.
    """
    line = next((line for line in stat.splitlines() if line.startswith("cpu ")), "")
    ticks = [int(word) for word in line.split()[1:9]]
    if len(ticks) < 4:
        raise ValueError("no line for all CPUs together")
    user, nice, system, idle, iowait, irq, softirq, steal = ticks + [0] * (8 - len(ticks))
    busy = user + nice + system + irq + softirq
    second = os.sysconf("SC_CLK_TCK")
    return (busy + idle + iowait + steal) / second, busy / second, steal / second


def loadavg() -> list[float] | None:
    """The load averages of 1, 5 and 15 minutes."""
    with contextlib.suppress(OSError, AttributeError):
        return [round(value, 2) for value in os.getloadavg()]
    return None


def fdatasync(directory: Path) -> dict[str, float] | None:
    """Seconds that appending 4 KiB to a file in `directory` and calling fdatasync takes; None if it can't be done."""
    times: list[float] = []
    with (
        contextlib.suppress(OSError, AttributeError),
        tempfile.NamedTemporaryFile(prefix=".dbbench-probe-", dir=directory) as file,
    ):
        block = os.urandom(_WRITE_BYTES)
        start = before = perf_counter()
        while len(times) < _WRITES and (before - start < _WRITE_SECONDS or len(times) < _FEWEST_WRITES):
            os.write(file.fileno(), block)
            os.fdatasync(file.fileno())
            after = perf_counter()
            times.append(after - before)
            before = after
    if not times:
        return None
    return {"writes": len(times), "min": min(times), "median": median(times), "max": max(times)}


def overwritten(directory: Path) -> int | None:
    """Bytes counted as written when one byte changes of a large file in `directory`; None if it isn't told, or
    the file can't be made.

    The kernel counts the memory that gets dirty, and may keep a file's in pieces (folios) of up to 2 MiB.
    """
    with (
        contextlib.suppress(OSError, AttributeError),
        tempfile.NamedTemporaryFile(prefix=".dbbench-probe-", dir=directory) as file,
    ):
        os.write(file.fileno(), bytes(_OVERWRITTEN))
        os.fdatasync(file.fileno())
        earlier = _written()
        os.pwrite(file.fileno(), b"1", 0)
        os.fdatasync(file.fileno())
        return _written() - earlier
    return None


def _disk(directory: Path) -> Any:
    with contextlib.suppress(OSError):
        return shutil.disk_usage(directory)
    return None


def _on_battery() -> bool | None:
    """Whether the machine runs on its battery; None where it has none."""
    battery = None
    with contextlib.suppress(OSError, AttributeError, NotImplementedError):
        battery = psutil.sensors_battery()
    return None if battery is None or battery.power_plugged is None else not battery.power_plugged


def _setting(root: Path, name: str) -> str | None:
    """A setting of the CPUs' frequency; where they differ, all that there are."""
    return ", ".join(sorted(set(_cpu_files(root, f"cpufreq/{name}")))) or None


def _hertz(root: Path, name: str) -> float | None:
    """The least of the CPUs' frequencies under a name, of which the files tell kHz."""
    known = [int(text) for text in _cpu_files(root, f"cpufreq/{name}") if text.isdigit()]
    return min(known) * 1000.0 if known else None


def _throttled(root: Path) -> int | None:
    known = [int(text) for text in _cpu_files(root, "thermal_throttle/core_throttle_count") if text.isdigit()]
    return sum(known) if known else None


def _cpu_files(root: Path, name: str) -> Iterator[str]:
    for path in (root / _CPUS).glob(f"cpu[0-9]*/{name}"):
        with contextlib.suppress(OSError):
            yield path.read_text("ascii").strip()


@dataclass(frozen=True)
class Sync:
    """What one write of a page with its fdatasync came to, on average."""

    waits: float
    written: float


def sync_probe(directory: Path) -> Sync | None:
    """Write and sync a page of a new file in `directory` repeatedly. None if the system doesn't tell, or refuses."""
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
