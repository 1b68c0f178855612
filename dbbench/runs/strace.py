"""Counting the sync calls of commits, or of a trial's steps, in what strace writes.

These calls count, as they put data on the disk before they return: fsync, fdatasync, sync, syncfs, msync with MS_SYNC,
and writes with O_DSYNC, O_SYNC, RWF_DSYNC or RWF_SYNC. sync_file_range doesn't: it promises nothing of the kind. A call
counts on completion, if it succeeded and concerns a file of the database; sync takes no file and always counts.
"""

import contextlib
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dbbench.results.crash_checks import Syncs

_SYNCS = ("fsync", "fdatasync", "sync", "syncfs", "msync")
_WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
_OPENS = ("open", "openat", "openat2", "creat")
_HIDDEN = ("io_uring_setup", "io_submit")
_TRACED = (*_SYNCS, *_WRITES, *_OPENS, *_HIDDEN, "mmap")

_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>.+)")
_DESCRIPTOR = re.compile(r"(\d+)<([^>]*)>")
_MARK = re.compile(r'"[^"]*/([^/"]+)\.(begun|done)"')
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_UNFINISHED = " <unfinished ...>"


@dataclass(frozen=True)
class Call:
    """A system call that is completed; arguments and result as strace writes them."""

    name: str
    arguments: str
    result: str

    @property
    def failed(self) -> bool:
        """Whether it returned an error."""
        return self.result.startswith(("-1", "?"))


def unusable() -> str:
    """The reason why strace can't be used here; empty if it can."""
    if shutil.which("strace") is None:
        return "strace is missing (apt install strace)"
    tried = subprocess.run(command(Path(os.devnull), ["true"]), capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return ""
    words = (tried.stderr.strip().splitlines() or [f"status {tried.returncode}"])[-1]
    return f"strace can't trace here: {words}"


def command(out: Path, traced: list[str]) -> list[str]:
    """The command that runs another one and writes its calls, and those of all its children, to `out`."""
    # A question mark: strace ignores a call that this kind of processor doesn't have.
    names = ",".join(f"?{name}" for name in _TRACED)
    return ["strace", "-f", "--seccomp-bpf", "-y", "-s", "0", "-o", str(out), "-e", f"trace={names}", "--", *traced]


def count(lines: Iterable[str], folder: str, marker: str) -> Syncs:
    """The sync calls on files whose path contains `folder`, per commit.

    A commit is what lies between two writes to the pipe `marker`, by the name that strace gives it. A server may
    have other pipes, under the same descriptor.
    """
    counting = _Counting(folder, marker)
    for call in calls(lines):
        if not call.failed:
            counting.take(call)
    return Syncs(counting.commits, counting.unsynced, dict(counting.total), hidden=tuple(sorted(counting.hidden)))


def mark(directory: Path, step: str, place: str) -> None:
    """Show that a step is `begun` or `done`: in the calls of this process, where a file is opened that isn't there."""
    with contextlib.suppress(OSError):
        os.close(os.open(directory / f"{step}.{place}", os.O_RDONLY))


def in_steps(lines: Iterable[str], folder: str) -> tuple[dict[str, int], list[str]]:
    """The sync calls within each step that came to its end, likewise; and the calls that may hide some."""
    counting = _Counting(folder, "")
    found: dict[str, int] = {}
    for call in calls(lines):
        if not call.failed:
            counting.take(call)
        elif call.name in _OPENS and (marked := _MARK.search(call.arguments)):
            if marked[2] == "done":
                found[marked[1]] = counting.pending.total()
            counting.pending.clear()
    return found, sorted(counting.hidden)


def calls(lines: Iterable[str]) -> Iterator[Call]:
    """The completed calls, in the order of their ends; one that others interrupted is put together again."""
    begun: dict[str, str] = {}
    for line in lines:
        process, _, text = line.rstrip("\n").partition(" ")
        text = text.lstrip()
        if text.endswith(_UNFINISHED):
            begun[process] = text.removesuffix(_UNFINISHED)
            continue
        if resumed := _RESUMED.match(text):
            text = begun.pop(process, "") + resumed[1]
        if found := _CALL.match(text):
            yield Call(found["name"], found["arguments"], found["result"])


class _Counting:
    """What is known of the files, and the sums so far."""

    def __init__(self, folder: str, marker: str) -> None:
        self.folder = folder
        self.marker = marker
        self.begun = False
        self.commits = self.unsynced = 0
        self.total: Counter[str] = Counter()
        self.pending: Counter[str] = Counter()
        self.hidden: set[str] = set()
        #: Descriptor and path of files whose every write is synced -> the flag that says so.
        self.written_through: dict[tuple[str, str], str] = {}
        #: Start and end of files in memory.
        self.mapped: list[tuple[int, int]] = []

    def take(self, call: Call) -> None:
        """Take note of one call."""
        number, path = _descriptor(call.arguments)
        if call.name in _WRITES and path == self.marker:
            self._end_commit()
        elif call.name in _HIDDEN:
            self.hidden.add(call.name)
        elif call.name in _OPENS:
            self._opened(call)
        elif call.name == "mmap":
            self._mapped(call)
        elif call.name in _WRITES:
            if self.folder in path and (flag := self.written_through.get((number, path)) or _flag(call.arguments)):
                self.pending[f"{flag} write"] += 1
        elif call.name == "msync":
            self.pending[call.name] += self._synced_map(call)
        elif call.name in _SYNCS and (call.name == "sync" or self.folder in path):
            self.pending[call.name] += 1

    def _end_commit(self) -> None:
        if self.begun:
            self.commits += 1
            self.unsynced += not self.pending.total()
            self.total += self.pending  # without those that are 0
        self.begun = True
        self.pending.clear()

    def _opened(self, call: Call) -> None:
        file = _descriptor(call.result)
        self.written_through.pop(file, None)
        if flag := _flag(call.arguments):
            self.written_through[file] = flag

    def _mapped(self, call: Call) -> None:
        if self.folder in call.arguments and "MAP_SHARED" in call.arguments:
            start = int(call.result.split()[0], 16)
            self.mapped.append((start, start + int(call.arguments.split(", ")[1])))

    def _synced_map(self, call: Call) -> bool:
        start, length, flags = call.arguments.split(", ")
        first, end = int(start, 16), int(start, 16) + int(length)
        return "MS_SYNC" in flags and any(first < high and end > low for low, high in self.mapped)


def _descriptor(text: str) -> tuple[str, str]:
    """Number and path of the descriptor that a text starts with."""
    found = _DESCRIPTOR.match(text)
    return (found[1], found[2]) if found else ("", "")


def _flag(arguments: str) -> str:
    """What makes an open file's writes, or one write, wait for the disk."""
    found = re.search(r"\b(O_DSYNC|O_SYNC|RWF_DSYNC|RWF_SYNC)\b", arguments)
    return found[1] if found else ""
