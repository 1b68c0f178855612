"""A statement with an implicit commit: one call after another or at a rate, by one client or several."""

import re
from dataclasses import replace

from dbbench.answers.compare import check_value
from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.suite.steps.statement import StatementStep
from dbbench.workloads import load_control
from dbbench.workloads.contents import check_added, let_go, note_added
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.drawn import drawn_calls

_INCREMENT = re.compile(
    r"\s*UPDATE\s+(\w+)\s+SET\s+(\w+)\s*=\s*\2\s*[+-]\s*[1-9]\d*\s+WHERE\s+(\w+)\s*=\s*(:?\w+)\s*", re.IGNORECASE
)


def measure(step: StatementStep, context: StepContext) -> StepMeasurement:
    """Time each call: service times, or at a rate latencies from when each call was to be made."""
    job = Job("statement", (context.statement(step),), 0, step.iterations, seed=context.files.manifest["seed"])
    clients = arranged(context.engine, step.clients)
    changes = step.adds is not None or _increments(step, context)
    known = let_go(context, step)
    calls = 0
    if step.parameters:
        job = replace(job, arguments=(), inputs=drawn_calls(step, context), each=True)

    def driven(job: Job) -> ClientTimings:
        nonlocal calls
        if calls and step.parameters:  # a search has them do it again: new keys follow on those that are there by now
            job = replace(job, inputs=drawn_calls(step, context))
        found = context.drive(job, clients, last=step.find is None)
        calls += found.calls
        return found

    try:
        measured = load_control.measure(step, job, clients, driven, context.note)
    except Unsupported:
        context.data.left_by.update(known)
        context.session.close()  # it may have rows that hinder the next statement
        context.session = context.engine.connect()
        raise
    note_added(context, step, calls, known)
    return replace(measured, commits=calls // clients.count if changes else 0)


def _increments(step: StatementStep, context: StepContext) -> bool:
    """Whether each call adds to a number of a row that is there, which its key names."""
    if (match := _INCREMENT.fullmatch(context.in_dialect(step.sql, step.dialects))) is None:
        return False
    name, column, key, value = match.groups()
    table = context.tables.get(name)
    if table is None or table.key_columns != (key,) or column == key or column not in table.columns:
        return False
    if value.startswith(":"):
        exists = name in context.data.left_by and step.parameters[value[1:]].draw == f"{name}.{key}"
    else:  # an update makes no row, so one that the check finds was there before
        by_key = re.compile(rf"SELECT\s.*\sFROM\s+{name}\s+WHERE\s+{key}\s*=\s*{value}", re.IGNORECASE | re.DOTALL)
        exists = (
            step.check is not None and bool(step.check.rows) and by_key.fullmatch(step.check.sql.strip()) is not None
        )
    return exists and not table.columns[column].nullable


def check(step: StatementStep, context: StepContext) -> None:
    """Count the rows that it must have added, compare each as far as it is known, and make the check's query.

    Raises WrongAnswer, and NotVerified where there is neither a table to count nor a query to make.
    """
    counted = isinstance(context.engine, SQLEngine) and step.adds is not None and step.adds.table in context.data.rows
    if step.check is None and not counted:
        raise NotVerified("the step has no table to count (`adds`) and no `check`")
    if counted and step.adds is not None:
        check_added(context, step.adds.table)
    if step.check is None:
        return
    rows = fetch(context.session, context.statement(step.check))
    if len(rows) != len(step.check.rows):
        raise WrongAnswer(f"the check found {len(rows)} rows instead of {len(step.check.rows)}")
    for row, wanted in zip(rows, step.check.rows, strict=True):
        for value, text, column in zip(row, wanted, step.check.columns, strict=True):
            table, _, name = column.partition(".")
            check_value(value, str(text), context.tables[table].columns[name].data_type, column)
