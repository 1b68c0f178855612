"""The page: index.md and index.html, from the same view."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dbbench import plainfile
from dbbench.analysis.units import duration, fitting
from dbbench.report.charts import stem
from dbbench.report.view import View


def write(shown: View, folder: Path, formats: tuple[str, ...], stems: list[str]) -> list[Path]:
    """Write the page in the formats asked for ("md", "html"). The HTML page carries its charts inside it."""
    written = []
    for form in formats:
        if form not in ("md", "html"):
            continue
        environment = Environment(
            loader=PackageLoader("dbbench.report"),
            autoescape=form == "html",  # noqa: S701 - Markdown has its own filter, `cell`
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters |= {"cell": _cell, "fenced": _fenced}
        environment.globals.update(stem=stem, amount=_amount, duration=duration)
        inline = {name: _inline(folder / f"{name}.svg") for name in stems} if form == "html" else {}
        text = environment.get_template(f"index.{form}.j2").render(view=shown, stems=stems, inline=inline)
        path = folder / f"index.{form}"
        plainfile.write(path, text.encode())
        written.append(path)
    return written


def _cell(text: object) -> str:
    """A text that is safe in a cell of a Markdown table."""
    for character in ("\\", "|", "*", "_", "<", "`"):
        text = str(text).replace(character, f"\\{character}")
    return " ".join(str(text).split())


def _fenced(text: str) -> str:
    """A text as it stands, in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _amount(base: str, value: float | None) -> str:
    return "–" if value is None else fitting(base, [value]).text(value)


def _inline(path: Path) -> Markup:
    """An SVG file without its XML head. Made by matplotlib, which escapes the texts in it."""
    if not path.is_file():
        return Markup()
    text = path.read_text("utf-8")
    return Markup(text[text.index("<svg") :])  # noqa: S704 - our own file, see above
