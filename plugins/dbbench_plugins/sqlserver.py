"""SQL Server, SQL Server Express and LocalDB at a URL, through pyodbc and mssql-python."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import (
    STANDARD_TYPES,
    Dialect,
    EngineInfo,
    File,
    Publication,
    Retry,
    Size,
    SQLSession,
    Tier,
    Unsupported,
    fetch,
)
from dbbench_plugins.dbapi import CONNECT_SECONDS, Address, ClientServer, SwitchedSession, address, failed
from dbbench_plugins.odbc import connection as odbc
from dbbench_plugins.odbc.session import ODBCSession

if TYPE_CHECKING:
    from dbbench.engine import Records, Table

#: Microsoft's drivers, the newest first, and the one that Debian has.
MICROSOFT = ("ODBC Driver 18 for SQL Server", "ODBC Driver 17 for SQL Server")
FREETDS = "FreeTDS"
_ADVICE = (
    "check host, port, user, password and database, and whether the server runs and takes TCP connections; "
    "for a certificate of its own add ?TrustServerCertificate=yes to the URL"
)
_SERVER = (
    "SELECT CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(128)), CAST(SERVERPROPERTY('Edition') AS NVARCHAR(128)), "
    "CAST(SERVERPROPERTY('IsLocalDB') AS INT)"
)
#: Of a VARBINARY with a length, in bytes.
_LONGEST_BINARY = 8_000
#: Message numbers: chosen as the deadlock victim, lock request time out, snapshot isolation's update conflict.
_RETRIED: Mapping[str, Retry] = {"1205": "deadlock", "1222": "lock timeout", "3960": "conflict"}
_SETTINGS = ("recovery_model_desc", "delayed_durability_desc", "compatibility_level", "is_read_committed_snapshot_on")


class OneReader(SwitchedSession):
    """A connection of SQL Server's is busy until a query's rows were read; a new query gives up the last one's."""

    @classmethod
    def retry_reason(cls, exc: BaseException) -> Retry | None:
        """Retry reason by the server's message number, which the drivers put into the text."""
        numbers = re.findall(r"\((\d+)\)", str(exc))
        return next((reason for number, reason in _RETRIED.items() if number in numbers), None)

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        self.reader = self.new_cursor()

    def query_cursor(self) -> Any:
        return self.reader

    def explain(self, sql: str) -> str:
        return showplan(self.reader, sql)


class SQLServerSession(OneReader, ODBCSession):
    """Over pyodbc: arrays with Microsoft's driver, made for `fast_executemany`, many rows a time with FreeTDS."""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        if not any("msodbcsql" in driver for driver in odbc.told(self.connection)):
            return super().prepare_load(name, table)
        cursor = self.connection.cursor()
        cursor.fast_executemany = True
        statement = self.sql.insert(name, table)
        return lambda rows: cursor.executemany(statement, rows)


class ArraySession(OneReader):
    """Over mssql-python, whose `executemany` binds arrays.

    Its `bulkcopy` would be faster, but writes through a connection of its own: what it has sent stays where the
    transaction that it should be part of is given up.
    """

    plain_rows = False


class SQLServerDialect(Dialect):
    """Rows are limited, and long values written, as SQL Server does it."""

    def create_records(self, records: Records) -> str:
        longest = max(records.key_bytes, records.value_bytes)
        statement = super().create_records(records)
        return statement.replace(f"VARBINARY({longest})", "VARBINARY(MAX)") if longest > _LONGEST_BINARY else statement


class SQLServer(ClientServer):
    name = "sqlserver"
    title = "SQL Server (pyodbc)"
    license = "proprietary; pyodbc: MIT; msodbcsql: proprietary, or FreeTDS: LGPL-2.0"
    publication = Publication.FORBIDDEN
    publication_note = (
        "Microsoft's licence terms for SQL Server, Benchmark Testing: the results of a benchmark test may be disclosed "
        "to a third party with Microsoft's prior written approval only"
    )
    modules = ("pyodbc",)
    debian: ClassVar[Sequence[str]] = ("unixodbc", "tdsodbc")  # Microsoft's msodbcsql18 loads faster
    unverified = "not run against a live server"
    url_required = True
    url_example = "mssql://USER:PASSWORD@HOST:1433/DATABASE"
    dialect = "sqlserver"
    sql = SQLServerDialect(
        limit="OFFSET 0 ROWS FETCH NEXT {0} ROWS ONLY",
        types={
            **STANDARD_TYPES,
            "integer": "INT",
            "double": "FLOAT(53)",
            # Text of any language in every version, with its length in characters; compared by code points, as
            # elsewhere.
            "char": "NCHAR({0}) COLLATE Latin1_General_100_BIN2",
            "varchar": "NVARCHAR({0}) COLLATE Latin1_General_100_BIN2",
            # DATETIME would read '2005-01-02' by the language of the login.
            "datetime": "DATETIME2(0)",
        },
        quotes=("[", "]"),
    )
    session_class: ClassVar[type[SwitchedSession]] = SQLServerSession
    # A commit waits for the log to be on the disk, unless the database says otherwise: then the log is in the
    # server's memory until a buffer of it is full. It is a setting of the user's database, and not changed.
    durability: ClassVar = {
        Tier.POWER: {"delayed_durability_desc": "DISABLED or ALLOWED"},
        Tier.MEMORY: {"delayed_durability_desc": "FORCED"},
    }

    @classmethod
    def available(cls) -> None:
        odbc.driver(*MICROSOFT, FREETDS)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return odbc.versions()

    def raw(self, where: Address) -> Any:
        """A connection of the driver."""
        driver = where.parameters.get("driver") or odbc.driver(*MICROSOFT, FREETDS)
        return odbc.connect(odbc.connection_string({"Driver": driver, **keywords(where, driver)}))

    def info(self) -> EngineInfo:
        known = replace(super().info(), tier=Tier.MEMORY if self._delayed() else Tier.POWER)
        return replace(known, title=self.title.replace("SQL Server", f"SQL Server {self.kind}")) if self.kind else known

    def open(self) -> None:
        self.address = address(self.url, self.url_example, 1433)
        try:
            raw = self.raw(self.address)
        except Exception as exc:  # each driver has its own
            failed(exc, _ADVICE)
        self.session = self._session(raw)
        ((self.version, self.edition, local),) = fetch(self.session, _SERVER)
        self.kind = "LocalDB" if local else "Express" if "Express" in self.edition else ""
        ((*found,),) = fetch(self.session, f"SELECT {', '.join(_SETTINGS)} FROM sys.databases WHERE name = DB_NAME()")
        self.found = dict(zip(_SETTINGS, found, strict=True))
        self._check_tier()

    def connect(self) -> SQLSession:
        return self._session(self.raw(self.address))

    def server_versions(self) -> dict[str, str]:
        driver = odbc.told(self.session.connection) if isinstance(self.session, ODBCSession) else {}
        return {"SQL Server": str(self.version), "edition": str(self.edition), **driver}

    def settings(self) -> dict[str, Any]:
        """Settings as the database has them."""
        return {**self.options.model_dump(), **self.found}

    def size(self) -> Size:
        """Pages that are allocated to our tables. The log is that of the whole database, and is left out."""
        names = ", ".join(f"'{name}'" for name in self.made)
        pages = fetch(
            self.session,
            "SELECT OBJECT_NAME(object_id), index_id, SUM(reserved_page_count) FROM sys.dm_db_partition_stats "
            f"WHERE object_id IN (SELECT object_id FROM sys.tables WHERE name IN ({names})) "
            "GROUP BY object_id, index_id",
        )
        files = [
            File(
                f"table {table}" if number < 2 else f"table {table}, index {number}", "data", count * 8192, count * 8192
            )
            for table, number, count in sorted(pages)
        ]
        index = sum(count * 8192 for _, number, count in pages if number > 1)  # 0 and 1 are the table itself
        return Size(tuple(files), index or None)

    def _session(self, raw: Any) -> SwitchedSession:
        return self.kept(self.session_class(raw, self.sql))

    def _check_tier(self) -> None:
        """Raise Unsupported if the database's setting gives less than was asked for; what gives more stands in."""
        if self._delayed() and self.tier is not Tier.MEMORY:
            raise Unsupported(
                f"durability {self.tier} needs another setting of the database, where commits don't wait for the disk: "
                "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED"
            )

    def _delayed(self) -> bool:
        """Whether the database's commits don't wait for the disk."""
        return bool(self.found["delayed_durability_desc"] == "FORCED")


class SQLServerPython(SQLServer):
    name = "sqlserver+mssql-python"
    title = "SQL Server (mssql-python)"
    license = "proprietary; mssql-python: MIT, with Microsoft's ODBC driver: proprietary"
    modules = ("mssql_python",)
    debian = ()
    session_class = ArraySession

    @classmethod
    def available(cls) -> None:
        """Raise nothing: it brings Microsoft's driver."""

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"mssql-python": version("mssql-python")}

    def raw(self, where: Address) -> Any:
        import mssql_python

        mssql_python.pooling(enabled=False)
        text = odbc.connection_string(keywords(where, MICROSOFT[0]))
        before: dict[int, int | str | bytes] = {mssql_python.SQL_ATTR_LOGIN_TIMEOUT: CONNECT_SECONDS}
        return mssql_python.connect(text, autocommit=True, attrs_before=before)


def keywords(where: Address, driver: str) -> dict[str, str]:
    """An address as the keywords of a driver's connection string; parameters of the URL are keywords as they are."""
    given = {key: value for key, value in where.parameters.items() if key != "driver"}
    if driver == FREETDS:
        place = {"Server": where.host, "Port": str(where.port), "TDS_Version": "7.4", "ClientCharset": "UTF-8"}
    elif where.host.startswith("("):  # (localdb)\NAME has no port
        place = {"Server": where.host}
    else:
        place = {"Server": f"{where.host},{where.port}"}
    who = {"UID": where.user, "PWD": where.password} if where.user else {"Trusted_Connection": "yes"}
    return {**place, "Database": where.database, **who, **given}


def showplan(cursor: Any, sql: str) -> str:
    """The estimated plan: with SHOWPLAN_TEXT a statement gives its text, then its plan, and isn't run."""
    cursor.execute("SET SHOWPLAN_TEXT ON")
    try:
        cursor.execute(sql)
        lines = [str(row[0]) for row in cursor.fetchall()]
        while cursor.nextset():
            lines += [str(row[0]) for row in cursor.fetchall()]
    finally:
        cursor.execute("SET SHOWPLAN_TEXT OFF")
    return "\n".join(lines)
