"""A statement in words."""

from collections.abc import Sequence

from dbbench.report import step_view
from dbbench.report.step_view import Facts, StepView, mean_of
from dbbench.report.steps.query import spread_note, with_spread
from dbbench.suite.dataset import Records
from dbbench.suite.steps.statement import StatementStep


class Wording(step_view.Wording[StatementStep]):
    """Calls one after another or at a rate, and how they were spread."""

    per = " per call"

    def conditions(self, step: StatementStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """Calls, and whether their effect is checked."""
        words = []
        if not step.seconds and not step.find:
            words.append(f"A round is {mean_of(step.iterations, 'call')} after {step.warm_up_calls} to warm up.")
        if step.adds is None and step.check is None:
            words.append("The suite gives no check of its effect: not verified.")
        return " ".join(words)

    def detailed(self, step: StatementStep, view: StepView) -> StepView:
        """The spread of its calls, where it adds to the mean."""
        return with_spread(step, view)

    def details_note(self, step: StatementStep, view: StepView) -> str:
        """What the percentiles are of."""
        return spread_note(step, view)
