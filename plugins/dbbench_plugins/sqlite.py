"""SQLite through Python's own sqlite3."""

from __future__ import annotations

import sqlite3
from typing import Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import Concurrency, Options, Publication, Session, Size
from dbbench.sql import STANDARD_TYPES, Dialect, SQLEngine, SQLSession
from dbbench.suite import Tier


class SQLiteOptions(Options):
    cache_mib: int = Field(default=64, ge=1, description="page cache of a connection, MiB")
    page_size: Literal["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"] = Field(
        default="4096", description="bytes"
    )


class SQLiteSession(SQLSession):
    # SQLite has neither decimals nor dates: a column keeps a float and an ISO text.
    bind: ClassVar = {"decimal": "float", "datetime": "text", "date": "text"}


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
            list(connection.execute(f"PRAGMA {pragma} = {value}"))
        return connection

    def _raw(self) -> Any:
        return sqlite3.connect(self.path, isolation_level=None)

    def connect(self) -> Session:
        return self.session_class(self._connection(), self.sql)

    def part(self, name: str) -> Literal["data", "journal", "other"]:
        return "other" if name.endswith("-shm") else super().part(name)  # the journal's index, in shared memory

    def flush(self) -> None:
        list(self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))

    def size(self) -> Size:
        query = "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE type = 'index')"
        try:
            (index,) = next(iter(self.connection.execute(query)))
        except self.errors:  # a SQLite built without dbstat
            index = None
        return Size(super().size().files, index)

    errors: ClassVar[Any] = sqlite3.OperationalError

    def close(self) -> None:
        self.connection.close()
