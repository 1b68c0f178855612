"""Every built-in engine through the same kit."""

import os
from typing import ClassVar

from dbbench.testing import EngineContract, SQLContract


class TestSQLite(SQLContract):
    engine = "sqlite"
    options: ClassVar = {"busy_seconds": 1}


class TestAPSW(SQLContract):
    engine = "sqlite+apsw"
    options: ClassVar = {"busy_seconds": 1}


class TestDuckDB(SQLContract):
    engine = "duckdb"


class TestDuckDBArrow(SQLContract):
    engine = "duckdb+arrow"


class TestFirebird(SQLContract):
    engine = "firebird"


class TestLibSQL(SQLContract):
    engine = "libsql"
    options: ClassVar = {"busy_seconds": 1}


class TestTurso(SQLContract):
    engine = "turso"
    options: ClassVar = {"busy_seconds": 1}


class TestChDB(SQLContract):
    engine = "chdb"


class TestSQLAlchemy(SQLContract):
    engine = "sqlalchemy"
    url = "sqlite:///{tmp}/core.db"


class NullContract(EngineContract):
    test_tells_its_versions = None  # it is the harness itself


class TestNull(NullContract):
    engine = "null"


class TestNullArrow(NullContract):
    engine = "null+arrow"


class TestMySQL(SQLContract):
    engine = "mysql"


class TestMySQLLowLevel(SQLContract):
    engine = "mysql+_mysql"


class TestPyMySQL(SQLContract):
    engine = "mysql+pymysql"


class TestSQLiteODBC(SQLContract):
    engine = "odbc+sqlite"
    options: ClassVar = {"busy_seconds": 1}


class TestPostgreSQLODBC(SQLContract):
    engine = "postgresql+pyodbc"


class TestMySQLODBC(SQLContract):
    engine = "mysql+pyodbc"


class TestODBC(SQLContract):
    engine = "odbc"
    url = "odbc:Driver={SQLite3};Database={tmp}/any.db;BigInt=1"
    waits = True  # libsqliteodbc for 100 s, if the connection string doesn't say otherwise


class TestSQLServer(SQLContract):
    engine = "sqlserver"
    url = os.environ.get("DBBENCH_URL_SQLSERVER", "")


class TestSQLServerPython(SQLContract):
    engine = "sqlserver+mssql-python"
    url = os.environ.get("DBBENCH_URL_SQLSERVER", "")


class TestOracle(SQLContract):
    engine = "oracle"
    url = os.environ.get("DBBENCH_URL_ORACLE", "")


class TestSQLServerCompact(EngineContract):
    engine = "sqlce"


class TestVistaDB(EngineContract):
    engine = "vistadb"


class TestH2(SQLContract):
    engine = "h2"


class TestHSQLDB(SQLContract):
    engine = "hsqldb"
    waits = True  # it locks whole tables


class TestDerby(SQLContract):
    engine = "derby"


class TestAccess(SQLContract):
    engine = "access"
    waits = True  # the mirror locks whole tables


class TestAccessAccdb(SQLContract):
    engine = "access"
    waits = True
    options = {"format": "V2010"}


class TestPostgreSQL(SQLContract):
    engine = "postgresql"


class TestPostgreSQLPQ(SQLContract):
    engine = "postgresql+pq"


class TestPostgreSQLADBC(SQLContract):
    engine = "postgresql+adbc"


def test_every_engine_has_a_contract_test() -> None:
    from importlib.metadata import entry_points

    tested = {cls.engine for cls in (*_all(EngineContract),) if "engine" in vars(cls)}
    points = entry_points(group="dbbench.engines")
    built_in = {point.name for point in points if point.dist is not None and point.dist.name == "dbbench"}
    assert built_in
    assert built_in <= tested


def _all(cls: type) -> list[type]:
    return [found for sub in cls.__subclasses__() for found in (sub, *_all(sub))]
