"""Best-to-worst bars in parts: where the time of loading an object goes, and what happens once beside it."""

from collections.abc import Iterator
from dataclasses import replace

from dbbench.analysis.units import amount
from dbbench.report.charts.axis import fitting_axis
from dbbench.report.charts.bars import heads, intervals, reach, step_rows, texts
from dbbench.report.charts.layout import Look
from dbbench.report.charts.rows import Part, RowChart, drawn
from dbbench.report.charts.scene import Scene
from dbbench.report.charts.size import key_of
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView
from dbbench.suite.charts import Stacks

SHOWS = "where the time goes"
_WHOLE = "not told apart"
#: Part -> what the key calls it, and the tone and hatch, so that neither is needed to tell them apart.
_PARTS = {
    "execute": ("execute (driver)", 1.0, ""),
    "fetch": ("fetch (driver)", 0.55, "bar"),
    "materialise": ("materialise (objects and everything else above the driver)", 0.3, "slash"),
    _WHOLE: (_WHOLE, 0.3, ""),
}


def figures(chart: Stacks, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """A chart for each step that loads objects."""
    for view in scenario.named(chart.steps):
        if chart.steps or view.wording.in_parts:
            yield f"{view.step.name}-stacks", drawn(time_breakdown(view, look), look)


def time_breakdown(view: StepView, look: Look) -> RowChart:
    """One step: a bar for each engine, made of its parts; at the right to connect, and to prepare."""
    rows, seen = step_rows(view, look), set[str]()
    for place, line in enumerate(view.lines):
        if line.withheld:
            continue
        found, left, parts = line.row.parts, 0.0, []
        for name, seconds in ((found.parts if found else {}) or {_WHOLE: line.row.value or 0.0}).items():
            part = seconds / view.unit.size
            _, tone, hatch = _PARTS[name]
            parts.append(Part(left, left + part, tone, hatch))
            left += part
            seen.add(name)
        once = [amount("s", each) for each in ((found.connect, found.prepare) if found else ())]
        cells = (*rows[place].cells, *(once or ["", ""]))
        rows[place] = replace(rows[place], cells=cells, parts=parts, intervals=intervals(line, view.unit))
    axis = fitting_axis(reach(view.lines, view.unit), logarithmic=False)
    keys = [key_of(*entry) for name, entry in _PARTS.items() if name in seen]
    title = f"{view.step.title}: where the time goes"
    return RowChart(texts(view, title=title), rows, axis, (*heads(view), "connect", "prepare"), keys)
