"""SQLite through libsqliteodbc."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from dbbench.engine import Unsupported
from dbbench_plugins.odbc import connection
from dbbench_plugins.odbc.session import ODBCSession
from dbbench_plugins.sqlite import CommonOptions, JournalOptions, SQLite, SQLiteSession, rows


class SQLiteODBCOptions(JournalOptions, CommonOptions):
    """Options of `sqlite`, but those that its driver or its version decide."""


class SQLiteODBCSession(ODBCSession, SQLiteSession):
    """What SQLite takes, over ODBC.

    The driver would begin a transaction with BEGIN. One that reads first and was overtaken could never commit then, and
    the driver would try again as long as a client waits for the lock.
    """

    #: The driver makes dates and moments of what such a column holds, and leaves a decimal's a text.
    reads: ClassVar = {"decimal": "text"}
    begin, begin_reading, commit = SQLiteSession.begin, SQLiteSession.begin_reading, SQLiteSession.commit

    def rollback(self) -> None:
        with suppress(Exception):  # an error like a full disk may have ended it, which the driver doesn't tell
            self.execute("ROLLBACK")

    @property
    def declared(self) -> Mapping[str, str]:
        """What is computed has no type in SQLite, so the driver leaves it a text."""
        return {**self.reads, "date": "text", "datetime": "text"}


class SQLiteODBC(SQLite):
    name = "odbc+sqlite"
    title = "SQLite (ODBC)"
    license = "public domain; libsqliteodbc: BSD; pyodbc: MIT"
    modules = ("pyodbc",)
    debian = ("unixodbc", "libsqliteodbc")
    options_class = SQLiteODBCOptions
    session_class = SQLiteODBCSession

    @classmethod
    def available(cls) -> None:
        connection.driver("SQLite3")

    @classmethod
    def versions(cls) -> dict[str, str]:
        return connection.versions()

    def server_versions(self) -> dict[str, str]:
        ((version,),) = rows(self.connection, "SELECT sqlite_version()")
        return {"SQLite": str(version), **connection.told(self.connection)}

    def _raw(self) -> Any:
        if ";" in str(self.path):
            raise Unsupported(f"libsqliteodbc ends the name of a file at a semicolon: {self.path}")
        # Without BigInt a number that is computed, like a sum, comes as its lowest 32 bits. It waits for locks by
        # itself.
        wait = 1_000 * self.options.busy_seconds
        return connection.connect(f"Driver={{SQLite3}};Database={self.path};BigInt=1;Timeout={wait}")

    def _set(self, connection: Any, pragma: str) -> None:
        cursor = connection.execute(pragma)
        if cursor.description:  # or else pyodbc refuses to fetch
            cursor.fetchall()

    def close(self) -> None:
        if not self.connection.closed:  # pyodbc refuses to close twice
            super().close()
