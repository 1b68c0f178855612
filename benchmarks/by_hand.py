"""The suite `invoices` written by hand for one engine, as well as its driver allows: `python -m benchmarks.by_hand ENGINE`.

Prints the seconds of each step as JSON. Data, statements and settings are the suite's; how they are run is not
dbbench's: no session, no prepared callable, no timed loop of ours. A private server is started by the engine's plugin.
"""

import json
import sqlite3
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

import pyarrow as pa
from pyarrow import csv

from dbbench.datasets.cache import materialise
from dbbench.datasets.driver_rows import rows
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier

SUITE = load_suite(find_suite("invoices"))
TABLES = SUITE.datasets["invoices"].tables
STEPS = {step.name: step for step in SUITE.scenarios[0].steps}


class ByHand:
    """A connection, and the ways in which drivers differ."""

    quotes = '"', '"'

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.connection = self.connect()

    def connect(self) -> Any:
        raise NotImplementedError

    def rows(self, sql: str) -> Iterable[Any]:
        return self.connection.execute(sql)  # type: ignore[no-any-return]

    def run(self, sql: str) -> None:
        self.connection.execute(sql)

    def prepare_load(self, files: Any) -> Any:
        """What the load takes, made before the clock starts."""
        raise NotImplementedError

    def load(self, data: Any) -> None:
        raise NotImplementedError

    def indexes(self) -> None:
        left, right = self.quotes
        for name, table in TABLES.items():
            for column in table.indexes:
                self.run(f"CREATE INDEX {left}ix_{name}_{column}{right} ON {left}{name}{right} ({left}{column}{right})")


class SQLite(ByHand):
    def connect(self) -> Any:
        connection = sqlite3.connect(self.engine.directory / "data.sqlite", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        return connection

    def prepare_load(self, files: Any) -> Any:
        bind = {"decimal": "float", "datetime": "text"}
        return {name: [row for b in files.stream(name) for row in rows(b, t, bind)] for name, t in TABLES.items()}

    def load(self, data: Any) -> None:
        self.run("BEGIN")
        for name, table in TABLES.items():
            marks = ", ".join("?" * len(table.columns))
            self.connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', data[name])
        self.indexes()
        self.run("ANALYZE")
        self.run("COMMIT")


class DuckDB(ByHand):
    def connect(self) -> Any:
        return self.engine.connection.cursor()

    def rows(self, sql: str) -> Iterable[Any]:
        self.connection.execute(sql)
        while chunk := self.connection.fetchmany(1_000):
            yield from chunk

    def prepare_load(self, files: Any) -> Any:
        return {name: files.table(name) for name in TABLES}

    def load(self, data: Any) -> None:
        self.run("BEGIN")
        for name in TABLES:
            self.connection.register("chunk", data[name])
            self.run(f'INSERT INTO "{name}" SELECT * FROM chunk')
        self.indexes()
        self.run("COMMIT")


def as_csv(files: Any) -> dict[str, bytes]:
    found = {}
    for name in TABLES:
        text = pa.BufferOutputStream()
        csv.write_csv(files.table(name), text, csv.WriteOptions(include_header=False))
        found[name] = text.getvalue().to_pybytes()
    return found


class PostgreSQL(ByHand):
    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(self.engine.address, autocommit=True)

    def rows(self, sql: str) -> Iterable[Any]:
        cursor = self.connection.cursor()
        cursor.execute(sql, prepare=True)
        while chunk := cursor.fetchmany(1_000):
            yield from chunk

    def prepare_load(self, files: Any) -> Any:
        return as_csv(files)

    def load(self, data: Any) -> None:
        self.run("BEGIN")
        self.run(f"TRUNCATE {', '.join(f'{chr(34)}{name}{chr(34)}' for name in TABLES)}")
        for name in TABLES:
            with self.connection.cursor().copy(f'COPY "{name}" FROM STDIN (FORMAT csv)') as copy:
                copy.write(data[name])
        self.indexes()
        for name in TABLES:
            self.run(f'ANALYZE "{name}"')
        self.run("COMMIT")


class MySQL(ByHand):
    quotes = "`", "`"

    def connect(self) -> Any:
        import MySQLdb

        connection = MySQLdb.connect(
            user="root",
            unix_socket=self.engine.address.parameters["unix_socket"],
            database="dbbench",
            charset="utf8mb4",
            local_infile=True,
        )
        connection.autocommit(True)
        return connection

    def rows(self, sql: str) -> Iterable[Any]:
        from MySQLdb.cursors import SSCursor

        cursor = self.connection.cursor(SSCursor)  # rows come while they are read, and no result is held whole
        cursor.execute(sql)
        while chunk := cursor.fetchmany(1_000):
            yield from chunk

    def run(self, sql: str) -> None:
        self.connection.cursor().execute(sql)

    def prepare_load(self, files: Any) -> Any:
        paths = {}
        for name, data in as_csv(files).items():
            paths[name] = self.engine.directory / f"{name}.csv"
            paths[name].write_bytes(data)
        return paths

    def load(self, data: Any) -> None:
        self.run("SET GLOBAL local_infile = 1")  # a private server takes local files while it loads, and only then
        self.run("SET unique_checks = 0, foreign_key_checks = 0")
        self.run("BEGIN")
        for name, path in data.items():
            self.run(
                f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE `{name}` CHARACTER SET utf8mb4 "
                "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY ''"
            )
        self.run("COMMIT")
        self.indexes()


class Firebird(ByHand):
    """The load goes through the plugin's own batches: nothing public of the driver's reaches the interface."""

    def connect(self) -> Any:
        self.prepared: dict[str, Any] = {}
        return self.engine.connect().connection

    def rows(self, sql: str) -> Iterable[Any]:
        from firebird import driver

        if sql not in self.prepared:
            cursor = self.connection.cursor()
            self.prepared[sql] = cursor, cursor.prepare(sql)
        cursor, statement = self.prepared[sql]
        self.connection.begin(driver.tpb(driver.Isolation.SNAPSHOT, access_mode=driver.TraAccessMode.READ))
        yield from cursor.execute(statement)
        self.connection.commit()

    def run(self, sql: str) -> None:
        self.connection.begin()
        self.connection.execute_immediate(sql)
        self.connection.commit()

    def prepare_load(self, files: Any) -> Any:
        self.session = self.engine.connect()
        inserts = {name: self.session.prepare_load(name, table) for name, table in TABLES.items()}
        return [(inserts[name], list(files.stream(name))) for name in TABLES]

    def load(self, data: Any) -> None:
        self.session.begin()
        for insert, batches in data:
            for batch in batches:
                insert(batch)
        self.session.commit()
        self.indexes()


#: Query -> the place of the column that it reads.
READ = {"join-1": 7, "join-2": 1, "scan-1": 1, "scan-2": 1, "scan-3": 0}
ENGINES = {"sqlite": SQLite, "duckdb": DuckDB, "postgresql": PostgreSQL, "mysql": MySQL, "firebird": Firebird}


def timed(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


def times(name: str, folder: Path) -> dict[str, float]:
    """Seconds of each step: the load, and the mean of as many calls as the suite has, after one of warm-up."""
    files = materialise(SUITE.datasets["invoices"])
    engine = registry.load(name)(Setup(folder, Tier.POWER))
    engine.open()
    try:
        engine.create(TABLES)
        by_hand = ENGINES[name](engine)
        data = by_hand.prepare_load(files)
        found = {"bulk-insert": timed(partial(by_hand.load, data))}
        data = None
        engine.flush()  # as in the suite: what is scanned then is the data where it stays
        for step in STEPS.values():
            if step.kind not in ("query", "statement"):
                continue
            sql = engine.sql.translate(step.dialects.get(engine.dialect, step.sql), TABLES)
            if step.kind == "query":
                read = itemgetter(READ[step.name])

                def call(sql: str = sql, read: Any = read) -> None:
                    deque(map(read, by_hand.rows(sql)), maxlen=0)
            else:

                def call(sql: str = sql) -> None:
                    by_hand.run(sql)

            found[step.name] = mean([timed(call) for _ in range(step.warm_up + step.iterations)][step.warm_up :])
        return found
    finally:
        engine.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as there:
        print(json.dumps(times(sys.argv[1], Path(there))))
