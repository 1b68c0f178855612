"""Rounds that are odd, or depend on the rounds before them, simulated: what that makes of intervals and tests."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbbench.analysis import summary
from dbbench.analysis.dependence import INDEPENDENT, Dependence, dependence, inflation, stretched
from dbbench.analysis.paired import paired
from dbbench.analysis.ranking import told_apart
from dbbench.analysis.row import Row
from dbbench.analysis.standings import standings
from dbbench.analysis.statistics import Estimate, estimate
from dbbench.analysis.steadiness import unsteady
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.report.remarks import worded
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome
from dbbench.suite.model import Scenario
from tests.fabricated import Fake, fabricate
from tests.unit.test_report import printed

NOISE = 0.05
ENGINES, STEPS = 4, 7


def remembering(random: np.random.Generator, shape: tuple[int, ...], rounds: int, autocorrelation: float) -> np.ndarray:
    """Series of unit variance, the rounds last."""
    noise = random.standard_normal((rounds, *shape))
    series = [noise[0]]
    for fresh in noise[1:]:
        series.append(autocorrelation * series[-1] + np.sqrt(1 - autocorrelation**2) * fresh)
    return np.moveaxis(np.array(series), 0, -1)


def run(seed: int, *, rounds: int, own: float = 0.0, shared: float = 0.0, faster: float = 0.0) -> np.ndarray:
    """Trial means, steps by engines by rounds; the first engine is faster by a share."""
    random = np.random.default_rng(seed)
    noise = remembering(random, (STEPS, ENGINES), rounds, own) + remembering(random, (1, 1), rounds, shared)
    noise[:, 0] -= np.log1p(faster) / NOISE
    return np.exp(NOISE * noise)


def apart(means: np.ndarray, depends: Dependence) -> set[tuple[str, str]]:
    """The pairs of engines that the first step tells apart."""
    if not depends.ranks:
        return set()
    return told_apart({str(place): values for place, values in enumerate(means[0])}, inflation=depends.pairs) or set()


def share(runs: list[set[tuple[str, str]]], pairs: int = 1) -> float:
    return sum(map(len, runs)) / len(runs) / pairs if pairs > 1 else sum(map(bool, runs)) / len(runs)


def test_equal_engines_that_remember_are_rarely_told_apart() -> None:
    runs = [run(seed, rounds=8, own=0.5) for seed in range(150)]
    assert share([apart(means, INDEPENDENT) for means in runs]) > 0.2
    assert share([apart(means, dependence(means)) for means in runs]) <= 0.1


def test_rounds_that_remember_long_give_no_ranks() -> None:
    found = [dependence(run(seed, rounds=8, own=0.8)) for seed in range(60)]
    assert sum(not depends.ranks for depends in found) >= 0.8 * len(found)


def test_independent_rounds_keep_nine_tenths_of_the_power_and_their_ranks() -> None:
    runs = [run(seed, rounds=8, faster=0.1) for seed in range(150)]
    found = [dependence(means) for means in runs]
    assert all(depends.ranks for depends in found)
    before = share([apart(means, INDEPENDENT) for means in runs], pairs=ENGINES)
    after = share([apart(means, depends) for means, depends in zip(runs, found, strict=True)], pairs=ENGINES)
    assert after >= 0.9 * before > 0.3


@pytest.mark.parametrize("rounds", [5, 8, 10])
def test_intervals_cover_figures_of_rounds_that_share_what_slows_them(rounds: int) -> None:
    covered = {"before": 0, "after": 0}
    for seed in range(300):
        means = run(seed, rounds=rounds, shared=0.5)
        plain = estimate(means[0, 0])
        wide = stretched(plain, dependence(means).figures)
        covered["before"] += plain.low <= 1 <= plain.high
        covered["after"] += wide.low <= 1 <= wide.high
    assert covered["before"] < covered["after"]
    assert covered["after"] >= 0.9 * 300


def test_one_engine_or_few_rounds_are_compared_as_they_were() -> None:
    assert dependence([]) == INDEPENDENT
    assert dependence([[]]) == INDEPENDENT
    assert dependence([[[1.0, 1.1, 1.2], [1.0, 1.2, 1.1]]]) == INDEPENDENT
    alone = dependence([[[1.0, 1.1, 1.2, 1.3, 1.4, 1.5]]])
    assert alone.pairs == 1 < alone.figures


def test_means_without_logarithms_or_changes_are_left_out() -> None:
    means = [[1.0, 1.1, 0.9, 1.2, 1.0], [1.2, 1.0, 1.1, 0.9, 1.3]]
    assert dependence([means]) == dependence([[*means, [0.0] * 5, [2.0] * 5, [1.0, 2.0]]])


def test_an_interval_is_stretched_on_both_sides_and_never_narrowed() -> None:
    wide = stretched(Estimate(10.0, 8.0, 12.5), 2.0)
    assert (wide.low, wide.high) == pytest.approx((6.4, 15.625))
    assert stretched(Estimate(10.0, 8.0, 12.5), 1.0) == Estimate(10.0, 8.0, 12.5)
    assert stretched(Estimate(10.0, None, None), 2.0) == Estimate(10.0, None, None)
    assert stretched(Estimate(0.0, 0.0, 1.0), 2.0) == Estimate(0.0, 0.0, 1.0)


def test_independent_rounds_need_no_wider_errors() -> None:
    assert inflation(0.0, 8) == pytest.approx(1.0)
    assert inflation(0.5, 8) == pytest.approx(1.75, abs=0.1)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([17.9, 32.7, 34.0, 33.8, 33.5, 32.0], "1 of 6 are about 47% below the others, the highest is 1.90 times the lowest"),
        ([10, 10.1, 14, 10.05, 14.1, 14.05], "3 of 6 are about 28% below the others"),
        ([10, 12, 11, 14, 13, 15.5], "the highest is 1.55 times the lowest"),
        ([10, 10.4, 10.9, 11.3, 11.8, 12.2], "a drift of ×1.13 from the first half to the second"),
        ([10, 9.6, 9.2, 8.8, 8.5, 8.1], "a drift of ×0.89 from the first half to the second"),
        ([10, 10.2, 10.7, 11, 11.1, 11.1, 11, 10.8, 10.4, 10.1, 9.9, 9.8], "neighbouring rounds are alike (autocorrelation 0.72)"),
    ],
)  # fmt: skip
def test_rounds_that_are_not_of_one_kind_are_named(blocks: list[float], words: str) -> None:
    for same in (blocks, [block * 1000 for block in blocks]):
        assert ", ".join(map(worded, unsteady(same))) == words


@pytest.mark.parametrize("blocks", [[], [1.0], [1.0, 9.0], [0.0] * 6, [3.0] * 9, [10, 10.4, 9.9, 10.1, 10.3, 10.2]])
def test_steady_and_too_few_rounds_are_not(blocks: list[float]) -> None:
    assert unsteady(blocks) == ()


@pytest.mark.parametrize(("noise", "most"), [(0.02, 0.01), (0.05, 0.02)])
@pytest.mark.parametrize("rounds", [5, 6, 8, 10])
def test_independent_rounds_give_few_false_alarms(rounds: int, noise: float, most: float) -> None:
    random = np.random.default_rng(rounds)
    false = sum(bool(unsteady(random.lognormal(0, noise, rounds))) for _ in range(500))
    assert false / 500 <= most + 2 * (most / 500) ** 0.5


def test_a_run_without_ranks_says_how_much_its_rounds_depend(tmp_path: Path) -> None:
    """The first step has no figure to tell it by."""

    def later_half(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if result["engine_name"] == "a" and result["round"] > 4 and step.get("unit") == "s":
                step["value"] *= 1.5

    failed = {"bulk-insert": (Outcome.FAILED, "no memory")}
    fakes = {"a": Fake("A", bad=failed), "b": Fake("B", 3.0, bad=failed)}
    (warning,) = [
        text
        for text in view(fabricate(tmp_path / "run", fakes, rounds=8, change=later_half)).warnings
        if "neighbouring rounds are alike" in text
    ]
    assert float(re.findall(r"autocorrelation ([\d.]+)", warning)[0]) > 0.6


@dataclass(frozen=True)
class BothWays:
    """A run's rows as its rounds depend, and as if they didn't; its scenario."""

    corrected: list[Row]
    plain: list[Row]
    scenario: Scenario

    @property
    def rows(self) -> list[tuple[Row, Row]]:
        """Those of timed steps, one of each."""
        return [both for both in zip(self.corrected, self.plain, strict=True) if both[0].unit == "s"]


@pytest.fixture(scope="module", name="both")
def _both(tmp_path_factory: pytest.TempPathFactory) -> BothWays:
    """Eight rounds of two engines with autocorrelations of 0.5, own and shared; `b` is 8 % slower."""
    means = run(172, rounds=8, own=0.5, shared=0.5)

    def remember(result: dict[str, Any]) -> None:
        timed = (step for step in result["steps"] if step["unit"] == "s")
        for step, engines in zip(timed, means, strict=True):
            step["value"] *= engines["ab".find(result["engine_name"]), result["round"] - 1]

    fakes = {"a": Fake("A"), "b": Fake("B", 1.08)}
    made = fabricate(tmp_path_factory.mktemp("both") / "run", fakes, rounds=8, noise=0, change=remember)
    with pytest.MonkeyPatch.context() as patch:
        rows = []
        for how in (dependence, lambda _: INDEPENDENT):
            patch.setattr(summary, "dependence", how)
            rows.append(summary.summarise(made.suite, made.manifest, made.results()))
    return BothWays(*rows, made.suite.scenarios[0])


def test_intervals_of_figures_and_ratios_are_as_wide_as_rounds_depend(both: BothWays) -> None:
    for row, plain in both.rows:
        depends = row.dependence
        assert (depends.own, depends.shared) == pytest.approx((0.5, 0.5), abs=0.05)
        figure = stretched(Estimate(plain.value or 0, plain.low, plain.high), depends.figures)
        if row.ranked:
            assert (row.low, row.high) == (figure.low, figure.high) != (plain.low, plain.high)
        if row.ratio and row.ratio.value > 1:
            assert plain.ratio
            assert row.ratio == stretched(plain.ratio, depends.pairs) != plain.ratio


def test_ranks_are_given_by_the_corrected_test(both: BothWays) -> None:
    (ranks,) = [
        [str(each.rank) for each in rows] for rows in both.rows if (rows[0].step, rows[0].engine) == ("scan-1", "b")
    ]
    assert ranks == ["1-2", "2"]


def test_a_gates_verdicts_and_intervals_are_corrected(both: BothWays) -> None:
    pairs, plain = ({pair.step: pair for pair in paired(rows, "b", "a")} for rows in (both.corrected, both.plain))
    factor = both.corrected[0].dependence.pairs
    for step, pair in pairs.items():
        if pair.timed:
            found, wide = pair.ratio, stretched(plain[step].ratio or Estimate(0, None, None), factor)
            assert found
            assert (found.low, found.high) == pytest.approx((wide.low, wide.high))
    verdicts = [found["insert-1"].verdict for found in (pairs, plain)]
    assert verdicts == [ComparisonVerdict.UNSURE, ComparisonVerdict.SLOWER]


def test_the_interval_over_all_steps_is_corrected(both: BothWays) -> None:
    (mean, plain) = (
        next(found for found in standings(rows, both.scenario) if found.engine == "b")
        for rows in (both.corrected, both.plain)
    )
    wide = stretched(Estimate(plain.mean_ratio or 0, plain.low, plain.high), both.corrected[0].dependence.pairs)
    assert (mean.low, mean.high) == (wide.low, wide.high) != (plain.low, plain.high)


def test_a_throughput_is_as_wide_as_the_figure_that_it_stands_beside() -> None:
    rounds: tuple[StepFacts, ...] = tuple({"per_second": each} for each in (90, 95, 100, 100, 105, 110))
    alone, dependent = (
        Row("main", "calls", "a", "A", Outcome.OK, value=1.0, rounds=rounds, dependence=each).throughput
        for each in (INDEPENDENT, Dependence(figures=2.0))
    )
    assert alone
    assert dependent == stretched(alone, 2.0) != alone


def test_they_are_flagged_at_the_step_and_in_the_summary(tmp_path: Path) -> None:
    def second_level(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if result["engine_name"] == "a" and result["round"] == 1 and step["name"] == "join-1":
                step["value"] *= 0.53

    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, rounds=6, change=second_level)
    shown = view(run)
    step = shown.scenarios[0].step("join-1")
    assert [line.mark for line in step.lines] == ["1", ""]
    words = "unsteady rounds: 1 of 6 are about 4"
    assert step.footnotes[0].startswith(f"A: {words}")
    assert "unsteady rounds in 1 of 14 figures (join-1: a)" in " ".join(shown.warnings)
    write_report(shown, ("csv", "md", "html"))
    texts = [path.read_text("utf-8") for path in (run.path / "summary.csv", *run.report.glob("index.*"))]
    for text in ("\n".join(printed(shown)), *texts):
        assert words in " ".join(text.split())
