"""The statistics of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A median with its 95 % interval, which is None with fewer than two blocks."""

    value: float
    low: float | None
    high: float | None


def estimate(blocks: Sequence[float]) -> Estimate:
    """Median of blocks, with the percentile bootstrap's interval (Efron 1979), drawn from a fixed seed."""
    values = np.asarray(blocks, dtype=float)
    if len(values) < 2:
        return Estimate(float(np.median(values)), None, None)
    resampled = np.random.default_rng(0).choice(values, (RESAMPLES, len(values)))
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(np.median(resampled, axis=1), [tail, 100 - tail])
    return Estimate(float(np.median(values)), float(low), float(high))


def geometric_mean(ratios: Sequence[float]) -> float:
    """The only mean of ratios that doesn't depend on what they are ratios to (Fleming & Wallace 1986)."""
    return float(np.exp(np.mean(np.log(ratios))))
