"""Best-to-worst bars of one step, and what all charts of a step's rows have."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dbbench.analysis.units import Unit
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import Look, Texts
from dbbench.report.charts.rows import Interval, Part, Row, RowChart, Value, drawn
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import BOUND_SHARE, NOTABLE_SHARE, Line, StepView
from dbbench.report.verdict import finding
from dbbench.suite.charts import Bars

ARROW_NOTE = "Hatched or hollow: Arrow batches. Plain: rows."


def figures(chart: Bars, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """A chart for each step named, or for each that isn't a size."""
    for view in scenario.named(chart.steps):
        if chart.steps or not view.counted:
            yield view.step.name, drawn(bars(view, chart.axis, look), look)


def bars(view: StepView, axis: str, look: Look) -> RowChart:
    """One step: a bar for each engine with its interval, the failed ones named under them."""
    lines = view.lines
    logarithmic = any(line.row.value for line in lines) and (axis == "logarithmic" or (axis == "auto" and view.wide))
    scale = fitting_axis(reach(lines, view.unit), logarithmic=logarithmic)
    rows = step_rows(view, look)
    for place, line in enumerate(lines):
        row = bar(rows[place], (line.row.value or 0.0) / view.unit.size, scale, arrow=view.mixed and line.arrow)
        rows[place] = replace(row, intervals=intervals(line, view.unit))
    return RowChart(texts(view, logarithmic=logarithmic), rows, scale, heads(view))


def bar(row: Row, value: float, axis: Axis, *, arrow: bool = False) -> Row:
    """The row with its bar, or on a logarithmic axis a point at the end of a thin line; `arrow`: hatched or hollow."""
    if value and axis.logarithmic:
        line = Part(axis.low, value, ink="line", height=0.06)
        return replace(row, parts=[line], values=[Value(value, hollow=arrow)])
    return replace(row, parts=[Part(0, value, hatch="slash" if arrow else "")] if value else [])


def texts(view: StepView, *, title: str = "", logarithmic: bool = False) -> Texts:
    """What stands over and under a chart of a step; its finding only where the title is the step's own."""
    subtitle = view.measure + (" (logarithmic axis)" if logarithmic else "")
    said = "; ".join(
        f"{line.row.title} {line.value if line.withheld else view.unit.text(line.row.value or 0)}"
        for line in (*view.lines, *view.failed)
    )
    found = "" if title else finding(view)
    return Texts(title or view.step.title, subtitle, finding=found, figures=said, usual_notes=notes(view))


def step_rows(view: StepView, look: Look) -> list[Row]:
    """A row for each engine with its rank, name and figures, or with the words that stand in place of a bar."""
    return [step_row(view, line, look) for line in (*view.lines, *view.failed)]


def step_row(view: StepView, line: Line, look: Look) -> Row:
    """The row of one engine, without a bar."""
    ink, title = look.colour(line.row.engine), line.called
    faint = line.row.value is None
    if line.withheld or line in view.failed:
        return Row(title, ink, line.rank, words=f"{line.value}{superscript(line.mark)}", faint=faint)
    value = f"{view.unit.text(line.row.value or 0)}{superscript(line.mark)}"
    return Row(title, ink, line.rank, (value, _ratio(line), harness(line), line.retries))


def heads(view: StepView) -> tuple[str, str, str, str]:
    """Headings of the columns of `step_rows`."""
    ratio = f"times {'slower' if view.paced else 'larger'}\nthan best" if any(map(_ratio, view.lines)) else ""
    return "", ratio, "", ""


def notes(view: StepView, *, marked: bool = True) -> list[str]:
    """What stands under a chart of a step: footnotes, conditions, and what the harness takes.

    `marked`: whether its lines mark what is bound by the harness.
    """
    found = [f"{superscript(str(number))} {note}" for number, note in enumerate(view.footnotes, 1)]
    if view.mixed:
        found.append(ARROW_NOTE)
    if view.conditions:
        found.append(view.conditions)
    if note := view.harness_note(marked=marked):
        found.append(note[0].upper() + note[1:] + ".")
    return found


def intervals(line: Line, unit: Unit, beside: float = 0.0, ink: str = "ink") -> list[Interval]:
    """The interval of a row's figure; none where it has none."""
    low, high = line.row.low, line.row.high
    return [] if low is None or high is None else [Interval(low / unit.size, high / unit.size, beside, ink)]


def reach(lines: Iterable[Line], unit: Unit) -> list[float]:
    """Figures and ends of intervals, in the unit of the step."""
    return [
        each / unit.size for line in lines for each in (line.row.value, line.row.low, line.row.high) if each is not None
    ]


def _ratio(line: Line) -> str:
    """The ratio to the best; none for the best itself."""
    best = line.row.ratio is not None and line.row.ratio.low is None and line.row.ratio.value == 1
    return "" if best or line.withheld else line.ratio


def harness(line: Line) -> str:
    """The harness's share, where it is more than a trifle; `!` marks what is bound by it."""
    share = line.row.harness_share or 0.0
    return f"harness {share:.0%}{'!' if share > BOUND_SHARE else ''}" if share > NOTABLE_SHARE else ""


def superscript(number: str) -> str:
    """The number of a footnote, raised."""
    return number.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
