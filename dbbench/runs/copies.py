"""Checks in a copy of the engine's folder that a step's work was in its files when the last call had returned.

The worker asks for the copy right after the last timed call of a step that writes, before it calls the plugin again.
Its supervisor stops the worker and all that it has started, copies the folder, and lets them go on. The copy has what
the operating system was given; whether that is on the disk it can't show.

Then a new process opens the copy with the same plugin and makes the step's own check. It gets the step's name and what
the steps so far must have left. Imports take most of the time, so one process, the checker, has made them and forks for
each copy. It is no part of the trial, so it also computes the answers that can't be known before.
"""

import multiprocessing
import os
import pickle
import select
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from dbbench.host import atomic_json
from dbbench.host.processes import descendants, end_with_parent

_FORK = multiprocessing.get_context("fork")
#: The descriptors that a worker asks by, and hears the answer on.
VARIABLE = "DBBENCH_COPIES"
#: Larger folders, and ones of more files, take too long to copy. A PostgreSQL of ten tables has some 1,000 files.
_MOST_BYTES, _MOST_FILES = 2**28, 4_000
#: Why these aren't copied.
LIMITS = TOO_LARGE, TOO_MANY = "the folder is too large", "the folder has too many files"
#: Of GNU's cp; others have no such options.
_OPTIONS = ("--reflink=auto", "--sparse=always")
#: Files of a server that runs; in a copy none does.
_OF_A_RUN = ("postmaster.pid", ".s.PGSQL.*.lock", "*.sock.lock", "*.lck")
#: What the worker asks for.
_COPY, _CHECK = b"copy\n", b"check\n"
#: What a copy is to hold, and what its check found, beside the engine's folder: in the work directory, which is
#: private.
_QUESTION, _ANSWER = "copy.pickle", "copy.json"


@dataclass(frozen=True)
class Verdict:
    """What a check of a copy found wrong, and why it could not check."""

    wrong: str = ""
    why: str = ""


class Copies:
    """The supervisor's end: a thread that copies and checks whenever the worker asks."""

    def __init__(self, data: Path, check: Callable[[], None], error: int) -> None:
        """Fork the checker, which calls `check` when it is first asked: later this process has other threads."""
        self._data = data
        theirs, asks = os.pipe()
        answers, says = os.pipe()
        self._checker = _FORK.Process(target=_wait_and_check, args=(check, (theirs, says, error)))
        self._checker.start()
        os.close(theirs)
        os.close(says)
        self._asks, self._verdicts = open(asks, "wb", buffering=0), open(answers, "rb")  # noqa: SIM115 - until `end`
        self._asked, worker_asks = os.pipe()
        worker_hears, self._answers = os.pipe()
        self.theirs = (worker_asks, worker_hears)
        self.variables = {VARIABLE: f"{worker_asks} {worker_hears}"}

    def serve(self, worker: int) -> None:
        """Answer the worker with this process id until it ends."""
        for descriptor in self.theirs:
            os.close(descriptor)
        threading.Thread(target=self._serve, args=(worker,), daemon=True).start()

    def end(self) -> None:
        """End the checker, whatever it does."""
        self._checker.kill()
        self._checker.join()
        self._asks.close()
        self._verdicts.close()

    def _serve(self, worker: int) -> None:
        with open(self._asked, "rb") as asked, open(self._answers, "wb", buffering=0) as answers:
            for line in asked:
                try:
                    said = self._copy(worker) if line == _COPY else self._checked()
                except (
                    OSError,
                    ValueError,
                ) as exc:  # a program is missing, the trial is being ended, or it said something else
                    said = str(exc)
                with suppress(OSError):  # the worker is gone
                    answers.write(f"{' '.join(said.split())}\n".encode())

    def _copy(self, worker: int) -> str:
        with _standing_still(worker):
            return _copied(self._data, copy_of(self._data))

    def _checked(self) -> str:
        self._asks.write(_CHECK)
        status = int(self._verdicts.readline() or -1)
        return f"the process that opened it ended with {status}" if status else ""


class AskedCopies:
    """The worker's end. Without a supervisor nothing is copied."""

    def __init__(self, variable: str) -> None:
        self._pipes = [int(word) for word in variable.split()]
        for descriptor in self._pipes:
            os.set_inheritable(descriptor, False)
        self._answers = open(self._pipes[1], encoding="utf-8") if self._pipes else None  # noqa: SIM115 - as long as the worker

    @property
    def offered(self) -> bool:
        """Whether a supervisor makes copies."""
        return self._answers is not None

    def take(self) -> str:
        """Have the folder copied; why not, or nothing."""
        return self._ask(_COPY)

    def check(self, data: Path, what: object) -> Verdict:
        """Have a new process do what it is asked, in most cases of the copy of a folder, which is then removed."""
        data.with_name(_QUESTION).write_bytes(pickle.dumps(what))
        try:
            if why := self._ask(_CHECK):
                return Verdict(why=f"not checked: {why}")
            return Verdict(**atomic_json.read(data.with_name(_ANSWER)))
        finally:
            remove(data)
            for name in (_QUESTION, _ANSWER):
                data.with_name(name).unlink(missing_ok=True)

    def _ask(self, what: bytes) -> str:
        assert self._answers
        os.write(self._pipes[0], what)
        return (self._answers.readline() or "the supervisor gave no answer").strip()


def serve_checks(check: Callable[[], None]) -> None:
    """The checker: call `check` in a new process for each line of standard input, and print its exit status."""
    for _ in sys.stdin.buffer:
        child = os.fork()
        if not child:
            end_with_parent()
            os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plugin prints is no answer
            check()
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def copy_of(data: Path) -> Path:
    """The folder that a copy is in, with the name of the engine's own."""
    return data.with_name("copy") / data.name


def remove(data: Path) -> None:
    """Remove the copy of a folder, if there is one."""
    shutil.rmtree(copy_of(data).parent, ignore_errors=True)


def question(data: Path) -> Any:
    """What the process that checks a copy of this folder is asked."""
    return pickle.loads(data.with_name(_QUESTION).read_bytes())  # noqa: S301 - this trial's own worker wrote it


def answer(data: Path, verdict: Verdict) -> None:
    """Leave the verdict to the trial that asked."""
    atomic_json.write(data.with_name(_ANSWER), asdict(verdict))


def _wait_and_check(check: Callable[[], None], streams: Sequence[int]) -> None:
    """Call `check` in the forked process, whose standard streams are these, when there is a question."""
    end_with_parent()
    for ours, given in enumerate(streams):
        os.dup2(given, ours)
    os.closerange(len(streams), os.sysconf("SC_OPEN_MAX"))
    select.select([0], [], [])
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - multiprocessing has put another in its place
    check()


@contextmanager
def _standing_still(worker: int) -> Iterator[None]:
    """Stop a process, and then all others that this one has to do with."""
    os.kill(worker, signal.SIGSTOP)
    others: dict[int, psutil.Process] = {}
    try:
        while more := {pid: process for pid, process in descendants().items() if pid not in others}:
            others |= more  # a server may have started one meanwhile, which removes files
            for process in more.values():
                with suppress(psutil.Error):
                    process.suspend()
        yield
    finally:
        for process in others.values():
            with suppress(psutil.Error):
                process.resume()
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGCONT)


def _copied(data: Path, copy: Path) -> str:
    """Copy a folder, without what shows that a server runs; why not, or nothing."""
    found = {path: path.lstat() for path in data.rglob("*")}
    files = [status for status in found.values() if stat.S_ISREG(status.st_mode) and status.st_size]
    links = {path.relative_to(data): Path(os.path.realpath(path)) for path in found if path.is_symlink()}
    root = os.path.realpath(data)
    if any(not target.is_relative_to(root) for target in links.values()):
        return "a link leads out of the folder"
    if len(files) > _MOST_FILES:
        return TOO_MANY
    if sum(status.st_blocks for status in files) * 512 > _MOST_BYTES:
        return TOO_LARGE
    for options in (_OPTIONS, ()):
        shutil.rmtree(copy.parent, ignore_errors=True)
        copy.parent.mkdir(mode=0o700)
        command = ["cp", "-a", *options, str(data), str(copy)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if not done.returncode:
            break
    else:
        return f"cp: {done.stderr.decode(errors='replace').strip()[:200]}"
    for link, target in links.items():  # one with a whole path leads to what was copied
        (copy / link).unlink()
        (copy / link).symlink_to(copy / target.relative_to(root))
    for pattern in _OF_A_RUN:
        for path in copy.rglob(pattern):
            path.unlink()
    for path in copy.rglob("*"):
        if path.is_socket():
            path.unlink()
    return ""
