"""What is found by name alone, whatever else is wrong with the file."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from dbbench.suite.loader import builtin_suites, find_suite, read_text
from dbbench.suite.references import dangling
from dbbench.suite.sql_text import tables_of
from tests.unit.shapes import WRONG, places, put

LONG = 200


@pytest.mark.parametrize("name", builtin_suites())
def test_what_has_the_wrong_shape_is_passed_over(name: str) -> None:
    data = YAML(typ="safe").load(read_text(find_suite(name)))
    assert list(dangling(data)) == []
    paths = places(data)[1:]
    for number, path in enumerate(paths):
        # Of a long suite each place has one of them in turn: all of them would take minutes.
        for wrong in WRONG if len(paths) < LONG else [WRONG[number % len(WRONG)]]:
            list(dangling(put(data, path, wrong)))  # must not raise


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT * FROM A", ["A"]),
        ('select 1 from "A" join B on 1 = 1 inner join C', ["A", "B", "C"]),
        ("INSERT INTO A SELECT MAX(x) + 1 FROM B", ["A", "B"]),
        ("UPDATE A SET x = 'from B'", ["A"]),
        ("SELECT 'it''s FROM B' FROM A", ["A"]),
        ("SELECT x FROM A WHERE x IN (SELECT y FROM B)", ["A", "B"]),
        ("SELECT * FROM (SELECT x FROM A) s", ["A"]),
        ("WITH t AS (SELECT x FROM A), u AS (SELECT 1) SELECT * FROM t JOIN u ON 1 = 1", ["A"]),
        ("WITH RECURSIVE t AS (SELECT x FROM A) SELECT * FROM t", ["A"]),
        ("SELECT EXTRACT(YEAR FROM a.x) FROM A a", ["A"]),
        ("SELECT fromage, B.x FROM A B", ["A"]),
    ],
)
def test_tables_of_finds_the_tables_that_a_statement_names(sql: str, tables: list[str]) -> None:
    assert tables_of(sql) == tables
