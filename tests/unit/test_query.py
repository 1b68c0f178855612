"""A query's calls: which of them is compared, and what is found of engines that lie in some of them. No driver."""

import random
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from dbbench.answers.given import by_reference, question
from dbbench.answers.stored import read_answers, write_answers
from dbbench.datasets.cache import Files, materialise
from dbbench.engine.base import Engine, Session, Setup
from dbbench.results.outcome import Outcome
from dbbench.suite.model import Suite, Tier
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import cold_start, query
from dbbench.workloads.context import StepContext
from dbbench.workloads.query import Call

WARM, TIMED, CHECKED = Call.WARM_UP, Call.TIMED, Call.CHECKED
STEP = QueryStep.model_validate(
    {
        "kind": "query", "name": "all", "title": "All", "sql": "SELECT Id, ParentId FROM Child", "read": "ParentId",
        "iterations": 3,
    }
)  # fmt: skip
#: One place for the compared call before each of the others, and one after them all.
PLACES = 1 + 3 + 1

Lie = Callable[[int, list[Any]], list[Any]]


class Liar(Session):
    """Gives the right rows, as `lie` changes them: by the number of the call on one prepared query, from 1."""

    def __init__(self, rows: list[Any], lie: Lie) -> None:
        self.rows, self.lie = rows, lie
        self.prepared = 0

    def prepare_query(self, sql: str) -> Callable[[], Any]:
        self.prepared += 1
        calls = 0

        def run() -> Any:
            nonlocal calls
            calls += 1
            return self.lie(calls, list(self.rows))

        return run


class Own(list[Any]):
    """Rows that read one of their columns by themselves."""

    def column(self, number: int) -> list[Any]:
        return [row[number] for row in self]


class OwnLiar(Liar):
    result_format = "columns"

    def prepare_query(self, sql: str) -> Callable[[], Any]:
        run = super().prepare_query(sql)
        return lambda: Own(run())


class Lying(Engine):
    name = "lying"
    title = "Lying"
    durability = {Tier.POWER: {}}
    session_class = Liar


@pytest.fixture
def files(small: Suite) -> Files:
    return materialise(small.datasets["things"])


@pytest.fixture(params=[Liar, OwnLiar])
def bench(
    request: pytest.FixtureRequest, small: Suite, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., StepContext]:
    """Makes a context, of whose calls none is a short one, and the compared one at a place."""
    monkeypatch.setattr(query, "SHORT", 0)

    def make(lie: Lie = lambda _call, rows: rows, place: int = 0) -> StepContext:
        monkeypatch.setattr(random, "SystemRandom", lambda: SimpleNamespace(randrange=lambda _places: place))
        (answer,) = by_reference([question(STEP)], small.datasets["things"].tables, files)
        rows = [tuple(row.values()) for row in read_answers(answer)[0].to_pylist()]
        setup = Setup(tmp_path, Tier.POWER)
        tables = small.datasets["things"].tables
        return StepContext(Lying(setup), request.param(rows, lie), tables, files, {"all": answer}, setup=setup)

    return make


def outcomes(bench: Callable[..., StepContext], lie: Lie) -> list[Outcome]:
    """With the compared call at each place."""
    return [query.measure(STEP, bench(lie, place)).outcome for place in range(PLACES)]


def test_one_call_is_compared_at_any_place(bench: Callable[..., StepContext]) -> None:
    assert [query.calls(STEP, bench(place=place)) for place in range(PLACES)] == [
        [CHECKED, WARM, TIMED, TIMED, TIMED],
        [WARM, CHECKED, WARM, TIMED, TIMED, TIMED],
        [WARM, TIMED, CHECKED, WARM, TIMED, TIMED],
        [WARM, TIMED, TIMED, CHECKED, WARM, TIMED],
        [WARM, TIMED, TIMED, TIMED, CHECKED],
    ]


def test_the_place_follows_from_nothing(bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred trials with one seed, in one round."""
    made = bench()
    monkeypatch.undo()
    assert {query.calls(STEP, made).index(CHECKED) for _ in range(100)} == {*range(PLACES)}


@pytest.mark.parametrize(("short", "more"), [(0, 0), (10**12, query.MORE)])
def test_all_calls_are_of_one_prepared_query_and_the_compared_one_is_in_no_figure(
    short: int, more: int, bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first call that is a short one is followed by more, which don't count."""
    monkeypatch.setattr(query, "SHORT", short)
    numbers: list[int] = []
    made = bench(lambda call, rows: numbers.append(call) or rows)
    measured = query.measure(STEP, made)
    assert made.session.prepared == 1  # type: ignore[attr-defined]
    assert numbers == list(range(1, len(query.calls(STEP, made)) + more + 1))
    assert len(measured.warm_up) == query.calls(STEP, made).count(WARM) + more
    assert len(measured.samples) == 3
    assert len(measured.samples) + len(measured.warm_up) + 1 == len(numbers)
    assert (measured.outcome, measured.detail) == (Outcome.OK, "")


@pytest.mark.parametrize(("cache", "told"), [("warm", 3.0), ("cold", None)])
def test_first_calls_that_differ_are_told_where_they_can_be_warmed_up(
    cache: str, told: float | None, bench: Callable[..., StepContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = STEP.model_copy(update={"cache": cache, "warm_up": 0, "iterations": 30})
    made = bench(place=30)
    calls = iter([*[3_000_000] * 3, *[1_000_000] * 27])
    monkeypatch.setattr(query, "timed", lambda call: (0 if isinstance(call, partial) else next(calls), call()))
    monkeypatch.setattr(cold_start, "start_cold", Mock())
    monkeypatch.setattr(cold_start.ColdCalls, "call", lambda *_, **__: nullcontext())
    assert query.measure(step, made).facts.get("first_calls") == told


def test_a_null_engine_makes_its_calls_alone(bench: Callable[..., StepContext]) -> None:
    made = bench()
    made.engine.is_null = True  # type: ignore[misc]
    assert query.calls(STEP, made) == [WARM, TIMED, TIMED, TIMED]


LIES: dict[str, Lie] = {
    "from the second call on": lambda call, rows: rows if call == 1 else [(key, 0) for key, _ in rows],
    "in one call": lambda call, rows: rows if call != 3 else [(key, 0) for key, _ in rows],
    "in the last timed call": lambda call, rows: rows if call != 4 else [(key, 0) for key, _ in rows],
    "in the warm-up": lambda call, rows: rows if call > 1 else [(key, 0) for key, _ in rows],
    "a row less": lambda call, rows: rows if call != 3 else rows[1:],
    "as text": lambda call, rows: rows if call != 3 else [(key, str(value)) for key, value in rows],
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_in_the_column_that_is_read_is_found_at_every_place(name: str, bench: Callable[..., StepContext]) -> None:
    assert set(outcomes(bench, LIES[name])) == {Outcome.WRONG}


@pytest.mark.parametrize("lying", [{2, 3, 4, 5, 6}, {1}, {2, 3, 4}, {4}, {3}])
def test_a_lie_in_another_column_is_found_where_the_compared_call_is_one_of_them(
    lying: set[int], bench: Callable[..., StepContext]
) -> None:
    def lie(call: int, rows: list[Any]) -> list[Any]:
        return [(0, value) for _, value in rows] if call in lying else rows

    expected = []
    for place in range(PLACES):
        call = query.calls(STEP, bench(place=place)).index(CHECKED) + 1
        expected.append(Outcome.WRONG if call in lying else Outcome.OK)
    assert outcomes(bench, lie) == expected
    assert Outcome.WRONG in expected


def test_rows_in_another_order_are_right_where_the_answer_has_none(bench: Callable[..., StepContext]) -> None:
    assert set(outcomes(bench, lambda call, rows: rows[call:] + rows[:call])) == {Outcome.OK}


@pytest.mark.parametrize(
    ("lie", "wrong"),
    [
        (lambda _call, rows: rows[1:], ""),
        (lambda _call, rows: rows[2:], "instead of"),
        (
            lambda call, rows: rows[1:] if call != 3 else [(key, 0) for key, _ in rows[1:]],
            "column ParentId: 0 instead of",
        ),
    ],
)
def test_the_rows_of_each_right_answer_are_right(
    bench: Callable[..., StepContext], tmp_path: Path, lie: Lie, wrong: str
) -> None:
    """As LIKE's are, of which some systems return more."""
    made = bench(lie)
    (answer,) = read_answers(made.answers["all"])
    made.answers["all"] = tmp_path / "two.arrow"
    write_answers([answer, answer[1:]], made.answers["all"])
    detail = query.measure(STEP, made).detail
    assert wrong in detail if wrong else not detail


def test_a_wrong_call_leaves_its_step_a_time_and_no_rank(bench: Callable[..., StepContext]) -> None:
    measured = query.measure(STEP, bench(LIES["in one call"]))
    assert measured.detail.startswith("column ParentId: 0 instead of")
    assert len(measured.samples) == 3


def test_another_type_of_number_is_right_and_told(bench: Callable[..., StepContext]) -> None:
    measured = query.measure(STEP, bench(lambda _call, rows: [(float(key), value) for key, value in rows]))
    assert (measured.outcome, measured.facts["other_forms"]) == (Outcome.OK, ["integer as float"])


def test_a_query_that_finds_no_rows_is_timed_where_nobody_knows_its_answer(bench: Callable[..., StepContext]) -> None:
    step = STEP.model_copy(update={"answer": "none"})
    measured = query.measure(step, bench(lambda _call, _rows: []))
    assert (measured.outcome, measured.facts["rows"], len(measured.samples)) == (Outcome.OK, 0, 3)


def test_a_value_that_has_the_hash_of_the_right_one_is_wrong(bench: Callable[..., StepContext]) -> None:
    step = STEP.model_copy(update={"answer": "none"})
    measured = query.measure(step, bench(lambda call, _rows: [(-2 if call == 5 else -1,)]))
    assert measured.outcome is Outcome.WRONG
