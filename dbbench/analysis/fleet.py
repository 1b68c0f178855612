"""What is to be said of the hosts that ran whole rounds: which rounds each had, and how far the hosts are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


def doubts(results: Sequence[TrialResult]) -> Iterator[str]:
    """That hosts are not alike: by what they are, and by what the same steps took on them."""
    kinds = {
        (result.host.get("cpu"), result.host.get("threads"), result.host.get("memory_bytes"))
        for result in results
        if result.host
    }
    if len(kinds) > 1:
        yield "the hosts that ran rounds have different processors or memory: figures are of both; ranks compare within a host"
    costs = _costs(results)
    if len(costs) < 2:
        return
    both = set.intersection(*map(set, costs.values()))
    if not both:
        return
    means = {name: geometric_mean(mine[figure] for figure in both) for name, mine in costs.items()}
    slowest, fastest = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    if means[slowest] > APART * means[fastest]:
        times = means[slowest] / means[fastest]
        yield f"host {slowest} took ×{times:.2f} the time of {fastest} (geometric mean of {len(both)} figures): intervals span both"


def _costs(results: Sequence[TrialResult]) -> Mapping[str, Mapping[Figure, float]]:
    """Host -> figure -> the median of its rounds there, more being worse. Sizes are left out: they don't differ by hosts."""
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
