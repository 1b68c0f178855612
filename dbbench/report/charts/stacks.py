"""Best-to-worst bars in parts: where the time of loading an object goes, and what happens once beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dbbench.analysis.units import fitting
from dbbench.report.charts.bars import (
    HEAD,
    RATIOS,
    dress,
    ends,
    harness,
    known_intervals,
    label_width,
    notes,
    rows,
    values,
    values_width,
)
from dbbench.report.charts.layout import BAR, BLUE, GREY, INK, Sheet, row_height
from dbbench.report.charts.marks import Span, boxes, intervals
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView
from dbbench.results.facts import PARTS
from dbbench.suite.charts import Stacks

_WHOLE = "not told apart"
#: Shade of the engine's colour and hatch of each part, so that neither is needed to tell them apart.
_LOOKS: dict[str, dict[str, Any]] = {
    **dict(zip(PARTS, ({}, {"alpha": 0.55, "hatch": "||||"}, {"alpha": 0.3, "hatch": "////"}), strict=True)),
    _WHOLE: {"alpha": 0.3},
}
_NAMES = {
    "execute": "execute (driver)",
    "fetch": "fetch (driver)",
    "materialise": "materialise (objects, and all else above the driver)",
}
#: Inches for each of the two figures on the right.
_COLUMN = 0.72


def figures(
    chart: Stacks, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """A chart for each step that loads objects."""
    for view in scenario.named(chart.steps):
        if chart.steps or view.wording.in_parts:
            yield f"{view.step.name}-parts", time_breakdown(view, captions, colours)


def time_breakdown(view: StepView, captions: Sequence[str], colours: Colours) -> Figure:
    """One step: a bar for each engine, made of its parts; at the right to connect, and to prepare."""
    sheet = Sheet(
        f"{view.step.title}: where the time goes",
        view.measure,
        rows(view),
        notes(view),
        captions,
        label_width(view),
        right=_once(view) + 2 * _COLUMN,
        axis=0.62,
        row=row_height(rows(view)),
        head=HEAD,
    )
    axes = sheet.axes
    pieces: dict[str, list[Span]] = {}
    for place, line in enumerate(view.lines):
        if line.withheld:
            continue
        found = line.row.parts
        left = 0.0
        for name, seconds in ((found.parts if found else {}) or {_WHOLE: line.row.value or 0.0}).items():
            width = seconds / view.unit.size
            pieces.setdefault(name, []).append((place, left, left + width))
            left += width
        for column, once in enumerate((found.connect, found.prepare) if found else ()):
            _beside(sheet, fitting("s", [once]).text(once), place, view, column)
    keys = []
    for name, spans in pieces.items():
        look = _LOOKS.get(name, _LOOKS[_WHOLE])
        boxes(axes, spans, BAR, [colours.get(view.lines[int(place)].row.engine, BLUE) for place, _, _ in spans], **look)
        keys.append(Patch(facecolor=GREY, label=_NAMES.get(name, name), linewidth=0, **{"edgecolor": "white", **look}))
    intervals(axes, known_intervals(enumerate(view.lines), view.unit), color=INK)
    values(sheet, view)
    for column, name in enumerate(("connect", "prepare")):
        _beside(sheet, name, -0.5, view, column, drop=-0.35)
    axes.set_xlim(0, max(ends(view), default=0.0) * 1.04 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    dress(sheet, view)
    if keys:
        sheet.legend(handles=keys, ncols=4, columnspacing=1.4, handlelength=1.8)
    return sheet.figure


def _once(view: StepView) -> float:
    """Inches from the bars to what happens once, after the values, their ratios and the harness's share."""
    return values_width(view) + RATIOS + 0.75 * any(map(harness, view.lines))


def _beside(sheet: Sheet, text: str, y: float, view: StepView, column: int, **style: Any) -> None:
    points = (_once(view) + _COLUMN * column) * 72 - 8
    sheet.write(1, y, text, points, fontsize=8, color=GREY, **style)
