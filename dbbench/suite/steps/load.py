"""A load."""

from typing import ClassVar, Literal

from dbbench.suite.steps.base import Step


class LoadStep(Step):
    """All rows of all tables in one transaction, or all texts or vectors; then the indexes."""

    kind: Literal["load"]

    datasets = ("tables", "vectors", "texts")
    summable = True
    required_operations: ClassVar[tuple[str, ...]] = ("load",)
    #: It starts from empty tables.
    needs_data = False
    fills: ClassVar[bool] = True
