"""Key-value steps as a trial runs them against loops written by hand over the same driver; the best of each, in turns."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from dbbench.datasets.records import RecordSet, shuffled
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.errors import Unavailable
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.workloads import keyvalue
from dbbench.workloads.context import StepContext

#: Where an operation takes a microsecond or more; for LMDB's reads, which take less; for a scan by one call in C.
AT_MOST, READS_AT_MOST, SCANS_AT_MOST = 1.05, 1.25, 1.1
COUNT, PAIRS = 100_000, 9
RECORDS = RecordSet(Records(count=COUNT, key_bytes=8, key_order="ascending", value_bytes=32), 1)


class ByHand:
    """Loops over a driver. Each takes keys or pairs that are there already."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def read(self, keys: list[bytes]) -> None:
        get = self.engine.database.get
        for key in keys:
            get(key)

    def insert(self, pairs: list[tuple[bytes, bytes]]) -> None:
        put = self.engine.database.put
        for key, value in pairs:
            put(key, value)


class LMDBByHand(ByHand):
    def read(self, keys: list[bytes]) -> None:
        with self.engine.environment.begin() as transaction:
            get = transaction.get
            for key in keys:
                get(key)

    def seek(self, keys: list[bytes]) -> None:
        with self.engine.environment.begin() as transaction, transaction.cursor() as cursor:
            for key in keys:
                if cursor.set_range(key):
                    cursor.item()

    def insert(self, pairs: list[tuple[bytes, bytes]]) -> None:
        environment = self.engine.environment
        for key, value in pairs:
            with environment.begin(write=True) as transaction:
                transaction.put(key, value)

    def scan(self, _: Any) -> None:
        with self.engine.environment.begin() as transaction, transaction.cursor() as cursor:
            for _key, _value in cursor:
                pass


class LibMDBXByHand(LMDBByHand):
    def seek(self, keys: list[bytes]) -> None:
        with self.engine.environment.begin() as transaction, transaction.cursor() as cursor:
            for key in keys:
                cursor.set_range(key)


class LevelDBByHand(ByHand):
    def seek(self, keys: list[bytes]) -> None:
        iterator = self.engine.database.raw_iterator()
        for key in keys:
            iterator.seek(key)
            if iterator.valid():
                iterator.item()

    def scan(self, _: Any) -> None:
        for _key, _value in self.engine.database.iterator():
            pass


class RocksDBByHand(ByHand):
    def seek(self, keys: list[bytes]) -> None:
        iterator = self.engine.database.iter()
        for key in keys:
            iterator.seek(key)
            if iterator.valid():
                iterator.key(), iterator.value()

    def scan(self, _: Any) -> None:
        for _key, _value in self.engine.database.items():
            pass


class BerkeleyDBByHand(ByHand):
    def seek(self, keys: list[bytes]) -> None:
        for key in keys:
            cursor = self.engine.database.cursor()
            cursor.set_range(key)
            cursor.close()

    def scan(self, _: Any) -> None:
        cursor = self.engine.database.cursor()
        while cursor.next():
            pass
        cursor.close()


class UnQLiteByHand(ByHand):
    def insert(self, pairs: list[tuple[bytes, bytes]]) -> None:
        store = self.engine.database.store
        for key, value in pairs:
            store(key, value)


class SQLiteByHand(ByHand):
    def read(self, keys: list[bytes]) -> None:
        execute = self.engine.connection.execute
        for key in keys:
            row = execute('SELECT "RecordValue" FROM "Records" WHERE "RecordKey" = ?', (key,)).fetchone()
            if row is not None:
                row[0]

    def seek(self, keys: list[bytes]) -> None:
        execute = self.engine.connection.execute
        sql = 'SELECT "RecordKey", "RecordValue" FROM "Records" WHERE "RecordKey" >= ? ORDER BY "RecordKey" LIMIT 1'
        for key in keys:
            execute(sql, (key,)).fetchone()

    def insert(self, pairs: list[tuple[bytes, bytes]]) -> None:
        execute = self.engine.connection.execute
        for key, value in pairs:
            execute('INSERT INTO "Records" ("RecordKey", "RecordValue") VALUES (?, ?)', (key, value))

    def scan(self, _: Any) -> None:
        sql = 'SELECT "RecordKey", "RecordValue" FROM "Records" ORDER BY "RecordKey"'
        for _key, _value in self.engine.connection.execute(sql):
            pass


BY_HAND: dict[str, type[ByHand]] = {
    "lmdb": LMDBByHand,
    "libmdbx": LibMDBXByHand,
    "leveldb": LevelDBByHand,
    "rocksdb": RocksDBByHand,
    "berkeleydb": BerkeleyDBByHand,
    "unqlite": UnQLiteByHand,
    "sqlite": SQLiteByHand,
}
CASES = [
    (name, operation)
    for name, by_hand in BY_HAND.items()
    for operation in ("read", "seek", "insert", "scan")
    if hasattr(by_hand, operation)
]


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StepContext]:
    name: str = request.param
    try:
        engine = registry.load(name)(Setup(tmp_path, Tier.MEMORY))
    except Unavailable as exc:
        pytest.skip(f"{name}: {exc.reason}")
    engine.open()
    engine.create_store(RECORDS.spec.model_copy(update={"count": 20 * COUNT}))
    session = engine.connect()
    made = StepContext(engine, session, {}, None, {}, records=RECORDS)  # type: ignore[arg-type]
    made.data.accept(step("insert"), keyvalue.measure(step("insert"), made))
    yield made
    session.close()
    engine.close()


def step(operation: str) -> KeyValueStep:
    order = "random" if operation in ("read", "seek") else "ascending"
    return KeyValueStep(kind="keyvalue", name="step", title="Step", operation=operation, order=order)


def ours(operation: str, bench: StepContext) -> float:
    """Nanoseconds of an operation, by what the step itself reports."""
    measured = keyvalue.measure(step(operation), bench)
    bench.data.accept(step(operation), measured)
    return 1e9 / measured.value


def theirs(operation: str, bench: StepContext) -> float:
    by_hand: Callable[[Any], None] = getattr(BY_HAND[bench.engine.name](bench.engine), operation)
    held = bench.data.expected_records
    if operation == "insert":
        given: Any = RECORDS.pairs(np.arange(held.next, held.next + COUNT, dtype=np.uint64))
        held.next += COUNT
        count = COUNT
    else:
        count = held.next - held.first
        given = RECORDS.keys(shuffled(np.arange(count, dtype=np.uint64), count, 1)) if operation != "scan" else None
    start = perf_counter()
    by_hand(given)
    return (perf_counter() - start) * 1e9 / count


@pytest.mark.parametrize(("bench", "operation"), CASES, indirect=["bench"])
def test_a_step_costs_what_the_loop_by_hand_does(bench: StepContext, operation: str) -> None:
    pairs = [
        (ours(operation, bench), theirs(operation, bench)) if number % 2 else _swapped(operation, bench)
        for number in range(PAIRS)
    ]
    # Whatever else the machine does only adds: so the best of each, taken in turns, says more than their medians.
    own, other = (min(times) for times in zip(*pairs, strict=True))
    found = own / other
    print(f"\n  {bench.engine.name} {operation}: ratio {found:.3f} of {other:,.0f} ns")
    if operation == "scan":
        assert found <= SCANS_AT_MOST
    elif other >= 1_000:
        assert found <= AT_MOST
    elif (bench.engine.name, operation) == ("lmdb", "read"):
        assert found <= READS_AT_MOST


def _swapped(operation: str, bench: StepContext) -> tuple[float, float]:
    other = theirs(operation, bench)
    return ours(operation, bench), other
