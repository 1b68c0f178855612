"""Clients over psycopg 3 and over its low-level layer, `psycopg.pq`. Rows go in by COPY."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, count, starmap
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Dialect, Rows
from dbbench_plugins.postgresql.server import PostgreSQLSession, numbered
from dbbench_plugins.sql_texts import TextRows

if TYPE_CHECKING:
    from dbbench.engine import CsvChunk, DriverTimer, Table

#: Rows that are made into Python values at a time: fastest in a measurement of 1 to all.
AT_ONCE = 1_000
#: Of libpq's ExecStatusType: a command that was done, and rows.
_GOOD = (1, 2)
_TEXT, _BINARY = 0, 1
_BYTEA = 17


class PsycopgSession(TextRows, PostgreSQLSession):
    """COPY reads a chunk as CSV, which Arrow has written: no value becomes a Python object on its way.

    COPY in binary from ADBC, and from psycopg row by row, took the server as long or longer.
    """

    load_format = "csv"
    text_index: ClassVar = (
        "ALTER TABLE texts ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED",
        "CREATE INDEX ON texts USING gin (words)",
        "ANALYZE texts",
    )
    written: ClassVar = {"all": (" & ", "{}"), "any": (" | ", "{}"), "phrase": (" <-> ", "{}"), "prefix": ("", "{}:*")}
    text_query = "SELECT id{} FROM texts, to_tsquery('simple', %s) AS query WHERE words @@ query"
    text_order = " ORDER BY ts_rank(words, query, 1) DESC"

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        copy = self.connection.cursor().copy
        statement = f"COPY {self.sql.quoted(name)} FROM STDIN (FORMAT csv)"

        def insert(chunk: CsvChunk) -> None:
            with copy(statement) as copying:
                copying.write(chunk.data)

        return insert

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        """The driver prepares it in the first call: it offers no other way."""
        cursor = self.connection.cursor()
        execute, fetch = cursor.execute, cursor.fetchmany

        def run() -> Rows:
            execute(sql, prepare=True)
            return chain.from_iterable(iter(lambda: fetch(AT_ONCE), []))

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
        # What psycopg prepares by itself it forgets after a rollback by DEALLOCATE ALL, and ours with it.
        connection.prepare_threshold = None
        self.names = (f"dbbench_{number}".encode() for number in count(1))
        #: Of a session of a group: lets the others go on.
        self.wait: Callable[[], object] | None = None

    def watch(self, timer: DriverTimer) -> None:
        """What comes back is whole when a statement has been executed: there is nothing to fetch."""
        self.low = timer.over(self.low)

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        name, execute = self._prepare(sql), self._executes()
        values = self._values(self._described(name), _TEXT)

        def run() -> Rows:
            result = self._checked(execute(name, None))
            values.set_pgresult(result, set_loaders=False)
            found = result.ntuples
            return chain.from_iterable(
                values.load_rows(first, min(first + AT_ONCE, found), tuple) for first in range(0, found, AT_ONCE)
            )

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        name, execute, checked = self._prepare(sql), self._executes(), self._checked
        return lambda: checked(execute(name, None))

    def returned_rows(self, given: Any) -> bool:
        return bool(given.nfields)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        name, execute = self._prepare(numbered(sql, self.sql)), self._executes()
        described = self._described(name)
        values = self._values(described, _BINARY)
        is_bytes = [described.param_type(number) == _BYTEA for number in range(described.nparams)]
        only_bytes, no_bytes = all(is_bytes), not any(is_bytes)
        set_result, load_row = partial(values.set_pgresult, set_loaders=False), values.load_row

        def call(*given: Any) -> Any:
            sent: Sequence[Any] = given
            if no_bytes:  # as text, as pgbench sends them
                sent = [str(each).encode() for each in given]
            elif not only_bytes:
                sent = [each if raw else str(each).encode() for each, raw in zip(given, is_bytes, strict=False)]
            result = execute(name, sent, is_bytes, _BINARY)
            if result.status not in _GOOD:
                self._checked(result)
            if rows == 0:
                return None
            set_result(result)
            if rows == 1:
                return load_row(0, tuple) if result.ntuples else None
            return values.load_rows(0, result.ntuples, tuple)

        return call

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """One call after another, a round trip each: psycopg's own would have the server plan each row anew."""
        call = self.prepare_call(sql, 0)
        return lambda many: deque(starmap(call, many), maxlen=0)

    def _executes(self) -> Callable[..., Any]:
        """What executes a prepared statement and returns its result."""
        if self.wait is None:
            execute: Callable[..., Any] = self.low.exec_prepared
            return execute
        wait, send, consume = self.wait, self.low.send_query_prepared, self.low.consume_input
        is_busy, get_result = self.low.is_busy, self.low.get_result

        def execute_in_turn(*given: Any) -> Any:
            send(*given)
            wait()
            consume()
            while is_busy():
                wait()
                consume()
            result = get_result()
            while (other := get_result()) is not None:
                result = other
            return result

        return execute_in_turn

    def _prepare(self, sql: str) -> bytes:
        """The name of a statement that the server has prepared; it lasts as long as the session."""
        name = next(self.names)
        self._checked(self.low.prepare(name, sql.encode()))
        return name

    def _described(self, name: bytes) -> Any:
        return self._checked(self.low.describe_prepared(name))

    def _values(self, described: Any, form: int) -> Any:
        """What makes the bytes of a prepared statement's results into Python values."""
        from psycopg.adapt import Transformer
        from psycopg.pq import Format

        values = Transformer(self.connection)
        values.set_pgresult(described, format=Format(form))
        return values

    @staticmethod
    def _checked(result: Any) -> Any:
        if result.status not in _GOOD:
            from psycopg import DatabaseError
            from psycopg.errors import lookup
            from psycopg.pq import DiagnosticField

            kind: type[Exception] = DatabaseError
            if state := result.error_field(DiagnosticField.SQLSTATE):
                with suppress(KeyError):  # psycopg knows those of the server's newest version that it knows
                    kind = lookup(state.decode())
            raise kind(result.error_message.decode("utf-8", "replace").strip())
        return result
