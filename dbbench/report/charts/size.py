"""Best-to-worst bars of sizes in their parts."""

from collections.abc import Iterator
from dataclasses import replace

from dbbench.report.charts.axis import fitting_axis
from dbbench.report.charts.bars import heads, step_rows, texts
from dbbench.report.charts.layout import Look
from dbbench.report.charts.rows import Part, RowChart, drawn
from dbbench.report.charts.scene import Box, Mark, Scene, Stroke
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import StepView
from dbbench.suite.charts import SizeChart

#: Part of a size -> what the key calls it, and its tone and hatch.
PARTS = {
    "data": ("data", 1.0, ""),
    "both": ("data with indexes", 1.0, "slash"),
    "index": ("indexes", 0.5, ""),
    "journal": ("log in use", 0.25, ""),
    "other": ("other", 0.45, "bar"),
    # Not ranked: on disk, and no cost of the data.
    "reserved": ("log reserved (not ranked)", 0.18, "dot"),
    "empty": ("empty database (not ranked)", 0.1, ""),
}
#: The least part of the greatest size that the key names.
_SEEN = 0.005
#: How far the axis goes at most, as a multiple of the greatest figure: what isn't ranked may be far more, and is cut
#: off.
_REACH = 1.6


def figures(chart: SizeChart, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """The chart of a size step."""
    for view in scenario.named([chart.step]):
        yield view.step.name, drawn(sizes(view, look), look)


def sizes(view: StepView, look: Look) -> RowChart:
    """Sizes in parts, with the size of what the engine was given as a line."""
    unit, csv_bytes = view.unit, view.data.csv_bytes
    rows = step_rows(view, look)
    ends = [0.0]
    for place, line in enumerate(view.lines):
        left, parts = 0.0, []
        for name, (_, tone, hatch) in PARTS.items():
            if part := line.row.size_parts.get(name, 0.0) / unit.size:
                parts.append(Part(left, left + part, tone, hatch))
                left += part
        rows[place] = replace(rows[place], parts=parts)
        if line.row.kept_size_parts:
            cells = (*rows[place].cells[:2], f"{unit.text(left * unit.size)} on disk")
            rows[place] = replace(rows[place], cells=cells)
        ends.append(left)
    figures = [(line.row.value or 0.0) / unit.size for line in view.lines]
    reach = min(max(ends), _REACH * max(figures)) if view.in_parts and any(figures) else max(ends)
    cut = "not ranked, cut off" if reach < max(ends) else "not ranked"
    keys = [
        key_of(text.replace("not ranked", cut), tone, hatch)
        for name, (text, tone, hatch) in PARTS.items()
        if _seen(view, name, reach)
    ]
    if csv_bytes:
        dashed: Mark = Stroke((((0, -6), (0, 6)),), "grey", 1.2, (5, 2))
        keys.append(
            (dashed, f"{'keys and values' if view.data.records else f'as {view.data.form}'}: {unit.text(csv_bytes)}")
        )
    marked = csv_bytes / unit.size if csv_bytes else None
    axis = fitting_axis([reach, marked or 0.0], logarithmic=False)
    return RowChart(texts(view), rows, axis, heads(view), keys if view.lines else (), marked)


def key_of(text: str, tone: float, hatch: str) -> tuple[Mark, str]:
    """An entry of a key for a part of a bar."""
    return Box(-8, -6, 16, 12, "grey", tone, hatch), text


def _seen(view: StepView, name: str, greatest: float) -> bool:
    return any(line.row.size_parts.get(name, 0) / view.unit.size > _SEEN * greatest for line in view.lines)
