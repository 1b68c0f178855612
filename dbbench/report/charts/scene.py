"""What every chart is made of: marks in pixels, from the top left. `svg` and `png` write them; no other code draws.

Colours are names, which `palette` turns into those of a theme; a cell of a table in colour has one of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
#: What boxes may be filled with besides their colour: strokes in the colour of the page.
HATCHES = ("slash", "bar", "dot")


@dataclass(frozen=True)
class Text:
    """A line of text. `y` is its base line; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    ink: str = "ink"
    anchor: str = "start"
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True)
class Box:
    """A filled rectangle. A tone below 1 lets as much of the page through, and nothing of what is behind the box."""

    x: float
    y: float
    width: float
    height: float
    ink: str
    tone: float = 1.0
    hatch: str = ""


@dataclass(frozen=True)
class Stroke:
    """Lines, each through two or more points; `dashes` are in pixels."""

    lines: tuple[tuple[Point, ...], ...]
    ink: str
    width: float = 1.0
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Dot:
    """A mark about a point: a circle, or one of the shapes of `SHAPES`."""

    x: float
    y: float
    ink: str
    shape: str = "circle"
    size: float = 8.0
    hollow: bool = False


Mark = Text | Box | Stroke | Dot

#: Corners of the shapes about their middle, of a size of 1: clockwise, so that those of one path don't cut holes.
SHAPES: dict[str, tuple[Point, ...]] = {
    "square": ((-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45)),
    "diamond": ((0, -0.6), (0.6, 0), (0, 0.6), (-0.6, 0)),
    "up": ((0, -0.55), (0.55, 0.45), (-0.55, 0.45)),
    "down": ((0, 0.55), (0.55, -0.45), (-0.55, -0.45)),
    "left": ((-0.55, 0), (0.45, -0.55), (0.45, 0.55)),
    "hourglass": ((-0.5, -0.55), (0.5, -0.55), (0, 0), (0.5, 0.55), (-0.5, 0.55), (0, 0)),
    "flag": ((-0.5, -0.5), (0.5, -0.5), (0, 0), (0.5, 0.5), (-0.5, 0.5)),
    "tick": ((-0.12, -0.7), (0.12, -0.7), (0.12, 0.7), (-0.12, 0.7)),
}


@dataclass
class Scene:
    """A picture of a width and height in pixels; `title` and `description` are for those who can't see it."""

    width: float
    height: float
    title: str
    description: str
    marks: list[Mark] = field(default_factory=list)

    def text(
        self, x: float, y: float, lines: Sequence[str], size: float, ink: str = "ink", *, anchor: str = "start",
        bold: bool = False, italic: bool = False,
    ) -> float:  # fmt: skip
        """Lines one under another, the first with its base at `y`; the base of the line after them."""
        for line in lines:
            if line:
                self.marks.append(Text(x, y, line, size, ink, anchor, bold, italic))
            y += size * PITCH
        return y

    def level(self, x: float, y: float, lines: Sequence[str], size: float, ink: str = "ink", **style: object) -> None:
        """Lines centred about `y`."""
        first = y - (len(lines) - 1) / 2 * size * PITCH + LEVEL * size
        self.text(x, first, lines, size, ink, **style)  # type: ignore[arg-type]  # the keywords of `text`

    def line(self, *points: Point, ink: str, width: float = 1.0, dashes: tuple[float, ...] = ()) -> None:
        """One line through some points."""
        self.marks.append(Stroke((points,), ink, width, dashes))


#: From a line's middle down to its base, and from one line to the next, as shares of the size.
LEVEL, PITCH = 0.36, 1.28
