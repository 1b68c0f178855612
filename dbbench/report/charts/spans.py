"""Two steps as the ends of one bar: from a cold start, and with warm caches. Best to worst by the warm end."""

from collections.abc import Iterator, Mapping

from dbbench.analysis.units import Unit, fitting
from dbbench.report.charts.axis import fitting_axis
from dbbench.report.charts.bars import intervals, notes, reach, superscript
from dbbench.report.charts.layout import Look, Texts
from dbbench.report.charts.rows import Part, Row, RowChart, Value, drawn
from dbbench.report.charts.scene import Dot, Scene
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, Line, StepView, heading, reference_ratio
from dbbench.suite.charts import Spans

SHOWS = "cold and warm"
#: What the ends are, their shapes, whether they are hollow, and where the interval of each lies beside the bar.
_ENDS = (("cold start", "square", True, -0.4), ("warm caches", "circle", False, 0.4))


def figures(chart: Spans, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """One chart, if both steps have figures."""
    if len(views := scenario.named([chart.cold, chart.warm])) == 2:
        cold, warm = views
        yield f"{chart.warm}-spans", drawn(spans(chart.title, cold, warm, look), look)


def spans(title: str, cold: StepView, warm: StepView, look: Look) -> RowChart:
    """A bar for each engine from its cold figure to its warm one, those that have neither named under them."""
    at_start = {line.row.engine: line for line in (*cold.lines, *cold.failed)}
    lines = [*warm.lines, *warm.failed]
    known = [line.row.value for line in (*at_start.values(), *lines) if line.row.value]
    unit = fitting(next((line.row.unit for line in lines if line.row.unit), "1/s"), known)
    wide = bool(known) and max(known) / min(known) > WIDE_RANGE
    rounds = f"medians of {warm.rounds} rounds with {warm.interval}" if warm.rounds > 1 else "one round"
    what = f"{heading(unit).replace('/s', ' per second')}, {'more' if warm.higher else 'less'} is better"
    against = any(reference_ratio(warm, line) for line in lines)
    rows = [_row(warm, line, at_start, unit, look, against=against) for line in lines]
    texts = Texts(
        title,
        f"{what}; {rounds}{' (logarithmic axis)' if wide else ''}",
        [f"Cold: {note}" for note in cold.footnotes if note not in warm.footnotes],
        figures="; ".join(row.said() for row in rows),
        usual_notes=notes(warm, marked=False),
    )
    axis = fitting_axis(reach((*at_start.values(), *lines), unit), logarithmic=wide)
    heads = ("cold", "warm", *([f"of {warm.scenario.reference}"] if against else []))
    keys = [(Dot(0, 0, "grey", shape, 10, hollow), name) for name, shape, hollow, _ in _ENDS]
    return RowChart(texts, rows, axis, heads, keys, tick="{:,g}".format)


def _row(warm: StepView, line: Line, at_start: Mapping[str, Line], unit: Unit, look: Look, *, against: bool) -> Row:
    """The row of an engine with what it has of both ends."""
    ends = (at_start.get(line.row.engine), line)
    values = [end.row.value if end else None for end in ends]
    title, ink = f"{line.called}{superscript(line.mark)}", look.colour(line.row.engine)
    faint = line.row.value is None
    if not any(values):
        return Row(title, ink, words=f"{line.value}{superscript(line.mark)}", faint=faint)
    texts = ["–" if value is None else unit.figure(value) for value in values]
    known = [value / unit.size for value in values if value]
    return Row(
        title,
        ink,
        cells=(*texts, *([reference_ratio(warm, line) or "–"] if against else [])),
        parts=[Part(min(known), max(known), ink="line", height=0.28)] if len(known) == 2 else [],
        values=[
            Value(value / unit.size, shape, 9, hollow)
            for value, (_, shape, hollow, _) in zip(values, _ENDS, strict=True)
            if value
        ],
        intervals=[
            each
            for end, (*_, beside) in zip(ends, _ENDS, strict=True)
            for each in (intervals(end, unit, beside, "grey") if end else [])
        ],
        faint=faint,
    )
