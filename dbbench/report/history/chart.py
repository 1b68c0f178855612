"""One step over the runs: a line for each engine, its interval at each run, and a ring where it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dbbench.analysis.history import History, Series
from dbbench.analysis.units import Unit, fitting
from dbbench.report.charts.labelled import label_ends
from dbbench.report.charts.layout import FAINT, GREY, INK, Sheet, inches
from dbbench.report.charts.palette import COLOURS
from dbbench.report.history.words import change_lines, step_name
from dbbench.report.step_view import SURE_ROUNDS
from dbbench.results.chosen_run import metric_of

#: One after another, so that no two engines next to each other differ by their colours alone.
_MARKERS = ("o", "s", "D", "^", "v")
#: Inches of the plot, and of each label at a line's end.
_HEIGHT, _LABEL = 2.6, 0.17
#: The greatest ratio of all figures that a linear axis shows well.
_NARROW = 4


def step_chart(shown: History, scenario: str, step: str) -> Figure:
    """All engines' figures in a step, run by run."""
    series = [one for one in shown.series if (one.scenario, one.step) == (scenario, step)]
    values = [value for one in series for value in one.values if value]
    unit = fitting(series[0].unit, values)
    labels = [one.title for one in series]
    better = "less is better" if series[0].direction == "lower" else "more is better"
    by = next((by for one in series for row in one.rows if row and (by := metric_of(row.metric).by)), "")
    what = f" of {by}" if by else ""
    logarithmic = bool(values) and max(values) > _NARROW * min(values)
    rounds = [len(row.trial_means) for one in series for row in one.rows if row and row.low is not None]
    spread = (
        "95 % intervals" if min(rounds, default=SURE_ROUNDS) >= SURE_ROUNDS else "the least and greatest of the rounds"
    )
    sheet = Sheet(
        step_name(series[0], shown),
        f"{unit.symbol}{what}, {better}; medians with {spread}{', logarithmic axis' if logarithmic else ''}",
        1,
        _changes(series, shown),
        [f"dbbench {shown.sides[-1].manifest.dbbench}, suite {shown.sides[-1].suite.name}"],
        left=0.75,
        right=inches(labels, 9) + 0.35,
        axis=0.45,
        row=max(_HEIGHT, _LABEL * len(series)),
    )
    axes = sheet.axes
    if logarithmic:
        axes.set_yscale("log")
    elif values:
        axes.set_ylim(0, max(*values, *(row.high or 0 for one in series for row in one.rows if row)) * 1.08)
    order = list(dict.fromkeys(one.engine for one in shown.series))  # an engine has one colour in all charts
    for one in series:
        _line(axes, one, order.index(one.engine))
    _dress(axes, shown, unit, logarithmic=logarithmic)
    ends = [(one.title, known[-1]) for one in series if (known := [value for value in one.values if value])]
    colours = {one.title: {"color": COLOURS[order.index(one.engine) % len(COLOURS)]} for one in series}
    label_ends(axes, ends, max(_HEIGHT, _LABEL * len(series)), colours)
    return sheet.figure


def _changes(series: Sequence[Series], shown: History) -> list[str]:
    """The changes of this step, as footnotes."""
    name = step_name(series[0], shown)
    return [
        f"○ {line.engine}: {line.before} -> {line.after} ({line.verdict}) from run {line.since}"
        for line in change_lines(shown)
        if line.step == name
    ]


def _line(axes: Any, one: Series, number: int) -> None:
    colour, marker = COLOURS[number % len(COLOURS)], _MARKERS[number % len(_MARKERS)]
    known = [(at, row) for at, row in enumerate(one.rows) if row and row.value]
    places = [at for at, _ in known]
    axes.plot(places, [row.value for _, row in known], color=colour, marker=marker, markersize=4, linewidth=1.4)
    for at, row in known:
        if row.low and row.high:
            axes.plot([at, at], [row.low, row.high], color=colour, linewidth=1, alpha=0.6)
    for change in one.changes:
        axes.plot(
            [change.at], [one.values[change.at]], marker="o", markersize=11, markerfacecolor="none",
            markeredgecolor=INK, markeredgewidth=1.2, linestyle="none",
        )  # fmt: skip


def _dress(axes: Any, shown: History, unit: Unit, *, logarithmic: bool) -> None:
    axes.set_xlim(-0.3, len(shown.sides) - 0.7)
    every = max(1, -(-len(shown.sides) // 10))
    places = range(0, len(shown.sides), every)
    axes.set_xticks(places, [f"{at + 1}\n{shown.sides[at].manifest.created:%-d %b %Y}" for at in places])
    if logarithmic:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: unit.figure(value))
    if logarithmic:
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8, colors=GREY, which="both")
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["bottom"].set_color(FAINT)
