"""CPU time and time without the wait for a processor beside the time by the clock: kept by clients, compared by gates and runs."""

import io
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import compare
from dbbench.analysis.gate import gated
from dbbench.analysis.paired import pair_gate, paired
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.cli.common import open_console
from dbbench.cli.gates import PairGate, parse_gate, show_gates
from dbbench.errors import UserError
from dbbench.host.metric import PACES, SCALES, Metric
from dbbench.loadgen.job import ClientTimings
from dbbench.report.charts.bars import heads
from dbbench.report.run_view import view
from dbbench.report.step_builder import _own_time
from dbbench.report.terminal.comparison import pair_detail
from dbbench.report.verdict import conclusion, finding
from dbbench.results.chosen_run import Choice, ChosenRun, by_metric, lacking
from dbbench.results.run_directory import Run
from tests.conftest import Dbbench
from tests.fabricated import Fake, fabricate
from tests.unit.piped import piped

COUNTED = [metric for metric in Metric if metric is not Metric.WALL]


@pytest.mark.parametrize("metric", COUNTED)
@pytest.mark.parametrize(("one", "other", "both"), [([1.0], [2.0], [3.0]), ([], [2.0], []), ([1.0], [], [])])
def test_clients_add_theirs_up_if_all_know_it(
    metric: Metric, one: list[float], other: list[float], both: list[float]
) -> None:
    first, second = (ClientTimings(usage=dict.fromkeys([metric] * len(each), *each)) for each in (one, other))
    first.service.record(np.array([1]))
    first.merge(piped(second))
    assert [*first.usage.values()] == both


def with_cost(
    path: Path,
    metric: Metric,
    slow: float,
    *,
    rounds: int = 6,
    but: str = "",
    wait: float = 0,
    others: float | None = None,
) -> Run:
    """Two variants of which one costs more by a figure, in all steps or all but one.

    Their times by the clock are alike, or differ by what they `wait`, without any order.
    """

    def change(result: dict[str, Any]) -> None:
        new = result["engine_name"] == "e@new"
        result["noise"] = {} if others is None else {"others": others}
        for step in result["steps"]:
            if step["unit"] == "B":
                continue
            cost = (step["value"] if step["unit"] == "s" else 1 / step["value"]) * (slow if new else 1)
            if step["name"] != but:
                step["usage"] = {metric: cost}
            if wait:
                waited = cost * (1 + wait * ((result["round"] * (3 if new else 5)) % 7) / 7)
                step["value"] = waited if step["unit"] == "s" else 1 / waited
                step["samples"] = [step["value"]]

    return fabricate(path, {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=rounds, change=change)


with_cpu = partial(with_cost, metric=Metric.CPU)
with_undelayed = partial(with_cost, metric=Metric.UNDELAYED, rounds=8, wait=4.0, others=0.8)


@pytest.mark.parametrize("metric", COUNTED)
def test_sizes_stay_what_they_are_and_a_step_without_it_has_no_figure(metric: Metric, tmp_path: Path) -> None:
    run = with_cost(tmp_path / "r", metric, slow=1.3, but="join-1")
    assert lacking(run.results(), metric) == {"join-1"}
    assert lacking(run.results(), Metric.WALL) == set()
    rows = summarise(run.suite, run.manifest, by_metric(run.results(), metric))
    verdicts = {pair.step: pair for pair in paired(rows, "e@new", "e@old")}
    assert verdicts["database-size"].verdict is ComparisonVerdict.SAME
    assert verdicts["database-size"].unit == "B"
    assert verdicts["join-1"].verdict is ComparisonVerdict.NEITHER
    assert metric.missing in pair_detail(verdicts["join-1"])
    worse = ComparisonVerdict.SLOWER if metric.unit in PACES else ComparisonVerdict.LARGER
    assert verdicts["join-2"].verdict is worse
    assert {pair.verdict for pair in gated([*verdicts.values()], 0.1).held} == {worse}


@pytest.mark.parametrize("metric", COUNTED)
def test_a_run_without_it_is_refused(metric: Metric, tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e": Fake("E")}, rounds=2)
    with pytest.raises(UserError, match=f"keeps no {metric.by}"):
        by_metric(run.results(), metric)
    assert by_metric([], metric) == []


def test_a_gate_by_what_a_run_or_its_engines_lack_is_undecided(tmp_path: Path) -> None:
    """A size that is the same passes nothing."""
    lacks = {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}

    def change(result: dict[str, Any]) -> None:
        if result["engine_name"] == "other":
            for step in result["steps"]:
                step["usage"] = {"cpu": 1.0}

    for folder, engines in ("none", lacks), ("others", {**lacks, "other": Fake("Other")}):
        run = fabricate(tmp_path / folder, engines, rounds=6, change=change)
        out = io.StringIO()
        assert show_gates(run, Console(file=out, width=80), (parse_gate("e@new/e@old:10%:cpu"),)) == 3
        assert "undecided at 10 %: no timed step has a figure of both" in " ".join(out.getvalue().split())
        assert show_gates(run, open_console(), (parse_gate("e@new/e@old:database-size:10%:cpu"),)) == 0


@pytest.mark.parametrize("metric", COUNTED)
def test_a_report_by_what_some_steps_lack_is_no_failure_of_the_run(
    metric: Metric, tmp_path: Path, dbbench_here: Dbbench
) -> None:
    with_cost(tmp_path / "r", metric, slow=1.5, but="join-1")
    done = dbbench_here("report", "r", "--metric", metric.value, "--out", "out", "--format", "csv", status=0)
    assert "not counted" in done.stdout


def test_of_what_is_no_time_nobody_is_the_fastest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a metric in joules would be."""
    monkeypatch.setattr(Metric.CPU, "unit", "J")
    monkeypatch.setitem(SCALES, "J", ((1.0, "J"),))
    run = with_cost(tmp_path / "r", Metric.CPU, slow=2.0)
    shown = view(ChosenRun(run, Choice(metric=Metric.CPU)))
    step = shown.scenarios[0].step("join-1")
    assert finding(step).startswith("E [old] is best; then E [new], ×")
    assert heads(step)[1] == "times larger\nthan best"
    assert _own_time(replace(step.lines[0].row, value=3.0)) == "3.00 J"
    assert conclusion(shown).startswith("Best overall: E [old], the best of each step; then E [new], ")


# CPU time


def test_a_gate_by_cpu_time_finds_what_the_clock_does_not_show(tmp_path: Path) -> None:
    run = with_cpu(tmp_path / "r", slow=1.3)
    assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1),)) == 0
    assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1, Metric.CPU),)) == 1


def test_two_runs_are_compared_by_cpu_time(tmp_path: Path) -> None:
    runs = [with_cpu(tmp_path / name, slow=slow) for name, slow in (("before", 1.0), ("after", 1.5))]
    for number, run in enumerate(runs):  # made at one moment, they would be the same run
        run.manifest = run.manifest.model_copy(update={"created": run.manifest.created.replace(minute=number)})
    for metric, slower in ((Metric.WALL, set()), (Metric.CPU, {"e@new"})):
        old, new = ([Side.read(run, metric)] for run in runs)
        assert {pair.engine for pair in compare(old, new).of(ComparisonVerdict.SLOWER)} == slower


def test_a_report_by_cpu_time_says_so_and_ranks_by_it(tmp_path: Path) -> None:
    run = ChosenRun(with_cpu(tmp_path / "r", slow=1.5), Choice(metric=Metric.CPU))
    shown = view(run, out=tmp_path / "out")
    assert shown.title.endswith("by CPU time")
    assert any("CPU time" in line for line in shown.captions(run.suite.scenarios[0]))
    rows = {row.engine: row for row in shown.rows if row.step == "join-1" and row.ranked}
    assert {row.metric for row in rows.values()} == {"CPU time"}
    assert rows["e@old"].rank is not None
    assert rows["e@new"].rank is not None
    assert rows["e@old"].rank.best < rows["e@new"].rank.best


# Undelayed time


def said(run: Run, metric: Metric | None = None) -> tuple[int, str]:
    out = io.StringIO()
    status = show_gates(run, Console(file=out, width=80), (PairGate("e@new", "e@old", 0.1, metric),))
    return status, " ".join(out.getvalue().split())


def test_a_gate_on_a_disturbed_machine_compares_undelayed_time_and_says_so(tmp_path: Path) -> None:
    status, text = said(with_undelayed(tmp_path / "r", slow=1.3))
    assert status == 1
    assert "by undelayed time" in text
    assert "other processes used 80% of the machine" in text
    assert "the calling threads' wait for a processor" in text


def test_who_asks_for_wall_time_gets_it(tmp_path: Path) -> None:
    status, text = said(with_undelayed(tmp_path / "r", slow=1.3), Metric.WALL)
    assert status == 3
    assert "undelayed" not in text


@pytest.mark.parametrize("more", [{"others": 0.05}, {"others": None}, {"but": "join-1"}])
def test_a_gate_compares_the_figure_itself_on_a_quiet_machine_or_where_a_step_has_no_other(
    more: dict[str, Any], tmp_path: Path
) -> None:
    run = with_undelayed(tmp_path / "r", slow=1.3, **more)
    assert pair_gate(run, run.results(), ("e@new", "e@old"), 0.1).metric is Metric.WALL


def test_it_is_a_metric_of_reports_and_gates(tmp_path: Path, dbbench_here: Dbbench) -> None:
    run = with_undelayed(tmp_path / "r", slow=1.5)
    dbbench_here("report", "r", "--metric", "undelayed", "--out", "out", "--format", "csv", status=0)
    assert "undelayed time" in (tmp_path / "out" / "summary.csv").read_text("utf-8")
    assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1, Metric.UNDELAYED),)) == 1
