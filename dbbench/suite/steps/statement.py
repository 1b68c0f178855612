"""A statement with an implicit commit."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import ClassVar, Literal

from pydantic import Field

from dbbench.suite.answer import ColumnName, Sql, columns_of
from dbbench.suite.base import Identifier, Model
from dbbench.suite.plain import Dangling, Mapping, mapping, sequence, unknown_table
from dbbench.suite.sql_text import returns_rows
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.sql import SqlStep
from dbbench.suite.transaction_names import no_select, texts, unknown_tables


class Check(Model):
    """A query made after a statement, with the rows that it must return, in order."""

    sql: Sql = Field(description="The query.")
    dialects: dict[str, Sql] = Field(default={}, description="Overrides of `sql`.")
    columns: tuple[ColumnName, ...] = Field(
        min_length=1,
        description="For each column of the result a column of the dataset with its type, as `Table.Column`.",
    )
    rows: tuple[tuple[int | float | str, ...], ...] = Field(description="What it must return.")


class Adds(Model):
    """The rows that each call, warm-up included, adds to a table."""

    table: Identifier = Field(description="A table of the dataset.")
    rows: int = Field(default=1, ge=0, description="Of each call.")
    values: dict[Identifier, int | float | str] = Field(
        default={},
        description="Column -> value, the same in each row, and compared; keys follow on the dataset's. Not with `parameters`.",
    )


class StatementStep(SqlStep):
    """A statement that commits alone and returns no rows. Without `adds` or `check` it has no rank."""

    kind: Literal["statement"]
    adds: Adds | None = Field(default=None, description="The rows that each call adds, which are counted.")
    check: Check | None = Field(default=None, description="A query made afterwards.")

    required_operations: ClassVar[tuple[str, ...]] = ("statement",)
    #: Whatever the statement is: nobody reads SQL to find out.
    writes: ClassVar[bool] = True

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Tables and columns of the statement, its check and what it adds; rows that nobody would read."""
        yield from super().dangling(step, tables, before)
        for place, sql in texts(step):
            if returns_rows(sql):  # it may never be carried out, as nobody reads the rows
                yield place, "a statement that returns no rows; use `kind: query` for one that does", ()
        check, columns = mapping(step, "check"), columns_of(tables, tables)
        yield from unknown_tables(check, tables, ("check",))
        yield from no_select(check, ("check",))
        for number, column in enumerate(sequence(check, "columns")):
            if column not in columns:
                yield ("check", "columns", number), "a column of the dataset, as Table.Column", columns
        adds = mapping(step, "adds")
        if mapping(step, "parameters") and mapping(adds, "values"):
            yield ("adds", "values"), "no values where parameters are drawn: the rows aren't all alike", ()
        yield from unknown_table(adds.get("table"), tables, ("adds", "table"))
        yield from _adds_dangling(adds, tables)


def _adds_dangling(adds: Mapping, tables: Mapping) -> Iterator[Dangling]:
    """Values of a table's own columns, whose key is a number that counts on."""
    values, table = mapping(adds, "values"), mapping(tables, str(adds.get("table")))
    if not values or not table:
        return
    key, columns = table.get("primary_key"), mapping(table, "columns")
    for name in values:
        if name not in columns or name == key:
            others = [column for column in columns if column != key]
            yield ("adds", "values", name), f"a column of {adds['table']} other than its key", others
    if mapping(mapping(columns, str(key)), "values").get("kind") != "sequence":
        yield ("adds", "values"), "a table whose primary key is a sequence", ()
