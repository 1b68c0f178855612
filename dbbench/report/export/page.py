"""The page: index.md and index.html are made from the same view, each by its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbbench.analysis.units import duration, fitting
from dbbench.host import plain_file
from dbbench.report.run_view import View


def write(
    shown: View,
    form: str,
    stems: Sequence[str],
    *,
    autoescape: bool,
    filters: Mapping[str, Callable[[str], str]] | None = None,
    inline: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write index.FORM into the report's folder; `inline` has the text of each chart that stands in the page itself.

    `more` is what the template has besides.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dbbench.report.charts.draw import stem

    environment = Environment(
        loader=PackageLoader("dbbench.report"),
        autoescape=autoescape,  # noqa: S701 - Markdown has its own filters
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    environment.globals.update(stem=stem, amount=_amount, duration=duration)
    text = environment.get_template(f"index.{form}.j2").render(
        view=shown, stems=stems, inline=inline or {}, **(more or {})
    )
    path = plain_file.folder(shown.folder, "report") / f"index.{form}"
    plain_file.write(path, text.encode())
    return path


def _amount(base: str, value: float | None) -> str:
    return "–" if value is None else fitting(base, [value]).text(value)
