"""Overviews, each a table in colour: every engine and step of a scenario, and every engine and scenario of a suite."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing
from dbbench.analysis.units import fitting
from dbbench.report.charts.layout import BLUE, GREY, MANY_ROWS, MARGIN, Sheet, inches, name_size, names
from dbbench.report.charts.marks import Label, Span, boxes, stacked
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import LEAST_SHARE, StepView
from dbbench.suite.charts import Overview

#: On the cells, whose colours stay the same on a dark page; so these are none of those that change there.
_ON_LIGHT, _ON_DARK = "#191919", "#fefefe"
_MIDDLE: Any = {"ha": "center"}
#: More columns than these don't have the room for their figures side by side.
_MOST_COLUMNS = 12
#: The height of the names over a band, in rows.
_HEAD = 0.9
#: Of a scenario's title, in one line over its column.
_CELL_CHARACTERS = 16

T = TypeVar("T")


def figures(
    _chart: Overview, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """One chart of all steps."""
    yield "overview", overview(scenario, captions, colours)


def overview(scenario: ScenarioView, captions: Sequence[str], colours: Colours) -> Figure:
    """Every engine and step as a multiple of the step's best, with the figure itself under it."""
    steps = scenario.steps
    engines = scenario.standings
    interval = ", with its interval" if any(item.low is not None for item in engines) else ""
    order = f"engines by {scenario.order}; mean: " if scenario.order else "engines by "
    subtitle = (
        f"Multiple of the step's best, with the figure under it; {order}the geometric mean over the timed "
        f"steps{interval}. Darker is further behind."
    )
    bands = _bands([None, *steps])
    sheet, deep = _sheet(f"{scenario.suite_title}: overview", subtitle, engines, len(bands), _harness(steps), captions)
    for number, band in enumerate(bands):
        _names(sheet.axes, number * deep, engines, colours)
        _band(sheet.axes, number * deep, band, engines)
    return _bare_table(sheet, max(map(len, bands)), deep * len(bands))


def across(shown: View, captions: Sequence[str], colours: Colours) -> Figure:
    """Every engine and scenario: the geometric mean of its ratios to the best, with the interval under it."""
    engines, scenarios = shown.across, shown.scenarios
    interval = ", with its interval" if any(item and item.low is not None for row in engines for item in row) else ""
    subtitle = (
        f"How many times the best of each step, as the geometric mean over a scenario's timed steps{interval}. "
        "Engines by the geometric mean of their row. Darker is further behind."
    )
    firsts = [next(filter(None, row)) for row in engines]
    bands = _bands(range(len(scenarios)))
    sheet, deep = _sheet(f"{shown.title}: all scenarios", subtitle, firsts, len(bands), [], captions)
    for number, band in enumerate(bands):
        top = number * deep
        _names(sheet.axes, top, firsts, colours)
        cells: list[tuple[Span, tuple[float, ...]]] = []
        for column, place in enumerate(band):
            called = textwrap.shorten(scenarios[place].scenario.title, 2 * _CELL_CHARACTERS - 3, placeholder=" …")
            name = "\n".join(textwrap.wrap(called, _CELL_CHARACTERS)[:2])
            _middle(sheet.axes, column + 0.5, top + _HEAD / 2, name, fontsize=8)
            for line, row in enumerate(engines):
                y, standing = top + _HEAD + line, row[place]
                if standing is None or not standing.mean_ratio:
                    withheld = standing is not None and standing.engine in scenarios[place].withheld
                    words = "withheld" if withheld else "–"
                    _middle(sheet.axes, column + 0.5, y + 0.5, words, fontsize=7, color=GREY, style="italic")
                    continue
                shade = _shade(standing.mean_ratio)
                cells.append(((y + 0.5, column + 0.02, column + 0.98), _shades()(shade)))
                _mean(sheet.axes, column, y, standing, _ink(shade))
        boxes(sheet.axes, [span for span, _ in cells], 0.94, [colour for _, colour in cells])
    return _bare_table(sheet, max(map(len, bands)), deep * len(bands))


def _sheet(
    title: str,
    subtitle: str,
    engines: Sequence[Standing],
    bands: int,
    footnotes: Sequence[str],
    captions: Sequence[str],
) -> tuple[Sheet, float]:
    """A sheet for so wide names and so deep bands, and how deep one is, in rows."""
    rows = max(len(engines), 1)
    left = MARGIN + inches(names([item.title for item in engines]), name_size(rows)) + 0.16
    deep = rows + _HEAD
    height = 0.42 if rows < MANY_ROWS else 0.36
    return Sheet(title, subtitle, deep * bands, footnotes, captions, left, axis=0.05, row=height), deep


def _names(axes: Axes, top: float, engines: Sequence[Standing], colours: Colours) -> None:
    """The engines' names at the left of a band, each beside its colour."""
    size = name_size(max(len(engines), 1))
    for place, name in enumerate(names([item.title for item in engines])):
        for part, drop in stacked(name):
            _write(axes, -0.17, top + _HEAD + place + 0.5, part, ha="right", fontsize=size, drop=drop)
    marks = [colours.get(item.engine, BLUE) for item in engines]
    boxes(axes, [(top + _HEAD + y + 0.5, -0.12, -0.05) for y in range(len(engines))], 0.6, marks)


def _bare_table(sheet: Sheet, columns: int, rows: float) -> Figure:
    """The figure, its axes without lines and ticks."""
    axes = sheet.axes
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_visible(False)
    return sheet.figure


def _bands(columns: Sequence[T]) -> list[Sequence[T]]:
    """Columns in as many bands, one under another, as leave room for their figures."""
    bands = -(-len(columns) // _MOST_COLUMNS)
    length = -(-len(columns) // bands)
    return [columns[first : first + length] for first in range(0, len(columns), length)]


def _band(axes: Axes, top: float, band: Sequence[StepView | None], engines: Sequence[Standing]) -> None:
    """Some columns, with their names over them; None is that of the mean."""
    for column, step in enumerate(band):
        name = "mean" if step is None else _two_lines(step.step.name.replace("-", " "))
        weight = "bold" if step is None else "normal"
        _middle(axes, column + 0.5, top + _HEAD / 2, name, fontsize=8, weight=weight)
    cells: list[tuple[Span, tuple[float, ...]]] = []
    texts: list[tuple[float, str, float, float, str]] = []
    for place, standing in enumerate(engines):
        y = top + _HEAD + place
        for column, step in enumerate(band):
            row = standing.rows.get(step.step.name) if step is not None else None
            if step is None:
                _mean(axes, column, y, standing)
            elif row is not None and row.value is not None:
                colour, words = _cell(row)
                cells.append(((y + 0.5, column + 0.02, column + 0.98), colour))
                texts += [(size, ink, column + 0.5, y + down, text) for size, ink, down, text in words]
        for first, length, outage in _outages(standing, band):
            _middle(axes, first + length / 2, y + 0.5, outage, fontsize=7, color=GREY, style="italic")
    boxes(axes, [span for span, _ in cells], 0.94, [colour for _, colour in cells])
    for size, ink, x, y, text in sorted(texts):  # those of one style together, which makes an SVG smaller
        _write(axes, x, y, text, fontsize=size, color=ink, **_MIDDLE)


def _write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    if text:
        axes.add_artist(Label(x, y, text, transform=axes.transData, **style))


def _middle(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """Some lines, centred."""
    for line, drop in stacked(text):
        _write(axes, x, y, line, drop=drop, **style, **_MIDDLE)


def _mean(axes: Axes, column: int, y: float, standing: Standing, ink: str = "") -> None:
    low, high = standing.low, standing.high
    between = "" if low is None or high is None else f"{_bare(low)}–{_bare(high)}"
    middle = y + (0.34 if between else 0.5)
    text = _ratio(standing.mean_ratio) if standing.mean_ratio else "–"
    _write(
        axes, column + 0.5, middle, text, fontsize=9, weight="bold", **{**_MIDDLE, **({"color": ink} if ink else {})}
    )
    _write(axes, column + 0.5, y + 0.72, between, fontsize=6.8, color=ink or GREY, **_MIDDLE)


def _harness(steps: Sequence[StepView]) -> list[str]:
    """The harness's greatest share of any result, named."""
    shares = [(line.row.harness_share or 0, step, line) for step in steps for line in step.lines]
    share, step, line = max(shares, key=lambda item: item[0], default=(0, None, None))
    if step is None or line is None or share < LEAST_SHARE:
        return []
    return [
        f"The harness itself is at most {share:.1%} of a result ({line.row.title}, {step.step.name.replace('-', ' ')})."
    ]


def _cell(row: Row) -> tuple[tuple[float, ...], list[tuple[float, str, float, str]]]:
    """A result: its colour, the darker the further behind, and its ratio to the best with the figure under it.

    Of each text the size, the colour, how far down the row, and the words.
    """
    times = row.ratio.value if row.ratio else None
    shade = _shade(times)
    ink = _ink(shade)
    value = row.value or 0.0
    unit = fitting(row.unit or "s", [value])  # the step's own may take more room than a cell has
    words = [(8.5, ink, 0.34, "" if times is None else _ratio(times)), (6.8, ink, 0.72, unit.text(value))]
    return _shades()(shade), words


def _shade(times: float | None) -> float:
    """How dark a multiple of the best is: from 0 for the best itself to 0.75 for a hundred times and more."""
    return 0.0 if times is None else float(min(np.log10(max(times, 1.0)) / 2, 1) * 0.75)


def _ink(shade: float) -> str:
    return _ON_DARK if shade > 0.6 else _ON_LIGHT


@cache
def _shades() -> Colormap:
    return mpl.colormaps["Blues"]


def _ratio(times: float) -> str:
    return f"×{_bare(times)}"


def _bare(times: float) -> str:
    return f"{times:.2f}" if times < 10 else f"{times:,.0f}"


def _outages(standing: Standing, band: Sequence[StepView | None]) -> Iterator[tuple[int, int, str]]:
    """Cells without a result: (first column, columns, outcome), neighbours of one outcome together."""

    def outcome(place: tuple[int, StepView | None]) -> str:
        row = standing.rows.get(place[1].step.name) if place[1] is not None else None
        if row is None or row.value is not None:
            return ""
        return "withheld" if row.withheld else str(row.outcome)

    for words, places in groupby(enumerate(band), key=outcome):
        columns = [column for column, _ in places]
        if words:
            yield columns[0], len(columns), words if len(columns) > 1 else _two_lines(words)


def _two_lines(text: str) -> str:
    words = text.split()
    return text if len(words) < 2 else f"{words[0]}\n{' '.join(words[1:])}"
