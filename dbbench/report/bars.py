"""Best-to-worst bars: of one step's times, and of sizes in their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import blended_transform_factory

from dbbench.report.sheet import BAR, BLUE, FAINT, GREY, INK, MARGIN, ORANGE, ROW, SKY, WIDTH, Sheet
from dbbench.report.view import BOUND_SHARE, NOTABLE_SHARE, Line, StepView

#: Inches for the values on the right.
LABELS = 1.85
#: Beyond this ratio of worst to best an "auto" axis is logarithmic.
WIDE_RANGE = 100


def bars(view: StepView, axis: str, caption: str) -> Figure:
    """One step: a bar for each engine with its interval, the failed ones named under them."""
    lines, values = view.lines, [line.row.value or 0.0 for line in view.lines]
    shown = [value / view.unit.size for value in values]
    positive = [value for value in shown if value > 0]
    greatest = max(_ends(view), default=0.0)
    wide = bool(positive) and greatest / min(positive) > WIDE_RANGE
    logarithmic = bool(positive) and (axis == "logarithmic" or (axis == "auto" and wide))
    subtitle = view.measure + (" (logarithmic axis)" if logarithmic else "")
    notes = [f"{_superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    if view.conditions:
        notes.append(view.conditions)
    if view.harness:
        notes.append(view.harness[0].upper() + view.harness[1:] + ".")
    sheet = Sheet(
        view.step.title,
        subtitle,
        _rows(view),
        notes,
        caption,
        _label_width(view),
        right=LABELS + 0.6 * any(map(_harness, lines)),
    )
    axes = sheet.axes
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 1.8, greatest * 1.5)
        axes.hlines(range(len(shown)), min(positive) / 1.8, shown, color=FAINT, linewidth=1)
        axes.plot(shown, range(len(shown)), "o", color=BLUE, markersize=8)
    else:
        axes.barh(range(len(shown)), shown, BAR, color=BLUE)
        axes.set_xlim(0, greatest * 1.04 or 1)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    for place, line in enumerate(lines):
        row = line.row
        if row.low is not None and row.high is not None:
            low, high = row.low / view.unit.size, row.high / view.unit.size
            axes.plot([low, high], [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")
            axes.plot(
                [low, low, np.nan, high, high],
                [place - 0.12, place + 0.12, np.nan, place - 0.12, place + 0.12],
                color=INK,
                linewidth=1.4,
            )
        _label(
            axes,
            place,
            f"{line.value} {view.unit.symbol}{_superscript(line.mark)}",
            f"{line.ratio if place else ''}{_harness(line)}",
        )
    _failed(axes, view)
    _dress(sheet, view)
    return sheet.figure


def sizes(view: StepView, csv_bytes: int | None, caption: str) -> Figure:
    """Sizes in parts, with the CSV files' size as a line."""
    notes = [f"{_superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    parts = [_parts(line) for line in view.lines]
    unit = view.unit
    subtitle = f"{view.measure}; all files after a flush"
    sheet = Sheet(view.step.title, subtitle, _rows(view), notes, caption, _label_width(view), right=LABELS, axis=0.62)
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
        _label(
            axes,
            place,
            f"{line.value} {unit.symbol}{_superscript(line.mark)}",
            line.ratio if place else "",
        )
    greatest = max([*left, (csv_bytes or 0) / unit.size], default=1.0)
    axes.set_xlim(0, greatest * 1.04 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    if csv_bytes:
        axes.axvline(
            csv_bytes / unit.size,
            color=INK,
            linestyle=(0, (4, 3)),
            linewidth=1.2,
            label=f"as CSV: {unit.text(csv_bytes)}",
        )
    _failed(axes, view)
    _dress(sheet, view)
    if view.lines:
        below = -0.3 / (_rows(view) * ROW)  # 0.3 inches under the axis
        axes.legend(
            loc="upper right",
            bbox_to_anchor=(1.02, below),
            ncols=5,
            fontsize=8,
            frameon=False,
            columnspacing=1.4,
            handlelength=1.6,
        )
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


def _rows(view: StepView) -> float:
    return max(len(view.lines) + len(view.failed), 1)


def _ends(view: StepView) -> list[float]:
    return [max(line.row.value or 0, line.row.high or 0) / view.unit.size for line in view.lines]


def _label_width(view: StepView) -> float:
    """Inches for the ranks and names on the left."""
    longest = max((len(line.row.title) for line in (*view.lines, *view.failed)), default=10)
    ranks = max((len(line.rank) for line in view.lines), default=0)
    return 0.35 + (longest + 2 * ranks) * 0.082


def _label(axes: Axes, y: float, text: str, faint: str) -> None:
    """A value in the column right of the bars, and its ratio after it: beside a bar it would cover its interval."""
    place: Any = {"textcoords": "offset points", "va": "center", "ha": "left"}
    axes.annotate(text, (1, y), (8, 0), xycoords=("axes fraction", "data"), fontsize=9, **place)
    axes.annotate(faint, (1, y), (72, 0), xycoords=("axes fraction", "data"), fontsize=8, color=GREY, **place)


def _harness(line: Line) -> str:
    """The harness's share, where it is more than a trifle; `!` marks what is bound by it."""
    share = line.row.harness_share or 0.0
    return f"  harness {share:.0%}{'!' if share > BOUND_SHARE else ''}" if share > NOTABLE_SHARE else ""


def _failed(axes: Axes, view: StepView) -> None:
    for place, line in enumerate(view.failed, len(view.lines)):
        text = f"{line.value}{_superscript(line.mark)}"
        axes.annotate(
            text,
            (0, place),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=GREY,
            style="italic",
        )


def _dress(sheet: Sheet, view: StepView) -> None:
    """Names on the left, a light grid, no frame."""
    axes = sheet.axes
    lines = (*view.lines, *view.failed)
    axes.set_ylim(_rows(view) - 0.5, -0.5)
    axes.set_yticks(range(len(lines)), [line.row.title for line in lines])
    ranks = blended_transform_factory(sheet.figure.transFigure, axes.transData)
    for place, line in enumerate(lines):
        axes.text(MARGIN / WIDTH, place, line.rank, transform=ranks, va="center_baseline", ha="left")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8, colors=GREY)
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["bottom"].set_color(FAINT)
    if not view.lines:
        axes.set_xticks([])
    for tick, line in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_color(INK if line.row.value is not None else GREY)


def _tick(value: float, place: int) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _superscript(number: str) -> str:
    return number.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
