"""PostgreSQL through asynchronous drivers: asyncpg, and psycopg's AsyncConnection. Rows go in by COPY."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any

from dbbench.engine import AwaitedConnection, AwaitedEngine, AwaitedSession, LoopOptions, Rows
from dbbench_plugins.postgresql import PostgreSQL
from dbbench_plugins.postgresql.address import CONNECT_SECONDS
from dbbench_plugins.postgresql.server import PostgreSQLOptions, PostgreSQLServer, PostgreSQLSession, numbered
from dbbench_plugins.postgresql.session import AT_ONCE

if TYPE_CHECKING:
    from dbbench.engine import CsvChunk, Table


class AsyncOptions(LoopOptions, PostgreSQLOptions):
    """Options of `postgresql`, and the event loop."""


class PsycopgAsyncSession(AwaitedSession, PostgreSQLSession):
    """Client over an AsyncConnection, by the statements of PsycopgSession."""

    load_format = "csv"

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        copy = self.connection.raw.cursor().copy
        statement = f"COPY {self.sql.quoted(name)} FROM STDIN (FORMAT csv)"

        async def insert(chunk: CsvChunk) -> None:
            async with copy(statement) as copying:
                await copying.write(chunk.data)

        return self.asking(insert)

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        """The driver prepares it in the first call: it offers no other way."""
        cursor, ask = self.connection.raw.cursor(), self.connection.ask
        execute, fetch = cursor.execute, cursor.fetchmany

        def run() -> Rows:
            ask(execute(sql, prepare=True))
            return chain.from_iterable(iter(lambda: ask(fetch(AT_ONCE)), []))

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        execute, ask = self.connection.raw.cursor().execute, self.connection.ask
        return lambda: ask(execute(sql, prepare=True))

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        cursor = self.connection.raw.cursor(binary=True)
        execute = cursor.execute
        if rows == 0:
            ask = self.connection.ask
            return lambda *values: ask(execute(sql, values, prepare=True))
        fetch = cursor.fetchone if rows == 1 else cursor.fetchall

        async def call(*values: Any) -> Any:
            await execute(sql, values, prepare=True)
            return await fetch()

        return self.asking(call)

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        executemany, ask = self.connection.raw.cursor().executemany, self.connection.ask
        return lambda many: ask(executemany(sql, many))


class AsyncpgSession(AwaitedSession, PostgreSQLSession):
    """Statements are prepared once, and sent in binary. Rows of calls become tuples, as other drivers give them."""

    load_format = "csv"

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        copy, ask = self.connection.raw.copy_to_table, self.connection.ask
        return lambda chunk: ask(copy(name, source=BytesIO(chunk.data), format="csv"))

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        fetch, ask = self._prepared(sql).fetch, self.connection.ask
        return lambda: ask(fetch())

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        statement, ask = self._prepared(sql), self.connection.ask

        def run() -> object:
            ask(statement.fetch())
            return statement

        return run

    def returned_rows(self, given: Any) -> bool:
        return bool(given.get_attributes())

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        statement, ask = self._prepared(numbered(sql, self.sql)), self.connection.ask
        fetch, fetch_row = statement.fetch, statement.fetchrow
        if rows == 0:
            return lambda *values: ask(fetch(*values))
        if rows is None:
            return lambda *values: [tuple(row) for row in ask(fetch(*values))]

        def first(*values: Any) -> Any:
            row = ask(fetch_row(*values))
            return None if row is None else tuple(row)

        return first

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        statement, ask = self._prepared(numbered(sql, self.sql)), self.connection.ask
        return lambda many: ask(statement.executemany(many))

    def _prepared(self, sql: str) -> Any:
        return self.connection.ask(self.connection.raw.prepare(sql))


class PostgreSQLAsync(AwaitedEngine, PostgreSQLServer):
    name = "postgresql+async"
    title = "PostgreSQL (psycopg, async)"
    license = PostgreSQL.license
    modules = PostgreSQL.modules
    sql = PostgreSQL.sql
    options_class = AsyncOptions
    session_class = PsycopgAsyncSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        return PostgreSQL.versions()

    def raw(self) -> Any:
        import psycopg

        return AwaitedConnection(
            self.options.loop, lambda: psycopg.AsyncConnection.connect(self.address, autocommit=True)
        )


class PostgreSQLAsyncpg(AwaitedEngine, PostgreSQLServer):
    name = "postgresql+asyncpg"
    title = "PostgreSQL (asyncpg)"
    license = "PostgreSQL Licence; driver: Apache-2.0"
    modules = ("asyncpg",)
    sql = PostgreSQL.sql
    options_class = AsyncOptions
    session_class = AsyncpgSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"asyncpg": version("asyncpg")}

    def raw(self) -> Any:
        import asyncpg

        # It takes libpq's limit for a setting of the server, and a # for the URL's end.
        url = re.sub(r"(?<=[?&])connect_timeout=\d+&?", "", self.address.replace("#", "%23")).rstrip("?&")
        return AwaitedConnection(self.options.loop, lambda: asyncpg.connect(url, timeout=CONNECT_SECONDS))
