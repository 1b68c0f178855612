"""Engines that are right whenever they are checked, and lie in the calls that are timed; beside honest ones."""

import pytest

from dbbench.testing.suite_text import suite_text
from tests.conftest import Rows, run_suite, summary
from tests.tables import one_table
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

RECORDS = suite_text(
    "records",
    "records: {count: 600, key_bytes: 8, key_order: ascending, value_bytes: 32}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert, transaction: 100}
    - {kind: keyvalue, name: read, title: Read, operation: read, order: random}
    - {kind: keyvalue, name: paced, title: Read at a rate, operation: read, rate: {per_second: 500, seconds: 0.5}}
    - {kind: keyvalue, name: lasting, title: Read for a time, operation: read, duration: 0.2}
    - {kind: keyvalue, name: threads, title: Read by two, operation: read, clients: {threads: 2}}
    - {kind: keyvalue, name: seek, title: Seek, operation: seek, order: random}
    - {kind: keyvalue, name: scan, title: Scan, operation: scan}
    - {kind: mix, name: scans, title: Scans, weights: {scan: 50, update: 50}, operations: 400, scan_length: 9}
    - {kind: mix, name: modifies, title: Modify, weights: {modify: 50, insert: 50}, operations: 400}
    """,
    durability="memory",
    more="charts: [{kind: overview}]",
)
MIXED = suite_text(
    "mixed",
    "records: {count: 100, key_bytes: 8, key_order: ascending, value_bytes: 32}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert, transaction: 100}
    - {kind: mix, name: mixed, title: Read and update, weights: {read: 50, update: 50}, operations: 400}
    """,
    durability="memory",
    more="charts: [{kind: overview}]",
)
THINGS = suite_text(
    "things",
    "seed: 7\n" + one_table("Thing", 300, 'Name: {type: varchar(6), values: {kind: pattern, text: "N-####"}}'),
    """
    - {kind: load, name: load, title: Load}
    - {kind: query, name: query, title: Query, sql: "SELECT Id, Name FROM Thing", read: Name}
    - {kind: query, name: loaded, title: Under load, sql: "SELECT Id, Name FROM Thing", read: Name, duration: 0.2}
    - kind: query
      name: highest
      title: Highest rate
      sql: SELECT Id, Name FROM Thing
      read: Name
      find: {p90: 1 s, trial: 0.1, resolution: 0.5}
    - kind: query
      name: drawn
      title: Drawn
      sql: "SELECT Id, Name FROM Thing WHERE Id = :id"
      read: Name
      parameters: {id: {draw: Thing.Id}}
      duration: 0.2
      clients: {threads: 2}
    - {kind: objects, name: get, title: Get, table: Thing, operation: get, count: 100}
    - {kind: objects, name: many, title: Get many, table: Thing, operation: get_many, count: 100}
    """,
    durability="memory",
    more="charts: [{kind: overview}]",
)
READS = ("read", "paced", "lasting", "threads", "modifies")
NOTHING = "a timed call returned nothing for the key "
#: Suite -> engine -> each step that it lies in, and words of what is said of it.
LIES: dict[str, dict[str, dict[str, str]]] = {
    RECORDS: {
        "timed-reads": dict.fromkeys(READS, NOTHING),
        "timed-stack": dict.fromkeys(READS, NOTHING),
        "timed-regenerates": dict.fromkeys(READS, "is none of this dataset"),
        "timed-seeks": {"seek": "which exists, returned another's"},
        "timed-scans": {"scan": "the timed scan returned fewer records instead of 600"},
        "timed-ahead": {"scans": "returned generator in place of a list of records"},
        "timed-sighted": dict.fromkeys(READS, "returned Value in place of bytes"),
        "timed-unpacked": {"seek": "returned Pair in place of bytes, or a tuple of two"},
        "timed-filled": dict.fromkeys(READS, "is none of this dataset"),
        "timed-ranges": {"scans": "a timed call returned "},
        "timed-blocks": {
            **dict.fromkeys(READS, "is none of this dataset"),
            "seek": "which exists, returned another's",
        },
    },
    MIXED: {
        "timed-single": {"mixed": NOTHING},
        "timed-stale": {"mixed": "a timed call read record "},
    },
    THINGS: {
        "timed-columns": dict.fromkeys(("query", "loaded", "highest"), "column "),
        "timed-later": {"drawn": "0 rows instead of 1", "many": "timed calls returned 0 objects for "},
        "timed-objects": dict.fromkeys(("get", "many"), "timed calls returned 0 objects for "),
        "timed-same": dict.fromkeys(("get", "many"), "object"),
        "timed-lazy": dict.fromkeys(("query", "loaded", "highest"), "returned Batch in place of an Arrow batch"),
        "timed-batches": dict.fromkeys(("query", "loaded", "highest"), "column "),
    },
}
HONEST = ("sqlite", "duckdb+arrow", "rawfile")
#: What a step may come to that nobody lies in: a busy machine keeps no rate, and what follows a wrong step isn't run.
FREE = ("ok", "unsupported", "saturated", "no rate", "not run")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Each suite on the honest engines, and on those that lie in it."""
    found: Rows = {}
    with trials_here():
        for suite, liars in LIES.items():
            found |= summary(run_suite(tmp_path_factory.mktemp("timed"), suite, (*HONEST, *liars)))
    return found


@pytest.mark.parametrize(("engine", "lies"), [pair for liars in LIES.values() for pair in liars.items()])
def test_a_lie_in_timed_calls_alone_is_wrong(rows: Rows, engine: str, lies: dict[str, str]) -> None:
    assert lies.keys() <= {step for step, name in rows if name == engine}
    for (step, name), row in rows.items():
        if name == engine and step in lies:
            assert row["outcome"] == "wrong", (step, row["detail"])
            assert lies[step] in row["detail"]
            assert not row["rank"]
        elif name == engine:
            assert row["outcome"] in FREE, (step, row["detail"])


@pytest.mark.parametrize("engine", HONEST)
def test_an_honest_engine_is_not_accused(rows: Rows, engine: str) -> None:
    for (step, name), row in rows.items():
        if name == engine:
            assert row["outcome"] in FREE, (step, row["detail"])
