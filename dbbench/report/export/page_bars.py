"""Bars of the page: the rows of a chart with the marks that pictures have, as a list that fits any screen.

Places are in per cent, so that the page's script can move them for another choice of engines; it draws nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from markupsafe import Markup

from dbbench.analysis.row import Row as Result
from dbbench.analysis.units import fitting
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.bars import bar, bars
from dbbench.report.charts.layout import Frame, Look, Texts
from dbbench.report.charts.palette import engine_colours, engine_order
from dbbench.report.charts.rows import Row, RowChart, marks
from dbbench.report.charts.scene import HATCHES, Box, Dot, Mark, Scene, Stroke
from dbbench.report.charts.size import sizes
from dbbench.report.charts.svg import PATTERNS
from dbbench.report.remarks import unsteady
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import WIDE_RANGE, StepView

#: The height of a bar in pixels, which page.css has too.
_BAR = 14.0
#: The farthest that the rounds' picture shows from their median.
_EDGE = 1.5
#: Half the height of that picture in pixels; page.css has the whole.
_MIDDLE = 20
#: From this number of bars on a browser lays out those in sight alone.
_MANY = 99
#: What trials used -> its heading and unit.
USED = {"peak_memory": ("Peak memory", "B"), "cpu_seconds": ("CPU time", "s"), "written_bytes": ("Bytes written", "B")}

#: The engine of each row of a chart, and its ratio to the best in words.
Engines = Sequence[tuple[str, str]]


def patterns() -> Markup:
    """The hatches that bars of the page are filled with, and the stops of intervals."""
    found = "".join(
        f'<pattern id="hatch-{name}" patternUnits="userSpaceOnUse" {PATTERNS[name][0]}>'
        f'<path d="{PATTERNS[name][1]}" style="stroke:var(--page)" stroke-width="{PATTERNS[name][2]}"/></pattern>'
        for name in HATCHES
    )
    stop = (
        '<marker id="stop" orient="auto" markerUnits="userSpaceOnUse" overflow="visible"><path d="M0 -4V4"/></marker>'
    )
    return Markup(f'<svg class="hatches" aria-hidden="true">{found}{stop}</svg>')  # noqa: S704 - our own texts


def of(shown: View, engine: str) -> Markup:
    """The attribute by which the script knows whose row an element is: the engine's number. Null engines have none."""
    number = {name: number for number, name in enumerate(engine_order(shown))}.get(engine)
    return Markup("") if number is None else Markup(" data-e={}").format(number)


def step_bars(shown: View, scenario: ScenarioView, step: StepView, place: str) -> Markup:
    """The bars of a step for a linear and a logarithmic axis; one of them is visible."""
    look = Look(engine_colours(shown))
    even = sizes(step, look) if step.counted else bars(step, "linear", look)
    axis = scenario.axis(step.step.name)
    wide = axis == "logarithmic" or (axis == "auto" and step.wide)
    engines = [(line.row.engine, line.ratio) for line in (*step.lines, *step.failed)]
    return _list(place, (even, bars(step, "logarithmic", look)), engines, shown, logarithmic=wide, ends=step.counted)


def used_bars(shown: View, scenario: ScenarioView, name: str, place: str) -> Markup:
    """Bars of what trials used, lowest first; empty where nothing is known."""
    known = [
        (value, each)
        for each in scenario.resources
        if (value := getattr(each, name)) is not None and each.engine not in scenario.withheld
    ]
    if not known:
        return Markup("")
    known.sort(key=lambda one: one[0])
    colours, unit = engine_colours(shown), fitting(USED[name][1], [value for value, _ in known])
    figures = [value / unit.size for value, _ in known]
    charts = []
    for logarithmic in (False, True):
        axis = fitting_axis(figures, logarithmic=logarithmic)
        rows = [
            bar(Row(each.title, colours.get(each.engine, "c0"), cells=(unit.text(value),)), value / unit.size, axis)
            for value, each in known
        ]
        charts.append(RowChart(Texts("", ""), rows, axis))
    positive = [figure for figure in figures if figure]
    wide = bool(positive) and max(positive) > WIDE_RANGE * min(positive)
    names = [(each.engine, "") for _, each in known]
    return _list(place, (charts[0], charts[1]), names, shown, logarithmic=wide, ends=True)


def rounds_in_order(shown: View, scenario: ScenarioView, step: StepView) -> Markup:
    """The rounds of each engine about its own median, in their order, as rows of a table; empty with one round."""
    if step.counted:
        return Markup("")
    colours, across = engine_colours(shown), round_width(shown)
    names = (scenario.scenario.name, step.step.name)
    nulls = [each for each in shown.rows if not each.ranked and (each.scenario, each.step) == names]
    lines = [(row.engine, row.title, colours.get(row.engine, "c0"), row) for row in (line.row for line in step.lines)]
    lines += [("", row.title, "", row) for row in nulls]
    rows = [
        Markup('<tr{}><td>{}<td{}><svg aria-hidden="true"><path d="{}"/></svg>{}\n').format(
            of(shown, engine), title, Markup(" class={}").format(ink) if ink else "", _dots(row, across),
            Markup('<td class="note">{}').format(note) if engine and (note := unsteady(row)) else "")
        for engine, title, ink, row in lines
        if len(row.trial_means) > 1 and min(row.trial_means) > 0
    ]  # fmt: skip
    return Markup("").join(rows)


def round_width(shown: View) -> int:
    """Pixels of a round in the picture of the rounds."""
    return max(4, min(16, 320 // shown.run.manifest.rounds))


def _dots(row: Result, across: int) -> str:
    """A dot for each round, as the data of a path in pixels."""
    middle, data, x, y = median(row.trial_means), "", 0, 0
    for number, mean in zip(row.of_rounds, row.trial_means, strict=True):
        right = across * number - across // 2
        down = _MIDDLE - round((_MIDDLE - 2) * max(-1.0, min(1.0, math.log(mean / middle, _EDGE))))
        data += f"m{right - x} {down - y}h0" if data else f"M{right} {down}h0"
        x, y = right, down
    return data.replace(" -", "-")


def _list(
    place: str, charts: tuple[RowChart, RowChart], engines: Engines, shown: View, *, logarithmic: bool, ends: bool
) -> Markup:
    """The rows of both charts, which differ in their axes alone, in one list with the ticks under it.

    `ends`: whether a row says how far it reaches, which is else its figure with the interval, as the script has them.
    """
    even, other = charts
    axis = other.axis if logarithmic else even.axis
    items = Markup("").join(
        _item(of(shown, engine), ratio, _both(*rows), axis, _ends(rows[0], even.axis.high) if ends else "")
        for (engine, ratio), *rows in zip(engines, even.rows, other.rows, strict=True)
    )
    many = len(shown.systems) * sum(len(each.steps) for each in shown.scenarios) > _MANY
    names = f"bars{' log' * logarithmic}{' many' * many}"
    ticks = Markup("").join(
        Markup('<span style="left:{}%">{}</span>').format(f"{axis.share(tick) * 100:.2f}", even.tick(tick))
        for tick in axis.ticks()
        if any(row.cells for row in even.rows)
    )
    return Markup(
        '<ul class="{}" data-list="{}" data-axis="{:.6g} {:.6g}">{}</ul>'
        '<div class="axis" aria-hidden="true"><span class="ticks">{}</span></div>{}'
    ).format(names, place, axis.low, axis.high, items, ticks, _keys(even))


def _both(even: Row, other: Row) -> Row:
    """A row with the marks of both charts: the style shows those of the list's axis, and makes one bar a thin line."""
    line = [replace(part, low=0) for part in other.parts] if len(even.parts) > 1 else []
    return replace(even, parts=[*line, *even.parts], values=other.values)


def _keys(chart: RowChart) -> Markup:
    """What tones and hatches mean; empty where bars have neither."""
    known = [(mark, text) for mark, text in chart.keys if isinstance(mark, Box)]
    entries = Markup("").join(
        Markup(
            '<span><svg width="16" height="12" aria-hidden="true" style="--i:var(--grey)">{}</svg> {}</span> '
        ).format(_element(replace(mark, x=0, width=100), "grey"), text)
        for mark, text in known
    )
    return Markup('<p class="note keys">{}</p>').format(entries) if known else Markup("")


def _item(engine: Markup, ratio: str, row: Row, axis: Axis, ends: str) -> Markup:
    """A row: rank, name, bar, figure and ratio, known to the style by their order; or words for the last three."""
    start = Markup("<li{}{}><span>{}</span><span>{}</span>").format(engine, ends, row.rank, row.title)
    if row.words:
        return start + Markup("<span class=failed>{}</span>").format(row.words)
    drawn = Markup("").join(_element(mark, row.ink) for mark in _marks(row, axis))
    return start + Markup(
        '<span class={}><svg aria-hidden="true">{}</svg></span><span>{}</span><span>{}</span>'
    ).format(row.ink, drawn, row.cells[0] if row.cells else "", ratio)


def _ends(row: Row, most: float) -> Markup:
    """The least and the greatest value that is drawn of a row, on an axis up to `most`, for the axis of a choice."""
    known = [end for part in row.parts for end in (part.low, part.high)]
    known += [end for each in row.intervals for end in (each.low, each.high)]
    known = [min(end, most) for end in known if end > 0]
    return Markup(' data-ends="{} {}"').format(f"{min(known):.5g}", f"{max(known):.5g}") if known else Markup("")


def _marks(row: Row, axis: Axis) -> list[Mark]:
    """The marks about a level of 0."""
    scene = Scene(100, 0, "", "")
    marks(scene, row, axis, Frame(0, 0, 100, 0), 0, _BAR)
    return scene.marks


def _element(mark: Mark, ink: str) -> Markup:
    """A mark with its places across in per cent. The page's style has what most marks are: full bars in the ink."""
    if isinstance(mark, Box):
        box = {"x": _share(mark.x)} if mark.x else {}
        box |= {"width": _share(mark.width)} | ({"class": "thin"} if mark.ink == "line" else {})
        styles = [f"fill:var(--{mark.ink})"] if mark.ink not in (ink, "line") else []
        styles += [f"opacity:{mark.tone:.2f}"] if mark.tone < 1 else []
        hatch = _tag("rect", box | {"style": f"fill:url(#hatch-{mark.hatch})"}) if mark.hatch else Markup("")
        return _tag("rect", box | ({"style": ";".join(styles)} if styles else {})) + hatch
    if isinstance(mark, Dot):
        return _tag("circle", {"cx": _share(mark.x)} | ({"class": "hollow"} if mark.hollow else {}))
    assert isinstance(mark, Stroke)
    (low, _), (high, _) = mark.lines[0]  # its stops are markers
    return _tag("line", {"x1": _share(low), "x2": _share(high)})


def _share(place: float) -> str:
    return f"{place:.3g}%" if place >= 0.01 else "0"


def _tag(name: str, given: Mapping[str, str]) -> Markup:
    attributes = Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in given.items())
    return Markup("<{}{}/>").format(name, attributes)
