"""The hosts that ran whole rounds: which rounds each had, and what the same steps took on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from dbbench.results.outcome import Outcome
from dbbench.results.trial import TrialResult

#: Hosts that are farther apart than this differ, whatever their processors are called.
APART = 1.1

#: Scenario, engine, step.
Figure = tuple[str, str, str]


def rounds_of(results: Sequence[TrialResult]) -> dict[str, list[int]]:
    """Host -> its rounds; empty where no rounds ran on hosts."""
    found: dict[str, set[int]] = {}
    for result in results:
        if result.host:
            found.setdefault(result.host["name"], set()).add(result.round)
    return {name: sorted(rounds) for name, rounds in sorted(found.items())}


def differ(results: Sequence[TrialResult]) -> bool:
    """Whether the hosts have different processors or memory."""
    keys = ("cpu", "threads", "memory_bytes")
    return len({tuple(result.host.get(key) for key in keys) for result in results if result.host}) > 1


@dataclass(frozen=True)
class Gap:
    """How many times the fastest host's time the slowest took: the geometric mean of the figures of all hosts."""

    slowest: str
    fastest: str
    ratio: float
    figures: int


def gap(results: Sequence[TrialResult]) -> Gap | None:
    """How far the hosts are apart; None if that is near enough."""
    costs = _costs(results)
    both = set.intersection(*map(set, costs.values())) if len(costs) > 1 else set()
    if not both:
        return None
    means = {name: geometric_mean(mine[figure] for figure in both) for name, mine in costs.items()}
    slowest, fastest = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    ratio = means[slowest] / means[fastest]
    return Gap(slowest, fastest, ratio, len(both)) if ratio > APART else None


def _costs(results: Sequence[TrialResult]) -> Mapping[str, Mapping[Figure, float]]:
    """Host -> figure -> the median of its rounds there, more being worse. Sizes, which don't differ, are left out."""
    found: dict[str, dict[Figure, list[float]]] = {}
    for result in results:
        if result.host is None:
            continue
        mine = found.setdefault(result.host["name"], {})
        for step in result.steps:
            if step.outcome is Outcome.OK and step.value and step.unit != "B":
                cost = 1 / step.value if step.direction == "higher" else step.value
                mine.setdefault((result.scenario_name, result.engine_name, step.name), []).append(cost)
    return {name: {figure: median(costs) for figure, costs in each.items()} for name, each in found.items()}
