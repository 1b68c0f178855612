"""Steps that carry out SQL."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Any

from pydantic import Field

from dbbench.suite.base import Identifier
from dbbench.suite.parameters import Parameter
from dbbench.suite.plain import Dangling, Mapping, listed, mapping
from dbbench.suite.sql_text import ONE_SELECT, is_select, tables_of
from dbbench.suite.steps.base import Sql, Step
from dbbench.suite.steps.timed import TimedStep, WarmUp
from dbbench.suite.transaction_names import in_statement


class SqlStep(TimedStep):
    """A statement, written once; `dialects` overrides it where a dialect differs.

    It may have `parameters`, as `:name`, whose values are drawn for each call.
    """

    sql: Sql
    dialects: dict[str, Sql] = {}
    parameters: dict[Identifier, Parameter] = {}
    warm_up: WarmUp = 1
    iterations: int = Field(default=1, ge=1)

    dataset = "tables"
    summable = True

    @property
    def statements(self) -> ReadOnly[str, str]:
        """The statement by dialect; its own under an empty name."""
        return {"": self.sql, **self.dialects}

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Tables that the statement names."""
        yield from super().dangling(step, tables, before)
        yield from sql_dangling(step, tables)
        if mapping(step, "parameters"):
            yield from in_statement(step, tables)


def sql_texts(step: Mapping) -> dict[tuple[str, ...], Any]:
    """A statement's text and its dialects', by path."""
    return {("sql",): step.get("sql")} | {("dialects", key): sql for key, sql in mapping(step, "dialects").items()}


def no_select(query: Mapping, path: tuple[str, ...] = ()) -> Iterator[Dangling]:
    """A query's texts that are something else."""
    for place, sql in sql_texts(query).items():
        if isinstance(sql, str) and not is_select(sql):
            yield (*path, *place), ONE_SELECT, ()


def sql_dangling(step: Mapping, tables: Mapping, path: tuple[str, ...] = ()) -> Iterator[Dangling]:
    """Tables that a statement names and the dataset hasn't got."""
    for place, sql in sql_texts(step).items():
        for table in tables_of(sql) if isinstance(sql, str) else ():
            if table not in tables:
                near = [name for name in tables if str(name).lower() == table.lower()]
                hint = f" (write {near[0]!r})" if near else ""
                yield (*path, *place), f"tables of the dataset ({listed(tables)}), not {table!r}{hint}", ()
