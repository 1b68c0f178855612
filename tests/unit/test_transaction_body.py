"""The statements of a transaction as one function: what is called with which values, and what it makes of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from dbbench.engine.setup import Setup
from dbbench.engine.sql.dialect import Dialect
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.errors import WrongAnswer
from dbbench.loadgen.transaction_body import RolledBack, body
from dbbench.loadgen.transaction_draws import Group, Plan, Text
from dbbench.suite.model import Tier


class Connection:
    """Notes what it is asked, and gives the rows that it has been told."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.rows = iter(rows)

    def execute(self, sql: str, values: tuple[Any, ...]) -> Connection:
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
        ("BEGIN WORK", ()),
        ("SELECT %s", (2,)),
        ("one", ()),
        ("UPDATE %s, %s, %s, %s", (4, 1, 3, 1)),
        ("SELECT %s", (4,)),
        ("all", ()),
    ]


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
