"""Best-to-worst bars in parts: where the time of loading an object goes, and what happens once beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dbbench.analysis.parts import parts
from dbbench.analysis.units import fitting
from dbbench.report.charts.bars import (
    RATIOS,
    dress,
    ends,
    harness,
    interval,
    label_width,
    notes,
    rows,
    value,
    values_width,
    words,
)
from dbbench.report.charts.layout import BAR, BLUE, FAINT, GREY, ORANGE, SKY, Sheet, row_height
from dbbench.report.step_view import StepView
from dbbench.results.facts import PARTS

#: Colour and hatch of each part, so that neither is needed to tell them apart; and of what isn't parted.
_LOOKS = dict(zip(PARTS, ((BLUE, ""), (SKY, "...."), (ORANGE, "////")), strict=True))
_WHOLE = (FAINT, "")
_NAMES = {
    "execute": "execute (driver)",
    "fetch": "fetch (driver)",
    "materialise": "materialise (objects, and all else above the driver)",
}
#: Inches for each of the two figures on the right.
_COLUMN = 0.72


def time_breakdown(view: StepView, captions: Sequence[str]) -> Figure:
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
    )
    axes, seen = sheet.axes, set()
    with mpl.rc_context({"hatch.linewidth": 0.6}):
        for place, line in enumerate(view.lines):
            if line.withheld:
                words(axes, place, line)
                continue
            found = parts(line.row.value, line.row.rounds)
            pieces = (found.parts if found else {}) or {"not told apart": line.row.value or 0.0}
            left = 0.0
            for name, seconds in pieces.items():
                colour, hatch = _LOOKS.get(name, _WHOLE)
                label = None if name in seen else _NAMES.get(name, name)
                seen.add(name)
                width = seconds / view.unit.size
                axes.barh(
                    place, width, BAR, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0, label=label
                )
                left += width
            interval(axes, place, line, view.unit)
            value(axes, place, line, view)
            for column, once in enumerate((found.connect, found.prepare) if found else ()):
                _beside(axes, fitting("s", [once]).text(once), place, view, column)
    for column, name in enumerate(("connect", "prepare")):
        _beside(axes, name, -0.75, view, column)
    axes.set_xlim(0, max(ends(view), default=0.0) * 1.04 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    for place, line in enumerate(view.failed, len(view.lines)):
        words(axes, place, line)
    dress(sheet, view)
    if seen:
        sheet.legend(ncols=4, columnspacing=1.4, handlelength=1.8)
    return sheet.figure


def _once(view: StepView) -> float:
    """Inches from the bars to what happens once, after the values, their ratios and the harness's share."""
    return values_width(view) + RATIOS + 0.75 * any(map(harness, view.lines))


def _beside(axes: Any, text: str, y: float, view: StepView, column: int) -> None:
    place = ((_once(view) + _COLUMN * column) * 72 - 8, 0)
    axes.annotate(
        text, (1, y), place, xycoords=("axes fraction", "data"), textcoords="offset points", va="center", ha="left",
        fontsize=8, color=GREY, annotation_clip=False,
    )  # fmt: skip
