"""What a loop records: times in nanoseconds, in bounded memory however many there are.

Up to 100,000 are kept as they are. Beyond, all of them go into a histogram whose bins are the powers of
two, each cut into 1,024: the first ten bits of a double's fraction. A percentile read off it lies within
0.05 % of the true one; number, sum, least and greatest are always exact.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainSerializer, PlainValidator

from dbbench.results.facts import TimesFacts

Times = NDArray[np.int64]

#: The most samples that are kept as they are, 800 kB.
EXACT = 100_000
#: The percentiles that are reported, where there are enough samples.
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
#: The fewest samples that must lie above a percentile: p99 from 1,000 samples, p99.9 from 10,000.
FEWEST_ABOVE = 10

_BITS = 10
_FRACTION = 52  # bits of a double's fraction
_BIAS = 1023  # of a double's exponent
_POWERS = 48  # up to 2^48 ns, three days
_BINS = _POWERS << _BITS


def fewest(percentile: float) -> int:
    """How many samples there must be for this percentile to be reported."""
    return round(FEWEST_ABOVE * 100 / (100 - percentile))


class Samples:
    """Times of one kind, in whole nanoseconds from 0 on."""

    def __init__(self) -> None:
        self._buffer: Times = np.empty(EXACT, np.int64)
        self._held = 0
        self._counts: Times | None = None
        self._folded, self._sum = 0, 0
        self._ends: tuple[int, int] | None = None

    def record(self, times: Times) -> None:
        """Take some more."""
        while len(times):
            if self._held == EXACT:
                self._fold()
            part = times[: EXACT - self._held]
            self._buffer[self._held : self._held + len(part)] = part
            self._held += len(part)
            times = times[len(part) :]

    def merge(self, other: Samples) -> None:
        """Take all that another has."""
        if other._counts is not None:
            self._take(other._counts, other._folded, other._sum, other._ends)
        self.record(other.exact)

    @property
    def exact(self) -> Times:
        """The samples in the order they came, as far as no histogram has taken them."""
        return self._buffer[: self._held]

    @property
    def whole(self) -> bool:
        """Whether `exact` is all there are."""
        return self._counts is None

    @property
    def count(self) -> int:
        """How many."""
        return self._folded + self._held

    @property
    def total(self) -> int:
        """Their sum."""
        return self._sum + int(self.exact.sum())

    @property
    def mean(self) -> float:
        """Their mean. Raises ValueError if there are none."""
        return self.total / self._some()

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest. Raises ValueError if there are none."""
        self._some()
        found = [(int(self.exact.min()), int(self.exact.max()))] if self._held else []
        found += [self._ends] if self._ends else []
        return min(least for least, _ in found), max(greatest for _, greatest in found)

    def percentile(self, percentile: float) -> float | None:
        """The lowest time that `percentile` per cent of the samples don't exceed, or None if samples are too few."""
        if self.count < fewest(percentile):
            return None
        rank = math.ceil(round(percentile * self.count / 100, 6))
        if self.whole:
            return int(np.partition(self.exact, rank - 1)[rank - 1])
        found = int(np.searchsorted(np.cumsum(self._histogram()), rank))
        least, greatest = self.ends
        return min(max(_middle(found), least), greatest)

    def to_json(self, *, percentiles: bool = True) -> TimesFacts:
        """Serialise to JSON-compatible data, exact samples as bins too. Without percentiles, no bins either."""
        least, greatest = self.ends if self.count else (None, None)
        facts: TimesFacts = {"unit": "ns", "count": self.count, "sum": self.total, "min": least, "max": greatest}
        if not percentiles:
            return facts
        histogram = self._histogram()
        bins = np.flatnonzero(histogram)
        values = {f"p{percentile:g}": self.percentile(percentile) for percentile in PERCENTILES}
        return {**facts, "percentiles": values, "bins": bins.tolist(), "counts": histogram[bins].tolist()}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Samples:
        """The histogram of what `to_json` gave."""
        found = cls()
        counts = np.zeros(_BINS, np.int64)
        counts[document["bins"]] = document["counts"]
        if document["count"]:
            found._take(counts, document["count"], document["sum"], (document["min"], document["max"]))
        return found

    def _some(self) -> int:
        if not self.count:
            raise ValueError("there are no samples")
        return self.count

    def _histogram(self) -> Times:
        counts: Times = np.bincount(_bins(self.exact), minlength=_BINS)
        return counts if self._counts is None else self._counts + counts

    def _fold(self) -> None:
        """Move what is held into the histogram."""
        times = self.exact
        counts: Times = np.bincount(_bins(times), minlength=_BINS)
        self._take(counts, self._held, int(times.sum()), (int(times.min()), int(times.max())))
        self._held = 0

    def _take(self, counts: Times, count: int, total: int, ends: tuple[int, int] | None) -> None:
        self._counts = counts.copy() if self._counts is None else self._counts + counts
        self._folded += count
        self._sum += total
        known = [each for each in (self._ends, ends) if each]
        self._ends = (min(least for least, _ in known), max(greatest for _, greatest in known))


#: As another process gets them.
SentSamples = Annotated[Samples, PlainValidator(Samples.from_json), PlainSerializer(Samples.to_json)]


def bins_of(times: Times, bits: int) -> Times:
    """The bin of each, of 2^`bits` to a power of two: exponent and first bits of the fraction of the time plus one.

    A double has them in this order.
    """
    found: Times = np.add(times, 1.0).view(np.int64)
    found >>= _FRACTION - bits  # in place: fresh memory takes ten times as long
    found -= _BIAS << bits
    np.minimum(found, number_of_bins(bits) - 1, out=found)
    return found


def number_of_bins(bits: int) -> int:
    """How many there are of 2^`bits` to a power of two."""
    return _POWERS << bits


def bounds(number: int, bits: int) -> tuple[float, float]:
    """Bounds of a bin, in nanoseconds."""
    low, high = (np.array([number, number + 1], np.int64) + (_BIAS << bits) << (_FRACTION - bits)).view(np.float64)
    return float(low) - 1, float(high) - 1


def _bins(times: Times) -> Times:
    return bins_of(times, _BITS)


def _middle(number: int) -> float:
    """The middle of the whole nanoseconds in a bin."""
    low, high = bounds(number, _BITS)
    return (math.ceil(low) + math.ceil(high) - 1) / 2
