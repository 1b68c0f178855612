"""Rows as Python objects."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.base import Identifier
from dbbench.suite.plain import Dangling, Mapping, mapping, unknown_table
from dbbench.suite.steps.base import Step


class ObjectStep(Step):
    """Rows of a table as Python objects."""

    kind: Literal["objects"]
    table: Identifier = Field(description="A table of the dataset.")
    operation: Literal["get", "get_many"] = Field(
        description="`get`: each object by its primary key, in a call each; `get_many`: by one query."
    )
    count: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Random keys in a pass, at scale 1; without it `get_many` queries all rows.",
    )
    identity_map: Literal["cold", "warm"] = Field(
        default="cold",
        description="`warm`, for `get`: the objects are still held; layers without an identity map ask the database again.",
    )
    warm_up: int = Field(default=1, ge=0, description="Passes first that don't count.")
    iterations: int = Field(default=5, ge=1, description="Passes, each with keys of its own.")

    datasets = ("tables",)

    @model_validator(mode="after")
    def _a_map(self) -> Self:
        if self.identity_map == "warm" and self.operation == "get_many":
            raise ValueError("a cold identity_map: a query for many objects always asks the database")
        return self

    @property
    def required_operations(self) -> tuple[str, ...]:
        """Its operation."""
        return (self.operation,)

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Its table, whose objects have a key of one column."""
        yield from unknown_table(step.get("table"), tables, ("table",))
        if isinstance(mapping(tables, step.get("table")).get("primary_key"), list):
            yield ("table",), "a table whose primary key is one column", ()
        columns = mapping(mapping(tables, step.get("table")), "columns")
        if any(mapping(columns, name).get("type") == "json" for name in columns):
            yield ("table",), "a table without documents", ()
