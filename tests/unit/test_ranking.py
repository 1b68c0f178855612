"""Ranks and intervals against simulated measurements whose truth is known."""

import math

import numpy as np
import pytest
from scipy import stats

from dbbench.analysis.ranking import Rank, chance, fewest_blocks, fewest_rounds, paired_chance, ranks, told_apart
from dbbench.analysis.statistics import Estimate, estimate, paired_mean, paired_ratio

NOISE = 0.02


def drifting(random: np.random.Generator, count: int, rounds: int, drift: float) -> np.ndarray:
    """Logarithms of a machine that becomes slower by `drift` over a run, as each engine meets it in its turns."""
    turns = np.array([random.permutation(count) for _ in range(rounds)]).T / count
    return np.log1p(drift) * (np.arange(rounds) + turns) / rounds


def engines(
    random: np.random.Generator, medians: list[float], rounds: int, noise: float = NOISE, drift: float = 0
) -> dict[str, np.ndarray]:
    """Blocks of some engines with a true median each; lognormal noise, as times have."""
    shared = np.exp(drifting(random, len(medians), rounds, drift))
    return {
        f"e{number}": median * shared[number] * random.lognormal(0, noise, rounds)
        for number, median in enumerate(medians)
    }


def found(blocks: dict[str, list[float]], *, exact: bool = False) -> dict[str, str]:
    """Engine -> its rank as it is shown."""
    apart = told_apart(blocks, exact=exact)
    assert apart is not None
    return {engine: str(rank) for engine, rank in ranks(blocks, apart).items()}


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
@pytest.mark.parametrize("drift", [0, 0.3])
def test_intervals_of_ratios_cover_the_truth_and_drift_makes_them_little_wider(rounds: int, drift: float) -> None:
    random = np.random.default_rng(rounds)
    cases = [engines(random, [1.1, 1.0], rounds, drift=drift) for _ in range(300)]
    found = [paired_ratio(case["e0"], case["e1"]) for case in cases]
    assert sum(each.low <= 1.1 <= each.high for each in found) / 300 >= 0.93
    assert np.mean([each.high - each.low for each in found]) < 0.12  # with the sides resampled apart 0.25 to 0.3


@pytest.mark.parametrize("rounds", [6, 8])
def test_the_interval_of_an_overall_mean_covers_the_truth(rounds: int) -> None:
    """Four steps in trials that have noise of their own, as one that met a slow moment has in all its steps."""
    random = np.random.default_rng(rounds)
    covered = 0
    for _ in range(60):
        trials = [random.lognormal(0, NOISE, rounds) for _ in range(2)]
        pairs = [
            tuple(
                scale * trial * random.lognormal(0, NOISE, rounds)
                for scale, trial in zip((1.3, 1), trials, strict=True)
            )
            for _ in range(4)
        ]
        mean = paired_mean(pairs)
        covered += mean.low <= 1.3 <= mean.high
    assert covered / 60 >= 0.9


def test_a_mean_of_one_step_is_its_ratio() -> None:
    ours, theirs = [2.0, 3.0, 4.0], [1.0, 1.0, 2.0]
    assert paired_ratio(ours, theirs) == Estimate(3, 2, 3)
    assert paired_mean([(ours, theirs)]) == Estimate(*map(pytest.approx, (3, 2, 3)))
    assert paired_ratio([2.0], [1.0]) == Estimate(2, None, None)


#: Logarithms of what a round adds for one engine alone: normal, with far outliers, with slow spikes, skewed, of other
#: kinds for other engines, and in whole ticks of a coarse clock.
NOISES = {
    "normal": lambda random, shape: random.normal(0, NOISE, shape),
    "heavy tails": lambda random, shape: NOISE * random.standard_t(2, shape),
    "spikes": lambda random, shape: (
        random.normal(0, NOISE, shape) + (random.random(shape) < 0.1) * random.exponential(0.4, shape)
    ),
    "skewed": lambda random, shape: random.exponential(2 * NOISE, shape),
    "uneven": lambda random, shape: random.normal(0, 1, shape) * np.geomspace(0.005, 0.2, shape[0])[:, None],
    "one in spikes": lambda random, shape: (
        random.normal(0, NOISE, shape) + (random.random(shape) < 0.2) * 0.5 * (np.arange(shape[0]) == 0)[:, None]
    ),
    "ticks": lambda random, shape: NOISE * np.round(random.normal(0, 1, shape)),
}


@pytest.mark.parametrize("drift", [0, 0.3])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("count", "rounds", "runs"), [(2, 5, 200), (5, 6, 80), (12, 7, 20)])
def test_equal_engines_are_told_apart_in_5_of_100_runs_at_most(
    count: int, rounds: int, runs: int, noise: str, drift: float
) -> None:
    """Any pair of a step, under any noise. ADR 15 has 60 engines."""
    random = np.random.default_rng(count)
    false = 0
    for _ in range(runs):
        logarithms = NOISES[noise](random, (count, rounds)) + drifting(random, count, rounds, drift)
        false += bool(told_apart({str(number): row for number, row in enumerate(np.exp(logarithms))}))
    assert false <= 0.05 * runs + 2 * (0.05 * 0.95 * runs) ** 0.5


@pytest.mark.parametrize("drift", [0, 0.3])
@pytest.mark.parametrize("count", [2, 4, 12])
def test_engines_10_percent_apart_are_told_apart_also_while_the_machine_drifts(count: int, drift: float) -> None:
    """Unpaired, the power falls from 1.00 to 0.02 with a drift of 30 %."""
    random = np.random.default_rng(count)
    near = 0.0
    for _ in range(30):
        apart = told_apart(
            engines(random, [1.1**number for number in range(count)], fewest_rounds(count) + 1, drift=drift)
        )
        near += sum((f"e{number}", f"e{number + 1}") in (apart or ()) for number in range(count - 1)) / (count - 1)
    assert near / 30 >= 0.9


def test_less_than_2_percent_is_equal_however_sure() -> None:
    blocks = {"a": [1.0, 1.0001, 1.0002, 1.0003, 1.0004], "b": [1.019, 1.0191, 1.0192, 1.0193, 1.0194]}
    assert paired_chance(blocks["a"], blocks["b"]) < 0.01
    assert found(blocks) == {"a": "1-2", "b": "1-2"}


def test_engines_that_are_not_told_apart_have_the_same_range() -> None:
    random = np.random.default_rng(1)
    assert list(found(engines(random, [1, 2, 2, 4], 6)).values()) == ["1", "2-3", "2-3", "4"]


def test_a_noisy_engine_has_a_wide_range_and_makes_none_of_the_others_worse() -> None:
    blocks = {
        "a": [1, 1.01, 1.02, 1.03, 1.04, 1.05],
        "b": [1.2, 1.21, 1.22, 1.23, 1.24, 1.25],
        "c": [0.5, 0.6, 2, 2.1, 2.2, 2.3],
    }
    assert found(blocks) == {"a": "1-2", "b": "2-3", "c": "1-3"}


def test_ties_that_overlap_are_not_made_into_groups() -> None:
    """Issue 17.4: three shared 1=, and then one stood alone at 2 that could not be told from four others."""
    assert {name: str(rank) for name, rank in ranks("abcd", {("a", "c"), ("a", "d"), ("b", "d")}).items()} == {
        "a": "1-2", "b": "1-3", "c": "2-4", "d": "3-4",
    }  # fmt: skip
    assert ranks("ab", set()) == {"a": Rank(1, 2), "b": Rank(1, 2)}


@pytest.mark.parametrize(("count", "rounds"), [(2, 4), (5, 5), (8, 6), (13, 7)])
def test_too_few_rounds_give_no_ranks(count: int, rounds: int) -> None:
    assert fewest_rounds(count) > rounds
    assert told_apart(engines(np.random.default_rng(1), [2.0**n for n in range(count)], rounds)) is None


def test_one_engine_has_no_rank() -> None:
    assert told_apart({"a": [1, 2, 3, 4, 5, 6]}) is None


def test_sizes_need_no_test() -> None:
    assert found({"a": [100.0], "b": [101.0], "c": [150.0]}, exact=True) == {"a": "1-2", "b": "1-2", "c": "3"}


@pytest.mark.parametrize("count", [4, 5, 7, 8, 12, 13, 22, 23, 40, 60, 71, 72, 300])
def test_fewest_rounds_find_10_percent_in_nine_of_ten_runs(count: int) -> None:
    """By the noncentral t distribution of scipy: 2 % of noise on each side, at Holm's first hurdle for all pairs."""

    def power(rounds: int) -> float:
        hurdle = stats.t.isf(0.05 / 2 / math.comb(count, 2), rounds - 1)
        return float(stats.nct.sf(hurdle, rounds - 1, math.log(1.1) / (NOISE * math.sqrt(2 / rounds))))

    assert power(fewest_rounds(count)) >= 0.9
    assert fewest_rounds(count) == 5 or power(fewest_rounds(count) - 1) < 0.9


def test_the_paired_test_is_scipys() -> None:
    random = np.random.default_rng(1)
    ours, theirs = random.lognormal(0, NOISE, (2, 7))
    wanted = stats.ttest_rel(np.log(ours), np.log(theirs)).pvalue
    assert paired_chance(ours, theirs) == pytest.approx(wanted)
    assert paired_chance([1, 2, 4], [1, 2, 4]) == 1
    assert paired_chance([1, 2, 4], [2, 4, 8]) < 1e-20
    assert paired_chance([1, 2, 0], [2, 4, 8]) == 1
    assert paired_chance([1, 2, math.inf], [2, 4, 8]) == 1


def test_fewest_blocks_of_two_runs_are_those_of_the_exact_test() -> None:
    """The smallest p value that the test can give, from scipy itself, against Holm's first hurdle."""
    for tests in (1, 3, 10, 21, 45, 210, 1770):
        blocks = fewest_blocks(tests)
        assert chance(range(blocks), range(100, 100 + blocks)) <= 0.05 / tests
        assert chance(range(blocks - 1), range(100, 99 + blocks)) > 0.05 / tests
