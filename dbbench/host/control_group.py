"""A control group (Linux) whose processes may use so much memory together, and no swap. Pages of files they read or
write count, too, and are given back before the limit is reached; then the kernel kills.

Version 2 is used where the system has it; of version 1 the memory controller.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from dbbench.errors import UserError

_PREFIX = "dbbench-"
_REMOVE_SECONDS = 5.0
_POLL_SECONDS = 0.02
#: Version -> the file of a group's limit.
_LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
_CGROUP, _MOUNTS = Path("/proc/self/cgroup"), Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class Group:
    """A control group that exists, known by its folder."""

    folder: Path

    def add(self, pid: int) -> None:
        """Have a process, and all that it starts from now on, in the group."""
        (self.folder / "cgroup.procs").write_text(str(pid))

    def kills(self) -> int:
        """How many of its processes the kernel has killed for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = dict(line.split() for line in (self.folder / name).read_text().splitlines())
                return int(lines.get("oom_kill", 0))
        return 0

    def remove(self) -> None:
        """Kill what is still in it, and remove it; or leave it to a later dbbench after 5 s. Nothing if it is gone."""
        until = time.monotonic() + _REMOVE_SECONDS
        while True:
            try:
                for pid in (self.folder / "cgroup.procs").read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                self.folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:  # killed processes need a moment to be gone
                if time.monotonic() > until:
                    return
                time.sleep(_POLL_SECONDS)
            else:
                return


def make(limit: int) -> Group:
    """A new group, empty, of processes that may use `limit` bytes together.

    Raises UserError, with the reason, where this process can't make one.
    """
    why = []
    for parent, version in _parents():
        folder = parent / f"{_PREFIX}{os.getpid()}-{time.monotonic_ns():x}"
        try:
            _sweep(parent)
            folder.mkdir()
        except OSError as exc:
            why.append(f"{folder.parent}: {exc.strerror or exc}")
            continue
        group = Group(folder)
        try:
            _limit(folder, version, limit)
            _try_out(group)
        except OSError as exc:
            group.remove()
            why.append(f"{parent}: {exc.strerror or exc}")
            continue
        except BaseException:
            group.remove()
            raise
        return group
    reason = "; ".join(why) or "this system has none"
    raise UserError(
        f"--memory-limit needs a control group for memory, and this process can't make one ({reason}); "
        "run dbbench as root or by `systemd-run --user --scope -p Delegate=yes dbbench ...`, or omit --memory-limit"
    )


@contextlib.contextmanager
def limited(limit: int | None) -> Iterator[Group | None]:
    """A group of that limit, removed at the end; none without a limit."""
    if limit is None:
        yield None
        return
    group = make(limit)
    try:
        yield group
    finally:
        group.remove()


def memory() -> int:
    """Bytes of memory that this process may have: all of the machine's, or what a group that it is in is limited to."""
    limits: list[int] = [psutil.virtual_memory().total]
    for folder, version in _own():
        with contextlib.suppress(OSError, ValueError):  # there is none at the root, and "max" is none
            limits.append(int((folder / _LIMIT[version]).read_text()))
    return min(limits)


def _parents() -> Iterator[tuple[Path, int]]:
    """Folders that a group could be made in, the nearest first, with the version that each is of.

    Of version 2 those that hand the memory controller down. As none but the root may do so and hold processes itself, a
    process's own group seldom does.
    """
    for folder, version in _own():
        with contextlib.suppress(OSError):
            if version == 1 or "memory" in (folder / "cgroup.subtree_control").read_text().split():
                yield folder, version


def _own() -> Iterator[tuple[Path, int]]:
    """Folders of the groups that this process is in, the nearest first, with the version that each is of.

    Of version 1 only the nearest.
    """
    try:
        own = [line.split(":", 2) for line in _CGROUP.read_text().splitlines()]
        mounts = [_mount(line) for line in _MOUNTS.read_text().splitlines()]
    except OSError:  # another system than Linux
        return
    for _, controllers, path in own:
        for root, point, kind, options in mounts:
            version = 2 if kind == "cgroup2" and not controllers else 1
            if version == 1 and not (kind == "cgroup" and "memory" in controllers.split(",") and "memory" in options):
                continue
            with contextlib.suppress(ValueError):
                here = point / Path(path).relative_to(root)
                around = [each for each in here.parents if version == 2 and each.is_relative_to(point)]
                yield from ((folder, version) for folder in (here, *around))


def _mount(line: str) -> tuple[str, Path, str, list[str]]:
    """Parse a line of mountinfo(5): what is mounted of the file system, where, its kind, its options."""
    first, _, second = line.partition(" - ")
    fields, more = first.split(), second.split()
    return fields[3], Path(fields[4]), more[0], more[-1].split(",")


def _limit(folder: Path, version: int, limit: int) -> None:
    if version == 2:
        (folder / _LIMIT[version]).write_text(str(limit))
        if (folder / "memory.swap.max").exists():  # not where the kernel has no swap
            (folder / "memory.swap.max").write_text("0")
        (folder / "memory.oom.group").write_text("1")
    else:
        (folder / _LIMIT[version]).write_text(str(limit))
        if (folder / "memory.memsw.limit_in_bytes").exists():  # memory and swap together
            (folder / "memory.memsw.limit_in_bytes").write_text(str(limit))


def _try_out(group: Group) -> None:
    """Put a process of ours into it, which needs more rights than making it. Raises OSError."""
    with subprocess.Popen([sys.executable, "-ISc", "input()"], stdin=subprocess.PIPE) as child:
        try:
            group.add(child.pid)
        finally:
            child.kill()


def _sweep(parent: Path) -> None:
    """Remove empty groups of dbbenches that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            with contextlib.suppress(OSError):  # a group with processes in it can't be removed
                folder.rmdir()
