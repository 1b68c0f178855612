"""Every built-in engine through the kits of all that it offers."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

from dbbench.engine import registry
from dbbench.engine.declared import declared
from dbbench.host import machine
from dbbench.testing import EngineContract, ObjectContract, SQLContract, VectorContract, kit
from dbbench.testing.contract import Opener, missing
from dbbench.testing.objects import NAME, THINGS
from dbbench_plugins.loopback import loopback
from tests import dotnet, esent

#: Its steps on records and texts are run with another engine that has the same statements, its clients on tables.
RECORDS_BY_OTHERS: dict[str, Any] = {
    "test_a_whole_trial_on_records_is_right": None,
    "test_serves_records_to_threads_as_it_says": None,
    "test_serves_records_to_processes_as_it_says": None,
    "test_runs_a_whole_trial_of_texts": None,
}
#: Its server is opened, joined, kept and closed by the code of its family, which the kit tests on another engine.
SERVER_BY_OTHERS: dict[str, Any] = {
    "test_gives_a_tier_or_refuses_it": None,
    "test_leaves_no_process_and_no_open_file": None,
    "test_records_that_were_committed_are_there_after_reopening": None,
    "test_a_compaction_changes_no_record": None,
    "test_serves_processes_as_it_says": None,
}

# SQL, in process

#: Longer than clients in each other's way wait on a busy machine, and not a minute where a lock is held on purpose.
_BUSY = {"busy_seconds": 10}

TestSQLite = kit("sqlite")  # as `dbbench plugin check` has it: a minute is longer than the kit holds a lock
# Its statements are those of `sqlite`.
TestAPSW = kit("sqlite+apsw", options=_BUSY, test_runs_a_whole_trial_of_texts=None)
TestAioSQLite = kit("sqlite+aiosqlite", options=_BUSY, **RECORDS_BY_OTHERS)
TestSQLiteLibrary = kit("sqlite+library", options=_BUSY, **RECORDS_BY_OTHERS)
TestSQLiteADO = kit("sqlite+ado", options=_BUSY, **RECORDS_BY_OTHERS)
TestSQLiteODBC = kit("odbc+sqlite", options=_BUSY, **RECORDS_BY_OTHERS)
TestLibSQL = kit("libsql", options=_BUSY)
TestTurso = kit("turso", options=_BUSY)
TestDuckDB = kit("duckdb")
TestDuckDBArrow = kit("duckdb+arrow")
TestFirebird = kit("firebird")
TestChDB = kit("chdb")
TestH2 = kit("h2")
TestHSQLDB = kit("hsqldb", **RECORDS_BY_OTHERS)
TestDerby = kit("derby", **RECORDS_BY_OTHERS)
TestAccess = kit("access")
# A whole trial is that of the other format.
TestAccessAccdb = kit("access", options={"format": "V2010"}, test_a_whole_trial_is_right=None, **RECORDS_BY_OTHERS)

# Vectors

TestSQLiteVec = kit("sqlite+vec", options=_BUSY)
TestUSearch = kit("usearch")
TestFaiss = kit("faiss")
TestZvec = kit("zvec")
TestLanceDB = kit("lancedb")
TestQdrantEdge = kit("qdrant-edge")

# Texts

TestTantivy = kit("tantivy")
TestXapian = kit("xapian")

# SQL, with a server

served = partial(kit, joins=True)
TestPostgreSQL = served("postgresql")
TestPostgreSQLPQ = served("postgresql+pq", **SERVER_BY_OTHERS, **RECORDS_BY_OTHERS)
TestPostgreSQLADBC = served("postgresql+adbc", **SERVER_BY_OTHERS, **RECORDS_BY_OTHERS)
TestPostgreSQLAsync = served("postgresql+async", **SERVER_BY_OTHERS)
TestPostgreSQLAsyncpg = served("postgresql+asyncpg", **SERVER_BY_OTHERS, **RECORDS_BY_OTHERS)
TestPostgreSQLODBC = served("postgresql+pyodbc", **RECORDS_BY_OTHERS)
TestMySQL = served("mysql")
TestMySQLLowLevel = served("mysql+_mysql", **SERVER_BY_OTHERS, **RECORDS_BY_OTHERS)
TestPyMySQL = served("mysql+pymysql", **SERVER_BY_OTHERS, **RECORDS_BY_OTHERS)
TestMySQLODBC = served("mysql+pyodbc", **SERVER_BY_OTHERS, **RECORDS_BY_OTHERS)


class Loopback:
    """A port of 127.0.0.1 that lets nobody in without the password."""

    def test_listens_on_loopback_alone_and_asks_for_a_password(self, opened: Opener) -> None:
        engine: Any = opened("own")
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


class TestPostgreSQLTCP(Loopback, ObjectContract):  # else it is what `postgresql` is
    engine = "postgresql+tcp"
    joins = True

    def strangers(self, port: int, user: str) -> None:
        import psycopg

        psycopg.connect(f"host=127.0.0.1 port={port} dbname=postgres user={user or 'nobody'}").close()


class TestPGVector(VectorContract):
    engine = "postgresql+pgvector"


class TestMySQLTCP(Loopback, ObjectContract):
    engine = "mysql+tcp"
    joins = True

    def strangers(self, port: int, user: str) -> None:
        import MySQLdb

        MySQLdb.connect(host="127.0.0.1", port=port, user=user).close()


# SQL, at a URL


class TestSQLAlchemy(SQLContract):
    engine = "sqlalchemy"
    url = "sqlite:///{tmp}/core.db"


class TestODBC(SQLContract):
    engine = "odbc"
    url = "odbc:Driver={SQLite3};Database={tmp}/any.db;BigInt=1"


class TestSQLServer(SQLContract):
    engine = "sqlserver"
    url = os.environ.get("DBBENCH_URL_SQLSERVER", "")


class TestSQLServerPython(TestSQLServer):
    engine = "sqlserver+mssql-python"


class TestOracle(SQLContract):
    engine = "oracle"
    url = os.environ.get("DBBENCH_URL_ORACLE", "")


TestJet = kit("jet")


# Access layers


class Mapped:
    """A session that keeps an identity map."""

    def test_gives_the_very_object_that_is_held(self, session: Any) -> None:
        get = session.prepare_get(NAME, THINGS)
        held = get(7)
        assert get(7) is held
        session.forget()
        assert get(7) is not held
        session.close()


for layered in declared().values():
    if layered.package == "dbbench" and layered.base:
        joins = bool(registry.find(layered.base).url_example)
        mapped = (Mapped,) if layered.point.name in ("orm", "sqlmodel") else ()
        bases = (*mapped, kit(layered.name, joins=joins, **(SERVER_BY_OTHERS if joins else {})))
        class_name = f"Test_{layered.name.replace('+', '_').replace('-', '_')}"
        globals()[class_name] = type(class_name, bases, {})


# Records under keys

TestLMDB = kit("lmdb")
TestLevelDB = kit("leveldb")
TestRocksDB = kit("rocksdb")
TestBerkeleyDB = kit("berkeleydb")
TestBerkeleyDBPlain = kit("berkeleydb+nontxn")
TestUnQLite = kit("unqlite")
TestLibMDBX = kit("libmdbx")
TestGDBM = kit("dbm.gnu")
TestNDBM = kit("dbm.ndbm")
TestWiredTiger = kit("wiredtiger")
TestDict = kit("dict")
TestDotNetDictionary = kit("dotnet-dictionary")
TestRedis = kit("redis")


class StandIn:
    """The library is its user's to bring: here one with the same interface, compiled from C#."""

    engine: ClassVar[str]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _assembly(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        if dotnet.compiler() is None:
            missing(cls.engine, "there is no mcs: apt install mono-devel")
        with pytest.MonkeyPatch.context() as patch:
            made = dotnet.assembly(cls.engine, tmp_path_factory.getbasetemp())
            patch.setenv(f"DBBENCH_ASSEMBLY_{cls.engine.upper()}", str(made))
            yield


def stand_in(engine: str, **attributes: Any) -> type[Any]:
    return type("Contract", (StandIn, kit(engine, **attributes)), {})


TestBPlusTree = stand_in("bplustree")
TestRaptorDB = stand_in("raptordb")
TestRaptorDB1 = stand_in("raptordb1")
TestBplusDotNet = stand_in("bplusdotnet")
TestSTSdb = stand_in("stsdb")
TestSQLServerCompact = stand_in("sqlce", **RECORDS_BY_OTHERS)
TestVistaDB = stand_in("vistadb", **RECORDS_BY_OTHERS)


class TestESENT(kit("esent")):
    """With a stand-in for esent.dll, compiled from C: there is none but on Windows."""

    @pytest.fixture(autouse=True)
    def _library(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DBBENCH_ESENT_LIBRARY", str(esent.library(tmp_path_factory.getbasetemp())))


# Blocks


class OnADisk:
    @pytest.fixture(autouse=True)
    def _disk(self, tmp_path: Path) -> None:
        if machine.file_system(tmp_path) in ("tmpfs", "ramfs"):
            pytest.skip("there is no disk under the tests' folder to go to directly: give --basetemp")


TestRawFile = kit("rawfile")
TestRawFileSync = kit("rawfile+dsync")
TestRawFileMapped = kit("rawfile+mmap")


class TestRawFileDirect(OnADisk, kit("rawfile+direct")): ...


class TestIOUring(OnADisk, kit("io_uring")): ...


TestVirtualFile = kit("virtualfile")
#: Of 128 pages, where the kit's blocks take more, and a log that is full every 250 blocks.
TestVirtualFileWithASmallCache = kit("virtualfile", options={"cache_mib": 1, "log_mib": 1})


# Nothing


class TestNull(EngineContract):
    """It is the harness itself."""

    engine = "null"
    test_tells_its_versions = None


class TestNullArrow(TestNull):
    engine = "null+arrow"


class TestNullAsync(TestNull):
    engine = "null+async"


def test_every_engine_is_tested() -> None:
    tested = {value.engine for name, value in globals().items() if name.startswith("Test")}
    built_in = set(registry.names("dbbench"))
    assert built_in
    assert built_in == tested
