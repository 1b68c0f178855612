"""SQLite through aiosqlite, which has a thread of its own for each connection of sqlite3."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from dbbench.engine import AwaitedConnection, AwaitedEngine, AwaitedSession, LoopOptions, Rows, Session
from dbbench_plugins.dbapi import KeepsSessions
from dbbench_plugins.sqlite import DocumentOptions, SQLite, SQLiteSession


class AioSQLiteOptions(LoopOptions, DocumentOptions):
    """Options of `sqlite+apsw`, and the event loop."""


class Connection(AwaitedConnection):
    """A connection, asked as one of sqlite3 for what is done once."""

    def execute(self, sql: str) -> Cursor:
        """The statement's cursor."""
        return Cursor(self, self.ask(self.raw.execute(sql)))

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self.raw.in_transaction)


class Cursor:
    """A cursor whose rows are awaited."""

    def __init__(self, connection: Connection, cursor: Any) -> None:
        self._ask, self._cursor = connection.ask, cursor
        self.description = cursor.description

    def fetchall(self) -> list[Any]:
        """All rows."""
        return list(self._ask(self._cursor.fetchall()))


class AioSQLiteSession(AwaitedSession, SQLiteSession):
    """What returns rows executes and fetches in one turn of the connection's thread."""

    def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
        return self.prepare_many(self.sql.insert(name, table))

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        return self.prepare_call(sql)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        ask, execute, fetch = self.connection.ask, self.connection.raw.execute, self.connection.raw.execute_fetchall
        if rows == 0:
            return lambda *values: ask(execute(sql, values))
        if rows is None:
            return lambda *values: ask(fetch(sql, values))

        def first(*values: Any) -> Any:
            found = ask(fetch(sql, values))
            return found[0] if found else None

        return first

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        executemany, ask = self.connection.raw.executemany, self.connection.ask
        return lambda many: ask(executemany(sql, many))


class AioSQLite(AwaitedEngine, KeepsSessions, SQLite):
    name = "sqlite+aiosqlite"
    title = "SQLite (aiosqlite)"
    license = "public domain; driver: MIT"
    options_class = AioSQLiteOptions
    modules: ClassVar[Sequence[str]] = ("aiosqlite",)
    session_class = AioSQLiteSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"SQLite": sqlite3.sqlite_version, "aiosqlite": version("aiosqlite")}

    def connect(self) -> Session:
        """A client, which is closed with the engine at the latest: the driver's thread would outlive it."""
        return self.kept(super().connect())

    def _raw(self) -> Any:
        import aiosqlite

        return Connection(self.options.loop, lambda: aiosqlite.connect(self.path, isolation_level=None))
