"""Draws the calls whose results are kept, and compared when the clock has stopped.

A result is kept by reference while its chunk of calls is timed, and copied right after that. `KeptCalls` keeps the
first calls. Each later range is twice as long as the one before it. Of each, as many calls in a row are kept, from a
random place that an engine can't foresee.
"""

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np

#: Nobody can predict its numbers.
_CHANCE = random.SystemRandom()
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
        #: The number of each of them, from 0.
        self.places: list[int] = []
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

    @property
    def left(self) -> int:
        """Calls up to the end of those that are kept next: the last `most` of them."""
        return self._stop - self._made

    def after(self, taken: Sequence[Any], last: Iterable[Any]) -> None:
        """Keep the `last` results of some calls, at most `most`, if one that was drawn is among the calls."""
        before, self._made = self._made, self._made + len(taken)
        if before <= self._start < self._made:
            self.add(taken[-self.most :], last)
        while self._made >= self._stop:
            self._draw()

    def add(self, taken: Sequence[Any], returned: Iterable[Any]) -> None:
        """Keep what the last calls took, and copies of what they returned: an engine can't fill it in later."""
        self.places.extend(range(self._made - len(taken), self._made))
        self.calls.extend(zip(taken, map(_copied, returned), strict=False))

    def _draw(self) -> None:
        self._first, self._span = self._first + self._span, self._span * 2
        self._start = self._first + self._randrange(self._span - self.most + 1)
        self._stop = self._start + self.most


class KeptResults(list[tuple[Any, Any]]):
    """Pairs of what belongs to a call and what it returned; copied when the clock has stopped, as by `KeptCalls`."""

    _copies = 0

    def copy_new(self) -> None:
        """Replace what has come since the last time by copies."""
        self[self._copies :] = map(_copied, self[self._copies :])
        self._copies = len(self)


def _copied(given: Any) -> Any:
    """The same without anything that can be changed, as far as it is made of lists, tuples, arrays and bytes."""
    kind = type(given)
    if kind is list or kind is tuple:
        return kind(map(_copied, given))
    if kind is bytearray or kind is memoryview:
        return bytes(given)
    return given.copy() if kind is np.ndarray else given


@dataclass
class Progress:
    """How far a client is that adds while others search: keys whose adding has begun, and those acknowledged."""

    begun: int = 0
    acknowledged: int = 0

    def __post_init__(self) -> None:
        #: Set as soon as a search is about to be made.
        self.searching = threading.Event()


class WatchedCalls(KeptCalls):
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
        self._progress.searching.set()
        return found

    def add(self, taken: Sequence[Any], returned: Iterable[Any]) -> None:
        """Keep what a call took and returned, and what was added by then."""
        super().add(taken, returned)
        self.spans.append((self._acknowledged, self._progress.begun))


class EveryCall(KeptCalls):
    """All calls, where each result is to be judged, and there are not many."""

    def take(self, rest: Iterator[Any], size: int) -> tuple[list[Any], bool]:
        """What the next calls take; all their results are kept."""
        return list(islice(rest, size)), True
