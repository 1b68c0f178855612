"""Two steps as the ends of one bar: from a cold start, and with warm caches. Best to worst by the warm end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dbbench.analysis.units import fitting
from dbbench.report.charts.bars import known_intervals, notes, superscript, words
from dbbench.report.charts.layout import (
    BLUE,
    FAINT,
    GREY,
    MARGIN,
    Sheet,
    inches,
    name_size,
    names,
    row_height,
)
from dbbench.report.charts.marks import intervals
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, Line, StepView, heading, reference_ratio
from dbbench.suite.charts import Spans

#: Inches for each figure on the right.
_COLUMN = 0.62
#: Rows from the bar to the interval of an end: that of the cold one above it, that of the warm one below.
_BESIDE_BAR = 0.25
#: What the ends are, their shapes, and whether they are hollow. The colour is the engine's.
_ENDS = (("cold start", "s", True), ("warm caches", "o", False))


def figures(
    chart: Spans, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """One chart, if both steps have figures."""
    if len(views := scenario.named([chart.cold, chart.warm])) == 2:
        cold, warm = views
        yield f"{chart.warm}-span", spans(chart.title, cold, warm, captions, colours)


def spans(title: str, cold: StepView, warm: StepView, captions: Sequence[str], colours: Colours) -> Figure:
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
    bars: list[tuple[float, float, float]] = []
    for y, (line, pair) in enumerate(zip(lines, ends, strict=True)):
        if not any(pair):
            words(axes, y, line)
            continue
        if pair[0] and pair[1]:
            bars.append((y, pair[0] / unit.size, pair[1] / unit.size))
        multiple = reference_ratio(warm, line)
        texts = ["–" if value is None else unit.figure(value) for value in pair] + [multiple or "–"]
        for at, text in enumerate(texts[: len(columns)]):
            sheet.write(1, y, text, 72 * sum(widths[: at + 1]), ha="right", fontsize=8.5)
    if bars:
        axes.hlines(*zip(*bars, strict=True), color=FAINT, linewidth=7, zorder=1)
    for number, (view, (_, shape, hollow), beside) in enumerate(
        zip((cold, warm), _ENDS, (-_BESIDE_BAR, _BESIDE_BAR), strict=True)
    ):
        mine = [(y, pair[number]) for y, pair in enumerate(ends) if pair[number]]
        edges = [colours.get(lines[y].row.engine, BLUE) for y, _ in mine]
        axes.scatter(
            [(value or 0) / unit.size for _, value in mine], [y for y, _ in mine], s=42, marker=shape, linewidths=1.6,
            facecolors="white" if hollow else edges, edgecolors=edges, zorder=4,
        )  # fmt: skip
        lines_there = {line.row.engine: line for line in (*view.lines, *view.failed)}
        others = [(y + beside, lines_there[lines[y].row.engine]) for y, _ in mine]
        intervals(axes, known_intervals(others, unit), color=GREY, stop=0.07)
    for at, column in enumerate(columns):
        sheet.write(1, -0.5, column, 72 * sum(widths[: at + 1]), ha="right", fontsize=8, color=GREY, drop=-0.3)
    reach = [bound / unit.size for line in (*at_start.values(), *lines) for bound in _reach(line) if bound]
    _dress(sheet, lines, size, known=reach, wide=wide)
    return sheet.figure


def _value(line: Line | None) -> float | None:
    return None if line is None else line.row.value


def _reach(line: Line) -> tuple[float | None, ...]:
    return line.row.value, line.row.low, line.row.high


def _dress(sheet: Sheet, lines: Sequence[Line], size: float, *, known: Sequence[float], wide: bool) -> None:
    axes = sheet.axes
    axes.set_ylim(max(len(lines), 1) - 0.5, -0.5)
    marked = [f"{line.row.title}{superscript(line.mark)}" for line in lines]
    sheet.names(marked, size, [line.row.value is not None for line in lines])
    if wide:
        axes.set_xlim(min(known) / 1.6, max(known) * 1.6)
        axes.xaxis.set_major_locator(LogLocator(10))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, max(known, default=1) * 1.05)
    axes.xaxis.set_major_formatter("{x:,g}")
    sheet.ground()
    for name, shape, hollow in _ENDS:
        faces = "white" if hollow else GREY
        axes.scatter([], [], s=42, marker=shape, facecolors=faces, edgecolors=GREY, linewidths=1.6, label=name)
    sheet.legend(ncols=2, handletextpad=0.3)
