"""Best-to-worst bars of one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory

from dbbench.analysis.units import Unit
from dbbench.report.charts.layout import (
    BAR,
    BLUE,
    FAINT,
    GREY,
    INK,
    MARGIN,
    WIDTH,
    Sheet,
    inches,
    name_size,
    names,
    row_height,
)
from dbbench.report.charts.marks import Label, Span, boxes, intervals
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import BOUND_SHARE, NOTABLE_SHARE, Line, StepView
from dbbench.suite.charts import Bars

#: Inches for the ratios on the right, after the values, and for their heading.
RATIOS, HEAD = 0.85, 0.16
ARROW_NOTE = "Hatched or hollow: Arrow batches. Plain: rows."


def figures(
    chart: Bars, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """A chart for each step named, or for each that isn't a size."""
    for view in scenario.named(chart.steps):
        if chart.steps or not view.counted:
            yield view.step.name, bars(view, chart.axis, captions, colours)


def bars(view: StepView, axis: str, captions: Sequence[str], colours: Colours) -> Figure:
    """One step: a bar for each engine with its interval, the failed ones named under them."""
    lines = view.lines
    logarithmic = any(line.row.value for line in lines) and (axis == "logarithmic" or (axis == "auto" and view.wide))
    sheet = Sheet(
        view.step.title,
        view.measure + (" (logarithmic axis)" if logarithmic else ""),
        rows(view),
        notes(view),
        captions,
        label_width(view),
        right=values_width(view) + RATIOS + 0.6 * any(map(harness, lines)) + 0.75 * any(line.retries for line in lines),
        row=row_height(rows(view)),
        head=HEAD * has_ratios(view),
    )
    axes = sheet.axes
    draw_values(axes, view, colours, logarithmic=logarithmic, beyond=1.5 if logarithmic else 1.04)
    if not logarithmic:
        axes.xaxis.set_major_locator(MaxNLocator(6))
    intervals(axes, known_intervals(enumerate(lines), view.unit), color=INK)
    values(sheet, view)
    dress(sheet, view)
    return sheet.figure


def draw_values(
    axes: Axes, view: StepView, colours: Colours, *, logarithmic: bool, beyond: float, dot: float = 52, line: float = 1
) -> None:
    """A step's figures as bars, or as points of `dot` square points where the axis is logarithmic.

    The axis ends at `beyond` times the greatest.
    """
    shown = [(each.row.value or 0.0) / view.unit.size for each in view.lines]
    colour = [colours.get(each.row.engine, BLUE) for each in view.lines]
    arrow = [view.mixed and each.arrow for each in view.lines]
    greatest = max(ends(view), default=0.0)
    places = [place for place, value in enumerate(shown) if value > 0]
    if logarithmic and places:
        axes.set_xscale("log")
        known = [shown[place] for place in places]
        lows = (low for _, low, _ in known_intervals(enumerate(view.lines), view.unit) if low > 0)
        least = min([*known, *lows]) / 1.8
        axes.set_xlim(least, greatest * beyond)
        axes.hlines(places, least, known, color=FAINT, linewidth=line)
        edges = [colour[place] for place in places]
        faces = ["white" if arrow[place] else colour[place] for place in places]
        axes.scatter(known, places, s=dot, facecolors=faces, edgecolors=edges, linewidths=1.4, zorder=2)
        return
    axes.set_xlim(0, greatest * beyond or 1)
    for hatched in (False, True):
        mine = [place for place in range(len(shown)) if arrow[place] is hatched]
        spans = [(place, 0, shown[place]) for place in mine]
        boxes(axes, spans, BAR, [colour[place] for place in mine], hatch="////" if hatched else None)


def notes(view: StepView, *, marked: bool = True) -> list[str]:
    """What stands under a chart of a step: footnotes, conditions, and what the harness takes.

    `marked`: whether its lines mark what is bound by the harness.
    """
    found = [f"{superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    if view.mixed:
        found.append(ARROW_NOTE)
    if view.conditions:
        found.append(view.conditions)
    if note := view.harness_note(marked=marked):
        found.append(note[0].upper() + note[1:] + ".")
    return found


def known_intervals(lines: Iterable[tuple[float, Line]], unit: Unit) -> list[Span]:
    """The intervals of some rows, for `intervals`."""
    return [
        (place, line.row.low / unit.size, line.row.high / unit.size)
        for place, line in lines
        if line.row.low is not None and line.row.high is not None
    ]


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


def has_ratios(view: StepView) -> bool:
    """Whether ratios stand beside the values."""
    return any(_ratio(line) for line in view.lines)


def values(sheet: Sheet, view: StepView) -> None:
    """Values in the column right of the bars, and ratios after them: beside a bar they would cover its interval.

    Where one is withheld, or there is none, words stand in the place of the bar.
    """
    beyond = values_width(view) * 72
    for y, line in enumerate(view.lines):
        if line.withheld:
            words(sheet.axes, y, line)
        else:
            sheet.write(1, y, _text(line, view), 8, fontsize=9)
    for y, line in enumerate(view.lines):
        if faint := "  ".join(filter(None, (_ratio(line), harness(line).strip(), line.retries))):
            sheet.write(1, y, faint, beyond, fontsize=8, color=GREY)
    if has_ratios(view):
        for drop, text in ((-1.5, f"times {'larger' if view.counted else 'slower'}"), (-0.35, "than best")):
            sheet.write(1, -0.5, text, beyond, fontsize=6.8, color=GREY, drop=drop)
    for y, line in enumerate(view.failed, len(view.lines)):
        words(sheet.axes, y, line)


def _ratio(line: Line) -> str:
    """The ratio to the best; none for the best itself."""
    best = line.row.ratio is not None and line.row.ratio.low is None and line.row.ratio.value == 1
    return "" if best or line.withheld else line.ratio


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


def dress(sheet: Sheet, view: StepView) -> None:
    """Ranks and names on the left, a light grid, no frame."""
    axes = sheet.axes
    lines = (*view.lines, *view.failed)
    axes.set_ylim(rows(view) - 0.5, -0.5)
    size = name_size(rows(view))
    sheet.names([line.row.title for line in lines], size, [line.row.value is not None for line in lines])
    ranks = blended_transform_factory(sheet.figure.transFigure, axes.transData)
    for place, line in enumerate(lines):
        if line.rank:
            axes.add_artist(Label(MARGIN / WIDTH, place, line.rank, transform=ranks, fontsize=size))
    axes.xaxis.set_major_formatter("{x:,.10g}")
    sheet.ground()
    if not view.lines:
        axes.set_xticks([])


def superscript(number: str) -> str:
    """The number of a footnote, raised."""
    return number.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
