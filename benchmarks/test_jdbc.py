"""Rows that cross from a JVM thousands at a time against the same rows, asked for cell by cell through JPype."""

from pathlib import Path

from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.loadgen.loops import read_rows
from dbbench.suite.model import Tier

ROWS = 8_000
AT_MOST = 0.35
#: As wide as the first join of the invoices, with the same types.
QUERY = f"""
    SELECT X, 'INV-' || X, DATE '2004-01-01' + MOD(X, 700), CAST(X / 7.0 AS NUMERIC(19, 4)), 'USD', X * 3, X * 5,
    '1Z' || X, DATE '2004-01-01' + MOD(X, 600), CAST(X / 9.0 AS NUMERIC(19, 4)), 'EUR' FROM SYSTEM_RANGE(1, {ROWS})
"""


def test_fetching(tmp_path: Path, ratio) -> None:
    engine = registry.load("h2")(Setup(tmp_path, Tier.MEMORY))
    engine.open()
    session = engine.connect()
    run = session.prepare_query(QUERY)
    statement = session.connection.prepareStatement(QUERY)

    def by_cell() -> int:
        rows = statement.executeQuery()
        count = 0
        while rows.next():
            (rows.getLong(1), str(rows.getString(2)), str(rows.getString(3)), str(rows.getString(4)),
             str(rows.getString(5)), rows.getLong(6), rows.getLong(7), str(rows.getString(8)),
             str(rows.getString(9)), str(rows.getString(10)), str(rows.getString(11)))  # fmt: skip
            count += 1
        return count

    for _ in range(3):  # the JVM compiles what it finds busy
        assert read_rows(run(), 7) == by_cell() == ROWS
    found = ratio(lambda: read_rows(run(), 7), by_cell)
    engine.close()
    assert found <= AT_MOST
