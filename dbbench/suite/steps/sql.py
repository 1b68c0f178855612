"""Steps that carry out SQL."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Literal

from pydantic import Field

from dbbench.suite.answer import Sql
from dbbench.suite.base import Identifier
from dbbench.suite.parameters import Parameter
from dbbench.suite.plain import Dangling, Mapping, mapping
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.timed import TimedStep, WarmUp
from dbbench.suite.transaction_names import in_statement, unknown_tables


class SqlStep(TimedStep):
    """A step of SQL."""

    sql: Sql = Field(description="One statement, without a semicolon; of a `query` one SELECT.")
    dialects: dict[str, Sql | Literal[""]] = Field(
        default={}, description='Dialect -> the whole statement there; "" where it has none.'
    )
    parameters: dict[Identifier, Parameter] = Field(
        default={}, description="Name -> parameter, as `:name` in the SQL; drawn for each call."
    )
    warm_up: WarmUp = Field(default=1, description="Calls first that don't count, or a time such as 2s.")
    iterations: int = Field(default=1, ge=1, description="Timed calls.")

    datasets = ("tables",)
    summable = True

    @property
    def statements(self) -> ReadOnly[str, str]:
        """The statement by dialect; its own under an empty name."""
        return {"": self.sql, **self.dialects}

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Tables that the statement names."""
        yield from super().dangling(step, tables, before)
        yield from unknown_tables(step, tables)
        if mapping(step, "parameters"):
            yield from in_statement(step, tables)
