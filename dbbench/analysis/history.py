"""Many runs of one suite on one machine in the order of time: at which run a figure changed, and by how much.

A change point is looked for by binary segmentation (Scott and Knott 1974): the split whose two sides differ most by
Student's t test, then the same within each side. The values are the logarithms of the runs' medians, so that what
differs from run to run is in the test. Each engine is a question of its own: a change counts where its chance, times
the places at which the runs could be split and the steps of that engine (Bonferroni), is below 5 %, and where both
levels are at least 2 % apart. A level has two runs or more: what the newest run alone shows is provisional, as most of
the false changes come from it. A change that was taken back a few runs later may be missed: neither half differs much.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from dbbench.analysis.comparability import Difference, Side, Weight, check_runs, differences, plan_difference, withheld
from dbbench.analysis.ranking import BAND, SIGNIFICANCE
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import exponential, student_cdf
from dbbench.analysis.summary import unordered
from dbbench.analysis.verdicts import Key, measure, row_key
from dbbench.errors import UserError

#: The fewest runs that a change can be seen in: below them no test has a chance.
FEWEST_RUNS = 4

#: Logarithms of figures, in the order of their runs. Slices of an array are no copies.
Values = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A new level from run number `at` on (from 0). `before` and `after` are geometric means of the runs' medians."""

    at: int
    before: float
    after: float
    #: How many times the cost before: above 1 is worse, whatever the unit.
    ratio: float
    #: What differs between the last run before and the first one after, of this engine or of all.
    causes: tuple[Difference, ...] = ()
    #: Whether the null engine changed at the same run: then it may be the machine, or dbbench.
    null_too: bool = False
    #: Whether the newest run alone shows it.
    provisional: bool = False


@dataclass(frozen=True)
class Series:
    """One step of one engine over the runs, None where a run has no figure of it."""

    scenario: str
    step: str
    engine: str
    title: str
    unit: str
    direction: str
    rows: tuple[Row | None, ...]
    changes: tuple[Change, ...] = ()
    #: The runs, numbered from 0, whose figure is left out: it is of another sort than the newest's.
    unlike: tuple[int, ...] = ()

    @property
    def settled(self) -> list[Change]:
        """The changes that two runs or more show."""
        return [change for change in self.changes if not change.provisional]

    @property
    def values(self) -> list[float | None]:
        """The runs' medians, in `unit`."""
        return [row.value if row else None for row in self.rows]


@dataclass(frozen=True)
class History:
    """Runs in the order of their start, and what each step of each engine took in them."""

    sides: tuple[Side, ...]
    series: tuple[Series, ...]
    #: Where the machine is not that of the run before.
    machines: tuple[tuple[Side, Difference], ...] = ()
    withheld: tuple[tuple[str, str], ...] = ()
    #: What lacks runs for the sort of their figures, null engines apart, be it in `series` or left out whole.
    unlike: tuple[Series, ...] = ()

    @property
    def changed(self) -> list[Series]:
        """Series with a change, the greatest of the worse ones first, and last those whose changes are provisional."""
        found = [series for series in self.series if series.changes]
        return sorted(found, key=lambda series: (not series.settled, -max(change.ratio for change in series.changes)))


def history(
    sides: Sequence[Side], *, across_machines: bool = False, publish: bool = False, intervals: bool = True
) -> History:
    """The runs in the order of time; `intervals`: with those of each run's figures.

    Raises UserError for fewer than two, for unlike ones and for one given twice.
    """
    if len(sides) < 2:
        raise UserError("a history needs two runs or more, and a change can be seen from four on; name them all")
    sides = sorted(sides, key=lambda side: side.manifest.created.timestamp())
    differing = check_runs(sides, pairwise(sides), across_machines=across_machines)
    machines = tuple(found for found in differing if found[1].weight is Weight.MACHINE)
    hidden = withheld(sides) if publish else {}
    sides = [side.without(hidden) for side in sides]
    known = list(_series(sides, intervals=intervals))
    found = [series for series in known if len(sides) - series.rows.count(None) > 1]
    if not found:
        raise UserError(f"{', '.join(side.name for side in sides)} have no figure of one sort in common")
    unlike = tuple(one for one in known if one.unlike and all(row.ranked for row in one.rows if row))
    return History(tuple(sides), tuple(_with_changes(found, sides)), machines, tuple(hidden.items()), unlike)


def _series(sides: Sequence[Side], *, intervals: bool) -> Iterator[Series]:
    """What any run has a figure of; one of another measure than the newest's is a gap."""
    found: dict[Key, list[Row | None]] = {}
    for number, side in enumerate(sides):
        steps = unordered(side.suite, side.manifest, side.results, intervals=intervals, whole=side.whole)
        for row in chain.from_iterable(steps):
            rows = found.setdefault(row_key(row), [None] * len(sides))
            rows[number] = row if row.value is not None else None
    for (scenario, step, engine), rows in found.items():
        last = next((row for row in reversed(rows) if row), None)
        newest = measure([last]) if last else None
        unlike = tuple(number for number, row in enumerate(rows) if row and measure([row]) != newest)
        alike = tuple(None if number in unlike else row for number, row in enumerate(rows))
        if last:
            yield Series(scenario, step, engine, last.title, last.unit, last.direction, alike, unlike=unlike)


def _with_changes(found: Sequence[Series], sides: Sequence[Side]) -> Iterator[Series]:
    ranked = {series.engine: all(row.ranked for row in series.rows if row) for series in found}
    tests = {engine: sum(series.engine == engine for series in found) for engine in ranked}
    split = {(series.scenario, series.step, series.engine): _changes(series, tests[series.engine]) for series in found}
    null_changes = {(key[0], key[1], at) for key, changes in split.items() if not ranked[key[2]] for at in changes}
    for series in found:
        levels = split[series.scenario, series.step, series.engine]
        changes = tuple(
            _change(series, at, before, after, sides, null_too=(series.scenario, series.step, at) in null_changes)
            for at, (before, after) in levels.items()
        )
        if ranked[series.engine]:
            yield replace(series, changes=changes)


def _change(series: Series, at: int, before: float, after: float, sides: Sequence[Side], *, null_too: bool) -> Change:
    sign = -1 if series.direction == "higher" else 1
    last = max(number for number in range(at) if series.rows[number])
    own = f"{series.engine}:"
    causes = [
        item
        for item in differences(sides[last], sides[at])
        if item.weight is not Weight.WORK and (item.what.startswith(own) or ":" not in item.what)
    ]
    causes += plan_difference(series.scenario, series.step, series.engine, [sides[last]], [sides[at]])
    return Change(
        at=at,
        before=exponential(before),
        after=exponential(after),
        ratio=exponential(sign * (after - before)),
        causes=tuple(causes),
        null_too=null_too,
        provisional=not any(series.rows[at + 1 :]),
    )


def _changes(series: Series, tests: int) -> dict[int, tuple[float, float]]:
    """The run at which each new level begins -> the logarithms of the level before and of this one."""
    known = [(at, value) for at, value in enumerate(series.values) if value and value > 0]
    logs = [math.log(value) for _, value in known]
    starts = sorted(splits(logs, tests))
    if newest_differs(logs[starts[-1] if starts else 0 :], tests):
        starts.append(len(logs) - 1)
    bounds = [0, *starts, len(logs)]
    levels = [fmean(logs[low:high]) for low, high in pairwise(bounds) if high > low]
    return {known[start][0]: (levels[number], levels[number + 1]) for number, start in enumerate(starts)}


def splits(values: Values, tests: int, offset: int = 0) -> Iterator[int]:
    """Starts of new levels in `values`, of which the first has the number `offset`. A level has two runs or more."""
    if len(values) < FEWEST_RUNS:
        return
    values = np.asarray(values)
    at, places = _most_apart(values), len(values) - FEWEST_RUNS + 1
    if chance_of(values[:at], values[at:]) * places * tests >= SIGNIFICANCE or _distance(values, at) < math.log1p(BAND):
        return
    yield from splits(values[:at], tests, offset)
    yield offset + at
    yield from splits(values[at:], tests, offset + at)


def _most_apart(values: NDArray[np.float64]) -> int:
    """The place whose two sides differ most by Student's t: what they share of all squares grows with it."""
    sums = np.cumsum(values - np.mean(values))[1:-2]
    before = np.arange(2, len(values) - 1)
    return int(before[np.argmax(sums**2 * (1 / before + 1 / (len(values) - before)))])


def newest_differs(level: Values, tests: int) -> bool:
    """Return whether the last value of a level differs from the others of it, so that another run is needed."""
    at = len(level) - 1
    if len(level) < FEWEST_RUNS or _distance(level, at) < math.log1p(BAND):
        return False
    return chance_of(level[:at], level[at:]) * tests < SIGNIFICANCE


def _distance(values: Values, at: int) -> float:
    return abs(float(np.mean(values[:at]) - np.mean(values[at:])))


def chance_of(ours: Values, theirs: Values) -> float:
    """The two-sided p value of both being of one level, by Student's t test; a side may have one value.

    0 where neither side varies and they differ, 1 where nothing differs.
    """
    distance = abs(float(np.mean(ours) - np.mean(theirs)))
    freedom = len(ours) + len(theirs) - 2
    squares = sum(float(np.var(side)) * len(side) for side in (ours, theirs))
    error = math.sqrt(squares / freedom * (1 / len(ours) + 1 / len(theirs)))
    if error <= 1e-12 * distance or not distance:
        return 0.0 if distance else 1.0
    return 2 * student_cdf(-distance / error, freedom)
