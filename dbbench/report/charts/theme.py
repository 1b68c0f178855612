"""Charts for a dark page, or for one of any colour: the colours of a figure that is drawn, exchanged."""

from __future__ import annotations

from typing import Any

from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from dbbench.report.charts.layout import BLUE, FAINT, GREY, INK, ORANGE, SKY, VERMILION
from dbbench.report.charts.palette import COLOURS, ON_ANY, ON_DARK

_DARK = {
    "#ffffff": "#14171b", INK: "#e8e8e8", GREY: "#aab1b9", FAINT: "#3d444d",
    BLUE.lower(): "#3d9ad6", SKY.lower(): "#8fcdf2", ORANGE.lower(): ORANGE, VERMILION.lower(): "#f0793a",
    **dict(zip(COLOURS, ON_DARK, strict=True)),
}  # fmt: skip
#: A grey that can be read on white and on black.
_TRANSPARENT = {
    "#ffffff": "none", INK: "#767676", GREY: "#767676", FAINT: "#9a9a9a", **dict(zip(COLOURS, ON_ANY, strict=True)),
}  # fmt: skip


def dress(figure: Figure, theme: str) -> None:
    """Give a figure the colours of a theme: "light" (it has them), "dark" or "transparent"."""
    if theme == "light":
        return
    colours = _DARK if theme == "dark" else _TRANSPARENT
    figure.draw_without_rendering()  # it makes the ticks
    for artist in figure.findobj():
        if isinstance(artist, Text):
            artist.set_color(_other(artist.get_color(), colours))
            if box := artist.get_bbox_patch():
                box.set_facecolor(_other(box.get_facecolor(), colours))
        elif isinstance(artist, Line2D):
            artist.set_color(_other(artist.get_color(), colours))
            artist.set_markeredgecolor(_other(artist.get_markeredgecolor(), colours))
        elif isinstance(artist, Patch):
            face, edge = _other(artist.get_facecolor(), colours), _other(artist.get_edgecolor(), colours)
            artist.set_facecolor(face)
            artist.set_edgecolor(edge)
        elif isinstance(artist, Collection):
            artist.set_facecolor([_other(each, colours) for each in artist.get_facecolor()])
            artist.set_edgecolor([_other(each, colours) for each in artist.get_edgecolor()])


def _other(colour: Any, colours: dict[str, str]) -> Any:
    if to_rgba(colour)[3] == 0:
        return "none"
    return colours.get(to_hex(colour), colour)
