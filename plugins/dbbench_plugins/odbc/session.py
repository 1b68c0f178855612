"""A client over pyodbc, and its way to load rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any

from dbbench_plugins.dbapi import SwitchedSession

if TYPE_CHECKING:
    from dbbench.engine import Table

#: Parameters of one statement: SQL Server takes the fewest, 2,100.
_MOST_PARAMETERS = 2_000


class ODBCSession(SwitchedSession):
    """Rows go in by INSERTs of many rows each, and come out one by one: pyodbc has no larger piece.

    `executemany` sends each row by itself. `fast_executemany`, which binds arrays, crashes in libsqliteodbc,
    raises MemoryError with MariaDB's driver and is slower with PostgreSQL's: no option here turns it on.
    """

    #: Rows of one INSERT ... VALUES (...), (...). One: `executemany`, which every system understands.
    rows_at_once: int = 100

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        one = self.sql.insert(name, table)
        width = len(table.columns)
        most = min(self.rows_at_once, _MOST_PARAMETERS // width)
        if most < 2:
            return super().prepare_load(name, table)
        more = f", ({', '.join([self.sql.placeholder] * width)})"
        whole = one + more * (most - 1)  # one object: pyodbc knows by it that the statement is prepared
        execute, execute_rest = self.connection.cursor().execute, self.connection.cursor().execute

        def insert(rows: list[tuple[Any, ...]]) -> None:
            end = len(rows) // most * most
            for first in range(0, end, most):
                execute(whole, list(chain.from_iterable(rows[first : first + most])))
            if rest := rows[end:]:
                execute_rest(one + more * (len(rest) - 1), list(chain.from_iterable(rest)))

        return insert
