"""Statements before a query: the reference's rows are then those that SQLite has."""

import sqlite3
from pathlib import Path

import pytest

from dbbench.suite.changes import before
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.statement import StatementStep
from tests.unit.asked import Ask, Content, reference, values

CONTENT: Content = {
    "T": {"Id": ("integer", [1, 2, 3, 4]), "N": ("integer", [5, None, 7, 5]), "Name": ("varchar(9)", ["a", "b", None, "d"])},
    "U": {"Id": ("integer", [2, 4, 9]), "N": ("integer", [1, 1, None])},
}  # fmt: skip
#: Statements, in their order, and how often each is called.
CHANGES = [
    [("INSERT INTO T VALUES (8, 1, 'x'), (9, NULL, 'y')", 1)],
    [("INSERT INTO T (Name, Id) VALUES ('x', 8)", 1)],
    [("INSERT INTO T (Id, N) SELECT Id + 10, N FROM U", 1)],
    [("UPDATE T SET N = N + 1", 3)],
    [("UPDATE T SET N = Id, Name = 'z' WHERE N > 5", 1)],
    [("UPDATE T SET N = Id, Id = Id + 20 WHERE Id < 3", 1)],
    [("UPDATE T SET Name = NULL WHERE Id IN (SELECT Id FROM U)", 1)],
    [("UPDATE T SET N = 0 WHERE N NOT IN (SELECT N FROM U)", 1)],
    [("DELETE FROM T WHERE N = 5", 1)],
    [("DELETE FROM T WHERE NOT (N = 5)", 2)],
    [("DELETE FROM T WHERE EXISTS (SELECT 1 FROM U WHERE U.Id = T.Id)", 1)],
    [("DELETE FROM T", 1), ("INSERT INTO T VALUES (1, 2, 'x')", 1)],
    [
        ("UPDATE U SET N = 3", 1),
        ("INSERT INTO T (Id, N) SELECT Id + 10, N FROM U", 1),
        ("DELETE FROM T WHERE N = 3", 1),
    ],
]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return reference(tmp_path, CONTENT)


@pytest.mark.parametrize("sql", ["UPDATE U SET N = 1", "TRUNCATE TABLE U", "DELETE FROM U"])
def test_what_changes_a_table_behind_a_comma_comes_before_the_query(sql: str) -> None:
    change = StatementStep(kind="statement", name="change", title="Change", sql=sql)
    query = QueryStep(kind="query", name="query", title="Query", sql="SELECT T.Id FROM T A, U B")
    assert before(query, [change, query]).steps == ("change",)


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: changes[0][0])
def test_rows_are_those_that_a_database_has(ask: Ask, changes: list[tuple[str, int]]) -> None:
    database = sqlite3.connect(":memory:")
    for table_name, columns in CONTENT.items():
        database.execute(f"CREATE TABLE {table_name} ({', '.join(columns)})")
        rows = zip(*(column for _, column in columns.values()), strict=True)
        database.executemany(f"INSERT INTO {table_name} VALUES ({', '.join('?' * len(columns))})", rows)
    for statement, calls in changes:
        for _ in range(calls):
            database.execute(statement)
    query = "SELECT Id, N, Name FROM T ORDER BY Id"
    assert values(ask(query, changes=changes)) == database.execute(query).fetchall()
    assert values(ask("SELECT COUNT(*) FROM T")) == [(4,)], "the dataset stays as it is"


@pytest.mark.parametrize(
    ("change", "calls", "words"),
    [
        ("UPDATE T SET N = U.N FROM U WHERE U.Id = T.Id", 1, "more than one table"),
        ("DELETE FROM T USING U WHERE U.Id = T.Id", 1, "more than one table"),
        ("DELETE FROM T RETURNING Id", 1, "RETURNING"),
        ("INSERT INTO T VALUES (1, 2, 'x') ON CONFLICT DO NOTHING", 1, "a statement before it"),
        ("CREATE TABLE X (Id int)", 1, "no INSERT, UPDATE or DELETE"),
        ("UPDATE X SET Id = 1", 1, "no INSERT, UPDATE or DELETE of a table"),
        ("INSERT INTO T (Id) VALUES (1, 2)", 1, "[Nn]umber of|columns but only"),
        ("DELETE FROM T WHERE Id = 1", 1_001, "more than 1,000 times"),
    ],
)
def test_what_can_not_be_done_again_leaves_no_answer(ask: Ask, change: str, calls: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ask("SELECT COUNT(*) FROM T", changes=[(change, calls)])
