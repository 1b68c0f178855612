"""Stores that lie, break and run out of room, all beside a good one in one run."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from dbbench.engine import Records, Setup, Tier
from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import run_suite, small_disk, summary
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

SUITE = suite_text(
    "stores",
    "records: {count: 2000, key_bytes: 8, key_order: ascending, value_bytes: 32}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert}
    - {kind: keyvalue, name: read, title: Read, operation: read, order: random}
    - {kind: keyvalue, name: scan, title: Scan, operation: scan}
    - {kind: keyvalue, name: update, title: Update, operation: update, order: random}
    - {kind: keyvalue, name: delete, title: Delete, operation: delete, count: 1000}
    - {kind: keyvalue, name: insert-many, title: Insert, operation: insert, transaction: 1000, order: random}
    - {kind: keyvalue, name: threads, title: Insert by two threads, operation: insert, clients: {threads: 2}}
    """,
    durability="memory",
)
#: Far more than its dataset has at first, in large transactions.
FLOOD = suite_text(
    "flood",
    "records: {count: 200, key_bytes: 16, key_order: scattered, value_bytes: 2000}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert, transaction: 10}
    - {kind: keyvalue, name: flood, title: Insert many more, operation: insert, transaction: 1000, count: 15000}
    - {kind: keyvalue, name: read, title: Read, operation: read, order: random, count: 100}
    """,
    durability="memory",
)
STEPS = ("insert", "read", "scan", "update", "delete", "insert-many", "threads")
#: Engine -> the first step that isn't ok, its outcome, and words of its detail.
FAULTS = {
    "store-drops": ("insert", "wrong", "1,980 records instead of 2,000"),
    "store-returns": ("read", "wrong", "is none of this dataset"),
    "store-invents": ("read", "wrong", "a record that was never inserted"),
    "store-makes": ("insert", "failed", "no attribute 'values'"),
    "store-disorders": ("insert", "wrong", "came after"),
    "store-repeats": ("insert", "wrong", "some records are missing, and others are duplicated"),
    "store-corrupts": ("insert", "wrong", "is none of this dataset"),
    "store-stale": ("update", "wrong", "not its latest"),
    "store-keeps": ("delete", "wrong", "records instead of"),
    "store-races": ("threads", "wrong", "records instead of"),
    "store-crashes-under-threads": ("threads", "crashed", "SIGSEGV"),
}
LIES = tuple(engine for engine, (_, outcome, _) in FAULTS.items() if outcome != "crashed")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    die = ("store-crashes-under-threads", "store-crashes-on-close", "store-hangs-on-close")
    lie = ("store-good", *(name for name in FAULTS if name not in die))
    with trials_here(*lie):
        return run_suite(tmp_path_factory.mktemp("stores"), SUITE, (*lie, *die), "--trial-timeout", "30")


@pytest.mark.parametrize("engine", FAULTS)
def test_each_fault_is_found_in_the_step_that_has_it(stores: Path, engine: str) -> None:
    rows = summary(stores)
    step, outcome, words = FAULTS[engine]
    for before in STEPS[: STEPS.index(step)]:
        assert rows[before, engine]["outcome"] == "ok", rows[before, engine]["detail"]
    assert rows[step, engine]["outcome"] == outcome
    assert words in rows[step, engine]["detail"]


def test_the_good_store_is_untouched(stores: Path) -> None:
    for step in STEPS:
        row = summary(stores)[step, "store-good"]
        assert (row["outcome"], row["detail"]) == ("ok", "")
        assert float(row["value"]) > 0


@pytest.mark.parametrize(
    ("engine", "words"),
    [("store-crashes-on-close", "killed by SIGSEGV"), ("store-hangs-on-close", "stopped after 30 s (--trial-timeout)")],
)
def test_what_was_measured_before_a_close_that_fails_stands(stores: Path, engine: str, words: str) -> None:
    for step in STEPS:
        row = summary(stores)[step, engine]
        assert row["outcome"] == "ok"
        assert row["detail"] == f"after its last step: {words}"


def test_nothing_is_left(stores: Path) -> None:
    assert not list(stores.glob("trials/*/work"))


# What the engines themselves run out of

#: Engine -> an option that leaves it too little room, the outcome, and words of its detail.
TOO_LITTLE = {
    "lmdb": ("map_size_mib=1", "failed", "MDB_MAP_FULL"),
    "libmdbx": ("map_size_mib=1", "failed", "MDBX_MAP_FULL"),
    "berkeleydb": ("max_locks=30", "out of memory", "Lock table is out of available"),
}


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = [word for name, (option, *_) in TOO_LITTLE.items() for word in ("--set", f"{name}.{option}")]
    with trials_here():
        return run_suite(tmp_path_factory.mktemp("flood"), FLOOD, ("dict", *TOO_LITTLE), *options)


@pytest.mark.parametrize("engine", TOO_LITTLE)
def test_too_little_room_of_its_own_is_the_engines_outcome(flooded: Path, engine: str) -> None:
    usable(engine)
    rows = summary(flooded)
    _, outcome, words = TOO_LITTLE[engine]
    assert rows["insert", engine]["outcome"] == "ok"
    assert rows["flood", engine]["outcome"] == outcome
    assert words in rows["flood", engine]["detail"]
    assert rows["read", engine]["outcome"] == "not run"
    assert rows["read", engine]["detail"].startswith(f"flood {outcome}: ")
    assert rows["read", "dict"]["outcome"] == "ok"


@pytest.mark.parametrize("name", ["lmdb", "libmdbx"])
def test_three_hundred_clients_read_at_once(name: str, tmp_path: Path) -> None:
    engine: Any = usable(name)(Setup(tmp_path, Tier.PROCESS))
    engine.open()
    engine.create_store(Records(count=1, value_bytes=16))
    engine.connect().prepare_insert()(b"key", b"value")
    all_there = Barrier(300)

    def read(_: int) -> object:
        found = engine.connect().prepare_read(snapshot=True)
        all_there.wait(60)
        return found(b"key")

    with ThreadPoolExecutor(300) as clients:
        assert {*clients.map(read, range(300))} == {b"value"}
    engine.close()


def test_a_disk_that_fills_is_the_engines_outcome(tmp_path: Path) -> None:
    """Large enough for the dataset by the estimate, and too small for what the steps insert besides."""
    usable("lmdb")
    usable("leveldb")
    with small_disk(tmp_path, "24m") as disk, trials_here("dict"):
        rows = summary(run_suite(disk, FLOOD, ("lmdb", "leveldb", "dict"), status=None))
        for engine in ("lmdb", "leveldb"):
            assert rows["flood", engine]["outcome"] in ("disk full", "failed", "crashed")
            assert rows["flood", engine]["detail"]
            assert rows["read", engine]["outcome"] in ("not run", "disk full", "failed", "crashed")
        assert rows["read", "dict"]["outcome"] == "ok"
        assert not list(disk.glob("run/trials/*/work"))
