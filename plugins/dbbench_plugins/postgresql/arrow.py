"""A client over ADBC: Arrow batches go in and come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Dialect, Rows
from dbbench_plugins.postgresql.server import PostgreSQLSession, numbered

if TYPE_CHECKING:
    from dbbench.engine import Table


class ArrowSession(PostgreSQLSession):
    """Rows go in by ADBC's ingest, which is COPY in binary, within the transaction.

    A NUMERIC comes out as text, as the driver has no Arrow type for numbers without a fixed scale: means and parts of
    moments, too.
    """

    load_format = "batches"
    result_format = "batches"
    reads: ClassVar = {"decimal": "text", "double": "text", "integer": "text"}

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        self.closing = ExitStack()
        self.closing.callback(connection.close)

    def _cursor(self) -> Any:
        cursor = self.connection.cursor()
        self.closing.callback(cursor.close)
        return cursor

    def execute(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        ingest = self._cursor().adbc_ingest
        return lambda batch: ingest(name, batch, mode="append")

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        cursor = self._cursor()

        def run() -> Rows:
            cursor.execute(sql)
            batches: Rows = cursor.fetch_record_batch()
            return batches

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        cursor = self._cursor()
        execute = cursor.execute

        def run() -> Any:
            execute(sql)
            return cursor

        return run

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        cursor, sql = self._cursor(), numbered(sql, self.sql)
        if rows == 0:
            return lambda *values: cursor.execute(sql, values)
        fetch = cursor.fetchone if rows == 1 else cursor.fetchall

        def call(*values: Any) -> Any:
            cursor.execute(sql, values)
            return fetch()

        return call

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        execute, sql = self._cursor().executemany, numbered(sql, self.sql)
        return lambda many: execute(sql, many)

    def explain(self, sql: str) -> str:
        with self.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})  # there is no COPY of an EXPLAIN
            cursor.execute(f"{self.sql.explain} {sql}")
            return "\n".join(line for (line,) in cursor.fetchall())

    def close(self) -> None:
        self.closing.close()
