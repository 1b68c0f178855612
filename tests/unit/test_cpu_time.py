"""The CPU time of calls: what a meter adds up, who keeps it, and what is compared by it. No real time is looked at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import compare
from dbbench.analysis.paired import paired
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.cli.common import open_console
from dbbench.cli.gates import PairGate, show_gates
from dbbench.errors import UserError
from dbbench.host.cpu_time import CpuMeter
from dbbench.loadgen.job import ClientTimings
from dbbench.loadgen.loops import stream, stream_until
from dbbench.report.run_view import view
from dbbench.results.chosen_run import Choice, ChosenRun
from dbbench.results.metric import Metric, by_metric
from dbbench.results.run_directory import Run
from tests.fabricated import Fake, fabricate


@dataclass
class Served:
    """An engine, as far as a meter knows it."""

    url: str = ""
    pids: Sequence[int] = ()

    def processes(self) -> Sequence[int]:
        return self.pids


def test_a_meter_adds_up_what_was_used_in_its_blocks_alone() -> None:
    own = iter([100, 130, 1_000, 1_007])
    meter = CpuMeter(own=own.__next__)
    for _ in range(2):
        with meter:
            pass
    assert meter.nanoseconds == 37
    assert meter.seconds == 37e-9


def test_the_servers_processes_count_too() -> None:
    readings = iter([5, 25])
    meter = CpuMeter(Served(pids=[os.getpid()]), own=iter([100, 101]).__next__, of=lambda _process: next(readings))
    with meter:
        pass
    assert meter.nanoseconds == 21


def test_a_process_that_has_ended_counts_no_more_by_itself() -> None:
    readings = iter([5])

    def used(process: psutil.Process) -> int:
        try:
            return next(readings)
        except StopIteration:
            raise psutil.NoSuchProcess(process.pid) from None

    meter = CpuMeter(Served(pids=[os.getpid()]), own=iter([100, 115]).__next__, of=used)
    with meter:
        pass
    assert meter.nanoseconds == 10


def test_work_at_a_url_has_no_cpu_time() -> None:
    assert CpuMeter(Served(url="postgresql://far")).seconds is None


def test_a_process_that_may_not_be_looked_at_leaves_no_figure() -> None:
    def used(process: psutil.Process) -> int:
        raise psutil.AccessDenied(process.pid)

    meter = CpuMeter(Served(pids=[os.getpid()]), own=int, of=used)
    with meter:
        pass
    assert meter.seconds is None


def test_this_very_process_can_be_read() -> None:
    meter = CpuMeter(Served(pids=[os.getpid()]))
    before = meter.read()
    sum(range(100_000))
    assert meter.read() > before > 0


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


@pytest.mark.parametrize(("one", "other", "both"), [(1.0, 2.0, 3.0), (None, 2.0, None), (1.0, None, None)])
def test_clients_add_theirs_up_if_all_know_it(one: float | None, other: float | None, both: float | None) -> None:
    first, second = ClientTimings(cpu_seconds=one), ClientTimings(cpu_seconds=other)
    first.service.record(np.array([1]))
    first.merge(ClientTimings.from_json(second.to_json()))
    assert first.cpu_seconds == both


def with_cpu(path: Path, slow: float, *, rounds: int = 6, but: str = "") -> Run:
    """Two variants alike by the clock, of which one takes more CPU time, in all steps or all but one."""

    def change(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["unit"] != "B" and step["name"] != but:
                cost = step["value"] if step["unit"] == "s" else 1 / step["value"]
                step["cpu_seconds"] = cost * (slow if result["engine_name"] == "e@new" else 1)

    return fabricate(path, {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=rounds, change=change)


def test_a_gate_by_cpu_time_finds_what_the_clock_does_not_show(tmp_path: Path) -> None:
    run = with_cpu(tmp_path / "r", 1.3)
    assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1),)) == 0
    assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1, "cpu"),)) == 1


def test_sizes_stay_what_they_are_and_a_step_without_cpu_time_has_no_figure(tmp_path: Path) -> None:
    run = with_cpu(tmp_path / "r", 1.3, but="join-1")
    rows = summarise(run.suite, run.manifest, by_metric(run.results(), Metric.CPU))
    verdicts = {pair.step: pair for pair in paired(rows, "e@new", "e@old")}
    assert verdicts["database-size"].verdict is ComparisonVerdict.SAME
    assert verdicts["database-size"].unit == "B"
    assert verdicts["join-1"].verdict is ComparisonVerdict.NEITHER
    assert "no CPU time" in verdicts["join-1"].detail
    assert verdicts["join-2"].verdict is ComparisonVerdict.SLOWER


def test_a_run_without_cpu_time_is_refused(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e": Fake("E")}, rounds=2)
    with pytest.raises(UserError, match="keeps no CPU time"):
        by_metric(run.results(), Metric.CPU)
    assert by_metric([], Metric.CPU) == []


def test_two_runs_are_compared_by_cpu_time(tmp_path: Path) -> None:
    runs = [with_cpu(tmp_path / name, slow) for name, slow in (("before", 1.0), ("after", 1.5))]
    for number, run in enumerate(runs):  # made at one moment, they would be the same run
        run.manifest = run.manifest.model_copy(update={"created": run.manifest.created.replace(minute=number)})
    for metric, slower in ((Metric.WALL, set()), (Metric.CPU, {"e@new"})):
        old, new = ([Side.read(run, metric)] for run in runs)
        assert {pair.engine for pair in compare(old, new).of(ComparisonVerdict.SLOWER)} == slower


def test_a_report_by_cpu_time_says_so_and_ranks_by_it(tmp_path: Path) -> None:
    run = ChosenRun(with_cpu(tmp_path / "r", 1.5), Choice(metric=Metric.CPU))
    shown = view(run, out=tmp_path / "out")
    assert shown.title.endswith("by CPU time")
    assert any("CPU time" in line for line in shown.captions(run.suite.scenarios[0]))
    rows = {row.engine: row for row in shown.rows if row.step == "join-1" and row.ranked}
    assert {row.metric for row in rows.values()} == {"CPU time"}
    assert rows["e@old"].rank is not None
    assert rows["e@new"].rank is not None
    assert rows["e@old"].rank.best < rows["e@new"].rank.best
