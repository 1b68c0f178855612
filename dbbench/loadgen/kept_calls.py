"""Draws the calls whose results are kept within the clock, by reference, to be compared when it has stopped.

`KeptCalls` keeps the first calls. Each later range is twice as long as the one before it. Of each, as many calls in a
row are kept, from a random place that an engine can't foresee.
"""

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np

#: Nobody can predict its numbers.
_CHANCE = random.SystemRandom()
#: What may be changed after it was returned.
COPIED = (list, np.ndarray)
#: Calls that are kept one after another, and the bytes that they may return: of more, new memory would cost time.
_MOST, _BYTES = 64, 2**18


def kept_places(chance: random.Random, most: int = 2) -> Iterator[int]:
    """A client's calls, from 0, whose rows are kept: of each range of 1, 2, 4, 8, ... calls up to `most` at random."""
    for octave in count():
        first = 2**octave - 1
        yield from sorted(chance.sample(range(first, 2 * first + 1), min(most, first + 1)))


class KeptCalls:
    """`calls` are pairs of what a call took and what it returned; `each` is the bytes that one returns, about."""

    def __init__(self, each: int = 1, randrange: Callable[[int], int] = _CHANCE.randrange) -> None:
        self.calls: list[tuple[Any, Any]] = []
        self.most = max(min(_MOST, _BYTES // each), 1)
        self._randrange = randrange
        self._made = self._first = self._start = 0
        self._span = self._stop = self.most

    def take(self, rest: Iterator[Any], size: int) -> tuple[list[Any], bool]:
        """What the next calls take, at most `size` of them, and whether all their results are kept."""
        if self._made == self._stop:
            self._draw()
        keeps = self._made >= self._start
        chunk = list(islice(rest, min(size, (self._stop if keeps else self._start) - self._made)))
        self._made += len(chunk)
        return chunk, keeps

    def after(self, taken: Sequence[Any], last: Iterable[Any]) -> None:
        """Keep the `last` results of some calls, at most `most`, if one that was drawn is among the calls."""
        before, self._made = self._made, self._made + len(taken)
        if before <= self._start < self._made:
            self.add(taken[-self.most :], last)
        while self._made >= self._stop:
            self._draw()

    def add(self, taken: Iterable[Any], returned: Iterable[Any]) -> None:
        """Keep what some calls took and returned."""
        self.calls.extend(zip(taken, returned, strict=False))

    def _draw(self) -> None:
        self._first, self._span = self._first + self._span, self._span * 2
        self._start = self._first + self._randrange(self._span - self.most + 1)
        self._stop = self._start + self.most


class CopiedCalls(KeptCalls):
    """Calls whose lists and arrays are copied when they are kept."""

    def add(self, taken: Iterable[Any], returned: Iterable[Any]) -> None:
        """Keep copies of lists and arrays: an engine can't fill in later what it has returned."""
        super().add(taken, (copy.copy(each) if type(each) in COPIED else each for each in returned))


@dataclass
class Progress:
    """How far a client is that adds while others search: keys whose adding has begun, and those acknowledged."""

    begun: int = 0
    acknowledged: int = 0


class WatchedCalls(CopiedCalls):
    """Calls that are kept one at a time, each with what was acknowledged before it, and begun when it had returned."""

    def __init__(self, progress: Progress, each: int = 1, randrange: Callable[[int], int] = _CHANCE.randrange) -> None:
        super().__init__(each, randrange)
        self.spans: list[tuple[int, int]] = []
        self._progress, self._acknowledged = progress, 0

    def take(self, rest: Iterator[Any], size: int) -> tuple[list[Any], bool]:
        """What the next calls take: one alone if its result is kept."""
        if self._made == self._stop:
            self._draw()
        found = super().take(rest, 1 if self._made >= self._start else size)
        self._acknowledged = self._progress.acknowledged
        return found

    def add(self, taken: Iterable[Any], returned: Iterable[Any]) -> None:
        """Keep what a call took and returned, and what was added by then."""
        super().add(taken, returned)
        self.spans.append((self._acknowledged, self._progress.begun))


class EveryCall(CopiedCalls):
    """All calls, where each result is to be judged, and there are not many."""

    def take(self, rest: Iterator[Any], size: int) -> tuple[list[Any], bool]:
        """What the next calls take; all their results are kept."""
        return list(islice(rest, size)), True
