"""The process that supervises the trials of a run, as dbbench sees it. `supervisor` is what it does."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from dbbench.engine.urls import VARIABLE
from dbbench.errors import RunError
from dbbench.host.processes import INTERRUPTED, environment, python, stop, stop_with_its_own
from dbbench.message import cleaned
from dbbench.runs.record import RunningStep
from dbbench.runs.supervisor import FINISHED, Supervisor

_POLL_SECONDS = 0.1
#: How long a supervisor has to end; and where it may have tables to remove at a URL.
_GRACE_SECONDS, _GRACE_AT_URL_SECONDS = 20, 60
#: A supervisor that was silent for so long stands still; one that goes on so long after its trial's limit hangs.
_SILENT_SECONDS, _LATE_SECONDS = 60, 600


class Supervision:
    """A context manager. The process is started for the first trial, and anew when it has ended.

    Should dbbench be killed, it has the run's lock until it has cleared up.
    """

    def __init__(self, run: Path, lock: Sequence[int]) -> None:
        self._run, self._lock = run.resolve(), lock
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def _end_process(self) -> None:
        if self._process:
            stop(self._process, _GRACE_SECONDS)
            with self._process:  # closes its pipes
                self._process = None

    def supervise(self, directory: Path, url: str, seconds: float, report_step: Callable[[str, str], None]) -> None:
        """One trial from its start to its end, which is to come within `seconds`. Nobody else can read the URL.

        Nor can what the trial writes be read, until the supervisor has cleared it.
        """
        directory.chmod(0o700)
        supervisor = self._ask(directory, url)
        try:
            shown, reported, silent, read = "", 0, 0, (0, 0)
            latest = time.monotonic() + seconds + _LATE_SECONDS
            while not _is_last(said := _said(supervisor)):
                silent = 0 if said else silent + 1  # looks, not seconds: dbbench may have been stopped as well
                if silent * _POLL_SECONDS > _SILENT_SECONDS or time.monotonic() > latest:
                    _end(supervisor, directory, url)
                    break
                if (version := _version(directory / "steps.json")) == read:
                    continue  # reading it takes the processor from the step that is timed
                read = version
                at = RunningStep.so_far(directory)
                step, notes = at.running or "", at.notes
                if step != shown or len(notes) > reported:
                    for note in notes[reported:] or [""]:
                        report_step(step, note)
                    shown, reported = step, max(reported, len(notes))
        except BaseException:
            while supervisor.poll() is None:
                with contextlib.suppress(KeyboardInterrupt):  # a second one: tables at a URL take their time to remove
                    stop(supervisor, _GRACE_AT_URL_SECONDS if url else _GRACE_SECONDS)
            _show(directory, _last_words(supervisor))
            raise
        if (directory / "result.json").is_file():
            return
        words = _last_words(supervisor) if said == b"" else ""
        if supervisor.returncode == INTERRUPTED:
            _show(directory, words)
            raise KeyboardInterrupt
        reason = (words.splitlines() or [f"status {supervisor.returncode}"])[-1]
        raise RunError(
            f"the trial {directory.name} left no result: {reason}; the finished trials are kept, continue with --resume"
        )

    def _ask(self, directory: Path, url: str) -> subprocess.Popen[bytes]:
        """Have a trial begin, by a process that has made its imports if there is one."""
        if self._process is None or self._process.poll() is not None:
            self._end_process()
            self._process = subprocess.Popen(
                python("dbbench.runs.supervisor", str(self._run)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,  # its heartbeat
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=environment(),
                pass_fds=self._lock,
            )
            assert self._process.stdout
            os.set_blocking(self._process.stdout.fileno(), False)
        order = json.dumps([str(directory.resolve()), os.getpid(), environment(**{VARIABLE: url})])
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it has ended, which is seen
            self._process.stdin.write(f"{order}\n".encode())
            self._process.stdin.flush()
        return self._process


def _said(supervisor: subprocess.Popen[bytes]) -> bytes | None:
    """What it has said since the last look; none for nothing, and nothing more for good if it is empty."""
    assert supervisor.stdout
    select.select([supervisor.stdout], [], [], _POLL_SECONDS)
    return supervisor.stdout.read()


def _is_last(said: bytes | None) -> bool:
    return said is not None and (not said or FINISHED in said)


def _last_words(supervisor: subprocess.Popen[bytes]) -> str:
    """What a supervisor that has ended printed on standard error."""
    _, error = supervisor.communicate()
    return error.decode(errors="replace").strip()


def _show(directory: Path, said: str) -> None:
    """Show what a supervisor said of a trial that leaves no result to hold it."""
    if said:
        with contextlib.suppress(OSError):  # the terminal is gone
            print(f"{directory.name}: {cleaned(said)}", file=sys.stderr)


def _end(supervisor: subprocess.Popen[bytes], directory: Path, url: str) -> None:
    """End a trial whose supervisor stands still or hangs. If it can't be woken, it is killed with all it started."""
    supervisor.send_signal(signal.SIGUSR1)
    supervisor.send_signal(signal.SIGCONT)
    until = time.monotonic() + _GRACE_SECONDS
    while not _is_last(_said(supervisor)):
        if time.monotonic() > until:
            stop_with_its_own(supervisor, grace=1)
            break
    if not (directory / "result.json").is_file():
        Supervisor(directory).give_up(url)


def _version(path: Path) -> tuple[int, int]:
    """What differs whenever a file was written anew; zeros if there is none."""
    try:
        status = path.lstat()
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns
