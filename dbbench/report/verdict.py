"""What a run and a step found, in a sentence or two: for whoever reads no further."""

from __future__ import annotations

from collections import Counter

from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView, joined, times


def verdict(scenario: ScenarioView) -> str:
    """Two sentences: who comes first over all steps, and who was shown to be the best in how many."""
    return f"{_overall(scenario)} {_steps(scenario)}".strip()


def finding(step: StepView) -> str:
    """One sentence on a step: who is ahead of the next and how far, or that the rounds can't tell; empty without two."""
    known = [line for line in step.lines if line.row.value and line.row.verified]
    if len(known) < 2:
        return ""
    first, second = known[:2]
    one, other = first.row.title, second.row.title
    costs = [1 / (line.row.value or 1) if step.higher else line.row.value or 1 for line in (first, second)]
    ratio = times(costs[1] / costs[0])
    if any(line.withheld for line in step.lines):
        return f"Of the figures that may be shown, {one} has the best: {first.value} {step.unit.symbol}."
    if first.row.rank is None:
        return f"{one} has the best figure, but the rounds are too few for ranks."
    if first.row.engine in second.row.better:
        if step.step.unit == "B":
            return f"{one} takes the least; the next, {other}, takes {ratio} times as much."
        return f"{one} is {ratio} times as fast as the next, {other}."
    level = [line.row.title for line in known if first.row.engine not in line.row.better]
    named = joined(level) if len(level) <= 3 else f"{one} and {len(level) - 1} others"
    return (
        f"{named} are less than 2 % apart."
        if step.step.unit == "B"
        else f"{named} can't be told apart by these rounds."
    )


def _overall(scenario: ScenarioView) -> str:
    known = [item for item in scenario.standings if item.mean_ratio]
    if len(known) < 2:
        return (
            f"Only {known[0].title} has a figure in every timed step."
            if known
            else "No engine has a figure in every timed step."
        )
    first, second = known[:2]
    if scenario.withheld:
        among = "Of the engines whose figures may be shown, "
    elif len(known) < len(scenario.standings):
        among = "Of the engines with a figure in every timed step, "
    else:
        among = "Over all timed steps "
    means = f"×{times(first.mean_ratio or 0)} the best of each step, {second.title} ×{times(second.mean_ratio or 0)}"
    if first.high is None or second.low is None:
        return f"{among}{first.title} has the best geometric mean ({means}), but the rounds are too few to be sure."
    if first.high >= second.low:
        return f"{among}{first.title} and {second.title} come first, too close to be told apart ({means})."
    return f"{among}{first.title} comes first by the geometric mean: {means}."


def _steps(scenario: ScenarioView) -> str:
    timed = [step for step in scenario.steps if step.step.unit != "B"]
    firsts = Counter(
        line.row.title for step in timed for line in step.lines if line.row.rank and line.row.rank.worst == 1
    )
    if not firsts:
        return "In no step is one engine shown to be better than all others."
    named = [f"{title} in {count}" for title, count in firsts.most_common(3)]
    more = len(firsts) - len(named)
    words = joined([*named, f"{more} more in one or more"] if more else named)
    return f"Shown to be the best of a step: {words}, of {len(timed)} steps."
