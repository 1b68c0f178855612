"""The charts that a suite asks for, as SVG and PNG files."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from dbbench.report.charts.bars import bars, sizes
from dbbench.report.charts.card import card
from dbbench.report.charts.curves import curves
from dbbench.report.charts.layout import STYLE, save
from dbbench.report.charts.overview import across, overview
from dbbench.report.charts.palette import engine_colours
from dbbench.report.charts.percentiles import percentiles
from dbbench.report.charts.spans import spans
from dbbench.report.charts.sweep import sweep
from dbbench.report.charts.theme import dress
from dbbench.report.charts.time_breakdown import time_breakdown
from dbbench.report.charts.timeline import has_timeline, timeline
from dbbench.report.run_view import ScenarioView, View
from dbbench.suite.charts import Bars, Overview, Percentiles, SizeChart, Spans, Stacks, Sweep, Timeline

#: The stem of the chart over all scenarios. Those of a scenario's charts have a hyphen.
ACROSS = "scenarios"


def draw(
    shown: View, folder: Path, formats: Sequence[str], *, theme: str = "light", width: int | None = None
) -> list[str]:
    """Draw every chart that the suite asks for; the stems of the files, in order. The format "card" is one picture more."""
    stems = []
    files = [name for name in formats if name != "card"]
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # A name may have an emoji. The reader's browser has a font with it; a PNG shows a box.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        if "card" in formats and (found := card(shown)):
            dress(found, theme)
            save(found, folder / "card", ["png"])
        if files and shown.across:
            figure = across(
                shown.title,
                shown.scenarios,
                shown.across,
                shown.captions(shown.scenarios[0].scenario),
                engine_colours(shown),
            )
            dress(figure, theme)
            save(figure, folder / ACROSS, files, width)
            stems.append(ACROSS)
        for scenario in shown.scenarios if files else ():
            for stem, figure in figures(shown, scenario):
                dress(figure, theme)
                save(figure, folder / stem, files, width)
                stems.append(stem)
    return stems


def stem(scenario: ScenarioView, name: str) -> str:
    """The file name of a chart without its ending."""
    return f"{scenario.scenario.name}-{name}"


def figures(shown: View, scenario: ScenarioView) -> Iterator[tuple[str, Figure]]:
    """Each chart of a scenario that the suite asks for and that has something to show, with its stem."""
    captions, colours = shown.captions(scenario.scenario), engine_colours(shown)
    for found, changes in shown.series:
        figure = curves(shown.title, scenario, found, changes, captions)
        if figure is not None:
            yield stem(scenario, f"over_{found.name}"), figure
    there = [view.step.name for view in scenario.steps]
    for chart in scenario.charts:
        match chart:
            case Overview():
                yield stem(scenario, "overview"), overview(shown.title, scenario, captions, colours)
            case Bars(steps=steps, axis=axis):
                for name in steps or [view.step.name for view in scenario.steps if not view.counted]:
                    if name in there:
                        yield stem(scenario, name), bars(scenario.step(name), axis, captions, colours)
            case SizeChart(step=name) if name in there:
                yield stem(scenario, name), sizes(scenario.step(name), captions, colours)
            case Percentiles(steps=steps):
                for name in steps or there:
                    if name in there and any(line.tails for line in scenario.step(name).lines):
                        yield stem(scenario, f"{name}-percentiles"), percentiles(scenario.step(name), captions, colours)
            case Spans(title=title, cold=cold, warm=warm) if cold in there and warm in there:
                yield (
                    stem(scenario, f"{warm}-span"),
                    spans(title, scenario.step(cold), scenario.step(warm), captions, colours),
                )
            case Sweep(steps=steps):
                swept = [str(of) for view in scenario.steps if (of := getattr(view.step, "swept", None))]
                for name in steps or dict.fromkeys(swept):
                    if views := [view for view in scenario.steps if getattr(view.step, "swept", None) == name]:
                        yield stem(scenario, f"{name}-sweep"), sweep(views, captions, colours)
            case Timeline(steps=steps):
                for name in steps or [view.step.name for view in scenario.steps if getattr(view.step, "seconds", None)]:
                    if name in there and has_timeline(scenario.step(name)):
                        yield stem(scenario, f"{name}-timeline"), timeline(scenario.step(name), captions, colours)
            case Stacks(steps=steps):
                for name in steps or [view.step.name for view in scenario.steps if view.wording.in_parts]:
                    if name in there:
                        yield stem(scenario, f"{name}-parts"), time_breakdown(scenario.step(name), captions, colours)
