"""Commits that can't have reached the disk, by what the kernel counted of a step."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from dbbench.host import usage as meters
from dbbench.host.interference import Sync, sync_probe
from dbbench.host.usage import Reading, usage, written
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.workloads import promises
from dbbench.workloads.promises import Floor

SHOWS, NOTHING = Sync(2.7, 4096), Sync(0.0, 0)
WRITES = SimpleNamespace(writes=True)


def below(
    monkeypatch: pytest.MonkeyPatch, waits: int | None, written: int | None, *, shows: Sync | None = SHOWS,
    opened: Any = (), step: Any = WRITES, tier: Tier = Tier.POWER, url: str = "", does_work: bool = True,
    commits: int = 100, facts: Any = (),
) -> Floor:  # fmt: skip
    """What is said of 100 commits of an engine of which nothing but its promise counts."""
    monkeypatch.setattr(promises, "sync_probe", lambda _folder: shows)
    monkeypatch.setattr(promises, "processes", lambda _engine: [None])
    monkeypatch.setattr(promises, "opened_by", lambda _process: opened)
    engine = SimpleNamespace(directory=Path("folder"), url=url, info=lambda: SimpleNamespace(tier=tier))
    context = SimpleNamespace(engine=engine, does_work=does_work, files=None, tables={})
    measured = SimpleNamespace(commits=commits, facts=dict.fromkeys(facts))
    return promises.floor(step, context, measured, Reading(0.0, written, waits))  # type: ignore[arg-type]


def test_a_commit_waits_and_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert below(monkeypatch, 100, 409_600) == Floor()
    few = "commits didn't reach the disk: "
    assert below(monkeypatch, 49, 409_600) == Floor(f"{few}it waited 49 times for 100 commits")
    assert below(monkeypatch, 300, 8_192) == Floor(f"{few}8,192 bytes written for 100 commits")


def test_what_is_written_to_storage_is_counted_or_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = usage()
    with (tmp_path / "file").open("wb") as file:
        file.write(bytes(100_000))
        os.fsync(file.fileno())
    assert usage().since(before).written in (0, pytest.approx(100_000, abs=50_000)), "0: not on a disk"
    for exc in (psutil.AccessDenied(1), FileNotFoundError(), NotImplementedError(), AttributeError()):
        monkeypatch.setattr(psutil.Process, "io_counters", Mock(side_effect=exc))
        assert written(psutil.Process()) is None


def test_a_thread_that_ends_takes_no_waits_of_others_with_it() -> None:
    """Nor is less than nothing used, where a process ends whose parent isn't read."""
    earlier, later = Reading(5.0, 9_000, 10, {"a": 1_000, "b": 7}), Reading(4.0, 8_000, 12, {"b": 30, "c": 3})
    assert later.since(earlier) == Reading(0.0, None, 2 + 23 + 3)
    assert usage([os.getppid()]).theirs.keys() >= {f"/proc/{os.getppid()}/task/{os.getppid()}"}


_PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.readline()
child.communicate()
print(flush=True)
sys.stdin.readline()
"""
_CHILD = "import sys, time\nwhile time.process_time() < 0.5: pass\nsys.stdin.read()"


def test_what_a_process_used_counts_when_it_ends_amid_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server's process for one session often ends with a step; its bytes, too, are its parent's then."""
    command = [sys.executable, "-c", _PARENT, _CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdin
        assert parent.stdout
        child = int(parent.stdout.readline())
        look = meters.waits_of_threads

        def slow(pid: int) -> dict[str, int]:
            found = look(pid)
            if pid == child and psutil.pid_exists(child):
                print(file=parent.stdin, flush=True)
                assert parent.stdout
                parent.stdout.readline()  # its parent has waited for it
            return found

        before = usage()
        monkeypatch.setattr(meters, "waits_of_threads", slow)
        assert usage([parent.pid, child]).since(before).cpu >= 0.5
        assert look(child) == {}
        print(file=parent.stdin, flush=True)


@pytest.mark.parametrize(
    "more", [{"tier": Tier.PROCESS}, {"does_work": False}, {"step": SimpleNamespace(writes=False)}]
)
def test_nothing_is_asked_of_an_engine_that_promises_nothing_here(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    assert below(monkeypatch, 0, 0, **more) == Floor()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"url": "db://host"}, "a server at a URL"),
        ({"commits": 0}, "nothing tells which calls changed something"),
        ({"commits": 19}, "fewer than 20 commits"),
        ({"shows": None}, "no sync could be tried"),
        ({"shows": NOTHING}, "it need not wait for the disk here"),
    ],
)
def test_where_there_is_no_floor_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], why: str
) -> None:
    assert below(monkeypatch, 0, 0, **more) == Floor(unknown=why)


@pytest.mark.parametrize("more", [{"facts": ["arrivals"]}, {"step": SimpleNamespace(writes=True, thinks=True)}])
def test_clients_that_sleep_wait_for_no_disk(monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]) -> None:
    unknown = Floor(unknown="waits for the disk can't be told from others")
    assert below(monkeypatch, 300, 409_600, **more) == unknown
    assert "8,192 bytes" in below(monkeypatch, 300, 8_192, **more).fault


def test_there_is_no_floor_where_a_sync_shows_nothing_or_the_system_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not below(monkeypatch, 0, 0, shows=NOTHING).fault
    assert not below(monkeypatch, None, None).fault


def test_who_polls_need_not_wait_and_who_writes_directly_need_not_write_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    ring, direct = [("anon_inode:[io_uring]", 0)], [("/file", promises._DIRECT | os.O_RDWR)]
    assert not below(monkeypatch, 0, 409_600, opened=ring).fault
    assert below(monkeypatch, 0, 0, opened=ring).fault
    assert not below(monkeypatch, 300, 51_200, opened=direct).fault
    assert below(monkeypatch, 0, 51_200, opened=direct).fault
    assert below(monkeypatch, 300, 51_200, opened=[("/file", promises._DIRECT)]).fault, "it is only read"


@pytest.mark.parametrize("share", [1, 0.05])
def test_rows_that_were_loaded_take_bytes_where_it_is_all_of_them(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setattr(promises, "too_few", lambda *_: 1_000_000)
    said = below(monkeypatch, 100, 409_600, step=LoadStep(kind="load", name="load", title="Load", share=share))
    assert ("the rows take 1,000,000 or more" in said.fault) == (share == 1)


def test_a_sync_shows_in_a_folder_on_a_disk(tmp_path: Path) -> None:
    shown = sync_probe(tmp_path)
    assert shown is not None
    assert shown.waits >= 0
    assert shown.written in (0, pytest.approx(4096, rel=0.1)) or shown.written > 4096
    assert not [*tmp_path.iterdir()]


def test_no_folder_shows_nothing(tmp_path: Path) -> None:
    assert sync_probe(tmp_path / "none") is None
