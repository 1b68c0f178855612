"""What machine this is: recorded in every run, and printed under every chart."""

import importlib.metadata
import os
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

import dbbench

_PACKAGES = ("numpy", "pyarrow", "pydantic", "psutil")
#: What makes a machine: the key in what `describe` gives, and the word for it.
_WORDS = {
    "cpu": "CPU",
    "cores": "cores",
    "threads": "threads",
    "memory_bytes": "memory",
    "system": "system",
    "kernel": "kernel",
    "architecture": "architecture",
    "python": "Python",
    "file_system": "file system",
}
#: Memory that differs by less is the same: virtual machines lose a few MiB to the kernel.
_MEMORY_BAND = 0.05


def describe(directory: Path) -> dict[str, Any]:
    """CPU, memory, system, Python, packages, and the file system that `directory` lies on."""
    return {
        "cpu": _cpu(),
        "cores": psutil.cpu_count(logical=False) or os.cpu_count(),
        "threads": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": _system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "dbbench": dbbench.__version__,
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "file_system": file_system(directory),
        "disk": disk(directory),
    }


def in_words(machine: Mapping[str, Any]) -> str:
    """A machine in one line, as far as it is known."""
    memory = f"{machine['memory_bytes'] / 2**30:.0f} GiB" if "memory_bytes" in machine else ""
    threads = f"{machine['threads']} threads" if machine.get("threads") else ""
    kernel = f"kernel {machine['kernel']}" if "kernel" in machine else ""
    words = (machine.get("cpu"), threads, memory, machine.get("system"), kernel, machine.get("file_system"))
    return ", ".join(filter(None, (*words, machine.get("python")))) or "unknown machine"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What makes two machines different ones: (what, on the old, on the new), in words."""
    for key, word in _WORDS.items():
        ours, theirs = old.get(key), new.get(key)
        if key == "memory_bytes" and ours and theirs:
            if abs(ours - theirs) > _MEMORY_BAND * max(ours, theirs):
                yield word, f"{ours / 2**30:.1f} GiB", f"{theirs / 2**30:.1f} GiB"
        elif ours != theirs:
            yield word, _shown(ours), _shown(theirs)


def _shown(fact: object) -> str:
    return "none" if fact is None else str(fact)


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def file_system(directory: Path) -> str:
    """The kind of the file system that `directory` lies on, by the longest mount point that holds it."""
    real = directory.resolve()
    # Of those at one point the last mounted covers the others.
    mounts = [part for part in reversed(psutil.disk_partitions(all=True)) if real.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else "unknown file system"


def disk(directory: Path) -> str:
    """The disk of `directory`, in words, as far as the system reports it."""
    known = disk_facts(directory)
    words = [file_system(directory)]
    if known:
        words[0] += f" on {known['device']}"
        words += [{"0": "not rotational", "1": "rotational"}.get(known.get("rotational", ""), "")]
        words += [f"write cache: {known['write_cache']}" if known.get("write_cache") else ""]
        words += [f"logical blocks of {known['logical_block_size']} bytes" if "logical_block_size" in known else ""]
    return ", ".join(filter(None, words))


def disk_facts(directory: Path) -> dict[str, str]:
    """Linux's description of the block device under `directory`; empty if unknown."""
    number = os.stat(directory).st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not device.exists():
        return {}
    device = device.resolve()
    queue = next((each for each in (device / "queue", device.parent / "queue") if each.is_dir()), None)
    found = {"device": device.name}
    for name in ("rotational", "write_cache", "logical_block_size") if queue else ():
        try:
            found[name] = (queue / name).read_text("ascii").strip()  # type: ignore[operator]
        except OSError:
            continue
    return found
