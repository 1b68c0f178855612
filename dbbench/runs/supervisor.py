"""`python -m dbbench.runs.supervisor RUN`: keeps workers within their limits and clears up after them.

A process of its own between dbbench and the worker. It runs no driver's code, so it always answers signals; it is made
the parent of all the worker's orphans, so none can get away; and when dbbench itself is killed, even with SIGKILL, it
notices that its parent is another and ends the trial.

Each line of standard input is a trial: JSON of its directory, the process id of dbbench, and the environment. It leaves
`result.json` in the directory when the trial came to an end by itself or by a limit, and when it was interrupted only
says on standard error what it could not remove. The trial's work directory is gone in every case.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from dbbench.engine.urls import VARIABLE, secrets
from dbbench.host import interference
from dbbench.host.control_group import Group
from dbbench.host.processes import (
    INTERRUPTED,
    adopt_orphans,
    descendants,
    ended,
    environment,
    first_on_path,
    forbid_core_dumps,
    kill_all,
    last_line,
    python,
    signal_name,
)
from dbbench.results.outcome import Outcome, disk_is_full
from dbbench.results.trial import StepResult, TrialRecord, TrialResult, fault
from dbbench.runs import strace, traced
from dbbench.runs.child_output import Output
from dbbench.runs.copies import Copies
from dbbench.runs.order import TrialOrder
from dbbench.runs.record import RunningStep, WorkerRecord
from dbbench.runs.worker import main as worker_main

#: What standard output gets when a trial is over. Each second it gets a dot.
FINISHED = b"\n"
_PRINTED = ("stdout.txt", "stderr.txt")
_TABLES_LEFT = "its tables may still be at the URL: drop them before the next run"
_POLL_SECONDS = 0.1
_CHILDREN_SECONDS = 1.0
_DEAD_SECONDS = 30
_GRACE_SECONDS = 2  # for servers, to remove what a kill would leave
#: Bytes of the disk that a trial leaves free; where little was free, a part of that.
_LEFT_FREE, _LEFT_PART = 2**30, 16
_REMOVE_SECONDS = 15  # less than what dbbench gives a supervisor to end


class Supervisor:
    """One worker and everything it may start."""

    def __init__(self, directory: Path, parent: int = 0, trace: Path | None = None) -> None:
        self.directory = directory
        self.order = TrialOrder.read(directory)
        self.process = self.order.process
        self.parent = parent or os.getppid()
        #: The file that gets the worker's calls, if they are traced.
        self.trace = trace
        self.started, self.began = time.time(), time.monotonic()  # the first to show, the other to reckon with
        self.stop = ""
        self.seen: dict[int, psutil.Process] = {}
        self.next_look = 0.0
        self.group = Group(Path(self.process.group)) if self.process.group else None
        self.left_free = min(_LEFT_FREE, shutil.disk_usage(directory).free // _LEFT_PART)

    def run(self) -> int:
        """Run the worker to its end. The exit status: 0, or 130 if the trial was interrupted."""
        _handle_signals(self._interrupt)
        work = Path(self.process.work)
        self.output, self.error = (Output(self.directory / name) for name in _PRINTED)
        self.copies = Copies(work / "data", self._check_copies, self.error.writer)
        self.output.take()
        self.error.take()
        before = interference.reading()
        try:
            worker = self._start(work)
            try:
                self.copies.serve(worker.pid)
                if self.group:
                    self.group.add(worker.pid)  # it has hardly begun
                ending = self._watch(worker, time.monotonic() + self.process.seconds)
                if self.group and self.group.kills():
                    ending = "memory limit"
            finally:
                remarks = self._kill_all(worker)
                if os.environ.get(VARIABLE):
                    remarks += self._remove_tables()
        finally:
            shutil.rmtree(work, ignore_errors=True)  # a full disk has room for the rest then
            hidden = secrets(os.environ.get(VARIABLE, ""))  # a driver may print the URL that it was given
            self.output.finish(hidden)
            self.error.finish(hidden)
            if self.group:
                self.group.remove()  # dbbench does so, too, unless it was killed
            self.directory.chmod(0o777 & ~_umask())
        if "interrupted" in (ending, self.stop):
            with contextlib.suppress(OSError):  # dbbench was killed
                print(*remarks, sep="\n", file=sys.stderr)
            return INTERRUPTED
        status = -signal.SIGKILL if worker.returncode is None else worker.returncode
        disturbed = interference.between(before, interference.reading()) | {"loadavg": interference.loadavg()}
        result = self._result(ending, status, remarks, disturbed)
        result.write(self.directory)
        return self._count_syncs(result)

    def _count_syncs(self, result: TrialResult) -> int:
        """Have the steps done once more under strace if it promises syncs; the exit status."""
        again = Path(self.process.work)
        order = traced.order_of(self.order, result, again)
        if order is None:
            return 0
        reason = strace.unusable()
        traced.not_counted(result, reason or "interrupted").write(self.directory)  # until it has ended
        if reason:
            return 0
        again.mkdir(mode=0o700)
        try:
            order.write(again)
            supervisor = Supervisor(again, self.parent, again / "strace.txt")
            if not (status := supervisor.run()):
                traced.judged(result, again, again / "strace.txt").write(self.directory)
            return status
        finally:
            shutil.rmtree(again, ignore_errors=True)

    def give_up(self, url: str) -> None:
        """Leave the result of a trial whose own supervisor had to be killed: what the worker recorded.

        What was printed is removed where a secret of the URL may be in it.
        """
        shutil.rmtree(self.process.work, ignore_errors=True)
        for name in _PRINTED if secrets(url) else ():
            (self.directory / name).unlink(missing_ok=True)
        remarks = [_TABLES_LEFT] if self._has_made_tables() else []
        self._result("silent", -signal.SIGKILL, remarks, {}).write(self.directory)
        self.directory.chmod(0o777 & ~_umask())

    def _interrupt(self, number: int, frame: object) -> None:
        self.stop = "silent" if number == signal.SIGUSR1 else "interrupted"

    def _start(self, work: Path) -> subprocess.Popen[bytes]:
        work.mkdir(mode=0o700, parents=True)
        (work / "tmp").mkdir(mode=0o700)
        command = python("dbbench.runs.worker", str(self.directory), program=self.process.python)
        return subprocess.Popen(
            strace.command(self.trace, command) if self.trace else command,
            stdin=subprocess.DEVNULL,
            stdout=self.output.writer,
            stderr=self.error.writer,
            env=environment(TMPDIR=str(work / "tmp"), **self._packages(), **self.process.env, **self.copies.variables),
            cwd=work / "tmp",  # drivers look for files of theirs in the current folder
            start_new_session=True,
            pass_fds=self.copies.theirs,
        )

    def _check_copies(self) -> None:
        """Check them in this process, which has made the imports, or in the Python and environment of the trial."""
        temporary = os.path.join(self.process.work, "tmp")
        os.chdir(temporary)
        command = python("dbbench.runs.worker", str(self.directory), "check-copies", program=self.process.python)
        changed = {**self._packages(), **self.process.env}
        if changed or self.process.python:
            os.execve(command[0], command, environment(TMPDIR=temporary, **changed))  # noqa: S606 - our own
        _handle_signals(signal.SIG_DFL)
        os.environ["TMPDIR"] = temporary
        sys.argv = command[-3:]
        worker_main()

    def _packages(self) -> dict[str, str]:
        """Path of another release of the engine's package, if the trial is of one."""
        return first_on_path(self.process.packages) if self.process.packages else {}

    def _watch(self, worker: subprocess.Popen[bytes], deadline: float) -> str:
        """Wait for the worker's end, a limit, or an interruption, and return which."""
        while True:
            if ended(worker, _POLL_SECONDS):
                return "ended"
            if self.stop or os.getppid() != self.parent:
                return self.stop or "interrupted"
            if time.monotonic() > deadline:
                return "timeout"
            if self._memory(worker.pid) > self.process.memory:
                return "memory"
            if shutil.disk_usage(self.directory).free < self.left_free:
                return "disk"
            if self.group and self.group.kills():
                return "memory limit"

    def _memory(self, pid: int) -> int:
        """Resident bytes of the worker and its children, pages that they share counted once."""
        own, shared = 0, 0
        if time.monotonic() > self.next_look:  # finding children takes a look at every process there is
            self.next_look = time.monotonic() + _CHILDREN_SECONDS
            with contextlib.suppress(psutil.NoSuchProcess):
                worker = psutil.Process(pid)
                self.seen |= {process.pid: process for process in (worker, *worker.children(recursive=True))}
        for process in self.seen.values():
            with contextlib.suppress(psutil.Error):
                memory = process.memory_info()
                own += memory.rss - getattr(memory, "shared", 0)
                shared = max(shared, getattr(memory, "shared", 0))
        return own + shared

    def _kill_all(self, worker: subprocess.Popen[bytes]) -> list[str]:
        """Kill all remaining processes of the trial, and return a remark on those that the worker left."""
        by_itself = worker.poll() is not None
        self.copies.end()
        names = kill_all(worker, self.seen, grace=_GRACE_SECONDS)
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(_DEAD_SECONDS)  # one that held much memory takes its time to die
        if not (by_itself and names):
            return []
        return [f"left {len(names)} process(es) behind, now killed: {', '.join(names)}"]

    def _result(self, ending: str, status: int, remarks: list[str], disturbed: Mapping[str, object]) -> TrialResult:
        """The worker's own record, with an outcome for every step that it did not come to."""
        record = WorkerRecord()
        outcome, detail = self._ending(ending, status)
        try:
            record = WorkerRecord.read(self.directory)
        except OSError:
            pass  # it came to nothing
        except ValueError as exc:  # of an engine's own texts, or a plugin wrote it
            outcome, detail = Outcome.FAILED, f"its record can't be read: {fault(exc)}"
        steps = {step.name: step for step in record.steps}
        done = len(steps)
        if ending == "memory limit" and record.steps:  # it may have taken a server from under a step
            last = record.steps[-1]
            if last.outcome in (Outcome.FAILED, Outcome.CRASHED):
                steps[last.name] = last.because(outcome, f"{detail}; {last.detail}")
        for name in self.order.steps:
            if name not in steps:
                reached = record.running in (None, name)
                text = detail if reached else f"not reached: {detail} in {record.running}"
                steps[name] = StepResult(name=name, outcome=outcome, detail=text)
        for name, step in steps.items():
            if step.outcome in (Outcome.FAILED, Outcome.CRASHED) and disk_is_full(step.detail):
                steps[name] = step.because(Outcome.DISK_FULL, step.detail)
        if done == len(self.order.steps) and (status or ending != "ended" or not record.ended):
            remarks.append(f"after its last step: {detail}")
        return self.order.trial.result(
            steps.values(),
            **record.model_dump(include={*TrialRecord.model_fields} - {"steps"}),
            remarks=remarks,
            seconds=time.monotonic() - self.began,
            started=self.started,
            exit_status=status,
            noise=disturbed,
        )

    def _remove_tables(self) -> list[str]:
        """Have another worker remove what this one made in the user's database; return a remark if it may be there."""
        if not self._has_made_tables():
            return []
        work = Path(self.process.work) / "data"
        try:
            work.mkdir(mode=0o700, parents=True, exist_ok=True)
            subprocess.run(
                python("dbbench.runs.worker", str(self.directory), "remove", program=self.process.python),
                stdin=subprocess.DEVNULL,
                stdout=self.error.writer,
                stderr=self.error.writer,
                env=environment(**self._packages()),
                cwd=work,
                timeout=_REMOVE_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return [_TABLES_LEFT]
        return []

    def _has_made_tables(self) -> bool:
        """Whether the worker has made tables at a URL and not removed them."""
        return RunningStep.so_far(self.directory).made

    def _ending(self, ending: str, status: int) -> tuple[Outcome, str]:
        if ending == "timeout":
            return Outcome.TIMEOUT, f"stopped after {self.process.seconds:g} s (--trial-timeout)"
        if ending == "memory":
            limit = self.process.memory / 2**20
            return Outcome.OUT_OF_MEMORY, f"stopped above {limit:,.0f} MiB (--trial-memory)"
        if ending == "disk":
            return Outcome.DISK_FULL, f"stopped with less than {self.left_free / 1e6:,.0f} MB free where the run is"
        if ending == "memory limit":
            limit = (self.process.memory_limit or 0) / 2**20
            return Outcome.OUT_OF_MEMORY, f"killed by the system at {limit:,.0f} MiB (--memory-limit)"
        if ending == "silent":
            return Outcome.FAILED, "its supervisor stopped responding, as after SIGSTOP, and the trial was ended"
        said = last_line(self.directory / "stderr.txt")
        if status < 0:
            return Outcome.CRASHED, f"killed by {signal_name(-status)}{said}"
        return Outcome.CRASHED, f"the process ended itself with status {status}{said}"


def _beat() -> None:
    """Tell dbbench each second that this process runs."""
    with contextlib.suppress(OSError):  # dbbench has ended
        while os.write(sys.stdout.fileno(), b"."):
            time.sleep(1)


def _handle_signals(handler: Callable[[int, object], None] | signal.Handlers) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, handler)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def main() -> None:
    """Supervise the trials that standard input names."""
    forbid_core_dumps()
    threading.Thread(target=_beat, daemon=True).start()
    gc.freeze()  # so that forked processes share what was imported
    adopt_orphans()
    status = 0
    for line in sys.stdin:
        directory, parent, variables = json.loads(line)
        os.environ.clear()
        os.environ |= variables
        status = Supervisor(Path(directory), parent).run()
        _handle_signals(signal.SIG_DFL)  # between trials there is nothing to clear up
        if status or descendants():  # what could not be killed is no business of the next trial
            break
        os.write(sys.stdout.fileno(), FINISHED)
    os._exit(status)  # all is written; an interpreter would take its time to take itself apart


if __name__ == "__main__":
    main()
