"""Child processes: starting one, waiting for it without polling, ending it, and letting none get away."""

import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

#: The status that a child of ours exits with when it was interrupted.
INTERRUPTED = 130
_IPC_RMID = 0  # shmctl(2)
_MAPPED = re.compile(r" (/dev/shm/[^/\n]+)$", re.MULTILINE)
_OURS = re.compile(r"(.*/)?dbbench|dbbench\..*")  # the command, as a program or a module, or one of our modules
_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2), Linux
_SET_CHILD_SUBREAPER = 36
_ALL_CHILDREN = 0x40000000  # __WALL of waitid(2): also those that send no SIGCHLD
_POLL_SECONDS = 0.02
#: The environment variable that tells children, which have a current folder of their own, where dbbench was started.
FOLDER = "DBBENCH_FOLDER"


@dataclass(frozen=True)
class Packages:
    """A folder in which a child looks for packages first, and the Python that it runs in if it isn't ours."""

    folder: Path
    python: str = ""


def python(module: str, *arguments: str, program: str = "") -> list[str]:
    """The command of a child: one of our modules, in a Python that imports nothing from the current folder.

    `program` is another Python than ours.
    """
    return [program or sys.executable, "-P", "-m", module, *arguments]


def at_work() -> list[int]:
    """Ids of other processes that run dbbench in this environment: its commands, and children of whatever uses it."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        program, *words = process.info["cmdline"] or [""]
        named = words[words.index("-m") + 1 :] if "-m" in words[:2] else words
        mine = os.path.dirname(program) == os.path.dirname(sys.executable)
        if mine and process.pid != os.getpid() and named and _OURS.fullmatch(named[0]):
            found.append(process.pid)
    return found


def environment(**more: str) -> dict[str, str]:
    """The environment of a child: ours and `more`, in which its own Pythons don't import from the current folder.

    The folders of PYTHONPATH are the user's wish; an empty one, which would be the current folder, seldom is.
    """
    found = {**os.environ, "PYTHONSAFEPATH": "1", FOLDER: started_in(), **more}
    if named := found.get("PYTHONPATH"):
        found["PYTHONPATH"] = os.pathsep.join(os.path.abspath(each) for each in named.split(os.pathsep) if each)
    return found


def run_to_end(command: Sequence[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a program that asks nothing, and see what it prints. `folder` is its own, so that no settings count.

    Raises OSError if it can't be started, and subprocess.TimeoutExpired if it takes more than `seconds`.
    """
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )


def signal_name(number: int) -> str:
    """The name of a signal, or its number where it has none: most real-time ones."""
    return next((each.name for each in signal.Signals if each == number), f"signal {number}")


def last_line(printed: Path) -> str:
    """The last line of what a child printed, where a library reports why it aborts, after a colon; empty for none."""
    lines = printed.read_text("utf-8", errors="replace").strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""


def first_on_path(folder: object) -> dict[str, str]:
    """What `environment` takes for a child that looks for packages in `folder` before anywhere else."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))}


def started_in() -> str:
    """The folder that dbbench was started in: relative paths that the user names are meant from there."""
    return os.environ.get(FOLDER) or os.getcwd()


def local(path: str) -> str:
    """A path of the user's, absolute; an empty one stays empty."""
    return os.path.join(started_in(), os.path.expanduser(path)) if path else path


def ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait up to `seconds` for a child's end; whether it came. Raises what a signal handler raises."""
    if process.poll() is not None:
        return True
    if hasattr(os, "pidfd_open"):  # Linux: woken at the end itself, where Popen.wait sleeps up to 50 ms
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            pass
        else:
            try:
                over = select.select([descriptor], [], [], seconds)[0]
            finally:
                os.close(descriptor)
            if not over:
                return process.poll() is not None
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)  # no more than a moment for one that is over: who traces it hears of it first
    return process.returncode is not None


def stop(process: subprocess.Popen[bytes], grace: float) -> None:
    """Ask a child to end, and kill it if it hasn't after `grace` seconds."""
    process.terminate()
    process.send_signal(signal.SIGCONT)  # a stopped one would not hear it
    if not ended(process, grace):
        process.kill()
        process.wait()


def stop_with_its_own(child: subprocess.Popen[bytes], grace: float) -> None:
    """Kill a child and all that it has started, which is asked to end first and has `grace` seconds for it.

    The child stands still meanwhile. What shared memory they leave is removed.
    """
    memory = SharedMemory()
    child.send_signal(signal.SIGSTOP)
    try:
        started = psutil.Process(child.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        started = []
    memory.note({process.pid for process in started})
    _ask(started, (child.pid,), grace)
    for process in started:
        with contextlib.suppress(psutil.Error):
            process.kill()
    child.kill()
    child.wait()
    memory.remove()


def kill(processes: Sequence[psutil.Process]) -> None:
    """Kill some processes, and wait (10 s) until they have let go of their memory and files. A zombie has."""
    for process in processes:
        with contextlib.suppress(psutil.Error):  # it ended with its parent
            process.kill()
    until = time.monotonic() + 10
    while time.monotonic() < until and not all(map(_over, processes)):
        time.sleep(_POLL_SECONDS)


def kill_all(child: subprocess.Popen[bytes], seen: Mapping[int, psutil.Process], grace: float = 0) -> list[str]:
    """Kill `child`, every other descendant of this process, and those `seen` that still run; their names.

    All but `child` are first asked to end, and have `grace` seconds for it. What shared memory they leave is removed.
    """
    names: dict[int, str] = {}
    memory = SharedMemory()
    if grace:
        child.send_signal(signal.SIGSTOP)  # at its end the kernel would kill its servers
        running = _running(seen)
        names |= _names(running)
        _ask([process for pid, process in running.items() if pid != child.pid], (child.pid, os.getpid()), grace)
    until = time.monotonic() + 10
    while time.monotonic() < until:
        running = _running(seen)
        if not running:
            break
        names |= _names(running)
        memory.note(running)
        for process in running.values():
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs([process for pid, process in running.items() if pid != child.pid], timeout=0.5)
        ended(child, 0.1)
    memory.note(seen.keys() | names.keys())
    memory.remove()
    return sorted(names.values())


def descendants() -> dict[int, psutil.Process]:
    """All that this process has started, and what they have."""
    if _childless():
        return {}
    return {process.pid: process for process in psutil.Process().children(recursive=True)}


def _childless() -> bool:
    """Whether this process has no child, as most engines' have none: psutil would read of every process there is."""
    if sys.platform != "linux":
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT | _ALL_CHILDREN)
    except ChildProcessError:
        return True
    return False


def _running(seen: Mapping[int, psutil.Process]) -> dict[int, psutil.Process]:
    running = descendants() | {pid: process for pid, process in seen.items() if process.is_running()}
    return {pid: process for pid, process in running.items() if _alive(process)}


def _names(running: Mapping[int, psutil.Process]) -> dict[int, str]:
    names = {}
    for pid, process in running.items():
        with contextlib.suppress(psutil.Error):
            names[pid] = process.name()
    return names


def _ask(processes: Iterable[psutil.Process], parents: Sequence[int], grace: float) -> None:
    """Ask those that `parents` have started to end, each of which ends what it has started itself; wait for them."""
    asked = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.ppid() in parents:
                asked.append(process)
                process.terminate()
    until = time.monotonic() + grace
    while time.monotonic() < until and any(map(_alive, asked)):
        time.sleep(_POLL_SECONDS)


def _alive(process: psutil.Process) -> bool:
    if not _over(process):
        return True
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
    return False


def _over(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux; elsewhere those seen are killed).

    Those that end stay zombies, of which the system still tells what they used, until this process ends.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forbid_core_dumps() -> None:
    """Let neither this process nor any that it starts leave its memory in a file: there may be a password in it."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """Let this process be killed when its parent ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


class SharedMemory:
    """What shared memory processes of ours have, noted while they live; `remove` removes what they left (Linux).

    System V segments and files in /dev/shm: PostgreSQL's in the first place, whose initdb makes both in its first
    moments.
    """

    def __init__(self) -> None:
        self.since = psutil.Process().create_time()
        self.makers: set[int] = set()
        self.files: set[str] = set()

    def note(self, processes: Iterable[int]) -> None:
        """Note the files that some processes have mapped, and the processes."""
        for process in processes:
            self.makers.add(process)
            with contextlib.suppress(OSError):
                self.files |= {*_MAPPED.findall(Path(f"/proc/{process}/maps").read_text("utf-8", "replace"))}

    def remove(self) -> None:
        """Remove what was made since this process began, by processes that have ended, and what none uses any more."""
        self._remove_segments()
        for file in self.files:
            with contextlib.suppress(OSError):  # it is gone, as it should be
                if os.stat(file).st_ctime >= self.since:
                    os.unlink(file)

    def _remove_segments(self) -> None:
        with contextlib.suppress(OSError), open("/proc/sysvipc/shm", encoding="ascii") as table:
            names = next(table).split()
            for line in table:
                segment = dict(zip(names, map(int, line.split()), strict=False))
                if segment["cpid"] in self.makers and not segment["nattch"] and segment["ctime"] >= int(self.since):
                    ctypes.CDLL(None).shmctl(segment["shmid"], _IPC_RMID, None)
