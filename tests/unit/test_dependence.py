"""Rounds that depend on the rounds before them, simulated: what that makes of intervals and tests, and what corrects it."""

from __future__ import annotations

import numpy as np
import pytest

from dbbench.analysis.dependence import INDEPENDENT, Dependence, dependence, inflation, stretched
from dbbench.analysis.ranking import told_apart
from dbbench.analysis.statistics import Estimate, estimate

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
