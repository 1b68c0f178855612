"""PostgreSQL: our load against the load by hand, and our capacity against pgbench's."""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import psutil
import pyarrow as pa
import pytest
from pyarrow import csv

from benchmarks import capacity
from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.workloads import load
from dbbench.workloads.context import StepContext
from dbbench_plugins.postgresql.programs import folder_of_programs

LOAD_AT_MOST = 1.1
CAPACITY_AT_LEAST = 0.95
PAIRS = 5
#: Of pgbench_accounts at its scale 1.
ROWS = 100_000


@pytest.fixture
def engine(request, tmp_path: Path):
    directory = tmp_path / "data"
    directory.mkdir(mode=0o700)
    made = registry.load(request.param)(Setup(directory, Tier.POWER))
    made.open()
    yield made
    made.close()


@pytest.mark.parametrize("engine", ["postgresql", "postgresql+adbc"], indirect=True)
def test_load(engine) -> None:
    """The same server and tables, dropped and made anew; medians of alternating pairs."""
    import psycopg

    suite = load_suite(find_suite("invoices"))
    dataset = suite.datasets["invoices"]
    files = materialise(dataset)
    arrow = {name: files.table(name) for name in dataset.tables}

    def emptied() -> None:
        for name in dataset.tables:
            engine.session.execute(f'DROP TABLE IF EXISTS "{name}"')
        engine.create(dataset.tables)
        engine.flush()

    def ours() -> float:
        emptied()
        session = engine.connect()
        taken = load.measure(suite.scenarios[0].steps[0], StepContext(engine, session, dataset.tables, files, {})).value
        session.close()
        return taken

    def by_hand() -> float:
        """One COPY for each table, of CSV that pyarrow writes: the fastest of those that the drivers document."""
        emptied()
        connection = psycopg.connect(engine.address, autocommit=True)
        cursor = connection.cursor()
        start = perf_counter()
        cursor.execute("BEGIN")
        for name in dataset.tables:
            text = pa.BufferOutputStream()
            csv.write_csv(arrow[name], text, csv.WriteOptions(include_header=False))
            with cursor.copy(f'COPY "{name}" FROM STDIN (FORMAT csv)') as copy:
                copy.write(text.getvalue())
        for name, table in dataset.tables.items():
            for column in table.indexes:
                cursor.execute(f'CREATE INDEX "ix_{name}" ON "{name}" ("{column}")')
            cursor.execute(f'ANALYZE "{name}"')
        cursor.execute("COMMIT")
        taken = perf_counter() - start
        connection.close()
        return taken

    ratios = []
    for number in range(9):
        if number % 2:
            other, own = by_hand(), ours()
        else:
            own, other = ours(), by_hand()
        ratios.append(own / other)
    print(f"\n  {engine.name} load: ratio {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")
    assert engine.name != "postgresql" or median(ratios) <= LOAD_AT_MOST


def point_select(session) -> Callable[[int], object]:
    """What pgbench -S sends, prepared, with the row made into Python's."""
    return session.prepare_call("SELECT abalance FROM pgbench_accounts WHERE aid = %s", 1)


def update(session) -> Callable[[int], object]:
    """One row, committed by itself."""
    return session.prepare_call("UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = %s", 0)


SCRIPTS = {
    "point_select": "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;",
    "update": "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;",
}


@pytest.mark.parametrize("engine", ["postgresql+pq"], indirect=True)
@pytest.mark.parametrize("operation", SCRIPTS)
@pytest.mark.parametrize("connections", [2, 16, 64])
def test_cpu_of_an_operation(engine, operation: str, connections: int, tmp_path: Path) -> None:
    """Microseconds of clients and server for one call, which a busy machine disturbs less than the calls a second.

    pgbench serves all connections from a thread for each of two processors, or from a thread for each connection.
    """
    programs, seconds = folder_of_programs(), 2
    common = [f"{programs}/pgbench", "-h", f"{engine.server.root}/socket", "-U", "bench"]
    inherited = (engine.server.descriptor,)
    capacity.run([*common, "-i", "-q", "-s", "1", "postgres"], pass_fds=inherited)
    script = tmp_path / "script.sql"
    script.write_text(f"\\set aid random(1, {ROWS})\n{SCRIPTS[operation]}\n")
    server = psutil.Process(engine.server.process.pid)

    def served() -> float:
        """CPU seconds of the server, those of connections that have ended included."""
        sleep(0.5)  # until it has seen that they have
        return sum(server.cpu_times()[:4])

    def pgbench(workers: int) -> tuple[float, float, float]:
        before, used = served(), os.times()
        shape = ["-c", str(connections), "-j", str(workers), "-T", str(seconds), "-f", str(script)]
        said = capacity.run([*common, "-M", "prepared", "-n", *shape, "postgres"], pass_fds=inherited)
        calls = int(re.search(r"actually processed: (\d+)", said)[1])
        now = os.times()
        own = now.children_user + now.children_system - used.children_user - used.children_system
        return float(re.search(r"tps = ([\d.]+) \(without", said)[1]), own / calls, (served() - before) / calls

    def ours() -> tuple[float, float, float]:
        before = served()
        found = capacity.measured(
            engine, f"benchmarks.test_postgresql:{operation}", keys=ROWS, processes=2, threads=connections // 2,
            seconds=seconds,
        )  # fmt: skip
        return found.per_second, found.cpu, (served() - before) / found.calls

    ways = {
        "ours": ours,
        "pgbench, 2 threads": partial(pgbench, 2),
        "pgbench, a thread each": partial(pgbench, connections),
    }
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for number in range(3):
        for name in ways if number % 2 else reversed(ways):
            found[name].append(ways[name]())
    print(f"\n  {operation}, {connections} connections, load {os.getloadavg()[0]:.1f}")
    for name, each in found.items():
        rate, client, server_side = (median(column) for column in zip(*each, strict=True))
        print(f"    {name:24s} {rate:9,.0f}/s  client {client * 1e6:6.2f}  server {server_side * 1e6:6.2f} us")


@pytest.mark.parametrize("engine", ["postgresql+pq"], indirect=True)
@pytest.mark.parametrize("operation", SCRIPTS)
@pytest.mark.parametrize("connections", [2, 16, 64])
def test_capacity(engine, operation: str, connections: int, tmp_path: Path) -> None:
    """Both serve all connections from two threads: ours are those of two processes."""
    programs, seconds = folder_of_programs(), 1
    common = [f"{programs}/pgbench", "-h", f"{engine.server.root}/socket", "-U", "bench"]
    inherited = (engine.server.descriptor,)
    capacity.run([*common, "-i", "-q", "-s", "1", "postgres"], pass_fds=inherited)
    script = tmp_path / "script.sql"
    script.write_text(f"\\set aid random(1, {ROWS})\n{SCRIPTS[operation]}\n")

    def pgbench() -> float:
        shape = ["-c", str(connections), "-j", "2", "-T", str(seconds), "-f", str(script)]
        said = capacity.run([*common, "-M", "prepared", "-n", *shape, "postgres"], pass_fds=inherited)
        return float(re.search(r"tps = ([\d.]+) \(without", said)[1])

    def ours() -> float:
        return capacity.per_second(
            engine, f"benchmarks.test_postgresql:{operation}", keys=ROWS, processes=2, threads=connections // 2,
            seconds=seconds,
        )  # fmt: skip

    assert capacity.compare(f"{operation}, {connections} connections", ours, pgbench, PAIRS) >= CAPACITY_AT_LEAST
