"""Searches, one after another by one client, for a while; and the least effort that reaches a recall.

That is doubled until it does, then halved between the last two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.host.collector import collector_off
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.loadgen.loops import Around, stream_until

#: Seconds that timed searches, and the time between them, take at most; and those to warm up, or of loaded data.
TIMED, WARMED = 10.0, 2.0
#: Timed searches go on for so long, in nanoseconds, or until there are as many.
_ENOUGH, _MOST = 10**9, 100_000
#: The efforts that reach a recall and don't are closer than this share of them in the end, or follow one another.
_CLOSE = 50


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


@dataclass(frozen=True)
class Tried:
    """Result of an effort: the recall of each query, and what is wrong with the answers."""

    recalls: NDArray[np.float64]
    fault: str

    @property
    def recall(self) -> float:
        """The mean of the queries."""
        return float(self.recalls.mean())

    def same(self, other: Tried) -> bool:
        """Whether another effort has found as much of each query's neighbours."""
        both = min(len(self.recalls), len(other.recalls))
        return bool((self.recalls[:both] == other.recalls[:both]).all())


def least_effort(recall: Callable[[int], float], target: float, least: int, most: int) -> int | None:
    """The least effort from `least` to `most` whose recall is the target or more; None if that of the most isn't."""
    failed, effort = least - 1, least
    while recall(effort) < target:
        if effort == most:
            return None
        failed, effort = effort, min(2 * effort, most)
    while effort - failed > max(1, effort // _CLOSE):
        middle = (failed + effort) // 2
        if recall(middle) < target:
            failed = middle
        else:
            effort = middle
    return effort
