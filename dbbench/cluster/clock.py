"""What the clock of another host showed at a moment of ours, and how wrong that can be at most.

Of many exchanges the one with the least round trip says most: the other clock was read somewhere within it (as in
Cristian, Probabilistic clock synchronization, Distributed Computing 3, 1989). Two such readings, before and after a
step, give the drift between them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

#: Exchanges of a reading.
EXCHANGES = 64


@dataclass(frozen=True)
class Reading:
    """The other clock minus ours, at a moment of ours, and half of the round trip that it was read in; nanoseconds."""

    at: int
    offset: int
    bound: int


def best(exchanges: Iterable[tuple[int, int, int]]) -> Reading:
    """The reading of the shortest of some exchanges: ours when it was sent, theirs, ours when the answer came."""
    sent, theirs, received = min(exchanges, key=lambda each: each[2] - each[0])
    middle = (sent + received) // 2
    return Reading(middle, theirs - middle, (received - sent + 1) // 2)


@dataclass(frozen=True)
class Clock:
    """Another host's clock between two readings of it."""

    before: Reading
    after: Reading

    @property
    def bound(self) -> int:
        """Maximum error of `here` in nanoseconds, if the drift between the readings is even."""
        return max(self.before.bound, self.after.bound)

    def here(self, theirs: int) -> int:
        """What our clock showed when theirs showed this."""
        span = self.after.at - self.before.at
        if span <= 0:
            return theirs - self.before.offset
        drift = self.after.offset - self.before.offset
        passed = min(max(theirs - self.before.offset - self.before.at, 0), span)
        return theirs - self.before.offset - drift * passed // span
