"""A flame graph as SVG: a box for each frame, as wide as its seconds, above the frame that called it.

Against another profile red boxes have more seconds than there, and blue ones less; what only the other has isn't drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from dbbench.analysis.profiles import Stacks
from dbbench.analysis.units import fitting
from dbbench.report.charts.svg import FONTS

_WIDTH, _ROW, _HEAD, _LETTER = 1200.0, 17.0, 52.0, 6.4
#: Narrower boxes, in pixels, aren't drawn.
_NARROW = 0.3
_PLAIN = "#f2b56b"


@dataclass
class _Frame:
    name: str
    seconds: float = 0.0
    before: float = 0.0
    above: dict[str, _Frame] = field(default_factory=dict)


def flame(title: str, profile: Stacks, against: Stacks | None = None) -> bytes:
    """The picture of a profile; frames have their whole name and seconds as a tooltip."""
    root = _Frame("all")
    for number, each in enumerate((profile, against or {})):
        for frames, seconds in each.items():
            _add(root, frames, seconds, first=number == 0)
    boxes = list(_boxes(root, 0.0, 0, root.seconds or 1.0))
    height = _HEAD + _ROW * (max((row for *_, row in boxes), default=0) + 1) + 10
    unit = fitting("s", [root.seconds])
    head = f"{title}: {unit.text(root.seconds)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:g}" width="{_WIDTH:g}"',
        f'height="{height:g}" font-family="{FONTS}" font-size="11" role="img"><title>{escape(head)}</title>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="10" y="26" font-size="16">{escape(head)}</text>',
    ]
    if against is not None:
        words = f"red: more than in the other ({unit.text(root.before)}), blue: less; white: as much"
        parts.append(f'<text x="10" y="43" fill="#6b6b6b">{escape(words)}</text>')
    for frame, x, width, row in boxes:
        parts.append(_box(frame, x, width, height - 10 - _ROW * (row + 1), root, differs=against is not None))
    return "\n".join([*parts, "</svg>\n"]).encode("utf-8", "replace")


def _add(root: _Frame, frames: tuple[str, ...], seconds: float, *, first: bool) -> None:
    at = root
    for frame in (None, *frames):
        at = at if frame is None else at.above.setdefault(frame, _Frame(frame))
        at.seconds += seconds if first else 0.0
        at.before += 0.0 if first else seconds


def _boxes(frame: _Frame, x: float, row: int, whole: float) -> Iterator[tuple[_Frame, float, float, int]]:
    width = frame.seconds / whole * (_WIDTH - 20)
    if width < _NARROW:
        return
    yield frame, x, width, row
    for each in sorted(frame.above.values(), key=lambda one: one.name):
        yield from _boxes(each, x, row + 1, whole)
        x += each.seconds / whole * (_WIDTH - 20)


def _box(frame: _Frame, x: float, width: float, y: float, root: _Frame, *, differs: bool) -> str:
    more = frame.seconds - frame.before
    unit = fitting("s", [frame.seconds])
    said = f"{frame.name}: {unit.text(frame.seconds)}, {frame.seconds / (root.seconds or 1):.1%}"
    said += f"; {unit.text(frame.before)} in the other" if differs else ""
    letters = int(width / _LETTER)
    text = frame.name if len(frame.name) <= letters else f"{frame.name[: letters - 1]}…" if letters > 3 else ""
    words = f'<text x="{x + 13:.1f}" y="{y + 12:.1f}">{escape(text)}</text>' if text else ""
    return (
        f'<g><title>{escape(said)}</title><rect x="{x + 10:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_ROW - 1:g}" '
        f'rx="1" fill="{_colour(more, root.seconds) if differs else _PLAIN}" stroke="#ffffff" stroke-width="0.4"/>{words}</g>'
    )


def _colour(more: float, whole: float) -> str:
    """White where nothing differs; full red or blue from a tenth of the whole on."""
    pale = round(235 * (1 - min(abs(more) / (whole or 1) * 10, 1.0)))
    return f"#{235:02x}{pale:02x}{pale:02x}" if more > 0 else f"#{pale:02x}{pale:02x}{235:02x}"
