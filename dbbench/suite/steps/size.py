"""The size on disk."""

from typing import Literal

from dbbench.suite.steps.base import Step


class SizeStep(Step):
    """The size of everything the engine keeps on disk, after a flush; with `compact` after its own compaction."""

    kind: Literal["size"]
    compact: bool = False

    unit = "B"

    @property
    def required_operations(self) -> tuple[str, ...]:
        """The compaction, if it is asked for."""
        return ("compact",) if self.compact else ()
