"""`python -m dbbench.runs.observer DIR PY-SPY PERF [SERVER...]`: samples what its parent and that one's servers use.

It has them profiled too, by programs that may be missing. It says on standard output when it looks, and goes on until
standard input ends, with facts of the step before that. A killed worker ends it, too; what was seen by then is kept.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from dbbench.host import atomic_json, plain_file
from dbbench.host.processes import ended
from dbbench.host.usage import read, waits, written
from dbbench.results.trial_files import PROFILE, RATE, WATCHED, Sample, Watched

_EVERY_SECONDS = 0.5
#: Seconds that a profiler has to begin, and to end and write.
_BEGINS, _ENDS = 30, 60
_PY_SPY_BEGAN = "Sampling process"
#: perf says nothing: it has begun if it runs on for so long.
_PERF_BEGAN = 0.5
_YAMA, _PARANOID = Path("/proc/sys/kernel/yama/ptrace_scope"), Path("/proc/sys/kernel/perf_event_paranoid")
#: A frame of `perf script`: address, function, offset, file.
_FRAME = re.compile(r"\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")


class Profiler:
    """A program that looks at stacks until it is interrupted. `fault`: why it doesn't, in words."""

    def __init__(self, command: list[str], out: Path, began: str = "") -> None:
        self.out, self.began, self.fault = out, began, ""
        self.said = out.with_suffix(".log")
        with open(self.said, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def begin(self) -> None:
        """Wait until it looks, or has ended."""
        until = time.monotonic() + (_BEGINS if self.began else _PERF_BEGAN)
        while time.monotonic() < until and not ended(self.process, 0.05):
            if self.began and self.began in self.words:
                return
        if self.process.returncode is not None:
            self.fault = (self.words.strip().splitlines() or [f"status {self.process.returncode}"])[-1].strip()

    def end(self) -> bool:
        """Have it write what it found; whether it did."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        if not ended(self.process, _ENDS):
            self.process.kill()
            self.process.wait()
        self.said.unlink()
        return self.out.exists()

    @property
    def words(self) -> str:
        """All that it has said."""
        return self.said.read_text("utf-8", "replace")


class Observer:
    """Looks at one process, all that it starts, and its servers."""

    def __init__(self, directory: Path, py_spy: str, perf: str, servers: list[int]) -> None:
        self.directory, self.servers = directory, servers
        self.parent = psutil.Process(os.getppid())
        self.notes: list[str] = []
        self.py_spy, self.perf = self._profilers(py_spy, perf)
        self.names: dict[int, str] = {}
        self.samples: list[Sample] = []
        self.started = time.monotonic()
        self._sample()  # before the step begins: it may end the process at once

    def _profilers(self, py_spy: str, perf: str) -> tuple[Profiler | None, Profiler | None]:
        rate = str(RATE)
        spy = on_servers = None
        if py_spy:
            out = self.directory / "py-spy.txt"
            words = ["record", "--pid", str(self.parent.pid), "--subprocesses", "--native", "--function"]
            words += ["--format", "raw"]
            spy = Profiler([py_spy, *words, "--rate", rate, "--output", str(out)], out, _PY_SPY_BEGAN)
        if perf and self.servers:
            out = self.directory / "perf.data"
            words = ["record", "--quiet", "-F", rate, "-g", "-p", ",".join(map(str, self.servers)), "-o", str(out)]
            on_servers = Profiler([perf, *words], out)
        for name, profiler in (("py-spy", spy), ("perf", on_servers)):
            if profiler:
                profiler.begin()
                if profiler.fault:
                    self.notes.append(f"{name} could not look: {profiler.fault}; {permission(name)}")
        return spy, on_servers

    def watch(self) -> None:
        """Sample twice a second until standard input ends.

        Or the parent does, which stays a zombie as long as py-spy traces it, and whose end of the pipe another may
        hold.
        """
        received = b""
        while not self._alone():
            if not select.select([sys.stdin], [], [], _EVERY_SECONDS)[0]:
                self._sample()
            elif more := os.read(sys.stdin.fileno(), 4096):
                received += more
            else:
                break
        self._sample()
        if self.py_spy and list(self.names.values()).count(self.names.get(self.parent.pid, "")) > 1 and _only_parents():
            self.notes.append(
                "py-spy could look at no client process; as root, sysctl kernel.yama.ptrace_scope=0 lets it"
            )
        seconds = time.monotonic() - self.started
        found = Watched(
            seconds=seconds,
            names=self.names,
            samples=tuple(self.samples),
            notes=tuple(self.notes),
            **json.loads(received or b"{}"),
        )
        atomic_json.write(self.directory / WATCHED, found.model_dump())
        stacks = Counter[str]()
        if self.py_spy and self.py_spy.end():
            for line in filter(None, self.py_spy.out.read_bytes().decode("utf-8", "replace").split("\n")):
                stack, _, count = line.rpartition(" ")
                if count.isdecimal():  # a line break in a function's name parts its line
                    stacks[stack] += int(count)
            self.py_spy.out.unlink()
        if self.perf and self.perf.end():
            stacks.update(_folded(self.perf))
        text = "".join(f"{stack} {count}\n" for stack, count in stacks.items())
        plain_file.write(self.directory / PROFILE, text.encode())

    def _alone(self) -> bool:
        try:
            return bool(self.parent.status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True

    def _sample(self) -> None:
        at = time.monotonic() - self.started
        for process in self._processes():
            with contextlib.suppress(psutil.Error, OSError):  # it has ended
                self.samples.append(_sample(at, process))
                self.names[process.pid] = process.name()

    def _processes(self) -> Iterable[psutil.Process]:
        """What is looked at now, each once: none of what looks."""
        ours = {os.getpid(), *(each.process.pid for each in (self.py_spy, self.perf) if each)}
        found: dict[int, psutil.Process] = {}
        for pid in (self.parent.pid, *self.servers):
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                found |= {each.pid: each for each in (process, *process.children(recursive=True))}
        return [process for pid, process in found.items() if pid not in ours]


def _sample(at: float, process: psutil.Process) -> Sample:
    with process.oneshot():
        return Sample(
            at=at,
            process=process.pid,
            cpu=sum(process.cpu_times()[:2]),
            memory=process.memory_info().rss,
            read=read([process]),
            written=written(process),
            faults=_faults(process.pid),
            switches=waits(process.pid),
        )


def _faults(pid: int) -> int | None:
    """Page faults of a process, those that read nothing too (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return None
    return int(fields[7]) + int(fields[9])


def _only_parents() -> bool:
    """Whether this user may look only at processes that allow it, as the worker does and its clients don't."""
    with contextlib.suppress(OSError, ValueError):
        return os.geteuid() != 0 and int(_YAMA.read_text("ascii")) > 0
    return False


def permission(program: str) -> str:
    """The setting that would let a profiler look, as far as this machine tells it."""
    setting, file, least = (
        ("kernel.perf_event_paranoid", _PARANOID, 2) if program == "perf" else ("kernel.yama.ptrace_scope", _YAMA, 1)
    )
    with contextlib.suppress(OSError, ValueError):
        if (now := int(file.read_text("ascii"))) > least:
            return f"as root, sysctl {setting}={least} lets it (it is {now})"
    capability = "PERFMON" if program == "perf" else "SYS_PTRACE"
    return f"in a container, starting it with --cap-add {capability} lets it"


def _folded(perf: Profiler) -> Iterator[str]:
    """The stacks that perf saw, outermost frame first, each under its program's name."""
    command = [str(perf.process.args[0]), "script", "-i", str(perf.out), "-F", "comm,ip,sym,symoff,dso"]  # type: ignore[index]  # a list
    script = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    perf.out.unlink()
    program, frames = "", list[str]()
    for line in [*script.stdout.decode("utf-8", "replace").splitlines(), ""]:
        if found := _FRAME.match(line):
            function, file = found[1], os.path.basename(found[2])
            frames.append(f"{function} ({file})" if function != "[unknown]" else f"({file})")
        elif line.strip():
            program = line.split()[0]
        elif program:
            yield ";".join([f"[{program}]", *reversed(frames)])
            program, frames = "", []


def main() -> None:
    """Observe the process that has started this one, when it says that it may be looked at."""
    # Whoever ends all of a trial ends the worker too, and with it standard input: what was seen is to be written.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    directory, py_spy, perf, *servers = sys.argv[1:]
    if not os.read(sys.stdin.fileno(), 1):  # it has ended already
        return
    observer = Observer(Path(directory), py_spy, perf, [int(pid) for pid in servers])
    print("looking", flush=True)
    observer.watch()


if __name__ == "__main__":
    main()
