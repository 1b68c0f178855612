"""Rows that an order leaves alike: any order of them is right, any of them at a limit, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbbench.answers import cuts, in_parts, ties
from dbbench.answers.compare import check_rows
from dbbench.answers.in_parts import answer_file
from dbbench.answers.stored import read_answer
from dbbench.datasets.cache import Files, materialise
from dbbench.engine.base import Engine, Session
from dbbench.engine.setup import Setup
from dbbench.errors import UserError, WrongAnswer
from dbbench.results.outcome import Outcome
from dbbench.suite.answer import Answer
from dbbench.suite.model import Suite, Tier
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import query
from dbbench.workloads.context import StepContext

Row = tuple[Any, ...]
#: Three rows before the tie at the limit, which has four of which two are returned.
ROWS: list[Row] = [
    (9, "a", 0.5),
    (7, "b", 1.5),
    (7, "c", 2.5),
    (5, "d", 3.5),
    (5, "e", 4.5),
    (5, "f", 5.5),
    (5, "f", 5.5),
]


def answer(limit: int | None = 5, **more: Any) -> Answer:
    order = {"order_by": ["T.Points"], "descending": ["T.Points"], "limit": limit}
    return Answer.model_validate({"table": "T", "select": ["T.Points", "T.Name", "T.Part"], **order, **more})


def marked(rows: list[Row] = ROWS, limit: int | None = 5) -> pa.Table:
    table = pa.table([list(column) for column in zip(*rows, strict=True)], ["T.Points", "T.Name", "T.Part"])
    return ties.marked(ties.cut(table, answer(limit), ties=True), answer(limit))


RIGHT: dict[str, list[Row]] = {
    "the first of them": ROWS[:5],
    "the last of them": [*ROWS[:3], *ROWS[5:]],
    "a tie above the limit turned round": [ROWS[0], ROWS[2], ROWS[1], ROWS[6], ROWS[3]],
    "with the last bits of a float": [*ROWS[:3], (5, "e", 4.5 * (1 + 1e-15)), ROWS[3]],
}
WRONG: dict[str, tuple[list[Row], str]] = {
    "one that isn't tied": ([*ROWS[:4], (4, "g", 6.5)], "tied at the limit have none"),
    "one that isn't there": ([*ROWS[:4], (5, "x", 4.5)], "tied at the limit have none"),
    "another value in one": ([*ROWS[:4], (5, "e", 4.6)], "4.6 instead of 4.5"),
    "one twice": ([*ROWS[:4], ROWS[3]], "or no more"),
    "one from above, again": ([*ROWS[:4], ROWS[0]], "tied at the limit have none"),
    "one above the limit left out": ([ROWS[0], ROWS[1], ROWS[3], ROWS[4], ROWS[5]], "instead of"),
    "all of them": (ROWS, "7 rows instead of 5"),
    "two ties turned round": ([ROWS[1], ROWS[2], ROWS[0], ROWS[3], ROWS[4]], "instead of"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_any_of_the_tied_rows_is_right(case: str) -> None:
    check_rows(RIGHT[case], marked(), ordered=True)


@pytest.mark.parametrize("case", WRONG)
def test_a_row_that_is_not_tied_is_wrong(case: str) -> None:
    rows, words = WRONG[case]
    with pytest.raises(WrongAnswer, match=words):
        check_rows(rows, marked(), ordered=True)


def test_every_choice_of_the_tied_rows_is_right_and_one_changed_value_is_not() -> None:
    chance = random.Random(1)
    for _ in range(200):
        points = sorted((chance.randrange(4) for _ in range(12)), reverse=True)
        rows = [(each, chance.choice("ab"), float(chance.randrange(3))) for each in points]
        limit = chance.randrange(1, 12)
        shuffled = sorted(rows, key=lambda row: (-row[0], chance.random()))[:limit]
        check_rows(shuffled, marked(rows, limit), ordered=True)
        place = chance.randrange(limit)
        shuffled[place] = (shuffled[place][0], "z", shuffled[place][2])
        with pytest.raises(WrongAnswer):
            check_rows(shuffled, marked(rows, limit), ordered=True)


def test_missing_values_are_tied_with_each_other() -> None:
    rows: list[Row] = [(1, "z", 0.5), (None, "a", None), (None, "b", 1.0), (None, "c", None)]
    check_rows([rows[0], rows[3], rows[1]], marked(rows, 3), ordered=True)
    with pytest.raises(WrongAnswer):
        check_rows([rows[0], rows[3], (None, "a", 1.0)], marked(rows, 3), ordered=True)


def test_sums_that_differ_in_their_last_bits_are_tied_and_what_comes_after_them_says_nothing() -> None:
    near = 1.0 + 1e-15
    rows = pa.table({"a": [1.0, near, near, 2.0], "b": [2, 1, 3, 0]})
    assert ties.tied(rows, ["a", "b"]).tolist() == [False, True, False, False]
    assert ties.tied(rows, ["b"]).tolist() == [False] * 4


def test_a_tie_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ties, "MOST", 2)
    with pytest.raises(UserError, match="more than 2 rows tied at the limit of 5"):
        marked()


# A query step whose engine gives rows as `choose` picks them.

STEP = QueryStep.model_validate(
    {
        "kind": "query",
        "name": "few",
        "title": "Few",
        "sql": "SELECT Id, ParentId FROM Child ORDER BY ParentId LIMIT 25",
        "read": "Child.Id",
        "answer": {"table": "Child", "select": ["Child.Id", "Child.ParentId"], "order_by": ["Child.ParentId"], "limit": 25},
        "iterations": 2,
    }
)  # fmt: skip


class Choosing(Session):
    def __init__(self, choose: Callable[[], list[Row]]) -> None:
        self.choose = choose

    def prepare_query(self, _sql: str) -> Callable[[], list[Row]]:
        return self.choose


class Chooser(Engine):
    name = "chooser"
    title = "Chooser"
    durability = {Tier.POWER: {}}
    session_class = Choosing


@pytest.fixture
def files(small: Suite) -> Files:
    return materialise(small.datasets["things"])


def outcome(choose: Callable[[], list[Row]], small: Suite, files: Files, folder: Path) -> tuple[Outcome, str]:
    setup = Setup(folder, Tier.POWER)
    tables = small.datasets["things"].tables
    paths = {"few": answer_file(STEP.answer, files)}  # type: ignore[arg-type]  # it is in relational form
    context = StepContext(Chooser(setup), Choosing(choose), tables, files, paths, setup=setup)
    found = query.measure(STEP, context)
    assert found.facts["rows"] == 25
    return found.outcome, found.detail


def test_an_engine_with_a_wrong_tied_row_is_found(small: Suite, files: Files, tmp_path: Path) -> None:
    table = files.table("Child").select(["Id", "ParentId"])
    rows = [tuple(row.values()) for row in table.to_pylist()]
    chance = random.Random(1)

    def in_any_order() -> list[Row]:
        return sorted(rows, key=lambda row: (row[1], chance.random()))

    last = in_any_order()[24][1]
    assert in_any_order()[25][1] == last  # there is a tie at the limit
    beyond = next(row for row in rows if row[1] > last)
    assert outcome(lambda: in_any_order()[:25], small, files, tmp_path) == (Outcome.OK, "")
    found = outcome(lambda: [*in_any_order()[:24], beyond], small, files, tmp_path)
    assert found[0] is Outcome.WRONG
    found = outcome(lambda: [*in_any_order()[:24], (beyond[0], last)], small, files, tmp_path)
    assert found[0] is Outcome.WRONG


def test_ties_in_parts_are_those_of_the_whole(small: Suite, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_answer(answer_file(STEP.answer, files))  # type: ignore[arg-type]
    monkeypatch.setattr(cuts, "PART_BYTES", 500)
    (pieces,) = in_parts.rows_of(STEP.answer, files, with_ties=True)  # type: ignore[arg-type]
    assert ties.row_count(whole) == ties.row_count(pieces) == 25
    assert whole.num_rows > 25
    key = [("Child.ParentId", "ascending"), ("Child.Id", "ascending")]
    assert pieces.drop_columns([ties.TIED]).sort_by(key) == whole.drop_columns([ties.TIED]).sort_by(key)
    assert np.array_equal(pieces.column(ties.TIED), whole.column(ties.TIED))


def test_decimals_are_tied_by_their_value() -> None:
    rows = pa.table({"a": pa.array([Decimal("1.10"), Decimal("1.10"), Decimal("1.11")])})
    assert ties.tied(rows, ["a"]).tolist() == [False, True, False]
