"""The charts that a suite asks for, as SVG and PNG files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from dbbench.report.bars import bars, sizes
from dbbench.report.overview import overview
from dbbench.report.percentiles import percentiles
from dbbench.report.sheet import STYLE, save
from dbbench.report.spans import spans
from dbbench.report.stacks import stacks
from dbbench.report.view import ScenarioView, View
from dbbench.suite import Bars, Overview, Percentiles, SizeChart, Spans, Stacks


def draw(shown: View, folder: Path, formats: Sequence[str]) -> list[str]:
    """Draw every chart that the suite asks for; the stems of the files, in order."""
    stems = []
    with mpl.rc_context(STYLE):
        for scenario in shown.scenarios:
            for stem, figure in figures(shown, scenario):
                save(figure, folder / stem, formats)
                stems.append(stem)
    return stems


def stem(scenario: ScenarioView, name: str) -> str:
    """The file name of a chart without its ending."""
    return f"{scenario.scenario.name}-{name}"


def figures(shown: View, scenario: ScenarioView) -> Iterator[tuple[str, Figure]]:
    """Each chart of a scenario that the suite asks for and that has something to show, with its stem."""
    captions = shown.captions(scenario.scenario)
    there = [view.step.name for view in scenario.steps]
    for chart in scenario.charts:
        match chart:
            case Overview():
                yield stem(scenario, "overview"), overview(shown.title, scenario, captions)
            case Bars(steps=steps, axis=axis):
                for name in steps or [view.step.name for view in scenario.steps if view.step.kind != "size"]:
                    if name in there:
                        yield stem(scenario, name), bars(scenario.step(name), axis, captions)
            case SizeChart(step=name) if name in there:
                yield stem(scenario, name), sizes(scenario.step(name), captions)
            case Percentiles(steps=steps):
                for name in steps or there:
                    if name in there and any(line.tails for line in scenario.step(name).lines):
                        yield stem(scenario, f"{name}-percentiles"), percentiles(scenario.step(name), captions)
            case Spans(title=title, cold=cold, warm=warm) if cold in there and warm in there:
                yield stem(scenario, f"{warm}-span"), spans(title, scenario.step(cold), scenario.step(warm), captions)
            case Stacks(steps=steps):
                for name in steps or [view.step.name for view in scenario.steps if view.step.kind == "objects"]:
                    if name in there:
                        yield stem(scenario, f"{name}-parts"), stacks(scenario.step(name), captions)
