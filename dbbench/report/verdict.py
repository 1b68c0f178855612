"""What a run and a step found, in a sentence or two: for whoever reads no further."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import Line, StepView, joined, times

#: The most engines that a sentence names one by one.
_NAMED = 3


def verdict(scenario: ScenarioView) -> str:
    """Two sentences: who comes first over all steps, and who was shown to be the best in how many."""
    return f"{_overall(scenario)} {_steps(scenario)}".strip()


def finding(step: StepView) -> str:
    """One sentence on a step: who is ahead of the next and how far, or whom the rounds can't tell apart; empty for one engine."""
    if len(step.lines) + len(step.failed) < 2:
        return ""
    known = [line for line in step.best_first if line.row.value is not None and line.row.verified]
    if any(line.withheld for line in step.lines):
        return _shown(step, known)
    if not known:
        return "No engine's work was verified here." if step.lines else "No engine has a figure here."
    first = known[0]
    if len(known) == 1:
        return f"Only {first.row.title} {'was verified' if len(step.lines) > 1 else 'has a figure'}."
    ranked = [line for line in known if line.row.rank]
    if not ranked:
        return f"{first.row.title} has the best figure, but the rounds are too few for ranks."
    if first not in ranked:
        return f"{first.row.title} has the best figure, but no rank: it lacks rounds that others have."
    # Nobody is shown to be better than one of these, so no two of them are told apart.
    level = [line for line in ranked if not line.row.better]
    rest = [line for line in ranked if line.row.better]
    return f"{_first(level, step)}{_next(level, rest[0], step, known)}." if rest else f"{_first(level, step)}."


def _shown(step: StepView, known: Sequence[Line]) -> str:
    if not known:
        return "No figure may be shown here."
    first = known[0]
    best = f"{first.row.title} has the best: {step.unit.text(first.row.value or 0)}"
    return f"Of the figures that may be shown, {best}."


def _first(level: Sequence[Line], step: StepView) -> str:
    """The first engine or engines, without the full stop."""
    titles = [line.row.title for line in level]
    if len(titles) == 1:
        return f"{titles[0]} takes the least" if step.counted else titles[0]
    named = _named(titles)
    return f"{named} are less than 2 % apart" if step.counted else f"{named} can't be told apart by these rounds"


def _next(level: Sequence[Line], line: Line, step: StepView, known: Sequence[Line]) -> str:
    """How far behind the first one the next is, who was shown to be behind somebody."""
    between = known[: known.index(line)]
    name = f"the next{'' if all(each.row.rank for each in between) else ' that has a rank'}, {line.row.title}"
    ratio = times(line.row.ratio.value) if line.row.ratio else ""
    if len(level) == 1 and not step.counted:
        return f" is {ratio} times as fast as {name}" if ratio else f" is faster than {name}"
    if not ratio:
        return f"; {name}, takes more" if step.counted else f"; {name}, takes longer"
    much = "much" if step.counted else "long"
    than = "" if len(level) == 1 else f" as {level[0].row.title}"
    return f"; {name}, takes {ratio} times as {much}{than}"


def _named(titles: Sequence[str]) -> str:
    """Titles in words, the last ones by their number where there are many."""
    return joined(titles if len(titles) <= _NAMED else [*titles[: _NAMED - 1], f"{len(titles) - _NAMED + 1} others"])


def _overall(scenario: ScenarioView) -> str:
    known = sorted((item for item in scenario.standings if item.mean_ratio), key=lambda item: item.mean_ratio or 0)
    if len(scenario.standings) == 1:
        return f"{scenario.standings[0].title} was run alone, so there is nothing to compare it with."
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
    elif all(any(line.row.ratio for line in step.lines) for step in _timed(scenario)):
        among = "Over all timed steps "
    else:
        among = "Over the timed steps that were verified "
    means = f"×{times(first.mean_ratio or 0)} the best of each step, {second.title} ×{times(second.mean_ratio or 0)}"
    sure = any(line.row.rank for step in _timed(scenario) for line in step.lines)
    if first.high is None or second.low is None or not sure:
        return f"{among}{first.title} has the best geometric mean ({means}), but the rounds are too few to be sure."
    level = [item for item in known[1:] if item.low is not None and item.low <= first.high]
    if len(level) == 1:
        return f"{among}{first.title} and {level[0].title} come first, too close to be told apart ({means})."
    if level:
        close = _named([item.title for item in level])
        return f"{among}{first.title} has the best geometric mean ({means}), but {close} are too close to it to be told apart."
    return f"{among}{first.title} comes first by the geometric mean: {means}."


def _steps(scenario: ScenarioView) -> str:
    if len(scenario.standings) == 1:
        return ""
    timed = _timed(scenario)
    firsts = Counter(
        line.row.title for step in timed for line in step.lines if line.row.rank and line.row.rank.worst == 1
    )
    if not firsts:
        return "In no step is one engine shown to be better than all others."
    named = [f"{title} in {count}" for title, count in firsts.most_common(3)]
    more = len(firsts) - len(named)
    words = joined([*named, f"{more} more in one or more"] if more else named)
    return f"Shown to be the best of a step: {words}, of {len(timed)} steps."


def _timed(scenario: ScenarioView) -> list[StepView]:
    return [step for step in scenario.steps if not step.counted]
