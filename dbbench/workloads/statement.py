"""A statement that commits by itself: one call after another or at a rate, by one client or several."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dbbench.clients import drive
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.job import Job, Measurement
from dbbench.outcome import Outcome
from dbbench.samples import Samples
from dbbench.sql import SQLEngine, fetch
from dbbench.suite import Clients, StatementStep
from dbbench.verify import check_value
from dbbench.workloads.bench import Bench, Measured
from dbbench.workloads.contents import check_added, let_go, note_added

#: So many samples are kept one by one in a result; of more, the histogram.
KEPT = 1_000


def measure(step: StatementStep, bench: Bench) -> Measured:
    """Time each call: service times, or at a rate latencies from when each call was to be made."""
    seed = bench.files.manifest["seed"] if step.rate else 0
    job = Job("statement", (bench.statement(step),), step.warm_up, step.iterations, step.rate, seed)
    clients = bench.engine.concurrency.arranged(step.clients)
    known = let_go(bench, step)
    try:
        found = drive(bench.engine, bench.session, job, clients)
    except Unsupported:
        bench.left_by.update(known)
        bench.session.close()  # it may have rows that hinder the next statement
        bench.session = bench.engine.connect()
        raise
    note_added(bench, step, found.warm_up.count + found.service.count, known)
    return _measured(step, found, clients)


def _measured(step: StatementStep, found: Measurement, clients: Clients) -> Measured:
    saturated = found.kept is not None and found.kept.saturated
    main = found.service if step.rate is None else found.latency
    kinds = {"service time": found.service} | ({"latency": found.latency} if step.rate else {})
    facts: dict[str, Any] = {
        "calls": found.service.count,
        "per_second": found.per_second,
        "clients": clients.model_dump(),
        "times": {name: samples.to_json(percentiles=not saturated) for name, samples in kinds.items()},
    }
    outcome, detail = Outcome.OK, ""
    if found.kept is not None and step.rate is not None:
        facts["arrivals"] = {**asdict(found.kept), "in_time": found.kept.in_time}
    if saturated:
        assert found.kept
        outcome = Outcome.SATURATED
        detail = f"saturated: {found.kept.in_time:,} of {found.kept.due:,} arrivals in time"
    return Measured(
        "time" if step.rate is None else "latency",
        "s",
        [] if saturated else _kept(main),
        _kept(found.warm_up),
        facts,
        mean=main.mean / 1e9 if main.count else None,
        outcome=outcome,
        detail=detail,
    )


def _kept(samples: Samples) -> list[float]:
    """Seconds of each, if they are few."""
    few = samples.whole and samples.count <= KEPT
    return [nanoseconds / 1e9 for nanoseconds in samples.exact.tolist()] if few else []


def check(step: StatementStep, bench: Bench) -> None:
    """Count the rows that it must have added, compare each as far as it is known, and make the check's query.

    Raises WrongAnswer, and NotVerified where there is neither a table to count nor a query to make.
    """
    counted = isinstance(bench.engine, SQLEngine) and step.adds is not None and step.adds.table in bench.rows
    if step.check is None and not counted:
        raise NotVerified("the step has no table to count (`adds`) and no `check`")
    if counted and step.adds is not None:
        check_added(bench, step.adds.table)
    if step.check is None:
        return
    rows = fetch(bench.session, bench.statement(step.check))
    if len(rows) != len(step.check.rows):
        raise WrongAnswer(f"the check found {len(rows)} rows instead of {len(step.check.rows)}")
    for row, wanted in zip(rows, step.check.rows, strict=True):
        for value, text, column in zip(row, wanted, step.check.columns, strict=True):
            table, _, name = column.partition(".")
            check_value(value, str(text), bench.tables[table].columns[name].data_type, column)
