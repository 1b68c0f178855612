"""Whether a query's answer follows its data: a row is deleted, and the same prepared query must be without it.

The last thing in a trial, so that no figure is made of what this changes; the row is put back. An engine that keeps
what it answered the first time can't be told by the answers alone, as long as nothing changes.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbbench.answers.compare import check_batches, check_rows
from dbbench.answers.given import MOST_BYTES, known_answer, without_a_row
from dbbench.answers.stored import LEFT_OUT, read_answers, refused, row_count, said
from dbbench.datasets.driver_rows import chunk
from dbbench.engine.offered import prepared
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.loops import COUNTING
from dbbench.suite.answer import SqlAnswer
from dbbench.suite.changes import Changes
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads.context import StepContext


def check(step: QueryStep, context: StepContext) -> None:
    """Raises WrongAnswer if the answer is still the old one, and Unsupported where there is no way to find out."""
    if not isinstance(context.engine, SQLEngine):
        raise Unsupported("its rows are deleted by SQL only")
    if not isinstance(step.answer, SqlAnswer):
        raise Unsupported("only the reference's answer can be computed without a row")
    asked = without_a_row(step, context.changes.get(step.name, Changes()), context.files)
    if asked is None:
        raise Unsupported(
            f"its parameters are drawn, its data has more than {MOST_BYTES // 2**20} MiB, or rows of it were changed"
        )
    if (path := known_answer(asked, context.files)) is None:
        raise Unsupported("the reference returned no answer for the data less one row, before the run")
    old, new = (read_answers(each) for each in (context.answers[step.name], path))
    if why := refused(new):
        raise Unsupported(why)
    name, column, key = json.loads(said(new, LEFT_OUT))
    if any(each.table == name for other in context.tables.values() for each in other.foreign_keys):
        raise Unsupported(f"other tables have foreign keys to {name}")
    table = context.tables[name]
    insert = prepared(context.engine, context.session, "load")(name, table)
    prepare_delete = prepared(context.engine, context.session, "statement")
    place = pc.index(context.files.table(name).column(column), key).as_py()
    (row,) = context.files.table(name).slice(place, 1).combine_chunks().to_batches()
    run = context.prepare_query(context.statement(step), row_count(old[0]))
    COUNTING[context.session.result_format](run(), step.read_column(old[0].column_names))
    prepare_delete(context.quoted(f"DELETE FROM {name} WHERE {column} = {key}"))()
    try:
        given = list(run())
    finally:
        context.session.begin()
        insert(chunk(row, table, context.session.load_format, context.session.bind))
        context.session.commit()
    if _is(given, old, step, context) and not _is(given, new, step, context):
        raise WrongAnswer(f"a row of {name} was deleted, and the answer didn't change: it is kept between calls")


def _is(given: list[Any], answers: Sequence[pa.Table], step: QueryStep, context: StepContext) -> bool:
    compare: Callable[..., object] = check_batches if context.session.result_format == "batches" else check_rows
    for answer in answers:
        try:
            compare(given, answer, ordered=step.ordered)
        except WrongAnswer:
            continue
        return True
    return False
