"""Whether the rounds of one figure are of one kind: an interval hides a second level, a drift, a wide spread."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np

from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.statistics import exponential, trend_chance

#: The greatest trial mean as a multiple of the least, above which rounds are spread too far.
SPREAD = 1.5
#: How far apart two levels lie at least: as a ratio, and as a multiple of the range of the trial means of either.
GAP, CLEARANCE = 1.1, 3
#: The least change from the first half to the second, and the least spread, that are worth a word.
CHANGE = 1.05
#: The chance of a false alarm of drift, and of rounds that hang together, if rounds are independent.
ALARM = 0.01
#: The fewest trial means in which two levels, and rounds that hang together, can be seen.
FEWEST_APART, FEWEST_ALIKE = 5, 8


def unsteady(trial_means: Sequence[float]) -> tuple[Remark, ...]:
    """What is odd about trial means in the order of their rounds; empty if nothing is."""
    values = np.asarray(trial_means, dtype=float)
    if len(values) < FEWEST_APART or not np.isfinite(values).all() or values.min() <= 0:
        return ()
    return tuple(remark for rule in (_levels, _spread, _drift, _alike) for remark in rule(np.log(values)))


def _levels(logarithms: np.ndarray) -> Iterator[Remark]:
    order = np.sort(logarithms)
    at = int(np.argmax(np.diff(order))) + 1
    below, above = order[:at], order[at:]
    gap = above[0] - below[-1]
    if gap >= math.log(GAP) and gap >= CLEARANCE * max(np.ptp(below), np.ptp(above)):
        apart = exponential(float(np.median(above) - np.median(below)))
        yield Remark(About.LEVELS, amount=apart, count=len(below), of=len(order))


def _spread(logarithms: np.ndarray) -> Iterator[Remark]:
    spread = exponential(float(np.ptp(logarithms)))
    if spread > SPREAD:
        yield Remark(About.SPREAD, amount=spread)


def _drift(logarithms: np.ndarray) -> Iterator[Remark]:
    half = len(logarithms) // 2
    change = exponential(median(logarithms[-half:]) - median(logarithms[:half]))
    if max(change, 1 / change) < CHANGE:
        return
    if trend_chance(logarithms.tolist()) <= ALARM:
        yield Remark(About.DRIFT, amount=change)


def _alike(logarithms: np.ndarray) -> Iterator[Remark]:
    count = len(logarithms)
    if count < FEWEST_ALIKE or np.ptp(logarithms) < math.log(CHANGE):
        return
    gaps = logarithms - logarithms.mean()
    found = float(gaps[1:] @ gaps[:-1] / (gaps @ gaps))
    if found > 2.33 / math.sqrt(count) - 1 / count:  # the 99th percentile of independent rounds, roughly
        yield Remark(About.ALIKE, amount=found)
