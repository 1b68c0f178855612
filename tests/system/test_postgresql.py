"""PostgreSQL that doesn't start, can't be reached or dies, and one at a URL: named outcomes, and nothing left behind."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.errors import ServerFailed, Unavailable, Unsupported
from dbbench.host import atomic_json
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.testing.contract import usable
from dbbench.testing.sql.tables import TABLES
from dbbench_plugins.odbc.postgresql import keywords
from dbbench_plugins.postgresql.programs import folder_of_programs
from tests.conftest import TESTS, Dbbench, Opened, everything_written, run_suite, summary
from tests.slow_query import SLOW
from tests.trials_here import trials_here
from tests.waiting import until

pytestmark = pytest.mark.matrix

usable("postgresql")

ENGINES = ("postgresql", "postgresql+pq", "postgresql+adbc", "postgresql+asyncpg")
SECRET = "geheim-4711"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of the user's own: it asks `me` for a password."""
    directory = tmp_path_factory.mktemp("server")
    own: Any = registry.load("postgresql")(Setup(directory, Tier.POWER))
    own.open()
    (directory / "cluster" / "pg_hba.conf").write_text("local all bench trust\nlocal all all scram-sha-256\n")
    session = own.connect()
    for statement in (f"CREATE ROLE me LOGIN PASSWORD '{SECRET}'", "CREATE DATABASE mine OWNER me"):
        session.execute(statement)
    session.execute("SELECT pg_reload_conf()")
    yield own
    own.close()


def url(server: SQLEngine, password: str = SECRET, database: str = "mine") -> str:
    """A URL that other processes can use, too."""
    root = server.server.root.replace("self", str(os.getpid()))
    return f"postgresql://me:{password}@/{database}?host={quote(f'{root}/socket', safe='')}"


# A server at a URL


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"password": "wrong-4712"}, "check the user and the password"),
        ({"database": "nowhere"}, "check the database and the user"),
    ],
)
def test_what_the_server_refuses_is_told(
    name: str, change: dict[str, str], words: str, server: SQLEngine, opened: Opened
) -> None:
    with pytest.raises(ServerFailed, match=words) as told:
        opened(name, url=url(server, **change))
    assert "4711" not in str(told.value)
    assert "4712" not in str(told.value)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://me:geheim@127.0.0.1:1/mine", "check host and port"),
        ("postgresql://me:geheim@host.invalid/mine", "check the host"),
        ("postgresql://me:geheim@/mine?host=%2Fnowhere", "check the socket's folder"),
        ("postgresql://me:geheim/4711@host/mine", "write / as %2F"),
        ("postgresql://me:geheim@4711@host/mine", "write / as %2F"),
        ("mysql://me:geheim@host/mine", "this is no URL like postgresql://"),
    ],
)
def test_what_can_not_be_reached_is_told(name: str, url: str, words: str, opened: Opened) -> None:
    with pytest.raises(ServerFailed, match=words) as told:
        opened(name, url=url)
    assert "geheim" not in str(told.value)
    assert "4711" not in str(told.value)


def test_pages_that_may_be_torn_promise_less(server: SQLEngine, opened: Opened) -> None:
    server.session.execute("ALTER SYSTEM SET full_page_writes = off")
    server.session.execute("SELECT pg_reload_conf()")
    try:
        there = opened("postgresql", Tier.MEMORY, url(server))
        assert until(lambda: there.settings()["full_page_writes"] == "off")
        with pytest.raises(Unsupported, match="full_page_writes is off"):
            opened("postgresql", Tier.POWER, url(server))
    finally:
        server.session.execute("ALTER SYSTEM RESET full_page_writes")
        server.session.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("name", ENGINES)
def test_a_private_server_answers_with_the_options_that_it_was_given(name: str, opened: Opened) -> None:
    given: dict[str, Any] = {"max_parallel_workers_per_gather": 3, "max_connections": 50, "jit": "off"}
    sizes = {"shared_buffers": 33, "work_mem": 5, "maintenance_work_mem": 77, "effective_cache_size": 1025}
    given |= {f"{each}_mib": number for each, number in {**sizes, "max_wal_size": 100}.items()}
    engine = opened(name, Tier.MEMORY, **given)
    session = engine.connect()
    found = {each: str(fetch(session, query)[0][0]) for each, query in engine.option_queries.items()}
    assert found == {each: str(value) for each, value in given.items()}


@pytest.mark.parametrize(("commits", "given"), [("on", Tier.POWER), ("local", Tier.POWER), ("off", Tier.MEMORY)])
def test_a_server_gives_the_tier_that_it_is_set_to(
    commits: str, given: Tier, server: SQLEngine, opened: Opened
) -> None:
    """It has fsync: whoever asks for less gets more, and is told."""
    server.session.execute(f"ALTER ROLE me SET synchronous_commit = {commits}")
    try:
        there = opened("postgresql", Tier.MEMORY, url(server))
        assert there.info().tier is given
        for name, query in there.sync_queries.items():
            assert fetch(there.session, query) == [(there.promised()[name],)]
        if given is Tier.MEMORY:
            with pytest.raises(Unsupported, match="synchronous_commit is off"):
                opened("postgresql", Tier.POWER, url(server))
    finally:
        server.session.execute("ALTER ROLE me RESET synchronous_commit")


def test_a_server_at_a_url_is_measured_and_left_as_it_was(
    server: SQLEngine, dbbench_here: Dbbench, opened: Opened, tmp_path: Path
) -> None:
    words = [word for name in ENGINES for word in ("--url", f"{name}=env:MY_URL", "-e", name)]
    how = ("--quick", "--format", "csv", "--out", "run")
    with trials_here(*ENGINES[1:]):
        done = dbbench_here("suite", str(TESTS / "unit" / "small.yaml"), *how, *words, status=0, MY_URL=url(server))
    rows = summary(tmp_path / "run")
    assert {row["outcome"] for (_, name), row in rows.items() if name in ENGINES} == {"ok"}
    tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    assert fetch(opened("postgresql", url=url(server)).session, tables) == []
    assert SECRET not in everything_written(tmp_path / "run") + done.stdout + done.stderr


@pytest.mark.parametrize("name", ["postgresql", "sqlalchemy", "odbc"])
def test_texts_are_compared_by_code_points_in_a_database_of_any_locale(
    name: str, server: SQLEngine, opened: Opened
) -> None:
    usable(name)
    server.session.execute(f"DROP DATABASE IF EXISTS {name}")
    server.session.execute(
        f"CREATE DATABASE {name} OWNER me TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'"
    )
    address = url(server, database=name)
    known = {"sqlalchemy": address.replace(":", "+psycopg:", 1), "odbc": f"odbc:{keywords(address)}"}
    there = opened(name, url=known.get(name, address))
    there.create(TABLES)
    session = there.connect()
    session.execute("""INSERT INTO "Order" ("Id", "Text", "Letter") VALUES (1, 'a', 'a'), (2, 'B', 'B')""")
    assert fetch(session, 'SELECT MIN("Text"), RTRIM(MIN("Letter")) FROM "Order"') == [("B", "B")]
    session.close()
    there.remove(TABLES)


# A private server


def test_who_joins_a_server_on_a_port_leaves_its_role_alone(opened: Opened) -> None:
    role = "SELECT CAST(xmin AS text) FROM pg_authid WHERE rolname = 'loopback'"
    first, joining = (fetch(opened("postgresql+tcp").session, role) for _ in range(2))
    assert first == joining != []


@pytest.mark.parametrize("name", ["postgresql", "postgresql+pq", "postgresql+asyncpg"])
def test_the_writes_of_a_transaction_are_prepared_once(name: str, opened: Opened) -> None:
    there = opened(name)
    there.create_store(Records(count=5))
    session = there.connect()
    insert = session.prepare_insert_many()
    insert([(bytes([number]), b"") for number in range(5)])
    query = "SELECT CAST(generic_plans + custom_plans AS integer) FROM pg_prepared_statements"
    assert fetch(session, f"{query} WHERE statement LIKE 'INSERT%'") == [(5,)]


def test_a_folder_without_programs_is_told(opened: Opened) -> None:
    with pytest.raises(Unavailable, match="no programs initdb and postgres in /nowhere"):
        opened("postgresql", bin="/nowhere")


@pytest.mark.parametrize("program", ["initdb", "postgres"])
def test_a_program_that_fails_is_told_with_its_words(program: str, server: SQLEngine, opened: Opened) -> None:
    gc.collect()  # what other tests left open is closed now, and not meanwhile
    before = len(os.listdir("/proc/self/fd"))
    with tempfile.TemporaryDirectory(dir="/tmp") as programs:  # the server's user must be able to enter it
        os.chmod(programs, 0o755)
        for name in ("initdb", "postgres"):
            path = Path(programs) / name
            failing = "echo 'postgres: FATAL: something is wrong' >&2; exit 3"
            real = f'exec {folder_of_programs()}/{name} "$@"'
            path.write_text(f"#!/bin/sh\n{failing if name == program else real}\n")
            path.chmod(0o755)
        with pytest.raises(ServerFailed, match=r"ended with status 3.*something is wrong"):
            opened("postgresql", bin=programs)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_server_killed_in_the_middle_is_a_crash_and_the_next_engine_is_measured(tmp_path: Path) -> None:
    def kill() -> tuple[list[psutil.Process], str]:
        """The processes of the server, and its shared memory."""
        assert until(lambda: running(tmp_path) == "slow")
        (pid_file,) = tmp_path.glob("run/**/cluster/postmaster.pid")
        lines = pid_file.read_text().splitlines()
        servers = [psutil.Process(int(lines[0])), *psutil.Process(int(lines[0])).children(recursive=True)]
        assert until(lambda: busy(servers[0].pid))
        os.kill(servers[0].pid, signal.SIGKILL)
        return servers, lines[6].split()[1]

    with ThreadPoolExecutor(1) as pool, trials_here("sqlite"):
        killing = pool.submit(kill)
        rows = summary(run_suite(tmp_path, SLOW, (ENGINES[0], "sqlite")))
    servers, segment = killing.result()
    crashed = rows["slow", "postgresql"]
    assert (crashed["outcome"], "SIGKILL" in crashed["detail"]) == ("crashed", True), crashed
    assert "not reached" in rows["size", "postgresql"]["detail"]
    assert {row["outcome"] for (_, name), row in rows.items() if name == "sqlite"} == {"ok"}
    assert not [each for each in servers if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
    assert segment not in [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]
    assert not list(tmp_path.glob("run/trials/*/work"))


def running(folder: Path) -> str:
    """The step that the first PostgreSQL trial is at."""
    for path in folder.glob("run/trials/*postgresql*/steps.json"):
        return atomic_json.read(path)["running"] or ""
    return ""


def busy(postmaster: int) -> bool:
    return any("SELECT" in "".join(each.cmdline()) for each in psutil.Process(postmaster).children())


def test_what_a_killed_process_leaves_is_opened_again(opened: Opened, tmp_path: Path) -> None:
    """And with the process its server has gone, whose lock files and shared memory are in nobody's way."""
    code = (
        "import os, pathlib, signal\n"
        "from dbbench.engine import registry\n"
        "from dbbench.engine import Setup\n"
        "from dbbench.suite.model import Tier\n"
        f"engine = registry.load('postgresql')(Setup(pathlib.Path({str(tmp_path)!r}), Tier.PROCESS))\n"
        "engine.open()\n"
        "engine.connect().execute('CREATE TABLE kept AS SELECT 1')\n"
        "print(*engine.processes(), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert until(lambda: not any(psutil.pid_exists(int(pid)) for pid in done.stdout.split()))
    assert fetch(opened("postgresql").session, "SELECT * FROM kept") == [(1,)]
