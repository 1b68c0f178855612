"""index.md: the page for a code host's viewer, with its charts as SVG files beside it."""

import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from dbbench.report.export import page
from dbbench.report.run_view import View

#: Signs that mean something in Markdown: anywhere, or where a line begins. Of `&` only what begins an entity.
_SIGNS = re.compile(r"[\\|*_<`~\[\]]|&(?=#?\w+;)|^(?:[#>]|[-+](?=[ -]|$))")


def write(shown: View, stems: Sequence[str]) -> Path:
    """Write it into the report's folder. Whatever the template shows of a run is escaped."""
    html = (shown.folder / "report" / "index.html").is_file()
    return page.write(shown, "md", stems, escape=escaped, filters={"fenced": fenced}, more={"html": html})


def escaped(text: object) -> str:
    """A text that is nothing but text in Markdown, in one line, in a table's cell too. Markup stays as it is."""
    if isinstance(text, Markup):
        return text
    return _SIGNS.sub(r"\\\g<0>", " ".join(str(text).split()))


def fenced(text: str, language: str = "text") -> Markup:
    """A text verbatim, in a fence longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markup(f"{fence}{language}\n{text}\n{fence}")  # noqa: S704 - nothing in a fence is markup
