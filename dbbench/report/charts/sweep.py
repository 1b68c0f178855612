"""Throughput over the number of clients: a curve for each engine, with the interval of each point."""

from collections.abc import Iterator, Mapping, Sequence

from dbbench.analysis.statistics import Estimate
from dbbench.analysis.units import Unit, fitting
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import Look, Sheet, Texts
from dbbench.report.charts.plot import MOST, Curve, Plot, on_sheet, shapes
from dbbench.report.charts.scene import Scene
from dbbench.report.remarks import detail
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, StepView, joined
from dbbench.suite.charts import Sweep
from dbbench.suite.steps.base import ClientsStep

#: Pixels that the curves take.
_HEIGHT = 320.0
#: From this many times the fewest clients on, doubling them is one step to the right.
_DOUBLING = 8

_Points = dict[int, Estimate]


def figures(chart: Sweep, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """A chart for each sweep."""
    sweeps: dict[str, list[StepView]] = {}
    for view in scenario.steps:
        if isinstance(view.step, ClientsStep) and view.step.swept:
            sweeps.setdefault(view.step.swept, []).append(view)
    for name in chart.steps or sweeps:
        if name in sweeps:
            yield f"{name}-sweep", sweep(sweeps[name], look)


def sweep(views: Sequence[StepView], look: Look) -> Scene:
    """One chart of the steps of a sweep, from few clients to many."""
    by_title = _curves(views)
    shown = sorted(by_title, key=lambda title: -max(point.value for point in by_title[title].values()))[:MOST]
    counts = sorted({count for title in shown for count in by_title[title]}) or [1]
    known = [
        value
        for title in shown
        for point in by_title[title].values()
        for value in (point.value, point.low, point.high)
        if value
    ]
    unit, first = fitting("1/s", known), views[0]
    rounds = f"medians of {first.rounds} rounds with {first.interval}" if first.rounds > 1 else "one round, no interval"
    wide = bool(known) and max(known) / min(known) > WIDE_RANGE
    subtitle = f"more is better; {rounds}{' (logarithmic axis)' if wide else ''}"
    curves = _drawn(views, {title: by_title[title] for title in shown}, unit, look)
    said = "; ".join(f"{curve.title} {', '.join(f'{x:g}: {y:,.3g}' for x, y in curve.points)}" for curve in curves)
    sheet = Sheet(
        Texts(first.step.title.rpartition(", ")[0], subtitle, _notes(views, by_title, shown), figures=said), look
    )
    doubling = max(counts) / min(counts) >= _DOUBLING
    x = (
        Axis(min(counts) / 1.1, max(counts) * 1.1, logarithmic=True)
        if doubling
        else Axis(min(counts) - 0.2, max(counts) + 0.2)
    )
    y = fitting_axis([value / unit.size for value in known], logarithmic=wide, beyond=1.08)
    what = "operations" if first.step.unit == "1/s" else "calls"
    heading = f"{unit.symbol.removesuffix('/s')} {what} per second".strip()
    plot = Plot(curves, x, y, [(count, f"{count:g}") for count in counts], heading, below="clients")
    on_sheet(plot, sheet, shown, _HEIGHT, 22)
    return sheet.finished()


def _drawn(views: Sequence[StepView], points: Mapping[str, _Points], unit: Unit, look: Look) -> list[Curve]:
    """A curve for each title."""
    engines = {line.row.title: line.row.engine for view in views for line in view.lines}
    shape = shapes(list(points), engines, look)
    return [
        Curve(
            title, look.colour(engines[title]), shape[title],
            [(count, point.value / unit.size) for count, point in sorted(mine.items())],
            [
                (count, point.low / unit.size, point.high / unit.size)
                for count, point in mine.items()
                if point.low is not None and point.high is not None
            ],
        )
        for title, mine in points.items()
    ]  # fmt: skip


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
        found.append(f"Not drawn, because slower: {', '.join(others)}.")
    if note := views[0].step.note:
        found.append(note)
    for view in views:
        if view.harness and view is views[-1]:
            found.append(f"With {view.step.concurrent_clients.count} clients {view.harness_note(marked=False)}.")
    return found
