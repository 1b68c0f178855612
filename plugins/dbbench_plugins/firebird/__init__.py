"""Firebird inside the process, through firebird-driver."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from ctypes.util import find_library
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    Concurrency,
    Dialect,
    MemoryShare,
    Options,
    Publication,
    Retry,
    Rows,
    SQLEngine,
    SQLSession,
    Tier,
    Unavailable,
    Unsupported,
    chosen,
    fetch,
)
from dbbench_plugins.dbapi import KeepsSessions

if TYPE_CHECKING:
    from dbbench.engine import Table


#: isc_update_conflict, isc_lock_timeout, isc_lock_conflict and isc_deadlock -> why a transaction is made again.
_RETRIED: Mapping[int, Retry] = {
    335544451: "conflict",
    335544510: "lock timeout",
    335544345: "lock timeout",
    335544336: "deadlock",
}
_STATISTICS = """
    SELECT R.MON$RECORD_INSERTS, R.MON$RECORD_UPDATES, R.MON$RECORD_DELETES
    FROM MON$DATABASE D INNER JOIN MON$RECORD_STATS R ON R.MON$STAT_ID = D.MON$STAT_ID
"""
_INDEXED = """
    SELECT TRIM(S.RDB$FIELD_NAME)
    FROM RDB$INDICES I INNER JOIN RDB$INDEX_SEGMENTS S ON S.RDB$INDEX_NAME = I.RDB$INDEX_NAME
    WHERE I.RDB$RELATION_NAME = '{0}' AND S.RDB$FIELD_POSITION = 0 AND COALESCE(I.RDB$INDEX_INACTIVE, 0) = 0
"""


class FirebirdOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare()] = Field(default=None, description="page cache, MiB")
    page_size: int = Field(default=8192, ge=4096, le=32768, description="bytes; a power of two")


class FirebirdSession(SQLSession):
    """Rows go in by the engine's batch interface and come out of the driver's own cursor.

    So a query costs what it costs an application: the driver takes each row apart in Python, which is
    nine tenths of the time of a fetch, and which a decoder of our own would hide.

    Whatever runs outside begin ... commit has a transaction of its own, as Firebird knows no
    autocommit: a query's ends with its last row, or where the next operation starts.
    """

    load_format = "batches"

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        from firebird import driver

        super().__init__(connection, dialect)
        self.begun = False
        # Closed from the last to the first: whatever is freed after its connection crashes at exit.
        self.closing = ExitStack()
        self.closing.callback(connection.close)
        # A transaction that may write costs a page, written through, even when it only reads. Without waiting: of
        # clients that wait for each other the engine looks for deadlocks every ten seconds only, and one that waited
        # for a row's writer under a snapshot is refused afterwards all the same.
        self.writing = driver.tpb(driver.Isolation.READ_COMMITTED_RECORD_VERSION, lock_timeout=0)
        self.reading = driver.tpb(driver.Isolation.SNAPSHOT, access_mode=driver.TraAccessMode.READ)

    def execute(self, sql: str) -> None:
        self._start()
        self.connection.execute_immediate(sql)
        self._end()

    def begin(self) -> None:
        self.connection.begin(self.writing)
        self.begun = True

    def commit(self) -> None:
        self.connection.commit()
        self.begun = False

    def begin_reading(self) -> None:
        self.connection.begin(self.reading)
        self.begun = True

    def rollback(self) -> None:
        self.connection.rollback()
        self.begun = False

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        """Retry reason by the engine's own codes: those of a conflict begin with that of a deadlock, too."""
        codes = getattr(exc, "gds_codes", None) or ()
        return next((reason for code, reason in _RETRIED.items() if code in codes), None)

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        from dbbench_plugins.firebird.batch import BatchInsert

        _, statement = self._prepare(self.sql.insert(name, table))
        batch = self.closing.enter_context(BatchInsert(statement))

        def insert(rows: Any) -> None:
            if not self.begun:
                self.begin()
            batch.insert(rows, self.connection.main_transaction)

        return insert

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        cursor, statement = self._prepare(sql)

        def run() -> Rows:
            self._start(self.reading)
            return chain(cursor.execute(statement), self._ending())

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        cursor, statement = self._prepare(sql)

        def run() -> object:
            self._start()
            cursor.execute(statement)
            self._end()
            return statement

        return run

    def returned_rows(self, given: Any) -> bool:
        """True by the kind of the statement: with its transaction the cursor has ended."""
        return str(given.type.name).startswith("SELECT")

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        cursor, statement = self._prepare(sql)
        return partial(cursor.executemany, statement)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        cursor, statement = self._prepare(sql)
        execute, start, end = cursor.execute, self._start, self._end
        parameters = self.reading if rows != 0 else None

        def run(*values: Any) -> Any:
            start(parameters)
            execute(statement, values)
            found = cursor.fetchall() if rows != 0 else None
            end()
            return found if rows != 1 else (found[0] if found else None)

        return run

    def explain(self, sql: str) -> str:
        with self.connection.cursor() as cursor, cursor.prepare(sql) as statement:
            return str(statement.detailed_plan).strip()

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """Back up and restore as gbak does, and put the new file in the old one's place: a database never shrinks."""
        from firebird import driver

        file = Path(self.connection.dsn)
        backup, restored = file.with_suffix(".fbk"), file.with_suffix(".new")

        def run() -> None:
            with driver.connect_server("", user="SYSDBA") as server:
                server.database.backup(database=str(file), backup=str(backup))
                server.wait()
                server.database.restore(database=str(restored), backup=str(backup))
                server.wait()
            backup.unlink()
            restored.replace(file)

        return run

    def close(self) -> None:
        """Free what was prepared, then the connection."""
        self.closing.close()

    def _prepare(self, sql: str) -> tuple[Any, Any]:
        cursor = self.connection.cursor()
        statement = self.closing.enter_context(cursor.prepare(sql))
        return self.closing.enter_context(cursor), statement

    def _start(self, parameters: bytes | None = None) -> None:
        if not self.begun:
            self.connection.begin(parameters)  # ends what a query that wasn't read to its end has left open

    def _end(self) -> None:
        if not self.begun:
            self.connection.commit()

    def _ending(self) -> Iterator[Any]:
        """Return no rows, but end the transaction when the first of them is asked for."""
        self._end()
        yield from ()


class Firebird(KeepsSessions, SQLEngine):
    name = "firebird"
    title = "Firebird (embedded)"
    license = "IPL 1.0 and IDPL 1.0; driver: MIT"
    publication = Publication.ALLOWED
    dialect = "firebird"
    sql = Dialect(limit="FETCH FIRST {0} ROWS ONLY", indexed=_INDEXED)
    longest_key = 1_000  # a quarter of the smallest page, less what the index adds
    longest_value = 32_765
    options_class = FirebirdOptions
    session_class = FirebirdSession
    modules = ("firebird.driver", "firebird.embedded.provider")
    debian = ("libtommath1", "icu-devtools")  # the second brings libicu, whose own package names its version
    concurrency = Concurrency(threads=None, processes=1)  # SuperServer's lock on the file
    # A commit writes four pages (counted with strace) and calls no fsync, not even at close. With forced
    # writes the file is opened O_DSYNC, so that they are on the disk; without, the system has them.
    durability: ClassVar = {Tier.POWER: {"forced_writes": True}, Tier.PROCESS: {"forced_writes": False}}
    sync_queries: ClassVar = {"forced_writes": "SELECT MON$FORCED_WRITES = 1 FROM MON$DATABASE"}
    option_queries: ClassVar = {
        "cache_mib": "SELECT MON$PAGE_BUFFERS * MON$PAGE_SIZE / 1048576 FROM MON$DATABASE",
        "page_size": "SELECT MON$PAGE_SIZE FROM MON$DATABASE",
    }

    @classmethod
    def available(cls) -> None:
        try:
            ctypes.CDLL("libtommath.so.1")
        except OSError as exc:
            raise Unavailable(f"Firebird needs a library of the system: {exc}") from exc
        if not find_library("icuuc"):
            raise Unavailable("Firebird needs a library of the system: libicuuc")

    @classmethod
    def versions(cls) -> dict[str, str]:
        from firebird import driver
        from firebird.embedded.provider import FirebirdProvider

        wheel = FirebirdProvider()
        return {
            "Firebird": wheel.firebird_version,
            "firebird-embedded": wheel.package_version,
            "firebird-driver": driver.__VERSION__,
        }

    def open(self) -> None:
        from dbbench_plugins.firebird.library import load_library

        if ":" in str(self.directory):
            raise Unsupported(f"Firebird takes what precedes a colon for the name of a server: {self.directory}")
        load_library()
        # Open as long as the engine is: the page cache goes with the last connection.
        self.connection = self._connection()
        atexit.register(self.close)

    def connect(self) -> SQLSession:
        return self.kept(FirebirdSession(self._connection(), self.sql))

    def settings(self) -> dict[str, Any]:
        """Settings as the database has them, which rounds a page size that it doesn't know."""
        from firebird import driver

        info = self.connection.info
        return {
            "cache_mib": info.page_cache_size * info.page_size // 2**20,
            "page_size": info.page_size,
            "forced_writes": info.write_mode is driver.DbWriteMode.SYNC,
        }

    def statistics(self) -> dict[str, int]:
        """Counts of the database's own monitoring tables."""
        session = self.connect()
        ((*found,),) = fetch(session, _STATISTICS)
        session.close()
        return dict(zip(("inserts", "updates", "deletes"), found, strict=True))

    def close(self) -> None:
        """Close every connection, also those of sessions that were left open."""
        atexit.unregister(self.close)
        super().close()
        self.connection.close()

    def _connection(self) -> Any:
        from dbbench_plugins.firebird.library import attach

        mib = chosen(self.options.cache_mib)
        return attach(
            self.directory / "data.fdb",
            page_size=self.options.page_size,
            cache_pages=mib and mib * 2**20 // self.options.page_size,
            **self.durability[self.tier],
        )
