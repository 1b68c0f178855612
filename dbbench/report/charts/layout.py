"""The sheet that a chart is drawn on: title, subtitle, plot, key, notes and captions, one under another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dbbench.host import plain_file
from dbbench.report.charts import png, svg
from dbbench.report.charts.axis import Axis
from dbbench.report.charts.measure import width, wrap
from dbbench.report.charts.palette import THEMES, Colours
from dbbench.report.charts.scene import Mark, Scene, Stroke

#: Pixels of a picture, unless its user says otherwise, and how many dots a PNG has for each then.
WIDTH, DOTS = 800, 1.5
MARGIN = 20.0
#: The width of the lines behind bars and curves.
GRID = 0.7
#: Sizes of letters, in pixels at any width of the picture.
TITLE, SUBTITLE, NAME, SMALL, NOTE, CAPTION = 19.0, 13.0, 14.0, 12.0, 12.0, 10.5
#: Below this width names stand above their bars.
NARROW = 560
#: The most lines of notes under a picture that goes out alone.
_MOST_NOTES = 2


@dataclass(frozen=True)
class Look:
    """What all charts of a report share."""

    colours: Colours = field(default_factory=dict)
    captions: Sequence[str] = ()
    width: float = WIDTH
    #: Whether its pictures go out alone: then the title is what was found, and notes are short.
    alone: bool = False
    #: Whether they stand in the page, beside what it says of their steps.
    within: bool = False

    def colour(self, engine: str) -> str:
        """The name of an engine's colour."""
        return self.colours.get(engine, "c0")


@dataclass(frozen=True)
class Frame:
    """A part of a sheet, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def across(self, axis: Axis, value: float) -> float:
        """Return the place of a value on the axis under it."""
        return self.left + axis.share(value) * (self.right - self.left)

    def up(self, axis: Axis, value: float) -> float:
        """Return the place of a value on the axis at its left."""
        return self.bottom - axis.share(value) * (self.bottom - self.top)


@dataclass(frozen=True)
class Texts:
    """What stands over and under a chart. `finding` is the title of one that goes out alone, if it has one."""

    title: str
    subtitle: str
    notes: Sequence[str] = ()
    finding: str = ""
    figures: str = ""
    #: Notes that the page has at the chart's step.
    usual_notes: Sequence[str] = ()


class Sheet:
    """A scene that grows downwards."""

    def __init__(self, texts: Texts, look: Look) -> None:
        title, subtitle = texts.title, texts.subtitle
        if look.alone and texts.finding:
            title, subtitle = texts.finding.removesuffix("."), f"{texts.title}: {texts.subtitle}"
        description = ". ".join(filter(None, (subtitle.rstrip("."), texts.figures)))
        self.scene = Scene(look.width, 0, title, description)
        self._look, self._notes = look, [*texts.notes, *([] if look.within else texts.usual_notes)]
        self.inside = look.width - 2 * MARGIN
        self.y = self.scene.text(MARGIN, MARGIN + 14, wrap(title, TITLE, self.inside, bold=True), TITLE, bold=True)
        self.y = self.scene.text(MARGIN, self.y - 1, wrap(subtitle, SUBTITLE, self.inside), SUBTITLE, "grey")

    def key(self, entries: Sequence[tuple[Mark, str]]) -> None:
        """What marks mean, each with its text, in as many lines as they need. The marks have their middle at 0, 0."""
        x, self.y = MARGIN, self.y + 6
        for mark, text in entries:
            room = 24 + width(text, SMALL)
            if x > MARGIN and x + room > self.scene.width - MARGIN:
                x, self.y = MARGIN, self.y + 18
            self.scene.marks.append(_moved(mark, x + 8, self.y + 6))
            after = self.scene.text(x + 22, self.y + 10, wrap(text, SMALL, self.inside - 22), SMALL, "grey")
            x += room + 18
            self.y = max(self.y, after - SMALL * 1.28 - 10)
        self.y += 18 if entries else 0

    def finished(self) -> Scene:
        """The scene with its notes and captions, as high as it has become."""
        notes = [line for note in self._notes for line in wrap(note, NOTE, self.inside)]
        if self._look.alone:
            notes = wrap(" ".join(f"{note.rstrip('.')}." for note in self._notes), NOTE, self.inside, lines=_MOST_NOTES)
        small = [line for caption in self._look.captions for line in wrap(caption, CAPTION, self.inside)]
        self.y = self.scene.text(MARGIN, self.y + 14, notes, NOTE) if notes else self.y
        self.y = self.scene.text(MARGIN, self.y + 10, small, CAPTION, "grey")
        self.scene.height = round(self.y + 4)
        return self.scene


def _moved(mark: Mark, x: float, y: float) -> Mark:
    """A mark for a key, at its place; a stroke lies level there."""
    if isinstance(mark, Stroke):
        return replace(mark, lines=tuple(tuple((a + x, b + y) for a, b in line) for line in mark.lines))
    return replace(mark, x=mark.x + x, y=mark.y + y)


def save(scene: Scene, path: Path, formats: Sequence[str], *, theme: str = "light", width: int | None = None) -> None:
    """Write a scene to `path` with the ending of each format ("png", "svg")."""
    colours: Mapping[str, str] = THEMES[theme]
    if "png" in formats:
        plain_file.write(path.with_suffix(".png"), png.written(scene, colours, width or round(scene.width * DOTS)))
    if "svg" in formats:
        plain_file.write(path.with_suffix(".svg"), svg.written(scene, path.name, colours))
