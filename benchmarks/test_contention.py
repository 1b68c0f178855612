"""One round of the contention on SQLite as a trial runs it against the same written by hand, with threads; in turns."""

import sqlite3
import threading
from pathlib import Path
from statistics import median
from time import perf_counter

from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.host.collector import collector_off
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.contention import ContentionStep
from dbbench.workloads import contention
from dbbench.workloads.context import StepContext

AT_MOST = 1.1
PAIRS = 9
CLIENTS, ITERATIONS, SUB_ITERATIONS = 32, 50, 20
#: Nothing waits for the disk, or this would be a comparison of the disk with itself.
TIER = Tier.PROCESS


def by_hand(folder: Path) -> float:
    """What anyone would write; the same statements, settings and order."""
    path = folder / "hand.sqlite"

    def connected() -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in ("page_size = 4096", "cache_size = -65536", "journal_mode = WAL", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    keeper = connected()
    keeper.execute("CREATE TABLE Object (Id INTEGER NOT NULL, Text VARCHAR(32), PRIMARY KEY (Id))")
    barrier = threading.Barrier(CLIENTS + 1)

    def client(number: int) -> None:
        connection = connected()
        execute = connection.execute
        barrier.wait()
        for i in range(ITERATIONS):
            key = (number * ITERATIONS + i) * 3
            execute("BEGIN IMMEDIATE")
            for place, text in enumerate(("first object", "second object", "third object")):
                execute("INSERT INTO Object (Id, Text) VALUES (?, ?)", (key + place, text))
            execute("COMMIT")
            execute("BEGIN IMMEDIATE")
            found = execute("SELECT Id, Text FROM Object WHERE Id = ?", (key,)).fetchone()
            assert found == (key, "first object")
            execute("UPDATE Object SET Text = ? WHERE Id = ?", ("another value", key))
            execute("COMMIT")
            for _ in range(SUB_ITERATIONS):
                execute("BEGIN")
                rows = execute("SELECT Id, Text FROM Object WHERE Text = ?", ("another value",))
                for row in rows:
                    if row[0] == key:
                        break
                else:
                    raise AssertionError(key)
                rows.close()
                execute("COMMIT")
            execute("BEGIN IMMEDIATE")
            execute("DELETE FROM Object WHERE Id = ?", (key,))
            execute("COMMIT")
        connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    with collector_off():
        barrier.wait()
        start = perf_counter()
        for thread in threads:
            thread.join()
        keeper.execute("BEGIN IMMEDIATE")
        left = keeper.execute("SELECT Id, Text FROM Object").fetchall()
        for key, _ in left:
            keeper.execute("DELETE FROM Object WHERE Id = ?", (key,))
        keeper.execute("COMMIT")
        taken = perf_counter() - start
    assert len(left) == 2 * CLIENTS * ITERATIONS
    keeper.close()
    return taken


def ours(folder: Path) -> float:
    """A trial's own step, all clients in threads of one process as by hand."""
    suite = load_suite(find_suite("contention"))
    step = suite.scenarios[0].steps[0]
    assert isinstance(step, ContentionStep)
    assert (step.clients.count, step.iterations, step.sub_iterations) == (CLIENTS, ITERATIONS, SUB_ITERATIONS)
    step = step.model_copy(update={"clients": Clients(threads=CLIENTS)})
    dataset = suite.datasets["objects"]
    engine = registry.load("sqlite")(Setup(folder, TIER))
    engine.open()
    engine.create(dataset.tables)
    bench = StepContext(engine, engine.connect(), dataset.tables, materialise(dataset), {})
    taken = contention.measure(step, bench).value
    contention.check(step, bench)
    bench.session.close()
    engine.close()
    assert taken is not None
    return taken


def test_a_round_on_sqlite(tmp_path: Path) -> None:
    ratios = []
    for number in range(PAIRS):
        found = {}
        for way in (ours, by_hand) if number % 2 else (by_hand, ours):
            folder = tmp_path / f"{number}-{way.__name__}"
            folder.mkdir()
            found[way] = way(folder)
        ratios.append(found[ours] / found[by_hand])
        print(f"\n  ours {found[ours]:.2f} s, by hand {found[by_hand]:.2f} s", end="")
    print(f"\n  ratio {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")
    assert median(ratios) <= AT_MOST
