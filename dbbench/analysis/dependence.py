"""How much the rounds of a run depend on the rounds before them, and by how much that widens what is derived from them.

Intervals and tests take rounds for independent. On a busy machine they aren't: what slows one round often lasts into
the next (lag-1 autocorrelation 0.63 in 60 rounds). One autoregressive process of first order stands for all steps and
engines of a run, since a single figure has too few rounds to show its own (docs/method.md, "Rounds that depend"):

1. The lag-1 autocorrelation of the logarithms of trial means is averaged over all timed steps and engines. A table of
   simulated series turns it into rho, as it is too low for few rounds (Marriott and Pope, 1954). This is done for the
   figures, and for what is left of each without the mean of its step's engines in that round.
2. Errors of n dependent rounds are f = sqrt(V / ((1 - V/n) / (1 - 1/n))) times larger, with
   V = 1 + 2 sum((1 - k/n) rho**k) and rho at most 0.6.
3. Intervals of figures are f times as wide on a logarithmic scale, with the rho of figures. Ratios use the rho of the
   rest, if that is one standard error above that of independent rounds: their intervals are f times as wide, and each t
   of the paired test is divided by f. Where it is above 0.6, and 2.33 standard errors above, times get no ranks.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from dbbench.analysis.statistics import Estimate

Array = npt.NDArray[np.float64]

#: Above this autocorrelation rounds of engines are too few, whatever their number, to tell them apart.
TOO_DEPENDENT = 0.6
#: How far above that of independent rounds the mean autocorrelation lies, in standard errors, before tests are
#: corrected for it, and before they are given up. Without the first, two engines in one step lost a quarter of the
#: power.
_DOUBTFUL, _SHOWN = 1.0, 2.33
#: Simulated series, the autocorrelations of the table, and the fewest rounds in which one shows.
_SERIES, _FEWEST = 4_000, 4
_TABLE = np.linspace(0, 0.95, 39)


@dataclass(frozen=True)
class Dependence:
    """The autocorrelation of rounds: `own` of what is left of an engine less what it shares, `shared` of its figures.

    `pairs` and `figures` are factors by which errors of comparisons and of figures are greater than independent
    rounds'.
    """

    own: float = 0.0
    shared: float = 0.0
    pairs: float = 1.0
    figures: float = 1.0
    #: Whether engines can be told apart at all.
    ranks: bool = True


INDEPENDENT = Dependence()


def dependence(steps: Collection[Sequence[Sequence[float]]]) -> Dependence:
    """The dependence of a run's rounds: `steps` has its engines' trial means of each timed step, by rounds."""
    series = [logarithms for means in steps if len(logarithms := _logarithms(means))]
    rounds = max((each.shape[1] for each in series), default=0)
    series = [each for each in series if each.shape[1] == rounds]
    if rounds < _FEWEST:
        return INDEPENDENT
    shared = _corrected(_lag_one(np.concatenate(series)).mean(), rounds)
    compared = [each - each.mean(axis=0) for each in series if len(each) > 1]
    if not compared:
        return Dependence(shared=shared, figures=inflation(shared, rounds))
    mean = _lag_one(np.concatenate(compared)).mean()
    own = _corrected(mean, rounds)
    # An engine's gaps to the mean of all follow from those of the other engines, so one of them counts for nothing.
    error = math.sqrt((rounds - 2) / (rounds * (rounds - 1)) / sum(len(each) - 1 for each in compared))
    excess = (mean - _table(rounds)[0]) / error
    return Dependence(
        own=own,
        shared=shared,
        pairs=inflation(own, rounds) if excess > _DOUBTFUL else 1.0,
        figures=inflation(shared, rounds),
        ranks=own <= TOO_DEPENDENT or bool(excess <= _SHOWN),
    )


def stretched(estimate: Estimate, factor: float) -> Estimate:
    """An estimate above zero with an interval `factor` times as wide, on the scale of logarithms."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if factor == 1 or low is None or high is None or not 0 < min(low, value) <= max(high, value) < math.inf:
        return estimate
    return Estimate(value, min(low, value * (low / value) ** factor), max(high, value * (high / value) ** factor))


def inflation(autocorrelation: float, rounds: int) -> float:
    """The standard error of a mean of dependent rounds, as a multiple of the one that is computed as if independent."""
    autocorrelation = min(autocorrelation, TOO_DEPENDENT)  # above it the correction itself is unknown
    lags = np.arange(1, rounds)
    variance = 1 + 2 * float(((1 - lags / rounds) * autocorrelation**lags).sum())
    return math.sqrt(variance / ((1 - variance / rounds) / (1 - 1 / rounds)))


def _logarithms(means: Sequence[Sequence[float]]) -> Array:
    """Engines by rounds; engines that lack rounds, or have a mean of 0 or the same in all, are left out."""
    rounds = max(map(len, means), default=0)
    whole = [each for each in means if len(each) == rounds and 0 < min(each) < max(each) < math.inf]
    logarithms: Array = np.log(np.array(whole, dtype=float))
    return logarithms


def _lag_one(series: Array) -> Array:
    """The lag-1 autocorrelation of each series; 0 of one that doesn't change."""
    gaps = series - series.mean(axis=1, keepdims=True)
    squares = (gaps * gaps).sum(axis=1)
    shown: Array = (gaps[:, 1:] * gaps[:, :-1]).sum(axis=1) / np.where(squares > 0, squares, 1.0)
    return shown


def _corrected(mean: np.floating, rounds: int) -> float:
    """The autocorrelation whose series show `mean` in so few rounds, which is too low (Marriott, Pope 1954)."""
    return float(np.interp(mean, _table(rounds), _TABLE))


@cache
def _table(rounds: int) -> Array:
    """The mean lag-1 autocorrelation of simulated series of this number of rounds, for each of the table."""
    random = np.random.default_rng(0)
    noise = random.standard_normal((rounds, _SERIES))
    means: Array = np.array([_lag_one(_autoregressive(noise, each).T).mean() for each in _TABLE])
    rising: Array = np.maximum.accumulate(means)
    return rising


def _autoregressive(noise: Array, autocorrelation: float) -> Array:
    """Series of unit variance by rounds, made of independent `noise`."""
    series, fresh = [noise[0]], math.sqrt(1 - autocorrelation**2)
    for each in noise[1:]:
        series.append(autocorrelation * series[-1] + fresh * each)
    return np.array(series)
