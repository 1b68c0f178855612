"""A query: run, and its cursor stepped to the end, one column of each row read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbbench.engine import prepared
from dbbench.errors import WrongAnswer
from dbbench.measure import collector_off, read_batches, read_rows, timed
from dbbench.oracle import read_answer
from dbbench.suite import QueryStep
from dbbench.verify import check_batches, check_rows
from dbbench.workloads.bench import Bench, Measured


def measure(step: QueryStep, bench: Bench) -> Measured:
    """Time each iteration whole: run and step. Raises WrongAnswer if the number of rows is not the oracle's."""
    expected = read_answer(bench.answers[step.name])
    run = _prepare(step, bench, expected.num_rows)
    column = step.answer.select.index(step.read)
    read: Callable[[Any, int], int] = read_rows if bench.session.gives == "rows" else read_batches

    def operation() -> int:
        return read(run(), column)

    times, counts = [], set()
    with collector_off():
        for _ in range(step.warm_up + step.iterations):
            nanoseconds, count = timed(operation)
            times.append(nanoseconds / 1e9)
            counts.add(count)
    if counts != {expected.num_rows}:
        raise WrongAnswer(f"{min(counts):,} rows instead of {expected.num_rows:,}")
    facts = {"rows": expected.num_rows, "gives": bench.session.gives}
    return Measured("time", "s", times[step.warm_up :], times[: step.warm_up], facts)


def check(step: QueryStep, bench: Bench) -> None:
    """Run the same prepared query again and compare every column of every row. Raises WrongAnswer."""
    expected = read_answer(bench.answers[step.name])
    compare: Callable[..., None] = check_rows if bench.session.gives == "rows" else check_batches
    compare(_prepare(step, bench, expected.num_rows)(), expected, ordered=bool(step.answer.order_by))


def _prepare(step: QueryStep, bench: Bench, expected_rows: int) -> Callable[[], Any]:
    prepare = prepared(bench.engine, bench.session, "query")
    # The null engine has no data: it is told how many rows to give, so that stepping them is timed.
    told = {} if bench.engine.ranked else {"expected_rows": expected_rows}
    run: Callable[[], Any] = prepare(bench.statement(step), **told)
    return run
