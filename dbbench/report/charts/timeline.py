"""Calls and their p99 over the seconds of a step: a curve for each engine, of its last round."""

from collections.abc import Iterator, Mapping, Sequence

from dbbench.analysis.units import Unit, fitting
from dbbench.report.charts.axis import Axis, fitting_axis
from dbbench.report.charts.layout import Look, Sheet, Texts
from dbbench.report.charts.plot import MOST, Curve, Plot, on_sheet, shapes
from dbbench.report.charts.scene import Scene
from dbbench.report.run_view import ScenarioView
from dbbench.report.step_view import WIDE_RANGE, StepView
from dbbench.results.facts import TimelineFacts
from dbbench.suite.charts import Timeline

SHOWS = "second by second"
#: Pixels of each of the two halves, and between them.
_HEIGHT, _BETWEEN = 200.0, 46.0
#: Points beside their curve, where there are few enough to be seen.
_DOTS = 40

_Points = Mapping[str, list[tuple[float, float]]]


def figures(chart: Timeline, scenario: ScenarioView, look: Look) -> Iterator[tuple[str, Scene]]:
    """A chart for each step with a rate or a duration."""
    for view in scenario.named(chart.steps):
        if (chart.steps or getattr(view.step, "seconds", None)) and has_timeline(view):
            yield f"{view.step.name}-timeline", timeline(view, look)


def has_timeline(view: StepView) -> bool:
    """Whether an engine of the step has figures over its seconds."""
    return bool(_known(view))


def timeline(view: StepView, look: Look) -> Scene:
    """Above the calls that ended in each second, below the p99 of their times."""
    known = _known(view)
    shown = dict(list(known.items())[:MOST])
    last = " of the last round" if view.rounds > 1 else ""
    notes = [f"Not drawn: {', '.join(title for title in known if title not in shown)}."] if len(known) > MOST else []
    driven = view.wording.driven(view.step)
    subtitle = f"each second{last}{f'; {driven}' if driven else ''}"
    sheet = Sheet(Texts(view.step.title, subtitle, notes), look)
    rates = {
        title: [(place * each["seconds"], count / each["seconds"]) for place, count in enumerate(each["calls"], 1)]
        for title, each in shown.items()
    }
    tails = {
        title: [(place * each["seconds"], time / 1e9) for place, time in enumerate(each["p99"], 1) if time is not None]
        for title, each in shown.items()
    }
    better = "" if getattr(view.step, "rate", None) else ", more is better"
    # Of the rates: in the last ones there may be no call, and so no p99.
    seconds = max((mine[-1][0] for mine in rates.values() if mine), default=1.0)
    for points, base, words in ((rates, "1/s", f"calls per second{better}"), (tails, "s", "p99 of a call in")):
        frame = on_sheet(_plot(view, points, base, words, seconds, look), sheet, list(shown), _HEIGHT, 26)
        sheet.y = frame.bottom + (_BETWEEN - 26 if points is rates else 30)
    sheet.y += 4
    sheet.scene.text((frame.left + frame.right) / 2, sheet.y, ["seconds from the start"], 12, "grey", anchor="middle")
    return sheet.finished()


def _plot(view: StepView, points: _Points, base: str, words: str, seconds: float, look: Look) -> Plot:
    """One half: rates from 0, or times on a logarithmic axis where they lie far apart."""
    values = [y for mine in points.values() for _, y in mine if y > 0]
    unit: Unit = fitting(base, values)
    wide = base == "s" and bool(values) and max(values) / min(values) > WIDE_RANGE / 10
    axis = fitting_axis([value / unit.size for value in values], logarithmic=wide, beyond=1.1)
    x = Axis(0, seconds)
    heading = (
        f"{unit.symbol.removesuffix('/s')} {words}".strip()
        if base == "1/s"
        else f"{words} {unit.symbol}, less is better{' (logarithmic axis)' if wide else ''}"
    )
    ticks = [(each, f"{each:g}") for each in x.ticks(10) if each == int(each)] if base == "s" else []
    return Plot(_drawn(view, points, unit, look), x, axis, ticks, heading)


def _drawn(view: StepView, points: _Points, unit: Unit, look: Look) -> Sequence[Curve]:
    engines = {line.row.title: line.row.engine for line in view.lines}
    shape = shapes(list(points), engines, look)
    return [
        Curve(
            title, look.colour(engines[title]), shape[title], [(x, y / unit.size) for x, y in mine], dotted=len(mine) <= _DOTS
        )
        for title, mine in points.items()
    ]  # fmt: skip


def _known(view: StepView) -> dict[str, TimelineFacts]:
    """Title -> figures over the seconds, best engine first; without those whose figures are withheld."""
    return {
        line.row.title: line.row.facts["timeline"]
        for line in view.lines
        if not line.withheld and line.row.facts and line.row.facts.get("timeline")
    }
