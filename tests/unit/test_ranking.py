"""Places and intervals against simulated measurements whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from dbbench.analysis.ranking import Place, chance, places
from dbbench.analysis.statistics import estimate, ratio_estimate
from dbbench.plan import fewest_rounds

NOISE = 0.02


def engines(
    random: np.random.Generator, medians: list[float], rounds: int, noise: float = NOISE
) -> dict[str, list[float]]:
    """Blocks of some engines with a true median each; lognormal noise, as times have."""
    return {f"e{number}": list(median * random.lognormal(0, noise, rounds)) for number, median in enumerate(medians)}


@pytest.mark.parametrize("rounds", [6, 7, 8, 10])
def test_intervals_cover_the_truth_in_about_95_of_100_cases(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    found = [estimate(random.lognormal(0, NOISE, rounds)) for _ in range(600)]
    covered = sum(each.low <= 1 <= each.high for each in found) / len(found)
    assert 0.93 <= covered <= 0.995


def test_with_five_rounds_they_cover_a_little_less() -> None:
    """No interval within the sample can do better: 1 - 2 / 2**5 = 93.75 %."""
    random = np.random.default_rng(5)
    found = [estimate(random.lognormal(0, NOISE, 5)) for _ in range(1000)]
    assert 0.91 <= sum(each.low <= 1 <= each.high for each in found) / 1000 <= 0.96


@pytest.mark.parametrize("rounds", [5, 6, 8])
def test_intervals_of_ratios_cover_the_truth(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    found = [
        ratio_estimate(1.1 * random.lognormal(0, NOISE, rounds), random.lognormal(0, NOISE, rounds)) for _ in range(400)
    ]
    assert sum(each.low <= 1.1 <= each.high for each in found) / 400 >= 0.93


@pytest.mark.parametrize(("count", "rounds"), [(2, 4), (3, 5), (5, 6), (7, 6)])
def test_equal_engines_share_the_first_place_in_95_of_100_cases(count: int, rounds: int) -> None:
    random = np.random.default_rng(count)
    noise = 0.1  # wide, so that the 2 % band alone would not hold them together
    found = [places(engines(random, [1.0] * count, rounds, noise)) for _ in range(300)]
    assert sum(set(each.values()) == {Place(1, shared=True)} for each in found) / 300 >= 0.95


@pytest.mark.parametrize("count", [2, 4, 6])
def test_engines_10_percent_apart_are_told_apart_by_6_rounds(count: int) -> None:
    random = np.random.default_rng(count)
    for _ in range(100):
        found = places(engines(random, [1.1**number for number in range(count)], 6))
        assert [found[f"e{number}"] for number in range(count)] == [Place(n + 1, shared=False) for n in range(count)]


def test_less_than_2_percent_is_equal_however_sure() -> None:
    blocks = {"a": [1.0, 1.0001, 1.0002, 1.0003, 1.0004], "b": [1.019, 1.0191, 1.0192, 1.0193, 1.0194]}
    assert chance(blocks["a"], blocks["b"]) < 0.01
    assert places(blocks) == {"a": Place(1, shared=True), "b": Place(1, shared=True)}


def test_a_tie_behind_the_first_is_counted_like_in_sport() -> None:
    random = np.random.default_rng(1)
    found = places(engines(random, [1, 2, 2, 4], 6))
    assert [str(found[name]) for name in ("e0", "e1", "e2", "e3")] == ["1", "2=", "2=", "4"]


def test_a_noisy_engine_never_stands_before_one_with_a_better_median() -> None:
    blocks = {
        "a": [1, 1.01, 1.02, 1.03, 1.04, 1.05],
        "b": [1.2, 1.21, 1.22, 1.23, 1.24, 1.25],
        "c": [0.5, 0.6, 2, 2.1, 2.2, 2.3],
    }
    found = places(blocks)
    assert [found[name].number for name in "abc"] == [1, 2, 2]


@pytest.mark.parametrize(("count", "rounds"), [(2, 3), (4, 4), (5, 5), (8, 6)])
def test_too_few_rounds_give_no_places(count: int, rounds: int) -> None:
    assert fewest_rounds(count) > rounds
    assert places(engines(np.random.default_rng(1), [2.0**n for n in range(count)], rounds)) == {}


def test_one_engine_has_no_place() -> None:
    assert places({"a": [1, 2, 3, 4, 5, 6]}) == {}


def test_sizes_need_no_test() -> None:
    found = places({"a": [100.0], "b": [101.0], "c": [150.0]}, exact=True)
    assert [str(found[name]) for name in "abc"] == ["1=", "1=", "3"]


def test_fewest_rounds_are_those_of_the_exact_test() -> None:
    """The smallest p value that the test can give, from scipy itself, against Holm's first hurdle."""
    for count in (2, 3, 5, 7, 10):
        rounds, pairs = fewest_rounds(count), count * (count - 1) // 2
        assert chance(range(rounds), range(100, 100 + rounds)) <= 0.05 / pairs
        assert chance(range(rounds - 1), range(100, 99 + rounds)) > 0.05 / pairs
