"""Charts of rows: a name at the left, bars and points on one axis, figures at the right.

In a narrow picture the name stands above, and the bar has the whole width.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbbench.report.charts.axis import Axis
from dbbench.report.charts.layout import CAPTION, GRID, MARGIN, NAME, NARROW, SMALL, Frame, Look, Sheet, Texts
from dbbench.report.charts.measure import widest, width, wrap
from dbbench.report.charts.scene import Box, Dot, Mark, Scene, Stroke

#: The height of a row, from MANY rows on, and a bar's.
_ROW, _CLOSE, _BAR, _CLOSE_BAR, _MANY = 40.0, 29.0, 24.0, 18.0, 14
#: Between names and bars, and before each column of figures.
_GAP = 12.0
#: The most of a picture's width that names take.
_NAMES = 0.34


@dataclass(frozen=True)
class Part:
    """A bar, or a part of one, from a value to another."""

    low: float
    high: float
    tone: float = 1.0
    hatch: str = ""
    #: In place of the engine's colour, and of the usual height.
    ink: str = ""
    height: float = 1.0


@dataclass(frozen=True)
class Value:
    """A point at a value."""

    at: float
    shape: str = "circle"
    size: float = 10.0
    #: For Arrow batches, where a step has both forms of rows, and for cold starts.
    hollow: bool = False


@dataclass(frozen=True)
class Interval:
    """A line with stops from one value to another, `beside` the middle of its row in shares of its height."""

    low: float
    high: float
    beside: float = 0.0
    ink: str = "ink"


@dataclass(frozen=True)
class Row:
    """A row. One without a figure has `words` where its bar would be; a heading has nothing but its title."""

    title: str
    ink: str = "c0"
    rank: str = ""
    cells: Sequence[str] = ()
    parts: Sequence[Part] = ()
    values: Sequence[Value] = ()
    intervals: Sequence[Interval] = ()
    words: str = ""
    #: Whether its name is grey: it has no figure.
    faint: bool = False
    heading: bool = False

    def said(self) -> str:
        """The row in words."""
        return f"{self.title} {' '.join(filter(None, self.cells)) or self.words}".strip()


@dataclass(frozen=True)
class RowChart:
    """A chart of rows; `heads` stand over the columns of figures, the first of which is in ink and the others grey."""

    texts: Texts
    rows: Sequence[Row]
    axis: Axis
    heads: Sequence[str] = ("",)
    keys: Sequence[tuple[Mark, str]] = ()
    #: A value that a dashed line marks.
    marked: float | None = None
    tick: Callable[[float], str] = "{:,.10g}".format


def drawn(chart: RowChart, look: Look) -> Scene:
    """The chart as a scene."""
    sheet = Sheet(chart.texts, look)
    sheet.y = placed(chart, sheet.scene, sheet.y, look.width)
    sheet.key(chart.keys)
    return sheet.finished()


def placed(chart: RowChart, scene: Scene, top: float, across: float, height: float = 0.0) -> float:
    """Draw rows, axis and figures into a scene from `top` on; where they end. Wide rows share a given `height`."""
    rows, columns = chart.rows, _columns(chart)
    names = _Names(chart, across, sum(columns), height)
    ends = [across - MARGIN - sum(columns[place + 1 :]) for place in range(len(columns))]
    head = max((len(text.split("\n")) for text in chart.heads if text), default=0)
    for end, text in zip(ends, chart.heads, strict=True):
        lines = text.split("\n")
        scene.text(end, top + 14 * (head - len(lines)) + 6, lines, CAPTION, "grey", anchor="end")
    top += 14 * head + (0 if names.above else 4)
    right = across - MARGIN - (4 if names.above else sum(columns) + 4)
    frame = Frame(names.left, top, right, top + sum(names.heights) + 4)
    _ground(chart, scene, frame)
    if names.above:
        _marked(chart, scene, frame)  # behind the names, which stand over the bars
    y, first = top, len(scene.marks)
    for row, down in zip(rows, names.heights, strict=True):
        middle = y + (down - 15 if names.above and not row.heading else down / 2)
        names.write(scene, row, y, middle)
        level = names.middle(row, y, middle)
        for place, (end, text) in enumerate(zip(ends, row.cells, strict=False)):
            scene.level(end, level, [text] if text else [], NAME - 1, "grey" if place else "ink", anchor="end")
        if row.words:
            room = frame.right - frame.left - 6 + (0 if names.above else sum(columns))
            scene.level(frame.left + 6, middle, wrap(row.words, SMALL, room, lines=2), SMALL, "grey", italic=True)
        else:
            marks(scene, row, chart.axis, frame, middle, names.bar)
        y += down
    # As rows don't overlap, the same kinds of marks follow each other, and share their style in a file.
    scene.marks[first:] = sorted(
        scene.marks[first:], key=lambda mark: isinstance(mark, Dot) + 2 * isinstance(mark, Stroke)
    )
    if not names.above:
        _marked(chart, scene, frame)
    return frame.bottom + 24


class _Names:
    """Ranks and names, at the left of the bars or above them, and the heights of rows that they need."""

    def __init__(self, chart: RowChart, across: float, figures: float, height: float) -> None:
        rows = chart.rows
        many = len(rows) >= _MANY
        self.above = across < NARROW
        self.bar = 14.0 if self.above else _CLOSE_BAR if many else _BAR
        ranks = [width(row.rank, NAME) for row in rows if row.rank]
        self._indent = MARGIN + (max(ranks) + 10 if ranks else 0)
        titles = [row.title for row in rows if not row.heading]
        most = across - self._indent - figures - MARGIN if self.above else across * _NAMES - (self._indent - MARGIN)
        room = max(min(widest(titles, NAME), most), 60.0)
        self._lines = {row.title: wrap(row.title, NAME, across if row.heading else room) for row in rows}
        self.left = MARGIN if self.above else self._indent + room + _GAP
        least = 44.0 if self.above else height / len(rows) if height and rows else _CLOSE if many else _ROW
        self.bar = min(self.bar, 0.65 * least) if least < _ROW else max(self.bar, 0.6 * least) if height else self.bar
        extra = 26.0 if self.above else 6.0
        self.heights = [
            26.0 if row.heading else least if height else max(least, len(self._lines[row.title]) * NAME * 1.28 + extra)
            for row in rows
        ]

    def middle(self, row: Row, top: float, bar: float) -> float:
        """The middle of a row's name and figures."""
        return top + 4 + len(self._lines[row.title]) * NAME * 0.64 if self.above and not row.heading else bar

    def write(self, scene: Scene, row: Row, top: float, bar: float) -> None:
        """The rank and name of a row whose bar has its middle at `bar`."""
        lines, y = self._lines[row.title], self.middle(row, top, bar)
        if row.heading:
            scene.level(MARGIN, y, lines, NAME, bold=True)
            return
        scene.level(MARGIN, y, [row.rank], NAME)
        ink = "grey" if row.faint else "ink"
        if self.above:
            scene.level(self._indent, y, lines, NAME, ink)
        else:
            scene.level(self.left - _GAP, y, lines, NAME, ink, anchor="end")


def _columns(chart: RowChart) -> list[float]:
    """The width of each column of figures with the gap before it; 0 for one without a text."""
    found = []
    for place, head in enumerate(chart.heads):
        cells = [row.cells[place] for row in chart.rows if len(row.cells) > place]
        across = max(widest(cells, NAME - 1), widest(head.split("\n"), CAPTION))
        found.append(across + _GAP if across else 0.0)
    return found


def _ground(chart: RowChart, scene: Scene, frame: Frame) -> None:
    """The axis, and its ticks with a light line behind the bars."""
    room = max(widest([chart.tick(each) for each in chart.axis.ticks()], CAPTION), 24) + 14
    ticks = (
        chart.axis.ticks(max(2, min(7, int((frame.right - frame.left) / room))))
        if any(r.cells for r in chart.rows)
        else []
    )
    for value in ticks:
        x = frame.across(chart.axis, value)
        scene.line((x, frame.top), (x, frame.bottom), ink="line", width=GRID)
        scene.text(x, frame.bottom + 14, [chart.tick(value)], CAPTION, "grey", anchor="middle")
    scene.line((frame.left, frame.bottom), (frame.right, frame.bottom), ink="line")


def _marked(chart: RowChart, scene: Scene, frame: Frame) -> None:
    """The value that the chart marks, as a dashed line."""
    if chart.marked is not None:
        x = frame.across(chart.axis, chart.marked)
        scene.line((x, frame.top), (x, frame.bottom), ink="grey", width=1.2, dashes=(5, 4))


def marks(scene: Scene, row: Row, axis: Axis, frame: Frame, y: float, bar: float) -> None:
    """The parts, points and intervals of a row about `y`."""
    for part in row.parts:
        left, right, height = frame.across(axis, part.low), frame.across(axis, part.high), bar * part.height
        box = Box(left, y - height / 2, right - left, height, part.ink or row.ink, part.tone, part.hatch)
        scene.marks.append(box)
    for value in row.values:
        scene.marks.append(Dot(frame.across(axis, value.at), y, row.ink, value.shape, value.size, value.hollow))
    for each in row.intervals:
        low, high, level = frame.across(axis, each.low), frame.across(axis, each.high), y + each.beside * bar
        stops = [((x, level - 4), (x, level + 4)) for x in (low, high)]
        scene.marks.append(Stroke((((low, level), (high, level)), *stops), each.ink, 1.5))
