"""Loading objects in words."""

from collections.abc import Sequence

from dbbench.analysis.units import amount
from dbbench.report import step_view
from dbbench.report.step_view import Facts, Line, StepView, mean_of
from dbbench.results.facts import PARTS
from dbbench.suite.dataset import Records
from dbbench.suite.steps.objects import ObjectStep


class Wording(step_view.Wording[ObjectStep]):
    """Parts of an object's time, and what happens once."""

    per = " per object"
    in_parts = True

    def work(self, step: ObjectStep) -> str:
        """How many, how, and how often."""
        what = "each by its key" if step.operation == "get" else "by one query"
        note = "; still held" if step.identity_map == "warm" else ""
        return f"{step.count or 'all'} of {step.table}, {what}, {step.iterations} times{note}"

    def conditions(self, step: ObjectStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """What a pass is."""
        count = next((f"{each['objects']:,} " for each in facts if "objects" in each), "")
        how = f"{count}objects by one query" if step.operation == "get_many" else f"{count}objects, each by its key"
        note = ", all of them loaded before and still held" if step.identity_map == "warm" else ""
        return f"A round is {mean_of(step.iterations, 'pass', 'passes')} after {step.warm_up} to warm up: {how}{note}."

    def detailed(self, step: ObjectStep, view: StepView) -> StepView:
        """The parts of each figure, and what happens once."""

        def cells(line: Line) -> dict[str, str]:
            found = line.row.parts
            if found is None:
                return {}
            parts = {name: view.unit.figure(found.parts[name]) if name in found.parts else "–" for name in PARTS}
            return {**parts, "connect": amount("s", found.connect), "prepare": amount("s", found.prepare)}

        return view.with_details(cells)

    def details_note(self, step: ObjectStep, view: StepView) -> str:
        """What the parts are."""
        return (
            f"In {view.unit.symbol}: execute and fetch are the driver's calls, as they are seen in a second session, "
            "and materialise is the rest. Once: to connect, and from there to the first call's end."
        )
