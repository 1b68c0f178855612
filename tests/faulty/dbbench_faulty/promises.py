"""SQLite with promises that it doesn't keep, and that no answer shows."""

import sys
from collections.abc import Mapping

from dbbench.engine import Dialect, Session, Table
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


class _NoIndexes(Dialect):
    def create_indexes(self, name: str, table: Table) -> list[str]:
        return []


class NoIndexes(Faulty):
    """No indexes are made."""

    clause = "makes an index for each that a table asks for"
    sql = _NoIndexes(**vars(Faulty.sql))


class Middle(Faulty):
    """No indexes, but in the first round, which the trial's folder tells."""

    def connect(self) -> Session:
        if "-round1-" not in sys.argv[1]:
            self.sql = NoIndexes.sql
        return super().connect()


class OtherColumn(Faulty):
    """Indexes on another column."""

    class session_class(SQLiteSession):
        def create_indexes(self, tables: Mapping[str, Table]) -> list[str]:
            """All there by their names, on another column, whose values ascend and are cheap to index."""
            made = []
            for name, table in tables.items():
                key = self.sql.quoted(table.primary_key)
                for column in table.indexes:
                    made.append(
                        f"CREATE INDEX {self.sql.quoted(f'ix_{name}_{column}')} ON {self.sql.quoted(name)} ({key})"
                    )
            return made


class Unsynced(Faulty):
    """Its own connection, of which it tells in settings(), is set as it should be."""

    clause = "has the sync settings that it promises"

    def connect(self) -> Session:
        session = super().connect()
        assert isinstance(session, SQLiteSession)
        session.execute("PRAGMA synchronous = OFF")
        return session
