"""SQLite through Python's own sqlite3."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import (
    STANDARD_TYPES,
    Concurrency,
    Dialect,
    FileRole,
    MemoryShare,
    Options,
    Publication,
    Retry,
    Session,
    Setup,
    Size,
    SQLEngine,
    SQLSession,
    Tier,
    Unsupported,
    chosen,
    fetch,
)
from dbbench_plugins.sql_texts import TextRows

if TYPE_CHECKING:
    from dbbench.engine import Table

#: What PRAGMA synchronous answers.
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
#: SQLITE_BUSY and SQLITE_LOCKED.
_LOCKED = (5, 6)
#: Extended codes: of a reader that would write to what has changed since, and of a table that another connection to the
#: shared cache has locked, for which no busy timeout waits.
_TOLD: Mapping[int, Retry] = {5 | 2 << 8: "conflict", 6 | 1 << 8: "locked table"}

#: No word is made another: neither accents nor endings are taken off.
_FTS5 = (
    "CREATE VIRTUAL TABLE words USING fts5 "
    "(body, content = 'texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0')"
)
# https://sqlite.org/fts5.html#external_content_tables
_TRIGGERS = (
    (
        "CREATE TRIGGER texts_inserted AFTER INSERT ON texts BEGIN "
        "INSERT INTO words (rowid, body) VALUES (new.id, new.body); END"
    ),
    (
        "CREATE TRIGGER texts_deleted AFTER DELETE ON texts BEGIN "
        "INSERT INTO words (words, rowid, body) VALUES ('delete', old.id, old.body); END"
    ),
)


class FileOptions(Options):
    cache_mib: Annotated[int | None, MemoryShare("client_cache")] = Field(
        default=None, description="page cache of a connection, MiB"
    )
    page_size: Literal["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"] = Field(
        default="4096", description="bytes"
    )
    busy_seconds: int = Field(
        default=60, ge=0, le=3600, description="how long a client waits for the one lock, seconds"
    )


class CommonOptions(FileOptions):
    statistics: bool = Field(default=True, description="whether a load ends with ANALYZE")


class JournalOptions(FileOptions):
    journal_mode: Literal["WAL", "DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF"] | None = Field(
        default=None, description="instead of that of the durability tier, which follows from it"
    )
    synchronous: Literal["OFF", "NORMAL", "FULL", "EXTRA"] | None = Field(
        default=None, description="instead of that of the durability tier, which follows from it"
    )


class DocumentOptions(JournalOptions, CommonOptions):
    documents: Literal["text", "jsonb"] = Field(
        default="text", description="form in which documents are kept; jsonb since SQLite 3.45"
    )


class SQLiteOptions(DocumentOptions):
    cache: Literal["private", "shared"] = Field(
        default="private",
        description="page cache: one for each connection, or shared by those of a process, which then get an error "
        "where a table is locked instead of waiting",
    )


@dataclass(frozen=True)
class _JSONB(Dialect):
    """Documents in SQLite's binary form, which its functions for JSON take as they take text."""

    def insert(self, name: str, table: Table) -> str:
        values = ["jsonb(?)" if column.data_type.name == "json" else "?" for column in table.columns.values()]
        return f"{super().insert(name, table).rpartition('VALUES')[0]}VALUES ({', '.join(values)})"

    def translate(self, sql: str, tables: Mapping[str, Table]) -> str:
        """A statement that sets a field, with the function that returns the binary form."""
        return super().translate(sql, tables).replace("json_set(", "jsonb_set(")


class SQLiteSession(SQLSession):
    # SQLite has neither decimals nor dates: a column keeps a float and an ISO text.
    bind: ClassVar = {"decimal": "float", "datetime": "text", "date": "text"}

    def begin(self) -> None:
        """Begin as the manual advises for a transaction that will write: one that reads first may be overtaken."""
        self.execute("BEGIN IMMEDIATE")

    def begin_reading(self) -> None:
        self.execute("BEGIN")

    def rollback(self) -> None:
        if self.connection.in_transaction:  # an error like a full disk may have ended it
            self.execute("ROLLBACK")

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        """Retry reason by the result code where the driver gives it (sqlite3, APSW), or else by SQLite's own words."""
        code = getattr(exc, "sqlite_errorcode", None) or getattr(exc, "extendedresult", None)
        if code is not None:
            if code in _TOLD:
                return _TOLD[code]
            return "lock timeout" if code & 0xFF in _LOCKED else None
        said = str(exc)
        if "database is locked" in said or "database table is locked" in said:
            return "lock timeout"
        return None

    def explain(self, sql: str) -> str:
        """The plan as a tree: each line stands under the one that it belongs to."""
        depth, lines = {0: 0}, []
        for number, parent, _, text in fetch(self, f"EXPLAIN QUERY PLAN {sql}"):
            depth[number] = depth.get(parent, 0) + 1
            lines.append("  " * depth.get(parent, 0) + text)
        return "\n".join(lines)


class FTS5Session(TextRows, SQLiteSession):
    """A session that searches by FTS5: over the table, without a copy of the texts."""

    text_index: ClassVar = (_FTS5, "INSERT INTO words (words) VALUES ('rebuild')", *_TRIGGERS)
    written: ClassVar = {"all": (" AND ", "{}"), "any": (" OR ", "{}"), "phrase": (" ", '"{}"'), "prefix": ("", "{}*")}
    text_query = "SELECT rowid{} FROM words WHERE words MATCH ?"
    text_order = " ORDER BY rank"

    def prepare_rows(self, sql: str) -> Callable[..., Iterable[Sequence[Any]]]:
        execute = self.connection.execute
        return lambda *values: execute(sql, values)

    def prepare_text_index(self) -> Callable[[], object]:
        """Raises Unsupported for a SQLite that is built without FTS5, as that of some Pythons is."""
        modules = rows(self.connection, "PRAGMA module_list")  # none before SQLite 3.30
        if modules and ("fts5",) not in modules:
            raise Unsupported("this SQLite is built without FTS5")
        return super().prepare_text_index()


class SQLite(SQLEngine):
    name = "sqlite"
    title = "SQLite (sqlite3)"
    license = "public domain"
    publication = Publication.ALLOWED
    dialect = "sqlite"
    sql = Dialect(
        types={**STANDARD_TYPES, "datetime": "DATETIME", "json": "TEXT"},
        compact="VACUUM",
        statistics="ANALYZE",
        read_only=("PRAGMA query_only = 1", "PRAGMA query_only = 0"),  # not ON: Turso refuses the word
        indexed="SELECT i.name FROM pragma_index_list('{0}') AS l, pragma_index_info(l.name) AS i WHERE i.seqno = 0",
    )
    options_class: ClassVar[type[Options]] = SQLiteOptions
    layer_options = CommonOptions
    session_class: ClassVar[type[SQLiteSession]] = FTS5Session
    concurrency = Concurrency(threads=None, processes=None)  # one writer at a time
    durability = {
        Tier.POWER: {"journal_mode": "WAL", "synchronous": "FULL"},
        Tier.PROCESS: {"journal_mode": "WAL", "synchronous": "OFF"},
        Tier.MEMORY: {"journal_mode": "MEMORY", "synchronous": "OFF"},
    }
    sync_queries = {
        "journal_mode": "SELECT UPPER(journal_mode) FROM pragma_journal_mode",
        "synchronous": "SELECT CASE synchronous "
        + " ".join(f"WHEN {number} THEN '{word}'" for number, word in enumerate(_SYNCHRONOUS))
        + " END FROM pragma_synchronous",
    }

    option_queries = {
        "page_size": "SELECT page_size FROM pragma_page_size",
        "cache_mib": "SELECT -cache_size / 1024 FROM pragma_cache_size",
    }

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"SQLite": sqlite3.sqlite_version}

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        if getattr(self.options, "cache", "") == "shared" and "cache_mib" not in setup.options:
            self.options = self.options.model_copy(update={"cache_mib": setup.shares.cache})
        if not getattr(self.options, "statistics", True):
            self.sql = replace(self.sql, statistics="")  # type: ignore[misc]  # of this one alone
        if getattr(self.options, "documents", "text") == "jsonb":
            if tuple(map(int, self.versions()["SQLite"].split("."))) < (3, 45):
                raise Unsupported(f"SQLite {self.versions()['SQLite']} has no jsonb, which came with 3.45")
            as_jsonb = replace(self.sql, types={**self.sql.types, "json": "BLOB"}, document="json({0})")
            self.sql = _JSONB(**vars(as_jsonb))  # type: ignore[misc]  # of this one alone
        if chosen := self.options.model_dump(include={"journal_mode", "synchronous"}, exclude_none=True):
            settings = {**self.durability[self.tier], **chosen}
            # Processes of clients get the options, and the tier that follows from them.
            self.options = self.options.model_copy(update=settings)
            self.tier = tier_of(settings["journal_mode"], settings["synchronous"])
            self.durability = {**self.durability, self.tier: settings}  # type: ignore[misc]  # of this one alone

    def open(self) -> None:
        self.path = self.directory / "data.sqlite"
        self.connection = self._connection()

    def _connection(self) -> Any:
        connection = self._raw()
        try:
            self._set(connection, "PRAGMA foreign_keys = ON")  # those that a suite declares are checked, as elsewhere
            for pragma, value in self.pragmas().items():
                self._set(connection, f"PRAGMA {pragma} = {value}")
        except BaseException:
            connection.close()  # aiosqlite's has a thread, which would outlive it
            raise
        return connection

    def pragmas(self) -> dict[str, Any]:
        """What a connection is set to, in order."""
        return {
            # Long, as many clients may stand before one, and none of them has a turn of its own.
            "busy_timeout": 1_000 * self.options.busy_seconds,
            "page_size": self.options.page_size,
            **({"cache_size": -1024 * mib} if (mib := chosen(self.options.cache_mib)) else {}),
            **self.durability[self.tier],
        }

    def _set(self, connection: Any, pragma: str) -> None:
        rows(connection, pragma)  # some give a row, which must be fetched

    def _raw(self) -> Any:
        # Clients that share connections take turns, so that each is used by one thread at a time.
        shared = self.options.cache == "shared"
        place = f"{self.path.absolute().as_uri()}?cache=shared" if shared else self.path
        connection = sqlite3.connect(place, isolation_level=None, check_same_thread=False, uri=shared)
        if shared and ("OMIT_SHARED_CACHE",) in rows(connection, "PRAGMA compile_options"):
            connection.close()
            raise Unsupported("the SQLite of this Python is built without shared caches (OMIT_SHARED_CACHE)")
        return connection

    def connect(self) -> Session:
        return self.session_class(self._connection(), self.sql)

    def file_role(self, name: str) -> FileRole:
        # The flush leaves nothing in the log that is needed, nor in its index, which is shared memory.
        return "reserved" if name.endswith(("-wal", "-shm")) else super().file_role(name)

    def flush(self) -> None:
        # A connection that has read nothing yet opens the log within the checkpoint, and then waits for itself.
        rows(self.connection, "SELECT COUNT(*) FROM sqlite_master")
        # The file of the log is kept, as by SQLite's own checkpoints: cut off, each later commit would have to extend
        # it.
        ((busy, *_),) = rows(self.connection, "PRAGMA wal_checkpoint(RESTART)")
        if busy:  # SQLite says so in a row and raises nothing
            raise RuntimeError(
                "the checkpoint is not complete: another connection still reads from the log or writes to it"
            )

    def settings(self) -> dict[str, Any]:
        """Settings as the database has them: a pragma without effect raises nothing."""
        ((page_size,),), ((mode,),), ((synchronous,),) = (
            rows(self.connection, f"PRAGMA {pragma}") for pragma in ("page_size", "journal_mode", "synchronous")
        )
        found = {"page_size": str(page_size), "journal_mode": mode.upper(), "synchronous": _SYNCHRONOUS[synchronous]}
        return {**super().settings(), **found}

    def size(self) -> Size:
        index = None
        if ("dbstat",) in rows(self.connection, "PRAGMA module_list"):  # not every SQLite is built with it
            query = "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE type = 'index')"
            ((index,),) = rows(self.connection, query)
        return Size(super().size().files, index)

    def close(self) -> None:
        self.connection.close()


def tier_of(journal: str, synchronous: str) -> Tier:
    """The durability tier of two settings, as the manual has it ("PRAGMA synchronous", "PRAGMA journal_mode").

    A journal in memory, or none, may leave a torn database when the process dies. A journal that is deleted is gone for
    good when its folder is synced: EXTRA.
    """
    if journal in ("MEMORY", "OFF"):
        return Tier.MEMORY
    safe = ("EXTRA",) if journal == "DELETE" else ("FULL", "EXTRA")
    return Tier.POWER if synchronous in safe else Tier.PROCESS


def rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a small statement, over any of the drivers."""
    return connection.execute(sql).fetchall() or []  # libsql gives None where there are none
