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

from dbbench.answers.compare import check_batches, check_rows
from dbbench.answers.oracle import expected
from dbbench.answers.stored import read_answer
from dbbench.answers.ties import row_count
from dbbench.datasets.cache import Files
from dbbench.datasets.driver_rows import chunk
from dbbench.datasets.generate import arrow_type
from dbbench.engine.operations import prepared
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.loops import COUNTING
from dbbench.suite.answer import Answer
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads.context import StepContext

#: Bytes of a dataset above which it isn't tried: the answer without a row is computed as a whole, in the trial's own memory.
MOST_BYTES = 2**28


@dataclass(frozen=True)
class Without(Files):
    """A dataset with one row left out of one table."""

    left_out: str = ""
    place: int = 0

    def table(self, name: str) -> pa.Table:
        """A whole table, or what is left of it."""
        whole = super().table(name)
        return whole if name != self.left_out else pa.concat_tables([whole[: self.place], whole[self.place + 1 :]])


def check(step: QueryStep, context: StepContext) -> None:
    """Raises WrongAnswer if the answer is still the old one, and Unsupported where there is no way to find out."""
    if not isinstance(context.engine, SQLEngine):
        raise Unsupported("its rows are deleted by SQL only")
    if not isinstance(step.answer, Answer):
        raise Unsupported("only an answer in relational form can be computed without a row")
    if sum(file["bytes"] for file in context.files.manifest["files"].values()) > MOST_BYTES:
        raise Unsupported(
            f"its data has more than {MOST_BYTES // 2**20} MiB, and the answer would be computed as a whole"
        )
    if step.parameters:
        raise Unsupported("its parameters are drawn for each call")
    name, table = step.answer.table, context.tables[step.answer.table]
    if any(each.table == name for other in context.tables.values() for each in other.foreign_keys):
        raise Unsupported(f"rows of other tables are declared to refer to those of {name}")
    insert = prepared(context.engine, context.session, "load")(name, table)
    prepare_delete = prepared(context.engine, context.session, "statement")
    place = _row(step, context)
    key = context.files.table(name).column(table.single_key)[place].as_py()
    (row,) = context.files.table(name).slice(place, 1).combine_chunks().to_batches()
    old, new = (
        read_answer(context.answers[step.name]),
        expected(step.answer, Without(context.files.directory, name, place), with_ties=True),
    )
    run = context.prepare_query(step, row_count(old))
    COUNTING[context.session.result_format](run(), step.read_column)
    prepare_delete(context.quoted(f"DELETE FROM {name} WHERE {table.single_key} = {key}"))()
    try:
        given = list(run())
    finally:
        context.session.begin()
        insert(chunk(row, table, context.session.load_format, context.session.bind))
        context.session.commit()
    if _is(given, old, step, context) and not _is(given, new, step, context):
        raise WrongAnswer(f"a row of {name} was deleted, and the answer is that of before: it is kept between calls")


def _row(step: QueryStep, context: StepContext) -> int:
    """The place of a row of the answer's first table on which the answer depends. Raises Unsupported if there is none."""
    assert isinstance(step.answer, Answer)
    name, key = step.answer.table, context.tables[step.answer.table].single_key
    if not pa.types.is_integer(arrow_type(context.tables[name].columns[key].data_type)):
        raise Unsupported("only a row whose key is a whole number is deleted")
    rows = Answer(table=name, join=step.answer.join, where=step.answer.where, select=(f"{name}.{key}",))
    keys = expected(rows, context.files).column(0).drop_null()  # an outer join has rows of other tables alone
    if not len(keys):
        raise Unsupported("its answer has no rows")
    picked = keys[random.Random(f"{context.files.manifest['seed']} {step.name}").randrange(len(keys))]
    place: int = pc.index(context.files.table(name).column(key), picked).as_py()
    return place


def _is(given: list[Any], answer: pa.Table, step: QueryStep, context: StepContext) -> bool:
    compare: Callable[..., object] = check_batches if context.session.result_format == "batches" else check_rows
    try:
        compare(given, answer, ordered=step.ordered)
    except WrongAnswer:
        return False
    return True
