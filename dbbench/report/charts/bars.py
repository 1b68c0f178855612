"""Best-to-worst bars: of one step's times, and of sizes in their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import blended_transform_factory

from dbbench.analysis.units import Unit
from dbbench.report.charts.layout import (
    BAR,
    BLUE,
    FAINT,
    GREY,
    INK,
    MARGIN,
    ORANGE,
    SKY,
    WIDTH,
    Sheet,
    inches,
    name_size,
    names,
    row_height,
)
from dbbench.report.step_view import BOUND_SHARE, NOTABLE_SHARE, Line, StepView

#: Inches for the ratios on the right, after the values.
RATIOS = 0.85


def bars(view: StepView, axis: str, captions: Sequence[str]) -> Figure:
    """One step: a bar for each engine with its interval, the failed ones named under them."""
    lines = view.lines
    shown = [(line.row.value or 0.0) / view.unit.size for line in lines]
    positive = [value for value in shown if value > 0]
    greatest = max(ends(view), default=0.0)
    logarithmic = bool(positive) and (axis == "logarithmic" or (axis == "auto" and view.wide))
    sheet = Sheet(
        view.step.title,
        view.measure + (" (logarithmic axis)" if logarithmic else ""),
        rows(view),
        notes(view),
        captions,
        label_width(view),
        right=values_width(view) + RATIOS + 0.6 * any(map(harness, lines)) + 0.75 * any(line.retries for line in lines),
        row=row_height(rows(view)),
    )
    axes = sheet.axes
    colours = [SKY if view.mixed and line.arrow else BLUE for line in lines]
    if logarithmic:
        axes.set_xscale("log")
        least = min(positive) / 1.8
        axes.set_xlim(least, greatest * 1.5)
        places = [place for place, value in enumerate(shown) if value > 0]
        axes.hlines(places, least, positive, color=FAINT, linewidth=1)
        axes.scatter(positive, places, s=60, color=[colours[place] for place in places], zorder=2)
    else:
        axes.barh(range(len(shown)), shown, BAR, color=colours)
        axes.set_xlim(0, greatest * 1.04 or 1)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    for place, line in enumerate(lines):
        interval(axes, place, line, view.unit)
        value(axes, place, line, view)
    _failed(axes, view)
    dress(sheet, view)
    return sheet.figure


def notes(view: StepView, *, marked: bool = True) -> list[str]:
    """What stands under a chart of a step: footnotes, conditions, and what the harness takes.

    `marked`: whether its lines mark what is bound by the harness.
    """
    found = [f"{superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    if view.mixed:
        found.append("Light: Arrow batches. Dark: rows.")
    if view.conditions:
        found.append(view.conditions)
    if note := view.harness_note(marked=marked):
        found.append(note[0].upper() + note[1:] + ".")
    return found


def interval(axes: Axes, place: float, line: Line, unit: Unit, *, color: str = INK, stop: float = 0.12) -> None:
    """A line from end to end, with a stop at each, which reaches as far to both sides."""
    if line.row.low is None or line.row.high is None:
        return
    low, high = line.row.low / unit.size, line.row.high / unit.size
    axes.plot(
        [low, high, np.nan, low, low, np.nan, high, high],
        [place, place, np.nan, place - stop, place + stop, np.nan, place - stop, place + stop],
        color=color,
        linewidth=1.4,
        solid_capstyle="butt",
        zorder=3,
    )


def sizes(view: StepView, captions: Sequence[str]) -> Figure:
    """Sizes in parts, with the size of what the engine was given as a line."""
    csv_bytes = view.data.csv_bytes
    parts = [_parts(line) for line in view.lines]
    unit = view.unit
    subtitle = f"{view.measure}; all files after a flush"
    row = row_height(rows(view))
    sheet = Sheet(
        view.step.title, subtitle, rows(view), notes(view), captions, label_width(view),
        right=values_width(view) + RATIOS, axis=0.62, row=row,
    )  # fmt: skip
    axes = sheet.axes
    left = np.zeros(len(parts))
    for name, colour in (("data", BLUE), ("index", SKY), ("journal", ORANGE), ("other", FAINT)):
        widths = np.array([part.get(name, 0.0) for part in parts]) / unit.size
        if widths.any():
            text = {"data": "data, indexes included where not apart", "index": "indexes"}.get(name, name)
            seen = widths.max() > 0.005 * max(line.row.value or 0 for line in view.lines) / unit.size
            axes.barh(range(len(parts)), widths, BAR, left=left, color=colour, label=text if seen else None)
        left = left + widths
    for place, line in enumerate(view.lines):
        value(axes, place, line, view)
    greatest = max([*left, (csv_bytes or 0) / unit.size], default=1.0)
    axes.set_xlim(0, greatest * 1.04 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    if csv_bytes:
        axes.axvline(
            csv_bytes / unit.size,
            color=INK,
            linestyle=(0, (4, 3)),
            linewidth=1.2,
            label=f"{'keys and values' if view.data.records else 'as CSV'}: {unit.text(csv_bytes)}",
        )
    _failed(axes, view)
    dress(sheet, view)
    if view.lines:
        sheet.legend(ncols=5, columnspacing=1.4, handlelength=1.6)
    return sheet.figure


def _parts(line: Line) -> dict[str, float]:
    """Bytes of a size's parts; the index, where it is known, is taken out of the data."""
    facts = line.row.facts or {}
    parts: dict[str, float] = {}
    for file in facts.get("files", []):
        parts[file["part"]] = parts.get(file["part"], 0) + file["apparent"]
    index = facts.get("index")
    if index:
        parts["index"] = index
        parts["data"] = parts.get("data", 0) - index
    return parts


def rows(view: StepView) -> float:
    """Rows of a chart: a line for each engine, also for those that failed."""
    return max(len(view.lines) + len(view.failed), 1)


def ends(view: StepView) -> list[float]:
    """How far each bar or its interval reaches, in the unit of the step."""
    return [max(line.row.value or 0, line.row.high or 0) / view.unit.size for line in view.lines]


def label_width(view: StepView) -> float:
    """Inches for the ranks and names on the left."""
    size = name_size(rows(view))
    titles = names([line.row.title for line in (*view.lines, *view.failed)])
    return MARGIN + inches([line.rank for line in view.lines], size) + 0.15 + inches(titles, size) + 0.12


def _text(line: Line, view: StepView) -> str:
    """A value, its unit and its footnote."""
    return f"{view.unit.text(line.row.value or 0)}{superscript(line.mark)}"


def values_width(view: StepView) -> float:
    """Inches for the values."""
    return max(inches([_text(line, view) for line in view.lines if not line.withheld], 9) + 0.3, 1)


def value(axes: Axes, y: float, line: Line, view: StepView) -> None:
    """A value in the column right of the bars, and its ratio after it: beside a bar it would cover its interval.

    Where it is withheld the words stand in the place of the bar.
    """
    if line.withheld:
        words(axes, y, line)
        return
    place: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center", "ha": "left"}
    axes.annotate(_text(line, view), (1, y), (8, 0), fontsize=9, **place)
    best = line.row.ratio is not None and line.row.ratio.low is None and line.row.ratio.value == 1
    faint = "  ".join(filter(None, ("" if best else line.ratio, harness(line).strip(), line.retries)))
    axes.annotate(faint, (1, y), (values_width(view) * 72, 0), fontsize=8, color=GREY, **place)


def words(axes: Axes, y: float, line: Line) -> None:
    """What stands where a bar would be."""
    axes.annotate(
        f"{line.value}{superscript(line.mark)}",
        (0, y),
        (6, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=9,
        color=GREY,
        style="italic",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )


def harness(line: Line) -> str:
    """The harness's share, where it is more than a trifle; `!` marks what is bound by it."""
    share = line.row.harness_share or 0.0
    return f"  harness {share:.0%}{'!' if share > BOUND_SHARE else ''}" if share > NOTABLE_SHARE else ""


def _failed(axes: Axes, view: StepView) -> None:
    for place, line in enumerate(view.failed, len(view.lines)):
        words(axes, place, line)


def dress(sheet: Sheet, view: StepView) -> None:
    """Names on the left, a light grid, no frame."""
    axes = sheet.axes
    lines = (*view.lines, *view.failed)
    axes.set_ylim(rows(view) - 0.5, -0.5)
    size = name_size(rows(view))
    axes.set_yticks(range(len(lines)), names([line.row.title for line in lines]), fontsize=size, linespacing=1.0)
    ranks = blended_transform_factory(sheet.figure.transFigure, axes.transData)
    for place, line in enumerate(lines):
        axes.text(MARGIN / WIDTH, place, line.rank, transform=ranks, va="center_baseline", ha="left", fontsize=size)
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    sheet.ground()
    if not view.lines:
        axes.set_xticks([])
    for tick, line in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_color(INK if line.row.value is not None else GREY)


def _tick(value: float, place: int) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def superscript(number: str) -> str:
    """The number of a footnote, raised."""
    return number.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
