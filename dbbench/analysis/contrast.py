"""How many times a side's cost is the other's, with what differs from one run to the next in the interval.

Rounds of one run share the state that the machine, its memory and its disk were in. Two runs of the same thing
differ by more than their rounds do, and the rounds of one run can't show by how much. So the run is the unit:

- Several runs a side: a run's figure is the logarithm of the median of its rounds, and Welch's t test (Welch 1947)
  compares the figures of both sides. What differs between runs is measured, and is in the interval.
- One run a side: how much runs differ is unknown, and ALLOWANCE stands for it. A difference has to be beyond that,
  and the exact Mann-Whitney test has to tell the rounds apart too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, variance

from dbbench.analysis.ranking import SIGNIFICANCE, chance
from dbbench.analysis.statistics import (
    CONFIDENCE,
    Estimate,
    exponential,
    noncentrality,
    ratio_estimate,
    student_cdf,
    student_quantile,
)

#: By how much runs of the same thing are taken to differ (the standard deviation, as a share) where nothing shows
#: it. Quiet machines show 3 to 5 % (ADR 16).
ALLOWANCE = 0.05
#: How often a difference that counts as visible is found.
POWER = 0.8

Runs = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Contrast:
    """A ratio of costs; `chance` is the two-sided p value of its being 1."""

    ratio: Estimate
    chance: float
    #: The standard error of the ratio's logarithm, and its degrees of freedom; None where nothing shows it.
    error: float | None
    freedom: float = math.inf
    #: By how much the runs of a side differ: a standard deviation as a share. None for one run a side.
    between: float | None = None

    def visible(self, tests: int) -> float | None:
        """The smallest ratio above 1 that is found in four of five comparisons, beside `tests` steps in all."""
        if self.error is None:
            return None
        least = student_quantile(1 - SIGNIFICANCE / tests / 2, self.freedom)
        return exponential(self.error * noncentrality(self.freedom, 1 - POWER, least))


def contrast(ours: Runs, theirs: Runs, *, allowance: float = ALLOWANCE) -> Contrast:
    """Ours over theirs. Each side is one run or several, each run its rounds' trial means, all above zero.

    `allowance` is taken for what differs between runs where each side is one.
    """
    if len(ours) == len(theirs) == 1:
        return _of_one_run(ours[0], theirs[0], allowance)
    return _of_several(*([math.log(median(run)) for run in side] for side in (ours, theirs)))


def _of_several(ours: Sequence[float], theirs: Sequence[float]) -> Contrast:
    distance = fmean(ours) - fmean(theirs)
    parts = [(variance(side) / len(side), len(side) - 1) for side in (ours, theirs)]
    squared = sum(part for part, _ in parts)
    error = math.sqrt(squared)
    freedom = (
        squared**2 / sum(part**2 / free for part, free in parts) if error else float(sum(free for _, free in parts))
    )
    reach = student_quantile((1 + CONFIDENCE) / 2, freedom) * error
    pooled = math.sqrt(sum(variance(side) for side in (ours, theirs)) / 2)
    return Contrast(
        ratio=Estimate(*(exponential(distance + part) for part in (0, -reach, reach))),
        chance=_two_sided(distance, error, freedom),
        error=error,
        freedom=freedom,
        between=pooled,
    )


def _of_one_run(ours: Sequence[float], theirs: Sequence[float], allowance: float) -> Contrast:
    rounds = ratio_estimate(ours, theirs)
    if rounds.low is None or rounds.high is None:
        return Contrast(rounds, 1.0, None)
    quantile = student_quantile((1 + CONFIDENCE) / 2, math.inf)
    between = math.sqrt(2) * allowance
    error = math.hypot(math.log(rounds.high / rounds.low) / (2 * quantile), between)
    low, high = (
        exponential(sign * math.hypot(math.log(rounds.value / end), quantile * between))
        for sign, end in ((-1, rounds.low), (1, rounds.high))
    )
    return Contrast(
        ratio=Estimate(rounds.value, rounds.value * low, rounds.value * high),
        chance=max(chance(ours, theirs), _two_sided(math.log(rounds.value), error, math.inf)),
        error=error,
    )


def _two_sided(distance: float, error: float, freedom: float) -> float:
    if not error:
        return 0.0 if distance else 1.0
    return 2 * student_cdf(-abs(distance) / error, freedom)
