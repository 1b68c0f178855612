"""First calls that differ from the later ones: the warm-up was too short, or calls slow down."""

import math

import numpy as np

from dbbench.loadgen.histogram import Times
from dbbench.results.facts import StepFacts

#: The fewest calls that show anything; the first tenth of them, at least three, stands against the rest.
FEWEST_CALLS = 20
#: The chance of a false alarm, and how far apart the medians are at least.
_ALARM, _APART = 0.01, 1.05


def told_apart(times: Times) -> StepFacts:
    """The fact that first calls differ from later ones, of one client's times in their order; empty if they don't."""
    ratio = first_calls(times)
    return {"first_calls": ratio} if ratio else {}


def first_calls(times: Times) -> float | None:
    """Return the median of the first calls over that of the later ones, or None if nothing tells them apart.

    The test is Mann and Whitney's, by its normal approximation with ties.
    """
    if len(times) < FEWEST_CALLS:
        return None
    count = max(3, len(times) // 10)
    ratio = float(np.median(times[:count])) / max(float(np.median(times[count:])), 1.0)
    if 1 / _APART < ratio < _APART:
        return None
    return ratio if _chance(times, count) < _ALARM else None


def _chance(times: Times, count: int) -> float:
    """The two-sided p value of both being alike."""
    _, places, ties = np.unique(times, return_inverse=True, return_counts=True)
    total, rest = len(times), len(times) - count
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[places]
    gap = float(ranks[:count].sum()) - count * (total + 1) / 2
    spread = count * rest / 12 * (total + 1 - float((ties**3 - ties).sum()) / (total * (total - 1)))
    return math.erfc(abs(gap) / math.sqrt(2 * spread)) if spread > 0 else 1.0
