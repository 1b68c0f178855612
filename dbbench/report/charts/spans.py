"""Two steps as the ends of one bar: from a cold start, and with warm caches. Best to worst by the warm end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dbbench.analysis.units import fitting
from dbbench.report.charts.bars import interval, notes, superscript, words
from dbbench.report.charts.layout import (
    BLUE,
    FAINT,
    GREY,
    INK,
    MARGIN,
    ORANGE,
    Sheet,
    inches,
    name_size,
    names,
    row_height,
)
from dbbench.report.step_view import WIDE_RANGE, Line, StepView, heading, reference_ratio

#: Inches for each figure on the right.
_COLUMN = 0.62
#: Rows from the bar to the interval of an end: that of the cold one above it, that of the warm one below.
_BESIDE_BAR = 0.25
_BESIDE: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right"}


def spans(title: str, cold: StepView, warm: StepView, captions: Sequence[str]) -> Figure:
    """A bar for each engine from its cold figure to its warm one, those that have neither named under them."""
    at_start = {line.row.engine: line for line in (*cold.lines, *cold.failed)}
    lines = [*warm.lines, *warm.failed]
    ends = [(_value(at_start.get(line.row.engine)), _value(line)) for line in lines]
    known = [value for pair in ends for value in pair if value]
    base = next((line.row.unit for line in lines if line.row.unit), "1/s")
    unit = fitting(base, known)
    columns = ["cold", "warm", *([f"of {warm.scenario.reference}"] if warm.scenario.reference else [])]
    widths = [max(_COLUMN, inches([column], 8) + 0.15) for column in columns]
    titles = names([line.row.title for line in lines])
    size, wide = name_size(len(lines)), bool(known) and max(known) / min(known) > WIDE_RANGE
    better = "more" if warm.higher else "less"
    what = heading(unit).replace("/s", " per second")
    rounds = f"medians of {warm.rounds} rounds with {warm.interval}" if warm.rounds > 1 else "one round"
    sheet = Sheet(
        title,
        f"{what}, {better} is better; {rounds}{' (logarithmic axis)' if wide else ''}",
        max(len(lines), 1),
        [*notes(warm, marked=False), *(f"Cold: {note}" for note in cold.footnotes if note not in warm.footnotes)],
        captions,
        MARGIN + inches(titles, size) + 0.2,
        right=sum(widths) + MARGIN,
        axis=0.62,
        row=row_height(len(lines)),
    )
    axes = sheet.axes
    if wide:
        axes.set_xscale("log")
    for y, (line, pair) in enumerate(zip(lines, ends, strict=True)):
        if not any(pair):
            words(axes, y, line)
            continue
        first, last = (None if value is None else value / unit.size for value in pair)
        if first and last:
            axes.plot([first, last], [y, y], color=FAINT, linewidth=7, solid_capstyle="butt", zorder=1)
        for end, value, shape, colour, beside in (
            (at_start.get(line.row.engine), first, "s", ORANGE, -_BESIDE_BAR),
            (line, last, "o", BLUE, _BESIDE_BAR),
        ):
            if end and value:
                interval(axes, y + beside, end, unit, color=colour, stop=0.07)
                axes.scatter([value], [y], s=46, marker=shape, color=colour, zorder=4)
        multiple = reference_ratio(warm, line)
        texts = ["–" if value is None else unit.figure(value) for value in pair] + [multiple or "–"]
        for at, text in enumerate(texts[: len(columns)]):
            axes.annotate(text, (1, y), (72 * sum(widths[: at + 1]), 0), fontsize=8.5, va="center", **_BESIDE)
    for at, column in enumerate(columns):
        axes.annotate(column, (1, -0.5), (72 * sum(widths[: at + 1]), 2), fontsize=8, color=GREY, **_BESIDE)
    reach = [bound / unit.size for line in (*at_start.values(), *lines) for bound in _reach(line) if bound]
    _dress(sheet, lines, titles, size, known=reach, wide=wide)
    return sheet.figure


def _value(line: Line | None) -> float | None:
    return None if line is None else line.row.value


def _reach(line: Line) -> tuple[float | None, ...]:
    return line.row.value, line.row.low, line.row.high


def _dress(
    sheet: Sheet, lines: Sequence[Line], titles: Sequence[str], size: float, *, known: Sequence[float], wide: bool
) -> None:
    axes = sheet.axes
    axes.set_ylim(max(len(lines), 1) - 0.5, -0.5)
    marked = [f"{title}{superscript(line.mark)}" for title, line in zip(titles, lines, strict=True)]
    axes.set_yticks(range(len(lines)), marked, fontsize=size, linespacing=1.0)
    for tick, line in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_color(INK if line.row.value is not None else GREY)
    if wide:
        axes.set_xlim(min(known) / 1.6, max(known) * 1.6)
        axes.xaxis.set_major_locator(LogLocator(10))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, max(known, default=1) * 1.05)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    sheet.ground()
    for name, shape, colour in (("cold start", "s", ORANGE), ("warm caches", "o", BLUE)):
        axes.scatter([], [], s=46, marker=shape, color=colour, label=name)
    sheet.legend(ncols=2, handletextpad=0.3)
