"""What is seen in the text of a statement: whether it returns rows, whether it is one SELECT, and its parameters."""

import pytest

from dbbench.suite.loader import builtin_suites, find_suite, load_suite
from dbbench.suite.sql_text import compared, is_select, returns_rows, split_parameters


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1", "select 1", "  -- INSERT INTO\n SELECT 1", "/* INSERT */ (SELECT x FROM T)", "SELECT 'INTO' FROM T",
        "VALUES (1)", "TABLE T", "SHOW TABLES", "EXPLAIN DELETE FROM T", "WITH t AS (SELECT 1) SELECT * FROM t",
        "WITH t AS (SELECT 1) SELECT 'INSERT' FROM t", "INSERT INTO T VALUES (1) RETURNING Id",
        "DELETE FROM T WHERE Id = 1 RETURNING *",
    ],
)  # fmt: skip
def test_rows_are_seen(sql: str) -> None:
    assert returns_rows(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO T SELECT MAX(Id) + 1 FROM T", "INSERT INTO T VALUES ('RETURNING')", "UPDATE T SET x = 1",
        "DELETE FROM T", "SELECT x INTO U FROM T", "WITH t AS (SELECT 1) INSERT INTO U SELECT * FROM t",
        "CREATE TABLE U AS SELECT 1", "CALL p()", "PRAGMA optimize", "",
    ],
)  # fmt: skip
def test_no_rows_or_not_to_be_told(sql: str) -> None:
    assert not returns_rows(sql)


@pytest.mark.parametrize("name", builtin_suites())
def test_the_suites_own_statements_return_none_and_their_queries_do(name: str) -> None:
    for scenario in load_suite(find_suite(name)).scenarios:
        for step in scenario.steps:
            if step.kind in ("query", "statement"):
                assert returns_rows(step.sql) == is_select(step.sql) == (step.kind == "query")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1;",
        r"SELECT `a`, [b], z[1], $$'$$ FROM T WHERE x LIKE 'a\%' ESCAPE '\'",
        "SELECT 'it''s INTO', \"update\", [b] FROM T -- DELETE",
        "-- why\nSELECT 1",
        "/* DELETE FROM */ (SELECT x FROM T) UNION SELECT REPLACE(y, 'INTO', '') FROM T",
        "WITH t AS (SELECT UPPER(REPLACE(x, 'a', 'b')) FROM T) SELECT * FROM t WHERE what = '(delete'",
    ],
)
def test_a_select_is_one(sql: str) -> None:
    assert is_select(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO 'x.csv'", "COPY T TO PROGRAM 'sh'", "SELECT 1; DROP TABLE T",
        r"SELECT '\'; DROP TABLE T; -- '", "SELECT $$ ' $$; COPY T TO 'x' --'", "SELECT 1 INTO OUTFILE '/tmp/x'",
        "SELECT /*! 1 INTO OUTFILE '/tmp/x' */", "SELECT /*M!100100 1 INTO OUTFILE '/tmp/x' */",
        "SELECT 1--1 INTO OUTFILE '/tmp/x'", "SELECT 1 # '\n INTO OUTFILE '/tmp/x'",
        r"SELECT '\'' INTO OUTFILE '/tmp/x'", r'SELECT "\"" INTO OUTFILE "/tmp/x"', "SELECT x INTO U FROM T",
        "WITH gone AS (DELETE FROM T RETURNING Id) SELECT * FROM gone",
        "WITH t AS (SELECT 1) -- x\n INSERT INTO U SELECT * FROM t", "WITH t AS (SELECT 1) UPDATE U SET x = 1",
        # A text or comment to some engines, and none to others.
        "SELECT `zz'` INTO OUTFILE '/tmp/x' FROM (SELECT 1 AS `zz'`) AS t -- '",
        """WITH a AS (SELECT $a$ ' $a$ AS t), b AS (DELETE FROM "T" RETURNING 1 AS x) SELECT 1 AS y, 'y' AS z""",
        r"""WITH c AS (SELECT E'\'' AS a, '\' AS b), d AS (DELETE FROM "T" RETURNING 1 AS x) SELECT 1 AS y -- '""",
        "SELECT 1 AS a /* /* */ ' */ INTO U -- '", "/* /* */ SELECT 1 */ DROP TABLE T", "SELECT 1 AS ['] INTO U -- '",
        "SELECT 1 -- \r INTO U", "SELECT q'[']' INTO U -- '", "/*! CREATE TABLE U AS */ SELECT 1",
        # Where no parenthesis or space tells of them.
        "WITH RECURSIVE t AS (SELECT 1 AS x) SEARCH DEPTH FIRST BY x SET y DELETE FROM T RETURNING 1", "SELECT 1INTO U",
        "WITH t AS (SELECT 1) UPDATE (U) SET x = 1", 'WITH t AS (SELECT 1 AS x) INSERT "U" (x) SELECT x FROM t',
        "SELECT 1 DROP TABLE T", "SELECT 1 AS x EXEC xp_cmdshell 'dir'", "SELECT 1 EXEC('x')", "SELECT 1 TRUNCATE TABLE T",
        "WITH t AS (SELECT 1 AS x) CREATE TABLE U AS SELECT * FROM t", "SELECT x FROM T WHERE Id = 1 FOR UPDATE",
        "EXPLAIN ANALYZE DELETE FROM T", "PRAGMA journal_mode = off", "ATTACH '/tmp/x.db' AS x", "INSTALL httpfs",
        "CALL p()", "DELETE FROM T RETURNING *", "VALUES (1)", "",
    ],
)  # fmt: skip
def test_other_sql_is_no_select(sql: str) -> None:
    assert not is_select(sql)


def test_a_long_text_takes_no_longer_for_each_of_its_letters() -> None:
    open_comments, word = "SELECT 1" + "/*" * 200_000, "a" * 200_000
    assert is_select(open_comments)
    assert is_select("SELECT " + "'\\" * 200_000)
    assert not is_select("SELECT 1 INTO U" + "/*" * 200_000)
    assert not is_select("SELECT 1 INTO U /*" + "1a" * 200_000)
    assert is_select("SELECT 'INTO'" + "/**/''" * 200_000)
    assert split_parameters(open_comments) == ((open_comments,), ())
    assert compared(f"{word} {word} = :x") == ((word, "x"),)


def test_parameters_are_found_outside_texts_casts_and_comments() -> None:
    pieces, names = split_parameters("SELECT ':a', b::int -- :c\n FROM T WHERE x = :d AND y=:e/* :f */")
    assert names == ("d", "e")
    assert "?".join(pieces) == "SELECT ':a', b::int -- :c\n FROM T WHERE x = ? AND y=?/* :f */"
