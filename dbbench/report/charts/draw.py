"""The charts that a suite asks for, as SVG and PNG files.

Each kind has a module here with the kind's name. Its `figures` yields, for a chart of `suite.charts`, the end of each
file's name and its figure.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from dbbench.report.charts.card import card
from dbbench.report.charts.curves import curves
from dbbench.report.charts.layout import STYLE, save
from dbbench.report.charts.overview import across
from dbbench.report.charts.palette import engine_colours
from dbbench.report.charts.theme import dress
from dbbench.report.run_view import ScenarioView, View

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
            figure = across(shown, shown.captions(shown.scenarios[0].scenario), engine_colours(shown))
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
        figure = curves(scenario, found, changes, captions)
        if figure is not None:
            yield stem(scenario, f"over_{found.name}"), figure
    for chart in scenario.charts:
        for name, figure in import_module(f"{__package__}.{chart.kind}").figures(chart, scenario, captions, colours):
            yield stem(scenario, name), figure
