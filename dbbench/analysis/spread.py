"""How the calls of a step were spread, from the facts that its rounds recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from dbbench.results.facts import SHOWN, StepFacts, TimesFacts

#: Those of calls of several kinds, and of the charts of percentiles.
TAIL = ("p50", "p95", "p99", "p99.9")
#: Times that are not of one operation among several.
_WHOLE = ("latency", "service time", "warm up")


@dataclass(frozen=True)
class Spread:
    """One engine's calls: times in seconds, each the median of the rounds' own, so that trial means stay trial means.

    A percentile is None if some round had too few calls for it. `service` is the mean time from a call's
    start to its end; at a rate the percentiles are those of latency, and `late` and `due` are counted.
    """

    percentiles: tuple[float | None, ...]
    greatest: float
    service: float
    per_second: float
    late: int | None = None
    due: int | None = None


def spread(rounds: Sequence[StepFacts]) -> Spread | None:
    """The spread of a step's calls; None for a step that records none, or that has lost percentiles to saturation."""
    times = [facts.get("times", {}) for facts in rounds]
    kind = "latency" if times and "latency" in times[0] else "service time"
    mine = [each[kind] for each in times if "percentiles" in each.get(kind, ())]
    if not mine or len(mine) < len(rounds):
        return None
    arrivals = [facts["arrivals"] for facts in rounds if "arrivals" in facts]
    return Spread(
        percentiles=tuple(_median([each["percentiles"][name] for each in mine]) for name in SHOWN),
        greatest=_greatest(mine),
        service=median(each["service time"]["sum"] / each["service time"]["count"] for each in times) / 1e9,
        per_second=median(facts["per_second"] for facts in rounds),
        late=sum(each["late"] for each in arrivals) if arrivals else None,
        due=sum(each["due"] for each in arrivals) if arrivals else None,
    )


@dataclass(frozen=True)
class Tail:
    """How long the calls of one kind took, in seconds, medians of the rounds' own: the percentiles of TAIL, the greatest.

    A percentile is None if some round had too few calls for it.
    """

    percentiles: tuple[float | None, ...]
    greatest: float

    @property
    def points(self) -> tuple[float | None, ...]:
        """The percentiles and the greatest."""
        return (*self.percentiles, self.greatest)


def tails(rounds: Sequence[StepFacts]) -> dict[str, Tail]:
    """Operation -> its tail, where a step has several; else that of all calls. Without those of too few calls."""
    times = [facts.get("times", {}) for facts in rounds]
    if not times:
        return {}
    kinds = [name for name in times[0] if name not in _WHOLE]
    if len(kinds) < 2:
        kinds = ["latency" if "latency" in times[0] else "service time"]
    found = {}
    for kind in kinds:
        mine = [each[kind] for each in times if "percentiles" in each.get(kind, ())]
        if len(mine) == len(rounds):
            percentiles = tuple(_median([each["percentiles"].get(name) for each in mine]) for name in TAIL)
            if percentiles[0] is not None:
                found[kind] = Tail(percentiles, _greatest(mine))
    return found


def _greatest(times: Sequence[TimesFacts]) -> float:
    """Seconds: the median of the longest calls. Each has one if it has percentiles."""
    return median(most for each in times if (most := each["max"]) is not None) / 1e9


def _median(nanoseconds: Sequence[float | None]) -> float | None:
    known = [each for each in nanoseconds if each is not None]
    return median(known) / 1e9 if len(known) == len(nanoseconds) else None
