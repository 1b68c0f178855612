"""MariaDB: our load against the load by hand, and our capacity against sysbench's."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

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

LOAD_AT_MOST = 1.1
CAPACITY_AT_LEAST = 0.95
ROWS = 10_000


@pytest.fixture
def engine(tmp_path: Path):
    directory = tmp_path / "data"
    directory.mkdir(mode=0o700)
    made = registry.load("mysql+_mysql")(Setup(directory, Tier.POWER))
    made.open()
    yield made
    made.close()


def test_load(engine) -> None:
    """The same server and tables, dropped and made anew; medians of alternating pairs."""
    suite = load_suite(find_suite("invoices"))
    dataset = suite.datasets["invoices"]
    files = materialise(dataset)
    batches = {name: list(files.stream(name)) for name in dataset.tables}

    def emptied() -> None:
        session = engine.connect()
        for name in dataset.tables:
            session.execute(f"DROP TABLE IF EXISTS `{name}`")
        session.close()
        engine.create(dataset.tables)

    def ours() -> float:
        emptied()
        session = engine.connect()
        taken = load.measure(suite.scenarios[0].steps[0], StepContext(engine, session, dataset.tables, files, {})).value
        session.close()
        return taken

    def by_hand() -> float:
        """A file for each table, written by pyarrow and named to the server, as anyone would do it."""
        import MySQLdb

        emptied()
        connection = MySQLdb.connect(
            user="root",
            unix_socket=engine.address.parameters["unix_socket"],
            database="dbbench",
            charset="utf8mb4",
            local_infile=True,
        )
        cursor = connection.cursor()
        cursor.execute("SET GLOBAL local_infile = 1")
        cursor.execute("SET unique_checks = 0, foreign_key_checks = 0")
        path = engine.directory / "by-hand.csv"
        start = perf_counter()
        for name in dataset.tables:
            with csv.CSVWriter(
                path, batches[name][0].schema, write_options=csv.WriteOptions(include_header=False)
            ) as out:
                for batch in batches[name]:
                    out.write(batch)
            cursor.execute(
                f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE `{name}` CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY ''"
            )
        connection.commit()
        for name, table in dataset.tables.items():
            for column in table.indexes:
                cursor.execute(f"CREATE INDEX `ix_{name}` ON `{name}` (`{column}`)")
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
    print(f"\n  MariaDB load: ratio {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")
    assert median(ratios) <= LOAD_AT_MOST


def point_select(session) -> Callable[[int], object]:
    """What sysbench sends, with all rows made into Python's."""
    execute = session.execute
    return lambda key: execute(f"SELECT c FROM sbtest1 WHERE id={key}")


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="apt install sysbench")
@pytest.mark.parametrize(("processes", "threads"), [(2, 1), (2, 8), (2, 32)])
def test_capacity(engine, processes: int, threads: int) -> None:
    """Two connections, sixteen and sixty-four: sysbench has a thread for each, too."""
    connections = processes * threads
    seconds = 2
    common = [
        "sysbench",
        "oltp_point_select",
        "--db-driver=mysql",
        f"--mysql-socket={engine.address.parameters['unix_socket']}",
        "--mysql-user=root",
        "--mysql-db=dbbench",
        f"--table-size={ROWS}",
        "--db-ps-mode=disable",
        "--rand-type=uniform",
        f"--threads={connections}",
        f"--time={seconds}",
    ]
    inherited = (engine.server.descriptor,)
    capacity.run([*common, "prepare"], pass_fds=inherited)

    def theirs() -> float:
        said = capacity.run([*common, "run"], pass_fds=inherited)
        return float(re.search(r"queries: +\d+ +\(([\d.]+) per sec", said)[1])

    def ours() -> float:
        return capacity.per_second(
            engine,
            "benchmarks.test_mysql:point_select",
            keys=ROWS,
            processes=processes,
            threads=threads,
            seconds=seconds,
        )

    found = capacity.compare(f"{connections} connections", ours, theirs, pairs=9)
    assert found >= CAPACITY_AT_LEAST
