"""Clients on hosts: here, in network namespaces behind TLS, with another clock; and hosts that die, stand still or are cut off."""

import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
import pytest

from dbbench.datasets.generate import CHUNK_ROWS, batches, chunk
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import HostLost, Unsupported, UserError
from dbbench.host import atomic_json
from dbbench.loadgen.job import Job
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.testing.suite_text import suite_text
from dbbench_plugins.null import Null
from tests.cluster import AHEAD, NET, elsewhere
from tests.conftest import Dbbench, Opened, everything_written
from tests.network import ip
from tests.trials_here import no_null_engine
from tests.waiting import until

pytestmark = pytest.mark.matrix

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from dbbench.cluster.hosts import Hosts  # noqa: E402
from dbbench.cluster.place import Place  # noqa: E402

SECRET = "geheim-4711"
SUITE = suite_text(
    "spread",
    "records: {count: 2000}",
    """
    - {kind: keyvalue, name: fill, title: Fill, operation: insert, transaction: 100}
    - {kind: mix, name: mix, title: Mix, weights: {read: 50, update: 50}, duration: 300ms, clients: {threads: 2, processes: 1}}
    - {kind: keyvalue, name: scan, title: Scan, operation: scan}
    """,
    durability="process",
)
#: A lost host is to be told within so many seconds, on a busy machine, and its clients would go on for longer.
WITHIN, LONG = 60.0, 600.0


def for_seconds(seconds: float) -> Job:
    return Job("statement", ("SELECT 1",), 0, 0, duration=seconds)


def children() -> list[psutil.Process]:
    """What clients of hosts run below this process, be it in whatever namespace."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if {"dbbench.cluster.host", "dbbench.loadgen.process"} & {*process.cmdline()}:
                found.append(process)
        except psutil.Error:
            continue
    return found


def lost_by(hosts: Hosts, engine: Null, disturb: Callable[[], object]) -> str:
    """What is said of a host that something is done to a second after the clients began; and that nothing is left of it."""
    done = []

    def disturbing() -> None:
        until(lambda: len(children()) >= 4 and all(each.readings for each in hosts.hosts), 60)
        time.sleep(1)
        disturb()
        done.append(time.monotonic())

    thread = threading.Thread(target=disturbing, daemon=True)
    thread.start()
    with pytest.raises(HostLost) as told:
        hosts.drive(engine, engine.connect(), for_seconds(LONG), Clients(processes=2))
    took = time.monotonic() - done[0]
    thread.join()
    assert took < WITHIN
    assert until(lambda: not children(), WITHIN)
    with pytest.raises(HostLost, match="the next trial connects to the hosts again"):
        hosts.drive(engine, engine.connect(), for_seconds(1), Clients(processes=2))
    return str(told.value)


# Hosts that are processes here


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLEngine]:
    """A PostgreSQL of the user's own."""
    from dbbench.testing.contract import usable

    usable("postgresql")
    own: Any = registry.load("postgresql")(Setup(tmp_path_factory.mktemp("server"), Tier.PROCESS))
    own.open()
    session = own.connect()
    session.execute(f"CREATE ROLE me LOGIN PASSWORD '{SECRET}'")
    session.execute("CREATE DATABASE mine OWNER me")
    yield own
    own.close()


def test_clients_on_two_hosts(tmp_path: Path, dbbench_here: Dbbench, server: SQLEngine) -> None:
    from tests.system.test_postgresql import url

    (tmp_path / "spread.yaml").write_text(SUITE)
    asked = ("--url", "postgresql=env:PG", "--cluster", "local:2", "--rounds", "1", "--format", "md", "--out", "run")
    with no_null_engine():
        done = dbbench_here("suite", "spread.yaml", *asked, PG=url(server), status=0)
    (result,) = (atomic_json.read(path) for path in tmp_path.glob("run/trials/*-postgresql/result.json"))
    steps = {step["name"]: step for step in result["steps"]}
    assert all(step["verified"] for step in steps.values())
    told = steps["mix"]["facts"]["cluster"]
    assert [(host["name"], host["clients"]) for host in told["hosts"]] == [("h1", 2), ("h2", 2)]
    assert sum(host["calls"] for host in told["hosts"]) == steps["mix"]["facts"]["calls"]
    assert "cluster" not in steps["scan"]["facts"]  # one client takes it
    assert "clients on 2 hosts" in (tmp_path / "run" / "report" / "index.md").read_text("utf-8")
    assert SECRET not in everything_written(tmp_path) + done.stdout + done.stderr


def test_a_scheduler_that_can_not_be_reached_is_told(tmp_path: Path, dbbench_here: Dbbench) -> None:
    (tmp_path / "spread.yaml").write_text(SUITE)
    asked = ("--url", "postgresql=postgresql://x/y", "--cluster", "tls://127.0.0.1:1", "--hosts", "2")
    done = dbbench_here("suite", "spread.yaml", *asked, "--out", "run", status=2)
    assert "can't be reached" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_hosts_of_this_machine_listen_to_nothing_but_dask() -> None:
    """Its pages are for whoever reaches the port, without TLS."""
    with Hosts(Place("local:2", 2)):
        ours = (psutil.Process(), *psutil.Process().children())

        def listening() -> int:
            found = [connection.status for each in ours for connection in each.net_connections("tcp")]
            return found.count(psutil.CONN_LISTEN)

        assert until(lambda: listening() == 3, seconds=30), listening()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_host_that_is_killed_or_stands_still(opened: Opened, number: signal.Signals) -> None:
    engine = opened(Null, Tier.MEMORY)
    with Hosts(Place("local:2", 2)) as hosts:
        before = psutil.Process().children()
        host = next(each for each in before if "dbbench.cluster.local" in each.cmdline())
        said = lost_by(hosts, engine, lambda: host.send_signal(number))
    assert said.startswith("host h")
    assert " lost after " in said
    assert not [each for each in before if each.is_running() and "dbbench.cluster.local" in each.cmdline()]


def test_clients_that_hosts_cannot_share_evenly_are_refused_and_a_hosts_calls_counted(opened: Opened) -> None:
    engine = opened(Null, Tier.MEMORY)
    with Hosts(Place("local:1", 1)) as hosts:
        with pytest.raises(Unsupported, match="spread evenly"):
            Hosts.drive(_of_three(hosts), engine, engine.connect(), for_seconds(1), Clients(processes=2))
        found = hosts.drive(engine, engine.connect(), for_seconds(0.2), Clients(threads=2))
        told = hosts.take_facts()
    assert told is not None
    assert found.service.count == told["hosts"][0]["calls"]
    assert len(found.made) == 2
    assert 0.19 < told["span"] < WITHIN


def _of_three(hosts: Hosts) -> Hosts:
    other = Hosts(hosts.place)
    other.hosts = hosts.hosts * 3
    return other


# Hosts elsewhere


def test_hosts_behind_tls_with_another_clock_and_a_link_that_drops(tmp_path: Path, opened: Opened) -> None:
    engine = opened(Null, Tier.MEMORY)
    with elsewhere(tmp_path) as (place, link), Hosts(place) as hosts:
        found = hosts.drive(engine, engine.connect(), for_seconds(0.5), Clients(processes=2))
        readings = [each.readings for each in hosts.hosts]
        told = hosts.take_facts()
        for number, (each, offset) in enumerate(zip(readings, (0, AHEAD * 10**9), strict=True)):
            for reading in each:
                assert abs(reading.offset - offset) <= reading.bound, number
        assert told is not None
        assert [host["clients"] for host in told["hosts"]] == [1, 1]
        assert 0.49 < told["span"] < WITHIN
        assert found.service.count == sum(host["calls"] for host in told["hosts"])
        said = lost_by(hosts, engine, lambda: ip("link", "set", link, "down"))
    assert said.startswith(f"host h2 ({NET}.2.2) lost after ")


def test_a_host_with_other_code_is_refused(tmp_path: Path) -> None:
    import dbbench

    root = Path(dbbench.__file__).parent
    other = tmp_path / "other"
    shutil.copytree(root, other / "dbbench", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "dbbench" / "message.py").open("a") as file:
        file.write("# changed\n")
    with elsewhere(tmp_path, ahead=0, clones=("", str(other))) as (place, _), Hosts(place) as hosts:
        from dbbench.cluster.alike import identity

        with pytest.raises(UserError, match=rf"host h2 \({NET}.2.2\) is unlike this one: the code of dbbench is"):
            hosts.check({"null": lambda: identity(Null)})


# Data drawn on several hosts


def test_chunks_that_several_processes_draw_are_those_of_one() -> None:
    suite = load_suite(find_suite("invoices"))
    dataset = suite.datasets["invoices"]
    table = next(iter(dataset.tables))
    scale = 4 * CHUNK_ROWS / dataset.tables[table].rows
    one = [each.to_pydict() for each in batches(dataset, table, scale=scale)]
    assert len(one) >= 4
    draw = partial(chunk, dataset, table, scale=scale)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert [each.to_pydict() for each in pool.map(draw, range(len(one)))] == one
