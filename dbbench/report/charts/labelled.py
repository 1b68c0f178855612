"""Curves with the name of each at its end: what the charts over clients and over seconds share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from dbbench.report.charts.layout import BLUE, FAINT, GREY, MARGIN, inches
from dbbench.report.charts.palette import Colours
from dbbench.report.step_view import StepView

#: The shape of each curve, so that its engine's colour isn't needed to tell it apart.
_SHAPES = "osD^vPX*"
#: The most curves of a chart: more can't be told apart.
MOST = len(_SHAPES)
#: Inches that the words over the axes take.
TOP = 0.17
#: Points of the names, and inches from one to the next.
_SIZE, _STEP = 8.5, 0.17


def styles(views: Sequence[StepView], titles: Sequence[str], colours: Colours) -> dict[str, dict[str, Any]]:
    """Title -> how its curve is drawn: in its engine's colour, and with a shape that it has in other charts too, unless
    another curve of this one has it.
    """
    engines = {line.row.title: line.row.engine for view in views for line in view.lines}
    own = {engine: _SHAPES[number % MOST] for number, engine in enumerate(colours)}
    free = list(_SHAPES)
    found = {}
    for title in titles:
        engine = engines[title]
        shape = own[engine] if own.get(engine) in free else free[0]
        free.remove(shape)
        found[title] = {"color": colours.get(engine, BLUE), "marker": shape, "markersize": 5, "linewidth": 1.6}
    return found


def label_width(titles: Sequence[str]) -> float:
    """Inches to keep free at the right."""
    return inches(titles, _SIZE) + 0.2 + MARGIN


def label_ends(
    axes: Axes, ends: Sequence[tuple[str, float]], height: float, drawn: Mapping[str, Mapping[str, Any]]
) -> None:
    """Name each curve, in its colour, beside its last value, moved apart where they would overlap; `height` of the axes in inches."""
    low, high = axes.transData.transform([(0.5, each) for each in axes.get_ylim()])[:, 1]
    places = [(axes.transData.transform((1, value))[1] - low) / (high - low) * height for _, value in ends]
    order = sorted(range(len(ends)), key=lambda number: places[number])
    at = [0.0] * len(ends)
    free = -1.0
    for number in order:
        at[number] = max(places[number], free)
        free = at[number] + _STEP
    over = max(free - _STEP - height, 0)
    for number, (title, _) in enumerate(ends):
        axes.annotate(
            title, (1, (at[number] - over) / height), (8, 0), xycoords="axes fraction", textcoords="offset points",
            fontsize=_SIZE, va="center", color=drawn[title]["color"],
        )  # fmt: skip


def dress(axes: Axes, what: str) -> None:
    """A light grid, small grey figures with thousands separated, and what the height is, over it."""
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", labelsize=8, colors=GREY, length=0)
    axes.spines["bottom"].set_color(FAINT)
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_title(what, loc="left", fontsize=8.5, color=GREY, pad=5)
