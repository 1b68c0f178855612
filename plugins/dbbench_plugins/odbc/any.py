"""Any database that has an ODBC driver, by its connection string."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, ClassVar

from pydantic import Field

from dbbench.engine import (
    STANDARD_TYPES,
    Dialect,
    EngineInfo,
    File,
    Options,
    Publication,
    Retry,
    Size,
    SQLSession,
    Tier,
    Unsupported,
    fetch,
    local,
)
from dbbench_plugins.dbapi import ClientServer, failed, filled
from dbbench_plugins.odbc import connection
from dbbench_plugins.odbc.session import ODBCSession

_SCHEME = "odbc:"
#: A keyword whose value may be the path of a file.
_FILE = re.compile(r"(?i)(\b(?:database|dbq)=)([^;{]+)")
_ACCESS = Dialect(
    types={
        **STANDARD_TYPES,
        "bigint": "DECIMAL(19, 0)",
        "double": "DOUBLE",
        "decimal": "CURRENCY",
        "date": "DATETIME",
        "datetime": "DATETIME",
    },
    quotes=("[", "]"),
)


@dataclass(frozen=True)
class Known:
    """Another engine of the same database, whose language is named there, and a query for its bytes."""

    engine: str
    size: str = ""
    #: Whether it has that engine's licence, too. Others call themselves PostgreSQL or MySQL, and these have editions.
    alike: bool = False


_TABLES = "FROM information_schema.tables WHERE table_schema = DATABASE()"
_MYSQL = Known("dbbench_plugins.mysql.server:MySQLServer", f"SELECT SUM(data_length + index_length) {_TABLES}")
#: By the name that a driver gives its database.
_KNOWN = {
    "SQLite": Known(
        "dbbench_plugins.sqlite:SQLite",
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        alike=True,
    ),
    "PostgreSQL": Known(
        "dbbench_plugins.postgresql.server:PostgreSQLServer", "SELECT pg_database_size(current_database())"
    ),
    "MariaDB": _MYSQL,
    "MySQL": _MYSQL,
    "Microsoft SQL Server": Known(
        "dbbench_plugins.sqlserver:SQLServer",
        "SELECT SUM(reserved_page_count) * 8192 FROM sys.dm_db_partition_stats",
        alike=True,
    ),
    "Oracle": Known("dbbench_plugins.oracle:Oracle", alike=True),
}


class AnyOptions(Options):
    rows_at_once: int = Field(
        default=1, ge=1, description="rows of one INSERT; 100 is much faster where the database takes more than one"
    )


def _located(database: str) -> str:
    """The path of a database's file, absolute; the name of one that is no file as it is."""
    return path if os.path.isfile(path := local(database)) else database


class ODBC(ClientServer):
    name = "odbc"
    title = "ODBC (pyodbc)"
    license = "pyodbc: MIT; the database's and the driver's own"
    publication = Publication.UNKNOWN
    publication_note = "the licence of the database at the URL says it"
    modules = ("pyodbc",)
    debian = ("unixodbc",)
    url_required = True
    url_example = "odbc:Driver={NAME};Server=HOST;Database=NAME;UID=USER;PWD=PASSWORD"
    dialect = "odbc"
    options_class = AnyOptions
    session_class: ClassVar[type[SQLSession]] = ODBCSession
    # It commits as it is configured; dbbench doesn't set it, and the settings of a result say so.
    durability: ClassVar = {
        tier: {"durability": "as the database at the URL has it, not set by dbbench"} for tier in Tier
    }

    #: The session class of the engine that knows the database, which knows its errors.
    knower: Any = None

    @classmethod
    def versions(cls) -> dict[str, str]:
        return connection.versions()

    def info(self) -> EngineInfo:
        found = replace(super().info(), title=f"{self.product} (ODBC)")
        if not self.known:
            return found
        engine = resolve_name(self.known.engine)
        licensed = engine if self.known.alike else self
        return replace(
            found, dialect=engine.dialect, publication=licensed.publication, publication_note=licensed.publication_note
        )

    @property
    def sql(self) -> Dialect:  # type: ignore[override]  # that of the database that was found
        if self.known:
            known: Dialect = resolve_name(self.known.engine).sql
            if self.product == "PostgreSQL":
                known = resolve_name("dbbench_plugins.postgresql.server:collated")(known)
            # The database is the user's: no statistics of tables that aren't ours.
            return replace(known, placeholder="?", statistics=known.statistics * ("{table}" in known.statistics))
        return _ACCESS if self.product == "ACCESS" else Dialect(quotes=(self.quote, self.quote))

    def open(self) -> None:
        import pyodbc

        try:
            raw = self._raw()
        except Exception as exc:  # pyodbc's own
            drivers = ", ".join(pyodbc.drivers()) or "none"
            failed(exc, f"check the connection string, which must name a driver that is there ({drivers})")
        name = str(raw.getinfo(pyodbc.SQL_DBMS_NAME))
        self.found = {name: str(raw.getinfo(pyodbc.SQL_DBMS_VER)), **connection.told(raw)}
        self.product = name
        self.quote = str(raw.getinfo(pyodbc.SQL_IDENTIFIER_QUOTE_CHAR)).strip()
        self.known = _KNOWN.get(name)
        if self.known:
            self.knower = resolve_name(self.known.engine).session_class
        self.session = self._session(raw)

    def connect(self) -> SQLSession:
        return self._session(self._raw())

    def server_versions(self) -> dict[str, str]:
        return self.found

    def size(self) -> Size:
        """What the database says of all that it holds. Raises Unsupported for one whose own words aren't known here."""
        if not (self.known and self.known.size):
            raise Unsupported("ODBC has no way to ask a database for its size, and dbbench knows none of this one's")
        ((count,),) = fetch(self.session, self.known.size)
        return Size((File("the database, as it says", "data", int(count), int(count)),))

    def _raw(self) -> Any:
        """A connection; a database file in its string is meant from where dbbench was started."""
        return connection.connect(
            _FILE.sub(lambda found: found[1] + _located(found[2]), self.url.removeprefix(_SCHEME))
        )

    def _session(self, raw: Any) -> SQLSession:
        return self.kept(AnySession(raw, self.sql, self.options.rows_at_once, self.knower))


class AnySession(ODBCSession):
    """A client of a database of which is known how many rows an INSERT may have."""

    def __init__(self, raw: Any, dialect: Dialect, rows_at_once: int, knower: Any) -> None:
        super().__init__(raw, dialect)
        self.knower = knower
        self.rows_at_once = rows_at_once

    @property
    def bind(self) -> Mapping[str, str]:  # type: ignore[override]  # as the database that was found has it
        return filled(self.knower)

    @property
    def declared(self) -> Mapping[str, str]:
        """What a driver of any database may leave a text: a footnote tells which of these came so."""
        return {**super().declared, **dict.fromkeys(("decimal", "date", "datetime"), "text")}

    def retry_reason(self, exc: BaseException) -> Retry | None:
        """What the engine here that knows the database says of the error."""
        reason: Retry | None = self.knower.retry_reason(exc) if self.knower else None
        return reason
