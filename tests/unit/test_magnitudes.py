"""Sums whose parts cancel out: what is left is measured by what was added up, in engines that add in another order."""

from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pytest

from dbbench.answers.compare import check_rows
from dbbench.answers.stored import MAGNITUDE
from dbbench.errors import WrongAnswer
from tests.unit.asked import Ask, Content, reference

LARGE = 1e12
CONTENT: Content = {
    "T": {
        "Id": ("integer", [*range(2_000)]),
        "Weight": ("double", [LARGE / 3 if number % 2 else -LARGE / 3 for number in range(2_000)]),
        "Long": ("decimal(19, 4)", [D("1e12") if number % 2 else D("-1e12") for number in range(2_000)]),
        "Price": ("decimal(9, 2)", [D("0.1") if number % 2 else D("-0.1") for number in range(2_000)]),
        "Grp": ("integer", [number % 4 // 2 for number in range(2_000)]),
    }
}
#: Text -> its rows by an engine that adds floats, and rows that no order of adding gives.
SUMS: dict[str, tuple[list[Any], list[Any]]] = {
    "SELECT SUM(Weight) FROM T": ([-0.3], [1e4]),
    "SELECT AVG(Weight) FROM T": ([1e-3], [1e4]),
    "SELECT SUM(Weight) - SUM(Weight) FROM T": ([-0.3], [1e4]),
    "SELECT SUM(Weight) / 7e0 FROM T": ([-0.3], [1e4]),
    "SELECT s FROM (SELECT SUM(Weight) AS s FROM T) x": ([-0.3], [1e4]),
    "WITH x AS (SELECT Grp, SUM(Weight) AS s FROM T GROUP BY Grp) SELECT SUM(s) FROM x": ([-0.3], [1e4]),
    "SELECT SUM(Weight) FROM T GROUP BY Grp ORDER BY Grp": ([-0.3, 0.1], [0.0, 1e4]),
    "SELECT SUM(Weight) FROM T WHERE Id > (SELECT AVG(Weight) FROM T WHERE Id < 0) OR Id >= 0": ([-0.3], [1e4]),
    "SELECT SUM(Weight) OVER (ORDER BY Id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM T WHERE Id < 3": (
        [-LARGE / 3, 1e-4, -1e-4],
        [-LARGE / 3, 1e1, 0.0],
    ),
    "SELECT SUM(Long) FROM T": ([-0.3], [1e4]),
    "SELECT SUM(Price) OVER (ORDER BY Id) FROM T WHERE Id IN (1, 2)": ([0.1, -2.7e-15], [0.1, 0.01]),
}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return reference(tmp_path, CONTENT)


@pytest.mark.parametrize("text", SUMS)
def test_what_is_left_of_a_sum_is_measured_by_its_parts(ask: Ask, text: str) -> None:
    near, far = SUMS[text]
    (answer,) = ask(text)
    check_rows([(value,) for value in near], answer)
    with pytest.raises(WrongAnswer, match="rows differ"):
        check_rows([(value,) for value in far], answer)


@pytest.mark.parametrize(
    "text", ["SELECT SUM(Price) AS s, AVG(Grp) AS m, COUNT(*) AS n FROM T", "SELECT Weight FROM T", "SELECT Weight + 1 AS w FROM T"]
)  # fmt: skip
def test_nothing_more_is_asked_where_a_float_holds_each_sum(ask: Ask, text: str) -> None:
    (answer,) = ask(text)
    assert not any(MAGNITUDE in (field.metadata or {}) for field in answer.schema)


def test_an_exact_sum_stays_exact(ask: Ask) -> None:
    (answer,) = ask("SELECT SUM(Long) FROM T")
    with pytest.raises(WrongAnswer):
        check_rows([(D("0.0001"),)], answer)
