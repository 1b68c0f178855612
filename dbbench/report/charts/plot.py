"""Curves over an axis: lines with a shape at each point, their intervals, and the name of each at its end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbbench.report.charts.axis import Axis
from dbbench.report.charts.layout import CAPTION, GRID, MARGIN, SMALL, Frame, Look, Sheet
from dbbench.report.charts.measure import widest, wrap
from dbbench.report.charts.scene import LEVEL, PITCH, Dot, Scene, Stroke

#: The shape of each curve, so that its engine's colour isn't needed to tell it apart.
_SHAPES = ("circle", "square", "diamond", "up", "down", "hourglass", "flag", "left")
#: The most curves of a chart: more can't be told apart.
MOST = len(_SHAPES)
#: The most of a picture's width that the names at the ends take.
_NAMES = 0.3


@dataclass(frozen=True)
class Curve:
    """A curve: points left to right, each interval as (x, low, high), and points with a ring about them."""

    title: str
    ink: str
    shape: str
    points: Sequence[tuple[float, float]]
    intervals: Sequence[tuple[float, float, float]] = ()
    rings: Sequence[tuple[float, float]] = ()
    #: Whether each point has its shape, as it has where there are few.
    dotted: bool = True


@dataclass(frozen=True)
class Plot:
    """Curves with both axes: `x_ticks` are values and their texts, and `heading` stands over the axis at the left."""

    curves: Sequence[Curve]
    x: Axis
    y: Axis
    x_ticks: Sequence[tuple[float, str]]
    heading: str
    tick: Callable[[float], str] = "{:,g}".format
    below: str = ""


def shapes(titles: Sequence[str], engines: Mapping[str, str], look: Look) -> dict[str, str]:
    """Title -> the shape of its curve: that of its engine in other charts, unless one before it has that.

    Eight curves have eight shapes; the ones after them have the same again.
    """
    own = {engine: _SHAPES[number % MOST] for number, engine in enumerate(look.colours)}
    free: list[str] = []
    found = {}
    for title in titles:
        free = free or list(_SHAPES)
        shape = own.get(engines[title], "")
        found[title] = shape if shape in free else free[0]
        free.remove(found[title])
    return found


def on_sheet(plot: Plot, sheet: Sheet, titles: Sequence[str], height: float, above: float) -> Frame:
    """Draw curves in a frame of `height`, `above` pixels below what a sheet has, and their names; that frame.

    It leaves room for the names of all `titles`, of which this plot may have a part.
    """
    across, top = sheet.scene.width, sheet.y + above
    names = min(widest(list(titles), SMALL), across * _NAMES)
    frame = Frame(MARGIN + 44, top, across - MARGIN - (names + 14 if titles else 0), top + height)
    sheet.y = placed(plot, sheet.scene, frame)
    named(plot, sheet.scene, frame)
    return frame


def placed(plot: Plot, scene: Scene, frame: Frame) -> float:
    """Draw the curves into a frame, with names at their ends if it leaves room for them; where its texts end."""
    scene.text(frame.left, frame.top - 8, wrap(plot.heading, SMALL, scene.width - frame.left, lines=1), SMALL, "grey")
    for value in plot.y.ticks(6):
        y = frame.up(plot.y, value)
        scene.line((frame.left, y), (frame.right, y), ink="line", width=GRID)
        scene.level(frame.left - 6, y, [plot.tick(value)], CAPTION, "grey", anchor="end")
    scene.line((frame.left, frame.bottom), (frame.right, frame.bottom), ink="line")
    low = _ticks(plot, scene, frame)
    for curve in plot.curves:
        _curve(curve, plot, scene, frame)
    if plot.below:
        low = scene.text((frame.left + frame.right) / 2, low + 2, [plot.below], SMALL, "grey", anchor="middle")
    return low


def named(plot: Plot, scene: Scene, frame: Frame) -> None:
    """Write each curve's name in its colour beside its last value, moved apart where they would overlap."""
    most = scene.width - frame.right - 14
    known = [
        (frame.up(plot.y, curve.points[-1][1]), curve, wrap(curve.title, SMALL, most))
        for curve in plot.curves
        if curve.points
    ]
    known.sort(key=lambda item: item[0])
    heights = [len(lines) * SMALL * PITCH for _, _, lines in known]
    tops: list[float] = []
    free = frame.top - 8.0
    for (y, _, _), height in zip(known, heights, strict=True):
        tops.append(max(y - height / 2, free))
        free = tops[-1] + height
    limit = max(frame.bottom + 8, frame.top - 8 + sum(heights))
    for place in reversed(range(len(tops))):
        tops[place] = min(tops[place], limit - heights[place])
        limit = tops[place]
    for top, (_, curve, lines) in zip(tops, known, strict=True):
        scene.text(frame.right + 12, top + SMALL * (PITCH / 2 + LEVEL), lines, SMALL, curve.ink)


def _ticks(plot: Plot, scene: Scene, frame: Frame) -> float:
    """The texts under the axis, as many as have room; where they end."""
    wide = max(widest(text.split("\n"), CAPTION) for _, text in plot.x_ticks) + 10 if plot.x_ticks else 1.0
    end, low = -1.0, frame.bottom + 14
    for value, text in plot.x_ticks:
        x = frame.across(plot.x, value)
        if x - wide / 2 < end:
            continue
        end = x + wide / 2
        low = max(low, scene.text(x, frame.bottom + 14, text.split("\n"), CAPTION, "grey", anchor="middle"))
    return low


def _curve(curve: Curve, plot: Plot, scene: Scene, frame: Frame) -> None:
    at = [(frame.across(plot.x, x), frame.up(plot.y, y)) for x, y in curve.points]
    for value, low, high in curve.intervals:
        x, ends = frame.across(plot.x, value), (frame.up(plot.y, low), frame.up(plot.y, high))
        stops = [((x - 3, y), (x + 3, y)) for y in ends]
        scene.marks.append(Stroke((((x, ends[0]), (x, ends[1])), *stops), curve.ink, 1.3))
    if len(at) > 1:
        scene.line(*at, ink=curve.ink, width=1.8)
    for value, height in curve.rings:
        scene.marks.append(Dot(frame.across(plot.x, value), frame.up(plot.y, height), "ink", "circle", 14, hollow=True))
    if curve.dotted:
        scene.marks += [Dot(x, y, curve.ink, curve.shape, 8) for x, y in at]
