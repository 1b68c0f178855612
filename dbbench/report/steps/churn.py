"""A churn in words."""

from dbbench.report import step_view
from dbbench.suite.steps.churn import ChurnStep


class Wording(step_view.Wording[ChurnStep]):
    """How much is deleted and inserted again."""

    def work(self, step: ChurnStep) -> str:
        """Passes, share and transactions."""
        return f"{step.passes} times {step.share:.0%} of {step.table}, {step.transaction:,} rows at once"
