"""Clients over psycopg 3 and over its low-level layer, `psycopg.pq`. Rows go in by COPY."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from dbbench.engine import Rows
from dbbench.sql import Dialect
from dbbench_plugins.postgresql.server import PostgreSQLSession, numbered

if TYPE_CHECKING:
    from dbbench.schema import Table

#: Rows that are made into Python values at a time: fastest in a measurement of 1 to all.
_AT_ONCE = 1_000
#: Of libpq's ExecStatusType.
_COMMAND_OK, _TUPLES_OK = 1, 2
_BINARY = 1


class PsycopgSession(PostgreSQLSession):
    """Arrow writes a chunk as CSV, which COPY reads: no value becomes a Python object on its way.

    COPY in binary from ADBC, and from psycopg row by row, took the server as long or longer.
    """

    takes = "batches"

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        import pyarrow as pa
        from pyarrow import csv

        copy, form = self.connection.cursor().copy, csv.WriteOptions(include_header=False)
        statement = f"COPY {self.sql.quoted(name)} FROM STDIN (FORMAT csv)"

        def insert(batch: Any) -> None:
            text = pa.BufferOutputStream()
            csv.write_csv(batch, text, form)
            with copy(statement) as copying:
                copying.write(text.getvalue())

        return insert

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        """The driver prepares it in the first call: it offers no other way."""
        cursor = self.connection.cursor()
        execute, fetch = cursor.execute, cursor.fetchmany

        def run() -> Rows:
            execute(sql, prepare=True)
            return chain.from_iterable(iter(lambda: fetch(_AT_ONCE), []))

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        execute = self.connection.cursor().execute
        return lambda: execute(sql, prepare=True)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        cursor = self.connection.cursor(binary=True)
        execute = cursor.execute
        if rows == 0:
            return lambda *values: execute(sql, values, prepare=True)
        fetch = cursor.fetchone if rows == 1 else cursor.fetchall

        def call(*values: Any) -> Any:
            execute(sql, values, prepare=True)
            return fetch()

        return call


class PQSession(PsycopgSession):
    """Statements are prepared once and executed without psycopg's cursors, by libpq's own functions.

    libpq gives a result whose values are bytes. They are made into the same Python values as by `postgresql`, by
    the same C code: the two differ by the layer, and not by what the client gets.
    """

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        self.low: Any = connection.pgconn
        self.names = (f"dbbench_{number}".encode() for number in count(1))

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        name, execute, values = self._prepare(sql), self.low.exec_prepared, self._values()

        def run() -> Rows:
            result = self._checked(execute(name, None))
            values.set_pgresult(result)
            found = result.ntuples
            return chain.from_iterable(
                values.load_rows(first, min(first + _AT_ONCE, found), tuple) for first in range(0, found, _AT_ONCE)
            )

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        name, execute, checked = self._prepare(sql), self.low.exec_prepared, self._checked
        return lambda: checked(execute(name, None))

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        name, execute, found = self._prepare(numbered(sql, self.sql)), self.low.exec_prepared, self._values()

        def call(*values: Any) -> Any:
            given = [value if type(value) is bytes else str(value).encode() for value in values]
            result = execute(name, given, [type(value) is bytes for value in values], _BINARY)
            status = result.status
            if rows == 1 and status == _TUPLES_OK:
                found.set_pgresult(result)
                return found.load_row(0, tuple)
            self._checked(result)
            if rows == 0:
                return None
            found.set_pgresult(result)
            return found.load_rows(0, result.ntuples, tuple)

        return call

    def _prepare(self, sql: str) -> bytes:
        """The name of a statement that the server has prepared; it lasts as long as the session."""
        name = next(self.names)
        self._checked(self.low.prepare(name, sql.encode()))
        return name

    def _values(self) -> Any:
        """What makes a result's bytes into Python values."""
        from psycopg.adapt import Transformer

        return Transformer(self.connection)

    @staticmethod
    def _checked(result: Any) -> Any:
        if result.status not in (_COMMAND_OK, _TUPLES_OK):
            from psycopg import DatabaseError

            raise DatabaseError(result.error_message.decode("utf-8", "replace").strip())
        return result
