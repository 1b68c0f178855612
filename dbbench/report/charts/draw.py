"""The charts that a suite asks for, as SVG and PNG files.

Each kind has a module here with the kind's name. Its `figures` yields, for a chart of `suite.charts`, the end of each
file's name and its scene. The pages show a chart beside a step if that end is STEP-KIND and the module has `SHOWS`,
words for what such a chart shows.
"""

import warnings
from collections.abc import Container, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from dbbench.report.charts.card import WIDTH as CARD_WIDTH
from dbbench.report.charts.card import card
from dbbench.report.charts.curves import curves
from dbbench.report.charts.layout import WIDTH, Look, save
from dbbench.report.charts.overview import across
from dbbench.report.charts.palette import engine_colours
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import StepView
from dbbench.suite.charts import AnyChart, Tradeoff
from dbbench.suite.model import Scenario

#: The kinds of charts that the page has as bars and tables: it shows others as pictures.
_BARS = ("overview", "bars", "size")
#: The stem of the chart over all scenarios. Those of a scenario's charts have a hyphen.
ACROSS = "scenarios"


def draw(
    shown: View, folder: Path, formats: Sequence[str], *, theme: str = "light", width: int | None = None
) -> list[str]:
    """Draw every chart that the suite asks for; the stems of the files, in order. "card" is one picture more.

    A picture is laid out anew for its `width`; letters stay of their size.
    """
    stems = []
    files = [name for name in formats if name != "card"]
    with warnings.catch_warnings():
        # A name may have an emoji. The reader's browser has a font with it; a PNG shows a box.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        if "card" in formats and (found := card(shown, Look(engine_colours(shown)))):
            save(found, folder / "card", ["png"], theme=theme, width=CARD_WIDTH)
        if files and shown.across:
            scene = across(shown, look(shown, shown.scenarios[0].scenario, width))
            save(scene, folder / ACROSS, files, theme=theme, width=width)
            stems.append(ACROSS)
        for scenario in shown.scenarios if files else ():
            for stem, scene in figures(shown, scenario, width):
                save(scene, folder / stem, files, theme=theme, width=width)
                stems.append(stem)
    return stems


def stem(scenario: ScenarioView, name: str) -> str:
    """The file name of a chart without its ending."""
    return f"{scenario.scenario.name}-{name}"


def of_several(shown: View, scenario: ScenarioView, stems: Container[str]) -> list[str]:
    """Stems of the charts of several steps, which stand before the steps on the page."""
    names = (
        *(f"over_{found.name}" for found, _ in shown.series),
        *(f"{getattr(view.step, 'swept', '')}-sweep" for view in scenario.steps),
        *(f"{'-'.join(chart.steps)}-by-{chart.against}" for chart in scenario.charts if isinstance(chart, Tradeoff)),
    )
    return [found for name in dict.fromkeys(names) if (found := stem(scenario, name)) in stems]


def of_step(scenario: ScenarioView, step: StepView, stems: Container[str]) -> list[tuple[str, str]]:
    """Stems of the charts of one step besides its bars, each with what it shows."""
    kinds = {chart.kind: getattr(_module(chart.kind), "SHOWS", "") for chart in scenario.charts}
    named = ((stem(scenario, f"{step.step.name}-{kind}"), shows) for kind, shows in kinds.items())
    return [(found, shows) for found, shows in named if shows and found in stems]


def look(shown: View, scenario: Scenario, width: int | None = None) -> Look:
    """What the charts of a scenario share."""
    return Look(engine_colours(shown), shown.captions(scenario), width or WIDTH, alone=shown.alone)


def figures(shown: View, scenario: ScenarioView, width: int | None = None) -> Iterator[tuple[str, Scene]]:
    """Each chart of a scenario that the suite asks for and that has something to show, with its stem."""
    yield from _scenes(shown, scenario, scenario.charts, look(shown, scenario.scenario, width))


def pictures(shown: View) -> Iterator[tuple[str, Scene]]:
    """The charts of all scenarios that the page shows as pictures, without the notes that it has itself."""
    bare = Look(engine_colours(shown), within=True)
    for scenario in shown.scenarios:
        charts = [chart for chart in scenario.charts if chart.kind not in _BARS]
        yield from _scenes(shown, scenario, charts, bare)


def _scenes(
    shown: View, scenario: ScenarioView, charts: Sequence[AnyChart], shared: Look
) -> Iterator[tuple[str, Scene]]:
    for found, changes in shown.series:
        scene = curves(scenario, found, changes, shared)
        if scene is not None:
            yield stem(scenario, f"over_{found.name}"), scene
    for chart in charts:
        for name, scene in _module(chart.kind).figures(chart, scenario, shared):
            yield stem(scenario, name), scene


def _module(kind: str) -> ModuleType:
    return import_module(f"{__package__}.{kind}")
