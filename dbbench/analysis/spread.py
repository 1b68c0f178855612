"""How the calls of a step were spread, from the facts that its rounds recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

#: The percentiles that reports show; a trial's result has more.
SHOWN = ("p50", "p90", "p99", "p99.9")


@dataclass(frozen=True)
class Spread:
    """One engine's calls: times in seconds, each the median of the rounds' own, so that blocks stay blocks.

    A percentile is None if some round had too few calls for it. `service` is the mean time from a call's
    start to its end; at a rate the percentiles are those of latency, and `late` and `due` are counted.
    """

    percentiles: tuple[float | None, ...]
    greatest: float
    service: float
    per_second: float
    late: int | None = None
    due: int | None = None


def spread(rounds: Sequence[dict[str, Any]]) -> Spread | None:
    """The spread of a step's calls; None for a step that records none, or that has lost percentiles to saturation."""
    times = [facts.get("times", {}) for facts in rounds]
    kind = "latency" if times and "latency" in times[0] else "service time"
    mine = [each[kind] for each in times if "percentiles" in each.get(kind, ())]
    if not mine or len(mine) < len(rounds):
        return None
    arrivals = [facts["arrivals"] for facts in rounds if "arrivals" in facts]
    return Spread(
        percentiles=tuple(_median([each["percentiles"][name] for each in mine]) for name in SHOWN),
        greatest=median(each["max"] for each in mine) / 1e9,
        service=median(each["service time"]["sum"] / each["service time"]["count"] for each in times) / 1e9,
        per_second=median(facts["per_second"] for facts in rounds),
        late=sum(each["late"] for each in arrivals) if arrivals else None,
        due=sum(each["due"] for each in arrivals) if arrivals else None,
    )


def _median(nanoseconds: Sequence[float | None]) -> float | None:
    known = [each for each in nanoseconds if each is not None]
    return median(known) / 1e9 if len(known) == len(nanoseconds) else None
