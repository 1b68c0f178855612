"""A private PostgreSQL server, or one at a URL: all of an engine but the driver."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import (
    Dialect,
    EngineInfo,
    File,
    FileRole,
    MemoryShare,
    Options,
    Program,
    Publication,
    Retry,
    ServerSetting,
    Size,
    SQLSession,
    Tier,
    fetch,
    server_setting_names,
    server_settings,
)
from dbbench_plugins.dbapi import ClientServer, failed
from dbbench_plugins.postgresql.address import ADVICE, URL_EXAMPLE, checked
from dbbench_plugins.postgresql.cluster import FOLDER, Cluster
from dbbench_plugins.postgresql.programs import folder_of_programs

if TYPE_CHECKING:
    from dbbench.engine import Table

#: What is recorded besides the settings that are options: what a reader would ask for who has other figures.
_SETTINGS = (
    "autovacuum",
    "checkpoint_timeout",
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "wal_level",
    "wal_sync_method",
)
_STATISTICS = """
    SELECT COALESCE(SUM(n_tup_ins), 0), COALESCE(SUM(n_tup_upd), 0), COALESCE(SUM(n_tup_del), 0), MAX(xact_commit),
    MAX(deadlocks) FROM pg_stat_database LEFT JOIN pg_stat_user_tables ON TRUE WHERE datname = current_database()
"""
_INDEXED = """
    SELECT CAST(a.attname AS text) FROM pg_index i
    INNER JOIN pg_class t ON t.oid = i.indrelid
    INNER JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE t.relname = '{0}' AND t.relnamespace = current_schema()::regnamespace AND i.indisvalid
"""
_READINGS, _BETWEEN_SECONDS = 10, 0.3
#: What version() has in it, if another product speaks PostgreSQL's language -> that product.
_OTHERS = {
    "CockroachDB": "CockroachDB",
    "-YB-": "YugabyteDB",
    "Redshift": "Redshift",
    "Greenplum": "Greenplum",
    "EnterpriseDB": "EDB Postgres Advanced Server",
    "Materialize": "Materialize",
}


#: SQLSTATE -> why a transaction is to be made again, as the manual asks for (Serialization Failure Handling).
_RETRIED: Mapping[str, Retry] = {"40001": "conflict", "40P01": "deadlock", "55P03": "lock timeout"}


class PostgreSQLSession(SQLSession):
    """What the clients have in common, whatever their driver."""

    #: Whether a load starts with a TRUNCATE. Not at a URL: some that speak PostgreSQL's language commit by it.
    truncates = False

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        state = getattr(exc, "sqlstate", None) or (exc.args[0] if exc.args else "")  # pyodbc gives it as an argument
        return _RETRIED.get(state) if isinstance(state, str) else None

    def begin_load(self, tables: Mapping[str, Table]) -> None:
        """TRUNCATE in the same transaction, as the manual has it (Populating a Database).

        At wal_level minimal, as a private server has it, the rows then go to the tables alone, not to the log.
        """
        self.begin()
        if self.truncates:
            self.execute(f"TRUNCATE {', '.join(map(self.sql.quoted, tables))}")


class PostgreSQLOptions(Options):
    """Options; a private server's where they are settings. None leaves the server's default."""

    shared_buffers_mib: Annotated[int | None, MemoryShare(most=2**20), ServerSetting("shared_buffers", "{}MB")] = Field(
        default=None, description="page cache, MiB (a private server's)"
    )
    work_mem_mib: Annotated[int, ServerSetting("work_mem", "{}MB")] = Field(
        default=4, ge=1, le=2**20, description="memory of a sort or hash, MiB (a private server's)"
    )
    maintenance_work_mem_mib: Annotated[int | None, ServerSetting("maintenance_work_mem", "{}MB")] = Field(
        default=None, ge=1, le=2**20, description="memory to make an index, MiB (a private server's)"
    )
    effective_cache_size_mib: Annotated[int | None, ServerSetting("effective_cache_size", "{}MB")] = Field(
        default=None, ge=1, le=2**24, description="what plans take for cached, MiB (a private server's)"
    )
    max_wal_size_mib: Annotated[int | None, ServerSetting("max_wal_size", "{}MB")] = Field(
        default=None, ge=32, le=2**20, description="the log that brings about a checkpoint, MiB (a private server's)"
    )
    max_parallel_workers_per_gather: Annotated[int | None, ServerSetting("max_parallel_workers_per_gather")] = Field(
        default=None, ge=0, le=1024, description="processes that help a query (a private server's)"
    )
    jit: Annotated[Literal["on", "off"] | None, ServerSetting("jit")] = Field(
        default=None, description="whether long queries are compiled (a private server's)"
    )
    max_connections: Annotated[int, ServerSetting("max_connections")] = Field(
        default=1024, ge=4, le=2**18 - 1, description="connections at once (a private server's)"
    )
    bin: Program = Field(default="", description="folder of initdb and postgres; the newest that is found if not given")


class PostgreSQLServer(ClientServer):
    """What the engines have in common. A driver adds `raw`, a session class and its versions."""

    license = "PostgreSQL: PostgreSQL Licence"
    publication = Publication.ALLOWED
    dialect = "postgresql"
    sql = Dialect(
        placeholder="%s",
        binary=("BYTEA", "BYTEA"),
        explain="EXPLAIN",
        indexed=_INDEXED,
        compact="VACUUM FULL {table}",
        statistics="ANALYZE {table}",  # or plans are guesses until autovacuum comes round, up to a minute later
        read_only=("SET default_transaction_read_only = on", "RESET default_transaction_read_only"),
    )
    options_class = PostgreSQLOptions
    session_class: ClassVar[type[PostgreSQLSession]] = PostgreSQLSession
    debian: ClassVar[Sequence[str]] = ("postgresql",)
    url_example = URL_EXAMPLE
    # Each commit writes the log to the system before it returns, and fsync has it wait for the disk. Without
    # synchronous_commit it stays in the server's own memory for up to three times 200 ms. full_page_writes stays
    # on: a killed server can leave half a page even where the system lives on.
    durability: ClassVar = {
        Tier.POWER: {"fsync": "on", "synchronous_commit": "on"},
        Tier.PROCESS: {"fsync": "off", "synchronous_commit": "on"},
        Tier.MEMORY: {"fsync": "off", "synchronous_commit": "off"},
    }
    sync_queries: ClassVar = {
        "fsync": "SELECT current_setting('fsync', true)",
        # What is neither on nor off waits for other servers, too, or for this one's disk only.
        "synchronous_commit": "SELECT CASE current_setting('synchronous_commit', true) WHEN 'off' THEN 'off' ELSE 'on' END",
    }
    option_queries: ClassVar = {
        **{
            f"{name}_mib": f"SELECT pg_size_bytes(current_setting('{name}')) / 1048576"
            for name in ("shared_buffers", "work_mem", "maintenance_work_mem", "effective_cache_size", "max_wal_size")
        },
        **{
            name: f"SELECT current_setting('{name}')"
            for name in ("jit", "max_parallel_workers_per_gather", "max_connections")
        },
    }

    #: A URL for libpq, once it is open.
    address: str
    #: The folder of our database on a private server.
    ours = ""
    #: What product the server is, once it has said so.
    product = "PostgreSQL"

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        folder_of_programs(str(options.get("bin", "")))

    def raw(self) -> Any:
        """A connection of the driver to `address`, in autocommit mode."""
        raise NotImplementedError

    def connect(self) -> SQLSession:
        # The catalogue of another product was never looked at.
        dialect = self.sql if self.product == "PostgreSQL" else replace(self.sql, indexed="")
        session = self.kept(self.session_class(self.raw(), dialect))
        session.truncates = not self.url
        return session

    def server_versions(self) -> dict[str, str]:
        return {self.product: self.version}

    def settings(self) -> dict[str, Any]:
        """Settings as the server has them."""
        names = sorted({*_SETTINGS, *server_setting_names(PostgreSQLOptions)})
        asked = ", ".join(f"current_setting('{name}', true)" for name in names)
        (values,) = self._ask(f"SELECT {asked}")
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    def flush(self) -> None:
        """A checkpoint. What a server at a URL says of its size doesn't depend on one."""
        if not self.url:
            self.session.execute("CHECKPOINT")

    def size(self) -> Size:
        """Every file of a private server, summed up by folder; at a URL our tables with their indexes."""
        tables = self._ask(
            "SELECT relname, pg_total_relation_size(oid), pg_indexes_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        index = sum(int(length) for _, _, length in tables) or None
        if self.url:
            ours = [(name, int(length)) for name, length, _ in tables if name in self.made]
            return Size(tuple(File(f"table {name}", "data", length, length) for name, length in ours), index)
        folders: dict[str, list[File]] = {}
        for file in super().size().files:
            folders.setdefault(os.path.dirname(file.name), []).append(file)
        return Size(tuple(_sum(name, files) for name, files in folders.items() if name.startswith(FOLDER)), index)

    def file_role(self, name: str) -> FileRole:
        if name.startswith(f"{FOLDER}/pg_wal"):
            return "reserved"  # all of it from before the checkpoint
        return "data" if name.startswith(self.ours) else "other"

    def statistics(self) -> dict[str, int]:
        """A session hands on what it counted when it ends, or a second later: read until it stays as it is."""
        last: dict[str, int] = {}
        for _ in range(_READINGS):
            ((*found,),) = self._ask(_STATISTICS)
            now = dict(zip(("inserts", "updates", "deletes", "commits", "deadlocks"), map(int, found), strict=True))
            # The query itself is a commit.
            if last and all(now[name] == last[name] for name in now if name != "commits"):
                return now
            last = now
            time.sleep(_BETWEEN_SECONDS)
        return last

    # A server of either kind

    def _cluster(self) -> Cluster:
        return Cluster(self.directory)

    def _programs(self) -> str:
        """The folder of a private server's programs; empty if it is looked for."""
        return str(self.options.bin)

    def _start(self) -> None:
        self.server = server = self._cluster()
        self.address = server.address
        server.open({**server_settings(self.options), **self.durability[self.tier]}, self._programs())

    def _reach(self) -> None:
        self.address = checked(self.url)
        try:
            self.raw().close()
        except Exception as exc:  # each driver has its own
            failed(exc, "check the URL", ADVICE)

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        return fetch(self.session, sql)

    def info(self) -> EngineInfo:
        known = super().info()
        if self.product == "PostgreSQL":
            return known
        title = self.title.replace("PostgreSQL", self.product)
        note = f"the licence of {self.product} is not known to dbbench"
        return replace(known, title=title, publication=Publication.UNKNOWN, publication_note=note)

    def _look(self) -> None:
        self.session = self.connect()
        ((said,),) = self._ask("SELECT version()")
        first, *rest = said.split()
        self.product = next((name for mark, name in _OTHERS.items() if mark in said), first)
        self.version = next((word for word in rest if re.match(r"v?\d", word)), "unknown")
        if self.url:
            if self.product == "PostgreSQL":
                self.sql = collated(self.sql)  # type: ignore[misc]  # of this one alone
            self._check_tier()
        else:
            ((oid,),) = self._ask("SELECT CAST(oid AS bigint) FROM pg_database WHERE datname = current_database()")
            self.ours = f"{FOLDER}/base/{oid}/"

    def _check_tier(self) -> None:
        names = ("fsync", "synchronous_commit", "full_page_writes")
        fsync, waits, whole = map(self.settings().get, names)
        # What is neither on nor off waits for other servers, too, or for this one's disk only.
        found = dict(zip(names, (fsync, "off" if waits == "off" else "on", whole), strict=True))
        tier = Tier.POWER if fsync == "on" and whole != "off" else Tier.PROCESS
        self.give(Tier.MEMORY if waits == "off" or fsync is None else tier, found)


def collated(dialect: Dialect) -> Dialect:
    """The dialect with texts compared by code points in a database of any locale; a private server's is C."""
    texts = {name: f'{dialect.types[name]} COLLATE "C"' for name in ("char", "varchar")}
    return replace(dialect, types={**dialect.types, **texts})


def numbered(sql: str, dialect: Dialect) -> str:
    """A statement with $1, $2 and so on in the place of its placeholders, as the server itself knows them."""
    first, *rest = sql.split(dialect.placeholder)
    return first + "".join(f"${number}{text}" for number, text in enumerate(rest, 1))


def _sum(name: str, files: Sequence[File]) -> File:
    return File(name, files[0].role, sum(file.apparent for file in files), sum(file.allocated for file in files))
