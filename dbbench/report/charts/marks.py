"""What a chart is drawn of: texts, boxes and strokes for all rows at once.

Matplotlib's own text, annotation and tick work their place out again for each chart and each format. That takes most of the
time of a report with many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import Bbox

#: Of the drawing board that texts are measured on: fine enough that no rounding to dots is seen.
_MEASURING_DPI = 720
#: From a text's place down to its line, as a share of its size: for one that is level with its place, or below it.
LEVEL, BELOW = 0.365, 0.95
#: From one line to the next, as a share of the size.
_PITCH = 1.16
#: How far letters reach above their line and below it, as shares of the size.
_ABOVE, _UNDER = 0.76, 0.24
_SHARES = {"left": 0.0, "center": 0.5, "right": 1.0}

#: A row, and from where to where in the chart's unit.
Span = tuple[float, float, float]


class Label(Text):
    """One line of text at a place of `transform`; its line is `drop` of its size below the place."""

    def __init__(self, x: float, y: float, text: str, *, drop: float = LEVEL, **style: Any) -> None:
        super().__init__(x, y, text, **style)
        self._drop = drop

    def draw(self, renderer: RendererBase) -> None:
        """Draw the line by the renderer, without a layout of its own."""
        if not self.get_visible() or not self.get_text():
            return
        x, y = self._start()
        gc = renderer.new_gc()
        gc.set_foreground(self.get_color())
        if renderer.flipy():
            y = renderer.get_canvas_width_height()[1] - y
        renderer.draw_text(gc, x, y, self.get_text(), self.get_fontproperties(), 0, mtext=self)
        gc.restore()

    def get_window_extent(self, renderer: RendererBase | None = None, dpi: float | None = None) -> Bbox:
        """The box about the line, in dots."""
        (x, y), dot = self._start(), self.figure.dpi / 72
        size = float(self.get_fontsize()) * dot
        width = self._width() * self.figure.dpi
        return Bbox.from_extents(x, y - _UNDER * size, x + width, y + _ABOVE * size)

    def _width(self) -> float:
        return text_inches(self.get_text(), float(self.get_fontsize()), self.get_fontweight())

    def _start(self) -> tuple[float, float]:
        """Start of its line, in dots."""
        x, y = self.get_transform().transform(self.get_unitless_position())
        share = _SHARES[self.get_horizontalalignment()]
        if share:
            x -= share * self._width() * self.figure.dpi
        return x, y - self._drop * float(self.get_fontsize()) * self.figure.dpi / 72


def stacked(text: str) -> list[tuple[str, float]]:
    """Each line of a text that is centred about its place, with its `drop`."""
    lines = text.split("\n")
    return [(line, LEVEL + _PITCH * (number - (len(lines) - 1) / 2)) for number, line in enumerate(lines)]


def text_inches(line: str, size: float, weight: str | int = "normal") -> float:
    """The width of one line, at `size` points; kerning, which makes it narrower, isn't counted."""
    return size * sum(_advance(character, weight) for character in line)


@cache
def _advance(character: str, weight: str | int) -> float:
    """Inches from a character to the next, for each point of size."""
    return (_measured(f"H{character}H", weight) - _measured("HH", weight)) / _MEASURING_DPI / 10


@cache
def _measured(line: str, weight: str | int) -> float:
    """The width in dots at 10 points, by the font's metrics: far quicker than by the outlines of each glyph."""
    width, _, _ = _renderer().get_text_width_height_descent(line, FontProperties(size=10, weight=weight), ismath=False)
    return float(width)


@cache
def _renderer() -> RendererAgg:
    return RendererAgg(1, 1, _MEASURING_DPI)


def boxes(axes: Axes, spans: Sequence[Span], height: float, colors: Sequence[Any], **more: Any) -> None:
    """A box for each span, `height` rows high about its row; a hatch is white, as wide as the style has it."""
    if not spans:
        return
    half = height / 2
    corners = [
        [(low, row - half), (high, row - half), (high, row + half), (low, row + half)] for row, low, high in spans
    ]
    if "alpha" in more:  # so that the grid isn't seen through it
        boxes(axes, spans, height, ["white"] * len(spans))
    axes.add_collection(
        PolyCollection(corners, facecolors=colors, edgecolors="white", linewidths=0, clip_on=False, **more),
        autolim=False,
    )


def intervals(axes: Axes, spans: Sequence[Span], *, color: str, stop: float = 0.12) -> None:
    """A line for each span, with a stop at each end which reaches as far to both sides, in rows."""
    if not spans:
        return
    gap = np.nan
    x = [each for _, low, high in spans for each in (low, high, gap, low, low, gap, high, high, gap)]
    y = [each for row, _, _ in spans for each in (row, row, gap, *(row - stop, row + stop, gap) * 2)]
    axes.plot(x, y, color=color, linewidth=1.4, solid_capstyle="butt", zorder=3)
