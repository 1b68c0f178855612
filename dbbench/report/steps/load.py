"""A load in words."""

from dataclasses import replace

from dbbench.analysis.recorded import LoadParts
from dbbench.report import step_view
from dbbench.report.step_view import StepView
from dbbench.suite.steps.load import LoadStep

#: The parts of a load; beside them stands what making the rows for the driver took, off the clock.
LOADS = ("insert", "indexes", "statistics", "commit", "text index", "first search")
MAKING = "(rows made)"


class Wording(step_view.Wording[LoadStep]):
    """A load's parts, which add up to its figure, and the making of its rows, which is not in it."""

    def detailed(self, step: LoadStep, view: StepView) -> StepView:
        """Its parts, and what making the rows took."""
        found = {line.row.engine: known for line in view.lines if (known := line.row.load_parts) is not None}
        parts = [name for name in LOADS if any(name in known.parts for known in found.values())]
        if not parts:
            return view

        def cells(known: LoadParts) -> tuple[str, ...]:
            figures = [view.unit.figure(known.parts[name]) if name in known.parts else "–" for name in parts]
            return (*figures, view.unit.figure(known.making))

        lines = tuple(
            replace(line, details=cells(known)) if (known := found.get(line.row.engine)) else line
            for line in view.lines
        )
        return replace(view, lines=lines, details=(*parts, MAKING))

    def details_note(self, step: LoadStep, view: StepView) -> str:
        """What the parts are."""
        return (
            f"In {view.unit.symbol}: the parts add up to the figure. Making the rows for the driver is outside the "
            "clock; it stands in brackets."
        )
