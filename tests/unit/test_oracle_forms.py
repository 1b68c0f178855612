"""Each form of an answer beside the same in SQL, by Python's own SQLite on the same rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dbbench.answers.compare import check_rows
from dbbench.answers.oracle import expected
from dbbench.datasets.cache import Files, materialise
from dbbench.datasets.driver_rows import rows
from dbbench.errors import UserError, WrongAnswer
from dbbench.suite.answer import Answer
from dbbench.suite.dataset import Dataset

SHOP = Dataset.model_validate(
    {
        "seed": 3,
        "tables": {
            "Buyer": {
                "rows": 40,
                "primary_key": "Id",
                "columns": {
                    "Id": {"type": "integer", "values": {"kind": "sequence"}},
                    "Name": {"type": "varchar(6)", "values": {"kind": "pattern", "text": "N-####"}, "null_every": 7},
                    "Since": {"type": "date", "values": {"kind": "days", "first": "2020-01-01", "last": "2020-03-31"}},
                },
            },
            "Sale": {
                "rows": 500,
                "primary_key": "Id",
                "columns": {
                    "Id": {"type": "integer", "values": {"kind": "sequence"}},
                    # Half of the keys lead nowhere.
                    "BuyerId": {"type": "integer", "values": {"kind": "quantiles", "points": {"0": 1, "1": 80}}, "null_every": 9},
                    "Price": {"type": "decimal(7, 2)", "values": {"kind": "quantiles", "points": {"0": 1, "1": 99}, "step": 0.25}, "null_every": 11},
                    "Kind": {"type": "varchar(5)", "values": {"kind": "choice", "weights": {"cash": 3, "card": 1, "gift": 1}}},
                },
            },
        },
    }
)  # fmt: skip

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "below": ("SELECT Id FROM Sale WHERE Price < 20.3", {"where": [{"column": "Sale.Price", "below": 20.3}]}),
    "above": ("SELECT Id FROM Sale WHERE BuyerId > 20.5", {"where": [{"column": "Sale.BuyerId", "above": 20.5}]}),
    "between": ("SELECT Id FROM Sale WHERE Price BETWEEN 20 AND 30.25", {"where": [{"column": "Sale.Price", "between": [20, 30.25]}]}),
    "equals": ("SELECT Id FROM Sale WHERE Kind = 'card'", {"where": [{"column": "Sale.Kind", "equals": "card"}]}),
    "equals never": ("SELECT Id FROM Sale WHERE BuyerId = 1.5", {"where": [{"column": "Sale.BuyerId", "equals": 1.5}]}),
    "one of": ("SELECT Id FROM Sale WHERE BuyerId IN (3, 5, 7)", {"where": [{"column": "Sale.BuyerId", "one_of": [3, 5, 7]}]}),
    "not one of": ("SELECT Id FROM Sale WHERE BuyerId NOT IN (3, 5, 7)", {"where": [{"column": "Sale.BuyerId", "one_of": [3, 5, 7], "negated": True}]}),
    "like": ("SELECT Id FROM Sale WHERE Kind LIKE 'c%_'", {"where": [{"column": "Sale.Kind", "like": "c%_"}]}),
    "not like": ("SELECT Id FROM Sale WHERE Kind NOT LIKE '%i%'", {"where": [{"column": "Sale.Kind", "like": "%i%", "negated": True}]}),
    "missing": ("SELECT Id FROM Sale WHERE Price IS NULL", {"where": [{"column": "Sale.Price", "missing": True}]}),
    "not missing": ("SELECT Id FROM Sale WHERE Price IS NOT NULL", {"where": [{"column": "Sale.Price", "missing": False}]}),
    "any of": (
        "SELECT Id FROM Sale WHERE (Price > 80 OR Kind = 'gift') AND BuyerId < 50",
        {"where": [{"any_of": [{"column": "Sale.Price", "above": 80}, {"column": "Sale.Kind", "equals": "gift"}]}, {"column": "Sale.BuyerId", "below": 50}]},
    ),
    "none of": (
        "SELECT Id FROM Sale WHERE NOT (Price > 80 OR Kind = 'gift')",
        {"where": [{"any_of": [{"column": "Sale.Price", "above": 80}, {"column": "Sale.Kind", "equals": "gift"}], "negated": True}]},
    ),
    "among": (
        "SELECT Id FROM Sale WHERE BuyerId IN (SELECT Id FROM Buyer WHERE Since < '2020-02-01')",
        {"where": [{"column": "Sale.BuyerId", "among": {"table": "Buyer", "where": [{"column": "Buyer.Since", "below": "2020-02-01"}], "select": ["Buyer.Id"]}}]},
    ),
    "not among": (
        "SELECT Id FROM Sale WHERE BuyerId NOT IN (SELECT Id FROM Buyer)",
        {"where": [{"column": "Sale.BuyerId", "among": {"table": "Buyer", "select": ["Buyer.Id"]}, "negated": True}]},
    ),
    "not among values of which one is missing": (
        "SELECT Id FROM Sale WHERE Id NOT IN (SELECT BuyerId FROM Sale) OR Price > 80",
        {"where": [{"any_of": [{"column": "Sale.Id", "among": {"table": "Sale", "select": ["Sale.BuyerId"]}, "negated": True}, {"column": "Sale.Price", "above": 80}]}]},
    ),
    "among values of which one is missing": (
        "SELECT Id FROM Sale WHERE Id IN (SELECT BuyerId FROM Sale)",
        {"where": [{"column": "Sale.Id", "among": {"table": "Sale", "select": ["Sale.BuyerId"]}}]},
    ),
    "not among none": (
        "SELECT Id FROM Sale WHERE BuyerId NOT IN (SELECT Id FROM Buyer WHERE Since < '2000-01-01')",
        {"where": [{"column": "Sale.BuyerId", "among": {"table": "Buyer", "where": [{"column": "Buyer.Since", "below": "2000-01-01"}], "select": ["Buyer.Id"]}, "negated": True}]},
    ),
    "left join": (
        "SELECT S.Id, B.Name, B.Id FROM Sale S LEFT JOIN Buyer B ON B.Id = S.BuyerId",
        {"join": [{"table": "Buyer", "column": "Buyer.Id", "equals": "Sale.BuyerId", "kind": "left"}], "select": ["Sale.Id", "Buyer.Name", "Buyer.Id"]},
    ),
    "full join": (
        "SELECT S.Id, B.Id FROM Sale S LEFT JOIN Buyer B ON B.Id = S.BuyerId UNION ALL SELECT NULL, Id FROM Buyer WHERE Id NOT IN (SELECT BuyerId FROM Sale WHERE BuyerId IS NOT NULL)",
        {"join": [{"table": "Buyer", "column": "Buyer.Id", "equals": "Sale.BuyerId", "kind": "full"}], "select": ["Sale.Id", "Buyer.Id"]},
    ),
    "right join, by the left key": (
        "SELECT S.BuyerId, COUNT(*), COUNT(S.Id) FROM Buyer B LEFT JOIN Sale S ON B.Id = S.BuyerId GROUP BY S.BuyerId",
        {"join": [{"table": "Buyer", "column": "Buyer.Id", "equals": "Sale.BuyerId", "kind": "right"}], "group_by": ["Sale.BuyerId"], "count": {"n": "*", "sales": "Sale.Id"}, "select": ["Sale.BuyerId", "n", "sales"]},
    ),
    "full join, by both keys": (
        "SELECT Ours, Theirs, COUNT(*) FROM (SELECT S.BuyerId AS Ours, B.Id AS Theirs FROM Sale S LEFT JOIN Buyer B ON B.Id = S.BuyerId UNION ALL SELECT NULL, Id FROM Buyer WHERE Id NOT IN (SELECT BuyerId FROM Sale WHERE BuyerId IS NOT NULL)) GROUP BY Ours, Theirs",
        {"join": [{"table": "Buyer", "column": "Buyer.Id", "equals": "Sale.BuyerId", "kind": "full"}], "group_by": ["Sale.BuyerId", "Buyer.Id"], "count": {"n": "*"}, "select": ["Sale.BuyerId", "Buyer.Id", "n"]},
    ),
    "semi join": (
        "SELECT Id FROM Sale WHERE EXISTS (SELECT 1 FROM Buyer B WHERE B.Id = BuyerId)",
        {"join": [{"table": "Buyer", "column": "Buyer.Id", "equals": "Sale.BuyerId", "kind": "semi"}]},
    ),
    "anti join": (
        "SELECT Id FROM Sale WHERE NOT EXISTS (SELECT 1 FROM Buyer B WHERE B.Id = BuyerId)",
        {"join": [{"table": "Buyer", "column": "Buyer.Id", "equals": "Sale.BuyerId", "kind": "anti"}]},
    ),
    "self-join": (
        "SELECT A.Id, B.Id FROM Sale A JOIN Sale B ON B.Id = A.BuyerId WHERE A.Kind = 'card' AND B.Kind = 'gift'",
        {"join": [{"table": "Sale", "named": "Other", "column": "Other.Id", "equals": "Sale.BuyerId"}], "where": [{"column": "Sale.Kind", "equals": "card"}, {"column": "Other.Kind", "equals": "gift"}], "select": ["Sale.Id", "Other.Id"]},
    ),
    "aggregates": (
        "SELECT Kind, COUNT(*), COUNT(Price), COUNT(DISTINCT BuyerId), AVG(Price), MIN(Price), MAX(Price), SUM(BuyerId) FROM Sale GROUP BY Kind",
        {"group_by": ["Sale.Kind"], "count": {"n": "*", "priced": "Sale.Price"}, "count_distinct": {"buyers": "Sale.BuyerId"}, "avg": {"mean": "Sale.Price"}, "min": {"least": "Sale.Price"}, "max": {"most": "Sale.Price"}, "sum": {"total": "Sale.BuyerId"}, "select": ["Sale.Kind", "n", "priced", "buyers", "mean", "least", "most", "total"]},
    ),
    "of all rows": ("SELECT COUNT(*), AVG(BuyerId) FROM Sale", {"count": {"n": "*"}, "avg": {"mean": "Sale.BuyerId"}, "select": ["n", "mean"]}),
    "of no rows": (
        "SELECT COUNT(*), MAX(Price) FROM Sale WHERE Price > 1000",
        {"where": [{"column": "Sale.Price", "above": 1000}], "count": {"n": "*"}, "max": {"most": "Sale.Price"}, "select": ["n", "most"]},
    ),
    "having": (
        "SELECT BuyerId, COUNT(*) FROM Sale GROUP BY BuyerId HAVING COUNT(*) > 6",
        {"group_by": ["Sale.BuyerId"], "count": {"n": "*"}, "having": [{"column": "n", "above": 6}], "select": ["Sale.BuyerId", "n"]},
    ),
    "descending, limited": (
        "SELECT Id, Kind FROM Sale ORDER BY Kind DESC, Id LIMIT 17",
        {"order_by": ["Sale.Kind", "Sale.Id"], "descending": ["Sale.Kind"], "limit": 17, "select": ["Sale.Id", "Sale.Kind"]},
    ),
    "exact products": (
        "SELECT Kind, SUM(Price * (1 - 0.05) * (BuyerId + 1)) FROM Sale GROUP BY Kind",
        {"compute": {"Net": "Sale.Price * (1 - 0.05) * (Sale.BuyerId + 1)"}, "group_by": ["Sale.Kind"], "sum": {"total": "Net"}, "select": ["Sale.Kind", "total"]},
    ),
    "one computed from another": (
        "SELECT Id, -(Price * 2 - 1) FROM Sale WHERE Price * 2 > 100",
        {"compute": {"Double": "Sale.Price * 2", "Less": "-(Double - 1)"}, "where": [{"column": "Double", "above": 100}], "select": ["Sale.Id", "Less"]},
    ),
    "a share": (
        "SELECT Kind, 100.0 * SUM(CASE WHEN BuyerId > 40 THEN Price ELSE 0 END) / SUM(Price), AVG(Price * 1.5) FROM Sale GROUP BY Kind",
        {
            "subqueries": {"Totals": {
                "table": "Sale", "compute": {"Late": "Sale.Price if Sale.BuyerId > 40 else 0", "More": "Sale.Price * 1.5"}, "group_by": ["Sale.Kind"],
                "sum": {"late": "Late", "whole": "Sale.Price"}, "avg": {"mean": "More"}, "select": ["Sale.Kind", "late", "whole", "mean"],
            }},
            "table": "Totals", "compute": {"Share": "100 * Totals.late / Totals.whole"}, "select": ["Totals.Kind", "Share", "Totals.mean"],
        },
    ),
    "division by nothing": ("SELECT Id, 6.0 / (BuyerId - 3) FROM Sale", {"compute": {"Part": "6 / (Sale.BuyerId - 3)"}, "select": ["Sale.Id", "Part"]}),
    "parts of a date": (
        "SELECT CAST(strftime('%Y', Since) AS INTEGER), CAST(strftime('%m', Since) AS INTEGER) m, COUNT(*) FROM Buyer WHERE Since >= '2020-01-15' GROUP BY 1, 2 ORDER BY m",
        {"table": "Buyer", "compute": {"y": "year(Buyer.Since)", "m": "month(Buyer.Since)"}, "where": [{"holds": "Buyer.Since >= '2020-01-15'"}], "group_by": ["y", "m"], "count": {"n": "*"}, "order_by": ["m"], "select": ["y", "m", "n"]},
    ),
    "texts": (
        "SELECT Id, SUBSTR(Name, 3, 2), LENGTH(Name), COALESCE(Name, 'none') FROM Buyer WHERE SUBSTR(Name, 3, 1) <> '1' OR Name IS NULL",
        {
            "table": "Buyer", "compute": {"Two": "part(Buyer.Name, 3, 2)", "Long": "length(Buyer.Name)", "Some": "coalesce(Buyer.Name, 'none')"},
            "where": [{"holds": "part(Buyer.Name, 3, 1) != '1' or missing(Buyer.Name)"}], "select": ["Buyer.Id", "Two", "Long", "Some"],
        },
    ),
    "two columns": ("SELECT Id FROM Sale WHERE NOT (Price < BuyerId AND Kind LIKE 'c%')", {"where": [{"holds": "not (Sale.Price < Sale.BuyerId and like(Sale.Kind, 'c%'))"}]}),
    "by two keys": (
        "SELECT A.Id, B.Id FROM Sale A JOIN Sale B ON B.BuyerId = A.BuyerId AND B.Kind = A.Kind WHERE A.Id < 100",
        {"join": [{"table": "Sale", "named": "Other", "column": "Other.BuyerId", "equals": "Sale.BuyerId", "also": {"Other.Kind": "Sale.Kind"}}], "where": [{"column": "Sale.Id", "below": 100}], "select": ["Sale.Id", "Other.Id"]},
    ),
    "above the mean": (
        "SELECT Id, Price FROM Sale WHERE Price > (SELECT AVG(Price) FROM Sale WHERE Kind = 'card')",
        {
            "subqueries": {"Mean": {"table": "Sale", "where": [{"column": "Sale.Kind", "equals": "card"}], "avg": {"price": "Sale.Price"}, "select": ["price"]}},
            "join": [{"table": "Mean", "kind": "cross"}], "where": [{"holds": "Sale.Price > Mean.price"}], "select": ["Sale.Id", "Sale.Price"],
        },
    ),
    "the first of each": (
        "SELECT S.Id, S.Price FROM Sale S JOIN (SELECT BuyerId, MIN(Price) AS Least FROM Sale GROUP BY BuyerId) L ON L.BuyerId = S.BuyerId AND L.Least = S.Price",
        {
            "subqueries": {"Least": {"table": "Sale", "group_by": ["Sale.BuyerId"], "min": {"price": "Sale.Price"}, "select": ["Sale.BuyerId", "price"]}},
            "join": [{"table": "Least", "column": "Least.BuyerId", "equals": "Sale.BuyerId", "also": {"Least.price": "Sale.Price"}}], "select": ["Sale.Id", "Sale.Price"],
        },
    ),
    "counts of counts": (
        "SELECT n, COUNT(*) FROM (SELECT B.Id, COUNT(S.Id) AS n FROM Buyer B LEFT JOIN Sale S ON S.BuyerId = B.Id AND S.Kind <> 'cash' GROUP BY B.Id) T GROUP BY n",
        {
            "subqueries": {
                "Paid": {"table": "Sale", "where": [{"holds": "Sale.Kind != 'cash'"}], "select": ["Sale.Id", "Sale.BuyerId"]},
                "Each": {"table": "Buyer", "join": [{"table": "Paid", "column": "Paid.BuyerId", "equals": "Buyer.Id", "kind": "left"}], "group_by": ["Buyer.Id"], "count": {"n": "Paid.Id"}, "select": ["n"]},
            },
            "table": "Each", "group_by": ["Each.n"], "count": {"buyers": "*"}, "select": ["Each.n", "buyers"],
        },
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Files]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield materialise(SHOP)


@pytest.fixture(scope="module")
def sqlite(files: Files) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA case_sensitive_like = 1")
    for name, table in SHOP.tables.items():
        connection.execute(f"CREATE TABLE {name} ({', '.join(table.columns)})")
        for batch in files.stream(name):
            marks = ", ".join("?" * len(table.columns))
            given = rows(batch, table, {"decimal": "float", "date": "text"})
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", given)
    return connection


def answer(form: dict[str, Any]) -> Answer:
    return Answer.model_validate({"table": "Sale", "select": ["Sale.Id"], **form})


@pytest.mark.parametrize("name", FORMS)
def test_an_answer_is_what_sql_says(name: str, files: Files, sqlite: sqlite3.Connection) -> None:
    sql, form = FORMS[name]
    found = expected(answer(form), files)
    theirs = sqlite.execute(sql).fetchall()
    assert theirs or name == "equals never"
    check_rows(theirs, found, ordered="order_by" in form)


def test_a_limit_that_cuts_through_ties_is_refused(files: Files) -> None:
    with pytest.raises(UserError, match="the order leaves ties at the limit of 17"):
        expected(answer({"order_by": ["Sale.Kind"], "limit": 17}), files)


@pytest.mark.parametrize("then", ["Id", "Id DESC"])
def test_ties_at_a_limit_are_what_sql_may_say(then: str, files: Files, sqlite: sqlite3.Connection) -> None:
    form = {"order_by": ["Sale.Kind"], "descending": ["Sale.Kind"], "limit": 17, "select": ["Sale.Id", "Sale.Kind"]}
    found = expected(answer(form), files, with_ties=True)
    theirs = sqlite.execute(f"SELECT Id, Kind FROM Sale ORDER BY Kind DESC, {then} LIMIT 17").fetchall()
    check_rows(theirs, found, ordered=True)
    with pytest.raises(WrongAnswer):
        check_rows([*theirs[:16], theirs[0]], found, ordered=True)


def test_ties_at_the_limit_of_a_subquery_are_refused(files: Files) -> None:
    few = {"table": "Sale", "select": ["Sale.Id"], "order_by": ["Sale.Kind"], "limit": 17}
    with pytest.raises(UserError, match="the order leaves ties at the limit of 17"):
        expected(answer({"subqueries": {"Few": few}, "table": "Few", "select": ["Few.Id"]}), files, with_ties=True)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"column": "Sale.Price", "above": "x"}, "compares a column of .* with 'x'"),
        ({"column": "Sale.Kind", "equals": 5}, "compares a column of string with 5"),
    ],
)
def test_a_value_of_another_type_is_refused(files: Files, condition: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        expected(answer({"where": [condition]}), files)


@pytest.mark.parametrize(
    "form",
    [
        {"where": [{"column": "Sale.Price"}]},
        {"where": [{"column": "Sale.Price", "above": 1, "below": 2}]},
        {"where": [{"any_of": [{"column": "Sale.Price", "above": 1}], "column": "Sale.Id"}]},
        {"limit": 3},
        {"order_by": ["Sale.Id"], "descending": ["Sale.Kind"]},
        {"sum": {"n": "Sale.Id"}, "count": {"n": "*"}, "select": ["n"]},
        {"where": [{"holds": "Sale.Id > 1", "column": "Sale.Id"}]},
        {"join": [{"table": "Buyer", "kind": "cross", "column": "Buyer.Id", "equals": "Sale.Id"}]},
        {"join": [{"table": "Buyer"}]},
        {
            "subqueries": {
                "Two": {
                    "table": "Sale",
                    "join": [{"table": "Buyer", "kind": "cross"}],
                    "select": ["Sale.Id", "Buyer.Id"],
                }
            }
        },
    ],
)
def test_what_says_nothing_or_two_things_is_refused(form: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        answer(form)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("__import__('os').system('true')", "expression of arithmetic"),
        ("Sale.Price.real.imag", "expression of arithmetic"),
        ("open('x')", "one of the functions year, .* not open"),
        ("yaer(Sale.Price)", "did you mean 'year'"),
        ("year(Sale.Price, 2)", "1 argument for year"),
        ("like(Sale.Kind, Sale.Kind)", "a text for `like`"),
        ("[x for x in Sale.Price]", "expression of arithmetic"),
        ("1 < Sale.Price < 2", "expression of arithmetic"),
        ("Sale.Price // 2", "systems differ in whole division"),
        ("Sale.Price ** 9", "expression of arithmetic"),
        ("Sale.Price *", "an expression such as"),
        ("(" * 300 + "1" + ")" * 300, "at most 500 characters"),
        ("-" * 99 + "1", "at most 50 levels"),
    ],
)
def test_an_expression_is_arithmetic_and_nothing_else(text: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        answer({"compute": {"Net": text}, "select": ["Net"]})


def test_numbers_that_get_too_long_are_refused(files: Files) -> None:
    for long in (" * ".join(["Sale.Price"] * 12), f"Sale.Id + {10**30}"):
        with pytest.raises(UserError, match="can't be computed"):
            expected(answer({"compute": {"Net": long}, "select": ["Net"]}), files)


def test_a_total_of_no_rows_has_the_types_of_any_other(files: Files) -> None:
    totals = {
        "sum": {"total": "Sale.Price"},
        "avg": {"mean": "Sale.Price"},
        "count": {"n": "*"},
        "select": ["total", "mean", "n"],
    }
    some = expected(answer(totals), files)
    none = expected(answer({**totals, "where": [{"column": "Sale.Id", "below": -1}]}), files)
    assert none.to_pylist() == [{"total": None, "mean": None, "n": 0}]
    assert none.schema.equals(some.schema, check_metadata=True)


def test_a_condition_that_compares_nothing_is_refused(files: Files) -> None:
    with pytest.raises(UserError, match="is no comparison"):
        expected(answer({"where": [{"holds": "Sale.Id + 1"}]}), files)


def test_the_cache_is_one_file_for_each_table(files: Files) -> None:
    assert {path.name for path in Path(files.directory).glob("*.arrow")} == {"Buyer.arrow", "Sale.arrow"}
