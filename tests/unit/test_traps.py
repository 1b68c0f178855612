"""What DataFusion gets wrong or refuses, and that the reference doesn't. Where a `plain` test fails, DataFusion was mended."""

from collections.abc import Callable
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import datafusion
import pytest

from tests.unit.asked import Ask, Content, reference, rows_of, values

LARGE = 2**62
CONTENT: Content = {
    "T": {
        "Id": ("integer", [*range(1, 24)]),
        "N": ("integer", [number % 5 if number % 4 else None for number in range(23)]),
        "Large": ("bigint", [LARGE, LARGE, LARGE, *[0] * 20]),
        "Long": ("decimal(38, 2)", [D("9" * 36), D("9" * 36), *[D(0)] * 21]),
        "Price": ("decimal(9, 2)", [D(number) / 4 for number in range(23)]),
        "Name": ("varchar(20)", ["it's", "x' OR '1' = '1", *["a"] * 21]),
    },
    "U": {"Id": ("integer", [1, 2, 3, 4]), "Grp": ("integer", [1, 1, None, 3])},
}
Row = tuple[Any, ...]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return reference(tmp_path, CONTENT)


@pytest.fixture
def plain() -> Callable[..., list[Row]]:
    """DataFusion as it comes."""
    context = datafusion.SessionContext()
    for name, table in rows_of(CONTENT).items():
        context.from_arrow(table.rename_columns([column.lower() for column in table.column_names]), name.lower())

    def asked(sql: str, **more: Any) -> list[Row]:
        return [tuple(row.values()) for row in context.sql(sql, **more).to_arrow_table().to_pylist()]

    return asked


#: Text -> its rows; DataFusion as it comes gives others, or refuses.
TRAPS: dict[str, tuple[str, list[Row]]] = {
    "1 NOT IN beside OR": ("SELECT COUNT(*) FROM T WHERE N NOT IN (SELECT Grp FROM U) OR Id = 1", [(1,)]),
    "1 IN, IS NULL": ("SELECT COUNT(*) FROM T WHERE (N IN (SELECT Grp FROM U)) IS NULL", [(16,)]),
    "1 NOT IN, correlated": ("SELECT COUNT(*) FROM T WHERE N NOT IN (SELECT Grp FROM U WHERE U.Id = T.Id)", [(19,)]),
    "2 EXCEPT ALL": ("SELECT Grp FROM U EXCEPT ALL SELECT Id FROM U WHERE Id = 1", [(1,), (None,), (3,)]),
    "2 INTERSECT ALL": ("SELECT Grp FROM U INTERSECT ALL SELECT N FROM T WHERE Id IN (2, 4)", [(1,), (3,)]),
    "3 sums beyond 64 bits": ("SELECT SUM(Large) FROM T", [(D(3 * LARGE),)]),
    "4 a distinct count": (
        "SELECT N, COUNT(DISTINCT Name) FROM T WHERE Id < 4 GROUP BY N HAVING SUM(Price) > 0.1", [(1, 1), (2, 1)],
    ),
    "10 a union in an order": (
        """
        SELECT N AS a, Id AS b, Id AS c FROM T WHERE Price > 5.3 UNION ALL SELECT Grp, Id, Id FROM U WHERE Id > 3
        ORDER BY 1, c LIMIT 4
        """,
        [(2, 23, 23), (3, 4, 4)],
    ),
    "9 equal outputs": ("SELECT COUNT(*), COUNT(*) FROM U", [(4, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("case", TRAPS)
def test_the_reference_is_right(ask: Ask, case: str) -> None:
    text, rows = TRAPS[case]
    assert sorted(values(ask(text)), key=str) == sorted(rows, key=str)


@pytest.mark.parametrize("case", TRAPS)
def test_plain_datafusion_is_not(plain: Callable[..., list[Row]], case: str) -> None:
    text, rows = TRAPS[case]
    try:
        found = plain(text)
    except Exception:  # a refusal
        return
    assert sorted(found, key=str) != sorted(rows, key=str)


def test_5_tables_are_read_from_parquet_so_that_the_pool_bounds_them(ask: Ask, tmp_path: Path) -> None:
    ask("SELECT COUNT(*) FROM T JOIN U ON T.Id = U.Id")
    assert [path.suffix for path in tmp_path.iterdir()] == [".parquet"] * 2


def test_6_a_division_by_zero_is_an_error_or_left_out_by_case(ask: Ask) -> None:
    assert values(ask("SELECT COUNT(CASE WHEN N <> 0 THEN 6 / N END) FROM T")) == [(14,)]
    with pytest.raises(Exception, match="Divide by zero"):
        ask("SELECT COUNT(6 / N) FROM T")


@pytest.mark.parametrize(
    ("change", "right"),
    [("DELETE FROM u", [(2, 1), (3, None), (4, 3)]), ("UPDATE u SET grp = 9", [(1, 9), (2, 1), (3, None), (4, 3)])],
)
def test_7_a_statement_changes_no_more_rows_than_it_says(
    ask: Ask, plain: Callable[..., list[Row]], change: str, right: list[Row]
) -> None:
    change += " WHERE id IN (SELECT grp FROM u WHERE grp = 1)"
    assert values(ask("SELECT Id, Grp FROM U ORDER BY Id", changes=[(change, 1)])) == right
    plain(change)
    assert plain("SELECT * FROM u ORDER BY id") != right


def test_8_values_of_parameters_are_no_text(ask: Ask, plain: Callable[..., list[Row]]) -> None:
    value = "x' OR '1' = '1"
    assert values(ask("SELECT Id FROM T WHERE Name = :name", parameters={"name": value})) == [(2,)]
    assert len(plain("SELECT id FROM t WHERE name = $name", name="'' OR 1 = 1")) == 23
