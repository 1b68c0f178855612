"""Counts of processes and the delay of threads: what a meter adds up, and when it is read. No real time is looked at."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from dbbench.host.meters import COUNTS, Count, DelayMeter, ProcessMeter
from dbbench.host.metric import Metric, shared
from dbbench.loadgen.job import ClientTimings
from dbbench.loadgen.loops import stream, stream_until
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from dbbench.results.chosen_run import Choice, ChosenRun
from dbbench.results.outcome import Outcome
from tests.fabricated import Fake, fabricate


@dataclass
class Served:
    """An engine, as far as a meter knows it."""

    url: str = ""
    pids: Sequence[int] = ()

    def processes(self) -> Sequence[int]:
        return self.pids


def meter_of(
    served: Served | None = None, *, own: Callable[[], int] = int, of: Callable[[psutil.Process], int] = lambda _: 0
) -> ProcessMeter:
    return ProcessMeter(served, {Metric.CPU: Count(own, of, 1e9)})


def nanoseconds(meter: ProcessMeter) -> int:
    return round(meter.usage()[Metric.CPU] * 1e9)


def test_each_metric_of_processes_is_counted() -> None:
    assert {metric for metric in Metric if metric is not Metric.WALL and not metric.per_thread} == COUNTS.keys()


def test_a_meter_adds_up_what_was_used_in_its_blocks_alone() -> None:
    own = iter([100, 130, 1_000, 1_007])
    meter = meter_of(own=own.__next__)
    for _ in range(2):
        with meter:
            pass
    assert nanoseconds(meter) == 37


def test_the_servers_processes_count_too() -> None:
    readings = iter([5, 25])
    of = Mock(side_effect=lambda process: next(readings) if process.pid == os.getpid() else 0)
    meter = meter_of(Served(pids=[os.getpid()]), own=iter([100, 101]).__next__, of=of)
    with meter:
        pass
    assert nanoseconds(meter) == 21


@pytest.mark.parametrize(("own", "used"), [(True, 7), (False, 0)])
def test_a_child_that_the_engine_does_not_name_counts_too_but_not_a_client(own: bool, used: int) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        counts = iter([5, 12])
        of = Mock(side_effect=lambda process: next(counts) if process.pid == child.pid else 0)
        meter = ProcessMeter(Served(), {Metric.CPU: Count(int, of, 1e9)}, own=own)
        with meter:
            pass
        child.kill()
    assert nanoseconds(meter) == used


def test_a_process_that_has_ended_counts_no_more_by_itself() -> None:
    used = Mock(side_effect=chain([5], repeat(psutil.NoSuchProcess(os.getpid()))))
    meter = meter_of(Served(pids=[os.getpid()]), own=iter([100, 115]).__next__, of=used)
    with meter:
        pass
    assert nanoseconds(meter) == 10


def test_work_at_a_url_has_no_cpu_time() -> None:
    assert ProcessMeter(Served(url="postgresql://far")).usage() == {}


def test_a_process_that_may_not_be_looked_at_leaves_no_figure() -> None:
    meter = meter_of(Served(pids=[os.getpid()]), of=Mock(side_effect=psutil.AccessDenied(os.getpid())))
    with meter:
        pass
    assert meter.usage() == {}


def test_this_very_process_can_be_read() -> None:
    with ProcessMeter(Served(pids=[os.getpid()])) as meter:
        sum(range(100_000))
    assert meter.usage()[Metric.CPU] > 0


def test_clients_in_processes_of_their_own_tell_theirs() -> None:
    meter = ProcessMeter(Served(pids=[os.getpid()]), {Metric.CPU: Count(lambda: 1 // 0, lambda _: 7)}, own=False)
    with meter:
        pass
    assert meter.usage() == {Metric.CPU: 0}


@pytest.mark.parametrize("until", [False, True])
def test_a_stream_reads_it_outside_of_its_clock_and_of_its_books(until: bool) -> None:
    events: list[str] = []

    class Around:
        def __enter__(self) -> None:
            events.append("in")

        def __exit__(self, *_exc: object) -> None:
            events.append("out")

    clock = iter(range(100))

    def read() -> int:
        events.append("clock")
        return next(clock)

    def keys() -> Any:
        for key in range(2):
            events.append("key")
            yield key

    more = {"at_once": 2, "around": Around()}
    if until:
        stream_until(lambda _: events.append("call"), keys(), lambda _: events.append("books"), 90, read, **more)
        assert events[:7] == ["clock", "key", "in", "clock", "call", "clock", "out"]
    else:
        stream(lambda _: events.append("call"), keys(), lambda _: events.append("books"), read, **more)
        assert events == ["key", "key", "in", "clock", "call", "clock", "call", "clock", "out", "books"]


def test_calls_that_used_nothing_have_no_figure(tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            step["usage"] = {"cpu": 0.0 if step["name"] == "join-1" else 0.0041, "written": 4096.0}  # of older runs

    run = fabricate(tmp_path / "run", {"e": Fake("E"), "f": Fake("F")}, rounds=2, change=change)
    shown = view(ChosenRun(run, Choice(metric=Metric.CPU)), out=tmp_path / "out")
    rows = {row.step: row for row in shown.rows if row.ranked}
    assert (rows["join-1"].value, rows["join-1"].outcome) == (None, Outcome.NOT_COUNTED)
    assert "no CPU time counted during these calls" in str(rows["join-1"].remarks)
    assert (rows["join-2"].value, rows["join-2"].unit) == (0.0041, "s")
    write_report(shown)
    assert "| 4.10 |" in (tmp_path / "out" / "report" / "index.md").read_text("utf-8")


class Kernel:
    """A file as that of the kernel, of a thread that waited for so long in all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.waited(0)

    def waited(self, nanoseconds: int) -> None:
        self.path.write_text(f"123456 {nanoseconds} 7\n", "ascii")


needs_pread = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pread, and no such file")


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path / "schedstat")


@needs_pread
def test_what_was_waited_in_the_blocks_alone_is_added_up(kernel: Kernel) -> None:
    meter = DelayMeter(kernel.path, clock=iter([0, 1_000, 5_000, 6_000]).__next__)
    kernel.waited(500)
    with meter:
        kernel.waited(530)
    kernel.waited(9_000)
    with meter:
        kernel.waited(9_007)
    assert meter.nanoseconds == 37
    assert meter.usage(100e-9) == {Metric.UNDELAYED: pytest.approx(63e-9)}


@needs_pread
def test_never_more_is_taken_off_than_the_block_lasted(kernel: Kernel) -> None:
    meter = DelayMeter(kernel.path, clock=iter([100, 150]).__next__)
    with meter:
        kernel.waited(1_000_000)  # between the file and the clock
    assert meter.nanoseconds == 50


@needs_pread
@pytest.mark.parametrize("text", [None, "0 0 0\n"])
def test_a_system_that_counts_nothing_leaves_no_figure(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "schedstat"
    if text is not None:
        path.write_text(text, "ascii")
    with DelayMeter(path) as meter:
        pass
    assert meter.usage(2.0) == {}


@needs_pread
def test_no_less_than_nothing_is_left(kernel: Kernel) -> None:
    with DelayMeter(kernel.path) as meter:
        pass
    meter.nanoseconds = 3 * 10**9
    assert meter.usage(2.0) == {Metric.UNDELAYED: 0.0}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts it")
def test_the_kernels_own_file_can_be_read() -> None:
    with DelayMeter() as meter:
        pass
    assert meter.usage(60.0).get(Metric.UNDELAYED, 1.0) > 0


def test_of_several_clients_it_is_that_of_a_call() -> None:
    found = ClientTimings(usage={Metric.UNDELAYED: 5e-6, Metric.CPU: 1e-6})
    found.merge(ClientTimings(usage={Metric.UNDELAYED: 1e-6}))
    assert shared(found.usage, 3) == {Metric.UNDELAYED: pytest.approx(2e-6)}
    assert shared(found.usage, 0) == {}


def test_only_who_has_a_child_reads_of_other_processes() -> None:
    """In a process of its own, as this one may have children; the second child sends no SIGCHLD, as some libraries' have it."""
    code = """
import ctypes, os, platform, psutil, signal
from dbbench.host.processes import descendants
read = []
look = psutil.Process.children
psutil.Process.children = lambda self, **how: read.append(1) or look(self, **how)
found = [len(descendants()), len(read)]
child = os.fork() or signal.pause()
found.append(len(descendants()))
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
found.append(len(descendants()))
silent = ctypes.CDLL(None).syscall({"x86_64": 56}.get(platform.machine(), 220), 0, 0, 0, 0, 0) or signal.pause()
found.append(len(descendants()))
os.kill(silent, signal.SIGKILL)
print(found)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "[0, 0, 1, 0, 1]\n", done.stderr
