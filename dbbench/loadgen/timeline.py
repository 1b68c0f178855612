"""Calls and what they took over the seconds of a step, in bounded memory however long it lasts.

A slot of time has a histogram of 16 bins to each power of two, so that a percentile read off it lies within about
3 % of the true one. Where there would be more slots than are kept, two become one.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainSerializer, PlainValidator
from typing_extensions import TypedDict

from dbbench.loadgen.histogram import Times, bins_of, bounds, number_of_bins
from dbbench.results.facts import TimelineFacts

#: Nanoseconds of a slot at first, and how many slots are kept at most.
WIDTH, MOST_SLOTS = 1_000_000_000, 300

#: Chunks of calls that are put by before they are counted: 4 MB of a client.
_PUT_BY = 256

_BITS = 4
_BINS = number_of_bins(_BITS)


class SentSlots(TypedDict):
    """A timeline as another process gets it: the bins and counts of each slot."""

    width: int
    slots: list[tuple[int, list[int], list[int]]]


class Timeline:
    """Times of calls by the slot in which they ended, counted from the step's beginning."""

    def __init__(self, width: int = WIDTH) -> None:
        self.width = width
        self._slots: dict[int, Times] = {}
        self._waiting: list[tuple[int, Times, Times]] = []

    def record(self, begin: int, ends: Times, times: Times) -> None:
        """Take calls that ended at these readings of the clock, in order; `begin` was the step's beginning.

        They are only put by, and counted some hundred thousand at a time: each of numpy's steps lets another client's
        thread have its turn, which would be many turns after each chunk of calls.
        """
        if len(ends):
            self._waiting.append((begin, ends, times))
        if len(self._waiting) >= _PUT_BY:
            self._count()

    def _count(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        ends = np.concatenate([ends for _, ends, _ in waiting]) - waiting[0][0]
        times = np.concatenate([times for *_, times in waiting])
        while int(ends[-1]) // self.width >= MOST_SLOTS:
            self._widen()
        first, last = max(int(ends[0]), 0) // self.width, int(ends[-1]) // self.width
        edges = np.searchsorted(ends, np.arange(first + 1, last + 1) * self.width)
        for slot, part in enumerate(np.split(times, edges), first):
            if len(part):
                self._add(slot, part)

    def merge(self, other: Timeline) -> None:
        """Take all that another has, whose beginning is the same."""
        self._count()
        other._count()
        while self.width < other.width:
            self._widen()
        for slot, counts in other._slots.items():
            at = slot * other.width // self.width
            self._slots[at] = self._slots[at] + counts if at in self._slots else counts.copy()

    def summary(self, end: int) -> TimelineFacts | None:
        """What is kept of each slot that had ended `end` nanoseconds after the start; None for no calls or one slot."""
        self._count()
        whole = min(end // self.width, MOST_SLOTS)
        if whole < 2 or not self._slots:
            return None
        found: TimelineFacts = {"seconds": self.width / 1e9, "calls": [], "p50": [], "p99": []}
        nothing = np.zeros(_BINS, np.int64)
        for slot in range(whole):
            counts = self._slots.get(slot, nothing)
            below = np.cumsum(counts)
            found["calls"].append(int(below[-1]))
            found["p50"].append(_percentile(below, 50))
            found["p99"].append(_percentile(below, 99))
        return found

    def to_json(self) -> SentSlots:
        """Serialise to JSON-compatible data."""
        self._count()
        slots = [(slot, bins.tolist(), counts[bins].tolist()) for slot, counts, bins in self._known()]
        return {"width": self.width, "slots": slots}

    @classmethod
    def from_json(cls, document: SentSlots) -> Timeline:
        """What `to_json` gave."""
        found = cls(document["width"])
        for slot, bins, counts in document["slots"]:
            found._slots[slot] = np.zeros(_BINS, np.int64)
            found._slots[slot][bins] = counts
        return found

    def _known(self) -> list[tuple[int, Times, NDArray[np.int64]]]:
        return [(slot, counts, np.flatnonzero(counts)) for slot, counts in sorted(self._slots.items())]

    def _add(self, slot: int, times: Times) -> None:
        counts = np.bincount(bins_of(times, _BITS), minlength=_BINS)
        if slot in self._slots:
            self._slots[slot] += counts
        else:
            self._slots[slot] = counts

    def _widen(self) -> None:
        """Make one slot of two."""
        slots, self._slots = self._slots, {}
        self.width *= 2
        for slot, counts in slots.items():
            at = slot // 2
            self._slots[at] = self._slots[at] + counts if at in self._slots else counts


#: As another process gets it.
SentTimeline = Annotated[Timeline, PlainValidator(Timeline.from_json), PlainSerializer(Timeline.to_json)]


def _percentile(below: NDArray[np.int64], percentile: int) -> int | None:
    """Nanoseconds, of the calls of a slot by their bins; None if there were none. `below` adds up the bins."""
    rank = -(-percentile * int(below[-1]) // 100)
    return _middle(int(np.searchsorted(below, rank))) if rank else None


def _middle(number: int) -> int:
    """About the middle of the nanoseconds in a bin."""
    return round(sum(bounds(number, _BITS)) / 2)
