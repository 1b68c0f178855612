"""Children that are ended."""

import signal
import subprocess
import sys

import psutil
import pytest

from dbbench.host import processes


def test_a_killed_process_has_let_go_of_all_it_held() -> None:
    """The next server would find the memory in use: the kernel takes a moment to free this much."""
    held = "import sys; held = b'x' * (1 << 29); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        processes.kill([psutil.Process(child.pid)])
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert child.returncode == -signal.SIGKILL


def test_one_that_has_ended_needs_no_kill() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        process = psutil.Process(child.pid)
    processes.kill([process])


def test_one_that_has_ended_is_waited_for_until_its_tracer_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parent is told that it has ended before it can ask how."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        asked = iter([None, None])
        monkeypatch.setattr(child, "poll", lambda: next(asked, child.returncode))
        assert processes.ended(child, 60)
        assert child.returncode == 0
