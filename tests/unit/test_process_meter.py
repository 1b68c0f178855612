"""Counts of processes, such as CPU time: what a meter adds up, and when it is read. No real time is looked at."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psutil
import pytest

from dbbench.host.metric import Metric
from dbbench.host.process_meter import COUNTS, Count, ProcessMeter
from dbbench.loadgen.loops import stream, stream_until


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
