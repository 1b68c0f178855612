"""How the calls of a step under load were spread, in words."""

from dataclasses import replace

from dbbench.analysis.recorded import Spread
from dbbench.analysis.units import Unit, amount
from dbbench.report.step_view import Line, StepView, percentiles_note, reference_note
from dbbench.results.facts import SHOWN
from dbbench.suite.steps.timed import TimedStep


def with_spread(step: TimedStep, view: StepView) -> StepView:
    """The view with percentiles and rates of its calls, where they say more than the mean."""
    found = {line.row.engine: known for line in view.lines if (known := line.row.spread) is not None}
    if not step.controlled and not any(any(each.percentiles[1:]) for each in found.values()):
        return view
    open_loop = bool(step.rate or step.find)
    rates = ("fails at",) if step.find else ("calls/s",)
    columns = (*SHOWN, "max", *rates, *(("service", "late") if open_loop else ()))
    unit = None if view.rates else view.unit
    lines = tuple(
        replace(line, details=_cells(step, line, known, unit)) if (known := found.get(line.row.engine)) else line
        for line in view.lines
    )
    return replace(view, lines=lines, details=columns if found else ())


def spread_note(step: TimedStep, view: StepView) -> str:
    """What the percentiles are of."""
    note = percentiles_note(view)
    if step.find:
        note += ", at the highest rate. Fails at: the lowest rate above it that was tried and failed, in calls/s"
    open_loop = " Service: mean from a call's start to its end. Late: more than 1 ms after its moment."
    return f"{note}.{open_loop if step.rate or step.find else reference_note(view)}"


def _cells(step: TimedStep, line: Line, found: Spread, unit: Unit | None) -> tuple[str, ...]:
    """Percentiles where there are calls enough, then the rest."""

    def time(seconds: float | None) -> str:
        if seconds is None:
            return "–"
        return amount("s", seconds) if unit is None else unit.figure(seconds)

    per_second = found.per_second
    if step.find:
        per_second = line.row.failing_rate
    cells = (*map(time, found.percentiles), time(found.greatest), Unit(1, "").figure(per_second) if per_second else "–")
    return (*cells, time(found.service), f"{found.late:,} of {found.due:,}") if found.due is not None else cells
