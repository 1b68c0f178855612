"""A churn: part of a table's rows deleted and inserted again, pass after pass. The content stays the same."""

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dbbench.datasets.csv_form import csv_bytes
from dbbench.datasets.driver_rows import chunk
from dbbench.engine.offered import prepared
from dbbench.errors import NotVerified
from dbbench.host.collector import collector_off
from dbbench.host.meters import CallMeter
from dbbench.loadgen.loops import timed
from dbbench.results.facts import StepFacts
from dbbench.suite.steps.churn import ChurnStep
from dbbench.workloads.contents import check_table
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement


def measure(step: ChurnStep, context: StepContext) -> StepMeasurement:
    """Time each delete, and each insert with its transaction; the rows are made for the driver off the clock."""
    engine, session, table = context.engine, context.session, context.tables[step.table]
    insert = prepared(engine, session, "load")(step.table, table)
    prepare_delete = prepared(engine, session, "statement")
    data = context.files.table(step.table)
    pieces, count, inserted, commits = list[int](), 0, 0, 0
    meter = CallMeter(engine)
    with collector_off():
        for picked in picks(data.num_rows, step, context.files.manifest["seed"]):
            for first in picked:
                batch = _batch(data, first, step.transaction)
                given = chunk(batch, table, session.load_format, session.bind)
                # It commits by itself: some systems refuse a key that was deleted in the same transaction.
                delete = prepare_delete(_delete(step, context, batch))
                with meter:
                    pieces.append(timed(delete)[0])
                    pieces.append(timed(session.begin)[0])
                    pieces.append(timed(lambda: insert(given))[0])  # noqa: B023 - called at once
                    pieces.append(timed(session.commit)[0])
                count += batch.num_rows
                inserted += csv_bytes(batch)
                commits += 2
    context.returned()
    loading: Any = session  # every session that loads has prepare_finish
    if settings := loading.prepare_finish({}).get("indexes"):  # of no table: what was set for loads is set back
        settings()
    filled = [step.table] if step.table in context.data.left_by else ()
    facts: StepFacts = {"rows": count, "csv_bytes": inserted, "takes": session.load_format}
    seconds = sum(pieces) / 1e9
    return StepMeasurement(
        "time", "s", [seconds], facts=facts, leaves=Leaves(filled=filled), usage=meter.usage(seconds), commits=commits
    )


def check(step: ChurnStep, context: StepContext) -> None:
    """The table's rows are what they were, every one of them. Raises WrongAnswer; NotVerified if nobody knows them."""
    if step.table not in context.data.left_by:
        raise NotVerified("an earlier step may have changed other rows than those it deletes and inserts")
    check_table(context, step.table, every_row=True)


def picks(count: int, step: ChurnStep, seed: int) -> Iterator[list[int]]:
    """First rows of the runs to take in each pass, in ascending order; the same for one seed."""
    order = random.Random(f"{seed} {step.table}")
    starts = range(0, count, step.transaction)
    for _ in range(step.passes):
        yield order.sample(starts, max(1, round(len(starts) * step.share)))


def _batch(data: pa.Table, first: int, count: int) -> pa.RecordBatch:
    """Some rows in a row, as one batch."""
    (batch,) = data.slice(first, count).combine_chunks().to_batches()
    return batch


def _delete(step: ChurnStep, context: StepContext, batch: pa.RecordBatch) -> str:
    """The statement that deletes a batch's rows: their keys follow one another."""
    key = context.tables[step.table].single_key
    first, last = batch.column(key)[0].as_py(), batch.column(key)[-1].as_py()
    return context.quoted(f"DELETE FROM {step.table} WHERE {key} BETWEEN {first} AND {last}")
