"""A scene as SVG: small, named for those who can't see it, and fit to stand in a page with others."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby

from dbbench.report.charts.scene import SHAPES, Box, Dot, Mark, Scene, Stroke, Text

#: Places are worked out by the widths of DejaVu Sans. Each of these is narrower, so that texts fit their space.
FONTS = "Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif"
_UNREADABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML can't have
#: Hatch -> the size of its pattern, its path and the width of that.
PATTERNS = {
    "slash": ('width="7" height="7" patternTransform="rotate(45)"', "M3 0V7", 2),
    "bar": ('width="5" height="5"', "M2.5 0V5", 1.6),
    "dot": ('width="5" height="5"', "M1.5 2.5H3.5", 2),
}


def written(scene: Scene, prefix: str, theme: Mapping[str, str]) -> bytes:
    """The file's bytes; `prefix` stands before each id."""
    ids = f"{prefix}-title {prefix}-desc"
    size = f"{_n(scene.width)} {_n(scene.height)}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_n(scene.width)}"'
        f' height="{_n(scene.height)}" font-family="{FONTS}" stroke-linejoin="round"'
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
    pieces = (piece for mark in scene.marks for piece in _pieces(mark, prefix, theme))
    for style, several in groupby(pieces, key=lambda piece: piece[0]):
        shapes = [shape for _, shape in several]
        if style and len(shapes) > 1:
            parts += [f"<g {style}>", *(shape.format("") for shape in shapes), "</g>"]
        else:
            parts += [shape.format(f" {style}" if style else "") for shape in shapes]
    return "\n".join([*parts, "</svg>\n"]).encode()


def _pieces(mark: Mark, prefix: str, theme: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The style of each element that a mark is made of, and the element with `{}` for the style."""
    if isinstance(mark, Text):
        yield (
            _text_style(mark, theme),
            f'<text x="{_n(mark.x)}" y="{_n(mark.y)}"{{}}>{_braced(_escaped(mark.text))}</text>',
        )
    elif isinstance(mark, Box):
        box = f'<rect x="{_n(mark.x)}" y="{_n(mark.y)}" width="{_n(mark.width)}" height="{_n(mark.height)}"{{}}/>'
        if mark.tone < 1 and theme["page"] != "none":
            yield f'style="fill:{theme["page"]}"', box
        tone = f' fill-opacity="{_n(mark.tone)}"' if mark.tone < 1 else ""
        yield f'style="fill:{theme.get(mark.ink, mark.ink)}"{tone}', box
        if mark.hatch and theme["page"] != "none":
            yield f'style="fill:url(#{prefix}-{mark.hatch})"', box
    elif isinstance(mark, Stroke):
        path = "".join(
            f"M{_n(line[0][0])} {_n(line[0][1])}" + "".join(f"L{_n(x)} {_n(y)}" for x, y in line[1:])
            for line in mark.lines
        )
        dashes = f' stroke-dasharray="{" ".join(map(_n, mark.dashes))}"' if mark.dashes else ""
        style = f'style="fill:none;stroke:{theme[mark.ink]}" stroke-width="{_n(mark.width)}"{dashes}'
        yield style, f'<path d="{path}"{{}}/>'
    else:
        yield _dot_style(mark, theme), _dot(mark)


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
        return f'<circle cx="{_n(mark.x)}" cy="{_n(mark.y)}" r="{_n(mark.size / 2)}"{{}}/>'
    corners = " ".join(f"{_n(mark.x + x * mark.size)},{_n(mark.y + y * mark.size)}" for x, y in SHAPES[mark.shape])
    return f'<polygon points="{corners}"{{}}/>'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if abs(value) >= 1 else f"{value:.2f}".rstrip("0").rstrip(".")


def _escaped(text: str) -> str:
    return escape(_UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text), quote=False)


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
