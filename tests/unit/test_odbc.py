"""ODBC without a server: connection strings, drivers, and how rows are sent."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import Mock

import pytest

from dbbench.engine import EngineInfo, Setup, Tier, registry
from dbbench.engine.sql.dialect import Dialect
from dbbench.errors import ServerFailed, Unavailable, Unsupported
from dbbench.suite.dataset import Table
from dbbench_plugins.dbapi import address, failed
from dbbench_plugins.mysql.address import parsed
from dbbench_plugins.odbc.any import _KNOWN, ODBC
from dbbench_plugins.odbc.connection import connection_string, driver
from dbbench_plugins.odbc.mysql import MySQLODBC
from dbbench_plugins.odbc.postgresql import PostgreSQLODBC, keywords
from dbbench_plugins.odbc.session import ODBCSession
from dbbench_plugins.odbc.sqlite import SQLiteODBC
from dbbench_plugins.sqlalchemy import _PRODUCTS, Product, SQLAlchemy
from tests.tables import table_of

EXAMPLE = "mssql://USER:PASSWORD@HOST:1433/DATABASE"


def table(columns: int) -> Table:
    return table_of({f"C{number}": "integer" for number in range(columns)})


class Recorder:
    """A connection that keeps what is executed."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Any]]] = []
        self.many: list[tuple[str, list[Any]]] = []

    def cursor(self) -> Self:
        return self

    def execute(self, sql: str, values: list[Any]) -> None:
        self.calls.append((sql, values))

    def executemany(self, sql: str, rows: list[Any]) -> None:
        self.many.append((sql, rows))


def loaded(columns: int, rows: int, at_once: int = 100) -> Recorder:
    recorder = Recorder()
    session = ODBCSession(recorder, Dialect())
    session.rows_at_once = at_once
    session.prepare_load("T", table(columns))([(number,) * columns for number in range(rows)])
    return recorder


def test_rows_go_in_many_at_a_time() -> None:
    calls = loaded(columns=3, rows=250).calls
    assert [len(values) // 3 for _, values in calls] == [100, 100, 50]
    assert [value for _, values in calls for value in values[::3]] == list(range(250))
    assert all(sql.count("?") == len(values) for sql, values in calls)
    assert calls[2][0] == 'INSERT INTO "T" ("C0", "C1", "C2") VALUES ' + ", ".join(["(?, ?, ?)"] * 50)


def test_the_statement_of_whole_pieces_is_one_object() -> None:
    """pyodbc prepares anew whatever isn't the very object that it prepared last."""
    calls = loaded(columns=3, rows=300).calls
    assert calls[0][0] is calls[1][0] is calls[2][0]


def test_no_statement_has_more_parameters_than_sql_server_takes() -> None:
    assert max(len(values) for _, values in loaded(columns=150, rows=40).calls) <= 2_100


@pytest.mark.parametrize(("columns", "at_once"), [(3, 1), (1_500, 100)])
def test_one_row_at_a_time_is_executemany(columns: int, at_once: int) -> None:
    recorder = loaded(columns=columns, rows=5, at_once=at_once)
    assert not recorder.calls
    assert [len(rows) for _, rows in recorder.many] == [5]


@pytest.mark.parametrize("engine", [SQLiteODBC, PostgreSQLODBC, MySQLODBC, ODBC])
def test_nobody_can_switch_on_fast_executemany(engine: Any) -> None:
    """It crashes in libsqliteodbc and fails in MariaDB's driver."""
    assert not [option for option in engine.options_class.model_fields if "fast" in option or "many" in option]


def test_a_driver_that_is_missing_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pyodbc = pytest.importorskip("pyodbc", exc_type=ImportError)  # as where unixODBC is missing
    monkeypatch.setattr(pyodbc, "drivers", lambda: ["FreeTDS"])
    assert driver("ODBC Driver 18 for SQL Server", "FreeTDS") == "FreeTDS"
    for engine, packages in (
        (SQLiteODBC, "unixodbc libsqliteodbc"),
        (MySQLODBC, "mariadb-server unixodbc odbc-mariadb"),
        (PostgreSQLODBC, "postgresql unixodbc odbc-postgresql"),
    ):
        with pytest.raises(Unavailable) as told:
            registry.load(engine.name)
        assert told.value.install == f"apt install {packages}"


def test_a_value_is_put_in_braces_where_it_needs_them() -> None:
    text = connection_string({"Driver": "A B", "Server": "h", "PWD": "a;b}c", "UID": "plain"})
    assert text == "Driver={A B};Server=h;PWD={a;b}}c};UID=plain"


def test_a_postgresql_url_as_keywords() -> None:
    text = keywords("postgresql://me:p%3Bw@h:5433/db?sslmode=require&application_name=it%27s&connect_timeout=3")
    assert text == (
        "Driver={PostgreSQL Unicode};Server=h;Port=5433;Database=db;UID=me;PWD={p;w};"
        r"pqopt={sslmode='require' application_name='it\'s'}"
    )
    assert "Server=/tmp/s;" in keywords("postgresql://me@/db?host=/tmp/s&port=1")
    assert "Server=h;Port=5432;Database=db;UID=me;PWD=1#2;" in keywords("postgresql://me:1#2@h/db?sslmode=require")


def test_mysql_connects_by_a_socket_or_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = Mock(side_effect=lambda _: SimpleNamespace())
    monkeypatch.setattr("dbbench_plugins.odbc.connection.connect", connect)
    for url in ("mysql://me:p%3Bw@h:3307/db", "mysql://me@h/db?unix_socket=/tmp/s"):
        made = MySQLODBC.raw(MySQLODBC.__new__(MySQLODBC), parsed(url))
        assert made.maxwrite >= 2**30  # in pieces, the driver would store something else
    by_host, by_socket = (call.args[0] for call in connect.call_args_list)
    assert "SERVER=h;PORT=3307;UID=me;PWD={p;w};DATABASE=db" in by_host
    assert "SOCKET=/tmp/s;UID=me;DATABASE=db" in by_socket
    assert "SERVER" not in by_socket


def over_odbc(product: str, folder: Path) -> EngineInfo:
    engine = ODBC(Setup(folder, Tier.POWER, url="odbc:Driver={X}"))
    engine.product, engine.known = product, _KNOWN.get(product)
    return engine.info()


def over_sqlalchemy(product: str, folder: Path) -> EngineInfo:
    engine = SQLAlchemy(Setup(folder, Tier.POWER, url="x://"))
    engine.alchemy = SimpleNamespace(dialect=SimpleNamespace(name=product, driver="d"))
    engine.product, engine.server = _PRODUCTS.get(product, Product(product)), {}
    return engine.info()


@pytest.mark.parametrize(
    ("info", "product", "publication", "note"),
    [
        (over_odbc, "SQLite", "allowed", ""),
        (over_odbc, "PostgreSQL", "unknown", "the licence of the database"),  # as other products call themselves
        (over_odbc, "MySQL", "unknown", "the licence of the database"),
        (over_odbc, "Microsoft SQL Server", "forbidden", "Microsoft's licence terms"),
        (over_odbc, "ACCESS", "unknown", "the licence of the database"),
        (over_sqlalchemy, "sqlite", "allowed", ""),
        (over_sqlalchemy, "firebird", "allowed", ""),
        (over_sqlalchemy, "postgresql", "unknown", "the licence of the database"),
        (over_sqlalchemy, "oracle", "forbidden", "Oracle's licence agreements"),
        (over_sqlalchemy, "informix", "unknown", "the licence of the database"),
    ],
)
def test_publication_is_known_only_where_a_name_says_the_licence(
    info: Callable[[str, Path], EngineInfo], product: str, publication: str, note: str, tmp_path: Path
) -> None:
    found = info(product, tmp_path)
    assert found.publication == publication
    assert found.publication_note.startswith(note)
    assert bool(found.publication_note) is bool(note)


def test_a_semicolon_in_the_way_to_the_file_is_refused(tmp_path: Any) -> None:
    folder = tmp_path / "a;b"
    folder.mkdir()
    with pytest.raises(Unsupported, match="semicolon"):
        SQLiteODBC(Setup(folder, Tier.POWER)).open()


@pytest.mark.parametrize(
    "url", ["mssql://me:ge[heim@h/db", "mssql://me:geheim@h:port/db", "mssql://me:geheim@h", "mssql:geheim"]
)
def test_a_url_that_names_too_little_is_told_without_its_password(url: str) -> None:
    with pytest.raises(ServerFailed, match="HOST") as told:
        address(url, EXAMPLE, 1433)
    assert "geheim" not in str(told.value)
    assert "heim" not in str(told.value)


def test_a_url_taken_apart() -> None:
    found = address("mssql://me:p%40%2Fw@h:5/db?Encrypt=no&driver=FreeTDS", EXAMPLE, 1433)
    assert (found.host, found.port, found.database, found.user, found.password) == ("h", 5, "db", "me", "p@/w")
    assert found.parameters == {"Encrypt": "no", "driver": "FreeTDS"}
    assert address("mssql://h/db", EXAMPLE, 1433).port == 1433
    assert "p@/w" not in repr(found)


def test_what_a_driver_says_comes_with_advice_and_without_a_cause() -> None:
    with pytest.raises(ServerFailed, match=r"^the server at the URL can't be used: no\sroute; look there$") as told:
        failed(OSError(1, "no\nroute"), "look there")
    assert told.value.__suppress_context__
