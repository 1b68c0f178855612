"""A scene as PNG, drawn by Agg."""

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.image import imsave
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from dbbench.report.charts import measure
from dbbench.report.charts.scene import SHAPES, Box, Dot, Point, Scene, Stroke, Text

_SHARES = {"start": 0.0, "middle": 0.5, "end": 1.0}
#: Pixels from one stroke of a hatch to the next, and its width.
_HATCH, _HATCH_WIDTH = 9.5, 2.0


def written(scene: Scene, theme: Mapping[str, str], width: int) -> bytes:
    """The file's bytes, `width` pixels wide."""
    with mpl.rc_context({"text.hinting": "none"}):  # letters keep the widths that the layout counts on
        board = _Board(scene, theme, width)
    file = io.BytesIO()
    imsave(file, board.picture(), format="png", pil_kwargs={"compress_level": 3})
    return file.getvalue()


class _Board:
    """Agg's renderer with a scene's marks on it."""

    def __init__(self, scene: Scene, theme: Mapping[str, str], width: int) -> None:
        self._scale = width / scene.width
        self._height = round(scene.height * self._scale)
        self._theme = theme
        self._agg = RendererAgg(width, self._height, 72 * self._scale)
        if theme["page"] != "none":
            self._box(Box(0, 0, scene.width, scene.height, "page"))
        for mark in scene.marks:
            if isinstance(mark, Text):
                self._text(mark)
            elif isinstance(mark, Box):
                self._box(mark)
            elif isinstance(mark, Stroke):
                for line in mark.lines:
                    self._path(Path(line), stroke=mark.ink, width=mark.width, dashes=mark.dashes)
            else:
                self._dot(mark)

    def picture(self) -> Any:
        """What is drawn, as RGBA."""
        return np.asarray(self._agg.buffer_rgba())

    def _path(
        self, path: Path, *, fill: str = "", tone: float = 1.0, stroke: str = "", width: float = 0.0,
        dashes: Sequence[float] = (), clip: Path | None = None,
    ) -> None:  # fmt: skip
        gc = self._agg.new_gc()
        place = Affine2D().scale(self._scale, -self._scale).translate(0, self._height)
        line = self._colour(stroke)
        gc.set_linewidth(width * self._scale if line else 0)
        gc.set_foreground(line or (0, 0, 0))
        if dashes:
            gc.set_dashes(0, [each * self._scale for each in dashes])
        if clip is not None:
            gc.set_clip_rectangle(clip.get_extents(place))
        face = self._colour(fill)
        self._agg.draw_path(gc, path, place, (*face, tone) if face else None)

    def _box(self, mark: Box) -> None:
        x, y = mark.x + mark.width, mark.y + mark.height
        path = Path([(mark.x, mark.y), (x, mark.y), (x, y), (mark.x, y), (mark.x, mark.y)])
        if mark.tone < 1:
            self._path(path, fill="page")
        self._path(path, fill=mark.ink, tone=mark.tone)
        for line, dashes in _hatch(mark):
            self._path(Path(line), stroke="page", width=_HATCH_WIDTH, dashes=dashes, clip=path)

    def _dot(self, mark: Dot) -> None:
        if mark.shape == "circle":
            path = Path.circle((mark.x, mark.y), mark.size / 2)
        else:
            corners = [(mark.x + x * mark.size, mark.y + y * mark.size) for x, y in SHAPES[mark.shape]]
            path = Path([*corners, corners[0]])
        if mark.hollow:
            self._path(path, fill="page", stroke=mark.ink, width=1.6)
        else:
            self._path(path, fill=mark.ink)

    def _text(self, mark: Text) -> None:
        gc = self._agg.new_gc()
        gc.set_foreground(self._colour(mark.ink) or (0, 0, 0))
        text = mark.text.replace("\n", " ")  # Agg has no letter for a line's end, which a title of a suite may hold
        x = mark.x - _SHARES[mark.anchor] * measure.width(text, mark.size, bold=mark.bold)
        font = _font(mark.size, mark.bold, mark.italic)
        self._agg.draw_text(gc, round(x * self._scale), round(mark.y * self._scale), text, font, 0)

    def _colour(self, name: str) -> tuple[float, float, float] | None:
        """Red, green and blue; None for what isn't drawn."""
        colour = self._theme.get(name, name)
        return None if colour in ("", "none") else to_rgb(colour)


@lru_cache(maxsize=100)
def _font(size: float, bold: bool, italic: bool) -> FontProperties:
    return FontProperties(
        family="DejaVu Sans", size=size, weight="bold" if bold else "normal", style="italic" if italic else "normal"
    )


def _hatch(mark: Box) -> list[tuple[tuple[Point, Point], Sequence[float]]]:
    """The lines of a box's hatch, each with its dashes."""
    if not mark.hatch:
        return []
    lean = mark.height if mark.hatch == "slash" else 0.0
    dashes = (1.8, 3.2) if mark.hatch == "dot" else ()
    apart = _HATCH if lean else _HATCH / 2
    starts = np.arange(mark.x - lean + apart / 2, mark.x + mark.width, apart)
    return [(((float(x), mark.y + mark.height), (float(x) + lean, mark.y)), dashes) for x in starts]
