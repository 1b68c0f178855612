"""libSQL, Turso's fork of SQLite in C, through its own driver."""

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import chain, repeat
from time import monotonic, sleep
from typing import Any, ClassVar

from dbbench.engine import Dialect, Rows, Unsupported
from dbbench_plugins.sql_vectors import VectorRows, VectorTable
from dbbench_plugins.sqlite import CommonOptions, FTS5Session, SQLite, rows

#: Between two looks at a lock, as SQLite itself has them; seconds.
_PAUSES = (0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025)


class LibSQLSession(VectorRows, FTS5Session):
    distances: ClassVar = {"l2": "vector_distance_l2(vector, ?)", "cosine": "vector_distance_cos(vector, ?)"}

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        ((self.milliseconds,),) = rows(connection, "PRAGMA busy_timeout")
        ((self.journal,),) = rows(connection, "PRAGMA journal_mode")

    def begin(self) -> None:
        """Wait for the lock here: the driver keeps Python's while it waits, and so keeps the thread that has it."""
        until = monotonic() + self.milliseconds / 1_000
        self.execute("PRAGMA busy_timeout = 0")
        try:
            for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
                try:
                    return super().begin()
                except ValueError as exc:
                    if self.retry_reason(exc) is None or monotonic() > until:
                        raise
                sleep(pause)
        finally:
            self.execute(f"PRAGMA busy_timeout = {self.milliseconds}")

    def prepare_append(self) -> Callable[[Any, Any, Any], object]:
        self._refuse_without_log()
        return super().prepare_append()

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        self._refuse_without_log()
        return super().prepare_append_texts()

    def _refuse_without_log(self) -> None:
        """Raise Unsupported where a commit and a search would wait for each other, each in turn with Python's lock."""
        if self.journal != "wal":
            raise Unsupported("its driver can't commit while others search, unless SQLite keeps a write-ahead log")

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute = self.connection.execute
        return lambda: iter(execute(sql).fetchone, None)  # its cursor is no iterator

    def prepare_rows(self, sql: str) -> Callable[..., Iterable[Sequence[Any]]]:
        return self.prepare_call(sql)  # its cursor stays open for some time after it was let go

    def close(self) -> None:
        if self.connection.in_transaction:  # which would otherwise live on as long as a cursor that wasn't read out
            self.connection.rollback()
        super().close()


class LibSQL(VectorTable, SQLite):
    name = "libsql"
    title = "libSQL (libsql)"
    license = "MIT; driver: MIT"
    session_class = LibSQLSession
    options_class = CommonOptions
    modules = ("libsql",)
    metrics = ("l2", "cosine")
    vector_type: ClassVar = "F32_BLOB({0})"

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
