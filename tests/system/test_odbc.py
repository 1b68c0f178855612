"""ODBC with real drivers: any connection string by --url, servers that can't be reached, and numbers that are large."""

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from dbbench.engine.base import Setup
from dbbench.engine.sql.session import fetch
from dbbench.errors import ServerFailed
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable
from tests.conftest import Dbbench, Opened, everything_written, summary
from tests.trials_here import no_null_engine

pytestmark = pytest.mark.matrix

CLOSED = "127.0.0.1:1"


def test_any_database_by_its_connection_string(dbbench_here: Dbbench, tmp_path: Path) -> None:
    """All steps are right, nothing is left in the database, and the password is nowhere."""
    usable("odbc+sqlite")
    database = tmp_path / "mine.db"
    url = f"odbc:Driver={{SQLite3}};Database={database};BigInt=1;PWD=geheim"
    how = ("--quick", "--scale", "0.01", "--url", f"odbc={url}", "-e", "odbc", "--set", "odbc.rows_at_once=100")
    with no_null_engine():
        done = dbbench_here("suite", "invoices", *how, "--format", "csv", "--out", "run", status=0)
    rows = summary(tmp_path / "run")
    assert {row["outcome"] for (_, engine), row in rows.items() if engine == "odbc"} == {"ok"}
    assert "SQLite (ODBC)" in done.stdout
    assert "geheim" not in done.stdout + done.stderr + everything_written(tmp_path / "run")
    with closing(sqlite3.connect(database)) as left:
        assert left.execute("SELECT name FROM sqlite_schema").fetchall() == []


def test_a_driver_that_is_not_there_is_told_with_those_that_are(opened: Opened) -> None:
    usable("odbc+sqlite")
    with pytest.raises(ServerFailed, match="SQLite3") as told:
        opened("odbc", Tier.POWER, "odbc:Driver={No Such Driver};PWD=geheim")
    assert "geheim" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("sqlserver", f"mssql://me:geheim@{CLOSED}/db?driver=FreeTDS"),
        ("sqlserver+mssql-python", f"mssql://me:geheim@{CLOSED}/db?Encrypt=no"),
        ("oracle", f"oracle://me:geheim@{CLOSED}/service"),
        ("oracle", "oracle://me:geheim@no-such-host.invalid/service"),
        ("postgresql+pyodbc", f"postgresql://me:geheim@{CLOSED}/db"),
        ("mysql+pyodbc", f"mysql://me:geheim@{CLOSED}/db"),
    ],
)
def test_a_server_that_is_not_there_is_told_in_time(
    name: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = usable(name)
    monkeypatch.setattr("dbbench_plugins.sqlserver.CONNECT_SECONDS", 2)  # mssql-python tries again until then
    engine = found(Setup(tmp_path, Tier.POWER, url=url))
    started = time.monotonic()
    with pytest.raises(ServerFailed, match=r"can't be used: .*; ") as told:
        engine.open()
    assert time.monotonic() - started < 60  # a bound, not a timing
    assert "geheim" not in str(told.value)
    engine.close()


def test_a_number_that_is_computed_comes_whole(opened: Opened) -> None:
    """libsqliteodbc gives the lowest 32 bits of it, unless it is told otherwise."""
    session = opened("odbc+sqlite", Tier.POWER).connect()
    assert fetch(session, "SELECT 5000000000, -5000000000 * 1000") == [(5_000_000_000, -5_000_000_000_000)]


def test_the_journal_is_brought_to_the_data_beside_other_clients(opened: Opened, tmp_path: Path) -> None:
    """A query that was read holds no lock, and what the driver reads of its own accord none either."""
    engine = opened("odbc+sqlite", Tier.POWER)
    reader, writer = engine.connect(), engine.connect()
    writer.execute("CREATE TABLE T (A INTEGER)")
    read = reader.prepare_call("SELECT A FROM T WHERE A > ?", 1)
    writer.execute("INSERT INTO T VALUES (1)")
    assert tuple(read(0)) == (1,)
    assert fetch(reader, "SELECT A FROM T") == [(1,)]
    writer.execute("INSERT INTO T VALUES (2)")
    engine.flush()
    shutil.copy(tmp_path / "data.sqlite", tmp_path / "alone.sqlite")  # without the journal, which keeps its length
    with closing(sqlite3.connect(tmp_path / "alone.sqlite")) as alone:
        assert alone.execute("SELECT COUNT(*) FROM T").fetchone() == (2,)
    assert fetch(reader, "SELECT COUNT(*) FROM T") == [(2,)]


def test_a_transaction_that_reads_first_is_not_overtaken(opened: Opened) -> None:
    """Another one waits until it is over, and can be made again."""
    engine = opened("odbc+sqlite", Tier.POWER, busy_seconds=1)
    first, second = engine.connect(), engine.connect()
    first.execute("CREATE TABLE T (A INTEGER)")
    first.execute("INSERT INTO T VALUES (1)")
    first.begin()
    assert fetch(first, "SELECT A FROM T") == [(1,)]
    with pytest.raises(Exception, match="database is locked") as refused:
        second.begin()
    assert second.retry_reason(refused.value) == "lock timeout"
    second.rollback()
    first.execute("UPDATE T SET A = A + 1")
    first.commit()
    second.begin()
    second.execute("UPDATE T SET A = A + 1")
    second.rollback()
    assert fetch(second, "SELECT A FROM T") == [(2,)]
