"""A card for a link or a post, 1200 by 630 pixels: the title, what was found, one step best to worst, machine and date."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from dbbench.analysis.units import Unit
from dbbench.report.charts.bars import ARROW_NOTE, draw_values, known_intervals
from dbbench.report.charts.layout import GREY, INK, inches
from dbbench.report.charts.marks import intervals
from dbbench.report.charts.palette import Colours, engine_colours
from dbbench.report.run_view import View
from dbbench.report.step_view import Line, StepView
from dbbench.report.verdict import finding

#: What sites ask for, in pixels.
WIDTH, HEIGHT = 1200, 630
_DPI = 100
_MARGIN = 0.5
#: The most bars; the ones after are counted.
_MOST = 8
_NAME = 30


def card(shown: View) -> Figure | None:
    """A card of the first timed step with several engines, or else the first with a figure; None without one."""
    steps = [step for scenario in shown.scenarios for step in scenario.steps if step.lines]
    chosen = next((step for step in steps if not step.counted and finding(step)), next(iter(steps), None))
    if chosen is None:
        return None
    return _draw(shown, replace(chosen, lines=chosen.lines[:_MOST], failed=(*chosen.lines[_MOST:], *chosen.failed)))


def _draw(shown: View, step: StepView) -> Figure:
    figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor="white")
    y = _texts(figure, _cut(shown.title, 52, 2), 0.42, 0.46, size=25, weight="bold", color=INK)
    y = _texts(figure, _cut(finding(step), 88, 2), y + 0.08, 0.31, size=15.5, color=INK)
    scale = " (logarithmic axis)" if step.wide else ""
    y = _texts(figure, _cut(f"{step.step.title}: {step.measure}{scale}", 126, 2), y + 0.04, 0.3, size=11.5, color=GREY)
    foot = _footer(shown, step)
    end = HEIGHT / _DPI - 0.3 - 0.2 * len(foot)
    _texts(figure, foot, end, 0.2, size=9.5, color=GREY)
    _bars(figure, step, y + 0.12, end - 0.2, engine_colours(shown))
    return figure


def _footer(shown: View, step: StepView) -> list[str]:
    """What has to stand under a picture that goes out alone."""
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
        *(shown.remarks if shown.published else ()),
    ]
    where = f"dbbench {manifest.dbbench} · {manifest.created:%d %B %Y} · {shown.machine}"
    # What publishing asks for has to be there whole.
    return [*_cut(" ".join(filter(None, notes)), 165, 9 if shown.published else 3), *_cut(where, 165, 2)]


def _bars(figure: Figure, step: StepView, top: float, bottom: float, colours: Colours) -> None:
    lines = step.lines
    names = [textwrap.shorten(line.row.title, _NAME, placeholder="…") for line in lines]
    size = 14 if len(lines) <= 6 else 12
    values = [_value(line, step.unit) for line in lines]
    left = _MARGIN + inches([line.rank for line in lines], size) + 0.2 + inches(names, size) + 0.15
    right = inches(values, size) + _MARGIN + 0.2
    # Few bars stand close together at the top.
    height = min(bottom - top, 0.62 * len(lines))
    across, down = WIDTH / _DPI, HEIGHT / _DPI
    axes = figure.add_axes((left / across, 1 - (top + height) / down, (across - left - right) / across, height / down))
    axes.axis("off")
    axes.set_ylim(len(lines) - 0.5, -0.5)
    draw_values(axes, step, colours, logarithmic=step.wide, beyond=1.1 if step.wide else 1.02, dot=130, line=2)
    intervals(axes, known_intervals(enumerate(lines), step.unit), color=INK)
    for place, (line, name, value) in enumerate(zip(lines, names, values, strict=True)):
        y = 1 - (top + height * (place + 0.5) / len(lines)) / down
        texts: Any = {"va": "center", "fontsize": size, "color": INK}
        figure.text(_MARGIN / across, y, line.rank, **texts)
        figure.text((left - 0.15) / across, y, name, ha="right", **texts)
        if line.withheld:
            figure.text(left / across, y, line.value, style="italic", **{**texts, "color": GREY})
        else:
            figure.text((across - right + 0.2) / across, y, value, **texts)


def _value(line: Line, unit: Unit) -> str:
    if line.withheld:
        return ""
    return f"{unit.text(line.row.value or 0)}{'' if line.row.verified else ', not verified'}"


def _cut(text: str, width: int, most: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=most, placeholder=" …", break_on_hyphens=False)


def _texts(figure: Figure, lines: Sequence[str], y: float, step: float, **style: Any) -> float:
    """Lines from `y` inches below the top on; where the next one would be."""
    for line in lines:
        figure.text(_MARGIN / (WIDTH / _DPI), 1 - y / (HEIGHT / _DPI), line, va="top", ha="left", **style)
        y += step
    return y
