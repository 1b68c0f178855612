"""How a step states transactions and think times, and what its clients make of the latter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbbench.loadgen.transaction_draws import Draws
from dbbench.report.steps import wording
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.transaction import Think, TransactionStep
from dbbench.workloads import transaction
from dbbench.workloads.context import StepContext
from tests.unit.bank import STEP, TEXT, changed, opened, validated
from tests.unit.refused import refused, rewritten


@pytest.fixture
def context(tmp_path: Path) -> Iterator[StepContext]:
    yield from opened(tmp_path)


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
    found = validated(think=think).think
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
        validated(**more)


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
    context.data.accept(step, found)
    transaction.check(step, context)
    committed = sum(each["committed"] for each in found.facts["by_transaction"].values())
    assert found.samples[0] <= committed / 20 * threads / 0.004
    assert found.facts["times"]["service time"]["count"] == 20


def test_thoughts_are_told(context: StepContext) -> None:
    step = validated(think="2s")
    assert wording(step).work(step).endswith("; clients think 2 s after each")
    first = step.transactions[0].model_copy(update={"think": Think(mean=1.0)})
    step = step.model_copy(update={"think": None, "transactions": (first, *step.transactions[1:])})
    told = f"Clients think 1 s on average, at most 10 s after {first.name}."
    assert told in wording(step).conditions(step, [], [], None)


def test_a_thought_ends_when_the_clients_are_to_end(context: StepContext) -> None:
    mix = transaction.mix_of(changed(think=Think(constant=3_600.0)), context)
    work = mix.prepare(context.engine, context.session, 0, 1)
    mix.reasons.append(ValueError())
    work.pause(3_600)


def faults(*changes: tuple[str, str]) -> list[tuple[str, str]]:
    found = refused(rewritten(TEXT, *changes)).faults
    return [(fault.path.removeprefix("scenarios[0].steps[1]."), fault.expected) for fault in found]


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
        (("row: [last]", "row: [name]"), "transactions[2].statements[2].row[0]", "a name that the transaction doesn't have yet"),
        (("FROM Account, grows", "FROM Acount, grows"), "invariants[0].sql", "not 'Acount'"),
        (("{deposit: amount,", "{deposit: day,"), "invariants[0].grows.deposit", "(count, amount)"),
        (("{deposit: amount,", "{depot: amount,"), "invariants[0].grows.depot", "one of the transactions"),
        (("sql: SELECT COUNT(*) FROM Booking", "sql: DELETE FROM Booking"), "invariants[1].sql", "one SELECT, with no semicolon"),
        (("WHERE Id = :account AND :luck > 1", "WHERE Name LIKE 'n%' AND Id = :account AND :luck > 1"), "transactions[1].statements[2].sql", "SQL without %"),
        (("WHERE Name = :name", "WHERE Id = :name"), "transactions[2].statements[0].sql", "whole numbers for Account.Id; the parameter name gives texts"),
        (("name: refused", "name: deposit"), "", "a name of its own"),
    ],
)  # fmt: skip
def test_a_fault_is_told_where_it_stands(change: tuple[str, str], path: str, words: str) -> None:
    found = faults(change)
    assert any(path in ("", at) and words in expected for at, expected in found), found


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
    assert step.statements == {"": "DELETE FROM A; SELECT 1 FROM C", "duckdb": "DELETE FROM B; SELECT 1 FROM C"}


def test_a_time_limit_is_for_a_number_of_calls() -> None:
    assert validated(time_limit="1s").time_limit == 1
    with pytest.raises(ValueError, match="end by themselves"):
        validated(time_limit="1s", calls=None, duration="1s")
