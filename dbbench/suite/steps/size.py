"""The size on disk."""

from typing import Literal

from pydantic import Field

from dbbench.suite.steps.base import Step


class SizeStep(Step):
    """The size on disk after a flush, in bytes."""

    kind: Literal["size"]
    compact: bool = Field(
        default=False, description="Run first what the engine's documentation names for giving room back, like VACUUM."
    )

    unit = "B"

    @property
    def required_operations(self) -> tuple[str, ...]:
        """The compaction, if it is asked for."""
        return ("compact",) if self.compact else ()
