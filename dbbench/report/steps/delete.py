"""Deletes of vectors or texts in words."""

from dbbench.report import step_view
from dbbench.suite.steps.delete import DeleteStep


class Wording(step_view.Wording[DeleteStep]):
    """How much is deleted."""

    def work(self, step: DeleteStep) -> str:
        """Share and batches."""
        return f"{step.share:.0%} deleted, {step.batch:,} at a time"
