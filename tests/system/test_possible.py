"""Figures that can't be: a size below what the data can take, a time of about the null engine's; beside honest engines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbbench.testing.suite_text import suite_text
from tests.conftest import Rows, run_suite, summary
from tests.tables import one_table
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

SUITE = suite_text(
    "things",
    "seed: 7\n"
    + one_table("Thing", 5000, 'Name: {type: varchar(20), values: {kind: pattern, text: "N-##################"}}'),
    """
    - {kind: load, name: load, title: Load}
    - {kind: query, name: query, title: Query, sql: "SELECT Id, Name FROM Thing", read: Name}
    - {kind: query, name: few, title: Few, sql: "SELECT Id, Name FROM Thing WHERE Id < 5", read: Name, iterations: 50}
    - {kind: query, name: cold, title: Cold, sql: "SELECT Id, Name FROM Thing WHERE Id > 0", read: Name, cache: cold, iterations: 3}
    - {kind: size, name: size, title: Size}
    """,
    durability="memory",
    more="charts: [{kind: overview}]",
)
RECORDS = suite_text(
    "records",
    "records: {count: 120, key_bytes: 8, key_order: ascending, value_bytes: 320}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert}
    - {kind: size, name: size, title: Size}
    """,
    durability="memory",
)
READS = suite_text(
    "records",
    "records: {count: 2000, key_bytes: 16, value_bytes: 400}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert, transaction: 1000}
    - {kind: keyvalue, name: cold, title: Cold, operation: read, order: random, cache: cold}
    - {kind: keyvalue, name: warm, title: Warm, operation: read, order: random}
    """,
    durability="memory",
    more="charts: [{kind: overview}]",
)
#: Compared with the null engine, which takes three rounds.
COMPARED = ("sqlite+apsw", "duckdb", "duckdb+arrow", "faulty-memoises")
REST = ("sqlite", "faulty-prefetches", "faulty-held", "faulty-claims")
#: What is said of them is said of a whole process, or of all files that it has open.
APART = ("sizes-stub", "faulty-escapes", "faulty-hires", "faulty-disowns")
#: Engine -> what it does, and what is said of it.
HASTE = {
    "faulty-hastens": ("os.nice(-1)", "a thread has the nice value -1 in place of 0"),
    "faulty-overtakes": (
        "os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))",
        "a thread has a real-time scheduling class",
    ),
}
LIES = (
    "faulty-memoises",
    "faulty-prefetches",
    "faulty-fetches",
    "faulty-held",
    "faulty-claims",
    "sizes-unlinked",
    *APART,
    *HASTE,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    given = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(given)})
    try:
        folder = tmp_path_factory.mktemp
        with trials_here():
            runs = [
                run_suite(folder("possible"), SUITE, engines, "--rounds", rounds, status=None)
                for engines, rounds in ((COMPARED, "3"), (REST, "1"))
            ]
        return [*runs, run_suite(folder("apart"), SUITE, APART, status=None)]
    finally:
        os.sched_setaffinity(0, given)


@pytest.fixture(scope="module")
def rows(runs: list[Path]) -> Rows:
    return {key: row for run in runs for key, row in summary(run).items()}


def test_a_size_below_what_the_data_can_take_is_wrong(rows: Rows) -> None:
    row = rows["size", "sizes-stub"]
    assert (row["outcome"], row["value"]) == ("wrong", "")
    assert row["detail"].startswith("128 bytes on disk for data that take ")


def test_an_answer_that_takes_no_time_has_no_rank(rows: Rows) -> None:
    """In one of the two at least, where other processes disturb the machine."""
    lies = [rows[step, "faulty-memoises"] for step in ("query", "few")]
    assert [row["outcome"] for row in lies] == ["ok"] * 2
    accused = [row for row in lies if "the time of the null engine, which does nothing" in row["detail"]]
    assert accused
    assert {row["verified"] for row in accused} == {"no"}


@pytest.mark.parametrize("engine", ["faulty-hires", "faulty-disowns"])
def test_the_memory_and_the_cpu_time_of_a_child_count(runs: list[Path], engine: str) -> None:
    def used(name: str) -> tuple[int, float]:
        path = min(runs[2].glob(f"trials/*-{name}/result.json"))
        found = json.loads(path.read_text("utf-8"))
        return found["peak_memory"], found["cpu_seconds"]

    (memory, seconds), (least_memory, least_seconds) = used(engine), used("faulty-escapes")
    assert memory > least_memory + (150 << 20)
    assert seconds > least_seconds + 0.5


def test_a_file_that_is_deleted_and_open_counts(tmp_path: Path) -> None:
    rows = summary(run_suite(tmp_path, RECORDS, ("written-honest", "sizes-unlinked"), status=None))
    true, found = (rows["size", engine] for engine in ("written-honest", "sizes-unlinked"))
    assert float(found["value"]) == float(true["value"]) > 0
    assert "outside of the engine's directory" in found["detail"]


@pytest.mark.parametrize("engine", HASTE)
def test_who_runs_before_others_has_no_rank(engine: str, tmp_path: Path) -> None:
    does, words = HASTE[engine]
    if subprocess.run([sys.executable, "-c", f"import os; {does}"], check=False, capture_output=True).returncode:
        pytest.skip("it takes a privilege")
    rows = summary(run_suite(tmp_path, SUITE, (engine,), status=None))
    for step in ("load", "query", "few"):
        assert rows[step, engine]["verified"] == "no"
        assert words in rows[step, engine]["detail"]


def test_what_was_read_when_it_was_opened_is_not_cold(rows: Rows) -> None:
    row = rows["cold", "faulty-prefetches"]
    assert (row["outcome"], row["verified"]) == ("ok", "yes")
    assert "lukewarm: the system counted no byte read from storage in a call" in row["detail"]
    assert "; includes " in row["detail"]
    assert row["detail"].endswith(" to open the database; 0 bytes read after that")


def test_an_answer_that_outlives_a_cold_start_is_not_cold(rows: Rows) -> None:
    """One call has read it, and the others read a page that is in no answer."""
    detail = rows["cold", "faulty-held"]["detail"]
    assert "lukewarm: a call read less than a tenth of what another did" in detail


def test_what_was_read_when_reading_was_prepared_is_not_cold(tmp_path: Path) -> None:
    with trials_here():
        rows = summary(run_suite(tmp_path, READS, ("sqlite", "faulty-fetches"), status=0))
    honest, fetches = (rows["cold", engine]["detail"] for engine in ("sqlite", "faulty-fetches"))
    assert "lukewarm: the system counted no byte read from storage in a call" in fetches
    assert fetches.endswith(" to open the database; 0 bytes read after that")
    assert "lukewarm" not in honest
    assert "off the clock" not in fetches  # preparing is on it
    assert {row["verified"] for row in rows.values() if row["engine"] in ("sqlite", "faulty-fetches")} == {"yes"}


def test_an_honest_cold_read_reads_in_its_calls(rows: Rows) -> None:
    detail = rows["cold", "sqlite"]["detail"]
    assert detail.startswith("includes ")
    assert int(detail.rpartition("; ")[2].split()[0].replace(",", "")) > 4096


@pytest.mark.skipif(os.cpu_count() == 1, reason="there is one processor")
def test_who_takes_more_processors_than_it_was_given_has_no_rank(rows: Rows) -> None:
    for step in ("load", "query", "few"):
        assert rows[step, "faulty-escapes"]["verified"] == "no"
        assert "than the worker was given" in rows[step, "faulty-escapes"]["detail"]
    assert rows["size", "faulty-escapes"]["verified"] == "yes"


def test_an_option_with_another_value_in_the_database_gives_no_rank(rows: Rows) -> None:
    row = rows["query", "faulty-claims"]
    assert (row["outcome"], row["verified"]) == ("ok", "no")
    assert "no rank: the option cache_mib is 64, but the system's catalogue has 512" in row["detail"]


@pytest.mark.parametrize("engine", [*COMPARED[:3], "sqlite"])
def test_an_honest_engine_is_verified_in_all_steps(rows: Rows, engine: str) -> None:
    mine = {step: (row["outcome"], row["verified"]) for (step, name), row in rows.items() if name == engine}
    assert mine == dict.fromkeys(("load", "query", "few", "cold", "size"), ("ok", "yes"))
