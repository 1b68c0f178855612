"""How long the calls of a step took: a dot for each percentile and engine, by operation where there are several."""

from collections.abc import Iterator

from dbbench.analysis.recorded import TAIL
from dbbench.analysis.units import amount, fitting
from dbbench.report.charts.axis import fitting_axis
from dbbench.report.charts.bars import notes, superscript
from dbbench.report.charts.layout import Look, Texts
from dbbench.report.charts.rows import Part, Row, RowChart, Value, drawn
from dbbench.report.charts.scene import Dot, Scene
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import Line, StepView
from dbbench.suite.charts import Percentiles

SHOWS = "how long a call took"
#: The percentiles and the greatest: name, shape and size. The colour is the engine's.
_DOTS = tuple(
    zip((*TAIL, "max"), ("circle", "square", "diamond", "up", "tick"), (9.0, 8.5, 9.0, 9.5, 11.0), strict=True)
)


def figures(chart: Percentiles, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """A chart for each step with percentiles."""
    for view in scenario.named(chart.steps):
        if any(line.tails for line in view.lines):
            yield f"{view.step.name}-percentiles", drawn(percentiles(view, look), look)


def percentiles(view: StepView, look: Look) -> RowChart:
    """One step: engines in the order of its own chart, on a logarithmic axis."""
    operations = list(dict.fromkeys(name for line in view.lines for name in line.tails))
    headings = len(operations) > 1
    rows: list[Row] = []
    for operation in operations:
        rows += [Row(operation, heading=True)] * headings
        rows += [_row(line, operation, look) for line in view.lines if operation in line.tails or line.withheld]
    rows += [Row("no figure", heading=True)] * (headings and bool(view.failed))
    rows += [_row(line, "", look) for line in view.failed]
    points = [point for line in view.lines for tail in line.tails.values() for point in tail.points if point]
    drawn_places = {
        place for line in view.lines for tail in line.tails.values() for place, point in enumerate(tail.points) if point
    }
    rounds = "medians of the rounds'" if view.rounds > 1 else "one round"
    texts = Texts(
        f"{view.step.title}: how long {view.wording.call(view.step)} took",
        f"Percentiles, less is better; {rounds} (logarithmic axis)",
        _few(view),
        figures="; ".join(row.said() for row in rows),
        usual_notes=notes(view, marked=False),
    )
    keys = [
        (Dot(0, 0, "grey", shape, size), name)
        for place, (name, shape, size) in enumerate(_DOTS)
        if place in drawn_places
    ]
    return RowChart(texts, rows, fitting_axis(points, logarithmic=True), ("p50", "p99"), keys, tick=_time)


def _row(line: Line, operation: str, look: Look) -> Row:
    title, ink = line.called, look.colour(line.row.engine)
    mark = superscript(line.mark)
    if line.withheld or not operation:
        return Row(title, ink, words=f"{line.value}{mark}", faint=line.row.value is None)
    tail = line.tails[operation]
    known = [point for point in tail.points if point]
    cells = [amount("s", point) for point in (tail.percentiles[0], tail.percentiles[2])]
    values = [Value(point, shape, size) for point, (_, shape, size) in zip(tail.points, _DOTS, strict=False) if point]
    stem = [Part(min(known), max(known), ink="line", height=0.07)] if known else []
    return Row(f"{title}{mark}", ink, cells=cells, parts=stem, values=values)


def _time(seconds: float) -> str:
    unit = fitting("s", [seconds * 1.0001])
    return f"{seconds / unit.size:,.3g} {unit.symbol}"


def _few(view: StepView) -> list[str]:
    """Notes on engines whose calls were too few."""
    without = [line.row.title for line in view.lines if not line.tails and not line.withheld]
    return [f"Too few calls for percentiles: {', '.join(without)}."] if without else []
