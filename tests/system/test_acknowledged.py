"""Stores that acknowledge a commit before it is in their files; beside one that doesn't, and two honest databases."""

import json
from pathlib import Path

import pytest

from dbbench.runs import strace
from dbbench.testing.contract import required
from dbbench.testing.suite_text import suite_text
from tests.conftest import Rows, run_suite, summary
from tests.tables import one_table
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

RECORDS = suite_text(
    "records",
    "records: {count: 120, key_bytes: 8, key_order: ascending, value_bytes: 32}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert}
    - {kind: keyvalue, name: update, title: Update, operation: update, order: random}
    - {kind: keyvalue, name: read, title: Read, operation: read}
    """,
    durability="power",
    more="charts: [{kind: overview}]",
)
AT_PROCESS = RECORDS.replace("durability: power", "durability: process")
THINGS = suite_text(
    "things",
    "seed: 7\n"
    + one_table("Thing", 400, 'Name: {type: varchar(20), values: {kind: pattern, text: "N-##################"}}'),
    """
    - {kind: load, name: load, title: Load}
    - {kind: churn, name: churn, title: Churn, table: Thing, share: 0.5, passes: 2, transaction: 20}
    """,
    durability="power",
    more="charts: [{kind: overview}]",
)
OBJECTS = suite_text(
    "objects",
    one_table("Object", 1, 'Text: {type: varchar(32), values: {kind: pattern, text: "object"}}'),
    "- {kind: contention, name: two, title: Two, table: Object, clients: {threads: 2}, iterations: 9, sub_iterations: 1}",
    durability="process",
    more="charts: [{kind: overview}]",
)
BANK = suite_text(
    "bank",
    one_table("Account", 50, "Balance: {type: bigint, values: {kind: quantiles, points: {0: 0, 1: 0}}}"),
    """
    - {kind: load, name: load, title: Load}
    - kind: transaction
      name: pay
      title: Pay
      calls: 30
      transactions:
        - name: pay
          parameters: {account: {draw: Account.Id}, amount: {integer: [1, 9]}}
          statements:
            - sql: UPDATE Account SET Balance = Balance + :amount WHERE Id = :account
      invariants:
        - {name: all, sql: SELECT SUM(Balance) FROM Account, grows: {pay: amount}}
    - kind: statement
      name: up
      title: Up
      iterations: 30
      sql: UPDATE Account SET Balance = Balance + 1 WHERE Id = 7
      check: {sql: SELECT Id FROM Account WHERE Id = 7, columns: [Account.Id], rows: [[7]]}
    """,
    durability="power",
    more="charts: [{kind: overview}]",
)
RATE = suite_text(
    "rate",
    "records: {count: 100, key_bytes: 8, key_order: ascending, value_bytes: 32}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert}
    - {kind: keyvalue, name: rate, title: At a rate, operation: update, rate: {per_second: 20, seconds: 1.5}}
    """,
    durability="power",
    more="charts: [{kind: overview}]",
)
LIARS = ("written-queues", "written-closes", "written-fiftieth", "written-behind", "written-world", "written-connects")
#: Of these no copy is made, or none can be opened.
UNSEEN = {
    "written-unopened": "not opened: FileNotFoundError: the log has no end",
    "written-linked": "not copied: a link leads out of the folder",
}
#: In the kernel's cache of files, so that a copy finds them.
UNSYNCED = (
    "written-unsynced",
    "written-tenth",
    "written-hundredth",
    "written-watched",
    "written-memory",
    "written-asked",
)
#: In neither where the copy comes soon enough; else nobody was waited for.
LATE = ("written-asynchronous", "written-groups")
#: Those that a test of its own tries.
MORE_LIES = ("written-asks", "written-leaves", "written-later", "written-finishes", "written-shared", "written-fifth")
LIES = (*LIARS, *UNSEEN, *UNSYNCED, *LATE, "written-idle")
HONEST = ("written-honest", "sqlite", "lmdb")
WORDS = "copied when its last call had returned, and opened by a new process: "


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_suite(tmp_path_factory.mktemp("records"), RECORDS, (*HONEST, *LIARS, *LATE))


@pytest.fixture(scope="module")
def at_process(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Where no floor shows that nothing was written."""
    threads = "{kind: keyvalue, name: threads, title: Threads, operation: update, order: random, clients: {threads: 2}}"
    text = AT_PROCESS.replace("- {kind: keyvalue, name: read,", f"- {threads}\n      - {{kind: keyvalue, name: read,")
    engines = ("written-honest", "written-asks", "written-leaves", *UNSEEN)
    return summary(run_suite(tmp_path_factory.mktemp("process"), text, engines))


@pytest.fixture(scope="module")
def unsynced(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """No copy shows anything of them, and none is made."""
    with trials_here():
        return summary(run_suite(tmp_path_factory.mktemp("unsynced"), RECORDS, UNSYNCED, status=None))


@pytest.mark.parametrize("engine", LIARS)
def test_what_is_not_in_the_files_when_the_call_has_returned_is_lost(run: Path, engine: str) -> None:
    row = summary(run)["insert", engine]
    assert (row["outcome"], row["value"], row["rank"]) == ("wrong", "", "")
    assert row["detail"].startswith(WORDS)


@pytest.mark.parametrize("engine", HONEST)
def test_all_that_an_honest_engine_acknowledged_is_there(run: Path, engine: str) -> None:
    (path,) = run.glob(f"trials/*-records-{engine}/result.json")
    steps = {step["name"]: step for step in json.loads(path.read_text())["steps"]}
    assert {name: (step["outcome"], step["facts"].get("copy")) for name, step in steps.items()} == {
        "insert": ("ok", "all there"),
        "update": ("ok", "all there"),
        "read": ("ok", None),
    }
    assert all(step["verified"] for step in steps.values())


@pytest.mark.parametrize("engine", UNSEEN)
def test_commits_that_no_new_process_can_look_for_have_no_rank(at_process: Rows, engine: str) -> None:
    row = at_process["insert", engine]
    assert (row["outcome"], row["verified"], row["rank"]) == ("ok", "no", "")
    assert f"a new process couldn't look for acknowledged commits: {UNSEEN[engine]}" in row["detail"]
    assert at_process["insert", "written-honest"]["verified"] == "yes"


@pytest.mark.parametrize(("engine", "step"), [("written-asks", "insert"), ("written-leaves", "threads")])
def test_no_plugin_is_called_between_the_last_call_and_the_copy(at_process: Rows, engine: str, step: str) -> None:
    assert at_process[step, engine]["outcome"] == "wrong"
    assert at_process[step, engine]["detail"].startswith(WORDS)
    assert at_process[step, "written-honest"]["outcome"] == "ok"


def test_what_is_honest_in_the_first_round_alone_is_lost(tmp_path: Path) -> None:
    """One step of the later round, drawn at random, is looked at."""
    rows = summary(run_suite(tmp_path, AT_PROCESS, ("written-later",), "--rounds", "2"))
    (wrong,) = [row for row in rows.values() if row["outcome"] == "wrong"]
    assert (wrong["engine"], wrong["rank"]) == ("written-later", "")
    assert wrong["detail"].startswith(WORDS)


@pytest.mark.parametrize("engine", UNSYNCED)
def test_commits_that_no_disk_was_waited_for_have_no_rank(unsynced: Rows, engine: str) -> None:
    for step in ("insert", "update"):
        row = unsynced[step, engine]
        assert (row["outcome"], row["verified"], row["rank"]) == ("ok", "no", "")
        assert "no rank: commits didn't reach the disk: it waited " in row["detail"]


@pytest.mark.parametrize("engine", LATE)
def test_commits_that_are_synced_after_the_answer_are_lost_or_have_no_rank(run: Path, engine: str) -> None:
    row = summary(run)["insert", engine]
    assert row["outcome"] == "wrong" or row["verified"] == "no"
    assert WORDS in row["detail"] or "no rank: commits didn't reach the disk" in row["detail"]


def test_what_a_churn_has_not_committed_is_lost(tmp_path: Path) -> None:
    row = summary(run_suite(tmp_path, THINGS, ("written-finishes",)))["churn", "written-finishes"]
    assert row["outcome"] == "wrong"
    assert row["detail"].startswith(WORDS)


def test_a_churn_that_changes_nothing_has_no_rank(tmp_path: Path) -> None:
    with trials_here():
        rows = summary(run_suite(tmp_path, THINGS, ("sqlite", "written-idle"), status=0))
    honest, idle = (rows["churn", name] for name in ("sqlite", "written-idle"))
    assert (honest["outcome"], honest["verified"]) == ("ok", "yes")
    assert (idle["outcome"], idle["verified"]) == ("ok", "no")
    assert "no rank: commits didn't reach the disk: it waited " in idle["detail"]


def test_what_clients_leave_is_in_the_files_before_it_is_cleared_away(tmp_path: Path) -> None:
    run = run_suite(tmp_path, OBJECTS, ("sqlite", "written-shared"))
    honest, shared = (summary(run)["two", name] for name in ("sqlite", "written-shared"))
    assert (honest["outcome"], honest["verified"], honest["detail"]) == ("ok", "yes", "")
    assert (shared["outcome"], shared["rank"]) == ("wrong", "")
    assert shared["detail"].startswith(WORDS)
    (path,) = run.glob("trials/*-objects-sqlite/result.json")
    assert json.loads(path.read_text())["steps"][0]["facts"]["copy"] == "all there"


def test_updates_that_must_have_changed_something_are_commits(tmp_path: Path) -> None:
    with trials_here():
        rows = summary(run_suite(tmp_path, BANK, ("sqlite", "written-asked"), status=None))
    for step in ("pay", "up"):
        assert (rows[step, "sqlite"]["outcome"], rows[step, "sqlite"]["verified"]) == ("ok", "yes")
        assert "no rank: commits didn't reach the disk: it waited " in rows[step, "written-asked"]["detail"]


def test_sync_calls_are_counted_in_the_steps_of_a_run_with_ranks(tmp_path: Path) -> None:
    """Waits that are made up, and the harness's own: no floor finds them."""
    if reason := strace.unusable():
        if required("strace"):
            pytest.fail(f"strace is required: {reason}")
        pytest.skip(reason)
    rows = summary(run_suite(tmp_path, RATE, ("sqlite", "written-fifth"), "--rounds", "5", status=None))
    for step in ("insert", "rate"):
        honest, liar = rows[step, "sqlite"], rows[step, "written-fifth"]
        assert (honest["outcome"], honest["verified"]) == ("ok", "yes")
        assert "syncs not counted" not in honest["detail"]
        assert (liar["verified"], liar["rank"]) == ("no", "")
        assert "no rank: commits didn't reach the disk: " in liar["detail"]
        assert "sync calls for " in liar["detail"]


def test_where_no_floor_holds_and_no_sync_is_counted_a_footnote_says_so(tmp_path: Path) -> None:
    with trials_here():
        row = summary(run_suite(tmp_path, RATE, ("sqlite",), status=None))["rate", "sqlite"]
    assert (row["outcome"], row["verified"]) == ("ok", "yes")
    assert "syncs not counted: waits for the disk can't be told from others" in row["detail"]
