"""--url: a database of the user's own gets the suite's tables and loses them again, and its password is seen nowhere."""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import Dbbench, everything_written, run_suite, started, summary
from tests.waiting import until

pytest.importorskip("sqlalchemy")

SECRET = "geheim-4711"
SMALL = ("suite", "invoices", "--quick", "--scale", "0.01", "--format", "csv,md")


def tables(path: Path) -> set[str]:
    with sqlite3.connect(path) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_a_name_of_ones_own_runs_a_table_that_is_there_is_not_touched_and_a_password_is_seen_nowhere(
    tmp_path: Path, dbbench_here: Dbbench
) -> None:
    """Nobody listens on the port: the driver says so, in words of its own."""
    empty, full = tmp_path / "empty.db", tmp_path / "full.db"
    with sqlite3.connect(full) as connection:
        connection.execute("CREATE TABLE Shipment (precious)")
        connection.execute("INSERT INTO Shipment VALUES (1)")
    urls = ("--url", f"mine=sqlite:///{empty}", "--url", f"theirs=sqlite:///{full}", "--url", "nobody=env:MY_URL")
    nobody = f"postgresql+psycopg://me:{SECRET}@127.0.0.1:9/bench?connect_timeout=5"
    done = dbbench_here(*SMALL, *urls, "-e", "sqlite", "--out", "run", MY_URL=nobody, status=1)
    rows = summary(tmp_path / "run")
    assert rows["join-1", "sqlite"]["outcome"] == "ok"
    assert {row["outcome"] for (_, engine), row in rows.items() if engine == "mine"} == {"ok"}
    page = (tmp_path / "run" / "report" / "index.md").read_text("utf-8")
    assert r"\[mine\]" in page
    assert "(SQLAlchemy, pysqlite)" in page
    assert rows["join-1", "theirs"]["outcome"] == "unsupported"
    assert "already has a table Shipment" in done.stdout
    assert (tables(empty), tables(full)) == (set(), {"Shipment"})
    with sqlite3.connect(full) as connection:
        assert connection.execute("SELECT precious FROM Shipment").fetchall() == [(1,)]
    assert rows["join-1", "nobody"]["outcome"] in ("failed", "unavailable")
    written = everything_written(tmp_path / "run")
    assert "me:***@127.0.0.1:9" in written
    assert SECRET not in done.stdout + done.stderr + written


@pytest.mark.matrix
@pytest.mark.parametrize("locked", [False, True])
def test_after_an_interruption_the_tables_are_gone_or_named(tmp_path: Path, locked: bool) -> None:
    database = tmp_path / "mine.db"
    asked = ("--url", f"mine=sqlite:///{database}", "-e", "sqlite")
    with started(tmp_path, "suite", "invoices", "--quick", "--format", "csv", "--out", "run", *asked) as process:
        assert until(
            lambda: any('"made": true' in path.read_text() for path in tmp_path.glob("run/trials/*mine/steps.json"))
        )
        with closing(sqlite3.connect(database, timeout=60, isolation_level=None)) as other:
            if locked:
                other.execute("BEGIN IMMEDIATE")
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=1200)[0].decode()
    assert process.returncode == 130, output
    assert ("mine: its tables may still be at the URL: drop them before the next run" in output) == locked
    assert bool(tables(database)) == locked


def test_after_a_failure_between_two_steps_the_tables_are_gone(tmp_path: Path) -> None:
    url = f"servers-lost=sqlite:///{tmp_path}/lost.db"
    run = run_suite(tmp_path, "invoices", ("servers-lost",), "--rounds", "2", "--scale", "0.01", "--url", url)
    trials = [json.loads(path.read_text()) for path in run.glob("trials/*-servers-lost/result.json")]
    failed = ("failed", "ConnectionError: the network is down")
    assert [{(step["outcome"], step["detail"]) for step in trial["steps"]} for trial in trials] == [{failed}] * 2
    assert tables(tmp_path / "lost.db") == set()


@pytest.mark.matrix
def test_a_run_at_a_url_goes_on_with_the_same_url_only(tmp_path: Path, dbbench_here: Dbbench) -> None:
    url = f"mine=sqlite:///{tmp_path}/mine.db"
    dbbench_here(*SMALL, "-e", "sqlite", "--url", url, "--out", "run", status=0)
    without = dbbench_here("suite", "--resume", "run", status=2)
    assert "--url mine=URL" in without.stderr
    other = dbbench_here("suite", "--resume", "run", "--url", f"{url}?password={SECRET}", status=2)
    assert "password=***" in other.stderr
    assert SECRET not in other.stderr
    dbbench_here("suite", "--resume", "run", "--url", url, "--format", "csv", status=0)


def test_what_takes_no_url_says_so(dbbench_here: Dbbench) -> None:
    done = dbbench_here(*SMALL, "-e", "sqlite", "--url", "sqlite=postgresql://me@host/db", "--out", "run", status=2)
    assert "takes no URL" in done.stderr
