"""Medians, their intervals, and the mean of ratios."""

from __future__ import annotations

import itertools
from statistics import geometric_mean

import pytest

from dbbench.analysis.statistics import Estimate, estimate, paired_mean, ratio_estimate


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
