"""A card for a link or a post, 1200 by 630 pixels: what was found, one step best to worst, machine and date."""

from collections.abc import Sequence
from dataclasses import replace

from dbbench.report.charts.bars import ARROW_NOTE, bars
from dbbench.report.charts.layout import CAPTION, MARGIN, SUBTITLE, TITLE, Look
from dbbench.report.charts.measure import wrap
from dbbench.report.charts.rows import placed
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import View
from dbbench.report.step_view import StepView
from dbbench.report.verdict import finding

#: What sites ask for, in pixels.
WIDTH, HEIGHT = 1200, 630
#: The most bars; the ones after are counted.
_MOST = 8
#: Pixels that it is laid out in: one and a half dots each.
_ACROSS, _DOWN = 800.0, 420.0
_INSIDE = _ACROSS - 2 * MARGIN


def card(shown: View, look: Look) -> Scene | None:
    """A card of the first timed step with several engines, of a load only without another; None without a figure."""
    steps = [step for scenario in shown.scenarios for step in scenario.steps if step.lines]
    fills = {name for scenario in shown.scenarios for name in scenario.fills}
    timed = [step for step in steps if not step.counted and finding(step)]
    asked = (step for step in timed if step.step.kind != "load" and step.step.name not in fills)
    chosen = next(asked, next(iter((*timed, *steps)), None))
    if chosen is None:
        return None
    step = replace(chosen, lines=chosen.lines[:_MOST], failed=(*chosen.lines[_MOST:], *chosen.failed))
    return _drawn(shown, step, finding(chosen), look)


def _drawn(shown: View, step: StepView, found: str, look: Look) -> Scene:
    """The conclusion, the bars in the remaining space, and the required notes below."""
    logarithmic = step.wide
    what = f"{shown.title} · {step.step.title}: {step.measure}{' (logarithmic axis)' if logarithmic else ''}"
    scene = Scene(_ACROSS, _DOWN, found or shown.title, what)
    title = wrap(found.removesuffix(".") or shown.title, TITLE, _INSIDE, bold=True, lines=3)
    y = scene.text(MARGIN, MARGIN + 16, title, TITLE, bold=True)
    y = scene.text(MARGIN, y, wrap(what, SUBTITLE, _INSIDE, lines=2), SUBTITLE, "grey")
    foot = _footer(shown, step)
    bottom = _DOWN - 12 - len(foot) * CAPTION * 1.28
    scene.text(MARGIN, bottom + CAPTION, foot, CAPTION, "grey")
    chart = bars(replace(step, failed=()), "logarithmic" if logarithmic else "linear", look)
    rows = [replace(row, title=wrap(row.title, 14, 250, lines=1)[0], cells=_cells(row.cells, line.row.verified))
            for row, line in zip(chart.rows, step.lines, strict=True)]  # fmt: skip
    heads = [head.replace("\n", " ") for head in chart.heads]
    placed(replace(chart, rows=rows, heads=heads), scene, y - 10, _ACROSS, height=bottom - y - 34)
    return scene


def _cells(cells: Sequence[str], verified: bool) -> list[str]:
    """The figure without its footnotes' numbers, which have no footnotes here, and the ratio."""
    if not cells:
        return []
    figure = cells[0].rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹,")
    return [figure if verified else f"{figure}, not verified", *cells[1:]]


def _footer(shown: View, step: StepView) -> list[str]:
    """Notes required below a picture that is shared alone."""
    manifest = shown.run.manifest
    failed = [line.row.title for line in step.failed if not line.row.measured]
    further = len(step.failed) - len(failed)
    notes = [
        ARROW_NOTE if step.mixed else "",
        f"{further} more engines are not shown." if further else "",
        f"Without a figure: {', '.join(failed)}." if failed else "",
        f"{len(shown.warnings)} warning{'s' if len(shown.warnings) > 1 else ''}: see the page."
        if shown.warnings
        else "",
        *shown.conditions,
    ]
    where = f"dbbench {manifest.dbbench} · {manifest.created:%d %B %Y} · {shown.machine}"
    # What publishing asks for has to be there whole.
    most = 9 if shown.published else 2
    return [*wrap(" ".join(filter(None, notes)), CAPTION, _INSIDE, lines=most), *wrap(where, CAPTION, _INSIDE, lines=2)]
