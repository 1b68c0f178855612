"""A step of transactions: the function that carries one out, what is committed and rolled back, what invariants find."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Self
from unittest.mock import ANY

import numpy as np
import pytest
from pydantic import TypeAdapter

from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.sql.dialect import Dialect
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.errors import NotVerified, TimedOut, Unsupported, WrongAnswer
from dbbench.loadgen.job import Job, Kept
from dbbench.loadgen.transaction_body import RolledBack, body
from dbbench.loadgen.transaction_draws import Group, Plan, Text
from dbbench.loadgen.transaction_mix import TransactionMix
from dbbench.results.facts import CheckedStepFacts
from dbbench.results.outcome import Outcome, described
from dbbench.suite.model import Tier
from dbbench.suite.parameters import Parameter
from dbbench.suite.steps.base import Clients, Step
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.statement import StatementStep
from dbbench.suite.steps.timed import Find, Rate
from dbbench.workloads import after, transaction
from dbbench.workloads.context import StepContext
from dbbench.workloads.transaction_reads import by_key, check_reads
from dbbench_plugins.sqlite import SQLite, SQLiteSession
from tests.unit.bank import STEP, changed, opened
from tests.unit.piped import piped


@pytest.fixture
def context(tmp_path: Path) -> Iterator[StepContext]:
    yield from opened(tmp_path)


def test_the_clients_do_what_the_books_say(context: StepContext) -> None:
    found = transaction.measure(STEP, context)
    context.data.accept(STEP, found)
    transaction.check(STEP, context)
    counts = found.facts["by_transaction"]
    refused = counts["refused"]
    assert sum(each["committed"] + each["rolled_back"] for each in counts.values()) == found.facts["calls"] == 600
    assert refused["rolled_back"] > 0
    assert counts["deposit"]["rolled_back"] == counts["look"]["rolled_back"] == 0
    assert set(found.facts["times"]) == {"service time", "deposit", "refused", "look"}
    assert (found.unit, found.direction) == ("1/s", "higher")
    assert context.data.left_by == {}  # nobody knows what is in the tables now


def test_a_transaction_by_which_an_invariant_grows_is_a_commit_that_changed_something() -> None:
    deposit, refused, _ = STEP.transactions
    balance, bookings, books = STEP.invariants
    drawn = deposit.model_copy(update={"parameters": {"count": Parameter(integer=(1, 3))}})
    assert not transaction._grows(deposit, [bookings]), "of none to three"
    assert transaction._grows(drawn, [books, bookings])
    assert not transaction._grows(deposit, [balance]), "of a parameter that is drawn anew each time"
    assert transaction._grows(refused, [bookings])
    assert transaction._grows(refused, [balance.model_copy(update={"grows": {"refused": "-amount"}})])


def test_a_second_step_counts_on_with_its_keys(context: StepContext) -> None:
    for name in ("first", "second"):
        step = changed(name=name)
        context.data.accept(step, transaction.measure(step, context))
        transaction.check(step, context)


def test_one_client_draws_what_several_processes_are_told(context: StepContext) -> None:
    mix = transaction.mix_of(STEP, context)
    told = piped(Job("statement", (), 0, 0, inputs=mix))
    assert isinstance(told.inputs, TransactionMix)
    assert told.inputs.committed({0: 150}, 2, {}) == mix.committed({0: 150}, 2, {})
    work = told.inputs.prepare(context.engine, context.session, 1, 2)
    assert len(list(work.given)) == 300


def test_fewer_calls_are_the_beginning_of_more(context: StepContext) -> None:
    """So what a client has made is known by their number alone."""
    mix = transaction.mix_of(changed(calls=5_000), context)
    whole = mix.committed({0: 2_500}, 1, {})
    parts = np.array([list(mix.committed({0: calls}, 1, {}).values()) for calls in (1, 1_023, 1_024, 1_500)])
    assert (np.diff(parts, axis=0) >= 0).all()
    assert parts.sum(axis=1).tolist() == [1, 1_023, 1_024, 1_500]
    assert sum(whole.values()) == 2_500
    one, two = (mix.added({0: calls}, 1, {}) for calls in (1_500, 1_501))
    assert all(0 <= two[name] - one[name] <= 300 for name in one)


def test_calls_for_a_time_or_at_a_rate_are_checked_as_well(context: StepContext) -> None:
    by_time = changed(name="by-time", calls=None, duration=0.3, warm_up=5)
    at_a_rate = changed(name="at-a-rate", calls=None, rate=Rate(per_second=50, seconds=1))
    for step, metric in ((by_time, "throughput"), (at_a_rate, "latency")):
        found = transaction.measure(step, context)
        context.data.accept(step, found)
        transaction.check(step, context)
        assert found.metric == metric
        counts = found.facts["by_transaction"].values()
        made = sum(each["committed"] + each["rolled_back"] for each in counts)
        assert made >= found.facts["calls"]


def test_facts_of_a_search_that_finds_no_rate_can_be_read(context: StepContext) -> None:
    step = changed(calls=None, clients=Clients(), find=Find(p50=1e-9, trial=0.05))
    found = transaction.measure(step, context)
    assert found.outcome is Outcome.NO_RATE
    assert TypeAdapter(CheckedStepFacts).validate_python(found.facts)["find"]["failed"] is None


def test_the_null_engine_goes_through_all_of_it(tmp_path: Path) -> None:
    for context in opened(tmp_path, registry.load("null")):
        found = transaction.measure(STEP, context)
    assert found.facts["calls"] == 600
    assert found.facts["by_transaction"]["refused"]["rolled_back"] == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_not_done_within_its_time_ends(context: StepContext, threads: int) -> None:
    step = changed(calls=10**6, time_limit=0.05, clients=Clients(threads=threads))
    with pytest.raises(TimedOut, match=r"not done within 0.05 s, the step's time_limit"):
        transaction.measure(step, context)
    assert described(TimedOut("x")) == (Outcome.TIMEOUT, "x")


def test_without_invariants_nothing_is_verified(context: StepContext) -> None:
    step = changed(invariants=())
    context.data.accept(step, transaction.measure(step, context))
    with pytest.raises(NotVerified):
        transaction.check(step, context)


def test_a_conflict_is_retried_and_counted_for_its_transaction(
    context: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = iter(range(3))

    def commit(session: SQLiteSession) -> None:
        if next(refused, None) is not None:
            raise sqlite3.OperationalError("database is locked")
        session.execute("COMMIT")

    monkeypatch.setattr(SQLiteSession, "commit", commit)
    found = transaction.measure(changed(clients=Clients(), transactions=STEP.transactions[:1], invariants=()), context)
    assert found.facts["retries"] == {"lock timeout": 3}
    assert found.facts["by_transaction"]["deposit"]["retries"] == {"lock timeout": 3}
    assert found.facts["calls"] == found.facts["by_transaction"]["deposit"]["committed"] == 600


def test_an_engine_without_transactions_is_refused(context: StepContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(context.engine), "missing_features", {"transactions": "it is a file"}, raising=False)
    with pytest.raises(Unsupported, match="has no transactions: it is a file"):
        transaction.measure(STEP, context)


# What is found


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "UPDATE Account SET Balance = Balance - 1 WHERE Id = 7",
            "balance: .* instead of .*, according to the clients'",
        ),
        ("DELETE FROM Booking WHERE Id = (SELECT MAX(Id) FROM Booking)", "bookings: "),
        (
            "UPDATE Account SET Balance = CASE Id WHEN 1 THEN Balance + 1 ELSE Balance - 1 END WHERE Id IN (1, 100)",
            "books: the query found 2 rows that must not exist",
        ),
    ],
)
def test_what_is_lost_is_found(context: StepContext, sql: str, words: str) -> None:
    """After the step somebody changes something."""
    context.data.accept(STEP, transaction.measure(STEP, context))
    context.session.execute(sql)  # type: ignore[attr-defined]
    with pytest.raises(WrongAnswer, match=words):
        transaction.check(STEP, context)


def test_a_commit_that_never_came_is_found_when_the_engine_is_opened_again(tmp_path: Path) -> None:
    """All sessions saw it until then."""

    class Forgetful(SQLite):
        forgets = False

        def open(self) -> None:
            super().open()
            if type(self).forgets:
                self.connection.execute("DELETE FROM Booking WHERE Id = (SELECT MAX(Id) FROM Booking)")

    for context in opened(tmp_path, Forgetful):
        context.setup = Setup(tmp_path, Tier.PROCESS)
        context.data.accept(STEP, transaction.measure(STEP, context))
        transaction.check(STEP, context)
        again = {"bank": partial(transaction.check_again, STEP, context, [])}
        assert after.check(context, ["load", "bank"], again) == {}
        Forgetful.forgets = True
        found = after.check(context, ["load", "bank"], again)
    assert found["bank"].startswith("bookings: ")


@pytest.mark.parametrize(
    ("later", "checked"),
    [
        ([], {"balance", "bookings", "books"}),
        (["SELECT COUNT(*) FROM Booking"], {"balance", "bookings", "books"}),
        (["INSERT INTO Booking (Id) VALUES (1)"], {"balance"}),
        (["DELETE FROM Account"], {"bookings"}),
        (["CALL whatever()"], set()),
    ],
)
def test_what_later_steps_may_have_changed_is_not_checked_again(
    context: StepContext, later: list[str], checked: set[str]
) -> None:
    steps: list[Step] = [
        QueryStep(kind="query", name="later", title="Later", sql=sql)
        if sql.startswith("SELECT")
        else StatementStep(kind="statement", name="later", title="Later", sql=sql)
        for sql in later
    ]
    context.session.execute("UPDATE Account SET Balance = 1")  # type: ignore[attr-defined]
    context.data.numbers[STEP.name] = {"balance": -1, "bookings": -1}
    wrong = set()
    for each in STEP.invariants:  # none of which holds
        try:
            transaction.check_again(changed(invariants=(each,)), context, steps)
        except WrongAnswer:
            wrong.add(each.name)
    assert wrong == checked


@pytest.mark.parametrize(
    ("sql", "adds"),
    [
        ("INSERT INTO t (id) VALUES (:id)", True),
        ("INSERT INTO t (id) VALUES (:id) ON CONFLICT(id) DO NOTHING", False),
        ("INSERT OR IGNORE INTO t (id) VALUES (:id)", False),
        ("INSERT IGNORE INTO t (id) VALUES (:id)", False),
        ("INSERT INTO t (SELECT id FROM u)", False),
        ("UPDATE t SET id = :id", False),
    ],
)
def test_an_insert_that_may_add_nothing_needs_no_commit_on_disk(sql: str, adds: bool) -> None:
    assert transaction._adds(sql) is adds


class Connection:
    """Notes what it is asked, and gives the rows that it has been told."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.rows = iter(rows)

    def execute(self, sql: str, values: tuple[Any, ...]) -> Self:
        self.asked.append((sql, values))
        return self

    def fetchone(self) -> Any:
        self.asked.append(("one", ()))
        return next(self.rows)

    def fetchall(self) -> Any:
        self.asked.append(("all", ()))
        return []


class OwnCall(SQLSession):
    """A session that prepares its calls by itself, and fetches nothing apart."""

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        def run(*values: Any) -> Any:
            self.connection.execute(sql, values)
            return self.connection.fetchone() if rows == 1 else self.connection.fetchall() if rows is None else None

        return run


class Fake(SQLEngine):
    name, title, license = "fake", "Fake", "MIT"
    sql = Dialect(placeholder="%s")
    durability = {Tier.POWER: {}}


def text(sql: str, *names: str, row: Sequence[str] = (), missing: str = "error") -> Text:
    return Text(sql.split("?"), names, row, missing, sql.startswith("SELECT"))


def carried_out(
    groups: Sequence[Group], values: tuple[Any, ...], own: Sequence[str] = (), rows: Sequence[Any] = (), *, direct: bool
) -> list[tuple[str, tuple[Any, ...]]]:
    connection = Connection(rows)
    session = (SQLSession if direct else OwnCall)(connection, Fake.sql)
    assert (session.driver_execute is not None) is direct
    plan = Plan("pay", 1, dict.fromkeys(own, ANY), groups, only_reads=False)
    body(Fake(Setup(Path(), Tier.POWER)), session, plan)(values)
    return connection.asked


both = pytest.mark.parametrize("direct", [True, False], ids=["driver's", "session's"])


@both
def test_each_statement_has_its_values_and_what_it_returns_is_fetched(*, direct: bool) -> None:
    asked = carried_out(
        [
            Group(None, {}, [text("BEGIN WORK"), text("SELECT ?", "b", row=["c", "d"])]),
            Group(None, {}, [text("UPDATE ?, ?, ?, ?", "d", "a", "c", "a"), text("SELECT ?", "d")]),
        ],
        (1, 2),
        own=["a", "b"],
        rows=[(3, 4)],
        direct=direct,
    )
    assert asked == [
        ("BEGIN WORK", ()), ("SELECT %s", (2,)), ("one", ()), ("UPDATE %s, %s, %s, %s", (4, 1, 3, 1)),
        ("SELECT %s", (4,)), ("all", ()),
    ]  # fmt: skip


@both
def test_a_group_is_carried_out_for_each_of_its_values(*, direct: bool) -> None:
    groups = [
        Group("n", {"x": ANY}, [text("INSERT ?, ?", "a", "x"), text("SELECT ?", "x", row=["y"]), text("SET ?", "y")]),
        Group(2, {}, [text("DELETE ?", "a")]),
        Group(None, {}, [text("END ?", "a")]),
    ]
    asked = carried_out(groups, (7, 2, [(8,), (9,)], [(), ()]), ["a", "n"], [("p",), ("q",)], direct=direct)
    assert [values for sql, values in asked if sql.startswith("INSERT")] == [(7, 8), (7, 9)]
    assert [values for sql, values in asked if sql.startswith("SET")] == [("p",), ("q",)]
    assert asked[-3:] == [("DELETE %s", (7,)), ("DELETE %s", (7,)), ("END %s", (7,))]


@both
@pytest.mark.parametrize("row", [None, (1, None)])
def test_a_row_that_is_missing(row: Any, *, direct: bool) -> None:
    def left(missing: str) -> list[str]:
        groups = [Group(None, {}, [text("SELECT 1", row=["a", "b"], missing=missing), text("AFTER")])]
        return [sql for sql, _ in carried_out(groups, (), rows=[row], direct=direct)]

    assert left("skip") == ["SELECT 1", "one"]
    with pytest.raises(RolledBack):
        left("rollback")
    with pytest.raises(WrongAnswer, match="no row, or a NULL in it, in the transaction pay: SELECT 1"):
        left("error")


@both
def test_of_a_repetition_only_its_own_rest_is_left_out(*, direct: bool) -> None:
    first = text("SELECT ?", "x", row=["y"], missing="skip")
    groups = [Group(3, {"x": ANY}, [first, text("SET ?", "y")]), Group(None, {}, [text("END")])]
    asked = carried_out(groups, ([(1,), (2,), (3,)],), rows=[(5,), None, (6,)], direct=direct)
    assert [each for each in asked if each[0] in ("SET %s", "END")] == [("SET %s", (5,)), ("SET %s", (6,)), ("END", ())]


@both
def test_a_row_of_another_width_is_wrong(*, direct: bool) -> None:
    groups = [Group(None, {}, [text("SELECT 1", row=["a"])])]
    with pytest.raises(WrongAnswer, match="a row of 2 columns in the transaction pay, where `row` names 1"):
        carried_out(groups, (), rows=[(1, 2)], direct=direct)


def test_nothing_that_a_suite_says_is_run() -> None:
    """Not even a name that the suite's own checks would have refused."""
    wicked = "a, __import__('os').abort()"
    groups = [Group(None, {}, [text("SELECT ?\n'''\"", wicked, row=[f"b{wicked}"]), text("?", f"b{wicked}")])]
    asked = carried_out(groups, (1,), [wicked], [(2,)], direct=True)
    assert asked == [("SELECT %s\n'''\"", (1,)), ("one", ()), ("%s", (2,))]


@pytest.mark.parametrize(
    ("sql", "changed"),
    [
        ("UPDATE Account SET Balance = Balance + :amount WHERE Id = :account", False),
        ("UPDATE Account SET Name = :name WHERE Id = :account", True),
        ("INSERT INTO Booking (Id, Name) VALUES (:id, (SELECT Name FROM Account WHERE Id = 1))", False),
        ("INSERT INTO Account (Id, Name) VALUES (:id, :name)", False),
        ("INSERT INTO Account (Id, Name) VALUES (:id, :name) ON CONFLICT DO NOTHING", True),
        ("DELETE FROM Account WHERE Id = :account", True),
        ("CALL close_the_books(Account)", True),
        ("update account set name = :name where id = :account", True),
        ("UPDATE Booking JOIN Account ON Account.Id = Booking.Account SET Account.Name = :name", True),
        ("SELECT Name FROM Account", False),
    ],
)
def test_reads_are_compared_in_columns_that_nothing_has_changed(context: StepContext, sql: str, changed: bool) -> None:
    read = by_key("SELECT Name, Balance FROM Account WHERE Id = :account", context.tables)
    assert read is not None
    context.data.texts = ["UPDATE Account SET Balance = 0", sql]
    check_reads([Kept(0, 0, [(1, "name 219", 7)])], [read], context)
    wrong = Kept(0, 0, [(1, "name 219", 7), (2, "name 219", 7), (10**6, "new", 7)])
    said = r"from Account in timed transactions: column Name: 'name 219' .*1 of 2 rows"
    with nullcontext() if changed else pytest.raises(WrongAnswer, match=said):
        check_reads([wrong], [read], context)


def test_a_read_may_return_the_key_too(context: StepContext) -> None:
    read = by_key("SELECT Id, Name FROM Account WHERE Id = :account", context.tables)
    assert read is not None
    context.data.texts = []
    check_reads([Kept(0, 0, [(1, 1, "name 219")])], [read], context)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MAX(Id) FROM Account WHERE Id = :account",
        "SELECT Name FROM Account WHERE Name = :name",
        "SELECT Name FROM Account WHERE Id = :account AND Balance > 0",
        "SELECT Name FROM Nowhere WHERE Id = :account",
    ],
)
def test_only_reads_of_one_row_by_its_key_are_kept(context: StepContext, sql: str) -> None:
    assert by_key(sql, context.tables) is None
