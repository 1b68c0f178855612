"""How wide texts are, in pixels by the widths of DejaVu Sans, and where they are broken into lines."""

from collections.abc import Sequence
from functools import cache

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

#: Of the board that texts are measured on: at ten points a size of 100 dots.
_DPI, _POINTS = 720, 10


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of one line; kerning, which makes it narrower, isn't counted."""
    return size * sum(_advance(character, bold) for character in text.replace("\n", " "))


def widest(texts: Sequence[str], size: float) -> float:
    """The width of the widest of some lines; 0 without one."""
    return max((width(text, size) for text in texts), default=0.0)


def wrap(text: str, size: float, most: float, *, bold: bool = False, lines: int | None = None) -> list[str]:
    """A text in lines of at most `most` pixels; a wider word is broken. What is after `lines` lines is left out."""
    found: list[str] = []
    for word in text.split():
        joined = f"{found[-1]} {word}" if found else word
        if found and width(joined, size, bold=bold) <= most:
            found[-1] = joined
        else:
            found += _broken(word, size, most, bold=bold)
    if lines is None or len(found) <= lines:
        return found
    last = found[lines - 1]
    while last and width(f"{last} …", size, bold=bold) > most:
        last = last[:-1]
    return [*found[: lines - 1], f"{last.rstrip()} …"]


def _broken(word: str, size: float, most: float, *, bold: bool) -> list[str]:
    """A word in as many parts as it needs, each with a letter at least."""
    parts = [""]
    for letter in word:
        if parts[-1] and width(parts[-1] + letter, size, bold=bold) > most:
            parts.append("")
        parts[-1] += letter
    return parts


@cache
def _advance(character: str, bold: bool) -> float:
    """The width from a character to the next, as a share of the size."""
    return (_dots(f"H{character}H", bold) - _dots("HH", bold)) / (_DPI / 72 * _POINTS)


@cache
def _dots(line: str, bold: bool) -> float:
    font = FontProperties(family="DejaVu Sans", size=_POINTS, weight="bold" if bold else "normal")
    found, _, _ = _board().get_text_width_height_descent(line, font, ismath=False)
    return float(found)


@cache
def _board() -> RendererAgg:
    return RendererAgg(1, 1, _DPI)
