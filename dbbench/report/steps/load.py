"""A load in words."""

from dbbench.report import step_view
from dbbench.report.step_view import Line, StepView
from dbbench.suite.steps.load import LoadStep

#: The parts of a load; beside them stands what making the rows for the driver took, off the clock.
LOADS = ("insert", "indexes", "statistics", "commit", "text index", "first search")
MAKING = "(rows made)"


class Wording(step_view.Wording[LoadStep]):
    """A load's parts, which add up to its figure, and the making of its rows, which is not in it."""

    def detailed(self, step: LoadStep, view: StepView) -> StepView:
        """Its parts, and what making the rows took."""
        found = [line.row.load_parts.parts for line in view.lines if line.row.load_parts]
        parts = [name for name in LOADS if any(name in known for known in found)]

        def cells(line: Line) -> list[str]:
            if not parts or (known := line.row.load_parts) is None:
                return []
            figures = [view.unit.figure(known.parts[name]) if name in known.parts else "–" for name in parts]
            return [*figures, view.unit.figure(known.making)]

        return view.with_details((*parts, MAKING), cells)

    def details_note(self, step: LoadStep, view: StepView) -> str:
        """What the parts are."""
        return (
            f"In {view.unit.symbol}: the parts add up to the figure. Making the rows for the driver is outside the "
            "clock; it stands in brackets."
        )
