"""A sum in words."""

from collections.abc import Sequence

from dbbench.report import step_view
from dbbench.report.step_view import Facts, joined
from dbbench.suite.dataset import Records
from dbbench.suite.steps.total import TotalStep


class Wording(step_view.Wording[TotalStep]):
    """What is added up."""

    def work(self, step: TotalStep) -> str:
        """The steps."""
        return f"of {', '.join(step.of)}"

    def conditions(self, step: TotalStep, facts: Facts, arrow: Sequence[str], records: Records | None) -> str:
        """The steps."""
        return f"The sum of {joined(step.of)}."
