"""A load in words."""

from dbbench.report import step_view
from dbbench.report.step_view import Line, StepView
from dbbench.suite.steps.load import LoadStep

#: The parts of a load.
LOADS = ("insert", "indexes", "statistics", "commit", "text index", "first search")


class Wording(step_view.Wording[LoadStep]):
    """A load's parts, which add up to its figure, and the making of its rows, which is not in it."""

    def detailed(self, step: LoadStep, view: StepView) -> StepView:
        """Its parts, and what making the rows took."""

        def cells(line: Line) -> dict[str, str]:
            found = line.row.load_parts
            if found is None:
                return {}
            parts = {name: view.unit.figure(found.parts[name]) if name in found.parts else "" for name in LOADS}
            return {**parts, "(rows made)": view.unit.figure(found.making)}

        return view.with_details(cells)

    def details_note(self, step: LoadStep, view: StepView) -> str:
        """What the parts are."""
        return (
            f"In {view.unit.symbol}: the parts add up to the figure. Making the rows for the driver is outside the "
            "clock; it stands in brackets."
        )
