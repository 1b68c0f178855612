"""The suite `contention` as a user has it: its counts, and what becomes of clients and systems that come to harm."""

import re
import sqlite3
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.sql.session import fetch
from dbbench.host import atomic_json
from dbbench.results.outcome import Outcome, described
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.contention import ContentionStep
from dbbench.testing.contract import usable
from dbbench.workloads import contention
from dbbench.workloads.context import StepContext
from tests.conftest import Opened, Rows, run_suite, small_disk, summary
from tests.trials_here import no_null_engine, trials_here

pytestmark = pytest.mark.matrix

#: Two of the suite's rounds are enough for the faults, each of which takes its time in every round.
STEPS = ("unlimited", "pool-8")
#: Engine -> the outcome of the first round, and words of its detail.
FAULTS = {
    "faulty-storm": ("failed", "a transaction was given up after 999 tries: 999 times a conflict"),
    "faulty-locked": ("failed", "times a lock timeout"),
    "faulty-client-dies": ("failed", "a client process ended unexpectedly with status -9"),
    "faulty-thread-dies": ("failed", "this thread has had enough"),
    "faulty-loses": ("wrong", "no row, or a NULL in it, in the transaction look"),
}
LIES = tuple(engine for engine, (outcome, _) in FAULTS.items() if outcome == "wrong")
#: Those of them that need no trials of their own.
HERE = tuple(sorted({*FAULTS} - {"faulty-client-dies"}))


def briefer(*rounds: str, threads: int) -> str:
    """The suite without some of its rounds, with clients in two processes."""
    text = find_suite("contention").read_text("utf-8")
    for name in rounds:
        text = re.sub(rf"(?m)^.*name: {name},.*\n|\b{name}, ", "", text)
    return text.replace("table: Object", f"table: Object, clients: {{processes: 2, threads: {threads}}}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contention")


@pytest.fixture(scope="module")
def faulty(folder: Path) -> Rows:
    """Runs of the faulty engines beside SQLite; one iteration by each of 16 clients. One kills its processes."""
    text = briefer("pool-31", "pool-16", threads=8)
    found: Rows = {}
    for engines, how in ((("faulty-client-dies", "sqlite"), nullcontext()), (HERE, trials_here())):
        part = folder / engines[0]
        part.mkdir()
        with no_null_engine(), how:
            found |= summary(run_suite(part, text, engines, "--quick", "--scale", "0.02", TMPDIR=str(folder)))
    return found


@pytest.mark.parametrize("engine", FAULTS)
def test_each_fault_has_its_outcome_and_its_reason(faulty: Rows, engine: str) -> None:
    outcome, words = FAULTS[engine]
    row = faulty["unlimited", engine]
    assert (row["outcome"], row["value"]) == (outcome, "")
    assert words in row["detail"]
    assert faulty["all-rounds", engine]["outcome"] != "ok"


def test_the_others_are_measured_all_the_same(faulty: Rows) -> None:
    assert {faulty[step, "sqlite"]["outcome"] for step in (*STEPS, "all-rounds")} == {"ok"}
    whole = sum(float(faulty[step, "sqlite"]["value"]) for step in STEPS)
    assert float(faulty["all-rounds", "sqlite"]["value"]) == pytest.approx(whole)


def test_a_round_does_not_find_what_a_failed_one_has_left(faulty: Rows) -> None:
    """Each fault shows in every round, and none as an object that was there already."""
    for engine in ("faulty-client-dies", "faulty-thread-dies"):
        details = {faulty[step, engine]["detail"] for step in STEPS}
        assert all(FAULTS[engine][1] in detail for detail in details), details


def test_nothing_is_left_behind(faulty: Rows, folder: Path) -> None:
    assert faulty
    of_trials = re.compile(f"{re.escape(str(folder))}/.*/trials/")  # the supervisor waits for the next run
    assert not [each for each in psutil.process_iter(["cwd"]) if of_trials.match(each.info["cwd"] or "")]
    assert not list(folder.glob("*/run/trials/*/work"))


#: Too few for all of the clients, and enough for a pool of 8.
FEW = "postgresql@few"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three systems, and of one with few connections; two iterations by each of 32 clients."""
    few = ("--quick", "--scale", "0.04", "--set", f"{FEW}.max_connections=16", "--format", "csv,html")
    engines = ("postgresql", "mysql", "firebird", FEW)
    with no_null_engine(), trials_here():
        return run_suite(tmp_path_factory.mktemp("served"), briefer("pool-31", threads=16), engines, *few)


def test_a_server_that_refuses_the_last_of_the_connections(served: Path) -> None:
    usable("postgresql")
    rows = summary(served)
    for step in ("unlimited", "pool-16"):
        assert rows[step, FEW]["outcome"] == "failed"
        assert "too many clients already" in rows[step, FEW]["detail"]
    for step, engine in (("pool-8", FEW), ("unlimited", "postgresql")):
        few = "syncs not counted: fewer than 20 commits"
        assert (rows[step, engine]["outcome"], rows[step, engine]["detail"]) == ("ok", few)
    assert "no sum, as unlimited, pool-16 have no figure" in rows["all-rounds", FEW]["detail"]


@pytest.mark.parametrize("engine", ["postgresql", "mysql", "firebird"])
def test_the_system_counts_what_we_count(served: Path, engine: str) -> None:
    usable(engine)
    (path,) = (served / "trials").glob(f"*-{engine}/result.json")
    for step in atomic_json.read(path)["steps"][:3]:
        assert step["outcome"] == "ok", step["detail"]
        facts = step["facts"]
        if facts["retries"]:
            continue  # what was rolled back counts in some
        for what in ("inserts", "updates", "deletes"):
            assert facts["counted"][what] == facts[what], what
        assert facts["counted"].get("commits", facts["transactions"]) >= facts["transactions"]
    text = (served / "report" / "index.html").read_text("utf-8")
    assert "192/64/192" in text
    assert "Then and now" in text


def test_a_locked_table_of_a_shared_cache_is_tried_again(opened: Opened, tmp_path: Path) -> None:
    """No busy timeout waits for it. In a cache of its own the reader finds no lock, and a writer waits."""
    found = {}
    for cache in ("private", "shared"):
        engine = opened("sqlite", folder=tmp_path / cache, cache=cache, busy_seconds=0)
        assert engine.settings()["cache"] == cache
        one, other = engine.connect(), engine.connect()
        one.execute("CREATE TABLE Thing (Id INTEGER)")
        one.begin()
        one.execute("INSERT INTO Thing VALUES (1)")
        for number, begin in enumerate((other.begin, other.begin_reading)):
            try:
                begin()
                fetch(other, "SELECT Id FROM Thing")
            except sqlite3.OperationalError as exc:
                found[cache, number] = other.retry_reason(exc)
            other.rollback()
        one.rollback()
    assert found == {("private", 0): "lock timeout", ("shared", 0): "locked table", ("shared", 1): "locked table"}


@pytest.mark.parametrize("name", ["sqlite+apsw", "sqlite+core", "libsql"])
def test_a_shared_cache_is_an_option_of_the_one_driver_that_has_it(name: str) -> None:
    engine = usable(name)
    assert "cache_mib" in engine.options_class.model_fields
    assert "cache" not in engine.options_class.model_fields


def test_a_disk_that_fills_in_the_middle(tmp_path: Path) -> None:
    suite = load_suite(find_suite("contention"))
    tables = suite.datasets["objects"].tables
    step = suite.scenarios[0].steps[0]
    assert isinstance(step, ContentionStep)
    few = step.model_copy(update={"clients": step.clients.model_copy(update={"threads": 2, "processes": 1})})
    with small_disk(tmp_path, "256k") as disk:
        engine = registry.load("sqlite")(Setup(disk, Tier.POWER))
        engine.open()
        engine.create(tables)
        bench = StepContext(engine, engine.connect(), tables, materialise(suite.datasets["objects"]), {})
        with pytest.raises(Exception, match="disk") as full:  # the driver's own
            contention.measure(few, bench)
        bench.session.close()
        engine.close()
    outcome, detail = described(full.value)
    assert outcome is Outcome.FAILED
    assert "full" in detail or "disk I/O error" in detail


def test_a_driver_that_holds_pythons_lock_lets_the_thread_go_on_that_has_the_databases(opened: Opened) -> None:
    """While one of its threads waited for the database it would keep all others from ending their transactions."""
    engine = opened("libsql", busy_seconds=300)
    first, second = engine.connect(), engine.connect()
    first.begin()
    waiting = threading.Thread(target=second.begin)
    waiting.start()
    time.sleep(0.1)
    first.commit()
    waiting.join(200)  # or the other one would give up, after 300 s
    assert not waiting.is_alive()
    second.commit()
