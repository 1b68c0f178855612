"""A churn."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import ClassVar, Literal

from pydantic import Field

from dbbench.suite.base import Identifier
from dbbench.suite.plain import Dangling, Mapping, mapping, no_sequence, unknown_table
from dbbench.suite.steps.base import Step


class ChurnStep(Step):
    """Part of a table's rows deleted and inserted again; the content stays the same."""

    kind: Literal["churn"]
    table: Identifier = Field(description="Its primary key is a sequence, by whose ranges rows are deleted.")
    share: float = Field(default=0.2, gt=0, le=1, description="Of the rows, in each pass; at least one run of rows.")
    passes: int = Field(default=5, ge=1, description="Each picks other runs, from the seed.")
    transaction: int = Field(
        default=1000, ge=1, description="Rows in a run: one delete that commits, then one insert that commits."
    )

    datasets = ("tables",)
    summable = True
    required_operations: ClassVar[tuple[str, ...]] = ("load", "statement")
    fills: ClassVar[bool] = True

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Rows are deleted by ranges of keys, which therefore follow one another."""
        name = step.get("table")
        yield from unknown_table(name, tables, ("table",))
        yield from no_sequence(mapping(tables, name), ("table",))
