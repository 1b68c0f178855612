"""index.md: the page for a code host's viewer, with its charts as SVG files beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dbbench.report.export import page
from dbbench.report.export.exporter import Exporter
from dbbench.report.run_view import View


def write(shown: View, stems: Sequence[str]) -> Path:
    """Write it into the report's folder. Texts are escaped by the filters `cell` and `fenced`."""
    return page.write(shown, "md", stems, autoescape=False, filters={"cell": cell, "fenced": _fenced})


def cell(text: object) -> str:
    """A text that is safe in a cell of a Markdown table."""
    for character in ("\\", "|", "*", "_", "<", "`"):
        text = str(text).replace(character, f"\\{character}")
    return " ".join(str(text).replace("](", "]\\(").split())  # no link


def _fenced(text: str) -> str:
    """A text as it stands, in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


EXPORTER = Exporter("md", write, charts=("svg",))
