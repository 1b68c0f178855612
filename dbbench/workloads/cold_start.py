"""A cold start: the engine opened anew, while none of its files is in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import mean

import psutil

from dbbench.errors import Unsupported
from dbbench.host import page_cache
from dbbench.host.page_cache import Dropped
from dbbench.host.usage import read
from dbbench.results.facts import StepFacts
from dbbench.workloads.context import StepContext
from dbbench.workloads.ondisk import elsewhere, processes

#: Some honest engines do so too, which replay a log or read ahead when they are opened: it is no lie, but not cold
#: either.
NOTHING_READ = "the system counted no byte read from storage in a call: once open, the engine had what it needed in memory, or reads aren't counted here"

#: Calls that read less than this share of what another read had some of it in memory, or that one did other work.
_SHARE = 0.1
LESS_READ = "a call read less than a tenth of what another did: some of what it needed may have been in memory"


def start_cold(context: StepContext) -> Dropped:
    """Restart the engine while none of its files is in memory. Raises Unsupported if it has none."""
    directory = context.engine.directory
    dropped = Dropped(0.0)
    if page_cache.present(directory):
        others = [file.name for file in elsewhere(context.engine)]
        dropped = context.restart(lambda: page_cache.drop(directory, others))
    if context.does_work and not dropped.bytes:
        raise Unsupported(f"{context.engine.name} keeps no file in its directory, so no call can be cold")
    return dropped


class ColdCalls:
    """How cold some calls were, how long opening took before each, and what each has read: a write need not read."""

    def __init__(self, *, write: bool = False) -> None:
        self._write = write
        self._drops: list[Dropped] = []
        self._opened: list[float] = []
        self._read: list[int] = []
        self._read_aside: list[int] = []
        self._looked_at: list[psutil.Process] = []
        self._before: int | None = None

    @contextmanager
    def call(self, context: StepContext, dropped: Dropped, opened: float, *, timed: bool = True) -> Iterator[None]:
        """Within it is a call from a cold start; `opened` are the seconds that opening and preparing took.

        One that isn't `timed` counts only beside what the others read.
        """
        if timed:
            self._drops.append(dropped)
        if not dropped.bytes:  # a null engine
            yield
            return
        if timed:
            self._opened.append(opened)
        self.ready(context)
        yield
        after = read(self._looked_at)
        if self._before is not None and after is not None:
            (self._read if timed else self._read_aside).append(after - self._before)

    def ready(self, context: StepContext) -> None:
        """Count what is read from now on: what was read before was for preparing."""
        self._looked_at = [*processes(context.engine)]
        self._before = read(self._looked_at)

    def add(self, seconds: float) -> None:
        """Add what preparing took within the latest call, if that was from a cold start."""
        if self._opened:
            self._opened[-1] += seconds

    @property
    def facts(self) -> StepFacts:
        """How cold the warmest of them was; why, if it was not."""
        warmest = max(self._drops, key=lambda drop: (not drop.cold, drop.resident or 0), default=None)
        if warmest is None:
            return {}
        found: StepFacts = {}
        if self._opened:
            found["opened"] = mean(self._opened)
        if self._read:
            found["read_bytes"] = round(mean(self._read))
        if why := warmest.why or ("" if self._write else self._little_read()):
            found |= {"cache": "lukewarm", "why": why}
        return found

    def _little_read(self) -> str:
        if 0 in self._read:
            return NOTHING_READ
        most = max((*self._read, *self._read_aside), default=0)
        return LESS_READ if any(each < most * _SHARE for each in self._read) else ""
