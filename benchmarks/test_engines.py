"""The harness's loads and loops against the same written by hand over the same driver."""

import sqlite3
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from dbbench.datasets.cache import materialise
from dbbench.datasets.driver_rows import rows
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.loadgen.loops import read_column, read_rows
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.workloads import load
from dbbench.workloads.context import StepContext

LOAD_AT_MOST = 1.1
STEPPING_AT_MOST = 1.05
JOIN = 'SELECT * FROM "Invoice" A INNER JOIN "Shipment" B ON A."PKeyInvoice" = B."InvoiceKey"'


@pytest.fixture(scope="module")
def suite():
    return load_suite(find_suite("invoices"))


@pytest.fixture(scope="module")
def data(suite):
    return suite.datasets["invoices"], materialise(suite.datasets["invoices"])


class Ours:
    """Loads through the engine and the workload, as a trial does; the workload's own clock tells how long."""

    def __init__(self, name: str, data, suite, folder: Path) -> None:
        self.name, (self.dataset, self.files), self.folder, self.number = name, data, folder, 0
        self.step = suite.scenarios[0].steps[0]

    def __call__(self) -> float:
        self.number += 1
        directory = self.folder / f"ours-{self.number}"
        directory.mkdir()
        self.engine = registry.load(self.name)(Setup(directory, Tier.POWER))
        self.engine.open()
        self.engine.create(self.dataset.tables)
        self.session = self.engine.connect()
        return load.measure(
            self.step, StepContext(self.engine, self.session, self.dataset.tables, self.files, {})
        ).value


class SQLiteByHand:
    def __init__(self, data, folder: Path) -> None:
        dataset, files = data
        self.folder, self.number, self.tables = folder, 0, dataset.tables
        bind = {"decimal": "float", "datetime": "text"}
        self.rows = {n: [r for b in files.stream(n) for r in rows(b, t, bind)] for n, t in self.tables.items()}

    def __call__(self) -> float:
        from time import perf_counter

        self.number += 1
        connection = sqlite3.connect(self.folder / f"hand-{self.number}.sqlite", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536"):
            connection.execute(f"PRAGMA {pragma}")
        dialect = registry.load("sqlite").sql
        for name, table in self.tables.items():
            connection.execute(dialect.create_table(name, table))
        start = perf_counter()
        connection.execute("BEGIN")
        for name, table in self.tables.items():
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', self.rows[name])
        for name, table in self.tables.items():
            for column in table.indexes:
                connection.execute(f'CREATE INDEX "ix_{name}" ON "{name}" ("{column}")')
        connection.execute("ANALYZE")
        connection.execute("COMMIT")
        taken = perf_counter() - start
        connection.close()
        return taken


class DuckDBByHand:
    def __init__(self, data, folder: Path) -> None:
        dataset, files = data
        self.folder, self.number, self.tables = folder, 0, dataset.tables
        self.arrow = {name: files.table(name) for name in self.tables}

    def __call__(self) -> float:
        from time import perf_counter

        import duckdb

        self.number += 1
        connection = duckdb.connect(str(self.folder / f"hand-{self.number}.duckdb"))
        dialect = registry.load("duckdb").sql
        for name, table in self.tables.items():
            connection.execute(dialect.create_table(name, table))
        start = perf_counter()
        connection.execute("BEGIN")
        for name in self.tables:
            connection.register("chunk", self.arrow[name])
            connection.execute(f'INSERT INTO "{name}" SELECT * FROM chunk')
        for name, table in self.tables.items():
            for column in table.indexes:
                connection.execute(f'CREATE INDEX "ix_{name}" ON "{name}" ("{column}")')
        connection.execute("COMMIT")
        taken = perf_counter() - start
        connection.close()
        return taken


@pytest.mark.parametrize(("engine", "by_hand"), [("sqlite", SQLiteByHand), ("duckdb", DuckDBByHand)])
def test_load(engine: str, by_hand, data, suite, tmp_path: Path) -> None:
    """The clock's own time of our load against that of the load by hand; medians of alternating pairs."""
    from statistics import median

    ours, theirs = Ours(engine, data, suite, tmp_path), by_hand(data, tmp_path)
    ratios = []
    for _ in range(9):
        own, other = ours(), theirs()
        ours.session.close()
        ours.engine.close()
        ratios.append(own / other)
    print(f"\n  {engine} load: ratio {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")
    assert median(ratios) <= LOAD_AT_MOST


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_row_stepping(engine: str, data, suite, tmp_path: Path, ratio) -> None:
    ours = Ours(engine, data, suite, tmp_path)
    ours()
    run = ours.session.prepare_query(JOIN)
    connection = ours.session.connection

    def by_hand() -> int:
        steps = 0
        cursor = connection.execute(JOIN)
        if engine == "sqlite":
            for row in cursor:
                row[7]
                steps += 1
        else:
            while (row := cursor.fetchone()) is not None:
                row[7]
                steps += 1
        return steps

    assert read_rows(run(), 7) == by_hand() == 57579
    found = ratio(lambda: read_rows(run(), 7), by_hand, pairs=15)
    ours.session.close()
    ours.engine.close()
    assert found <= STEPPING_AT_MOST


def test_duckdb_gives_rows_in_chunks_quicker_than_one_at_a_time(data, suite, tmp_path: Path, ratio) -> None:
    """On join-2, as the suite has it: the query and all of its rows."""
    ours = Ours("duckdb", data, suite, tmp_path)
    ours()
    step = next(step for step in suite.scenarios[0].steps if step.name == "join-2")
    sql = ours.engine.sql.translate(step.sql, data[0].tables)
    run, connection = ours.session.prepare_query(sql), ours.session.connection

    def one_at_a_time() -> int:
        return read_rows(iter(connection.execute(sql).fetchone, None), 1)

    assert len(read_column(run(), 1)) == read_rows(run(), 1) == one_at_a_time() == data[0].rows("Shipment", 1)
    found = ratio(lambda: read_rows(run(), 1), one_at_a_time, pairs=21)
    ours.session.close()
    ours.engine.close()
    assert found < 1


def test_a_flush_makes_later_commits_no_dearer(data, suite, tmp_path: Path) -> None:
    """Fifty inserts, each committed: after the flush of the engine, and after one that cuts the log off."""
    insert = next(step for step in suite.scenarios[0].steps if step.name == "insert-1")
    runs = {}
    for flush in ("kept", "cut"):
        engine = Ours("sqlite", data, suite, tmp_path / flush)
        (tmp_path / flush).mkdir()
        engine()
        run = engine.session.prepare_statement(engine.engine.sql.translate(insert.sql, data[0].tables))
        if flush == "kept":
            before = engine.engine.flush
        else:

            def before(connection: sqlite3.Connection = engine.engine.connection) -> None:
                connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()
                assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0] == 0

        runs[flush] = engine, before, run

    seconds: dict[str, list[float]] = {"kept": [], "cut": []}
    for number in range(30):
        for flush in ("kept", "cut") if number % 2 else ("cut", "kept"):
            _, before, run = runs[flush]
            before()
            start = perf_counter()
            for _ in range(50):
                run()
            seconds[flush].append(perf_counter() - start)
    for engine, *_ in runs.values():
        engine.session.close()
        engine.engine.close()
    found = median(seconds["kept"]) / median(seconds["cut"])
    print(f"\n  ratio {found:.3f}, of the least {min(seconds['kept']) / min(seconds['cut']):.3f}, in 30 pairs")
    assert found < 1
