"""The sheet that a chart is drawn on. The colours here are Okabe and Ito's; those of the engines are in `palette`."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation, Transform, blended_transform_factory

from dbbench.host import plain_file
from dbbench.report.charts import svg
from dbbench.report.charts.canvas import Canvas
from dbbench.report.charts.marks import BELOW, Label, stacked, text_inches

BLUE, SKY, ORANGE, VERMILION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREY, INK, FAINT = "#6b6b6b", "#1a1a1a", "#d9d9d9"
STYLE: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "svg.hashsalt": "dbbench",
    "svg.fonttype": "none",  # texts stay texts: a fifth of the bytes, and they can be read aloud, found and copied
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "text.parse_math": False,
}
WIDTH = 8.0
MARGIN = 0.2
#: The height of a row, in inches, and a bar's share of it; from MANY_ROWS on they are closer.
ROW, CLOSE_ROW, BAR = 0.42, 0.3, 0.62
MANY_ROWS = 14
#: A name that is longer, in characters, is broken into two lines.
NAME = 36


def row_height(rows: float) -> float:
    """Inches for each of `rows` rows."""
    return ROW if rows < MANY_ROWS else CLOSE_ROW


def name_size(rows: float) -> float:
    """Points of the names beside `rows` rows."""
    return 10 if rows < MANY_ROWS else 9


def names(titles: Sequence[str]) -> list[str]:
    """Titles that leave room for what stands beside them: in two lines where they are long, and cut where they go on."""
    titles = [title if len(title) <= 2 * NAME else f"{title[: 2 * NAME - 1]}…" for title in titles]
    return ["\n".join(textwrap.wrap(title, max(NAME, len(title) // 2 + 4), break_on_hyphens=False)) for title in titles]


def inches(texts: Sequence[str], size: float) -> float:
    """The width of the widest line of some texts, at `size` points."""
    return max((text_inches(line, size) for text in texts for line in text.splitlines() if line.strip()), default=0)


class Sheet:
    """A figure laid out in inches from the top: title, subtitle, axes, footnotes, caption."""

    def __init__(
        self,
        title: str,
        subtitle: str,
        rows: float,
        footnotes: Sequence[str],
        captions: Sequence[str],
        left: float,
        right: float = MARGIN,
        axis: float = 0.3,
        row: float = ROW,
        head: float = 0.0,
    ) -> None:
        titles = textwrap.wrap(title, 74)
        subtitles = textwrap.wrap(subtitle, 108)
        notes = [
            line
            for note in footnotes
            for line in textwrap.wrap(note, 118, subsequent_indent="   ", break_on_hyphens=False)
        ]
        small = [line for caption in captions for line in textwrap.wrap(caption, 142, break_on_hyphens=False)]
        height = 0.16 + 0.26 * len(titles) + 0.2 * len(subtitles) + 0.12 + head + rows * row + axis
        height += 0.1 * bool(notes) + 0.17 * len(notes) + 0.12 + 0.15 * len(small) + 0.1
        self.figure = Figure(figsize=(WIDTH, height), dpi=150, facecolor="white")
        self.figure.set_label(f"{title}\n{subtitle}")  # what `save` names it by
        self.height = height
        self._columns: dict[float, Transform] = {}
        y = 0.16
        y = self._texts(titles, y, 0.26, size=13, weight="bold")
        y = self._texts(subtitles, y, 0.2, size=9, color=GREY) + 0.12 + head
        box = (left / WIDTH, 1 - (y + rows * row) / height, (WIDTH - left - right) / WIDTH, rows * row / height)
        self.axes: Axes = self.figure.add_axes(box)
        y += rows * row + axis + 0.1 * bool(notes)
        y = self._texts(notes, y, 0.17, size=8, color=INK) + 0.12
        self._texts(small, y, 0.15, size=6.8, color=GREY)

    def write(self, x: float, y: float, text: str, points: float = 0.0, **style: Any) -> None:
        """A text level with a row: at a share `x` of the axes' width, and `points` further to the right."""
        if points not in self._columns:
            offset = ScaledTranslation(points / 72, 0, self.figure.dpi_scale_trans)
            self._columns[points] = blended_transform_factory(self.axes.transAxes + offset, self.axes.transData)
        self.axes.add_artist(Label(x, y, text, transform=self._columns[points], **style))

    def names(self, titles: Sequence[str], size: float, known: Sequence[bool], places: Sequence[float] = ()) -> None:
        """Titles left of the axes, each level with its row; grey where nothing is known."""
        for place, title, ink in zip(places or range(len(titles)), names(titles), known, strict=True):
            for line, drop in stacked(title):
                self.write(0, place, line, -3.5, drop=drop, ha="right", fontsize=size, color=INK if ink else GREY)

    def ground(self) -> None:
        """A light grid behind the rows, small grey figures under it, and no frame."""
        self.axes.set_yticks([])
        self.axes.tick_params(axis="x", which="both", labelsize=8, colors=GREY)
        self.axes.grid(axis="x", color=FAINT, linewidth=0.6)
        self.axes.set_axisbelow(True)
        self.axes.spines["bottom"].set_color(FAINT)

    def legend(self, **more: Any) -> None:
        """What has a label, at the right, 0.3 inches under the axis."""
        place = (1 - MARGIN / WIDTH, self.axes.get_position().y0 - 0.3 / self.height)
        where: Any = {"loc": "upper right", "bbox_to_anchor": place, "bbox_transform": self.figure.transFigure}
        self.axes.legend(**where, fontsize=8, frameon=False, **more)

    def _texts(self, lines: Sequence[str], y: float, step: float, **style: Any) -> float:
        for line in lines:
            self.figure.add_artist(
                Label(MARGIN / WIDTH, 1 - y / self.height, line, drop=BELOW, transform=self.figure.transFigure, **style)
            )
            y += step
        return y


def save(figure: Figure, path: Path, formats: Sequence[str], width: int | None = None) -> None:
    """Write a figure to `path` with the ending of each format ("png", "svg"), `width` pixels wide."""
    if width:
        figure.set_dpi(width / WIDTH)
    if "png" in formats:
        with plain_file.replacing(path.with_suffix(".png")) as file:
            Canvas(figure).print_png(file, pil_kwargs={"compress_level": 3})  # type: ignore[no-untyped-call]  # theirs
    if "svg" in formats:
        drawn = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(drawn, metadata={"Date": None})
        title, _, description = str(figure.get_label()).partition("\n")
        plain_file.write(path.with_suffix(".svg"), svg.tidy(drawn.getvalue(), path.name, title, description, width))
