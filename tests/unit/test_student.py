"""Distributions and tests give what scipy's give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from dbbench.analysis.student import (
    noncentrality,
    rank_sum_chance,
    student_cdf,
    student_quantile,
    trend_chance,
)


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 10, 59, 300, 3.7])
def test_students_distribution_is_scipys(freedom: float) -> None:
    for value in (-1e8, -40, -2.7, -1, -0.1, 0, 0.5, 2, 40):
        assert student_cdf(value, freedom) == pytest.approx(special.stdtr(freedom, value), rel=1e-12)
    for share in (1e-6, 0.025, 0.3, 0.5, 0.975):
        assert student_quantile(share, freedom) == pytest.approx(special.stdtrit(freedom, share), rel=1e-11, abs=1e-12)


def test_nothing_is_below_all_values() -> None:
    assert student_cdf(-1e200, 5) == 0
    assert student_cdf(1e200, 5) == 1


@pytest.mark.parametrize("count", [2, 3, 5, 6, 10, 33, 34, 50])
def test_kendalls_test_is_scipys_with_and_without_ties(count: int) -> None:
    random = np.random.default_rng(count)
    several = [random.normal(size=count), np.arange(count), -np.arange(count), np.r_[0, 0, random.normal(size=count)]]
    several += [random.integers(0, 4, count) + np.r_[9, np.zeros(count - 1)] for _ in range(5)]
    for values in several:
        wanted = stats.kendalltau(range(len(values)), values).pvalue
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


@pytest.mark.parametrize("freedom", [1, 1.7, 2, 3, 4.2, 9, 60, 1000])
@pytest.mark.parametrize("value", [0.5, 2.5, 12.7])
def test_the_noncentral_distribution_is_scipys(freedom: float, value: float) -> None:
    for share in (0.2, 0.5):
        found = noncentrality(freedom, share, value)
        assert stats.nct.cdf(value, freedom, found) == pytest.approx(share, abs=1e-6)


def test_with_infinite_freedom_it_is_the_normal_distribution() -> None:
    assert student_cdf(-1.3, math.inf) == pytest.approx(special.ndtr(-1.3), rel=1e-14)
    assert student_quantile(0.975, math.inf) == pytest.approx(special.ndtri(0.975), rel=1e-12)
    assert noncentrality(math.inf, 0.2, 2.0) == pytest.approx(2 - special.ndtri(0.2), rel=1e-12)
