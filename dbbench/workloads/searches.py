"""Searches, one after another by one client, for a while."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from time import perf_counter_ns
from typing import Any

from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.loadgen.loops import Around, collector_off, stream_until

#: Seconds that timed searches, and the time between them, take at most.
TIMED = 10.0
#: Timed searches go on for so long, in nanoseconds, or until there are as many.
_ENOUGH, _MOST = 10**9, 100_000


def enough(samples: Samples) -> bool:
    """Whether that many searches were timed."""
    return samples.total >= _ENOUGH or samples.count >= _MOST


def searched(
    search: Callable[[Any], Any],
    queries: Iterable[Any],
    seconds: float,
    sample: KeptCalls,
    samples: Samples | None = None,
    around: Around | None = None,
) -> Samples:
    """Search for one query after another until all are done or the time is over: how long each took."""
    samples = Samples() if samples is None else samples
    with collector_off():
        end = perf_counter_ns() + round(seconds * 1e9)
        stream_until(search, queries, samples.record, end, around=around or nullcontext(), sample=sample)
    return samples
