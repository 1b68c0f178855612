"""SQLite through Python's own sqlite3."""

from __future__ import annotations

import sqlite3
from typing import Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import Concurrency, Options, Publication, Session, Size
from dbbench.sql import STANDARD_TYPES, Dialect, SQLEngine, SQLSession, fetch
from dbbench.suite import Tier

#: What PRAGMA synchronous answers.
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


class SQLiteOptions(Options):
    cache_mib: int = Field(default=64, ge=1, description="page cache of a connection, MiB")
    page_size: Literal["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"] = Field(
        default="4096", description="bytes"
    )


class SQLiteSession(SQLSession):
    # SQLite has neither decimals nor dates: a column keeps a float and an ISO text.
    bind: ClassVar = {"decimal": "float", "datetime": "text", "date": "text"}

    def explain(self, sql: str) -> str:
        """The plan as a tree: each line stands under the one that it belongs to."""
        depth, lines = {0: 0}, []
        for number, parent, _, text in fetch(self, f"EXPLAIN QUERY PLAN {sql}"):
            depth[number] = depth.get(parent, 0) + 1
            lines.append("  " * depth.get(parent, 0) + text)
        return "\n".join(lines)


class SQLite(SQLEngine):
    name = "sqlite"
    title = "SQLite (sqlite3)"
    license = "public domain"
    publication = Publication.ALLOWED
    dialect = "sqlite"
    sql = Dialect(types={**STANDARD_TYPES, "datetime": "DATETIME"})
    options_class = SQLiteOptions
    session_class = SQLiteSession
    concurrency = Concurrency(threads=None, processes=None)  # one writer at a time
    durability = {
        Tier.POWER: {"journal_mode": "WAL", "synchronous": "FULL"},
        Tier.PROCESS: {"journal_mode": "WAL", "synchronous": "OFF"},
        Tier.MEMORY: {"journal_mode": "MEMORY", "synchronous": "OFF"},
    }

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"SQLite": sqlite3.sqlite_version}

    def open(self) -> None:
        self.path = self.directory / "data.sqlite"
        self.connection = self._connection()

    def _connection(self) -> Any:
        connection = self._raw()
        for pragma, value in {
            "page_size": self.options.page_size,
            "cache_size": -1024 * self.options.cache_mib,
            **self.durability[self.tier],
        }.items():
            self._set(connection, f"PRAGMA {pragma} = {value}")
        return connection

    def _set(self, connection: Any, pragma: str) -> None:
        rows(connection, pragma)  # some give a row, which must be fetched

    def _raw(self) -> Any:
        return sqlite3.connect(self.path, isolation_level=None)

    def connect(self) -> Session:
        return self.session_class(self._connection(), self.sql)

    def part(self, name: str) -> Literal["data", "journal", "other"]:
        return "other" if name.endswith("-shm") else super().part(name)  # the journal's index, in shared memory

    def flush(self) -> None:
        rows(self.connection, "PRAGMA wal_checkpoint(TRUNCATE)")

    def settings(self) -> dict[str, Any]:
        """As the database has them: a pragma that doesn't take raises nothing."""
        ((page_size,),), ((mode,),), ((synchronous,),) = (
            rows(self.connection, f"PRAGMA {pragma}") for pragma in ("page_size", "journal_mode", "synchronous")
        )
        found = {"page_size": str(page_size), "journal_mode": mode.upper(), "synchronous": _SYNCHRONOUS[synchronous]}
        return {**super().settings(), **found}

    def size(self) -> Size:
        index = None
        if ("dbstat",) in rows(self.connection, "PRAGMA module_list"):  # not every SQLite is built with it
            query = "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE type = 'index')"
            ((index,),) = rows(self.connection, query)
        return Size(super().size().files, index)

    def close(self) -> None:
        self.connection.close()


def rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a small statement, over any of the drivers."""
    return connection.execute(sql).fetchall() or []  # libsql gives None where there are none
