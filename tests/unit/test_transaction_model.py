"""A step of transactions in a suite file: what it says, and each fault with its place."""

from __future__ import annotations

import pytest

from dbbench.errors import SuiteError
from dbbench.suite.loader import parse_suite
from dbbench.suite.steps.transaction import TransactionStep
from tests.unit.bank import TEXT, validated


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
        (("sql: SELECT COUNT(*) FROM Booking", "sql: DELETE FROM Booking"), "invariants[1].sql", "one SELECT, with no semicolon"),
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


def test_a_time_limit_is_for_a_number_of_calls() -> None:
    assert validated(time_limit="1s").time_limit == 1
    with pytest.raises(ValueError, match="end by themselves"):
        validated(time_limit="1s", calls=None, duration="1s")
