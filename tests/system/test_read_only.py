"""A query's sessions refuse what writes, whoever runs it."""

from pathlib import Path

import pytest

from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import run_suite, summary
from tests.tables import one_table
from tests.trials_here import trials_here

#: Tells in a number whether the session is read-only. The right answer is 1.
TOLD = {
    "sqlite": "query_only AS N FROM T, pragma_query_only",
    "hsqldb": "CASE WHEN IS_READONLY_SESSION() THEN 1 ELSE 0 END AS N FROM T",
    "mysql": "@@tx_read_only AS N FROM T",
    "postgresql": "CAST(CAST(current_setting('transaction_read_only') AS BOOLEAN) AS INTEGER) AS N FROM T",
}
QUERIES = {
    "warm": "iterations: 2",
    "cold": "iterations: 2, cache: cold",
    "by-threads": "iterations: 2, clients: {threads: 2}",
    "by-processes": "iterations: 2, clients: {processes: 2}",
    "drawn": "parameters: {id: {draw: T.Id}}",
    "drawn-by-threads": "parameters: {id: {draw: T.Id}}, clients: {threads: 2}",
}


def steps() -> str:
    """Each query, and a statement after it that writes."""
    lines = ["- {kind: load, name: load, title: Load}"]
    for name, how in QUERIES.items():
        where = f"WHERE Id = {':id' if 'drawn' in name else '1'}"
        dialects = ", ".join(f'{dialect}: "SELECT {told} {where}"' for dialect, told in TOLD.items())
        query = f'sql: "SELECT 1 AS N FROM T {where}", dialects: {{{dialects}}}'
        insert = "sql: INSERT INTO T (Id) SELECT MAX(Id) + 1 FROM T, adds: {table: T}, iterations: 1"
        lines += [
            f"- {{kind: query, name: {name}, title: Query {name}, read: N, {how}, {query}}}",
            f"- {{kind: statement, name: after-{name}, title: After {name}, {insert}}}",
        ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "engine", ["sqlite", *(pytest.param(name, marks=pytest.mark.matrix) for name in ("postgresql", "mysql", "hsqldb"))]
)
def test_every_session_of_a_query_is_read_only(engine: str, tmp_path: Path) -> None:
    usable(engine)
    with trials_here("sqlite", "postgresql", "mysql"):  # a JVM would stay
        run = run_suite(tmp_path, suite_text("sessions", one_table("T", 1), steps()), (engine,), status=0)
    found = {step: (row["outcome"], row["verified"]) for (step, name), row in summary(run).items() if name == engine}
    names = ["load", *(f"{when}{name}" for name in QUERIES for when in ("", "after-"))]
    assert found == dict.fromkeys(names, ("ok", "yes"))


@pytest.mark.matrix
def test_a_function_of_a_query_can_not_write(tmp_path: Path) -> None:
    usable("postgresql")
    told = "SELECT 1 AS N FROM T WHERE Id = 1"
    steps = f"""
    - {{kind: load, name: load, title: Load}}
    - {{kind: statement, name: make, title: Make, sql: CREATE SEQUENCE numbers, iterations: 1}}
    - kind: query
      name: hidden
      title: Hidden
      sql: {told}
      dialects: {{postgresql: "SELECT setval('numbers', 7) AS N"}}
    - kind: query
      name: left
      title: Left
      sql: {told}
      dialects: {{postgresql: "SELECT last_value AS N FROM T, numbers"}}
    """
    with trials_here():
        run = run_suite(tmp_path, suite_text("hidden", one_table("T", 1), steps), ("postgresql",))
    hidden, left = (summary(run)[step, "postgresql"] for step in ("hidden", "left"))
    assert (hidden["outcome"], left["outcome"]) == ("failed", "ok")
    assert "cannot execute setval() in a read-only transaction" in hidden["detail"]
