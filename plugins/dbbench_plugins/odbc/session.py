"""A client over pyodbc with its way to load rows, and what the engines have in common whose servers it reaches."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench_plugins.dbapi import ClientServer, SwitchedSession
from dbbench_plugins.odbc import connection

if TYPE_CHECKING:
    from dbbench.engine import SQLSession, Table

#: Parameters of one statement: SQL Server takes the fewest, 2,100.
_MOST_PARAMETERS = 2_000


class ODBCSession(SwitchedSession):
    """Rows go in by INSERTs of many rows each, and come out one by one: pyodbc has no larger piece.

    `executemany` sends each row by itself. `fast_executemany`, which binds arrays, crashes in libsqliteodbc,
    raises MemoryError with MariaDB's driver and is slower with PostgreSQL's: no option here turns it on.
    """

    #: Rows of one INSERT ... VALUES (...), (...). One: `executemany`, which every system understands.
    rows_at_once: int = 100
    plain_rows = False

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


class ODBCServer(ClientServer):
    """Before a server's own engine among the bases: the server is reached by an ODBC driver."""

    modules = ("pyodbc",)
    #: The driver's name among those that are installed.
    driver: ClassVar[str]
    session: SQLSession

    @classmethod
    def available(cls) -> None:
        super().available()
        connection.driver(cls.driver)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {**super().versions(), **connection.versions()}

    def server_versions(self) -> dict[str, str]:
        return {**super().server_versions(), **connection.told(self.session.connection)}
