"""Engines over all steps of a scenario, by the geometric mean of their ratios to the best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from dbbench.analysis.dependence import stretched
from dbbench.analysis.ordering import paired_means
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import Estimate, paired_mean
from dbbench.suite.model import Scenario
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.suite.steps.mix import MixStep


@dataclass(frozen=True)
class Standing:
    """An engine over all steps of a scenario: the geometric mean of its ratios to the best, if it did all.

    `low` and `high` are its interval.
    """

    engine: str
    title: str
    mean_ratio: float | None
    rows: dict[str, Row]
    low: float | None = None
    high: float | None = None

    @property
    def failures(self) -> int:
        """Number of steps in which it has no figure."""
        return sum(not row.measured for row in self.rows.values())


def standings(rows: Sequence[Row], scenario: Scenario) -> list[Standing]:
    """Engines by the geometric mean of their ratios; those that failed in a step come after the rest.

    A step that was verified for no engine is not in the mean, and neither are sizes and what fills the store of a mix.
    A step that was verified for an engine whose figure is withheld counts: who lacks a ratio there has no mean.
    """
    figures = [row for row in rows if row.scenario == scenario.name and row.ranked and row.measured]
    unverified = {row.step for row in figures} - {row.step for row in figures if row.verified}
    left_out = unverified | fills_of_mixes(scenario)
    steps = [step.name for step in scenario.steps]
    units = {row.step: row.unit for row in figures}
    withheld = {row.step for row in figures if row.withheld and row.verified}
    bests = {row.step: row for row in reversed(rows) if row.scenario == scenario.name and row.ratio is not None}
    counted = [step for step in steps if step in (bests.keys() | withheld) - left_out and units[step] != "B"]
    by_engine: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.scenario == scenario.name and row.step in steps and row.ranked:
            by_engine.setdefault(row.engine, {})[row.step] = row
    found = []
    for engine, mine in by_engine.items():
        mean = _mean([(mine[step], bests.get(step)) for step in counted if step in mine])
        title = next(iter(mine.values())).title
        means = (None, None, None) if mean is None else (mean.value, mean.low, mean.high)
        found.append(Standing(engine, title, means[0], mine, *means[1:]))
    return sorted(found, key=lambda item: (item.mean_ratio is None, item.mean_ratio or 0, item.failures, item.engine))


def fills_of_mixes(scenario: Scenario) -> set[str]:
    """The steps that fill the store for a mix: its conditions, not its result."""
    if not any(isinstance(step, MixStep) for step in scenario.steps):
        return set()
    return {step.name for step in scenario.steps if isinstance(step, KeyValueStep) and step.operation == "insert"}


def _mean(steps: Sequence[tuple[Row, Row | None]]) -> Estimate | None:
    """The geometric mean of the ratios of some rows to the best ones of their steps; None if one has no ratio."""
    ratios = [row.ratio.value for row, _ in steps if row.ratio is not None]
    if len(ratios) < len(steps) or not ratios or not all(ratios):
        return None
    pairs = [paired_means(row, best) for row, best in steps if best]
    # Some steps may lack rounds that others have, and a size of 0 has no logarithm.
    if len({len(above) for above, _ in pairs}) > 1 or min(min(above) for above, _ in pairs) <= 0:
        return Estimate(geometric_mean(ratios), None, None)
    mean = replace(paired_mean(pairs), value=geometric_mean(ratios))
    return stretched(mean, steps[0][0].dependence.pairs)


def across(scenarios: Sequence[Sequence[Standing]]) -> list[tuple[Standing | None, ...]]:
    """Each engine's standing in each scenario, None where it was not run.

    Engines are in the order of the geometric mean of their means; those that lack one somewhere come after the rest.
    """
    by_engine = [{standing.engine: standing for standing in standings} for standings in scenarios]
    rows = [
        tuple(found.get(engine) for found in by_engine) for engine in dict.fromkeys(e for f in by_engine for e in f)
    ]
    return sorted(rows, key=lambda row: (len(row) - len(_means(row)), geometric_mean(_means(row) or [1.0])))


def mean_over(row: Sequence[Standing | None]) -> float | None:
    """The geometric mean of an engine's means in all scenarios; None if it lacks one."""
    means = _means(row)
    return geometric_mean(means) if means and len(means) == len(row) else None


def _means(row: Sequence[Standing | None]) -> list[float]:
    return [standing.mean_ratio for standing in row if standing is not None and standing.mean_ratio]
