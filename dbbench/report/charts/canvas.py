"""The canvas for PNG files, which draws a line of text once for all charts that have it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

#: Dots about a line, for what reaches over its width and height.
_SPACE = 3


class Canvas(FigureCanvasAgg):
    """Charts of a report share their captions and engines' names: to draw these again takes most of the time."""

    def get_renderer(self) -> RendererAgg:
        """The one renderer of this canvas."""
        if not hasattr(self, "renderer"):
            width, height = self.get_width_height(physical=True)
            self.renderer: RendererAgg = _Renderer(width, height, self.figure.dpi)  # type: ignore[no-untyped-call]  # theirs
        return self.renderer


class _Renderer(RendererAgg):
    """Places lines of text as pictures, at whole dots."""

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        if angle or ismath:
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)  # type: ignore[no-untyped-call]  # theirs
            return
        picture, above = _picture(s, prop.copy(), gc.get_rgb(), self.dpi)
        top = round(y) - above
        self.draw_image(gc, round(x) - _SPACE, self.height - top - len(picture), picture)

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        if ismath:
            return tuple(super().get_text_width_height_descent(s, prop, ismath))  # type: ignore[no-untyped-call]  # theirs
        return _size(s, prop.copy(), self.dpi)


# A chart has some hundred lines. What the charts before it had is kept, and a report on a thousand doesn't fill the memory.
@lru_cache(maxsize=2_000)
def _picture(
    line: str, font: FontProperties, colour: tuple[float, ...], dpi: float
) -> tuple[npt.NDArray[np.uint8], int]:
    """A line on nothing, as RGBA from the lowest row of dots up, and how many rows it has above its base."""
    width, height, descent = _size(line, font, dpi)
    above = math.ceil(height - descent) + _SPACE
    renderer = RendererAgg(math.ceil(width) + 2 * _SPACE, above + math.ceil(descent) + _SPACE, dpi)
    gc = renderer.new_gc()
    gc.set_foreground((colour[0], colour[1], colour[2], colour[3]), isRGBA=True)
    renderer.draw_text(gc, _SPACE, above, line, font, 0)
    return np.array(renderer.buffer_rgba())[::-1].copy(), above


@lru_cache(maxsize=20_000)
def _size(line: str, font: FontProperties, dpi: float) -> tuple[float, float, float]:
    """Width, height and descent in dots."""
    width, height, descent = _board(dpi).get_text_width_height_descent(line, font, ismath=False)
    return float(width), float(height), float(descent)


@lru_cache(maxsize=4)
def _board(dpi: float) -> RendererAgg:
    return RendererAgg(1, 1, dpi)
