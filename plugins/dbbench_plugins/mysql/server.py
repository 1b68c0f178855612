"""A private MariaDB server, or a MariaDB or MySQL server at a URL: all of an engine but the driver."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    STANDARD_TYPES,
    Dialect,
    EngineInfo,
    File,
    FileRole,
    MemoryShare,
    Options,
    PrivateServer,
    Publication,
    Retry,
    ServerSetting,
    Size,
    SQLSession,
    Tier,
    Unsupported,
    fetch,
    program,
    server_setting_names,
    server_settings,
)
from dbbench_plugins.dbapi import Address, ClientServer, failed
from dbbench_plugins.mysql.address import ADVICE, URL_EXAMPLE, parsed

if TYPE_CHECKING:
    from dbbench.engine import Table

_DATABASE = "dbbench"
_SOCKET = "mysqld.sock"
#: Of the directory, in bytes. The server crashes over a temporary file in one that is longer than 511 in all.
_LONGEST_PATH = 450
#: What is recorded besides the settings that are options.
_SETTINGS = (
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_ft_cache_size",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "query_cache_type",
    "sync_binlog",
    "transaction_isolation",
    "tx_isolation",
)


#: What the version or its comment has in it, if another product speaks MySQL's language.
_OTHERS = ("OceanBase", "SingleStore", "Vitess", "StarRocks", "Doris", "Dolt")
#: ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT and ER_CHECKREAD (innodb_snapshot_isolation).
_RETRIED: Mapping[int, Retry] = {1213: "deadlock", 1205: "lock timeout", 1020: "conflict"}
#: Status variables: of statements, each of them about one row here, whatever the client's protocol.
_STATISTICS = {
    "Com_insert": "inserts",
    "Com_update": "updates",
    "Com_select": "selects",
    "Com_delete": "deletes",
    "Com_commit": "commits",
    "Innodb_deadlocks": "deadlocks",
}


class MySQLOptions(Options):
    """Options; a private server's where they are settings. None leaves the server's default."""

    max_connections: Annotated[int, ServerSetting("max_connections")] = Field(
        default=1024, ge=10, le=100_000, description="connections at once (a private server's)"
    )
    buffer_pool_mib: Annotated[
        int | None, MemoryShare(least=5, most=2**24), ServerSetting("innodb_buffer_pool_size", "{}M")
    ] = Field(default=None, description="InnoDB's page cache, MiB (a private server's)")
    log_file_size_mib: Annotated[int | None, ServerSetting("innodb_log_file_size", "{}M")] = Field(
        default=None, ge=4, le=2**19, description="InnoDB's redo log, MiB (a private server's)"
    )
    sort_buffer_kib: Annotated[int | None, ServerSetting("sort_buffer_size", "{}K")] = Field(
        default=None, ge=32, le=2**22, description="memory of a sort, KiB (a private server's)"
    )


def _recorded() -> list[str]:
    """The settings that are reported of a server."""
    return sorted({*_SETTINGS, *server_setting_names(MySQLOptions)})


@dataclass(frozen=True)
class MySQLDialect(Dialect):
    """Text is compared and ordered by code points, as elsewhere; the default would take a and A for equal."""

    def create_table(self, name: str, table: Table) -> str:
        return f"{super().create_table(name, table)} ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"


class MySQLSession(SQLSession):
    """What the clients have in common, whatever their driver."""

    #: Whether the server is ours alone, to be set as a load needs it.
    private = False

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        """Retry reason by the server's error number: pyodbc puts it into the text, the others first."""
        number = exc.args[0] if exc.args else None
        if isinstance(number, str):
            found = re.search(r"\((\d+)\)", str(exc.args[-1]))
            number = int(found[1]) if found else None
        return _RETRIED.get(number) if isinstance(number, int) else None


class MySQLServer(ClientServer):
    """What the engines have in common. A driver adds `raw`, a session class, and its versions."""

    license = "MariaDB and MySQL: GPL-2.0"
    publication = Publication.ALLOWED
    dialect = "mysql"
    sql = MySQLDialect(
        # FLOAT has 4 bytes, but is sent as text of six digits; REAL is another name of DOUBLE.
        types={**STANDARD_TYPES, "real": "DOUBLE", "double": "DOUBLE", "datetime": "DATETIME", "json": "JSON"},
        quotes=("`", "`"),
        placeholder="%s",
        binary=("VARBINARY({0})", "LONGBLOB"),
        explain="EXPLAIN",
        compact="ALTER TABLE {table} FORCE",  # what OPTIMIZE TABLE is mapped to; that says in a row how it went
        read_only=("SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"),
        indexed="SELECT column_name FROM information_schema.statistics "
        "WHERE table_schema = DATABASE() AND table_name = '{0}' AND seq_in_index = 1",
        waits="SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_waits', 'Innodb_log_waits', "
        "'Innodb_buffer_pool_wait_free', 'Innodb_buffer_pool_reads', 'Innodb_data_fsyncs', 'Table_locks_waited')",
    )
    options_class = MySQLOptions
    session_class: ClassVar[type[SQLSession]] = MySQLSession
    debian: ClassVar[Sequence[str]] = ("mariadb-server",)
    url_example = URL_EXAMPLE
    longest_key = 3_072  # InnoDB's limit of an index
    longest_value = 8_000_000  # as text in a packet of at most 16 MiB, where each byte may become two
    # 1: the redo log is written and synced at each commit; 2: written at each, synced each second; 0: both each second.
    durability: ClassVar = {
        Tier.POWER: {"innodb_flush_log_at_trx_commit": 1},
        Tier.PROCESS: {"innodb_flush_log_at_trx_commit": 2},
        Tier.MEMORY: {"innodb_flush_log_at_trx_commit": 0},
    }
    sync_queries: ClassVar = {"innodb_flush_log_at_trx_commit": "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit"}
    # The server may round the size of the buffer pool, and allow fewer connections than it was asked for.
    option_queries: ClassVar = {
        "log_file_size_mib": "SELECT @@GLOBAL.innodb_log_file_size DIV 1048576",
        "sort_buffer_kib": "SELECT @@GLOBAL.sort_buffer_size DIV 1024",
    }

    def raw(self, address: Address) -> Any:
        """A connection of the driver: autocommit, utf8mb4, LOAD DATA LOCAL allowed."""
        raise NotImplementedError

    def connect(self) -> SQLSession:
        session = self.session_class(self.raw(self.address), self.sql)
        if isinstance(session, MySQLSession):
            session.private = not self.url
        return self.kept(session)

    def server_versions(self) -> dict[str, str]:
        return {self.product: self.variables["version"].partition("-")[0]}

    def settings(self) -> dict[str, Any]:
        """Settings as the server has them."""
        return {name: self.variables[name] for name in _recorded() if name in self.variables}

    def flush(self) -> None:
        """Write every changed page of the tables to its file, as the statement is documented to do.

        At a URL, where no file is looked at, have the server's figures of our tables brought up to date instead.
        """
        if self.url:
            if self.made:
                fetch(self.session, f"ANALYZE TABLE {', '.join(map(self.sql.quoted, self.made))}")
            return
        names = [name for name, _ in fetch(self.session, "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")]
        if names:
            self.session.execute(f"FLUSH TABLES {', '.join(map(self.sql.quoted, names))} FOR EXPORT")
            self.session.execute("UNLOCK TABLES")

    def file_role(self, name: str) -> FileRole:
        folder, _, file = name.removeprefix("data/").rpartition("/")
        if file.startswith(("ib_logfile", "aria_log")) or folder == "#innodb_redo":
            return "reserved"  # written round and round; the tables' files have what is in it
        if file.startswith("undo"):
            return "journal"
        return "data" if folder == _DATABASE or file == "ibdata1" else "other"

    def size(self) -> Size:
        """The files of a private server; at a URL what it says of our tables, and nothing of its journal."""
        if self.product != "MariaDB":  # MySQL gives figures of up to a day ago
            self.session.execute("SET information_schema_stats_expiry = 0")
        tables = fetch(
            self.session,
            "SELECT table_name, data_length + index_length + data_free, index_length FROM information_schema.tables "
            "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'",
        )
        if self.url:
            ours = {name.lower() for name in self.made}  # some servers keep names so
            tables = [row for row in tables if str(row[0]).lower() in ours]
        index = sum(int(length) for _, _, length in tables) or None
        if not self.url:
            return Size(super().size().files, index)
        return Size(tuple(File(f"table {name}", "data", int(size), int(size)) for name, size, _ in tables), index)

    def statistics(self) -> dict[str, int]:
        """Counts of the whole server: at a URL also what others do there."""
        names = ", ".join(f"'{name}'" for name in _STATISTICS)
        rows = fetch(self.session, f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")
        return {_STATISTICS[str(name)]: int(value) for name, value in rows}

    # A server of either kind

    def info(self) -> EngineInfo:
        known = replace(super().info(), title=self.title.replace("MariaDB/MySQL", self.product))
        if not self.commercial and self.product not in _OTHERS:
            return known
        which = f"the licence of {self.product}" if self.product in _OTHERS else "MySQL's commercial licence"
        note = f"{which} is not known to dbbench"
        return replace(known, publication=Publication.UNKNOWN, publication_note=note)

    def _look(self) -> None:
        self.session = self.connect()
        names = ", ".join(f"'{name}'" for name in (*_recorded(), "version", "version_comment"))
        rows = fetch(self.session, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
        self.variables = {str(name): str(value) for name, value in rows}
        said = f"{self.variables['version']} {self.variables['version_comment']}"
        self.product = next((name for name in (*_OTHERS, "MariaDB", "Percona Server", "TiDB") if name in said), "MySQL")
        self.commercial = "Enterprise" in said or "Commercial" in said
        if self.variables.get("query_cache_type", "OFF") != "OFF":
            raise Unsupported("the server keeps results of queries: SET GLOBAL query_cache_type = OFF")
        if self.url:
            self._check_tier()

    # A private server

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        program("mariadbd")
        program("mariadb-install-db")

    def _start(self) -> None:
        if len(os.fsencode(os.path.realpath(self.directory))) > _LONGEST_PATH:
            raise Unsupported(
                f"MariaDB takes no paths as long as this one; choose a shorter one with --out: {self.directory}"
            )
        self.server = server = PrivateServer("MariaDB", self.directory)
        self.address = Address(
            "localhost", 3306, _DATABASE, "root", parameters={"unix_socket": f"{server.root}/{_SOCKET}"}
        )
        try:
            self._listens()  # another process of clients opened it
        except OSError:
            self._run(server)

    def _run(self, server: PrivateServer) -> None:
        mariadbd = program("mariadbd")
        new = not (self.directory / "data" / "mysql").exists()
        # A user of its own could not reach a folder below one that only root may enter.
        account = ["--user=root"] if os.geteuid() == 0 else []
        common = ["--no-defaults", f"--datadir={server.root}/data", f"--tmpdir={server.folder('tmp')}"]
        if new:
            # --force: it asks no name server. With a plain --user it would change files of the system's own.
            loose = [argument.replace("--", "--loose-", 1) for argument in account]
            script = program("mariadb-install-db")
            options = ["--auth-root-authentication-method=normal", "--skip-test-db", "--force"]
            server.set_up("data", [script, *common, *loose, *options], mariadbd)
        command = [
            mariadbd,
            *common,
            *account,
            f"--socket={self.address.parameters['unix_socket']}",
            "--pid-file=mariadbd.pid",
            *self._network(server),
            "--innodb-ft-min-token-size=1",  # every word is one
            "--innodb-ft-enable-stopword=OFF",
            # At a tenth of it a thread writes the new words out, and a search misses them meanwhile: with the default
            # of 8 MB 7 of 334 under load, with this none of 553 (MariaDB 10.11.19).
            "--innodb-ft-cache-size=80000000",
            "--local-infile=0",  # on only around a load
            # 128 threads of Python that connect side by side took longer than its 10 s, at a load of 26.
            "--connect-timeout=600",
            # What was in the cache before a restart is not read again: a cold start is cold.
            "--innodb-buffer-pool-load-at-startup=OFF",
            "--innodb-buffer-pool-dump-at-shutdown=OFF",
            *(
                f"--{name.replace('_', '-')}={value}"
                for name, value in {**server_settings(self.options), **self.durability[self.tier]}.items()
            ),
        ]
        server.start(command, self._listens)
        session = self.session_class(self.raw(replace(self.address, database="")), self.sql)
        session.execute(f"CREATE DATABASE IF NOT EXISTS {_DATABASE}")
        session.close()

    def _network(self, server: PrivateServer) -> list[str]:
        """How it listens beside its socket: not at all."""
        return ["--skip-networking"]

    def _listens(self) -> None:
        """Raise OSError if there is no server at the socket: a file alone may be what a killed one left."""
        with socket.socket(socket.AF_UNIX) as there:
            there.connect(self.address.parameters["unix_socket"])

    # A server at a URL

    def _reach(self) -> None:
        self.address = parsed(self.url)
        try:
            self.raw(self.address).close()
        except Exception as exc:  # each driver has its own
            failed(exc, "check the URL", ADVICE)

    def _check_tier(self) -> None:
        names = ("innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog", "innodb_doublewrite")
        found = {name: self.variables.get(name) for name in names}
        flush, binary, sync_binary, twice = found.values()
        # After a crash the server undoes what isn't in its binary log, if it keeps one. Pages that are written once
        # only may be torn. MariaDB's 3 syncs as 1 does, and more often.
        whole = (binary in (None, "OFF") or sync_binary == "1") and twice not in ("OFF", "DETECT_ONLY")
        tier = Tier.POWER if flush in ("1", "3") and whole else Tier.PROCESS
        self.give(Tier.MEMORY if flush in (None, "0") else tier, found)
