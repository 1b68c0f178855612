"""Throughput over the number of clients: a curve for each engine, with the interval of each point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from dbbench.analysis.statistics import Estimate
from dbbench.analysis.units import fitting
from dbbench.report.charts.labelled import MOST, TOP, dress, label_ends, label_width, styles
from dbbench.report.charts.layout import ROW, Sheet
from dbbench.report.charts.palette import Colours
from dbbench.report.remarks import detail
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, StepView, joined
from dbbench.suite.charts import Sweep

#: Rows of the usual height that the curves take.
_ROWS = 8
#: From this many times the fewest clients on, doubling them is one step to the right.
_DOUBLING = 8

_Points = dict[int, Estimate]


def figures(
    chart: Sweep, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """A chart for each sweep."""
    sweeps: dict[str, list[StepView]] = {}
    for view in scenario.steps:
        if swept := getattr(view.step, "swept", None):
            sweeps.setdefault(swept, []).append(view)
    for name in chart.steps or sweeps:
        if name in sweeps:
            yield f"{name}-sweep", sweep(sweeps[name], captions, colours)


def sweep(views: Sequence[StepView], captions: Sequence[str], colours: Colours) -> Figure:
    """One chart of the steps of a sweep, from few clients to many."""
    curves = _curves(views)
    shown = sorted(curves, key=lambda title: -max(point.value for point in curves[title].values()))[:MOST]
    counts = sorted({count for title in shown for count in curves[title]}) or [1]
    known = [
        value
        for title in shown
        for point in curves[title].values()
        for value in (point.value, point.low, point.high)
        if value
    ]
    unit = fitting("1/s", known)
    first = views[0]
    rounds = f"medians of {first.rounds} rounds with {first.interval}" if first.rounds > 1 else "one round, no interval"
    wide = bool(known) and max(known) / min(known) > WIDE_RANGE
    sheet = Sheet(
        first.step.title.rpartition(", ")[0],
        f"more is better; {rounds}{' (logarithmic axis)' if wide else ''}",
        _ROWS,
        _notes(views, curves, shown),
        captions,
        left=0.8,
        right=label_width(shown),
        axis=0.55,
        head=TOP,
    )
    axes, drawn = sheet.axes, styles(views, shown, colours)
    for title in shown:
        points = sorted(curves[title].items())
        x, y = [count for count, _ in points], [point.value / unit.size for _, point in points]
        axes.plot(x, y, **drawn[title], zorder=3)
        for count, point in points:
            if point.low is not None and point.high is not None:
                ends = [point.low / unit.size, point.high / unit.size]
                axes.plot([count, count], ends, color=drawn[title]["color"], linewidth=1.2, marker="_", markersize=6)
    if wide:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, max(known, default=1) / unit.size * 1.08)
    if max(counts) / min(counts) >= _DOUBLING:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:g}")
    what = "operations" if first.step.unit == "1/s" else "calls"
    dress(axes, f"{unit.symbol.removesuffix('/s')} {what} per second".strip())
    axes.set_xlabel("clients", fontsize=8.5)
    last = [max(curves[title].items())[1].value / unit.size for title in shown]
    label_ends(axes, list(zip(shown, last, strict=True)), _ROWS * ROW, drawn)
    return sheet.figure


def _curves(views: Sequence[StepView]) -> dict[str, _Points]:
    """Title -> number of clients -> throughput, of the engines that have any."""
    found: dict[str, _Points] = {}
    for view in views:
        for line in view.lines:
            if (point := line.row.throughput) is not None:
                found.setdefault(line.row.title, {})[view.step.concurrent_clients.count] = point
    return found


def _notes(views: Sequence[StepView], curves: dict[str, _Points], shown: Sequence[str]) -> list[str]:
    """Engines without a point and the reasons; what isn't drawn; and the step's note."""
    notes: dict[str, list[str]] = {}
    for view in views:
        for line in (*view.failed, *(line for line in view.lines if line.withheld)):
            count = view.step.concurrent_clients.count
            notes.setdefault(f"{line.row.title}: {detail(line.row) or line.value}", []).append(str(count))
    found = [f"{note} ({joined(counts)} clients)." for note, counts in notes.items()]
    if others := [title for title in curves if title not in shown]:
        found.append(f"Not drawn, as they are slower: {', '.join(others)}.")
    if note := views[0].step.note:
        found.append(note)
    for view in views:
        if view.harness and view is views[-1]:
            found.append(f"With {view.step.concurrent_clients.count} clients {view.harness_note(marked=False)}.")
    return found
