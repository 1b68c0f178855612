"""Steps that carry out SQL."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Literal

from pydantic import Field

from dbbench.suite.base import Identifier
from dbbench.suite.parameters import Parameter
from dbbench.suite.plain import Dangling, Mapping, mapping
from dbbench.suite.steps.base import Sql, Step
from dbbench.suite.steps.timed import TimedStep, WarmUp
from dbbench.suite.transaction_names import in_statement, unknown_tables


class SqlStep(TimedStep):
    """A statement, written once; `dialects` overrides it where a dialect differs, by "" where it has no such statement.

    It may have `parameters`, as `:name`, whose values are drawn for each call.
    """

    sql: Sql
    dialects: dict[str, Sql | Literal[""]] = {}
    parameters: dict[Identifier, Parameter] = {}
    warm_up: WarmUp = 1
    iterations: int = Field(default=1, ge=1)

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
