"""Figures over an axis that has an order, a panel for each step: releases of an engine, or values of an option."""

from collections.abc import Mapping, Sequence

from dbbench.analysis.paired import Series
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import MARGIN, NARROW, SMALL, Frame, Look, Sheet, Texts
from dbbench.report.charts.measure import wrap
from dbbench.report.charts.plot import Curve, Plot, placed
from dbbench.report.charts.scene import Dot, Scene
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView

#: Pixels of a plot, between two panels, and of the figures at the left of a plot.
_PLOT, _GAP, _LEFT = 110.0, 28.0, 52.0
#: The most letters of a release's name.
_LONGEST = 14

Marks = Mapping[tuple[str, str, str], ComparisonVerdict]


def curves(scenario: ScenarioView, found: Series, marks: Marks, look: Look) -> Scene | None:
    """A panel for each step with a figure; None if there is none. Panels have an axis each, from zero on."""
    engines = [point.engine for point in found.points]
    views = [view for view in scenario.steps if any(value is not None for value, *_ in _values(view, engines))]
    if not views:
        return None
    called = next(
        (line.row.title.partition(" [")[0] for view in views for line in view.lines if line.row.engine in engines),
        found.engine,
    )
    what = "its releases" if found.axis == "release" else f"the values of its option {found.axis}"
    title = f"{scenario.suite_title}: {called} over {what}"
    sheet = Sheet(Texts(title, "A panel for each step; median of the rounds", _notes(marks)), look)
    columns = 1 if look.width < NARROW else 2
    across = (look.width - 2 * MARGIN - _GAP * (columns - 1)) / columns
    for first in range(0, len(views), columns):
        ends = []
        for column, view in enumerate(views[first : first + columns]):
            left = MARGIN + column * (across + _GAP)
            scene = sheet.scene
            scene.text(left, sheet.y + 14, wrap(view.step.title, SMALL, across, lines=1, bold=True), SMALL, bold=True)
            frame = Frame(left + _LEFT, sheet.y + 46, left + across - 10, sheet.y + 46 + _PLOT)
            ends.append(_panel(view, found, marks, scene, frame, look))
        sheet.y = max(ends) + 4
    return sheet.finished()


def _notes(marks: Marks) -> list[str]:
    notes = []
    if marks:
        timed = {ComparisonVerdict.SLOWER, ComparisonVerdict.FASTER} & {*marks.values()}
        notes.append(
            f"{'▲ slower, ▼ faster' if timed else '▲ larger, ▼ smaller'} than the previous point, by the paired test."
        )
    return [*notes, "Lines: 95 % intervals. A gap: no figure; the tables say why."]


def _values(view: StepView, engines: Sequence[str]) -> list[tuple[float | None, float | None, float | None]]:
    """The figure and the ends of its interval of each engine; None where there is none, or it is withheld."""
    rows = {line.row.engine: line.row for line in view.lines if not line.withheld}
    return [
        (rows[name].value, rows[name].low, rows[name].high) if name in rows else (None, None, None) for name in engines
    ]


def _panel(view: StepView, found: Series, marks: Marks, scene: Scene, frame: Frame, look: Look) -> float:
    """The figures of one step; where its texts end."""
    engines, unit = [point.engine for point in found.points], view.unit
    values = [[None if each is None else each / unit.size for each in one] for one in _values(view, engines)]
    ink = look.colour(engines[0])
    ink = f"c{ink[1:]}" if ink.startswith("t") else ink
    runs: list[list[tuple[float, float]]] = [[]]
    for place, (value, _, _) in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((place, value))
    whiskers = [
        (place, low, high) for place, (_, low, high) in enumerate(values) if low is not None and high is not None
    ]
    x = Axis(-0.4, len(values) - 0.6)
    y = fitting_axis([each for one in values for each in one if each], logarithmic=False, beyond=1.12)
    pieces = [Curve("", ink, "circle", run, whiskers if not at else ()) for at, run in enumerate(runs)]
    labels = [(place, _short(point.label)) for place, point in enumerate(found.points)]
    heading = unit.symbol + (", more is better" if view.higher else "")
    end = placed(Plot(pieces, x, y, labels, heading, "{:,.10g}".format), scene, frame)
    for place, (name, (value, _, _)) in enumerate(zip(engines, values, strict=True)):
        verdict = marks.get((view.scenario.name, view.step.name, name))
        if verdict is not None and value is not None:
            worse = verdict in (ComparisonVerdict.SLOWER, ComparisonVerdict.LARGER)
            shape, colour = ("up", "c4") if worse else ("down", "c0")
            scene.marks.append(Dot(frame.across(x, place), frame.up(y, value), colour, shape, 12))
    return end


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
