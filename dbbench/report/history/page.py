"""The page of a history: one file with its charts inside it, those of the steps that changed first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dbbench.analysis.history import History
from dbbench.host import plain_file
from dbbench.report.history.words import HOW, change_lines, remarks, runs, step_name, summary

if TYPE_CHECKING:
    from markupsafe import Markup


def write(shown: History, folder: Path) -> list[Path]:
    """Write index.html and a chart of each step, as SVG and PNG, into the folder."""
    import matplotlib as mpl
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dbbench.report.charts.layout import STYLE, save
    from dbbench.report.history.chart import step_chart

    changed = {(series.scenario, series.step) for series in shown.changed}
    steps = dict.fromkeys((series.scenario, series.step) for series in shown.series)
    charts, files = [], []
    with mpl.rc_context(STYLE):
        for scenario, step in sorted(steps, key=lambda step: step not in changed):
            title = next(step_name(one, shown) for one in shown.series if (one.scenario, one.step) == (scenario, step))
            stem = folder / f"{scenario}-{step}"
            save(step_chart(shown, scenario, step), stem, ("svg", "png"))
            charts.append((title, _inline(stem.with_suffix(".svg"))))
            files += [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    environment = Environment(
        loader=PackageLoader("dbbench.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    text = environment.get_template("history.html.j2").render(
        suite=shown.sides[-1].suite,
        summary=summary(shown),
        remarks=list(remarks(shown)),
        changes=change_lines(shown),
        how=HOW,
        charts=charts,
        runs=list(zip(runs(shown), shown.sides, strict=True)),
    )
    plain_file.write(folder / "index.html", text.encode())
    return [folder / "index.html", *files]


def _inline(path: Path) -> Markup:
    """An SVG file without its XML head. Made by matplotlib, which escapes the texts in it."""
    from markupsafe import Markup

    text = path.read_text("utf-8")
    return Markup(text[text.index("<svg") :])  # noqa: S704 - our own file, see above
