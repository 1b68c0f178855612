"""Order and limit of a text: any order of rows that it leaves tied is right, any of them at a limit, and nothing else."""

import random
from contextlib import nullcontext
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from datafusion import SessionContext

from dbbench.answers import ranks
from dbbench.answers.compare import check_rows
from dbbench.answers.ranks import ranked
from dbbench.answers.stored import COMPUTED, RANK, only_column, ranks_of, row_count
from dbbench.errors import WrongAnswer

Row = tuple[Any, ...]
#: Three rows before the tie at the limit, which has four of which two are returned.
ROWS: list[Row] = [
    (9, "a", 0.5), (7, "b", 1.5), (7, "c", 2.5), (5, "d", 3.5), (5, "e", 4.5), (5, "f", 5.5), (5, "f", 5.5),
    (4, "g", 6.5),
]  # fmt: skip
NAMES = ("points", "name", "part")
TEXT = "SELECT points, name, part FROM t ORDER BY points DESC LIMIT 5"


def answer(text: str = TEXT, rows: list[Row] = ROWS, ordered: bool | None = None) -> pa.Table:
    context = SessionContext()
    table = pa.table([list(column) for column in zip(*rows, strict=True)], NAMES)
    for name in ("t", "u"):
        context.from_arrow(table, name)
    tree = sqlglot.parse_one(text, read="postgres")
    (found,) = ranks.answers(
        tree,  # type: ignore[arg-type]  # it is a query
        {"t": NAMES, "u": NAMES},
        ordered,
        lambda tree, _: context.sql(tree.sql("postgres")).to_arrow_table(),
    )
    return found


RIGHT: dict[str, list[Row]] = {
    "the first of them": ROWS[:5],
    "the last of them": [*ROWS[:3], *ROWS[5:7]],
    "a tie above the limit turned round": [ROWS[0], ROWS[2], ROWS[1], ROWS[6], ROWS[3]],
    "with the last bits of a float": [*ROWS[:3], (5, "e", 4.5 * (1 + 1e-15)), ROWS[3]],
}
WRONG: dict[str, tuple[list[Row], str]] = {
    "one that isn't tied": ([*ROWS[:4], ROWS[7]], "column points: 4 instead of 5"),
    "one that isn't there": ([*ROWS[:4], (5, "x", 4.5)], "column name: 'x' instead of"),
    "another value in one": ([*ROWS[:4], (5, "e", 4.6)], "4.6 instead of 4.5"),
    "one twice": ([*ROWS[:4], ROWS[3]], "1 of 5 rows differ"),
    "one from above, again": ([*ROWS[:4], ROWS[0]], "column points: 9 instead of 5"),
    "one above the limit left out": ([ROWS[0], ROWS[1], ROWS[3], ROWS[4], ROWS[5]], "column points: 5 instead of 7"),
    "all of them": (ROWS[:7], "7 rows instead of 5"),
    "two ties turned round": ([ROWS[1], ROWS[2], ROWS[0], ROWS[3], ROWS[4]], "2 of 5 rows differ"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_any_of_the_tied_rows_is_right(case: str) -> None:
    check_rows(RIGHT[case], answer())


@pytest.mark.parametrize("case", WRONG)
def test_a_row_that_is_not_tied_is_wrong(case: str) -> None:
    rows, words = WRONG[case]
    with pytest.raises(WrongAnswer, match=words):
        check_rows(rows, answer())


def test_every_choice_of_the_tied_rows_is_right_and_one_changed_value_is_not() -> None:
    chance = random.Random(1)
    for _ in range(100):
        points = sorted((chance.randrange(4) for _ in range(12)), reverse=True)
        rows: list[Row] = [(each, chance.choice("ab"), float(chance.randrange(3))) for each in points]
        limit, offset = chance.randrange(1, 12), chance.randrange(4)
        right = answer(f"SELECT * FROM t ORDER BY 1 DESC LIMIT {limit} OFFSET {offset}", rows)
        given = sorted(rows, key=lambda row: (-row[0], chance.random()))[offset : offset + limit]
        check_rows(given, right)
        place = chance.randrange(len(given))
        given[place] = (given[place][0], "z", given[place][2])
        with pytest.raises(WrongAnswer):
            check_rows(given, right)


SOME: list[Row] = [(1, "a", 0.3), (2, "b", 0.1 + 0.2), (3, None, None), (3, "a", 0.5)]
#: Text -> the rank of each row, the rows returned, those skipped. None where it has no ranks.
RANKS = {
    "SELECT * FROM t": None,
    "SELECT points FROM (SELECT * FROM t ORDER BY points LIMIT 2) x": None,
    "SELECT * FROM t LIMIT 2": ([1, 1, 1, 1], 2, 0),
    "SELECT points FROM t ORDER BY points LIMIT 2": ([1, 2], 2, 0),
    "SELECT points FROM t ORDER BY points DESC FETCH FIRST 1 ROWS ONLY": ([1, 1], 1, 0),
    "SELECT points FROM t ORDER BY name LIMIT 1 OFFSET 2": ([1, 1, 3], 1, 2),
    "SELECT points FROM t ORDER BY name OFFSET 3": ([1, 1, 3, 4], 1, 3),
    "SELECT points FROM t ORDER BY points LIMIT 9": ([1, 2, 3, 3], 4, 0),
    "SELECT points FROM t ORDER BY points OFFSET 9": ([1, 2, 3, 3], 0, 9),
    "SELECT points FROM t LIMIT 0": ([], 0, 0),
    "SELECT name FROM t ORDER BY part, points": ([1, 1, 3, 4], 4, 0),  # the first two have one part but for its last bits
    "SELECT part, name FROM t ORDER BY 2 DESC, 1": ([1, 2, 3, 4], 4, 0),
    # Equal sums of fractions may differ in some systems; of whole numbers they don't.
    "SELECT name, SUM(points * 0.1) FROM t GROUP BY points, name ORDER BY points > 2, 2, 1": ([1, 2, 3, 3], 4, 0),
    "SELECT name FROM t GROUP BY points, name ORDER BY SUM(points * 0.1), 1": ([1, 2, 3, 3], 4, 0),
    "SELECT name FROM t GROUP BY points, name ORDER BY SUM(points), 1": ([1, 2, 3, 4], 4, 0),
    "SELECT name FROM t GROUP BY points, name ORDER BY SUM(points * 0.1), 1 LIMIT 3": ([1, 2, 3, 3], 3, 0),
    "SELECT points * 2 AS p FROM t ORDER BY p + 1": ([1, 2, 3, 3], 4, 0),
    "SELECT points FROM t GROUP BY points ORDER BY COUNT(*) DESC, SUM(points)": ([1, 2, 3], 3, 0),
    "SELECT DISTINCT points FROM t ORDER BY points": ([1, 2, 3], 3, 0),
    "SELECT DISTINCT t.points, t.points + 1 AS p FROM t ORDER BY t.points + 1, t.points": ([1, 2, 3], 3, 0),
    "SELECT points, ROW_NUMBER() OVER (ORDER BY part) AS r FROM t ORDER BY r DESC, name": ([1, 2, 3, 4], 4, 0),
    "SELECT points FROM t UNION ALL SELECT points FROM u ORDER BY 1 LIMIT 3": ([1, 1, 3, 3], 3, 0),
    "SELECT t.points, u.points FROM t JOIN u ON t.name = u.name ORDER BY u.points DESC LIMIT 1": ([1, 1], 1, 0),
    "SELECT t.*, u.points FROM t JOIN u USING (name) ORDER BY u.points DESC LIMIT 1": ([1, 1], 1, 0),
    "WITH x AS (SELECT points FROM t) SELECT * FROM x ORDER BY points LIMIT 1": ([1], 1, 0),
}  # fmt: skip


@pytest.mark.parametrize("text", RANKS)
def test_order_and_limit_are_read_from_the_text(text: str) -> None:
    found = answer(text, SOME)
    known = RANKS[text]
    if known is None:
        assert RANK not in found.column_names
        return
    (outputs, rank, skip) = ranks_of(found)
    assert (rank.tolist(), row_count(found), skip) == known
    assert outputs.num_columns == found.num_columns - 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT points FROM t LIMIT $1", r"a whole number of rows in LIMIT \$1"),
        ("SELECT points FROM t ORDER BY 1 FETCH FIRST 2 ROWS WITH TIES", "a whole number of rows in FETCH"),
        ("SELECT points FROM t ORDER BY 2", "one of the columns 1 to 1 in ORDER BY 2"),
        ("SELECT DISTINCT points FROM t ORDER BY name", "one of the columns that it returns in ORDER BY name"),
        ("SELECT DISTINCT ON (points) name FROM t ORDER BY points", "no DISTINCT ON"),
        ("SELECT * FROM elsewhere", r"columns instead of \*"),
    ],
)
def test_a_text_that_has_no_ranks_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        answer(text)


def test_the_suite_may_say_that_the_order_is_free() -> None:
    text = "SELECT points FROM t ORDER BY points"
    assert RANK not in answer(text, ordered=False).column_names
    with pytest.raises(ValueError, match="no LIMIT"):
        answer(TEXT, ordered=False)
    with pytest.raises(ValueError, match="an ORDER BY at the end"):
        answer("SELECT points FROM t", ordered=True)


def test_all_rows_of_a_large_tie_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "_MORE", 1)
    assert answer().num_rows == 7


def test_a_tie_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "_MORE", 0)
    monkeypatch.setattr(ranks, "MOST", 1)
    with pytest.raises(ValueError, match="more than 1 rows tied at the limit"):
        answer()


def test_outputs_that_are_more_than_a_column_are_marked() -> None:
    text = """
        WITH x AS (SELECT name, SUM(part) AS part FROM t GROUP BY name)
        SELECT u.points, u.points + 1, x.part, u.name FROM u JOIN x ON x.name = u.name
    """
    assert [bool(field.metadata) for field in answer(text).schema] == [False, True, True, False]


def test_one_column_is_compared_with_the_ranks_of_all() -> None:
    check_rows([(row[1],) for row in RIGHT["the last of them"]], only_column(answer(), 1))
    with pytest.raises(WrongAnswer):
        check_rows([(row[1],) for row in WRONG["one that isn't tied"][0]], only_column(answer(), 1))


#: Expected, computed or not, then what comes: whether that is as good as the same.
NEAR = [
    ([Decimal("0.333333"), Decimal(0)], [1 / 3, 0.0], True),
    ([Decimal("0.333333"), Decimal(0)], [Decimal("0.3333333333"), Decimal(0)], True),
    ([Decimal("0.333333"), Decimal(0)], [Decimal("0.3333"), Decimal(0)], True),
    ([Decimal("0.333333"), Decimal(0)], [Decimal("0.3336"), Decimal(0)], False),
    ([Decimal("0.30"), Decimal(0)], [0.1 + 0.2, 1e-16], True),
    ([Decimal("0.30"), Decimal(0)], [0.31, 0.0], False),
    ([1e6, 0.0], [1e6 + 1e-4, 1e-7], True),
    (np.array([2.9], np.float32), [2.9], True),
    (np.array([2.9], np.float32), [2.9001], False),
    ([1e6, 0.0], [1e6, 1e-3], False),
    ([1e6, float("inf")], [1e6, 5.0], False),
    ([1e6, float("nan")], [1e6, float("nan")], True),
    ([1e6, float("nan")], [1e6, None], False),
    ([True, None], [1, None], True),
    ([True, False], [1, 1], False),
]


@pytest.mark.parametrize(("expected", "found", "same"), NEAR)
@pytest.mark.parametrize("ordered", [True, False])
def test_computed_values_have_tolerances(expected: list[Any], found: list[Any], same: bool, ordered: bool) -> None:
    column = pa.array(expected)
    table = pa.table([column], schema=pa.schema([pa.field("c", column.type, metadata=COMPUTED)]))
    with nullcontext() if same else pytest.raises(WrongAnswer, match="rows differ"):
        check_rows([(value,) for value in found], table, ordered=ordered)


def test_an_error_carries_the_first_rows_that_differ() -> None:
    with pytest.raises(WrongAnswer) as caught:
        check_rows([(1, "a", None), *[(row[0] + 1, *row[1:]) for row in ROWS[1:5]]], answer())
    assert caught.value.rows[0] == "(1, 'a', null) instead of (9, 'a', 0.5)"
    assert len(caught.value.rows) == 3


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("SELECT AVG(price) FROM t", True),  # one system cuts the last place, another rounds it
        ("SELECT m FROM (SELECT AVG(price) AS m FROM t) AS s", True),
        ("SELECT SUM(price) / 7.0 FROM t", True),
        ("SELECT SUM(price), AVG(price) FROM t", False),
        ("SELECT price FROM t", False),
    ],
)
def test_the_last_place_of_a_mean_or_a_quotient_may_be_rounded(text: str, same: bool) -> None:
    marks = ranked(sqlglot.parse_one(text, read="postgres"), {"t": ["price"]}).computed
    column = pa.array([Decimal("11569.334285")])
    field = pa.field("c", column.type, metadata={"computed": marks[0]} if marks[0] else None)
    with nullcontext() if same else pytest.raises(WrongAnswer, match="rows differ"):
        check_rows([(Decimal("11569.334286"),)], pa.table([column], schema=pa.schema([field])))
