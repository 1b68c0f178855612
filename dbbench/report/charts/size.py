"""Best-to-worst bars of sizes in their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dbbench.report.charts.bars import HEAD, RATIOS, dress, has_ratios, label_width, notes, rows, values, values_width
from dbbench.report.charts.layout import BAR, BLUE, GREY, INK, Sheet, row_height
from dbbench.report.charts.marks import boxes
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView
from dbbench.suite.charts import SizeChart

#: Part of a size -> what the key calls it, and how it looks in its engine's colour.
_PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "data": ("data", {}),
    "both": ("data with indexes", {"hatch": "////"}),
    "index": ("indexes", {"alpha": 0.5}),
    "journal": ("log in use", {"alpha": 0.25}),
    "other": ("other", {"alpha": 0.45, "hatch": "||||"}),
    # Not ranked: on disk, and no cost of the data.
    "reserved": ("log reserved (not ranked)", {"alpha": 0.15, "hatch": "...."}),
    "empty": ("empty database (not ranked)", {"alpha": 0.08}),
}


def figures(
    chart: SizeChart, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """The chart of a size step."""
    for view in scenario.named([chart.step]):
        yield view.step.name, sizes(view, captions, colours)


def sizes(view: StepView, captions: Sequence[str], colours: Colours) -> Figure:
    """Sizes in parts, with the size of what the engine was given as a line."""
    csv_bytes = view.data.csv_bytes
    parts = [line.row.size_parts for line in view.lines]
    unit = view.unit
    row = row_height(rows(view))
    sheet = Sheet(
        view.step.title, view.measure, rows(view), notes(view), captions, label_width(view),
        right=values_width(view) + RATIOS, axis=0.62, row=row, head=HEAD * has_ratios(view),
    )  # fmt: skip
    axes = sheet.axes
    greatest = max((sum(part.values()) for part in parts), default=0)
    left = np.zeros(len(parts))
    keys: list[Artist] = []
    for name, (text, look) in _PARTS.items():
        widths = np.array([part.get(name, 0.0) for part in parts])
        present = [place for place in range(len(parts)) if widths[place]]
        spans = [(place, left[place] / unit.size, (left[place] + widths[place]) / unit.size) for place in present]
        boxes(axes, spans, BAR, [colours.get(view.lines[place].row.engine, BLUE) for place in present], **look)
        if present and widths.max() > 0.005 * greatest:
            keys.append(Patch(facecolor=GREY, linewidth=0, label=text, **{"edgecolor": "white", **look}))
        left = left + widths
    values(sheet, view)
    axes.set_xlim(0, max([*left, csv_bytes or 0], default=1.0) / unit.size * 1.04 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    if csv_bytes:
        text = f"{'keys and values' if view.data.records else 'as CSV'}: {unit.text(csv_bytes)}"
        at, dashed = csv_bytes / unit.size, (0, (4, 3))
        keys.append(axes.axvline(at, color=INK, linestyle=dashed, linewidth=1.2, label=text))
    dress(sheet, view)
    if view.lines:
        with mpl.rc_context({"hatch.linewidth": 0.8}):
            sheet.legend(handles=keys, ncols=4, columnspacing=1.2, handlelength=1.6)
    return sheet.figure
