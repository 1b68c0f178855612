"""Overviews, each a table in colour: every engine and step of a scenario, and every engine and scenario of a suite."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing
from dbbench.analysis.units import amount
from dbbench.report.charts.layout import CAPTION, MARGIN, NAME, SMALL, Look, Sheet, Texts
from dbbench.report.charts.measure import widest, wrap
from dbbench.report.charts.scene import Box, Scene, Text
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import LEAST_SHARE, StepView, times
from dbbench.report.verdict import verdict
from dbbench.suite.charts import Overview

#: What the colours say, on a dark page too.
_SHADES = "The stronger the colour, the further behind."
#: On the cells, whose colours stay the same on a dark page; so these are none of those that change there.
_ON_LIGHT, _ON_DARK = "#191919", "#fefefe"
#: The darkest cell as a share of the colour map, and the shade from which texts are light.
_DARKEST, _DARK = 0.75, 0.8
#: The most columns that a page has side by side; page.js has it, too.
BAND = 9
#: The least width of a column and the height of a row, in pixels, and the most of a picture's width that names take.
_LEAST, _ROW, _NAMES = 62.0, 40.0, 0.3


@dataclass(frozen=True)
class Cell:
    """What a table has of an engine in a column: a ratio to the best and the text under it, or words without either."""

    ratio: float | None = None
    under: str = ""
    words: str = ""
    #: Whether it has the colour of its ratio.
    shaded: bool = True

    @property
    def text(self) -> str:
        """The ratio; a dash without anything."""
        return (
            "–" if self.ratio is None and not self.under else "" if self.ratio is None else f"×{times(self.ratio, 10)}"
        )

    @property
    def shade(self) -> float:
        """How dark it is: from 0 for the best itself to 1 for a hundred times and more."""
        return 0.0 if self.ratio is None or not self.shaded else float(min(np.log10(max(self.ratio, 1.0)) / 2, 1))


@dataclass(frozen=True)
class Table:
    """A table in colour: what it shows, its columns, and for each engine a standing and its cells."""

    subtitle: str
    heads: Sequence[str]
    engines: Sequence[Standing]
    cells: Sequence[Sequence[Cell]]

    @property
    def bands(self) -> Iterator[tuple[Sequence[str], list[tuple[str, Sequence[Cell]]]]]:
        """The columns in as many bands as a page's width needs: heads, and each engine's title and cells."""
        length = -(-len(self.heads) // -(-len(self.heads) // BAND)) if self.heads else 1
        for first in range(0, len(self.heads), length):
            part = slice(first, first + length)
            rows = [(item.title, row[part]) for item, row in zip(self.engines, self.cells, strict=True)]
            yield self.heads[part], rows


def figures(_chart: Overview, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """One chart of all steps."""
    yield "overview", overview(scenario, look)


def of_steps(scenario: ScenarioView) -> Table:
    """Every engine and step as a multiple of the step's best, with the figure itself under it."""
    engines = scenario.standings
    interval = ", with its interval" if any(item.low is not None for item in engines) else ""
    order = f"engines by {scenario.order}; mean: " if scenario.order else "engines by "
    subtitle = (
        f"Multiple of the step's best, with the figure under it; {order}the geometric mean over the timed "
        f"steps{interval}. {_SHADES}"
    )
    heads = ["mean", *(view.step.name.replace("-", " ") for view in scenario.steps)]
    cells = [[_mean(item), *(_cell(item, view) for view in scenario.steps)] for item in engines]
    return Table(subtitle, heads, engines, cells)


def of_scenarios(shown: View) -> Table:
    """Every engine and scenario: the geometric mean of its ratios to the best, with the interval under it."""
    engines, scenarios = shown.across, shown.scenarios
    interval = ", with its interval" if any(item and item.low is not None for row in engines for item in row) else ""
    subtitle = (
        f"How many times the best of each step, as the geometric mean over a scenario's timed steps{interval}. "
        f"Engines by the geometric mean of their row. {_SHADES}"
    )
    firsts = [next(filter(None, row)) for row in engines]
    cells = [[_scenario_cell(item, scenario) for item, scenario in zip(row, scenarios, strict=True)] for row in engines]
    return Table(subtitle, [each.scenario.title for each in scenarios], firsts, cells)


def overview(scenario: ScenarioView, look: Look) -> Scene:
    """The table of a scenario's steps."""
    table = of_steps(scenario)
    found = verdict(scenario).partition(". ")[0] if len(table.engines) > 1 else ""
    title, said = f"{scenario.suite_title}: overview", _said(table.engines)
    return _drawn(Texts(title, table.subtitle, _harness(scenario.steps), found, said), table, look)


def across(shown: View, look: Look) -> Scene:
    """The table of all scenarios."""
    table = of_scenarios(shown)
    return _drawn(Texts(f"{shown.title}: all scenarios", table.subtitle, figures=_said(table.engines)), table, look)


def _drawn(texts: Texts, table: Table, look: Look) -> Scene:
    """Columns in as many bands, one under another, as leave room for their figures."""
    sheet, heads, engines = Sheet(texts, look), table.heads, table.engines
    names = min(widest([item.title for item in engines], NAME), look.width * _NAMES)
    left = MARGIN + names + 24
    room = look.width - MARGIN - left
    bands = -(-len(heads) // max(1, int(room / _LEAST)))
    length = -(-len(heads) // bands) if heads else 1
    column = room / length
    for first in range(0, len(heads), length):
        part = slice(first, first + length)
        titles = [wrap(head, SMALL - 1, column - 4, lines=4) for head in heads[part]]
        sheet.y += 6 + 14 * max(map(len, titles))
        for place, lines in enumerate(titles):
            top = sheet.y - 14 * (len(lines) - 1) - 4
            bold = not first and not place and heads[0] == "mean"
            sheet.scene.text(left + (place + 0.5) * column, top, lines, SMALL - 1, anchor="middle", bold=bold)
        for item, row in zip(engines, table.cells, strict=True):
            lines = wrap(item.title, NAME, names)
            height = max(_ROW, len(lines) * NAME * 1.28 + 4)
            middle = sheet.y + height / 2
            sheet.scene.level(left - 16, middle, lines, NAME, anchor="end")
            sheet.scene.marks.append(Box(left - 10, sheet.y + 6, 5, height - 12, look.colour(item.engine)))
            _row(sheet.scene, row[part], left, column, sheet.y, height)
            sheet.y += height
    return sheet.finished()


def _row(scene: Scene, cells: Sequence[Cell], left: float, column: float, top: float, height: float) -> None:
    """The cells of an engine."""
    middle = top + height / 2
    for place, cell in enumerate(cells):
        x = left + (place + 0.5) * column
        ink = "ink" if not cell.shaded else _ON_DARK if cell.shade > _DARK else _ON_LIGHT
        if cell.words:
            size = min(CAPTION, CAPTION * (column - 4) / widest(cell.words.split(), CAPTION))
            for at, line in enumerate(lines := wrap(cell.words, size, column - 3, lines=2)):
                y = middle + 4 + (at - (len(lines) - 1) / 2) * 13
                scene.marks.append(Text(x, y, line, size, "grey", "middle", italic=True))
            continue
        if cell.shaded:
            colour = to_hex(mpl.colormaps["Blues"](cell.shade * _DARKEST))
            scene.marks.append(Box(x - column / 2 + 1, top + 1, column - 2, height - 2, colour))
        if cell.text:
            size = min(NAME - 1.5, (column - 4) / len(cell.text) * 1.6)
            y = middle - (2 if cell.under else -4)
            scene.marks.append(Text(x, y, cell.text, size, ink, "middle", bold=not cell.shaded))
        if cell.under:
            faint = ink if cell.shaded else "grey"
            size = min(CAPTION, (column - 4) / len(cell.under) * 1.7)
            scene.marks.append(Text(x, middle + 12, cell.under, size, faint, "middle"))


def _mean(item: Standing, *, shaded: bool = False) -> Cell:
    under = "" if item.low is None or item.high is None else f"{times(item.low, 10)}–{times(item.high, 10)}"
    return Cell(item.mean_ratio, under, shaded=shaded)


def _scenario_cell(item: Standing | None, scenario: ScenarioView) -> Cell:
    if item is None or not item.mean_ratio:
        return Cell(words="withheld" if item is not None and item.engine in scenario.withheld else "–")
    return _mean(item, shaded=True)


def _cell(item: Standing, view: StepView) -> Cell:
    """A result: its ratio to the best with the figure under it, in a unit of its own."""
    row: Row | None = item.rows.get(view.step.name)
    if row is None:
        return Cell(words="–")
    if row.value is None:
        return Cell(words="withheld" if row.withheld else str(row.outcome))
    return Cell(row.ratio.value if row.ratio else None, amount(row.unit or "s", row.value))


def _said(engines: Sequence[Standing]) -> str:
    return "; ".join(f"{item.title} ×{times(item.mean_ratio, 10)}" for item in engines if item.mean_ratio)


def _harness(steps: Sequence[StepView]) -> list[str]:
    """The harness's greatest share of any result, named."""
    shares = [(line.row.harness_share or 0, step, line) for step in steps for line in step.lines]
    share, step, line = max(shares, key=lambda item: item[0], default=(0, None, None))
    if step is None or line is None or share < LEAST_SHARE:
        return []
    return [f"dbbench's own overhead: at most {share:.1%} ({line.row.title}, {step.step.name.replace('-', ' ')})."]
