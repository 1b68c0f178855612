"""A churn: part of a table's rows deleted and inserted again, pass after pass. The content stays the same."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa

from dbbench.datasets.files import csv_bytes
from dbbench.datasets.rows import chunk
from dbbench.engine import prepared
from dbbench.errors import Unsupported
from dbbench.measure import collector_off, timed
from dbbench.sql import SQLEngine
from dbbench.suite import ChurnStep
from dbbench.workloads.bench import Bench, Measured
from dbbench.workloads.contents import check_table


def measure(step: ChurnStep, bench: Bench) -> Measured:
    """Time each delete, and each insert with its transaction; the rows are made for the driver off the clock."""
    engine, session, table = bench.engine, bench.session, bench.tables[step.table]
    if engine.ranked and not isinstance(engine, SQLEngine):
        raise Unsupported(f"{engine.name} deletes by SQL only in this kind of step, and has none")
    insert = prepared(engine, session, "load")(step.table, table)
    prepare_delete = prepared(engine, session, "statement")
    data = bench.files.table(step.table)
    passes, count, inserted = [], 0, 0
    with collector_off():
        for picked in picks(data.num_rows, step, bench.files.manifest["seed"]):
            pieces = []
            for first in picked:
                batch = _batch(data, first, step.transaction)
                given = chunk(batch, table, session.takes, session.bind)
                # It commits by itself: some systems refuse a key that was deleted in the same transaction.
                pieces.append(timed(prepare_delete(_delete(step, bench, batch)))[0])
                pieces.append(timed(session.begin)[0])
                pieces.append(timed(lambda: insert(given))[0])  # noqa: B023 - called at once
                pieces.append(timed(session.commit)[0])
                count += batch.num_rows
                inserted += csv_bytes(batch)
            passes.append(sum(pieces) / 1e9)
    facts = {"rows": count, "csv_bytes": inserted, "passes": passes, "takes": session.takes}
    return Measured("time", "s", [sum(passes)], facts=facts)


def check(step: ChurnStep, bench: Bench) -> None:
    """The table's rows are what they were, every one of them. Raises WrongAnswer."""
    bench.left_by[step.table] = step.name
    check_table(bench, step.table, every_row=True)


def picks(count: int, step: ChurnStep, seed: int) -> Iterator[list[int]]:
    """For each pass the first rows of the runs to be taken, in the order in which they are; the same for one seed."""
    order = random.Random(f"{seed} {step.table}")
    starts = range(0, count, step.transaction)
    for _ in range(step.passes):
        yield order.sample(starts, max(1, round(len(starts) * step.share)))


def _batch(data: pa.Table, first: int, count: int) -> pa.RecordBatch:
    """Some rows in a row, as one batch."""
    (batch,) = data.slice(first, count).combine_chunks().to_batches()
    return batch


def _delete(step: ChurnStep, bench: Bench, batch: pa.RecordBatch) -> str:
    """The statement that deletes a batch's rows: their keys follow one another."""
    key = bench.tables[step.table].primary_key
    first, last = batch.column(key)[0].as_py(), batch.column(key)[-1].as_py()
    return bench.quoted(f"DELETE FROM {step.table} WHERE {key} BETWEEN {first} AND {last}")
