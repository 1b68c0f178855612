"""SQLite with promises that it doesn't keep, and that no answer shows."""

from __future__ import annotations

from collections.abc import Mapping

from dbbench.engine import Session, Table
from dbbench_plugins.sqlite import SQLite, SQLiteSession


class UnindexedSession(SQLiteSession):
    def create_indexes(self, tables: Mapping[str, Table]) -> list[str]:
        return []


class Unindexed(SQLite):
    name = "promises-no-indexes"
    title = "Promises: no indexes are made"
    session_class = UnindexedSession


class MisplacedSession(SQLiteSession):
    def create_indexes(self, tables: Mapping[str, Table]) -> list[str]:
        """All there by their names, on another column, whose values ascend and are cheap to index."""
        made = []
        for name, table in tables.items():
            key = self.sql.quoted(table.primary_key)
            for column in table.indexes:
                made.append(f"CREATE INDEX {self.sql.quoted(f'ix_{name}_{column}')} ON {self.sql.quoted(name)} ({key})")
        return made


class Misplaced(SQLite):
    name = "promises-other-column"
    title = "Promises: indexes on another column"
    session_class = MisplacedSession


class Unsynced(SQLite):
    """Its own connection, of which it tells in settings(), is set as it should be."""

    name = "promises-unsynced"
    title = "Promises: sync switched off after opening"

    def connect(self) -> Session:
        session = super().connect()
        assert isinstance(session, SQLiteSession)
        session.execute("PRAGMA synchronous = OFF")
        return session
