"""What the reference answers, what it refuses, and what becomes of one that dies."""

import datetime
import math
from contextlib import nullcontext
from decimal import Decimal as D
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest

from dbbench.answers.compare import check_rows
from dbbench.answers.question import compute
from dbbench.answers.stored import Question, read_answers, refused, write_answers
from dbbench.host import apart
from tests.unit.asked import Ask, Content, Given, reference, rows_of, tables_of, values

NINES = D("9" * 36 + ".99")
CONTENT: Content = {
    "T": {
        "Id": ("integer", [1, 2, 3]),
        "N": ("bigint", [2**63 - 1, None, -(2**63)]),
        "Price": ("decimal(38, 2)", [NINES, D(0), None]),
        "Weight": ("double", [math.nan, math.inf, -0.0]),
        "Name": ("varchar(9)", ["a\0b", "é ", None]),
        "At": ("datetime", [datetime.datetime(1990, 1, 1), None, datetime.datetime(2200, 12, 31, 23, 59, 59)]),
    },
    "Empty": {"Id": ("integer", []), "N": ("double", [])},
}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return reference(tmp_path, CONTENT)


ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "SELECT * FROM T WHERE Id = 1": [(1, 2**63 - 1, NINES, math.nan, "a\0b", datetime.datetime(1990, 1, 1))],
    "SELECT id, nAmE AS Other FROM t WHERE Name = 'é '": [(2, "é ")],
    "SELECT Id FROM T WHERE Name = 'é'": [],
    "SELECT SUM(N) FROM T": [(-1,)],
    "SELECT SUM(Price) FROM T WHERE Id = 1": [(NINES,)],
    "SELECT COUNT(*), SUM(N), MAX(Id) FROM Empty": [(0, None, None)],
    "SELECT Id FROM Empty ORDER BY N LIMIT 3": [],
    "SELECT Id FROM T WHERE At > '2000-01-01 00:00:00'": [(3,)],
    "SELECT MAX(At) FROM T": [(datetime.datetime(2200, 12, 31, 23, 59, 59),)],
    "SELECT 1e0 / 4 AS a, 1 / 4.0 AS b, 1 / 4 AS c": [(0.25, D("0.2500"), 0)],
    "SELECT 1e-300 * 10 AS a, 1e308 * 10 AS b": [(1e-299, math.inf)],
    "SELECT TRUE AS a, NULL AS b": [(True, None)],
    "SELECT 'a; b' AS x -- ; no statement": [("a; b",)],
    "SELECT Id FROM T WHERE Name = '2020-01-01T00:00:00Z' OR At = '1990-01-01 00:00:00'": [(1,)],
}


@pytest.mark.parametrize("text", ANSWERS)
def test_answers(ask: Ask, text: str) -> None:
    assert repr(values(ask(text))) == repr(ANSWERS[text])


REFUSED = {
    "SELECT Id FROM T; SELECT 1": "it has 2 statements",
    "": "it has 0 statements",
    "SELEC 1": "line 1, column",
    "DELETE FROM T": "it is no query",
    "COPY T TO 'out.csv'": "it is no query",
    "CREATE TABLE X AS SELECT 1": "it is no query",
    "EXPLAIN SELECT 1": "it is no query",
    "SELECT Id INTO X FROM T": "DDL not supported",
    "WITH x AS (DELETE FROM T RETURNING Id) SELECT Id FROM x": "not implemented",
    "SELECT a FROM '{file}'": "table .* not found",
    "SELECT a FROM read_csv('{file}')": "not found",
    "SELECT a FROM read_parquet('{file}')": "not found",
    "SELECT table_name FROM information_schema.tables": "not found",
    "SELECT * FROM generate_series(1, 9)": "not found",
    "SELECT Nothing FROM T": "No field named nothing",
    "SELECT Id FROM Nothing": "not found",
    "SELECT Id + Name FROM T": "Cannot",
    "SELECT AVG(Price) FROM T": "[Oo]verflow",
    "SELECT Price * Price FROM T": "[Oo]verflow",
    "SELECT Id FROM T LIMIT 1 + 1": "a whole number of rows",
    "SELECT Id FROM T WHERE At > TIMESTAMP '2020-01-01 00:00:00+02:00'": "a time without a zone, unlike '2020",
    "SELECT Id FROM T WHERE At BETWEEN '2020-01-01 00:00' AND '2020-01-01 00:00 Europe/Rome'": "a time without a zone",
    "SELECT Id FROM T WHERE '2020-01-01T00:00:00Z' < At": "a time without a zone, unlike",
    "SELECT At AT TIME ZONE 'UTC' FROM T": "a time without a zone",
    "SELECT CAST(At AS timestamp with time zone) FROM T": "a time without a zone",
    "SELECT Id FROM T WHERE Id = :n": "the parameter n has no value",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(ask: Ask, tmp_path: Path, text: str) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(Exception, match=REFUSED[text]):
        ask(text.replace("{file}", str(tmp_path / "secret.csv")))


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("SELECT Id FROM T ORDER BY N", [[3, 1, 2], [2, 3, 1]]),
        ("SELECT Id FROM T ORDER BY N DESC", [[2, 1, 3], [1, 3, 2]]),
        ("SELECT Id FROM T ORDER BY N NULLS FIRST", [[2, 3, 1]]),
        ("SELECT Id FROM T ORDER BY Id", [[1, 2, 3]]),
        ("SELECT Id, RANK() OVER (ORDER BY N) AS r FROM T", 2),
        ("SELECT COUNT(*) FROM (SELECT Id, RANK() OVER (ORDER BY N) AS r FROM T) x WHERE r = 1 AND Id = 2", 2),
        ("SELECT Id FROM T ORDER BY N LIMIT 1", [[3], [2]]),
    ],
)
def test_nulls_may_stand_where_systems_put_them(ask: Ask, text: str, answers: Any) -> None:
    found = ask(text)
    if isinstance(answers, int):
        assert len(found) == answers
    else:
        assert [each.column(0).to_pylist() for each in found] == answers


TEXTS: Content = {
    "T": {
        "Id": ("integer", [1, 2, 3, 4, 5]),
        "Name": ("varchar(9)", ["Abc", "abc", "a\\%c", "a%c", None]),
        "Low": ("varchar(9)", ["ab", "b", "c", "d", "e"]),
        "City": ("varchar(9)", ["Röm", "RÖM", "röm", "x", None]),
    }
}


@pytest.mark.parametrize(
    ("condition", "answers"),
    [
        ("Name LIKE 'a%'", [[2, 3, 4], [1, 2, 3, 4]]),  # SQLite and MySQL ignore capitals
        ("Name NOT LIKE 'A%'", [[2, 3, 4], []]),
        (r"Name LIKE 'a\%c'", [[4], [3]]),  # in SQLite and DuckDB a backslash is one more character
        (r"Name LIKE 'A\%C'", [[], [4], [3]]),
        ("UPPER(Low) LIKE 'AB'", [[1]]),
        ("Low || 'X' LIKE 'b%'", [[2]]),
        ("Low LIKE 'b%'", [[2]]),
        ("Name LIKE '%'", [[1, 2, 3, 4]]),
        ("Name LIKE Low || '%'", [[], [1]]),
        ("City LIKE '%röm%'", [[3], [1, 2, 3], [1, 3]]),  # SQLite ignores those of ASCII alone
        ("City LIKE 'R%'", [[1, 2], [1, 2, 3]]),
    ],
)
def test_like_may_match_as_systems_have_it(tmp_path: Path, condition: str, answers: list[list[int]]) -> None:
    found = reference(tmp_path, TEXTS)(f"SELECT Id FROM T WHERE {condition}")
    assert [sorted(each.column(0).to_pylist()) for each in found] == answers


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT SUM(Part) FROM T", r"SUM\(CAST\(part AS double precision\)\)"),
        ("SELECT SUM(CAST(Part AS double precision)), SUM(N) FROM T", ""),
        ("SELECT CAST(AVG(N) AS INTEGER) FROM T", "ROUND or FLOOR"),
        ("SELECT CAST((N * 1.5) AS INTEGER) FROM T", "ROUND or FLOOR"),
        ("SELECT CAST(FLOOR(AVG(N)) AS INTEGER), CAST(N * 2 AS BIGINT) FROM T GROUP BY N", ""),
    ],
)
def test_what_systems_add_up_or_cut_in_their_own_ways_has_no_answer(tmp_path: Path, sql: str, words: str) -> None:
    ask = reference(tmp_path, {"T": {"N": ("integer", [1, 2]), "Part": ("real", [0.5, 1.5])}})
    with pytest.raises(ValueError, match=words) if words else nullcontext():
        ask(sql)


def test_integers_and_bigints_may_be_joined(tmp_path: Path) -> None:
    content: Content = {
        "T": {"Id": ("integer", [1, 2, 3])},
        "U": {"Id": ("bigint", [2, 3, 2**40]), "N": ("double", [0.5, None, 1.5])},
    }
    (found,) = reference(tmp_path, content)(
        "SELECT T.Id AS a, U.Id AS b, N FROM T FULL JOIN U ON T.Id = U.Id ORDER BY COALESCE(T.Id, U.Id)"
    )
    right = [(1, None, None), (2, 2, 0.5), (3, 3, None), (None, 2**40, 1.5)]
    assert values([found]) == right
    check_rows(right, found)


def test_what_needs_too_much_memory_says_so(tmp_path: Path) -> None:
    numbers = list(range(200_000))
    ask = reference(tmp_path, {"T": {"Id": ("integer", numbers), "N": ("integer", numbers[::-1])}})
    with pytest.raises(ValueError, match="it needs more than 1 MiB of memory"):
        ask("SELECT a.Id, b.N FROM T a JOIN T b ON a.Id = b.N ORDER BY b.N + a.Id", memory=2**20)


ONE: Content = {"T": {"Id": ("integer", [1])}}


def test_a_question_that_is_refused_leaves_the_others_their_answers(tmp_path: Path) -> None:
    files = Given(tmp_path / "cache" / "it", rows_of(ONE))
    files.directory.mkdir(parents=True)
    with pa.ipc.new_file(files.directory / "T.arrow", files.content["T"].schema) as writer:
        writer.write_table(files.content["T"])
    out = tmp_path / "out"
    out.mkdir()
    questions = [Question("SELECT 1 AS a"), Question("SELECT b FROM T")]
    first, second = compute(questions, tables_of(ONE), files, out)
    assert values(read_answers(first)) == [(1,)]
    assert "No field named b" in refused(read_answers(second))


@pytest.mark.parametrize(("memory", "processes"), [(2**50, 1), (2**20, 3)])
def test_a_process_that_has_become_large_leaves_the_rest_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, processes: int
) -> None:
    run = Mock(wraps=apart.run)
    monkeypatch.setattr(apart, "run", run)
    files = Given(tmp_path, rows_of(ONE))
    paths = compute([Question("SELECT 1 AS a")] * 3, tables_of(ONE), files, tmp_path, memory)
    assert [values(read_answers(path)) for path in paths] == [[(1,)]] * 3
    assert run.call_count == processes


def test_a_question_that_kills_it_leaves_the_others_their_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def dying(call: partial[None]) -> str:
        nonlocal calls
        calls += 1
        for number in (0,) if calls == 1 else (2,):
            write_answers([pa.table({"a": [number]})], call.args[-1][number])
        return "exit status -9" if calls == 1 else ""

    monkeypatch.setattr(apart, "run", dying)
    paths = compute([Question("SELECT 1")] * 3, tables_of(ONE), Given(tmp_path, rows_of(ONE)), tmp_path)
    assert [refused(read_answers(path)) for path in paths] == ["", "exit status -9", ""]
