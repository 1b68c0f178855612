"""When the calls of an open loop are to start: nanoseconds from the loop's beginning, ascending, in chunks."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Moments = NDArray[np.int64]

#: Moments that are made at a time.
CHUNK = 1_024


def constant(per_second: float, seconds: float, first: float = 0.0) -> Iterator[Moments]:
    """One each 1/`per_second`, the first `first` seconds after the beginning, all before `seconds`."""
    total = math.ceil(round((seconds - first) * per_second, 6))
    for start in range(0, total, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, total))
        yield np.rint((first + numbers / per_second) * 1e9).astype(np.int64)


def poisson(per_second: float, seconds: float, seed: int | tuple[int, ...]) -> Iterator[Moments]:
    """A Poisson process: independent gaps, exponential with the mean 1/`per_second`, drawn from the seed."""
    draw = np.random.default_rng(seed)
    last = 0.0
    while last < seconds:
        moments = last + np.cumsum(draw.exponential(1 / per_second, CHUNK))
        last = float(moments[-1])
        yield np.floor(moments[moments < seconds] * 1e9).astype(np.int64)


def growing(per_second: float, seconds: float, number: int, of: int) -> Iterator[Moments]:
    """A client's share of a rate that grows evenly from nothing to `per_second` within `seconds`."""
    total = int(per_second * seconds / 2)
    for start in range(number, total, CHUNK * of):
        numbers = np.arange(start, min(start + CHUNK * of, total), of)
        yield np.rint(seconds * np.sqrt(numbers / total) * 1e9).astype(np.int64)
