"""A query: run, and its cursor stepped to the end, one column of each row read. Warm, or from a cold start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbbench.engine import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.measure import collector_off, read_batches, read_rows, timed
from dbbench.oracle import read_answer
from dbbench.sql import SQLSession
from dbbench.suite import QueryStep
from dbbench.verify import check_batches, check_rows
from dbbench.workloads import cold
from dbbench.workloads.bench import Bench, Measured


def measure(step: QueryStep, bench: Bench) -> Measured:
    """Time each iteration whole: run and step; before a cold one the engine is restarted, off the clock.

    Raises WrongAnswer if the number of rows is not the oracle's.
    """
    expected = read_answer(bench.answers[step.name])
    column = step.answer.select.index(step.read)
    read: Callable[[Any, int], int] = read_rows if bench.session.gives == "rows" else read_batches
    facts: dict[str, Any] = {"rows": expected.num_rows, "gives": bench.session.gives, "cache": step.cache}
    run = _prepare(step, bench, expected.num_rows)
    times, counts, drops = [], set(), []
    with collector_off():
        for _ in range(step.warm_up + step.iterations):
            if step.cache == "cold":
                drops.append(cold.start_cold(bench))
                run = _prepare(step, bench, expected.num_rows)
            nanoseconds, count = timed(lambda: read(run(), column))  # noqa: B023 - called at once
            times.append(nanoseconds / 1e9)
            counts.add(count)
    if counts != {expected.num_rows}:
        raise WrongAnswer(f"{min(counts):,} rows instead of {expected.num_rows:,}")
    facts |= cold.facts(drops)
    return Measured("time", "s", times[step.warm_up :], times[: step.warm_up], facts)


def check(step: QueryStep, bench: Bench) -> None:
    """Run the same prepared query again and compare every column of every row. Raises WrongAnswer."""
    expected = read_answer(bench.answers[step.name])
    compare: Callable[..., None] = check_rows if bench.session.gives == "rows" else check_batches
    compare(_prepare(step, bench, expected.num_rows)(), expected, ordered=bool(step.answer.order_by))


def explain(step: QueryStep, bench: Bench) -> str:
    """The engine's own plan of the query. Raises whatever a driver may, and Unsupported if there is none to be had."""
    if not isinstance(bench.session, SQLSession):
        raise Unsupported("it tells no query plan")
    text = bench.session.explain(bench.statement(step)).strip()
    if not text:
        raise Unsupported("it tells an empty query plan")
    return text


def _prepare(step: QueryStep, bench: Bench, expected_rows: int) -> Callable[[], Any]:
    prepare = prepared(bench.engine, bench.session, "query")
    # The null engine has no data: it is told how many rows to give, so that stepping them is timed.
    told = {} if bench.engine.ranked else {"expected_rows": expected_rows}
    run: Callable[[], Any] = prepare(bench.statement(step), **told)
    return run
