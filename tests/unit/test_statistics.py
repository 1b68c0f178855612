"""Medians, their intervals, the mean of ratios, and the distributions behind them, against scipy's."""

import itertools
import math
from statistics import geometric_mean

import numpy as np
import pytest
from scipy import special, stats

from dbbench.analysis.statistics import (
    Estimate,
    estimate,
    noncentrality,
    paired_mean,
    rank_sum_chance,
    ratio_estimate,
    student_cdf,
    student_quantile,
    trend_chance,
)


@pytest.mark.parametrize(
    ("blocks", "wanted"),
    [
        ([4.0], Estimate(4, None, None)),
        ([3.0, 1.0], Estimate(2, 1, 3)),
        ([5.0, 1.0, 2.0], Estimate(2, 1, 5)),
        # Of five, the least is the median of a resample with probability 0.058: the interval is all of them.
        ([9.0, 1.0, 2.0, 3.0, 4.0], Estimate(3, 1, 9)),
        # Of seven with 0.0102, more than the tail of 0.0041 (though less than 0.025, not spread for few blocks).
        ([7.0, 1.0, 2.0, 6.0, 3.0, 5.0, 4.0], Estimate(4, 1, 7)),
        # Of nine it is so with 0.0014, less than the tail of 0.0072; the least or the second with 0.03.
        ([7.0, 1.0, 2.0, 9.0, 6.0, 3.0, 5.0, 4.0, 8.0], Estimate(5, 2, 8)),
        ([2.5] * 5, Estimate(2.5, 2.5, 2.5)),
    ],
)
def test_an_estimate_is_the_median_with_its_bootstrap_interval(blocks: list[float], wanted: Estimate) -> None:
    assert estimate(blocks) == wanted


def test_an_estimate_is_the_same_every_time_and_scales_with_its_unit() -> None:
    blocks = [1.0, 1.5, 2.25, 4.0, 8.0, 3.5, 1.25, 6.0, 5.0]
    first = estimate(blocks)
    assert first.low is not None
    assert first.high is not None
    assert min(blocks) < first.low < first.value < first.high < max(blocks)
    assert estimate(blocks) == first
    assert estimate([block * 4 for block in blocks]) == Estimate(first.value * 4, first.low * 4, first.high * 4)


@pytest.mark.parametrize(
    ("ours", "theirs", "wanted"),
    [
        ([3.0], [2.0], Estimate(1.5, None, None)),
        ([3.0, 4.0], [2.0], Estimate(1.75, None, None)),
        ([6.0, 6.0], [2.0, 2.0], Estimate(3, 3, 3)),
        # Two blocks each: a median is the least or the greatest with probability 1/4.
        ([6.0, 12.0], [2.0, 3.0], Estimate(3.6, 2, 6)),
    ],
)
def test_a_ratio_is_that_of_the_medians_with_its_interval(
    ours: list[float], theirs: list[float], wanted: Estimate
) -> None:
    assert ratio_estimate(ours, theirs) == wanted


def test_there_is_no_ratio_to_nothing() -> None:
    with pytest.raises(ValueError, match="not above zero"):
        ratio_estimate([1.0], [0.0])


def test_the_mean_over_steps_is_the_geometric_one_of_their_ratios() -> None:
    assert paired_mean([([1.0], [1.0]), ([8.0], [2.0])]).value == pytest.approx(2)
    assert paired_mean([([3.0], [1.0])]).value == pytest.approx(3)


def test_the_order_by_geometric_mean_does_not_depend_on_what_the_ratios_are_to() -> None:
    times = {"a": [1.0, 90.0, 3.0], "b": [2.0, 30.0, 4.0], "c": [9.0, 10.0, 1.0]}
    orders = {
        tuple(sorted(times, key=lambda name: geometric_mean([t / b for t, b in zip(times[name], base, strict=True)])))
        for base in itertools.product([1.0, 50.0], repeat=3)
    }
    assert len(orders) == 1


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 10, 59, 300, 3.7])
def test_students_distribution_is_scipys(freedom: float) -> None:
    for value in (-1e8, -40, -2.7, -1, -0.1, 0, 0.5, 2, 40):
        assert student_cdf(value, freedom) == pytest.approx(special.stdtr(freedom, value), rel=1e-12)
    for share in (1e-6, 0.025, 0.3, 0.5, 0.975):
        assert student_quantile(share, freedom) == pytest.approx(special.stdtrit(freedom, share), rel=1e-11, abs=1e-12)


def test_nothing_is_below_all_values() -> None:
    assert student_cdf(-1e200, 5) == 0
    assert student_cdf(1e200, 5) == 1


@pytest.mark.parametrize("count", [3, 5, 6, 10, 33, 50])
def test_kendalls_test_is_scipys_with_and_without_ties(count: int) -> None:
    random = np.random.default_rng(count)
    several = [random.normal(size=count), np.arange(count), -np.arange(count), np.r_[0, 0, random.normal(size=count)]]
    several += [random.integers(0, 4, count) + np.r_[9, np.zeros(count - 1)] for _ in range(5)]
    for values in several:
        wanted = stats.kendalltau(range(len(values)), values, method="asymptotic").pvalue
        assert trend_chance(values.tolist()) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


def test_values_that_are_all_the_same_have_no_trend() -> None:
    assert trend_chance([3.0] * 6) == 1


def test_of_values_without_ties_the_rank_sum_test_is_exact() -> None:
    random = np.random.default_rng(1)
    for sizes in ((1, 1), (2, 5), (5, 5), (8, 8), (9, 14), (20, 20)):
        one, two = (random.normal(size=size) for size in sizes)
        wanted = stats.mannwhitneyu(one, two, method="exact").pvalue
        assert rank_sum_chance(one.tolist(), two.tolist()) == pytest.approx(wanted, rel=1e-12)


def test_of_values_with_ties_the_rank_sum_test_is_scipys() -> None:
    random = np.random.default_rng(2)
    for sizes in ((2, 5), (5, 5), (9, 14)):
        one, two = (np.r_[7, 7, random.integers(0, 4, size - 1)] for size in sizes)
        wanted = stats.mannwhitneyu(one, two, method="asymptotic").pvalue
        assert rank_sum_chance(one.tolist(), two.tolist()) == pytest.approx(wanted, rel=1e-12)
    assert rank_sum_chance([3.0, 3.0], [3.0]) == 1


@pytest.mark.parametrize("freedom", [2, 3, 4.2, 9, 60, 1000])
@pytest.mark.parametrize("tests", [1, 7, 100])
def test_what_is_visible_is_found_as_often_as_scipy_says(freedom: float, tests: int) -> None:
    least = student_quantile(1 - 0.025 / tests, freedom)
    assert stats.nct.sf(least, freedom, noncentrality(freedom, 0.2, least)) == pytest.approx(0.8, abs=0.015)


def test_with_infinite_freedom_it_is_the_normal_distribution() -> None:
    assert student_cdf(-1.3, math.inf) == pytest.approx(special.ndtr(-1.3), rel=1e-14)
    assert student_quantile(0.975, math.inf) == pytest.approx(special.ndtri(0.975), rel=1e-12)
    assert noncentrality(math.inf, 0.2, 2.0) == pytest.approx(2 - special.ndtri(0.2), rel=1e-12)
