"""Time without the wait for a processor: how it is read, who keeps it, and when a gate compares it. No real time is looked at."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from dbbench.analysis.paired import pair_gate, paired
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.cli import main
from dbbench.cli.common import open_console
from dbbench.cli.gates import PairGate, show_gates
from dbbench.errors import UserError
from dbbench.host.run_delay import DelayMeter, undelayed
from dbbench.loadgen.job import ClientTimings
from dbbench.results.metric import Metric, by_metric, lacking
from dbbench.results.run_directory import Run
from dbbench.workloads.load_control import per, used
from tests.fabricated import Fake, fabricate


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
    assert meter.delay_seconds == 37e-9


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
    assert meter.delay_seconds is None
    assert undelayed(2.0, meter.delay_seconds) is None


def test_undelayed_is_what_is_left() -> None:
    assert undelayed(2.0, 0.5) == 1.5
    assert undelayed(2.0, 2.1) == 0.0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts it")
def test_the_kernels_own_file_can_be_read() -> None:
    with DelayMeter() as meter:
        pass
    assert meter.delay_seconds is None or 0 <= meter.delay_seconds < 60


@pytest.mark.parametrize(("one", "other", "both"), [(1.0, 2.0, 3.0), (None, 2.0, None), (1.0, None, None)])
def test_clients_add_theirs_up_if_all_know_it(one: float | None, other: float | None, both: float | None) -> None:
    first, second = ClientTimings(delay_seconds=one), ClientTimings(delay_seconds=other)
    first.service.record(np.array([1]))
    first.merge(ClientTimings.from_json(second.to_json()))
    assert first.delay_seconds == both


def test_of_several_clients_it_is_that_of_a_call() -> None:
    found = ClientTimings(delay_seconds=3e-6)
    found.service.record(np.array([4_000, 4_000, 2_000]))
    found.merge(ClientTimings(delay_seconds=1e-6))
    assert used(found, 3)["undelayed_seconds"] == pytest.approx(2e-6)
    assert used(found, 3)["cpu_seconds"] is None
    assert per(1.0, 0) is None


def with_undelayed(
    path: Path, slow: float, *, rounds: int = 8, others: float | None = 0.8, but: str = "", wait: float = 4.0
) -> Run:
    """Two variants whose times by the clock differ by what they wait, without any order, and whose undelayed times by `slow`."""

    def change(result: dict[str, Any]) -> None:
        new = result["engine_name"] == "e@new"
        result["noise"] = {} if others is None else {"others": others}
        for step in result["steps"]:
            if step["unit"] == "B":
                continue
            cost = (step["value"] if step["unit"] == "s" else 1 / step["value"]) * (slow if new else 1)
            if step["name"] != but:
                step["undelayed_seconds"] = cost
            waited = cost * (1 + wait * ((result["round"] * (3 if new else 5)) % 7) / 7)
            step["value"] = waited if step["unit"] == "s" else 1 / waited
            step["samples"] = [step["value"]]

    return fabricate(path, {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=rounds, change=change)


def said(run: Run, metric: str | None = None) -> Iterator[str]:
    out = io.StringIO()
    yield str(show_gates(run, Console(file=out, width=80), (PairGate("e@new", "e@old", 0.1, metric),)))
    yield " ".join(out.getvalue().split())


def test_a_gate_on_a_disturbed_machine_compares_undelayed_time_and_says_so(tmp_path: Path) -> None:
    status, text = said(with_undelayed(tmp_path / "r", 1.3))
    assert status == "1"
    assert "by undelayed time" in text
    assert "other processes used 80% of the machine" in text
    assert "what the threads that call waited for a processor" in text


def test_who_asks_for_wall_time_gets_it(tmp_path: Path) -> None:
    status, text = said(with_undelayed(tmp_path / "r", 1.3), "wall")
    assert status == "3"
    assert "undelayed" not in text


@pytest.mark.parametrize("more", [{"others": 0.05}, {"others": None}, {"but": "join-1"}])
def test_a_gate_compares_the_figure_itself_on_a_quiet_machine_or_where_a_step_has_no_other(
    more: dict[str, Any], tmp_path: Path
) -> None:
    run = with_undelayed(tmp_path / "r", 1.3, **more)
    assert pair_gate(run, run.results(), ("e@new", "e@old"), 0.1).metric is Metric.WALL


def test_a_step_without_an_undelayed_time_has_no_figure_of_it(tmp_path: Path) -> None:
    run = with_undelayed(tmp_path / "r", 1.3, but="join-1")
    assert lacking(run.results(), Metric.UNDELAYED) == {"join-1"}
    assert lacking(run.results(), Metric.WALL) == set()
    rows = summarise(run.suite, run.manifest, by_metric(run.results(), Metric.UNDELAYED))
    verdicts = {pair.step: pair for pair in paired(rows, "e@new", "e@old")}
    assert verdicts["database-size"].verdict is ComparisonVerdict.SAME
    assert verdicts["join-1"].verdict is ComparisonVerdict.NEITHER
    assert "no undelayed time" in verdicts["join-1"].detail
    assert verdicts["join-2"].verdict is ComparisonVerdict.SLOWER


def test_a_run_without_it_is_refused(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e": Fake("E")}, rounds=2)
    with pytest.raises(UserError, match="keeps no undelayed time"):
        by_metric(run.results(), Metric.UNDELAYED)


def test_it_is_a_metric_of_reports_and_comparisons(tmp_path: Path) -> None:
    runs = [with_undelayed(tmp_path / name, slow) for name, slow in (("before", 1.0), ("after", 1.5))]
    asked = ["report", str(runs[0].path), "--metric", "undelayed", "--out", str(tmp_path / "out"), "--format", "csv"]
    assert CliRunner().invoke(main, asked).exit_code == 0
    assert "undelayed time" in (tmp_path / "out" / "summary.csv").read_text("utf-8")
    assert show_gates(runs[1], open_console(), (PairGate("e@new", "e@old", 0.1, "undelayed"),)) == 1
