"""Oracle Database at a URL, through oracledb in its thin mode, which needs no client of Oracle's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    STANDARD_TYPES,
    Dialect,
    File,
    LoadPart,
    Options,
    Publication,
    Retry,
    Size,
    Tier,
    Unsupported,
    fetch,
)
from dbbench_plugins.dbapi import CONNECT_SECONDS, ClientServer, SwitchedSession, address, failed

if TYPE_CHECKING:
    from dbbench.engine import Records, Table

_ADVICE = "check host, port, service, user and password, and whether the listener and the database run"
#: Bytes, in a database as it is by default.
_LONGEST_RAW = 2_000
_MOMENT = "YYYY-MM-DD HH24:MI:SS"


#: ORA-00060, ORA-00054, ORA-30006 and ORA-08177.
_RETRIED: Mapping[Any, Retry] = {60: "deadlock", 54: "lock timeout", 30006: "lock timeout", 8177: "conflict"}


class OracleOptions(Options):
    arraysize: int = Field(default=1000, ge=1, description="rows of a query that come in one round trip")


class OracleSession(SwitchedSession):
    """Arrow batches go in by `executemany`, in the load's transaction.

    Direct path load would be faster, but commits by itself, and locks the table.
    """

    load_format = "batches"
    bind: ClassVar = {"char": "filled", "varchar": "filled"}
    arraysize = 1000

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        return _RETRIED.get(getattr(exc.args[0], "code", None)) if exc.args else None

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        """Commit, then make the indexes: a CREATE INDEX commits by itself."""
        return {"commit": self.commit, "indexes": self.each(self.create_indexes(tables))}

    def new_cursor(self) -> Any:
        cursor = super().new_cursor()
        cursor.arraysize = cursor.prefetchrows = self.arraysize
        return cursor

    def explain(self, sql: str) -> str:
        self.execute(f"EXPLAIN PLAN FOR {sql}")
        return "\n".join(
            str(line) for (line,) in fetch(self, "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY())")
        )


class OracleDialect(Dialect):
    """Rows are limited, and long values written, as Oracle does it."""

    def create_records(self, records: Records) -> str:
        statement = super().create_records(records)
        long = records.value_bytes > _LONGEST_RAW
        return statement.replace(f"RAW({records.value_bytes})", "BLOB") if long else statement


class Oracle(ClientServer):
    name = "oracle"
    title = "Oracle Database (oracledb)"
    license = "proprietary; oracledb: Apache-2.0 or UPL-1.0"
    publication = Publication.FORBIDDEN
    publication_note = (
        "Oracle's licence agreements (OTN Developer License and Oracle Master Agreement): results of benchmark tests "
        "of the programs may be disclosed with Oracle's prior consent only"
    )
    modules = ("oracledb",)
    unverified = "not run against a live server"
    url_required = True
    url_example = "oracle://USER:PASSWORD@HOST:1521/SERVICE"
    dialect = "oracle"
    sql = OracleDialect(
        limit="FETCH FIRST {0} ROWS ONLY",
        types={
            **STANDARD_TYPES,
            "integer": "NUMBER(10)",
            "bigint": "NUMBER(19)",
            # REAL and DOUBLE PRECISION are decimal numbers here, of up to 22 bytes.
            "real": "BINARY_FLOAT",
            "double": "BINARY_DOUBLE",
            "decimal": "NUMBER({0}, {1})",
            "char": "CHAR({0} CHAR)",
            "varchar": "VARCHAR2({0} CHAR)",
            "datetime": "DATE",  # to the second
        },
        placeholder=":v",  # values go by their place, also where a name comes again
        binary=("RAW({0})", "RAW({0})"),
    )
    options_class = OracleOptions
    session_class: ClassVar[type[OracleSession]] = OracleSession
    # For the sessions only. NOWAIT: the redo is in the instance's memory until its writer comes round.
    durability: ClassVar = {
        Tier.POWER: {"commit_logging": "IMMEDIATE", "commit_wait": "WAIT"},
        Tier.MEMORY: {"commit_logging": "BATCH", "commit_wait": "NOWAIT"},
    }

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"oracledb": version("oracledb")}

    def raw(self) -> Any:
        """A connection of the driver."""
        import oracledb

        oracledb.defaults.fetch_decimals = True  # otherwise a NUMBER with decimals comes as a float
        where = self.address
        return oracledb.connect(
            user=where.user,
            password=where.password,
            host=where.host,
            port=where.port,
            service_name=where.database,
            tcp_connect_timeout=CONNECT_SECONDS,
        )

    def open(self) -> None:
        self.address = address(self.url, self.url_example, 1521)
        if self.address.parameters:
            raise Unsupported(f"{self.name} takes no parameters in its URL")
        try:
            self.raw().close()
        except Exception as exc:  # oracledb has its own; a name that can't be resolved comes as the system's
            failed(exc, _ADVICE)
        self.session = self.connect()

    def connect(self) -> OracleSession:
        connection = self.raw()
        connection.autocommit = True
        session = self.kept(OracleSession(connection, self.sql))
        session.arraysize = self.options.arraysize
        for name, value in self.session_settings().items():
            session.execute(f"ALTER SESSION SET {name} = {value}")
        return session

    def session_settings(self) -> dict[str, str]:
        """What is set for a session: its tier, dates as the suites write them, and tables that are dropped for good."""
        return {
            **self.durability[self.tier],
            "nls_date_format": f"'{_MOMENT}'",
            "nls_timestamp_format": f"'{_MOMENT}'",
            "nls_numeric_characters": "'.,'",
            "recyclebin": "OFF",
        }

    def server_versions(self) -> dict[str, str]:
        return {"Oracle Database": str(self.session.connection.version)}

    def size(self) -> Size:
        """The segments of our tables and indexes. Redo and undo belong to the whole database, and are left out."""
        names = ", ".join(f"'{name}'" for name in self.made)
        segments = fetch(
            self.session,
            "SELECT s.segment_name, s.segment_type, s.bytes FROM user_segments s "
            "LEFT JOIN user_indexes i ON i.index_name = s.segment_name "
            f"WHERE s.segment_name IN ({names}) OR i.table_name IN ({names})",
        )
        files = [
            File(f"{kind.lower()} {name}", "data", int(count), int(count)) for name, kind, count in sorted(segments)
        ]
        index = sum(int(count) for _, kind, count in segments if kind == "INDEX")
        return Size(tuple(files), index or None)
