"""Queries and statements whose parameters are drawn for each call: the same for all engines, prepared once, and verified."""

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pyarrow as pa
import pytest

from dbbench.datasets.cache import Files, materialise
from dbbench.engine import fetch, registry
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.loadgen.job import ClientTimings, Job, Kept
from dbbench.loadgen.kept_calls import kept_places
from dbbench.loadgen.query_calls import DrawnCalls
from dbbench.report.steps import wording
from dbbench.results.outcome import Outcome
from dbbench.suite.changes import Changes
from dbbench.suite.loader import parse_suite
from dbbench.suite.parameters import Parameter
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.statement import Check, StatementStep
from dbbench.testing.suite_text import suite_text
from dbbench.workloads import drawn_query, query, statement
from dbbench.workloads.context import StepContext
from dbbench.workloads.drawn import drawn_calls
from dbbench_plugins.sqlite import SQLite, SQLiteSession
from tests.tables import one_table
from tests.unit.loaded import loaded
from tests.unit.piped import piped
from tests.unit.refused import refused, rewritten

TEXT = suite_text(
    "shop",
    one_table(
        "Orders",
        300,
        "Buyer: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 20}}}",
        'Price: {type: "decimal(7, 2)", values: {kind: quantiles, points: {0: 1, 1: 99}, step: 0.25}, null_every: 11}',
        "Day: {type: date, values: {kind: days, first: 2026-01-01, last: 2026-01-31}}",
    ),
    """
    - {kind: load, name: load, title: Load}
    - kind: query
      name: of-buyer
      title: What a buyer ordered
      sql: SELECT Id, Price, Day FROM Orders WHERE Buyer = :buyer AND Day >= :since
      read: Price
      iterations: 60
      parameters:
        buyer: {draw: Orders.Buyer, distribution: zipfian}
        since: {date: [2026-01-01, 2026-01-31]}
    - kind: statement
      name: order
      title: Order
      sql: INSERT INTO Orders (Id, Buyer, Price, Day) VALUES (:id, :buyer, 1.5, '2026-02-01')
      iterations: 50
      parameters: {id: {counter: Orders.Id}, buyer: {integer: [1, 20]}}
      adds: {table: Orders, rows: 1}
      check: {sql: "SELECT MAX(Price) FROM Orders WHERE Day = '2026-02-01'", columns: [Orders.Price], rows: [[1.5]]}
    """,
)
SUITE = parse_suite(TEXT, "shop.yaml")
LOAD, QUERY, ORDER = SUITE.scenarios[0].steps
assert isinstance(QUERY, QueryStep)
assert isinstance(ORDER, StatementStep)


@pytest.fixture(scope="module")
def files() -> Files:
    return materialise(SUITE.datasets["shop"])


@pytest.fixture
def context(files: Files, tmp_path: Path) -> Iterator[StepContext]:
    yield from loaded(SUITE, files, tmp_path)


def changed(step: Any, **more: Any) -> Any:
    return step.model_copy(update=more)


# What is kept and drawn


def test_of_ever_longer_ranges_of_calls_two_are_kept() -> None:
    places = list(islice(kept_places(random.Random("1 0")), 19))
    assert places == sorted(set(places))
    assert places[0] == 0
    for octave in range(1, 10):
        assert len([place for place in places if 2**octave - 1 <= place < 2 ** (octave + 1) - 1]) == 2
    assert places != list(islice(kept_places(random.Random("1 1")), 19))


def test_what_a_call_was_called_with_is_known_again(context: StepContext) -> None:
    calls = drawn_calls(QUERY, context)
    given = list(islice(calls.values(1, 2), 3_000))
    for place, values in calls.named(1, 2, [2_999, 0, 1_024]).items():
        assert tuple(values.values()) == given[place]
    assert len(set(given)) > 100


def test_processes_are_told_all_and_tell_what_they_kept(context: StepContext) -> None:
    calls = drawn_calls(QUERY, context, column=1)
    told = piped(Job("query", (), 0, 5, inputs=calls, each=True)).inputs
    assert isinstance(told, DrawnCalls)
    assert list(islice(told.values(0, 1), 50)) == list(islice(calls.values(0, 1), 50))
    kept = [Kept(1, 7, [(1, None, "x"), (2, None, "y")]), Kept(1, 8, [])]
    again = piped(ClientTimings(kept=kept)).kept
    assert [(each.client, each.place) for each in again] == [(1, 7), (1, 8)]
    assert [each.table for each in again] == [each.table for each in kept]
    assert pa.types.is_null(again[0].table.schema.types[1])


# Queries


def test_each_call_takes_its_own_values_and_some_are_compared(context: StepContext) -> None:
    prepare = SQLiteSession.prepare_call
    with patch.object(SQLiteSession, "prepare_call", autospec=True, side_effect=prepare) as prepared:
        found = query.measure(QUERY, context)
    assert (found.outcome, found.detail) == (Outcome.OK, "")
    assert len(found.samples) == 60
    assert len(found.warm_up) == QUERY.warm_up_calls == 1
    assert 5 <= found.facts["compared"] <= drawn_query.COMPARED
    (call,) = prepared.call_args_list
    assert call.args[1].count("?") == 2
    query.check(QUERY, context)


@pytest.mark.parametrize(
    "more", [{"clients": Clients(threads=2)}, {"clients": Clients(processes=2)}, {"duration": 1}], ids=str
)
def test_clients_and_durations(context: StepContext, more: dict[str, Any]) -> None:
    found = query.measure(changed(QUERY, **more), context)
    assert (found.outcome, found.detail) == (Outcome.OK, "")
    assert found.facts["compared"] == drawn_query.COMPARED


def liar(lie: Any) -> type[SQLite]:
    class Session(SQLiteSession):
        def prepare_call(self, sql: str, rows: int | None = None) -> Any:
            run, first = super().prepare_call(sql, rows), []

            def call(*values: Any) -> Any:
                given = run(*values)
                first.append(given)
                return lie(given, first)

            return call

    class Lying(SQLite):
        session_class = Session

    return Lying


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda _given, calls: calls[0], "with buyer = "),
        (lambda given, _calls: given[1:], "rows instead of"),
        (lambda given, _calls: [(key, 1.0, day) for key, _, day in given], "column Price"),
        (lambda given, _calls: given[:1] * len(given), "column Id"),
    ],
    ids=["keeps the first answer", "a row less", "another value", "one row again and again"],
)
def test_an_engine_that_answers_otherwise_is_wrong(files: Files, tmp_path: Path, lie: Any, words: str) -> None:
    for context in loaded(SUITE, files, tmp_path, liar(lie)):
        found = query.measure(QUERY, context)
    assert found.outcome is Outcome.WRONG
    assert words in found.detail
    assert found.detail.startswith("with buyer = ")


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_come_after_the_call_are_wrong(files: Files, tmp_path: Path, threads: int) -> None:
    """Filled in when the last call has returned, which an engine can't know while the clock runs."""
    given: list[tuple[list[Any], list[Any]]] = []

    def later(rows: list[Any], _calls: Any) -> list[Any]:
        given.append(([], rows))
        return given[-1][0]

    def compute(*asked: Any) -> Any:
        for empty, rows in given:
            empty[:] = rows
        return context.compute(*asked)

    for context in loaded(SUITE, files, tmp_path, liar(later)):
        step = changed(QUERY, clients=Clients(threads=threads))
        found = query.measure(step, replace(context, compute=compute))
    assert found.outcome is Outcome.WRONG
    assert "0 rows instead of" in found.detail


def test_calls_are_compared_with_what_statements_have_made_of_the_data(context: StepContext) -> None:
    sql = "UPDATE Orders SET Price = 2.5 WHERE Buyer > 3"
    context.session.connection.execute(sql)  # type: ignore[attr-defined]
    found = query.measure(QUERY, replace(context, changes={QUERY.name: Changes(statements=((sql, 1),))}))
    assert (found.outcome, found.detail) == (Outcome.OK, "")


def test_without_an_answer_it_is_timed_and_not_verified(context: StepContext) -> None:
    step = changed(QUERY, answer="none", read="")
    found = query.measure(step, context)
    assert "compared" not in found.facts
    with pytest.raises(NotVerified):
        query.check(step, context)
    with pytest.raises(Unsupported):
        query.check_change(QUERY, context)


def test_one_that_can_t_be_verified_names_nobody_who_answered(context: StepContext) -> None:
    computed = Mock(side_effect=NotVerified("more memory"))
    found = query.measure(QUERY, replace(context, compute=computed))
    assert computed.called
    assert {"compared", "answer_by"} & {*found.facts} == set()
    words = wording(QUERY).conditions(QUERY, [found.facts], (), None)
    assert words.endswith("Parameters are drawn for each call.")


def test_its_plan_is_that_of_its_first_call_whoever_asks(context: StepContext) -> None:
    session: Any = context.session
    step = changed(QUERY, clients=Clients(threads=2))
    with patch.object(session, "explain", wraps=session.explain) as asked:
        plans = {query.explain(step, replace(context, round=number)) for number in (1, 2)}
    assert len(plans) == 1
    drawn = drawn_calls(step, context).named(0, 2, [0])[0]
    assert plans.pop().startswith(f"with buyer = {drawn['buyer']}, ")
    (sql,) = asked.call_args.args
    assert ":buyer" not in sql
    assert fetch(session, sql)


def test_the_null_engine_steps_as_many_rows(files: Files, tmp_path: Path) -> None:
    for context in loaded(SUITE, files, tmp_path, registry.load("null")):
        found = query.measure(QUERY, context)
        assert len(found.samples) == 60
        with pytest.raises(Unsupported, match="rows to return is unknown: no room"):
            query.measure(QUERY, replace(context, compute=Mock(side_effect=NotVerified("no room"))))
        assert len(statement.measure(ORDER, context).samples) == 50


# Statements


@pytest.mark.parametrize("threads", [1, 2])
def test_statements_add_rows_with_keys_of_their_own(context: StepContext, threads: int) -> None:
    step = changed(ORDER, clients=Clients(threads=threads))
    context.data.accept(step, statement.measure(step, context))
    statement.check(step, context)
    assert context.data.rows["Orders"] == 300 + 51 * threads
    connection: sqlite3.Connection = context.session.connection  # type: ignore[attr-defined]
    ((buyers,),) = connection.execute("SELECT COUNT(DISTINCT Buyer) FROM Orders WHERE Id > 300").fetchall()
    assert buyers > 10
    connection.execute("DELETE FROM Orders WHERE Id = 301")
    with pytest.raises(WrongAnswer):
        statement.check(step, context)


# Bad input


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        (("Buyer = :buyer", "Buyer = :byer"), "steps[1].sql", "parameters of the step (buyer, since), not :byer"),
        (("draw: Orders.Buyer", "draw: Orders.By"), "steps[1].parameters.buyer.draw", "a column of the dataset"),
        (("Buyer = :buyer AND ", ""), "steps[1].parameters.buyer", "a parameter that a statement uses"),
        (("{draw: Orders.Buyer, distribution: zipfian}", "{counter: Orders.Id}"), "steps[1].parameters.buyer", "values that are there"),
        (("since: {date: [2026-01-01, 2026-01-31]}", "since: {integer: [1, 2]}"), "steps[1].sql", "days for Orders.Day"),
        (("iterations: 60", "cache: cold"), "steps[1]", "a warm cache where there are parameters"),
        (("{counter: Orders.Id}", "{integer: [301, 900]}"), "steps[2].sql", "two clients might draw the same one"),
        (("rows: 1}", "rows: 1, values: {Buyer: 3}}"), "steps[2].adds.values", "no values where parameters are drawn"),
    ],
)  # fmt: skip
def test_a_fault_is_told_where_it_stands(change: tuple[str, str], path: str, words: str) -> None:
    faults = refused(rewritten(TEXT, change)).faults
    found = [(fault.path.removeprefix("scenarios[0]."), fault.expected) for fault in faults]
    assert any(at == path and words in expected for at, expected in found), found


def test_an_answer_that_knows_no_parameters_is_refused() -> None:
    said = refused(rewritten(TEXT, ("iterations: 60", "answer: {engine: duckdb}")))
    assert "an answer by SQL, or none" in str(said)


ADD, OF_ORDER = "UPDATE Orders SET Buyer = Buyer + 1 WHERE Id = :order", {"order": Parameter(draw="Orders.Id")}
CHECK = Check(sql="SELECT Buyer FROM Orders WHERE Id = 7", columns=("Orders.Buyer",), rows=((1,),))


@pytest.mark.parametrize(
    ("more", "commits"),
    [
        ({"sql": ADD, "parameters": OF_ORDER}, 51),
        ({"sql": ADD.replace(":order", "7"), "check": CHECK}, 51),
        ({"sql": ADD.replace(":order", "8"), "check": CHECK}, 0),
        ({"sql": ADD.replace(":order", "7")}, 0),
        ({"sql": ADD.replace("+ 1", "+ 0"), "parameters": OF_ORDER}, 0),
        ({"sql": ADD.replace("Buyer = Buyer + 1", "Buyer = 3"), "parameters": OF_ORDER}, 0),
        ({"sql": ADD.replace("Buyer", "Price"), "parameters": OF_ORDER}, 0),
        ({"sql": ADD, "parameters": {"order": Parameter(integer=(1, 9))}}, 0),
    ],
)
def test_an_update_that_adds_to_a_row_that_is_there_is_a_commit_that_changed_something(
    context: StepContext, more: dict[str, Any], commits: int
) -> None:
    """Other updates may match no row, or leave it as it was; a price may be missing."""
    step = changed(ORDER, **{"adds": None, "parameters": {}, **more})
    assert statement.measure(step, context).commits == commits


def test_a_row_may_have_gone_from_a_table_that_nobody_knows(context: StepContext) -> None:
    context.data.left_by.clear()
    step = changed(ORDER, adds=None, parameters=OF_ORDER, sql=ADD)
    assert statement.measure(step, context).commits == 0
