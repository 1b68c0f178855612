"""Two engines of one run compared round by round, the gate on it, and variants that form a series."""

import io
import math
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Console

from dbbench.analysis.gate import Answer, gated
from dbbench.analysis.paired import GatedPairs, changes, pair_gate, paired, series
from dbbench.analysis.row import Row
from dbbench.analysis.verdicts import ComparisonVerdict, Pair
from dbbench.cli.common import open_console
from dbbench.cli.gates import PairGate, check_gates, chosen_gates, parse_gate, show_gates
from dbbench.errors import UserError
from dbbench.host.metric import Metric
from dbbench.report.charts.draw import figures
from dbbench.report.run_view import view
from dbbench.report.terminal.comparison import pair_detail
from dbbench.report.terminal.pairs import pair_lines
from dbbench.report.write import write_report
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run, VariantFacts
from dbbench.suite.model import Suite
from tests.fabricated import Fake, fabricate
from tests.unit.compared import bad, row, times

STEPS = [f"step-{number}" for number in range(7)]
SLOW = {"1.9.0": 1.0, "1.10.1": 1.4, "2.0.0": 1.0, "2.1.0": 1.02}


def rows(slow: float, rounds: int, chance: random.Random, *, shared: float, own: float) -> list[Row]:
    """Two engines in seven steps: `shared` is what a round does to both, `own` is each one's own, as shares."""
    found = []
    for step in STEPS:
        together = [chance.gauss(0, shared) for _ in range(rounds)]
        for engine, factor in (("e@old", 1.0), ("e@new", slow)):
            means = tuple(factor * math.exp(drift + chance.gauss(0, own)) for drift in together)
            found.append(of(engine, row(means, step)))
    return found


def of(engine: str, known: Row) -> Row:
    """The row as an engine's; its rounds are numbered from 1 unless they have numbers."""
    rounds = known.of_rounds or tuple(range(1, len(known.trial_means) + 1))
    return replace(known, engine=engine, of_rounds=rounds)


def pair_of(old: Row, new: Row) -> Pair:
    """Two engines of one run."""
    (pair,) = paired([of("e@old", old), of("e@new", new)], "e@new", "e@old")
    return pair


def share_failed(slow: float, gate: float) -> float:
    """How often 10 rounds of seven steps fail a gate, on a machine that is disturbed by a third and noisy by 5 %."""
    chance = random.Random(7)
    runs = [rows(slow, 10, chance, shared=0.3, own=0.05) for _ in range(60)]
    return sum(gated(paired(run, "e@new", "e@old"), gate).answer is Answer.FAILED for run in runs) / len(runs)


def test_a_slowdown_of_20_percent_is_found_in_what_disturbs_both() -> None:
    assert share_failed(1.2, 0.1) >= 0.9


def test_equal_engines_fail_no_gate() -> None:
    assert share_failed(1.0, 0.1) == 0


def test_the_level_holds_without_the_gates_share() -> None:
    assert share_failed(1.0, 0.000_1) <= 0.05


def test_rounds_are_matched_by_their_number() -> None:
    """A round that one engine did not finish leaves the others in step."""
    drift = (1.0, 5.0, 2.0, 9.0, 4.0, 3.0, 7.0)
    pair = pair_of(row(drift), row(times(1.3, drift[1:]), of_rounds=(2, 3, 4, 5, 6, 7)))
    assert pair.ratio is not None
    assert pair.ratio.value == pytest.approx(1.3)
    assert pair.verdict is ComparisonVerdict.SLOWER


def test_where_more_is_better_a_lower_rate_is_slower() -> None:
    rates = {"metric": "throughput", "unit": "1/s", "direction": "higher"}
    pair = pair_of(row((100, 101, 99, 100, 102), **rates), row((80, 81, 79, 80, 82), **rates))
    assert (pair.verdict, pair.old, pair.new) == (ComparisonVerdict.SLOWER, 100, 80)


def test_four_rounds_decide_nothing() -> None:
    pair = pair_of(row((1.0, 1.01, 0.99, 1.0)), row((2.0, 2.01, 1.99, 2.0)))
    assert (pair.verdict, pair.needed) == (ComparisonVerdict.UNSURE, 5)
    gate = gated([pair], 0.1)
    assert gate.answer is Answer.UNDECIDED
    lines = pair_lines(GatedPairs("e@new", "e@old", [pair], gate, Metric.WALL))
    assert "use --rounds 5 or more" in " ".join(line.plain.strip() for line in lines)


def test_what_was_not_checked_is_never_shown_not_to_be_slower() -> None:
    assert gated([pair_of(row(), row(verified=False))], 0.1).answer is Answer.UNDECIDED


def test_a_step_that_fails_in_the_new_engine_alone_fails_the_gate() -> None:
    pair = pair_of(row(), bad(Outcome.FAILED, "no"))
    assert pair.verdict is ComparisonVerdict.BROKE
    assert gated([pair], 0.1).answer is Answer.FAILED


def test_a_step_that_the_metric_does_not_count_in_one_engine_is_undecided() -> None:
    uncounted = bad(Outcome.NOT_COUNTED, "no")
    for pair in (pair_of(row(), uncounted), pair_of(uncounted, row())):
        assert (pair.verdict, pair.unit) == (ComparisonVerdict.UNSURE, "s")
        assert "not counted: no" in pair_detail(pair)
        assert gated([pair], 0.1).answer is Answer.UNDECIDED


def test_sizes_are_told_apart_without_a_test() -> None:
    assert pair_of(row((100.0,), unit="B"), row((150.0,), unit="B")).verdict is ComparisonVerdict.LARGER


@pytest.mark.parametrize(
    ("unit", "change"),
    [("s", {"metric": "latency"}), ("s", {"rounds": ({"gives": "batches"},)}), ("B", {"at_url": True})],
)
def test_other_measures_are_not_compared(unit: str, change: dict[str, Any]) -> None:
    known: dict[str, Any] = {"unit": unit, "rounds": ({"gives": "rows"},)}
    pair = pair_of(row(**known), row(times(9), **(known | change)))
    assert gated([pair], 0.1).answer is Answer.UNDECIDED
    assert pair.verdict is ComparisonVerdict.UNSURE
    assert "not the same measure" in pair_detail(pair)


@pytest.mark.parametrize(("lukewarm", "rounds"), [(0, 5), (1, 6), (7, 6)])
def test_a_round_that_was_lukewarm_for_one_of_two_is_no_pair(lukewarm: int, rounds: int) -> None:
    caches = [["lukewarm" if number == at else "cold" for number in range(7)] for at in (lukewarm, 1)]
    old, new = (
        row(tuple(9.0 if cache != "cold" else mean for cache in each), rounds=tuple({"cache": cache} for cache in each))
        for mean, each in zip((1.0, 1.3), caches, strict=True)
    )
    pair = pair_of(old, new)
    assert (pair.rounds, pair.verdict) == ((rounds + (lukewarm == 1),), ComparisonVerdict.SLOWER)


@pytest.mark.parametrize(
    "text",
    ["a/b", "a:10%", "/b:10%", "a/:10%", "a/b/c:10%", "a/b:", "a/b:ten", "a/a:10%", "a/b:cpu", "a/b:10%:cup", "a/b:²%"],
)
def test_a_gate_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not NEW/OLD:SHARE, .*cpu|with itself|above 0 %"):
        parse_gate(text)


def test_a_gate_is_read() -> None:
    assert parse_gate("sqlite+apsw@3.46/sqlite:12.5%") == PairGate("sqlite+apsw@3.46", "sqlite", 0.125)
    assert parse_gate("a/b:.5%") == PairGate("a", "b", 0.005)
    assert parse_gate("a/b:join:2%:cpu") == PairGate("a", "b", 0.02, Metric.CPU, step="join")


def test_a_gate_of_one_step_looks_at_no_other(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]", {"join-1": 2.0})}, rounds=6)
    answers = {
        step: show_gates(run, open_console(), (parse_gate(f"e@new/e@old:{step}:10%"),)) for step in ("join-1", "join-2")
    }
    assert answers == {"join-1": 1, "join-2": 0}
    with pytest.raises(UserError, match=r"the step joni-1, which \S+ doesn't have; did you mean 'join-1'"):
        check_gates(run, (parse_gate("e@new/e@old:joni-1:10%"),))


def test_a_gate_of_all_steps_leaves_those_with_a_gate_of_their_own(tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        new = result["engine_name"] == "e@new"
        for step in result["steps"]:
            if step["name"] == "join-2":
                step |= {"unit": "1/s", "direction": "higher", "value": 700 if new else 1_000}
            if step["name"] == "scan-1":
                step["usage"] = {"cpu": 2.0 if new else 1.0}

    engines = {"e@old": Fake("E [old]"), "e@new": Fake("E [new]", {"join-1": 1.3})}
    run = fabricate(tmp_path / "r", engines, rounds=6, change=change)

    def status(*gates: str) -> int:
        return show_gates(run, open_console(), tuple(parse_gate(f"e@new/e@old:{gate}") for gate in gates))

    own = ("join-1:50%", "join-2:50%")
    assert status("10%", *own) == 0
    assert [status("10%", own[0]), status("10%", own[1])] == [1, 1]
    assert status("50%", "invoices/join-2:20%") == 1
    assert status("10%", *own, "scan-1:5%:cpu") == 1


def test_a_gate_without_pairs_has_an_answer(tmp_path: Path) -> None:
    """One engine has no trial: no step of it was gated, whatever gates there are."""
    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=2)
    for folder in run.path.glob("trials/*e@new*"):
        shutil.rmtree(folder)
    for gates in (["10%", "scan-3:5%"], ["scan-1:10%", "scan-3:5%"]):
        read = tuple(parse_gate(f"e@new/e@old:{gate}") for gate in gates)
        out = io.StringIO()
        assert show_gates(run, Console(file=out, width=80), read) == 3
        assert out.getvalue().count("gate e@new/e@old") == 2
        assert show_gates(run, open_console(), chosen_gates(read, None, fail_on_unknown=True)) == 1


@pytest.mark.parametrize("means", [(1e-300,) * 6, (1e300,) * 6, (1e-150, 1e150), (1e-150, 1e150, 1.0)])
def test_extreme_figures_are_no_proof(means: tuple[float, ...]) -> None:
    assert pair_of(row(means), row((1.0,) * len(means))).verdict is ComparisonVerdict.UNSURE


def test_other_gates_of_two_engines_count_as_tests(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=6)
    names = ("e@new", "e@old")
    alone = pair_gate(run, run.results(), names, 0.1, step="join-1")
    two = pair_gate(run, run.results(), names, 0.1, step="join-1", beside=["join-2"])
    everything = pair_gate(run, run.results(), names, 0.1, step="join-1", beside=[""])
    assert [one.pairs[0].tests for one in (alone, two, everything)] == [1, 2, 7]
    assert {len(one.pairs) for one in (alone, two, everything)} == {1}


@pytest.mark.parametrize(("slow", "rounds", "status"), [(1.3, 6, 1), (1.0, 6, 0), (1.3, 3, 3)])
def test_the_exit_status_is_that_of_compare(slow: float, rounds: int, status: int, tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]", slow)}, rounds=rounds)
    assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1),)) == status


@pytest.mark.parametrize(("strict", "status", "said"), [(False, 0, "passed"), (True, 1, "failed at 10 %")])
def test_a_strict_gate_fails_where_one_step_of_several_can_not_be_told(
    strict: bool, status: int, said: str, tmp_path: Path
) -> None:
    def noisy(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "join-1" and result["engine_name"] == "e@new":
                step["value"] *= 1 + result["round"] % 3

    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=6, change=noisy)
    out = io.StringIO()
    gate = PairGate("e@new", "e@old", 0.1, strict=strict)
    assert show_gates(run, Console(file=out, width=80), (gate,)) == status
    assert f"gate e@new/e@old: {said}" in out.getvalue()
    assert "1 of 7 timed steps can't be decided" in " ".join(out.getvalue().split())


def test_strictness_without_a_gate_is_refused() -> None:
    with pytest.raises(UserError, match="add one"):
        chosen_gates((), "wall", fail_on_unknown=True)
    assert chosen_gates((parse_gate("a/b:10%"),), "cpu", fail_on_unknown=True) == (
        PairGate("a", "b", 0.1, "cpu", True),
    )


def test_a_gate_tells_nothing_of_what_is_withheld(tmp_path: Path) -> None:
    said = []
    for slow in (1.0, 2.0):
        secret = Fake("E [new]", slow, probed={"publication": "forbidden", "publication_note": "clause 5"})
        run = fabricate(tmp_path / str(slow), {"e@old": Fake("E [old]"), "e@new": secret}, rounds=8)
        out = io.StringIO()
        assert show_gates(run, Console(file=out, width=80), (PairGate("e@new", "e@old", 0.1),), publish=True) == 3
        said.append(out.getvalue())
        assert show_gates(run, open_console(), (PairGate("e@new", "e@old", 0.1, strict=True),), publish=True) == 1
    assert said == ["gate e@new/e@old: undecided, withheld: clause 5\n"] * 2


def test_gates_of_two_metrics_can_be_told_apart(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]")}, rounds=6)
    for withheld in (False, True):
        if withheld:
            run.manifest.engines["e@new"] |= {"publication": "forbidden", "publication_note": "clause 5"}
        out = io.StringIO()
        gates = tuple(PairGate("e@new", "e@old", 0.1, metric) for metric in (None, Metric.WALL, Metric.CPU))
        show_gates(run, Console(file=out, width=80), gates, publish=withheld)
        said = [line.partition(": ")[0] for line in out.getvalue().splitlines() if line.startswith("gate ")]
        assert said == ["gate e@new/e@old", "gate e@new/e@old", "gate e@new/e@old, by CPU time"]


def test_the_lines_fit_80_columns(tmp_path: Path) -> None:
    run = fabricate(tmp_path / "r", {"e@old": Fake("E [old]"), "e@new": Fake("E [new]", 1.3)}, rounds=6)
    lines = [line.plain for line in pair_lines(pair_gate(run, run.results(), ("e@new", "e@old"), 0.1))]
    assert max(map(len, lines)) <= 80
    assert any("gate e@new/e@old: failed at 10 %" in line for line in lines)


def with_control(tmp_path: Path, control: Fake, new: Fake) -> Run:
    """A run in which e@old runs twice."""
    run = fabricate(tmp_path / "r", {"e@old": Fake("E"), "e@old-control": control, "e@new": new}, rounds=8)
    run.manifest.variants["e@old-control"] = VariantFacts(engine="e", repeats="e@old")
    return run


@pytest.mark.parametrize(
    ("control", "new", "strict", "answer"),
    [
        (1.0, 1.0, False, Answer.PASSED),
        (1.2, 1.0, False, Answer.UNDECIDED),
        (1.2, 1.0, True, Answer.FAILED),
        (1.2, {"scan-1": 1.4}, False, Answer.UNDECIDED),
        (1.2, {"join-1": 1.4}, False, Answer.FAILED),
    ],
)
def test_a_gate_shows_nothing_where_an_engine_is_told_apart_from_itself(
    control: float, new: float | dict[str, float], strict: bool, answer: Answer, tmp_path: Path
) -> None:
    run = with_control(tmp_path, Fake("E [control]", {"scan-1": control}), Fake("E [new]", new))
    shown = pair_gate(run, run.results(), ("e@new", "e@old"), 0.1, strict=strict)
    assert shown.gate.answer is answer
    said = " ".join(" ".join(line.plain.split()) for line in pair_lines(shown))
    apart = "They are told apart in scan-1 ×1.2" if control > 1 else "No step differs beyond noise"
    assert "control: e@old ran twice." in said
    assert apart in said
    assert ("the control differs from what it repeats in scan-1" in said) == (answer is Answer.UNDECIDED or strict)


@pytest.mark.parametrize("control", [1.0, 1.2])
def test_a_control_stands_in_the_report_and_warns_where_it_is_told_apart(control: float, tmp_path: Path) -> None:
    shown = view(with_control(tmp_path, Fake("E [control]", {"scan-1": control}), Fake("E [new]")))
    told = [text for text in (shown.warnings if control > 1 else shown.remarks) if text.startswith("control: ")]
    assert len(told) == 1
    assert ("told apart in scan-1" in told[0]) == (control > 1)
    assert "In 7 timed steps" in told[0]


def releases(path: Path, slow: dict[str, float] = SLOW, **more: object) -> Run:
    engines = {f"duckdb@{name[:-2]}": Fake(f"DuckDB [{name[:-2]}]", factor) for name, factor in slow.items()}
    run = fabricate(path, engines | dict(more), rounds=6)  # type: ignore[arg-type]
    for name in reversed(slow):
        facts = VariantFacts(engine="duckdb", version=name[:-2], release=name)
        run.manifest.variants[f"duckdb@{name[:-2]}"] = facts
    return run


def test_releases_stand_in_the_order_of_versions(tmp_path: Path) -> None:
    (found,) = series(releases(tmp_path / "r").manifest)
    assert [point.label for point in found.points] == ["1.9.0", "1.10.1", "2.0.0", "2.1.0"]
    assert found.axis == "release"


def test_the_values_of_an_option_stand_in_the_order_of_numbers(tmp_path: Path) -> None:
    run = releases(tmp_path / "r")
    values = {"sqlite@cache_mib-256": "256", "sqlite@cache_mib-16": "16", "sqlite@cache_mib-64": "64", "sqlite@x": "1"}
    known = {name: VariantFacts(engine="sqlite", sweep="" if name.endswith("x") else "cache_mib") for name in values}
    options = {name: {"cache_mib": value} for name, value in values.items()}
    manifest = run.manifest.model_copy(update={"variants": known, "options": options})
    (found,) = series(manifest)
    assert [point.label for point in found.points] == ["16", "64", "256"]


def test_one_variant_is_no_series(tmp_path: Path) -> None:
    assert series(releases(tmp_path / "r", {"1.9.0": 1.0}).manifest) == ()


def test_changes_from_one_point_to_the_next_are_marked(tmp_path: Path) -> None:
    run = releases(tmp_path / "r")
    (found,) = series(run.manifest)
    marked = changes(view(run).rows, found)
    join = {engine: verdict for (_, step, engine), verdict in marked.items() if step == "join-1"}
    assert join["duckdb@1.10"] is ComparisonVerdict.SLOWER
    assert join["duckdb@2.0"] is ComparisonVerdict.FASTER


@pytest.mark.parametrize("publish", [False, True])
def test_the_report_has_a_chart_over_releases(publish: bool, tmp_path: Path) -> None:
    run = releases(tmp_path / "r", sqlite=Fake("SQLite"))
    written = write_report(view(run, publish=publish), ("html", "md", "png"))
    folder = next(path for path in written if path.suffix == ".html").parent
    assert (folder / "invoices-over_duckdb-release.png").is_file()
    assert "invoices-over_duckdb-release.svg" in (folder / "index.md").read_text()
    page = (folder / "index.html").read_text()
    for words in ("1.10.1", "DuckDB over its releases", "slower"):
        assert words in page


def all_failed(suite: Suite) -> dict[str, tuple[Outcome, str]]:
    return {step.name: (Outcome.FAILED, "no") for step in suite.scenarios[0].steps}


def test_a_release_that_failed_leaves_a_gap(tmp_path: Path, invoices: Suite) -> None:
    shown = view(releases(tmp_path / "r", **{"duckdb@2.0": Fake("DuckDB [2.0]", bad=all_failed(invoices))}))
    assert next(name for name, _ in figures(shown, shown.scenarios[0])) == "invoices-over_duckdb-release"


def test_where_every_release_failed_there_is_no_chart(tmp_path: Path, invoices: Suite) -> None:
    broken = {f"duckdb@{name[:-2]}": Fake("DuckDB", bad=all_failed(invoices)) for name in SLOW}
    shown = view(releases(tmp_path / "r", sqlite=Fake("SQLite"), **broken))
    assert not any("over_" in name for name, _ in figures(shown, shown.scenarios[0]))
