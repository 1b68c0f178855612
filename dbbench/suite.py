"""What a suite file says, as frozen models. `loader` makes them from YAML text."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from dbbench.schema import Dataset, Identifier, Model

#: The version of the suite format that this dbbench reads.
FORMAT = 1

#: Names of scenarios and steps: they become file names.
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")]
#: `Table.Column` of the dataset.
ColumnName = Annotated[str, Field(pattern=r"^[A-Za-z]\w*\.[A-Za-z]\w*$")]
Sql = Annotated[str, Field(min_length=1)]


class Tier(StrEnum):
    """What a commit survives."""

    MEMORY = "memory"
    PROCESS = "process"
    POWER = "power"


class Condition(Model):
    """One condition on one column; exactly one of the tests is given."""

    column: ColumnName
    above: float | None = None
    contains: str | None = None
    among: Answer | None = None

    @model_validator(mode="after")
    def _one_test(self) -> Condition:
        if [self.above, self.contains, self.among].count(None) != 2:
            raise ValueError("one test for the column: above, contains or among")
        return self


class Join(Model):
    """An inner join: `column` of the table joined equals `equals` of those before it."""

    table: Identifier
    column: ColumnName
    equals: ColumnName


class Answer(Model):
    """What a query must return, said without SQL, so that it can be computed without any engine.

    Tables are joined, then filtered, then grouped and summed, then selected. `sum` names the new column
    and the one it adds up. Without `order_by` the order of the rows does not matter.
    """

    table: Identifier
    join: tuple[Join, ...] = ()
    where: tuple[Condition, ...] = ()
    group_by: tuple[ColumnName, ...] = ()
    sum: dict[Identifier, ColumnName] = {}
    select: tuple[str, ...] = Field(min_length=1)
    order_by: tuple[str, ...] = ()


class Step(Model):
    """What every step has."""

    name: Slug
    title: str
    note: str = ""


class LoadStep(Step):
    """All rows of all tables in one transaction, then the indexes."""

    kind: Literal["load"]


class SizeStep(Step):
    """The size of everything the engine keeps on disk, after a flush."""

    kind: Literal["size"]


class SqlStep(Step):
    """A statement, written once; `dialects` overrides it where a dialect differs."""

    sql: Sql
    dialects: dict[str, Sql] = {}
    warm_up: int = Field(default=1, ge=0)
    iterations: int = Field(default=1, ge=1)


class QueryStep(SqlStep):
    """A query whose cursor is stepped to the end, reading one column (`read`) of each row."""

    kind: Literal["query"]
    read: str
    answer: Answer


class Check(Model):
    """A query made after a statement, with the rows it must return; `columns` gives their types."""

    sql: Sql
    dialects: dict[str, Sql] = {}
    columns: tuple[ColumnName, ...] = Field(min_length=1)
    rows: tuple[tuple[int | float | str, ...], ...]


class Adds(Model):
    """How many rows each call adds to a table."""

    table: Identifier
    rows: int = Field(default=1, ge=0)


class StatementStep(SqlStep):
    """A statement that commits by itself, one call after another."""

    kind: Literal["statement"]
    adds: Adds | None = None
    check: Check | None = None


AnyStep = Annotated[LoadStep | SizeStep | QueryStep | StatementStep, Field(discriminator="kind")]


class Bars(Model):
    """A best-to-worst bar chart for each of the steps named (all but sizes, if none is)."""

    kind: Literal["bars"]
    steps: tuple[Slug, ...] = ()
    axis: Literal["auto", "linear", "logarithmic"] = "auto"


class Overview(Model):
    """One table in colour: every engine and step as a multiple of the step's best."""

    kind: Literal["overview"]


class SizeChart(Model):
    """What a size step found, in parts, with the size of the CSV files as a line."""

    kind: Literal["size"]
    step: Slug


AnyChart = Annotated[Bars | Overview | SizeChart, Field(discriminator="kind")]


class Scenario(Model):
    """A dataset, an ordered list of steps, and the charts to draw of them."""

    name: Slug
    title: str
    dataset: Identifier
    durability: Tier = Tier.POWER
    steps: tuple[AnyStep, ...] = Field(min_length=1)
    charts: tuple[AnyChart, ...] = (Overview(kind="overview"), Bars(kind="bars"))


class Source(Model):
    """The published benchmark that a suite reproduces."""

    title: str
    year: int
    note: str = ""


class Suite(Model):
    """One suite file."""

    dbbench: Literal[1]
    name: Slug
    title: str
    description: str
    source: Source | None = None
    datasets: dict[Identifier, Dataset] = Field(min_length=1)
    scenarios: tuple[Scenario, ...] = Field(min_length=1)


Condition.model_rebuild()
