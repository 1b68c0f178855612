"""Every engine that gives objects through the same kit: drivers, and the layers over them."""

from __future__ import annotations

import os
from typing import Any

import psutil
import pytest

from dbbench.testing import ObjectContract
from dbbench.testing.contract import Opener
from dbbench_plugins.loopback import loopback


class TestSQLite(ObjectContract):
    engine = "sqlite"


class TestAPSW(ObjectContract):
    engine = "sqlite+apsw"


class TestSQLiteODBC(ObjectContract):
    engine = "odbc+sqlite"


class TestLibSQL(ObjectContract):
    engine = "libsql"


class TestTurso(ObjectContract):
    engine = "turso"


class TestDuckDB(ObjectContract):
    engine = "duckdb"


class TestFirebird(ObjectContract):
    engine = "firebird"


class TestPostgreSQL(ObjectContract):
    engine = "postgresql"


class TestPostgreSQLPQ(ObjectContract):
    engine = "postgresql+pq"


class TestPostgreSQLADBC(ObjectContract):
    engine = "postgresql+adbc"


class TestPostgreSQLODBC(ObjectContract):
    engine = "postgresql+pyodbc"


class TestMySQL(ObjectContract):
    engine = "mysql"


class TestMySQLLowLevel(ObjectContract):
    engine = "mysql+_mysql"


class TestPyMySQL(ObjectContract):
    engine = "mysql+pymysql"


class TestMySQLODBC(ObjectContract):
    engine = "mysql+pyodbc"


class Loopback(ObjectContract):
    """A port of 127.0.0.1 that lets nobody in without the password."""

    def test_listens_on_loopback_alone_and_asks_for_a_password(self, opened: Opener) -> None:
        engine: Any = opened()
        port = loopback(engine.directory).port
        server, *_ = engine.processes()  # others, like PostgreSQL's workers, come and go
        listening = {
            connection.laddr.ip
            for connection in psutil.Process(server).net_connections("inet")
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
        }
        assert listening == {"127.0.0.1"}
        assert os.stat(engine.directory / "loopback.json").st_mode & 0o077 == 0
        for user in ("root", "bench", "loopback", "postgres", ""):
            with pytest.raises(Exception, match=r"(?i)denied|authentication|password|role"):
                self.strangers(port, user)

    def strangers(self, port: int, user: str) -> None:
        """Connect without the password."""
        raise NotImplementedError


class TestPostgreSQLTCP(Loopback):
    engine = "postgresql+tcp"

    def strangers(self, port: int, user: str) -> None:
        import psycopg

        psycopg.connect(f"host=127.0.0.1 port={port} dbname=postgres user={user or 'nobody'}").close()


class TestMySQLTCP(Loopback):
    engine = "mysql+tcp"

    def strangers(self, port: int, user: str) -> None:
        import MySQLdb

        MySQLdb.connect(host="127.0.0.1", port=port, user=user).close()


class TestSQLiteCore(ObjectContract):
    engine = "sqlite+core"


class TestPostgreSQLCore(ObjectContract):
    engine = "postgresql+core"


class TestMySQLCore(ObjectContract):
    engine = "mysql+core"


class TestFirebirdCore(ObjectContract):
    engine = "firebird+core"


class TestSQLiteCoreText(ObjectContract):
    engine = "sqlite+core-text"


class TestPostgreSQLCoreText(ObjectContract):
    engine = "postgresql+core-text"


class TestMySQLCoreText(ObjectContract):
    engine = "mysql+core-text"


class TestFirebirdCoreText(ObjectContract):
    engine = "firebird+core-text"


class Mapped(ObjectContract):
    """A session that keeps an identity map."""

    def test_gives_the_very_object_that_is_held(self, session: Any) -> None:
        from dbbench.testing.objects import NAME, THINGS

        get = session.prepare_get(NAME, THINGS)
        held = get(7)
        assert get(7) is held
        session.forget()
        assert get(7) is not held
        session.close()


class TestSQLiteORM(Mapped):
    engine = "sqlite+orm"


class TestPostgreSQLORM(Mapped):
    engine = "postgresql+orm"


class TestMySQLORM(Mapped):
    engine = "mysql+orm"


class TestFirebirdORM(ObjectContract):
    engine = "firebird+orm"


class TestSQLiteModels(Mapped):
    engine = "sqlite+sqlmodel"


class TestPostgreSQLModels(Mapped):
    engine = "postgresql+sqlmodel"


class TestMySQLModels(Mapped):
    engine = "mysql+sqlmodel"


class TestFirebirdSQLModel(ObjectContract):
    engine = "firebird+sqlmodel"


class TestSQLitePeewee(ObjectContract):
    engine = "sqlite+peewee"


class TestPostgreSQLPeewee(ObjectContract):
    engine = "postgresql+peewee"


class TestMySQLPeewee(ObjectContract):
    engine = "mysql+peewee"


class TestSQLiteDjango(ObjectContract):
    engine = "sqlite+django"


class TestPostgreSQLDjango(ObjectContract):
    engine = "postgresql+django"


class TestMySQLDjango(ObjectContract):
    engine = "mysql+django"
