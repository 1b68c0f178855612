"""Ranks as ranges: the best and the worst rank that the rounds leave possible.

Two engines are told apart by a paired t test on the logarithms of their trial means, round by round, corrected
for the number of pairs in the step (Holm 1979), and only if their medians are at least 2 % apart: less than
that is nothing to choose a database by, however sure. What a round does to all engines alike cancels in each
pair (see docs/adr/0015-paired-rounds.md). Counting who is shown to be better and who is shown to be worse gives ranges that
hold for all engines together (Mogstad, Romano, Shaikh & Wilhelm 2024).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np

from dbbench.run.plan import SIGNIFICANCE, fewest_rounds

#: Medians closer than this share are equal for any use.
BAND = 0.02


@dataclass(frozen=True)
class Rank:
    """1 + the engines shown to be better, and the number of engines less those shown to be worse. It reads "2" or "1-4"."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


#: Two engines that are told apart, the better one first.
Pair = tuple[str, str]


def ranks(engines: Collection[str], apart: Collection[Pair]) -> dict[str, Rank]:
    """The rank of each engine, from those that are told apart."""
    return {
        engine: Rank(
            1 + sum(worse == engine for _, worse in apart),
            len(engines) - sum(better == engine for better, _ in apart),
        )
        for engine in engines
    }


def told_apart(trial_means: Mapping[str, Sequence[float]], *, exact: bool = False) -> set[Pair] | None:
    """The pairs of engines that are told apart, by trial means of which less is better; None if there are too few.

    The trial means of all engines are of the same rounds, in the same order. `exact` says that the values are no
    measurements (sizes): they are told apart by the 2 % alone.
    """
    order = sorted(trial_means, key=lambda engine: (median(trial_means[engine]), engine))
    if not exact and (len(order) < 2 or min(map(len, trial_means.values())) < fewest_rounds(len(order))):
        return None
    pairs = list(combinations(order, 2))
    apart = {pair for pair in pairs if _gap(trial_means, pair) >= BAND}
    return apart if exact else apart & _separated(trial_means, pairs)


def _gap(trial_means: Mapping[str, Sequence[float]], pair: Pair) -> float:
    """How much greater the second's median is, as a share of the first's."""
    first, second = (median(trial_means[engine]) for engine in pair)
    return (second - first) / first if first else math.inf if second else 0.0


def _separated(trial_means: Mapping[str, Sequence[float]], pairs: Sequence[Pair]) -> set[Pair]:
    """The pairs that the test tells apart, after Holm's correction."""
    return separated(
        {(first, second): paired_chance(trial_means[first], trial_means[second]) for first, second in pairs}
    )


def separated(chances: Mapping[tuple[str, str], float]) -> set[tuple[str, str]]:
    """Those of some tests that succeed, by their p values, after Holm's correction for their number."""
    found = set()
    for index, (value, key) in enumerate(sorted((value, key) for key, value in chances.items())):
        if value > SIGNIFICANCE / (len(chances) - index):
            break
        found.add(key)
    return found


def paired_chance(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided p value of the paired t test (Student 1908) on logarithms; 1 where a trial mean has none."""
    from scipy.special import stdtr  # 0.2 s to import, and a quick run needs no test

    trial_means = np.array([first, second], dtype=float)
    if trial_means.min() <= 0 or not np.isfinite(trial_means).all():
        return 1.0
    ours, theirs = np.log(trial_means)
    gaps = ours - theirs
    middle, error = abs(gaps.mean()), gaps.std(ddof=1) / math.sqrt(len(gaps))
    # Blocks in whole ticks of a clock can be apart by the very same in every round.
    return float(2 * stdtr(len(gaps) - 1, -middle / error)) if error > 0 else float(middle == 0)


def chance(first: Sequence[float], second: Sequence[float]) -> float:
    """Of trial means of two runs, which have no rounds in common: the exact two-sided p value of the Mann-Whitney test.

    It is 1 if all values are the same.
    """
    from scipy.stats import mannwhitneyu  # half a second to import, and a quick run needs no test

    if len({*first, *second}) == 1:
        return 1.0
    # "auto" takes the normal approximation from nine trial means on, which is too weak to pass Holm's first hurdle.
    how = "exact" if len({*first, *second}) == len(first) + len(second) else "auto"
    found = float(mannwhitneyu(first, second, alternative="two-sided", method=how).pvalue)
    # With ties "auto" takes the normal approximation, which can promise more than there are arrangements.
    return max(found, 2 / math.comb(len(first) + len(second), len(first)))
