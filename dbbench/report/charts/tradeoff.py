"""One figure of each engine against another: a curve for each, and a ring about each point that none beats in both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dbbench.analysis.row import Row
from dbbench.analysis.units import Unit, fitting
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import Look, Sheet, Texts
from dbbench.report.charts.plot import MOST, Curve, Plot, on_sheet, shapes
from dbbench.report.charts.scene import Dot, Scene
from dbbench.report.remarks import detail
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, StepView, heading, joined
from dbbench.suite.charts import RECALL, Tradeoff
from dbbench.suite.steps.base import ClientsStep

#: Pixels that the curves take.
_HEIGHT = 340.0


@dataclass(frozen=True)
class Point:
    """One engine in one step, by both of its figures in base units."""

    row: Row
    x: float
    y: float
    #: Whether both are verified, and of the sort that is ranked.
    sure: bool = True
    #: Whether no other such point is better in both.
    best: bool = False


@dataclass(frozen=True)
class Across:
    """What the horizontal axis has: the recall of each step, or the figure of one."""

    view: StepView | None = None

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return self.view is None or self.view.higher

    def point(self, row: Row) -> Point | None:
        """A row's point; None if it lacks a figure."""
        if self.view is None:
            other: Row | None = row
            x = row.recall.mean if row.recall else None
        else:
            other = next((line.row for line in self.view.lines if line.row.engine == row.engine), None)
            x = other.value if other else None
        sure = all(each.verified and not each.apart for each in (row, other) if each)
        return Point(row, x, row.value, sure) if x and row.value else None

    def unit(self, values: Sequence[float]) -> Unit:
        """The unit for some figures."""
        base = next((line.row.unit for line in self.view.lines if line.row.value), "") if self.view else ""
        return fitting(base, [max(values)]) if base else Unit(1, "")

    def axis(self, values: Sequence[float]) -> Axis:
        """The axis for some figures: that of recalls ends at 1."""
        if self.view is None:
            low = min(values)
            return Axis(low - (1 - low) / 12 - 0.002, 1.0 + (1 - low) / 24 + 0.001)
        return fitting_axis(values, logarithmic=max(values) / min(values) > WIDE_RANGE, beyond=1.08)

    def heading(self, unit: Unit) -> str:
        """What stands below the axis."""
        return "recall" if self.view is None else f"{self.view.step.title}, {unit.symbol}"


def figures(chart: Tradeoff, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """The chart, if any engine has both figures."""
    views = [
        each
        for each in scenario.steps
        if {each.step.name, *(getattr(each.step, key, "") for key in ("swept", "tuned"))} & {*chart.steps}
    ]
    # One curve can't show two figures that differ by more than what it is drawn against.
    views = [each for each in views if _clients(each) == _clients(views[0])]
    across = Across(next((each for each in scenario.steps if each.step.name == chart.against), None))
    if across.view is None and chart.against != RECALL:
        return  # a report of some steps may lack it
    points = [point for view in views for line in view.lines if (point := across.point(line.row))]
    if chart.against == RECALL:
        points = [*_once(points)]
    if points:
        yield f"{'-'.join(chart.steps)}-by-{chart.against}", tradeoff(chart, views, across, points, look)


def _clients(view: StepView) -> int:
    return view.step.clients.count if isinstance(view.step, ClientsStep) else 1


def _once(points: Sequence[Point]) -> Iterator[Point]:
    """The points; of an engine without a knob, which does the same whatever the recall, the first alone."""
    seen = set()
    for point in points:
        if (recall := point.row.recall) and recall.effort is None:
            if point.row.engine in seen:
                continue
            seen.add(point.row.engine)
        yield point


def frontier(points: Sequence[Point], *, across: bool, up: bool) -> list[Point]:
    """The points, the sure ones marked that no other such beats in both; `across` and `up`: whether more is better."""

    def signed(point: Point) -> tuple[float, float]:
        return point.x if across else -point.x, point.y if up else -point.y

    known = [signed(point) for point in points if point.sure]
    return [
        replace(point, best=point.sure and not any(x >= mine[0] and y >= mine[1] and (x, y) != mine for x, y in known))
        for point, mine in zip(points, map(signed, points), strict=True)
    ]


def tradeoff(chart: Tradeoff, views: Sequence[StepView], across: Across, points: Sequence[Point], look: Look) -> Scene:
    """One chart of some points: of eight engines at most, those with marked points first."""
    first = views[0]
    marked = frontier(points, across=across.higher, up=first.higher)
    titles = list(dict.fromkeys(point.row.title for point in sorted(marked, key=lambda each: (not each.best, -each.y))))
    shown, others = titles[:MOST], titles[MOST:]
    marked = [point for point in marked if point.row.title in shown]
    unit, below = fitting(marked[0].row.unit, [point.y for point in marked]), across.unit([p.x for p in marked])
    shape = shapes(shown, {point.row.title: point.row.engine for point in marked}, look)
    curves = [
        _curve(title, [each for each in marked if each.row.title == title], below, unit, look, shape[title])
        for title in shown
    ]
    said = "; ".join(f"{each.title} {', '.join(f'{x:.4g}: {y:,.3g}' for x, y in each.points)}" for each in curves)
    corner = f"{'up' if first.higher else 'down'} and to the {'right' if across.higher else 'left'}"
    rounds = f"medians of {first.rounds} rounds" if first.rounds > 1 else "one round"
    subtitle = f"better {corner}; {rounds} (logarithmic axis)"
    steps = [*views, *filter(None, [across.view])]
    sheet = Sheet(Texts(chart.title, subtitle, _notes(steps, marked, others), figures=said), look)
    hidden = any(view.withheld for view in steps)
    other = f"no other{'' if all(each.sure for each in marked) else ' ranked one'}{' of those shown' if hidden else ''}"
    sheet.key([(Dot(0, 0, "ink", "circle", 14, hollow=True), f"{other} is better in both")])
    x = across.axis([point.x / below.size for point in marked])
    y = fitting_axis([point.y / unit.size for point in marked], logarithmic=True, beyond=1.08)
    ticks = [(value, f"{value:,g}") for value in x.ticks(7)]
    plot = Plot(curves, x, y, ticks, heading(unit, first.step.counts), below=across.heading(below))
    on_sheet(plot, sheet, shown, _HEIGHT, 22)
    return sheet.finished()


def _curve(title: str, points: Sequence[Point], below: Unit, unit: Unit, look: Look, shape: str) -> Curve:
    """An engine's points from left to right."""
    ordered = sorted(points, key=lambda point: (point.x, -point.y))
    known = [(point.x / below.size, point.y / unit.size) for point in ordered]
    whiskers = [
        (x, point.row.low / unit.size, point.row.high / unit.size)
        for (x, _), point in zip(known, ordered, strict=True)
        if point.row.low is not None and point.row.high is not None
    ]
    rings = [place for place, point in zip(known, ordered, strict=True) if point.best]
    return Curve(title, look.colour(points[0].row.engine), shape, known, whiskers, rings)


def _notes(views: Sequence[StepView], points: Sequence[Point], others: Sequence[str]) -> list[str]:
    """Engines without a point and the reasons, those that aren't ranked, and those that aren't drawn."""
    notes: dict[str, list[str]] = {}
    for view in views:
        for line in (*view.failed, *(line for line in view.lines if line.withheld)):
            notes.setdefault(f"{line.row.title}: {detail(line.row) or line.value}", []).append(view.step.name)
    for point in points:
        if not point.sure:
            notes.setdefault(f"{point.row.title}: not ranked, so without a ring", []).append(point.row.step)
    found = [f"{note} ({joined(steps)})." for note, steps in notes.items()]
    return [*found, *([f"At most eight engines are drawn; left out: {joined(others)}."] if others else [])]
