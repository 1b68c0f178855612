"""index.html: the page with its charts, figures, style and script inside it. It loads nothing."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from dbbench.report.charts import svg
from dbbench.report.charts.palette import THEMES
from dbbench.report.export import page
from dbbench.report.export.page_data import page_data, place
from dbbench.report.run_view import View
from dbbench.report.templating import digest, source
from dbbench.report.verdict import summary, wins

#: The charts' colours are those of the page's style, which has others where the reader wants it dark.
_COLOURS = {name: f"var(--{name})" for name in THEMES["light"]}
_COMMENT = re.compile(r"(^|  )// .*$")
#: A text, a template or a pattern, which stay as they are; or what needs no space beside it.
_SPACED = re.compile(
    r"""("(?:[^"\\]|\\.)*"|`[^`]*`|(?<=\()/(?:[^/\\]|\\.)+/[a-z]*)"""
    r"| *(=>|[=<>!]=+|&&|\|\||\?\?|[=<>?:,;{}()*]) *"
)


def write(shown: View, stems: Sequence[str]) -> Path:
    """Write it into the report's folder. The page needs no other file."""
    from markupsafe import Markup

    # They load matplotlib, which has drawn the charts by now.
    from dbbench.report.charts.bars import ARROW_NOTE
    from dbbench.report.charts.draw import pictures
    from dbbench.report.charts.overview import of_scenarios, of_steps
    from dbbench.report.export import page_bars

    script = _script()
    return page.write(
        shown, "html", stems,
        more={
            "inline": {
                stem: Markup(svg.written(scene, f"p{number}", _COLOURS, within=True).decode())  # noqa: S704 - it escapes its texts
                for number, (stem, scene) in enumerate(pictures(shown))
            },
            "style": Markup(source("page.css").strip()),  # noqa: S704 - our own file
            "script": Markup(script),  # noqa: S704 - our own file
            # The policy lets this script run and no other, wherever it may come from.
            "script_hash": digest(script),
            "data": Markup(page_data(shown)),  # noqa: S704 - it has no character of markup
            "summary": summary, "wins": wins, "place": place, "of_steps": of_steps, "of_scenarios": of_scenarios,
            "patterns": page_bars.patterns(), "arrow_note": ARROW_NOTE, "used": page_bars.USED,
            "of": partial(page_bars.of, shown),
            "step_bars": partial(page_bars.step_bars, shown), "used_bars": partial(page_bars.used_bars, shown),
            "round_width": page_bars.round_width(shown), "rounds_in_order": partial(page_bars.rounds_in_order, shown),
        },
    )  # fmt: skip


def _script() -> str:
    """The script without what only its authors read: comments, and spaces. Each of its lines stays one."""
    lines = (_COMMENT.sub("", line.strip()) for line in source("page.js").splitlines())
    return "\n".join(_SPACED.sub(lambda found: found[1] or found[2], line) for line in lines if line)
