"""One step over the runs: a line for each engine, its interval at each run, and a ring where it changed."""

from collections.abc import Sequence

from dbbench.analysis.history import History, Series
from dbbench.analysis.units import fitting
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import Look, Sheet, Texts
from dbbench.report.charts.palette import colour_name
from dbbench.report.charts.plot import Curve, Plot, on_sheet, shapes
from dbbench.report.charts.scene import Scene
from dbbench.report.history.words import change_lines, step_name
from dbbench.report.step_view import SURE_ROUNDS
from dbbench.results.chosen_run import metric_of

#: Pixels of the plot, and of each label at a line's end.
_HEIGHT, _LABEL = 250.0, 17.0
#: The greatest ratio of all figures that a linear axis shows well.
_NARROW = 4


def step_chart(shown: History, scenario: str, step: str) -> Scene:
    """All engines' figures in a step, run by run."""
    series = [one for one in shown.series if (one.scenario, one.step) == (scenario, step)]
    values = [value for one in series for value in one.values if value]
    unit = fitting(series[0].unit, values)
    better = "less is better" if series[0].direction == "lower" else "more is better"
    by = next((by for one in series for row in one.rows if row and (by := metric_of(row.metric).by)), "")
    what = f" of {by}" if by else ""
    logarithmic = bool(values) and max(values) > _NARROW * min(values)
    rows = [row for one in series for row in one.rows if row and row.low is not None]
    few = any(len(row.trial_means) < SURE_ROUNDS and row.dependence.figures == 1 for row in rows)
    spread = "the minimum and maximum of the rounds" if few else "95 % intervals"
    # An engine has one shape in all charts.
    look = Look(
        {one.engine: colour_name(one.engine) for one in shown.series},
        [f"dbbench {shown.sides[-1].manifest.dbbench}, suite {shown.sides[-1].suite.name}"],
    )
    subtitle = f"{unit.symbol}{what}, {better}; medians with {spread}{', logarithmic axis' if logarithmic else ''}"
    sheet = Sheet(Texts(step_name(series[0], shown), subtitle, _changes(series, shown)), look)
    reach = [*values, *(row.high or 0 for one in series for row in one.rows if row)]
    plot = Plot(
        _curves(series, look),
        Axis(-0.3, len(shown.sides) - 0.7),
        fitting_axis(reach, logarithmic=logarithmic, beyond=1.08),
        [
            (at, f"{at + 1}\n{day.day} {day:%b %Y}")
            for at, day in enumerate(side.manifest.created for side in shown.sides)
        ],
        "",
        unit.figure,
    )
    on_sheet(plot, sheet, [one.title for one in series], max(_HEIGHT, _LABEL * len(series)), 12)
    return sheet.finished()


def _changes(series: Sequence[Series], shown: History) -> list[str]:
    """The changes of this step, as footnotes."""
    name = step_name(series[0], shown)
    return [
        f"○ {line.engine}: {line.before} -> {line.after} ({line.verdict}) from run {line.since}"
        for line in change_lines(shown)
        if line.step == name
    ]


def _curves(series: Sequence[Series], look: Look) -> list[Curve]:
    """The figures of each engine; a ring is about each that changed."""
    shape = shapes([one.title for one in series], {one.title: one.engine for one in series}, look)
    found = []
    for one in series:
        known = [(at, row) for at, row in enumerate(one.rows) if row and row.value]
        rings = [(change.at, value) for change in one.changes if (value := one.values[change.at]) is not None]
        intervals = [(at, row.low, row.high) for at, row in known if row.low and row.high]
        points = [(at, row.value or 0.0) for at, row in known]
        found.append(Curve(one.title, look.colour(one.engine), shape[one.title], points, intervals, rings))
    return found
