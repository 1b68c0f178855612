"""How long the calls of a step took: a dot for each percentile and engine, by operation where there are several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import blended_transform_factory

from dbbench.analysis.recorded import TAIL
from dbbench.analysis.units import fitting
from dbbench.report.charts.bars import notes, superscript, words
from dbbench.report.charts.layout import (
    BLUE,
    FAINT,
    GREY,
    MARGIN,
    WIDTH,
    Sheet,
    inches,
    name_size,
    names,
    row_height,
)
from dbbench.report.charts.marks import Label
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import Line, StepView
from dbbench.suite.charts import Percentiles

#: The percentiles and the greatest: shape and size. The colour is the engine's.
_DOTS: Any = (("o", 44), ("s", 30), ("D", 28), ("^", 36), ("|", 60))
_NAMES = (*TAIL, "max")
#: Inches for the two figures on the right.
_COLUMN = 0.72
#: Under this ratio of its ends an axis has more than the powers of ten.
_NARROW = 50


def figures(
    chart: Percentiles, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """A chart for each step with percentiles."""
    for view in scenario.named(chart.steps):
        if any(line.tails for line in view.lines):
            yield f"{view.step.name}-percentiles", percentiles(view, captions, colours)


def percentiles(view: StepView, captions: Sequence[str], colours: Colours) -> Figure:
    """One step: engines in the order of its own chart, on a logarithmic axis."""
    operations = list(dict.fromkeys(name for line in view.lines for name in line.tails))
    headings = len(operations) > 1
    places: list[tuple[str, Line | None]] = []
    for operation in operations:
        places += [(operation, None)] * headings
        places += [(operation, line) for line in view.lines if operation in line.tails or line.withheld]
    places += [("no figure", None)] * (headings and bool(view.failed))
    places += [("", line) for line in view.failed]
    size, row = name_size(len(places)), row_height(len(places))
    titles = names([line.row.title for _, line in places if line is not None])
    sheet = Sheet(
        f"{view.step.title}: how long {view.wording.call(view.step)} took",
        "Percentiles, less is better; medians of the rounds' (logarithmic axis)"
        if view.rounds > 1
        else "Percentiles, less is better; one round (logarithmic axis)",
        len(places),
        [*_few(view), *notes(view, marked=False)],
        captions,
        MARGIN + inches(titles, size) + 0.2,
        right=2 * _COLUMN + MARGIN,
        axis=0.62,
        row=row,
    )
    axes = sheet.axes
    axes.set_xscale("log")
    _points(axes, places, colours)
    left = blended_transform_factory(sheet.figure.transFigure, axes.transData)
    for y, (operation, line) in enumerate(places):
        if line is None:
            axes.add_artist(Label(MARGIN / WIDTH, y, operation, transform=left, fontsize=size, weight="bold"))
        elif line.withheld or not operation:
            words(axes, y, line)
        else:
            _row(sheet, y, line, operation)
    for column, name in enumerate(("p50", "p99")):
        sheet.write(1, -0.5, name, 8 + 72 * _COLUMN * column, fontsize=8, color=GREY, drop=-0.3)
    _dress(sheet, places, size)
    _legend(sheet, [tail.points for line in view.lines for tail in line.tails.values()])
    return sheet.figure


def _points(axes: Axes, places: Sequence[tuple[str, Line | None]], colours: Colours) -> None:
    """All dots of a shape at once, and a line from each row's least to its greatest."""
    known = [
        (y, line.tails[operation].points, colours.get(line.row.engine, BLUE))
        for y, (operation, line) in enumerate(places)
        if line is not None and operation and not line.withheld
    ]
    ends = [
        (y, min(known_points), max(known_points))
        for y, points, _ in known
        if (known_points := [each for each in points if each])
    ]
    if ends:
        axes.hlines(*zip(*ends, strict=True), color=FAINT, linewidth=1.5, zorder=1)
    for number, (shape, area) in enumerate(_DOTS):
        mine = [(points[number], y, colour) for y, points, colour in known if number < len(points) and points[number]]
        if mine:
            x, y, colour = zip(*mine, strict=True)
            axes.scatter(x, y, s=area, marker=shape, color=colour, linewidths=1.4, zorder=2)


def _row(sheet: Sheet, y: float, line: Line, operation: str) -> None:
    tail = line.tails[operation]
    for column, point in enumerate((tail.percentiles[0], tail.percentiles[2])):
        text = "–" if point is None else fitting("s", [point]).text(point)
        sheet.write(1, y, text, 8 + 72 * _COLUMN * column, fontsize=8.5)


def _dress(sheet: Sheet, places: Sequence[tuple[str, Line | None]], size: float) -> None:
    axes = sheet.axes
    axes.set_ylim(len(places) - 0.5, -0.5)
    present = [(y, line) for y, (_, line) in enumerate(places) if line is not None]
    titles = [
        f"{line.row.title}{'' if line.withheld or line.row.value is None else superscript(line.mark)}"
        for _, line in present
    ]
    sheet.names(titles, size, [line.row.value is not None for _, line in present], [y for y, _ in present])
    least, most = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if most / least < _NARROW else (1,)))
    axes.xaxis.set_major_formatter(lambda value, _: _time(value))
    axes.xaxis.set_minor_formatter(NullFormatter())
    sheet.ground()


def _time(seconds: float) -> str:
    unit = fitting("s", [seconds * 1.0001])
    return f"{round(seconds / unit.size):,} {unit.symbol}"


def _legend(sheet: Sheet, drawn: Sequence[Sequence[float | None]]) -> None:
    """The shapes that are somewhere in the chart."""
    known = [any(points) for points in zip(*drawn, strict=True)]
    shown = [(name, dot) for name, dot, point in zip(_NAMES, _DOTS, known, strict=False) if point]
    for name, (shape, area) in shown:
        sheet.axes.scatter([], [], s=area, marker=shape, color=GREY, linewidths=1.4, label=name)
    if shown:
        sheet.legend(ncols=len(shown), columnspacing=1.6, handletextpad=0.3)


def _few(view: StepView) -> list[str]:
    """Notes on engines whose calls were too few."""
    without = [line.row.title for line in view.lines if not line.tails and not line.withheld]
    return [f"Too few calls for percentiles: {', '.join(without)}."] if without else []
