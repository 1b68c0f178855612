"""A private MariaDB that can't start, dies or hangs; one at a URL; and loads that the server would take in part."""

import gc
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pyarrow as pa
import pytest

from dbbench.datasets.cache import materialise
from dbbench.datasets.driver_rows import CsvChunk, chunk
from dbbench.engine import private_server, registry
from dbbench.engine.base import Engine, Setup
from dbbench.engine.sql.session import fetch
from dbbench.engine.traits import Publication
from dbbench.errors import ServerFailed, Unavailable, Unsupported
from dbbench.host import atomic_json
from dbbench.suite.dataset import ForeignKey
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from dbbench.workloads import churn
from tests.conftest import TESTS, Dbbench, Opened, everything_written, run_suite, summary
from tests.slow_query import SLOW
from tests.tables import one_table, table_of
from tests.trials_here import trials_here
from tests.unit.loaded import loaded
from tests.waiting import of_run, until

pytestmark = pytest.mark.matrix

usable("mysql")
usable("mysql+pymysql")

SECRET = "geheim-4711"
ENGINES = ("mysql", "mysql+_mysql", "mysql+pymysql")
SMALL = ("suite", str(TESTS / "unit" / "small.yaml"), "--quick")
NOTES = table_of({"Id": "integer", "Note": "varchar(5)"}, rows=3)  # the tests bring their own values


def made(name: str, directory: Path, tier: Tier = Tier.POWER, url: str = "") -> Any:
    directory.mkdir(exist_ok=True)
    return registry.load(name)(Setup(directory, tier, {}, url))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of somebody else's: it has a user with a password, and a database for them."""
    engine = made("mysql", tmp_path_factory.mktemp("theirs") / "data")
    engine.open()
    for statement in (
        "CREATE DATABASE theirs",
        f"CREATE USER bob@localhost IDENTIFIED BY '{SECRET}'",
        "GRANT ALL ON theirs.* TO bob@localhost",
        "SET GLOBAL local_infile = 1",
    ):
        engine.session.execute(statement)
    yield engine
    engine.close()


def url(engine: Engine, user: str = f"bob:{SECRET}", database: str = "theirs", name: str = "mysqld.sock") -> str:
    return f"mysql://{user}@localhost/{database}?unix_socket={engine.directory}/{name}"


# At a URL


@pytest.mark.parametrize("name", ENGINES)
def test_the_label_says_who_answered(theirs: Any, name: str, opened: Opened, tmp_path: Path) -> None:
    engine = opened(name, Tier.PROCESS, url(theirs))
    driver = registry.find(name).title.removeprefix("MariaDB/MySQL ")
    assert engine.info().title == f"MariaDB {driver}"
    assert set(engine.server_versions()) == {"MariaDB"}
    assert engine.info().tier is Tier.POWER  # as the server gives it, which promises more
    assert SECRET not in str(engine.settings())
    assert not engine.processes()
    engine.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("version", "comment", "product"),
    [
        ("5.7.25-OceanBase-v4.2.1", "OceanBase 4.2.1", "OceanBase"),
        ("5.7.32", "SingleStoreDB (compatible; MySQL Enterprise & MySQL Commercial)", "SingleStore"),
    ],
)
def test_another_product_is_no_mysql(version: str, comment: str, product: str, tmp_path: Path) -> None:
    engine = made("mysql", tmp_path / "data", Tier.MEMORY, "mysql://host/db")
    rows = {"version": version, "version_comment": comment, "innodb_flush_log_at_trx_commit": "1"}
    engine.connect = lambda: SimpleNamespace(result_format="rows", prepare_query=lambda _: rows.items)
    engine._look()
    found = engine.info()
    assert (found.title, found.publication) == (f"{product} (mysqlclient)", Publication.UNKNOWN)
    assert found.publication_note == f"the licence of {product} is not known to dbbench"


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # PyMySQL leaves a socket to the collector
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user": f"bob:{SECRET}-no"}, "check the user, the password"),
        ({"database": "nowhere"}, "check the user, the password"),  # who may see it isn't told that it isn't there
        ({"user": "root", "database": "nowhere"}, "create it"),
        ({"name": "closed.sock"}, "check host, port or unix_socket"),
    ],
)
def test_a_url_that_leads_nowhere_says_what_to_do(theirs: Any, name: str, change: dict[str, str], words: str, tmp_path: Path) -> None:  # fmt: skip
    engine = made(name, tmp_path / "data", url=url(theirs, **change))
    with pytest.raises(ServerFailed, match=words) as caught:
        engine.open()
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    engine.close()
    del caught
    gc.collect()


@pytest.mark.parametrize("name", ENGINES)
def test_a_host_that_is_nowhere(name: str, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and doesn't listen
        engine = made(name, tmp_path / "data", url=f"mysql://bob:{SECRET}@127.0.0.1:{closed.getsockname()[1]}/theirs")
        with pytest.raises(ServerFailed, match="check host, port") as caught:
            engine.open()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_parameter_that_it_does_not_know(opened: Opened) -> None:
    with pytest.raises(ServerFailed, match="parameter charset; known are unix_socket and ssl_ca"):
        opened("mysql", url=f"mysql://bob:{SECRET}@localhost/theirs?charset=latin1")


@pytest.mark.parametrize(
    ("setting", "value", "before", "words"),
    [
        ("innodb_flush_log_at_trx_commit", "2", "1", "durability power needs other settings"),
        ("query_cache_type", "ON", "OFF", "keeps results of queries"),
    ],
)
def test_settings_that_measure_something_else_are_refused(
    theirs: Any, setting: str, value: str, before: str, words: str, opened: Opened
) -> None:
    theirs.session.execute(f"SET GLOBAL {setting} = {value}")
    try:
        with pytest.raises(Unsupported, match=words):
            opened("mysql", Tier.POWER, url(theirs))
    finally:
        theirs.session.execute(f"SET GLOBAL {setting} = {before}")


def test_pages_written_once_promise_less(tmp_path: Path) -> None:
    engine = made("mysql", tmp_path / "data", Tier.MEMORY, "mysql://host/db")
    engine.variables = {"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "OFF"}
    engine._check_tier()
    assert engine.given_tier is Tier.PROCESS


@pytest.mark.parametrize(("flush", "given"), [(0, Tier.MEMORY), (2, Tier.PROCESS), (3, Tier.POWER), (1, Tier.POWER)])
def test_a_server_gives_the_tier_that_it_is_set_to(flush: int, given: Tier, theirs: Any, opened: Opened) -> None:
    theirs.session.execute(f"SET GLOBAL innodb_flush_log_at_trx_commit = {flush}")
    try:
        assert opened("mysql", Tier.MEMORY, url(theirs)).info().tier is given
    finally:
        theirs.session.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1")


def test_commits_outlive_the_process_alone_where_the_binary_log_is_not_synced(opened: Opened, tmp_path: Path) -> None:
    class Logging(registry.load("mysql")):  # type: ignore[misc]
        def _network(self, server: Any) -> list[str]:
            return [*super()._network(server), "--log-bin=binary", "--sync-binlog=0"]

    theirs = opened(Logging, Tier.POWER, folder=tmp_path / "theirs")
    where = url(theirs, user="root", database="dbbench")
    with pytest.raises(Unsupported, match="log_bin is ON, sync_binlog is 0"):
        opened("mysql", Tier.POWER, where)
    engine = opened("mysql", Tier.MEMORY, where)
    assert engine.info().tier is Tier.PROCESS
    for name, query in engine.sync_queries.items():
        assert fetch(engine.session, query) == [(int(engine.promised()[name]),)]


@pytest.mark.parametrize("name", ENGINES)
def test_a_private_server_answers_with_the_options_that_it_was_given(name: str, opened: Opened) -> None:
    given = {"log_file_size_mib": 37, "sort_buffer_kib": 333}
    engine = opened(name, Tier.MEMORY, **given)
    session = engine.connect()
    found = {each: int(fetch(session, query)[0][0]) for each, query in engine.option_queries.items()}
    assert found == given


@pytest.mark.parametrize("name", ENGINES)
def test_a_private_server_takes_local_files_only_while_it_loads(name: str, opened: Opened) -> None:
    engine = opened(name, Tier.POWER)
    engine.create({"Notes": NOTES})
    watching, session = engine.connect(), engine.connect()

    def allowed() -> int:
        ((found,),) = fetch(watching, "SELECT @@GLOBAL.local_infile")
        return int(found)

    assert allowed() == 0
    insert = session.prepare_load("Notes", NOTES)
    assert allowed() == 1
    session.begin()
    insert(chunk(pa.record_batch({"Id": [1], "Note": ["a"]}), NOTES, session.load_format, session.bind))
    for finish in session.prepare_finish({"Notes": NOTES}).values():
        finish()
    assert allowed() == 0


def test_a_churn_leaves_the_server_and_its_session_as_a_load_does(tmp_path: Path) -> None:
    steps = "- {kind: load, name: load, title: Load}\n- {kind: churn, name: churn, title: Churn, table: One}"
    suite = parse_suite(suite_text("one", one_table("One", 30), steps), "one.yaml")
    data = tmp_path / "data"
    data.mkdir()
    for context in loaded(suite, materialise(suite.datasets["one"]), data, registry.load("mysql")):
        churn.measure(suite.scenarios[0].steps[1], context)  # type: ignore[arg-type]
        assert fetch(context.session, "SELECT @@GLOBAL.local_infile, @@unique_checks") == [(0, 1)]


def test_a_server_that_takes_no_local_files_says_so(theirs: Any, opened: Opened) -> None:
    engine = opened("mysql", Tier.POWER, url(theirs))
    theirs.session.execute("SET GLOBAL local_infile = 0")
    try:
        with pytest.raises(Unsupported, match="SET GLOBAL local_infile = 1"):
            engine.connect().prepare_load("Notes", NOTES)
    finally:
        theirs.session.execute("SET GLOBAL local_infile = 1")


def test_a_run_at_a_url_leaves_neither_tables_nor_the_password(
    theirs: Any, tmp_path: Path, dbbench_here: Dbbench
) -> None:
    words = ("--url", "mysql=env:MY_URL", "-e", "sqlite", "--format", "csv", "--out", "run")
    with trials_here("sqlite"):
        done = dbbench_here(*SMALL, *words, status=0, MY_URL=url(theirs))
    assert {row["outcome"] for row in summary(tmp_path / "run").values()} == {"ok"}
    assert SECRET not in done.stdout + done.stderr + everything_written(tmp_path)
    assert list(theirs.session.prepare_query("SHOW TABLES FROM theirs")()) == []


# Loads: where the file is local, the server takes what it can and warns


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"Id": [1, 2, 1], "Note": ["a", "b", "c"]}, "2 of 3 rows loaded into Notes: .*Duplicate entry"),
        ({"Id": [1, 2, 3], "Note": ["a", "b", "too long"]}, "Data truncated"),
        ({"Id": [1, 2, 3], "Note": ["a", None, "c"]}, "a NULL among the rows"),
    ],
)
def test_a_load_that_would_lose_something_fails(
    name: str, columns: dict[str, list[Any]], words: str, theirs: Any, opened: Opened
) -> None:
    engine = opened(name, Tier.POWER, url(theirs))
    engine.create({"Notes": NOTES})
    session = engine.connect()
    insert = session.prepare_load("Notes", NOTES)
    session.begin()
    with pytest.raises(Exception, match=words):
        insert(chunk(pa.record_batch(columns), NOTES, session.load_format, session.bind))
    with pytest.raises(Unsupported, match="an empty text"):
        insert(CsvChunk(memoryview(b""), 0, empty=True))
    session.close()
    engine.remove({"Notes": NOTES})


def test_the_size_at_a_url_is_that_of_our_tables(theirs: Any, opened: Opened) -> None:
    theirs.session.execute("CREATE TABLE theirs.Other (Id INTEGER PRIMARY KEY)")
    engine = opened("mysql", Tier.POWER, url(theirs))
    engine.flush()
    engine.create({"Notes": NOTES})
    engine.flush()
    assert [file.name for file in engine.size().files] == ["table Notes"]
    engine.remove({"Notes": NOTES})
    theirs.session.execute("DROP TABLE theirs.Other")


def test_a_load_checks_foreign_keys(theirs: Any, opened: Opened) -> None:
    keys = (ForeignKey(columns=("Id",), table="Notes", key=("Id",)),)
    tables = {"Notes": NOTES, "More": NOTES.model_copy(update={"foreign_keys": keys})}
    engine = opened("mysql", Tier.POWER, url(theirs))
    engine.create(tables)
    session = engine.connect()
    insert = session.prepare_load("More", tables["More"])
    session.begin()
    with pytest.raises(ValueError, match="foreign key constraint fails"):
        insert(chunk(pa.record_batch({"Id": [1], "Note": ["a"]}), NOTES, session.load_format, session.bind))
    session.close()
    engine.remove(tables)


# A private server


def test_a_program_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_server, "_FOLDERS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="the program mariadbd is missing"):
        made("mysql", tmp_path / "data").open()
    with pytest.raises(Unavailable, match="the program mariadbd is missing") as caught:
        registry.require("mysql", {})
    assert caught.value.install == "apt install mariadb-server"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\necho 'ERROR: out of order' >&2\nexit 7\n", "mariadbd ended with status 7: ERROR: out of order"),
        ("#!/nowhere\n", "can't be started"),
    ],
)
def test_a_bad_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str) -> None:
    program = tmp_path / "mariadbd"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ServerFailed, match=words):
        made("mysql", tmp_path / "data").open()
    assert not of_run(tmp_path, "mariadbd")


def test_a_path_that_it_can_not_take(opened: Opened, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["x" * 100] * 5)
    deep.mkdir(parents=True)
    with pytest.raises(Unsupported, match="--out"):
        opened("mysql", Tier.POWER, folder=deep)


def test_a_path_longer_than_a_socket_s(opened: Opened, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["x" * 100] * 2)
    deep.mkdir(parents=True)
    opened("mysql", Tier.POWER, folder=deep).connect()


_OPEN = """
import pathlib, sys
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.suite.model import Tier
registry.load("mysql")(Setup(pathlib.Path(sys.argv[1]), Tier.POWER)).open()
"""


@pytest.mark.parametrize(
    ("options", "set_up", "words"),
    [
        ("size=20m", False, "failed with error 28"),
        ("size=20m", True, "server can't be written: No space left on device"),
        ("size=20m,ro", True, "Read-only file system"),
    ],
)
@pytest.mark.usefixtures("theirs")  # which leaves the files of a new server in the cache
def test_a_disk_that_is_full_or_not_to_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, *, set_up: bool, words: str
) -> None:
    """`set_up`: whether the files of a new server are there already, to be copied."""
    (place := tmp_path / "place").mkdir()
    if not set_up:
        monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    shell = f"mount -t tmpfs -o {options} none {place} && exec {sys.executable} -c '{_OPEN}' {place}"
    alone = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*alone, "mount", "-t", "tmpfs", "none", place], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    done = subprocess.run([*alone, "sh", "-c", shell], capture_output=True, text=True, timeout=1200, check=False)
    assert words in done.stderr.splitlines()[-1]


def test_servers_that_are_killed_or_hang_in_the_middle_of_a_step(tmp_path: Path) -> None:
    """Each has its outcome, sqlite is measured all the same, and nothing of the servers is left."""

    hits: list[psutil.Process] = []

    def next_in_the_query() -> list[psutil.Process]:
        at = [atomic_json.read(path)["running"] for path in tmp_path.glob("run/trials/*mysql*/steps.json")]
        return [each for each in of_run(tmp_path, "mariadbd") if each not in hits] if "slow" in at else []

    def hit() -> None:
        for number in (signal.SIGKILL, signal.SIGSTOP):
            assert until(next_in_the_query)
            hits.extend(next_in_the_query())
            hits[-1].send_signal(number)

    with ThreadPoolExecutor(1) as pool, trials_here("sqlite"):
        hitting = pool.submit(hit)
        rows = summary(run_suite(tmp_path, SLOW, ("mysql", "mysql+pymysql", "sqlite"), "--trial-timeout", "40"))
    hitting.result()
    assert not of_run(tmp_path, "mariadbd")
    assert not [path for path in tmp_path.rglob("*") if path.is_socket()]
    assert {row["outcome"] for (_, engine), row in rows.items() if engine == "sqlite"} == {"ok"}
    killed, hung = sorted("{outcome}: {detail}".format_map(rows["slow", name]) for name in ("mysql", "mysql+pymysql"))
    assert killed.startswith("crashed: the MariaDB server was killed by SIGKILL")
    assert hung == "timeout: stopped after 40 s (--trial-timeout)"


def test_what_a_killed_server_leaves_is_taken_up(tmp_path: Path) -> None:
    """The socket's file is still there, and the log has what was committed."""
    engine = made("mysql", tmp_path / "data")
    engine.open()
    engine.create({"Notes": NOTES})
    session = engine.connect()
    session.prepare_statement("INSERT INTO Notes VALUES (1, 'kept')")()
    os.kill(engine.processes()[0], signal.SIGKILL)
    assert until(lambda: "SIGKILL" in engine.exit_reason())
    engine.close()
    assert (tmp_path / "data" / "mysqld.sock").exists()
    again = made("mysql", tmp_path / "data")
    again.open()
    assert list(again.session.prepare_query("SELECT Note FROM Notes")()) == [("kept",)]
    again.close()
    assert not (tmp_path / "data" / "mysqld.sock").exists()


def test_a_cold_start_reads_nothing_by_itself(theirs: Any) -> None:
    settings = "@@innodb_buffer_pool_load_at_startup", "@@innodb_buffer_pool_dump_at_shutdown"
    assert list(theirs.session.prepare_query(f"SELECT {', '.join(settings)}")()) == [(0, 0)]


def test_a_client_may_take_its_time_to_connect(theirs: Any) -> None:
    """A hundred threads of Python do on a busy machine. MariaDB's own limit is 10 s."""
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(theirs.address.parameters["unix_socket"])
        assert slow.recv(1_024)
        slow.settimeout(11)
        with pytest.raises(TimeoutError):
            slow.recv(1_024)
