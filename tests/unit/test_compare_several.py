"""Several runs a side: what is known of how runs differ among themselves, and what that allows to say."""

from dataclasses import replace

import numpy as np
import pytest

from dbbench.analysis.compare import compare
from dbbench.analysis.gate import beyond
from dbbench.analysis.row import Row
from dbbench.analysis.verdicts import ComparisonVerdict, Pair, compare_rows
from dbbench.errors import UserError
from dbbench.report.terminal.comparison import alone_words, pair_detail
from dbbench.report.warnings import comparison_warnings
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult
from dbbench.suite.model import Suite
from tests.unit.compared import many, row, side, terminal

# Truth known: what differs from run to run and from round to round


def simulated(
    factor: float, seed: int, runs: int, between: float = 0.05, within: float = 0.02, steps_slower: int = 7
) -> list[Pair]:
    """An engine with seven steps; each run has six rounds, and an effect of its own in each step."""
    random = np.random.default_rng(seed)

    def side(times_slower: float) -> list[list[Row]]:
        slower = [times_slower] * steps_slower + [1.0] * (7 - steps_slower)
        return [
            [
                row(tuple(each * random.lognormal(0, between) * random.lognormal(0, within, 6)), f"s{step}")
                for step, each in enumerate(slower)
            ]
            for _ in range(runs)
        ]

    return compare_rows(side(1.0), side(factor))


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbbench.analysis.statistics.RESAMPLES", 200)


@pytest.mark.parametrize(("runs", "between"), [(1, 0.03), (1, 0.05), (2, 0.05), (4, 0.03), (4, 0.05), (6, 0.05)])
@pytest.mark.usefixtures("few_resamples")
def test_equal_runs_are_called_different_in_at_most_one_of_twenty(runs: int, between: float) -> None:
    wrong = sum(
        any(
            pair.verdict in (ComparisonVerdict.SLOWER, ComparisonVerdict.FASTER)
            for pair in simulated(1.0, seed, runs, between)
        )
        for seed in range(200 if runs > 1 else 100)
    )
    assert wrong <= (10 if runs > 1 else 5)


@pytest.mark.parametrize("runs", [3, 4, 6])
def test_a_slowdown_is_found_as_often_as_is_said(runs: int) -> None:
    """In four of five cases, if it is the only step that is slower; what is visible is itself an estimate."""
    seen = np.median([[pair.visible for pair in simulated(1.0, seed, runs)] for seed in range(50)])
    found = [
        pair.verdict is ComparisonVerdict.SLOWER
        for seed in range(100)
        for pair in simulated(float(seen), seed, runs, steps_slower=1)
        if pair.step == "s0"
    ]
    assert 0.6 <= np.mean(found) <= 0.9


def test_six_runs_find_a_fifth_and_hold_up_the_gate() -> None:
    pairs = [pair for seed in range(20) for pair in simulated(1.2, seed, 6, between=0.04)]
    assert sum(pair.verdict is ComparisonVerdict.SLOWER for pair in pairs) >= 0.95 * len(pairs)
    assert not any(pair.verdict in (ComparisonVerdict.FASTER, ComparisonVerdict.SAME) for pair in pairs)
    assert all(beyond(simulated(1.2, seed, 6, between=0.04), 0.05) for seed in range(20))


@pytest.mark.usefixtures("few_resamples")
def test_one_run_a_side_finds_no_tenth_but_says_so() -> None:
    """Two runs of the same thing differ by as much."""
    pairs = simulated(1.1, 1, 1, between=0)
    assert {pair.verdict for pair in pairs} == {ComparisonVerdict.UNSURE}
    assert all(1.2 < (pair.visible or 0) < 1.4 for pair in pairs)


@pytest.mark.parametrize("runs", [2, 4])
def test_the_interval_of_several_runs_covers_the_truth(runs: int) -> None:
    pairs = [pair for seed in range(60) for pair in simulated(1.1, seed, runs)]
    covered = np.mean([pair.ratio is not None and pair.ratio.low <= 1.1 <= pair.ratio.high for pair in pairs])  # type: ignore[operator]
    assert 0.92 <= covered <= 0.99


@pytest.mark.parametrize("runs", [4, 6])
def test_a_difference_beyond_the_margin_is_hardly_ever_called_the_same(runs: int) -> None:
    pairs = [pair for seed in range(60) for pair in simulated(1.06, seed, runs, between=0.02)]
    assert sum(pair.verdict is ComparisonVerdict.SAME for pair in pairs) <= 0.025 * len(pairs)


def test_runs_that_are_all_equal_are_no_division_by_zero() -> None:
    steady = [[row((1.0,) * 3)], [row((1.0,) * 3)]]
    twice = [[row((2.0,) * 3)], [row((2.0,) * 3)]]
    assert compare_rows(steady, steady)[0].verdict is ComparisonVerdict.SAME
    assert compare_rows(steady, twice)[0].verdict is ComparisonVerdict.SLOWER


# Several runs a side


def test_several_runs_a_side_count_once_each(small: Suite) -> None:
    found = compare(many(small, "old"), many(small, "new", 1.06), gate=0.05)
    assert {pair.verdict for pair in found.pairs} == {ComparisonVerdict.SLOWER}
    text = " ".join(terminal(found, 0.05).split())
    assert "old: old-1, 2026-01-02" in text
    assert "new: new-4, 2026-01-15" in text
    assert "runs of a side differ by 0.3% to 0.3%" in text
    assert "a slowdown is found four times in five from 0.74 %" in text
    assert "Welch's t test" in text


def test_one_run_a_side_says_what_it_cannot_know(small: Suite) -> None:
    text = " ".join(terminal(compare([side(small)], [side(small, "r2")], gate=0.05), 0.05).split())
    assert "a standard deviation of 5 % is assumed" in text
    assert "gate: undecided at 5 %: no timed step of a could be decided" in text
    assert "several runs a side find smaller ones" in text


def test_one_run_against_several_is_refused(small: Suite) -> None:
    with pytest.raises(
        UserError, match="1 old and 4 new runs can't be compared: give one on each side, or two or more"
    ):
        compare([side(small)], many(small, "new"))


def test_a_run_named_on_both_sides_is_refused(small: Suite) -> None:
    old, new = many(small, "old"), many(small, "new")
    with pytest.raises(UserError, match="old-2 and old-2 are one and the same run"):
        compare(old, [*new, old[1]])


def test_a_step_that_is_not_ok_in_one_run_of_a_side_broke(small: Suite) -> None:
    new = many(small, "new")
    harmed = [
        one.model_copy(update={"steps": tuple(StepResult(name=s.name, outcome=Outcome.CRASHED, detail="signal 11") for s in one.steps)})
        for one in new[2].results
    ]  # fmt: skip
    new[2] = replace(new[2], results=harmed)
    found = compare(many(small, "old"), new, gate=0.05)
    assert {(pair.verdict, pair_detail(pair)) for pair in found.pairs} == {
        (ComparisonVerdict.BROKE, "was ok, now crashed: signal 11")
    }


def test_runs_of_one_side_that_are_of_different_things_are_told(small: Suite) -> None:
    new = many(small, "new")
    newer = {"versions": {"A": "2.0"}, "settings": {"cache_mib": 64}}
    new[1] = side(small, "new-2", created=new[1].manifest.created, engine=newer)
    (warning,) = comparison_warnings(compare(many(small, "old"), new))
    assert warning == "new-1 and new-2 are on the same side but differ: a: A: 1.4 -> 2.0"


def test_what_not_every_run_has_is_listed(small: Suite) -> None:
    old = many(small, "old")
    for n in (1, 2):
        engines = {**old[n].manifest.engines, "b": {"status": "absent", "detail": "no module"}}
        old[n] = side(small, old[n].name, created=old[n].manifest.created, engines=engines)
    found = compare(old, many(small, "new"))
    assert [*map(alone_words, found.gone)] == ["in old-1, old-2, old-3, old-4, but not in every run: engine b"]
