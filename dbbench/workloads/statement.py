"""A statement that commits by itself, one call after another."""

from __future__ import annotations

from dbbench.engine import prepared
from dbbench.errors import WrongAnswer
from dbbench.measure import collector_off, stream
from dbbench.sql import SQLEngine
from dbbench.suite import StatementStep
from dbbench.verify import check_value
from dbbench.workloads.bench import Bench, Measured
from dbbench.workloads.load import COUNT, fetch


def measure(step: StatementStep, bench: Bench) -> Measured:
    """Time each call."""
    run = prepared(bench.engine, bench.session, "statement")(bench.statement(step))
    with collector_off():
        warm_up = stream(run, step.warm_up)
        times = stream(run, step.iterations)
    if step.adds is not None and step.adds.table in bench.rows:
        bench.rows[step.adds.table] += step.adds.rows * (step.warm_up + step.iterations)
    return Measured("time", "s", [ns / 1e9 for ns in times], [ns / 1e9 for ns in warm_up], {"calls": step.iterations})


def check(step: StatementStep, bench: Bench) -> None:
    """Count the rows that it must have added, and make the check's query. Raises WrongAnswer."""
    engine, session = bench.engine, bench.session
    if step.adds is not None and isinstance(engine, SQLEngine) and step.adds.table in bench.rows:
        ((found,),) = fetch(session, f"SELECT COUNT(*) FROM {engine.sql.quoted(step.adds.table)}")
        check_value(found, str(bench.rows[step.adds.table]), COUNT, f"rows of {step.adds.table}")
    if step.check is None:
        return
    rows = fetch(session, bench.statement(step.check))
    if len(rows) != len(step.check.rows):
        raise WrongAnswer(f"the check found {len(rows)} rows instead of {len(step.check.rows)}")
    for row, wanted in zip(rows, step.check.rows, strict=True):
        for value, text, column in zip(row, wanted, step.check.columns, strict=True):
            table, _, name = column.partition(".")
            check_value(value, str(text), bench.tables[table].columns[name].data_type, column)
