"""After Ctrl-C, SIGTERM and kill -9 nothing is left: no process, temporary file or shared memory, and no lock too soon."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dbbench.host.processes import kill_all
from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import Dbbench, started
from tests.tables import one_table
from tests.waiting import of_run, until

pytestmark = pytest.mark.matrix

#: The tests are run side by side: what others leave for a moment, or make in earnest, is not ours to count.
_OURS = re.compile(r"dbbench|PostgreSQL|sem\.mp|mono|hsperf|jna|firebird")
#: A load, and a join in an order, in which faulty engines have their fault.
TWICE = suite_text(
    "twice",
    one_table("T", 100),
    """
    - {kind: load, name: load, title: Load}
    - {kind: query, name: join, title: Join, sql: SELECT a.Id AS x FROM T a INNER JOIN T b ON a.Id = b.Id ORDER BY a.Id}
    """,
    durability="power",
)


def free(run: Path) -> bool:
    """Whether nobody holds the lock of a run directory."""
    handle = os.open(run, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def makers() -> set[int]:
    """The processes that have made what System V shared memory there is."""
    return {int(line.split()[4]) for line in Path("/proc/sysvipc/shm").read_text("ascii").splitlines()[1:]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_server_in_the_making(tmp_path: Path, number: signal.Signals) -> None:
    """initdb has shared memory in its first moments, which a kill would leave for ever."""
    usable("postgresql")
    in_memory = set(Path("/dev/shm").iterdir())
    (tmp_path / "suite.yaml").write_text(TWICE, "utf-8")
    words = ("suite", "suite.yaml", "-e", "postgresql", "--format", "csv", "--out", "run")
    with started(tmp_path, *words) as process:
        ours: set[int] = set()

        def making() -> bool:
            with contextlib.suppress(psutil.Error):
                ours.update(p.pid for p in psutil.Process(process.pid).children(recursive=True))
            return bool(ours & makers())

        assert until(making), process.communicate()[0]
        process.send_signal(number)
        assert until(lambda: not of_run(tmp_path)), of_run(tmp_path)
    assert not ours & makers()
    new = {path for path in set(Path("/dev/shm").iterdir()) - in_memory if _OURS.search(path.name)}
    assert until(lambda: not any(path.exists() for path in new)), new  # another test's initdb has its own for a moment
    assert [*(tmp_path / "temporary").iterdir()] == []
    assert [*tmp_path.glob("run/trials/*/work")] == []


def test_a_descendant_has_time_to_clear_up(tmp_path: Path) -> None:
    """It gets a SIGTERM first, while the worker, whose end would kill it, stands still."""
    child = "import signal, sys, time, pathlib\n"
    child += "signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path(sys.argv[1]).touch(), sys.exit()))\n"
    child += "pathlib.Path(sys.argv[1] + '.ready').touch()\ntime.sleep(100)\n"
    worker = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}, *sys.argv[1:]])\n"
    cleared = tmp_path / "cleared"
    code = (
        "import subprocess, sys, time, pathlib\nfrom dbbench.host.processes import kill_all\n"
        f"worker = subprocess.Popen([sys.executable, '-c', {worker!r}, *sys.argv[1:]])\n"
        "while not pathlib.Path(sys.argv[1] + '.ready').exists(): time.sleep(0.01)\n"
        "print(len(kill_all(worker, {}, grace=30)), worker.wait())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, cleared], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout.split() == ["2", "-9"], done.stderr
    assert cleared.exists()


def test_shared_memory_of_the_killed_is_removed(tmp_path: Path) -> None:
    child = "import ctypes, pathlib, sys, time\n"
    child += "pathlib.Path(sys.argv[1]).write_text(str(ctypes.CDLL(None).shmget(0, 4096, 0o1600)))\ntime.sleep(100)\n"
    process = subprocess.Popen([sys.executable, "-c", child, tmp_path / "made"])
    assert until(lambda: (tmp_path / "made").exists() and (tmp_path / "made").read_text())
    number = (tmp_path / "made").read_text()
    ours = {process.pid: psutil.Process(process.pid)}
    known = re.compile(rf"^\s*\d+\s+{number}\s", re.MULTILINE)
    assert known.search(Path("/proc/sysvipc/shm").read_text())
    with pytest.MonkeyPatch.context() as patch:  # not the children of the other tests
        patch.setattr("dbbench.host.processes.descendants", dict)
        kill_all(process, ours)
    assert not known.search(Path("/proc/sysvipc/shm").read_text())


def test_the_supervisor_has_the_lock_too(tmp_path: Path, dbbench_here: Dbbench) -> None:
    """After kill -9 of dbbench alone, a second one beside the old supervisor recorded a false failure."""
    (tmp_path / "suite.yaml").write_text(TWICE, "utf-8")
    words = ("suite", "suite.yaml", "-e", "faulty-hangs", "--quick", "--out", "run")
    with started(tmp_path, *words, plugins=("faulty",)) as process:
        assert until(lambda: list(tmp_path.glob("run/trials/*hangs/work/data/*")))
        supervisor, *_ = of_run(tmp_path, "dbbench.runs.supervisor")  # the next was forked, and is no program yet
        supervisor.suspend()  # as one that is slow to notice, with its worker still at work
        try:
            process.kill()
            process.wait()
            refused = dbbench_here("suite", "--resume", "run", plugins=("faulty",))
        finally:
            supervisor.resume()
        assert refused.returncode == 2, refused.stdout
        assert "still being cleared up: try again" in refused.stderr
        assert until(lambda: not of_run(tmp_path))
    assert until(lambda: free(tmp_path / "run"))  # a process that ends has lost its memory before its locks
