"""Ranks as ranges: the best and the worst rank that the rounds leave possible.

Two engines are told apart by a paired t test on the logarithms of their trial means, round by round, corrected for the
number of pairs in the step (Holm 1979), and only if their medians are at least 2 % apart: less than that is nothing to
choose a database by, however sure. What a round does to all engines alike cancels in each pair (see
docs/adr/0015-paired-rounds.md). Counting who is shown to be better and who is shown to be worse gives ranges that hold
for all engines together (Mogstad, Romano, Shaikh & Wilhelm 2024).
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np
import numpy.typing as npt

from dbbench.analysis.statistics import rank_sum_chance, student_cdf

#: Medians closer than this share are equal for any use.
BAND = 0.02
#: The chance at which two engines count as different, over all pairs of a step together.
SIGNIFICANCE = 0.05
#: The fewest rounds that give ranks, and the most engines that they rank, then those for one more round each.
LEAST_ROUNDS = 5
_MOST_ENGINES = (4, 7, 12, 22, 40, 71, 127, 227, 408)


@dataclass(frozen=True)
class Rank:
    """1 + the engines shown to be better, and the number of engines less those shown to be worse: "2" or "1-4"."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


Values = npt.NDArray[np.float64]
#: Two engines that are told apart, the better one first.
Pair = tuple[str, str]


def ranks(engines: Collection[str], apart: Collection[Pair]) -> dict[str, Rank]:
    """The rank of each engine, from those that are told apart."""
    ahead, behind = Counter(worse for _, worse in apart), Counter(better for better, _ in apart)
    return {engine: Rank(1 + ahead[engine], len(engines) - behind[engine]) for engine in engines}


def told_apart(
    trial_means: Mapping[str, Sequence[float]], *, higher: bool = False, exact: bool = False, inflation: float = 1.0
) -> set[Pair] | None:
    """The pairs of engines told apart by their trial means; None if there are too few. `higher`: more is better.

    The trial means of all engines are of the same rounds, in the same order. `exact` says that the values are no
    measurements (sizes): they are told apart by the 2 % alone. `inflation`: how much greater errors are than those of
    independent rounds (see `dependence`).
    """
    medians = {engine: median(values) for engine, values in trial_means.items()}
    order = sorted(trial_means, key=lambda engine: (-medians[engine] if higher else medians[engine], engine))
    if not exact and (len(order) < 2 or min(map(len, trial_means.values())) < fewest_rounds(len(order))):
        return None
    apart = {
        (first, second) for first, second in combinations(order, 2) if _gap(medians[first], medians[second]) >= BAND
    }
    return apart if exact else apart & separated(_chances({engine: trial_means[engine] for engine in order}, inflation))


def _gap(first: float, second: float) -> float:
    """How much greater one median is than the other, as a share of the lesser."""
    low, high = sorted((first, second))
    return (high - low) / low if low else math.inf if high else 0.0


def _chances(trial_means: Mapping[str, Sequence[float]], inflation: float) -> dict[Pair, float]:
    """The p value of the paired test for each pair of engines, in their order."""
    order, values = [*trial_means], np.array([*trial_means.values()], dtype=float)
    return {
        (first, second): found
        for place, first in enumerate(order[:-1])
        for second, found in zip(
            order[place + 1 :], _paired_chances(values[place], values[place + 1 :], inflation), strict=True
        )
    }


def separated(chances: Mapping[tuple[str, str], float]) -> set[tuple[str, str]]:
    """Tests that succeed, by their p values, after Holm's correction for their number."""
    found = set()
    for index, (value, key) in enumerate(sorted((value, key) for key, value in chances.items())):
        if value > SIGNIFICANCE / (len(chances) - index):
            break
        found.add(key)
    return found


def paired_chance(first: Sequence[float], second: Sequence[float], inflation: float = 1.0) -> float:
    """The two-sided p value of the paired t test (Student 1908) on logarithms; 1 where a trial mean has none."""
    (found,) = _paired_chances(np.asarray(first, dtype=float), np.asarray([second], dtype=float), inflation)
    return found


def _paired_chances(ours: Values, others: Values, inflation: float) -> Iterator[float]:
    """The paired test of an engine's trial means against each of some others': `others` is engines by rounds."""
    fit = (others.min(axis=1) > 0) & np.isfinite(others).all(axis=1) & (ours.min() > 0) & np.isfinite(ours).all()
    with np.errstate(divide="ignore", invalid="ignore"):  # of those that aren't fit
        gaps = np.log(ours) - np.log(others)
        middles, errors = np.abs(gaps.mean(axis=1)), gaps.std(axis=1, ddof=1) * inflation / math.sqrt(len(ours))
    for known, middle, error in zip(fit.tolist(), middles.tolist(), errors.tolist(), strict=True):
        if not known:
            yield 1.0
        else:  # blocks in whole ticks of a clock can be apart by the very same in every round
            yield 2 * student_cdf(-middle / error, len(ours) - 1) if error > 0 else float(middle == 0)


def chance(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided p value of Mann and Whitney's test for trial means of two runs, which have no rounds in common.

    The normal approximation for ties can promise more than there are arrangements, so that is its lower bound.
    """
    return max(rank_sum_chance(first, second), 2 / math.comb(len(first) + len(second), len(first)))


def fewest_rounds(engines: int) -> int:
    """The fewest rounds that rank this many engines.

    With them two engines that are 10 % apart, each with 2 % of noise of its own, are told apart in nine of ten
    runs, by `told_apart` at Holm's first hurdle. Fewer than five are too few for a t test of anything.
    """
    return LEAST_ROUNDS + bisect_left(_MOST_ENGINES, engines)


def fewest_blocks(tests: int) -> int:
    """The fewest blocks on each side with which the first of `tests` tests can succeed.

    With n blocks each, the smallest p value of an exact two-sided Mann-Whitney test is 2 / C(2n, n);
    Holm's correction asks the first of the tests to stay under SIGNIFICANCE / tests.
    """
    return next(n for n in range(2, 100) if 2 / math.comb(2 * n, n) <= SIGNIFICANCE / max(1, tests))
