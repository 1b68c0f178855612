"""MariaDB and MySQL through mysqlclient, its low-level module, and PyMySQL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from importlib.metadata import version
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Dialect, Rows, SQLSession, Unsupported, fetch
from dbbench_plugins.dbapi import CONNECT_SECONDS, Address
from dbbench_plugins.mysql.load import LoadSession
from dbbench_plugins.mysql.server import MySQLServer
from dbbench_plugins.sql_texts import TextRows

if TYPE_CHECKING:
    from dbbench.engine import DriverTimer

_ROWS_AT_ONCE = 1_000


class CursorSession(TextRows, LoadSession):
    """One cursor for everything. The ordinary one has all rows on the client when `execute` returns."""

    text_index: ClassVar = ("CREATE FULLTEXT INDEX texts_words ON texts (body)",)
    written: ClassVar = {"all": (" +", "+{}"), "any": (" ", "{}"), "phrase": (" ", '"{}"'), "prefix": ("", "{}*")}
    text_query = "SELECT id{} FROM texts WHERE MATCH (body) AGAINST (%s IN BOOLEAN MODE)"
    text_order = " ORDER BY MATCH (body) AGAINST (%s IN BOOLEAN MODE) DESC"

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        self.cursor = self.new_cursor()

    def new_cursor(self) -> Any:
        return self.connection.cursor()

    def watch(self, timer: DriverTimer) -> None:
        super().watch(timer)
        self.cursor = self.new_cursor()

    def prepare_text_index(self) -> Callable[[], object]:
        """The server leaves no word out. Raises Unsupported if it would: it is set when the server starts."""
        ((least, stops),) = fetch(self, "SELECT @@innodb_ft_min_token_size, @@innodb_ft_enable_stopword")
        if (least, stops) != (1, 0):
            raise Unsupported(
                "the server leaves words out of its index: set innodb_ft_min_token_size = 1 and innodb_ft_enable_stopword = OFF"
            )
        return super().prepare_text_index()

    def execute(self, sql: str) -> Any:
        """Run one statement; the cursor."""
        self.cursor.execute(sql)
        return self.cursor

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute, fetchall = self.cursor.execute, self.cursor.fetchall

        def run() -> Rows:
            execute(sql)
            rows: Rows = fetchall()
            return rows

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        return partial(self.cursor.execute, sql)

    def returned_rows(self, given: Any) -> bool:
        return self.cursor.description is not None

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        """A statement whose values the driver writes into its text."""
        execute, fetchall = self.cursor.execute, self.cursor.fetchall

        def run(*values: Any) -> Any:
            execute(sql, values)
            found = fetchall()
            return found if rows is None else (found[0] if found else None)

        return run if rows != 0 else lambda *values: execute(sql, values)

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """Run an INSERT, of which the drivers make one statement of many rows."""
        return partial(self.cursor.executemany, sql)


class StreamSession(CursorSession):
    """mysqlclient's streaming cursor: a large result takes half the time of the ordinary one's, which keeps it twice.

    As all statements go through it, each clears away what the one before it left unread.
    """

    def new_cursor(self) -> Any:
        from MySQLdb.cursors import SSCursor

        return self.connection.cursor(SSCursor)

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        execute, fetch = self.cursor.execute, partial(self.cursor.fetchmany, _ROWS_AT_ONCE)

        def run() -> Rows:
            execute(sql)
            return chain.from_iterable(iter(fetch, ()))

        return run


class LowLevelSession(LoadSession):
    """What is below mysqlclient's cursors: a statement is sent, and its rows are made of what comes in.

    Numbers become int, float and Decimal; moments stay the text that the server sends.
    """

    reads: ClassVar = {"datetime": "text", "date": "text"}
    unread: Any = None

    def execute(self, sql: str | bytes) -> Any:
        """Run one statement; its rows."""
        if self.unread:
            self.unread.discard()
            self.unread = None
        connection = self.connection
        connection.query(sql)
        result = connection.use_result()
        if result is None:
            return ()
        rows = result.fetch_row(_ROWS_AT_ONCE)
        if len(rows) < _ROWS_AT_ONCE:
            return rows
        self.unread = result
        return chain(rows, chain.from_iterable(iter(partial(result.fetch_row, _ROWS_AT_ONCE), ())))

    def returned_rows(self, given: Any) -> bool:
        return bool(given != ())

    def affected(self, sql: str) -> int:
        self.execute(sql)
        return int(self.connection.affected_rows())

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        """A statement with values written into its text."""
        text, execute, literal = sql.encode(), self.execute, self._literal

        def run(*values: Any) -> Any:
            found = execute(text % tuple(map(literal, values)))
            return next(iter(found), None) if rows == 1 else list(found)

        return run

    def _literal(self, value: Any) -> bytes:
        """A value in the text of a statement; days and moments as texts, as the server takes them."""
        if isinstance(value, int | float | Decimal):
            return str(value).encode()
        if isinstance(value, bytes):
            return b"_binary" + bytes(self.connection.string_literal(value))
        return b"NULL" if value is None else bytes(self.connection.string_literal(str(value).encode()))

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """One statement after another: there is nothing for many at this level."""
        call = self.prepare_call(sql, 0)
        return lambda many: deque(starmap(call, many), maxlen=0)


class MySQL(MySQLServer):
    name = "mysql"
    title = "MariaDB/MySQL (mysqlclient)"
    license = "GPL-2.0; mysqlclient: GPL-2.0"
    modules = ("MySQLdb",)
    built_on: ClassVar[Sequence[str]] = ("default-libmysqlclient-dev",)
    session_class: ClassVar[type[SQLSession]] = StreamSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        import MySQLdb

        return {"mysqlclient": version("mysqlclient"), "libmariadb or libmysqlclient": MySQLdb.get_client_info()}

    def raw(self, address: Address) -> Any:
        import MySQLdb

        return MySQLdb.connect(**arguments(address), binary_prefix=True)


class MySQLLowLevel(MySQL):
    name = "mysql+_mysql"
    title = "MariaDB/MySQL (_mysql)"
    session_class = LowLevelSession

    def raw(self, address: Address) -> Any:
        from MySQLdb import _mysql
        from MySQLdb.constants import FIELD_TYPE, FLAG

        whole = (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG)
        text = (FIELD_TYPE.STRING, FIELD_TYPE.VAR_STRING, FIELD_TYPE.VARCHAR, FIELD_TYPE.BLOB, FIELD_TYPE.LONG_BLOB)
        moments = (FIELD_TYPE.DATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP)
        conversions = {
            **dict.fromkeys(whole, int),
            **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), float),
            **dict.fromkeys(text, ((FLAG.BINARY, bytes), (None, str))),
            **dict.fromkeys(moments, str),
            FIELD_TYPE.NEWDECIMAL: Decimal,
        }
        given = arguments(address)
        autocommit = given.pop("autocommit")
        connection = _mysql.connect(**given, conv=conversions)
        connection.autocommit(autocommit)
        return connection


class PyMySQL(MySQL):
    name = "mysql+pymysql"
    title = "MariaDB/MySQL (PyMySQL)"
    license = "GPL-2.0; PyMySQL: MIT"
    modules = ("pymysql",)
    built_on = ()
    session_class = CursorSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"PyMySQL": version("PyMySQL")}

    def raw(self, address: Address) -> Any:
        import pymysql

        return pymysql.connect(**arguments(address), binary_prefix=True)


def arguments(address: Address) -> dict[str, Any]:
    """What the three drivers take by the same names."""
    socket, authority = map(address.parameters.get, ("unix_socket", "ssl_ca"))
    return {
        **({"unix_socket": socket} if socket else {"host": address.host, "port": address.port}),
        "user": address.user,
        "password": address.password,
        **({"database": address.database} if address.database else {}),
        **({"ssl": {"ca": authority}} if authority else {}),
        "charset": "utf8mb4",
        "local_infile": True,
        "autocommit": True,
        "connect_timeout": CONNECT_SECONDS,
    }
