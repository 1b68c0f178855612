"""A scene as SVG: small, named for those who can't see it, and fit to stand in a page with others."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from dbbench.report.charts.scene import SHAPES, Box, Dot, Mark, Point, Scene, Stroke, Text

#: Places are worked out by the widths of DejaVu Sans. Each of these is narrower, so that texts fit their space.
FONTS = "Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif"
_UNREADABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML can't have
#: Hatch -> the size of its pattern, its path and the width of that.
PATTERNS = {
    "slash": ('width="7" height="7" patternTransform="rotate(45)"', "M3 0V7", 2),
    "bar": ('width="5" height="5"', "M2.5 0V5", 1.6),
    "dot": ('width="5" height="5"', "M1.5 2.5H3.5", 2),
}


def written(scene: Scene, prefix: str, theme: Mapping[str, str], *, within: bool = False) -> bytes:
    """The file's bytes; `prefix` stands before each id. `within`: for a page, whose style has its font."""
    ids = f"{prefix}-title {prefix}-desc"
    size = f"{_n(scene.width)} {_n(scene.height)}"
    alone = f' xmlns="http://www.w3.org/2000/svg" font-family="{FONTS}"'
    head = (
        f"<svg{'' if within else alone}"
        f' viewBox="0 0 {size}" width="{_n(scene.width)}" height="{_n(scene.height)}" stroke-linejoin="round"'
        f' style="white-space:pre;fill:{theme["ink"]}" role="img" aria-labelledby="{ids}">'
    )
    parts = [
        head,
        f'<title id="{prefix}-title">{_escaped(scene.title)}</title>',
        f'<desc id="{prefix}-desc">{_escaped(scene.description)}</desc>',
    ]
    hatches = {mark.hatch for mark in scene.marks if isinstance(mark, Box) and mark.hatch}
    for name in sorted(hatches if theme["page"] != "none" else ()):
        size, path, stroke = PATTERNS[name]
        parts.append(
            f'<pattern id="{prefix}-{name}" patternUnits="userSpaceOnUse" {size}>'
            f'<path d="{path}" style="stroke:{theme["page"]}" stroke-width="{stroke}"/></pattern>'
        )
    if theme["page"] != "none":
        parts.append(f'<rect width="100%" height="100%" style="fill:{theme["page"]}"/>')
    texts = sorted((mark for mark in scene.marks if isinstance(mark, Text)), key=lambda mark: _text_style(mark, theme))
    shapes = [mark for mark in scene.marks if not isinstance(mark, Text)]
    shapes.sort(key=lambda mark: mark.ink != "line")  # what is behind the others
    pieces = (piece for mark in (*shapes, *texts) for piece in _pieces(mark, prefix, theme))
    for style, several in groupby(pieces, key=lambda piece: piece[0]):
        parts += _group(style, [text for _, text in several])
    return "\n".join([*parts, "</svg>\n"]).encode()


def _group(style: str, pieces: Sequence[str]) -> Iterator[str]:
    """Elements of one style: one path for all paths, and a group if there are several."""
    elements = [piece for piece in pieces if piece.startswith("<")]
    if paths := "".join(piece for piece in pieces if not piece.startswith("<")):
        elements.append(f'<path d="{paths}"{{}}/>')
    if style and len(elements) > 1:
        yield f"<g {style}>"
        yield from (element.format("") for element in elements)
        yield "</g>"
    else:
        yield from (element.format(f" {style}" if style else "") for element in elements)


def _pieces(mark: Mark, prefix: str, theme: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The style of each element of a mark, and the element with `{}` for the style, or the data of a path."""
    if isinstance(mark, Text):
        yield (
            _text_style(mark, theme),
            f'<text x="{_n(mark.x)}" y="{_n(mark.y)}"{{}}>{_braced(_escaped(mark.text))}</text>',
        )
    elif isinstance(mark, Box):
        box = f"{_to(mark.x, mark.y)}h{_n(mark.width)}v{_n(mark.height)}h{_n(-mark.width)}z"
        if mark.tone < 1 and theme["page"] != "none":
            yield f'style="fill:{theme["page"]}"', box
        tone = f' fill-opacity="{_n(mark.tone)}"' if mark.tone < 1 else ""
        yield f'style="fill:{theme.get(mark.ink, mark.ink)}"{tone}', box
        if mark.hatch and theme["page"] != "none":
            yield f'style="fill:url(#{prefix}-{mark.hatch})"', box
    elif isinstance(mark, Stroke):
        dashes = f' stroke-dasharray="{" ".join(map(_n, mark.dashes))}"' if mark.dashes else ""
        style = f'style="fill:none;stroke:{theme[mark.ink]}" stroke-width="{_n(mark.width)}"{dashes}'
        yield style, _lines(mark.lines)
    else:
        yield _dot_style(mark, theme), _dot(mark)


def _lines(lines: Iterable[Sequence[Point]]) -> str:
    """Path data of lines, each point from the one before it as it is written, so that no error adds up."""
    data, x, y = "", 0.0, 0.0
    for points in lines:
        for place, (next_x, next_y) in enumerate((float(_n(x)), float(_n(y))) for x, y in points):
            across, down = _n(next_x - x), _n(next_y - y)
            if not data:
                data = _to(next_x, next_y)
            elif place and "0" in (across, down):
                data += f"v{down}" if across == "0" else f"h{across}"
            else:
                data += f"{'l' if place else 'm'}{across} {down}".replace(" -", "-")
            x, y = next_x, next_y
    return data


def _to(x: float, y: float) -> str:
    return f"M{_n(x)} {_n(y)}".replace(" -", "-")


def _text_style(mark: Text, theme: Mapping[str, str]) -> str:
    colour = theme.get(mark.ink, mark.ink)
    parts = [f'font-size="{_n(mark.size)}"']
    parts += [f'style="fill:{colour}"'] if mark.ink != "ink" else []
    parts += [f'text-anchor="{mark.anchor}"'] if mark.anchor != "start" else []
    parts += ['font-weight="bold"'] if mark.bold else []
    parts += ['font-style="italic"'] if mark.italic else []
    return " ".join(parts)


def _dot_style(mark: Dot, theme: Mapping[str, str]) -> str:
    colour = theme[mark.ink]
    return (
        f'style="fill:{theme["page"]};stroke:{colour}" stroke-width="1.6"' if mark.hollow else f'style="fill:{colour}"'
    )


def _dot(mark: Dot) -> str:
    if mark.shape == "circle":
        # An arc has two ends: they are next to each other.
        path = f"{_to(mark.x - mark.size / 2, mark.y)}a{_n(mark.size / 2)} {_n(mark.size / 2)} 0 1 1 0 .02z"
    else:
        path = _lines([[(mark.x + x * mark.size, mark.y + y * mark.size) for x, y in SHAPES[mark.shape]]]) + "z"
    return f'<path d="{path}"{{}}/>' if mark.hollow else path  # each that is hollow covers those behind it


def _n(value: float) -> str:
    text = f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"
    text = text.rstrip("0").rstrip(".").replace("0.", ".", 1) if abs(value) < 1 else text.rstrip("0").rstrip(".")
    return text if text not in ("", "-", "-0") else "0"


def _escaped(text: str) -> str:
    return escape(_UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text), quote=False)


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
