"""PostgreSQL through psqlODBC, on the private server or the one at a URL of the other PostgreSQL engines."""

import os
from dataclasses import replace
from getpass import getuser
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit

from dbbench_plugins.odbc import connection
from dbbench_plugins.odbc.session import ODBCServer, ODBCSession
from dbbench_plugins.postgresql.server import PostgreSQLServer, PostgreSQLSession

_DRIVER = "PostgreSQL Unicode"


class PostgreSQLODBCSession(PostgreSQLSession, ODBCSession):
    """Over ODBC, and the planner told what is in the tables."""


class PostgreSQLODBC(ODBCServer, PostgreSQLServer):
    name = "postgresql+pyodbc"
    title = "PostgreSQL (ODBC)"
    license = "PostgreSQL: PostgreSQL Licence; psqlODBC: LGPL-2.0; pyodbc: MIT"
    driver = _DRIVER
    debian = (*PostgreSQLServer.debian, "unixodbc", "odbc-postgresql")
    sql = replace(PostgreSQLServer.sql, placeholder="?")
    session_class: ClassVar[type[PostgreSQLSession]] = PostgreSQLODBCSession

    def raw(self) -> Any:
        return connection.connect(keywords(self.address))

    def close(self) -> None:
        """And remove the log of the driver, which notes each end of a connection, though no log is asked for."""
        super().close()
        for log in Path("/tmp").glob(f"psqlodbc_*{getuser()}{os.getpid()}.log"):  # noqa: S108 - the driver's own place
            log.unlink(missing_ok=True)


def keywords(url: str) -> str:
    """A URL in libpq's form as psqlODBC's connection string; what that has no keyword for goes to libpq as it is."""
    parts = urlsplit(url.replace("#", "%23"))  # libpq knows no fragments
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    given.pop("connect_timeout", None)  # pyodbc brings its own, and psqlODBC refuses both
    values = {
        "Driver": _DRIVER,
        "Server": given.pop("host", unquote(parts.hostname or "")),
        "Port": given.pop("port", str(parts.port or 5432)),
        "Database": given.pop("dbname", unquote(parts.path.lstrip("/"))),
        "UID": given.pop("user", unquote(parts.username or "")),
        "PWD": given.pop("password", unquote(parts.password or "")),
        "pqopt": " ".join(f"{key}='{_escaped(value)}'" for key, value in given.items()),
    }
    return connection.connection_string({key: value for key, value in values.items() if value})


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("'", r"\'")
