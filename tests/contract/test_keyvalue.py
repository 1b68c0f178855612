"""Every engine that keeps records under keys through the same kit; SQLite stands for the adaptor of the SQL engines."""

from __future__ import annotations

import pytest

from dbbench.errors import Unavailable
from dbbench.server import program
from dbbench.testing import KeyValueContract
from dbbench.testing.contract import required
from tests import dotnet, esent


class TestDict(KeyValueContract):
    engine = "dict"
    test_what_was_committed_is_there_after_reopening = None  # it keeps nothing


class TestLMDB(KeyValueContract):
    engine = "lmdb"


class TestLevelDB(KeyValueContract):
    engine = "leveldb"


class TestRocksDB(KeyValueContract):
    engine = "rocksdb"


class TestBerkeleyDB(KeyValueContract):
    engine = "berkeleydb"


class TestBerkeleyDBPlain(KeyValueContract):
    engine = "berkeleydb+nontxn"


class TestUnQLite(KeyValueContract):
    engine = "unqlite"


class TestLibMDBX(KeyValueContract):
    engine = "libmdbx"


class TestGDBM(KeyValueContract):
    engine = "dbm.gnu"


class TestNDBM(KeyValueContract):
    engine = "dbm.ndbm"


class TestWiredTiger(KeyValueContract):
    engine = "wiredtiger"


class TestRedis(KeyValueContract):
    engine = "redis"

    @pytest.fixture(autouse=True)
    def _server(self) -> None:
        try:
            program("redis-server", install="apt install redis-server")
        except Unavailable as exc:
            (pytest.fail if required(self.engine) else pytest.skip)(f"{exc.reason}; {exc.install}")


class TestSQLiteRecords(KeyValueContract):
    engine = "sqlite"


class TestAPSWRecords(KeyValueContract):
    engine = "sqlite+apsw"


class TestDuckDBRecords(KeyValueContract):
    engine = "duckdb"


class TestDuckDBArrowRecords(KeyValueContract):
    engine = "duckdb+arrow"


class TestFirebirdRecords(KeyValueContract):
    engine = "firebird"


class TestLibSQLRecords(KeyValueContract):
    engine = "libsql"


class TestTursoRecords(KeyValueContract):
    engine = "turso"


class TestPostgreSQLRecords(KeyValueContract):
    engine = "postgresql"


class TestPostgreSQLPQRecords(KeyValueContract):
    engine = "postgresql+pq"


class TestPostgreSQLADBCRecords(KeyValueContract):
    engine = "postgresql+adbc"


class TestMySQLRecords(KeyValueContract):
    engine = "mysql"


class TestMySQLLowLevelRecords(KeyValueContract):
    engine = "mysql+_mysql"


class TestODBCSQLiteRecords(KeyValueContract):
    engine = "odbc+sqlite"


class TestH2Records(KeyValueContract):
    engine = "h2"


class TestHSQLDBRecords(KeyValueContract):
    engine = "hsqldb"


class TestDerbyRecords(KeyValueContract):
    engine = "derby"


class TestDotNetDictionary(KeyValueContract):
    engine = "dotnet-dictionary"
    test_what_was_committed_is_there_after_reopening = None  # it keeps nothing


class StandIn(KeyValueContract):
    """The library is its user's to bring: here one with the same interface, compiled from C#."""

    @pytest.fixture(autouse=True)
    def _assembly(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        if dotnet.compiler() is None:
            (pytest.fail if required(self.engine) else pytest.skip)("there is no mcs: apt install mono-devel")
        made = dotnet.assembly(self.engine, tmp_path_factory.getbasetemp())
        monkeypatch.setenv(f"DBBENCH_ASSEMBLY_{self.engine.upper()}", str(made))


class TestBPlusTree(StandIn):
    engine = "bplustree"


class TestRaptorDB(StandIn):
    engine = "raptordb"
    test_says_what_a_store_is = None  # it has numbers and Guids for keys, of at most 16 bytes


class TestBplusDotNet(StandIn):
    engine = "bplusdotnet"


class TestSTSdb(StandIn):
    engine = "stsdb"


class TestESENT(KeyValueContract):
    """With a stand-in for esent.dll, compiled from C: there is none but on Windows."""

    engine = "esent"

    @pytest.fixture(autouse=True)
    def _library(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DBBENCH_ESENT_LIBRARY", str(esent.library(tmp_path_factory.getbasetemp())))
