"""A chart as SVG: matplotlib's, made small, named for those who can't see it, and fit to stand in a page with others."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from xml.etree import ElementTree

_SVG, _XLINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
#: Places are worked out by the widths of DejaVu Sans. Each of these is narrower, so that texts fit their space.
FONTS = "Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif"
_NUMBER = re.compile(r"-?\d+\.\d+")
_UNREADABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML can't have
_SPACES = re.compile(r"\s+")
_COMMAND = re.compile(r" ?([MLHVCQz]) ?")
#: What a browser has as its own.
_USUAL = ("font-family:", "text-anchor: start", "stroke-linecap: butt")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def tidy(source: bytes, prefix: str, title: str, description: str, width: int | None = None) -> bytes:
    """What matplotlib drew, `width` pixels wide, with a title and a description, `prefix` before each id, and nothing that isn't seen."""
    text = _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", source.decode())
    root = ElementTree.fromstring(text)  # noqa: S314 - written by matplotlib a moment ago
    for child in list(root):  # who drew it, and a style that would hold for the whole page
        if child.tag == f"{{{_SVG}}}metadata" or child.find(f"{{{_SVG}}}style") is not None:
            root.remove(child)
    known = {match[1] for each in root.iter() for value in each.attrib.values() for match in _REFERENCE.finditer(value)}
    known |= {each.attrib[_XLINK][1:] for each in root.iter() if _XLINK in each.attrib}
    ink = _ink(root)
    for each in root.iter():
        _shorten(each, known, prefix, ink)
    _flatten(root)
    _gather(root)
    size = {name: root.attrib[name] for name in ("viewBox", "width", "height")}
    if width:
        _, _, across, down = map(float, size["viewBox"].split())
        size |= {"width": str(width), "height": f"{width * down / across:.0f}"}
    looks = {"font-family": FONTS, "stroke-linejoin": "round", "style": f"white-space:pre;{ink}"}
    root.attrib = {**size, **looks, "role": "img", "aria-labelledby": f"{prefix}-title {prefix}-desc"}
    for place, (name, text) in enumerate((("title", title), ("desc", description))):
        named = ElementTree.Element(f"{{{_SVG}}}{name}", {"id": f"{prefix}-{name}"})
        named.text, named.tail = _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text), "\n"
        root.insert(place, named)
    ElementTree.register_namespace("", _SVG)
    found: bytes = ElementTree.tostring(root, encoding="utf-8")
    return found + b"\n"


def _ink(root: ElementTree.Element) -> str:
    """What most texts are filled with; the chart has it as a whole, so that they needn't say it."""
    fills = Counter(
        part.strip().replace(": ", ":")
        for each in root.iter(f"{{{_SVG}}}text")
        for part in each.get("style", "").split(";")
        if part.strip().startswith("fill:")
    )
    return fills.most_common(1)[0][0] if fills else "fill:#1a1a1a"


def _shorten(each: ElementTree.Element, known: set[str], prefix: str, ink: str) -> None:
    found = each.attrib
    name = found.pop("id", "")
    if name in known:
        found["id"] = f"{prefix}-{name}"
    if _XLINK in found:
        found["href"] = f"#{prefix}-{found.pop(_XLINK)[1:]}"
    if "clip-path" in found:
        found["clip-path"] = _REFERENCE.sub(rf"url(#{prefix}-\1)", found["clip-path"])
    if found.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del found["transform"]
    for key in ("d", "x", "y", "width", "height", "transform", "points"):
        if key in found:
            short = _NUMBER.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), found[key])
            found[key] = _COMMAND.sub(r"\1", _SPACES.sub(" ", short).strip())
    if "style" in found:
        styles = [part.strip() for part in found.pop("style").split("; ")]
        styles = [_REFERENCE.sub(rf"url(#{prefix}-\1)", part) for part in styles if not part.startswith(_USUAL)]
        styles = [short for part in styles if (short := part.replace(": ", ":")) != ink]
        if styles:
            found["style"] = ";".join(styles)
    if each.tag != f"{{{_SVG}}}text" and each.text and not each.text.strip():
        each.text = None
    each.tail = "\n" if each.tag == f"{{{_SVG}}}text" else None


def _flatten(parent: ElementTree.Element) -> None:
    """Put the children of groups that say nothing in the groups' places; leave out what is empty."""
    found: list[ElementTree.Element] = []
    for child in list(parent):
        _flatten(child)
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            found += list(child)
        else:
            found.append(child)
    parent[:] = found


def _gather(parent: ElementTree.Element) -> None:
    """Put texts of one style that follow one another into a group that has the style, where that is shorter."""
    found: list[ElementTree.Element] = []
    for style, several in groupby(parent, key=lambda each: each.tag == f"{{{_SVG}}}text" and each.get("style")):
        texts = list(several)
        if style and len(texts) > 1:
            group = ElementTree.Element(f"{{{_SVG}}}g", {"style": style})
            for each in texts:
                del each.attrib["style"]
            group.extend(texts)
            texts = [group]
        found += texts
    parent[:] = found
