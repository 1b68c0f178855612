"""Calls and their p99 over the seconds of a step: a curve for each engine, of its last round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from dbbench.analysis.units import fitting
from dbbench.report.charts.labelled import MOST, TOP, dress, label_ends, label_width, styles
from dbbench.report.charts.layout import ROW, Sheet
from dbbench.report.charts.palette import Colours
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, StepView
from dbbench.results.facts import TimelineFacts
from dbbench.suite.charts import Timeline

#: Rows of the usual height that each of the two halves takes, and that lie between them.
_ROWS, _BETWEEN = 5, 1.3
#: Points beside their curve, where there are few enough to be seen.
_DOTS = 40
#: Within this ratio an axis has figures between the powers of ten.
_NARROW = 50


def figures(
    chart: Timeline, scenario: ScenarioView, captions: Sequence[str], colours: Colours
) -> Iterator[tuple[str, Figure]]:
    """A chart for each step with a rate or a duration."""
    for view in scenario.named(chart.steps):
        if (chart.steps or getattr(view.step, "seconds", None)) and has_timeline(view):
            yield f"{view.step.name}-timeline", timeline(view, captions, colours)


def has_timeline(view: StepView) -> bool:
    """Whether an engine of the step has figures over its seconds."""
    return bool(_known(view))


def timeline(view: StepView, captions: Sequence[str], colours: Colours) -> Figure:
    """Above the calls that ended in each second, below the p99 of their times."""
    known = _known(view)
    shown = dict(list(known.items())[:MOST])
    rounds = " of the last round" if view.rounds > 1 else ""
    notes = [f"Not drawn: {', '.join(title for title in known if title not in shown)}."] if len(known) > MOST else []
    driven = view.wording.driven(view.step)
    sheet = Sheet(
        view.step.title,
        f"each second{rounds}{f'; {driven}' if driven else ''}",
        2 * _ROWS + _BETWEEN,
        notes,
        captions,
        left=0.8,
        right=label_width(list(shown)),
        axis=0.55,
        head=TOP,
    )
    below, drawn = sheet.axes, styles([view], list(shown), colours)
    left, bottom, width, height = below.get_position().bounds
    share = _ROWS / (2 * _ROWS + _BETWEEN)
    below.set_position((left, bottom, width, height * share))
    above = sheet.figure.add_axes((left, bottom + height * (1 - share), width, height * share), sharex=below)
    rates = {title: np.array(each["calls"]) / each["seconds"] for title, each in shown.items()}
    tails = {title: np.array([np.nan if t is None else t for t in each["p99"]]) / 1e9 for title, each in shown.items()}
    rate_unit = fitting("1/s", [float(rate) for each in rates.values() for rate in each if rate])
    tail_unit = fitting("s", [float(tail) for each in tails.values() for tail in each if tail > 0])
    for title, each in shown.items():
        x = (np.arange(len(each["calls"])) + 1) * each["seconds"]
        dots = drawn[title] | ({} if len(x) <= _DOTS else {"marker": ""})
        above.plot(x, rates[title] / rate_unit.size, **dots)
        below.plot(x, tails[title] / tail_unit.size, **dots)
    most = max((float(each.max()) for each in rates.values()), default=1) / rate_unit.size
    above.set_ylim(0, most * 1.1 or 1)
    if shown and any(np.nanmax(each, initial=0) for each in tails.values()):
        _fit(below, [float(tail) for each in tails.values() for tail in each if tail > 0], tail_unit.size)
    better = "" if getattr(view.step, "rate", None) else ", more is better"
    dress(above, f"{rate_unit.symbol.removesuffix('/s')} calls per second{better}".strip())
    dress(below, f"p99 of a call in {tail_unit.symbol}, less is better{_scale(below)}")
    below.set_xlabel("seconds from the start", fontsize=8.5)
    below.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    below.set_xlim(left=0)
    above.tick_params(labelbottom=False)
    label_ends(above, [(title, float(each[-1]) / rate_unit.size) for title, each in rates.items()], _ROWS * ROW, drawn)
    ends = [(title, _last(each) / tail_unit.size) for title, each in tails.items()]
    label_ends(below, ends, _ROWS * ROW, drawn)
    return sheet.figure


def _known(view: StepView) -> dict[str, TimelineFacts]:
    """Title -> figures over the seconds, best engine first; without those whose figures are withheld."""
    return {
        line.row.title: line.row.facts["timeline"]
        for line in view.lines
        if not line.withheld and line.row.facts and line.row.facts.get("timeline")
    }


def _fit(axes: Any, values: Sequence[float], size: float) -> None:
    """Scale an axis from 0, or logarithmically where the values lie far apart."""
    if max(values) / min(values) <= WIDE_RANGE / 10:
        axes.set_ylim(0, max(values) / size * 1.1)
        return
    axes.set_yscale("log")
    subs = (1, 2, 5) if max(values) / min(values) < _NARROW else (1,)
    axes.set_ylim(min(values) / size / 1.3, max(values) / size * 1.3)
    axes.yaxis.set_major_locator(LogLocator(10, subs=subs))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter("{x:,g}")


def _scale(axes: Any) -> str:
    return " (logarithmic axis)" if axes.get_yscale() == "log" else ""


def _last(values: Any) -> float:
    """The last value that is known."""
    known = values[~np.isnan(values)]
    return float(known[-1]) if len(known) else 0.0
