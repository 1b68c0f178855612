"""libSQL, Turso's fork of SQLite in C, through its own driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

from dbbench.engine import Rows
from dbbench_plugins.sqlite import SQLite, SQLiteSession, rows


class LibSQLSession(SQLiteSession):
    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute = self.connection.execute
        return lambda: iter(execute(sql).fetchone, None)  # its cursor is no iterator

    def prepare_rows(self, sql: str) -> Callable[..., Iterable[Sequence[Any]]]:
        return self.prepare_call(sql)  # its cursor stays open for some time after it was let go

    def close(self) -> None:
        if self.connection.in_transaction:  # which would otherwise live on as long as a cursor that wasn't read out
            self.connection.rollback()
        super().close()


class LibSQL(SQLite):
    name = "libsql"
    title = "libSQL (libsql)"
    license = "MIT; driver: MIT"
    session_class = LibSQLSession
    modules = ("libsql",)

    @classmethod
    def versions(cls) -> dict[str, str]:
        import libsql

        connection = libsql.connect(":memory:")
        ((sqlite,),) = rows(connection, "SELECT sqlite_version()")  # the module's own constant is older
        connection.close()
        return {"SQLite": sqlite, "libsql": version("libsql")}

    def _raw(self) -> Any:
        import libsql

        return libsql.connect(str(self.path), isolation_level=None)
