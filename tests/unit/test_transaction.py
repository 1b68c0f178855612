"""A step of transactions: what is drawn, what is committed and rolled back, and what its invariants find."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbbench.datasets.cache import Files, materialise
from dbbench.engine import registry
from dbbench.engine.setup import Setup
from dbbench.errors import NotVerified, SuiteError, TimedOut, Unsupported, WrongAnswer
from dbbench.loadgen.drawn_parameters import Known
from dbbench.loadgen.job import Job
from dbbench.loadgen.transaction_draws import Draws
from dbbench.loadgen.transaction_mix import TransactionMix, _pause
from dbbench.report.steps import wording
from dbbench.results.outcome import Outcome
from dbbench.run.worker import described
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Tier
from dbbench.suite.parameters import Parameter
from dbbench.suite.sql_text import split_parameters
from dbbench.suite.steps.base import Clients, Step
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.statement import StatementStep
from dbbench.suite.steps.timed import Rate
from dbbench.suite.steps.transaction import Think, TransactionStep
from dbbench.workloads import after, transaction
from dbbench.workloads.context import StepContext
from dbbench_plugins.sqlite import SQLite, SQLiteSession
from tests.unit.loaded import loaded

TEXT = (Path(__file__).parent / "bank.yaml").read_text("utf-8")
SUITE = parse_suite(TEXT, "bank.yaml")
LOAD, STEP = SUITE.scenarios[0].steps
assert isinstance(STEP, TransactionStep)


def known(**more: Any) -> Known:
    whole = {"ranges": {}, "next_keys": {}, "types": {}, "forms": {}, "folder": "", "seed": 1}
    return Known(**{**whole, **more})


def drawn(parameter: dict[str, Any], count: int = 5_000, **more: Any) -> list[Any]:
    draw = known(**more).draw(Parameter.model_validate(parameter))
    found: list[Any] = draw(np.random.default_rng(1), count).tolist()
    return found


@pytest.fixture(scope="module")
def files() -> Files:
    return materialise(SUITE.datasets["bank"])


@pytest.fixture
def context(files: Files, tmp_path: Path) -> Iterator[StepContext]:
    yield from loaded(SUITE, files, tmp_path)


def changed(**more: Any) -> TransactionStep:
    return STEP.model_copy(update=more)  # type: ignore[return-value]


# Parameters


def test_whole_numbers_reach_both_ends() -> None:
    for how in ("uniform", "zipfian", "latest"):
        assert set(drawn({"integer": [3, 7], "distribution": how})) == {3, 4, 5, 6, 7}
    assert drawn({"integer": [5, 5]}, 3) == [5, 5, 5]


def test_zipfian_has_favourites_and_latest_the_last() -> None:
    numbers = np.bincount(drawn({"integer": [0, 999], "distribution": "zipfian"}), minlength=1_000)
    assert numbers.max() > 10 * np.median(numbers) + 100
    assert np.bincount(drawn({"integer": [0, 999], "distribution": "latest"})).argmax() == 999


def test_days_are_days_or_texts_as_the_engine_takes_them() -> None:
    days = {str(day) for day in drawn({"date": ["2026-02-27", "2026-03-01"]})}
    assert days == {"2026-02-27", "2026-02-28", "2026-03-01"}
    assert set(drawn({"date": ["2026-02-28", "2026-02-28"]}, forms={"date": "text"})) == {"2026-02-28"}


def test_texts_and_choices() -> None:
    texts = drawn({"text": "a-##b"})
    assert all(text.startswith("a-") and text.endswith("b") and text[2:4].isdigit() for text in texts)
    assert len(set(texts)) == 100
    assert set(drawn({"one_of": ["x", "yy"]})) == {"x", "yy"}
    assert set(drawn({"one_of": [1, 2]})) == {1, 2}


def test_a_column_is_drawn_from_its_own_values(files: Files) -> None:
    more = {"types": {"Account.Name": "varchar"}, "folder": str(files.directory)}
    assert set(drawn({"draw": "Account.Name"}, **more)) == set(files.table("Account")["Name"].to_pylist())
    assert set(drawn({"draw": "Account.Id"}, ranges={"Account.Id": (4, 6)})) == {4, 5, 6}


def test_no_two_clients_and_no_two_counters_draw_the_same_new_key() -> None:
    keys = []
    for lane in range(2):
        for number in range(3):
            draw = known(next_keys={"T.Id": 10}).counter("T.Id", lane, 2, number, 3)
            keys += [*draw(np.random.default_rng(1), 7).tolist(), *draw(np.random.default_rng(1), 7).tolist()]
    assert len(set(keys)) == len(keys) == 84
    assert min(keys) == 10


def test_parameters_are_found_outside_texts_casts_and_comments() -> None:
    pieces, names = split_parameters("SELECT ':a', b::int -- :c\n FROM T WHERE x = :d AND y=:e/* :f */")
    assert names == ("d", "e")
    assert "?".join(pieces) == "SELECT ':a', b::int -- :c\n FROM T WHERE x = ? AND y=?/* :f */"


# What is done


def test_the_clients_do_what_the_books_say(context: StepContext) -> None:
    found = transaction.measure(STEP, context)
    context.accept(STEP, found)
    transaction.check(STEP, context)
    counts = found.facts["by_transaction"]
    refused = counts["refused"]
    assert sum(each["committed"] + each["rolled_back"] for each in counts.values()) == found.facts["calls"] == 600
    assert refused["rolled_back"] > 0
    assert counts["deposit"]["rolled_back"] == counts["look"]["rolled_back"] == 0
    assert set(found.facts["times"]) == {"service time", "deposit", "refused", "look"}
    assert (found.unit, found.direction) == ("1/s", "higher")
    assert context.left_by == {}  # nobody knows what is in the tables now


def test_a_second_step_counts_on_with_its_keys(context: StepContext) -> None:
    for name in ("first", "second"):
        step = changed(name=name)
        context.accept(step, transaction.measure(step, context))
        transaction.check(step, context)


def test_one_client_draws_what_several_processes_are_told(context: StepContext) -> None:
    mix = transaction.mix_of(STEP, context)
    told = Job.from_json(Job("statement", (), 0, 0, inputs=mix).to_json())
    assert isinstance(told.inputs, TransactionMix)
    assert asdict(told.inputs) == asdict(mix)
    work = told.inputs.prepare(context.engine, context.session, 1, 2)
    assert len(list(work.given)) == mix.share(1, 2) == 300


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
        context.accept(step, found)
        transaction.check(step, context)
        assert found.metric == metric
        counts = found.facts["by_transaction"].values()
        made = sum(each["committed"] + each["rolled_back"] for each in counts)
        assert made >= found.facts["calls"]


def test_the_null_engine_goes_through_all_of_it(files: Files, tmp_path: Path) -> None:
    for context in loaded(SUITE, files, tmp_path, registry.load("null")):
        found = transaction.measure(STEP, context)
    assert found.facts["calls"] == 600
    assert found.facts["by_transaction"]["refused"]["rolled_back"] == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_not_done_within_its_time_ends(context: StepContext, threads: int) -> None:
    step = changed(calls=10**6, time_limit=0.05, clients=Clients(threads=threads))
    with pytest.raises(TimedOut, match=r"not done within 0.05 s, the step's time_limit"):
        transaction.measure(step, context)
    assert described(TimedOut("x")) == (Outcome.TIMEOUT, "x")


def test_a_time_limit_is_for_a_number_of_calls() -> None:
    document = {**STEP.model_dump(mode="json", exclude_defaults=True), "time_limit": "1s"}
    assert TransactionStep.model_validate(document).time_limit == 1
    del document["calls"]
    with pytest.raises(ValueError, match="end by themselves"):
        TransactionStep.model_validate({**document, "duration": "1s"})


# Think times


def thoughtful(**more: Any) -> TransactionStep:
    return TransactionStep.model_validate({**STEP.model_dump(mode="json", exclude_defaults=True), **more})


@pytest.mark.parametrize(
    ("think", "seconds", "words"),
    [
        ("2s", (2, 0, 0), "2 s"),
        (0.5, (0.5, 0, 0), "0.5 s"),
        ({"mean": "12s"}, (0, 12, 120), "12 s on average, at most 120 s"),
        ({"constant": "18s", "mean": 12, "at_most": "2min"}, (18, 12, 120), "18 s and 12 s on average, at most 120 s"),
    ],
)
def test_think_times_are_stated(think: Any, seconds: tuple[float, ...], words: str) -> None:
    found = thoughtful(think=think).think
    assert found is not None
    assert (found.seconds, str(found)) == (seconds, words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"think": {}}, "a time, like 2s, or {mean: 2s}"),
        ({"think": "soon"}, "a time, like 500ms"),
        ({"think": 0}, "greater than 0"),
        ({"think": {"mean": 2, "at_most": 1}}, "not below it"),
        ({"think": {"constant": 2, "at_most": 3}}, "only with a `mean`"),
        ({"think": 1, "calls": None, "rate": {"per_second": 10, "seconds": 10}}, "calls come at moments of their own"),
        ({"think": 1, "calls": None, "find": {"p99": "10ms"}}, "calls come at moments of their own"),
    ],
)
def test_think_times_that_say_nothing_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        thoughtful(**more)


def test_thoughts_are_of_each_transaction_and_change_no_call(context: StepContext) -> None:
    plain = transaction.mix_of(STEP, context)
    first = STEP.transactions[0].model_copy(update={"think": Think(mean=2.0, at_most=5.0)})
    step = changed(think=Think(constant=3.0), transactions=(first, *STEP.transactions[1:]))
    mix = transaction.mix_of(step, context)
    assert [plan.think for plan in mix.plans] == [(0, 2, 5), (3, 0, 0), (3, 0, 0)]
    kinds = np.array([0, 1, 2] * 20_000)
    found = Draws(mix.plans, mix.known, 0, 1).thoughts()(kinds)
    drawn_, always = found[kinds == 0], found[kinds > 0]
    assert set(always) == {3.0}
    # The mean of min(X, 5) for an exponential X of mean 2 is 2 * (1 - exp(-2.5)).
    assert drawn_.mean() == pytest.approx(2 * (1 - np.exp(-2.5)), rel=0.02)
    assert drawn_.max() == 5.0
    assert (found == Draws(mix.plans, mix.known, 0, 1).thoughts()(kinds)).all()
    assert (found != Draws(mix.plans, mix.known, 1, 2).thoughts()(kinds)).any()
    calls = [each.drawn(0, 1, 100) for each in (plain, mix)]
    assert all((one[0] == other[0]).all() for one, other in zip(*calls, strict=True))


@pytest.mark.parametrize("threads", [1, 2])
def test_thoughts_are_in_the_throughput_alone(context: StepContext, threads: int) -> None:
    step = changed(calls=20, think=Think(constant=0.004), clients=Clients(threads=threads))
    found = transaction.measure(step, context)
    context.accept(step, found)
    transaction.check(step, context)
    committed = sum(each["committed"] for each in found.facts["by_transaction"].values())
    assert found.samples[0] <= committed / 20 * threads / 0.004
    assert found.facts["times"]["service time"]["count"] == 20


def test_thoughts_are_told(context: StepContext) -> None:
    step = thoughtful(think="2s")
    assert wording(step).work(step).endswith("; clients think 2 s after each")
    first = step.transactions[0].model_copy(update={"think": Think(mean=1.0)})
    step = step.model_copy(update={"think": None, "transactions": (first, *step.transactions[1:])})
    told = f"Clients think 1 s on average, at most 10 s after {first.name}."
    assert told in wording(step).conditions(step, [], [], None)


def test_a_thought_ends_when_the_clients_are_to_end() -> None:
    _pause([ValueError()], 3_600)


def test_without_invariants_nothing_is_verified(context: StepContext) -> None:
    step = changed(invariants=())
    context.accept(step, transaction.measure(step, context))
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


def spoilt(context: StepContext, sql: str, words: str) -> None:
    """After the step somebody changes something: the check finds it."""
    context.accept(STEP, transaction.measure(STEP, context))
    context.session.execute(sql)  # type: ignore[attr-defined]
    with pytest.raises(WrongAnswer, match=words):
        transaction.check(STEP, context)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE Account SET Balance = Balance - 1 WHERE Id = 7", "balance: .* instead of .*, by what the clients"),
        ("DELETE FROM Booking WHERE Id = (SELECT MAX(Id) FROM Booking)", "bookings: "),
        (
            "UPDATE Account SET Balance = CASE Id WHEN 1 THEN Balance + 1 ELSE Balance - 1 END WHERE Id IN (1, 100)",
            "books: the query found 2 rows that must not be",
        ),
    ],
)
def test_what_is_lost_is_found(context: StepContext, sql: str, words: str) -> None:
    spoilt(context, sql, words)


def test_a_commit_that_never_came_is_found_when_the_engine_is_opened_again(files: Files, tmp_path: Path) -> None:
    """All sessions saw it until then."""

    class Forgetful(SQLite):
        forgets = False

        def open(self) -> None:
            super().open()
            if type(self).forgets:
                self.connection.execute("DELETE FROM Booking WHERE Id = (SELECT MAX(Id) FROM Booking)")

    for context in loaded(SUITE, files, tmp_path, Forgetful):
        context.setup = Setup(tmp_path, Tier.PROCESS)
        context.accept(STEP, transaction.measure(STEP, context))
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
    context: StepContext, monkeypatch: pytest.MonkeyPatch, later: list[str], checked: set[str]
) -> None:
    steps: list[Step] = [
        (QueryStep if sql.startswith("SELECT") else StatementStep).model_validate(
            {
                "kind": "query" if sql.startswith("SELECT") else "statement",
                "name": "later",
                "title": "Later",
                "sql": sql,
            }
        )
        for sql in later
    ]
    held: list[str] = []
    monkeypatch.setattr(transaction, "_hold", lambda invariants, *_: held.extend(each.name for each in invariants))
    context.numbers[STEP.name] = {}
    transaction.check_again(STEP, context, steps)
    assert set(held) == checked


# Bad input


def faults(*changes: tuple[str, str]) -> list[tuple[str, str]]:
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(SuiteError) as caught:
        parse_suite(text, "bank.yaml")
    return [(fault.path.removeprefix("scenarios[0].steps[1]."), fault.expected) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        (("= :account\n", "= :acount\n"), "transactions[0].statements[0].statements[0].sql", "not :acount"),
        (("{draw: Account.Id, dis", "{draw: Account.No, dis"), "transactions[0].parameters.account.draw", "a column of the dataset"),
        (("luck: {", "lack: {integer: [1, 2]}\n              luck: {"), "transactions[1].parameters.lack", "that a statement uses, as :lack"),
        (("day: {date: [2026-02-01, 2026-02-28]}", 'day: {text: "##"}'), "transactions[0].statements[0].statements[1].sql", "days for Booking.Day; the parameter day gives texts"),
        (("booking: {counter: Booking.Id}", "booking: {integer: [1, 999999]}"), "transactions[0].statements[0].statements[1].sql", "two clients might draw the same"),
        (("{counter: Booking.Id}", "{counter: Booking.Amount}"), "transactions[0].statements[0].parameters.booking.counter", "the primary key of a table"),
        (("repeat: count", "repeat: day"), "transactions[0].statements[0].repeat", "drawn from integers"),
        (("count: {integer: [0, 3]}", "count: {integer: [3, 0]}"), "transactions[0].parameters.count", "the last no less than the first"),
        (("{integer: [1, 4]}", "{intger: [1, 4]}"), "transactions[1].parameters.luck.intger", "one of the keys counter, date"),
        (("{integer: [1, 4]}", "{integer: [1, 4], text: x}"), "transactions[1].parameters.luck", "exactly one of the keys"),
        (("row: [lucky], ", ""), "transactions[1].statements[2].missing", "`row` beside it"),
        (("row: [last]", "row: [name]"), "transactions[2].statements[1].row[0]", "a name that the transaction doesn't have yet"),
        (("FROM Account, grows", "FROM Acount, grows"), "invariants[0].sql", "not 'Acount'"),
        (("{deposit: amount,", "{deposit: day,"), "invariants[0].grows.deposit", "(count, amount)"),
        (("{deposit: amount,", "{depot: amount,"), "invariants[0].grows.depot", "one of the transactions"),
        (("sql: SELECT COUNT(*) FROM Booking", "sql: DELETE FROM Booking"), "invariants[1].sql", "a query, which returns rows"),
        (("WHERE Id = :account AND :luck > 1", "WHERE Name LIKE 'n%' AND Id = :account AND :luck > 1"), "transactions[1].statements[2].sql", "SQL without %"),
        (("WHERE Name = :name", "WHERE Id = :name"), "transactions[2].statements[0].sql", "whole numbers for Account.Id; the parameter name gives texts"),
        (("name: refused", "name: deposit"), "", "a name of its own"),
    ],
)  # fmt: skip
def test_a_fault_is_told_where_it_stands(change: tuple[str, str], path: str, words: str) -> None:
    found = faults(change)
    assert any(words in expected for at, expected in found), found
    if path:
        assert any(at == path and words in expected for at, expected in found), found


def test_a_row_of_a_statement_that_gives_none() -> None:
    sql = '{sql: "SELECT Id FROM Account WHERE Id = :account AND :luck > 1"'
    found = faults((sql, '{sql: "UPDATE Account SET Balance = 0 WHERE Id = :account AND :luck > 1"'))
    assert found == [
        ("transactions[1].statements[2].sql", "a statement that returns rows, as `row` names what is in them")
    ]


def test_its_statements_are_those_of_each_dialect() -> None:
    """By them it is known which tables a step may have changed."""
    shape = {"name": "s", "title": "S", "kind": "transaction", "calls": 1}
    statements = [{"sql": "DELETE FROM A", "dialects": {"duckdb": "DELETE FROM B"}}, {"sql": "SELECT 1 FROM C"}]
    step = TransactionStep.model_validate({**shape, "transactions": [{"name": "t", "statements": statements}]})
    assert step.statements == {
        "": "DELETE FROM A; SELECT 1 FROM C",
        "duckdb": "DELETE FROM B; SELECT 1 FROM C",
    }
