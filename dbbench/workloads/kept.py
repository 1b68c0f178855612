"""Whether a query's answer follows its data: a row is deleted, and the same prepared query must be without it.

The last thing in a trial, so that no figure is made of what this changes; the row is put back. An engine that keeps
what it answered the first time can't be told by the answers alone, as long as nothing changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbbench.datasets.files import Files
from dbbench.datasets.rows import chunk
from dbbench.engine import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.measure import read_batches, read_rows
from dbbench.oracle import expected, read_answer
from dbbench.sql import SQLEngine
from dbbench.suite import QueryStep
from dbbench.verify import check_batches, check_rows
from dbbench.workloads.bench import Bench
from dbbench.workloads.query import prepare


@dataclass(frozen=True)
class Without(Files):
    """A dataset with one row left out of one table."""

    left_out: str = ""
    place: int = 0

    def table(self, name: str) -> pa.Table:
        """A whole table, or what is left of it."""
        whole = super().table(name)
        return whole if name != self.left_out else pa.concat_tables([whole[: self.place], whole[self.place + 1 :]])


def check(step: QueryStep, bench: Bench) -> None:
    """Raises WrongAnswer if the answer is still the old one, and Unsupported where there is no way to find out."""
    if not isinstance(bench.engine, SQLEngine):
        raise Unsupported("its rows are deleted by SQL only")
    name, table = step.answer.table, bench.tables[step.answer.table]
    insert = prepared(bench.engine, bench.session, "load")(name, table)
    prepare_delete = prepared(bench.engine, bench.session, "statement")
    place = _row(step, bench)
    key = bench.files.table(name).column(table.primary_key)[place].as_py()
    (row,) = bench.files.table(name).slice(place, 1).combine_chunks().to_batches()
    old, new = read_answer(bench.answers[step.name]), expected(step.answer, Without(bench.files.directory, name, place))
    run = prepare(step, bench, old.num_rows)
    (read_rows if bench.session.gives == "rows" else read_batches)(run(), step.answer.select.index(step.read))
    prepare_delete(bench.quoted(f"DELETE FROM {name} WHERE {table.primary_key} = {key}"))()
    try:
        given = list(run())
    finally:
        bench.session.begin()
        insert(chunk(row, table, bench.session.takes, bench.session.bind))
        bench.session.commit()
    if _is(given, old, step, bench) and not _is(given, new, step, bench):
        raise WrongAnswer(f"a row of {name} was deleted, and the answer is that of before: it is kept between calls")


def _row(step: QueryStep, bench: Bench) -> int:
    """The place of a row of the answer's first table on which the answer depends. Raises Unsupported if there is none."""
    name, key = step.answer.table, bench.tables[step.answer.table].primary_key
    plain = {"group_by": (), "sum": {}, "order_by": (), "select": (f"{name}.{key}",)}
    keys = expected(step.answer.model_copy(update=plain), bench.files).column(0)
    if not len(keys):
        raise Unsupported("its answer has no rows")
    picked = keys[random.Random(f"{bench.files.manifest['seed']} {step.name}").randrange(len(keys))]
    place: int = pc.index(bench.files.table(name).column(key), picked).as_py()
    return place


def _is(given: list[Any], answer: pa.Table, step: QueryStep, bench: Bench) -> bool:
    compare: Callable[..., object] = check_rows if bench.session.gives == "rows" else check_batches
    try:
        compare(given, answer, ordered=bool(step.answer.order_by))
    except WrongAnswer:
        return False
    return True
