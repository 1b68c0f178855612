"""Figures over an axis that has an order, a panel for each step: the releases of an engine, or the values of an option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isnan, nan, radians, sin
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dbbench.analysis.series import Series
from dbbench.analysis.units import Unit
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.report.charts.layout import BLUE, FAINT, GREY, INK, MARGIN, SKY, VERMILION, WIDTH, Sheet, inches
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView

_COLUMNS = 2
#: Inches of a panel without the labels of its axis, of its title, of the plot itself, and of the figures left of it.
_PANEL, _TITLE, _PLOT, _LEFT = 1.6, 0.3, 1.02, 0.62
_GAP = 0.3
#: Points and characters of a label, inches between two of them, and degrees by which those that are too wide are turned.
_SIZE, _LONGEST, _APART, _TURN = 8, 14, 0.08, 35

Marks = Mapping[tuple[str, str, str], ComparisonVerdict]


def curves(scenario: ScenarioView, found: Series, marks: Marks, captions: Sequence[str]) -> Figure | None:
    """A panel for each step with a figure; None if there is none. Panels have an axis each, from zero on."""
    engines = [point.engine for point in found.points]
    views = [view for view in scenario.steps if any(value is not None for value, *_ in _values(view, engines))]
    if not views:
        return None
    width = (WIDTH - 2 * MARGIN - _GAP * (_COLUMNS - 1)) / _COLUMNS
    widest = inches([_short(point.label, _LONGEST) for point in found.points], _SIZE)
    turned = widest + _APART > (width - _LEFT) / len(found.points)
    panel = _PANEL + (widest * sin(radians(_TURN)) if turned else _SIZE / 72)
    rows = ceil(len(views) / _COLUMNS)
    called = next(
        (line.row.title.partition(" [")[0] for view in views for line in view.lines if line.row.engine in engines),
        found.engine,
    )
    what = "its releases" if found.axis == "release" else f"the values of its option {found.axis}"
    notes = []
    if marks:
        timed = {ComparisonVerdict.SLOWER, ComparisonVerdict.FASTER} & {*marks.values()}
        notes.append(
            f"{'▲ slower, ▼ faster' if timed else '▲ larger, ▼ smaller'} than the point before it, told apart by the paired test."
        )
    notes.append("Lines: 95 % intervals. A gap: no figure; the tables say why.")
    sheet = Sheet(
        f"{scenario.suite_title}: {called} over {what}",
        "A panel for each step; median of the rounds",
        rows,
        notes,
        captions,
        MARGIN,
        row=panel,
        axis=0.05,
    )
    box = sheet.axes.get_position()
    sheet.axes.remove()
    for place, view in enumerate(views):
        left = MARGIN + (place % _COLUMNS) * (width + _GAP) + _LEFT
        top = box.y1 - ((place // _COLUMNS) * panel + _TITLE) / sheet.height
        axes = sheet.figure.add_axes(
            (left / WIDTH, top - _PLOT / sheet.height, (width - _LEFT) / WIDTH, _PLOT / sheet.height)
        )
        _panel(axes, view, found, marks, turned=turned)
    return sheet.figure


def _values(view: StepView, engines: Sequence[str]) -> list[tuple[float | None, float | None, float | None]]:
    """The figure and the ends of its interval of each engine; None where there is none, or it is withheld."""
    rows = {line.row.engine: line.row for line in view.lines if not line.withheld}
    return [
        (rows[name].value, rows[name].low, rows[name].high) if name in rows else (None, None, None) for name in engines
    ]


def _panel(axes: Axes, view: StepView, found: Series, marks: Marks, *, turned: bool) -> None:
    engines = [point.engine for point in found.points]
    unit: Unit = view.unit
    values = [tuple(nan if each is None else each / unit.size for each in one) for one in _values(view, engines)]
    places = range(len(values))
    axes.plot(places, [value for value, *_ in values], color=BLUE, linewidth=1.4, marker="o", markersize=4, zorder=3)
    for place, (_, low, high) in zip(places, values, strict=True):
        axes.plot([place, place], [low, high], color=INK, linewidth=1.2, solid_capstyle="butt", zorder=2)
    for place, name in zip(places, engines, strict=True):
        verdict = marks.get((view.scenario.name, view.step.name, name))
        if verdict is not None:
            worse = verdict in (ComparisonVerdict.SLOWER, ComparisonVerdict.LARGER)
            axes.plot(
                place,
                values[place][0],
                marker="^" if worse else "v",
                markersize=8,
                color=VERMILION if worse else SKY,
                zorder=4,
            )
    tops = [each for one in values for each in one if not isnan(each)]
    axes.set_ylim(0, max(tops) * 1.12 or 1)
    axes.set_xlim(-0.4, len(values) - 0.6)
    axes.set_title(_short(view.step.title), fontsize=9, loc="left", color=INK, pad=6)
    axes.set_ylabel(unit.symbol + (", more is better" if view.higher else ""), fontsize=8, color=GREY)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    style: dict[str, Any] = {"rotation": _TURN, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    axes.set_xticks(places, [_short(point.label, _LONGEST) for point in found.points], fontsize=_SIZE, **style)
    axes.tick_params(axis="both", length=0, labelsize=8, colors=GREY)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["bottom"].set_color(FAINT)


def _short(text: str, most: int = 46) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
