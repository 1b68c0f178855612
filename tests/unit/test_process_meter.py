"""Counts of processes, such as CPU time: what a meter adds up, and when it is read. No real time is looked at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from dbbench.host import meters
from dbbench.host.meters import COUNTS, Count, ProcessMeter
from dbbench.host.metric import Metric
from dbbench.host.usage import written
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
    meter = meter_of(Served(pids=[os.getpid()]), own=iter([100, 101]).__next__, of=lambda _process: next(readings))
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
    readings = iter([5])

    def used(process: psutil.Process) -> int:
        try:
            return next(readings)
        except StopIteration:
            raise psutil.NoSuchProcess(process.pid) from None

    meter = meter_of(Served(pids=[os.getpid()]), own=iter([100, 115]).__next__, of=used)
    with meter:
        pass
    assert nanoseconds(meter) == 10


def test_work_at_a_url_has_no_cpu_time() -> None:
    assert ProcessMeter(Served(url="postgresql://far")).usage() == {}


def test_a_process_that_may_not_be_looked_at_leaves_no_figure() -> None:
    def used(process: psutil.Process) -> int:
        raise psutil.AccessDenied(process.pid)

    meter = meter_of(Served(pids=[os.getpid()]), own=int, of=used)
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


# Bytes written


def test_what_is_written_to_storage_is_counted_or_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with ProcessMeter() as meter, (tmp_path / "file").open("wb") as file:
        file.write(bytes(100_000))
        os.fsync(file.fileno())
    assert meter.usage().get(Metric.WRITTEN, 0) in (0, pytest.approx(100_000, abs=50_000)), "0: not on a disk"
    monkeypatch.setattr(meters, "_IO", None)
    for exc in (psutil.AccessDenied(1), FileNotFoundError(), NotImplementedError(), AttributeError()):
        monkeypatch.setattr(psutil.Process, "io_counters", Mock(side_effect=exc))
        with ProcessMeter() as meter:
            pass
        assert meter.usage().keys() == {Metric.CPU}


def test_both_ways_to_read_it_agree() -> None:
    assert written(psutil.Process()) == COUNTS[Metric.WRITTEN].own()


def test_calls_that_wrote_nothing_have_no_figure(tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            step["usage"] = {"written": 0.0 if step["name"] == "join-1" else 4096.0}

    run = fabricate(tmp_path / "run", {"e": Fake("E"), "f": Fake("F")}, rounds=2, change=change)
    shown = view(ChosenRun(run, Choice(metric=Metric.WRITTEN)), out=tmp_path / "out")
    rows = {row.step: row for row in shown.rows if row.ranked}
    assert (rows["join-1"].value, rows["join-1"].outcome) == (None, Outcome.UNSUPPORTED)
    assert "no bytes written counted during these calls" in str(rows["join-1"].remarks)
    assert (rows["join-2"].value, rows["join-2"].unit) == (4096.0, "B/op")
    write_report(shown)
    assert "| 4.10 |" in (tmp_path / "out" / "report" / "index.md").read_text("utf-8")
