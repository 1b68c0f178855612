"""A load."""

from __future__ import annotations

from typing import Literal

from dbbench.suite.steps.base import Step


class LoadStep(Step):
    """All rows of all tables in one transaction, then the indexes."""

    kind: Literal["load"]

    dataset = "tables"
    summable = True

    @property
    def required_operations(self) -> tuple[str, ...]:
        """A way to load."""
        return ("load",)

    @property
    def needs_data(self) -> bool:
        """False: it starts from empty tables."""
        return False

    @property
    def fills(self) -> bool:
        """All that a dataset of tables has."""
        return True
