"""A load: all rows in one transaction, then the indexes, by the engine's own best path."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dbbench.datasets.absent import Absent
from dbbench.datasets.driver_rows import chunk
from dbbench.datasets.vectors import arrays
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import offers, prepared
from dbbench.engine.sql.session import SQLEngine
from dbbench.host.collector import collector_off
from dbbench.host.meters import CallMeter
from dbbench.loadgen.loops import timed
from dbbench.results.facts import StepFacts
from dbbench.suite.steps.load import LoadStep
from dbbench.workloads import nearest, search
from dbbench.workloads.contents import check_table
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement
from dbbench.workloads.promises import check_indexes

#: What begins a load; an insert and what makes its arguments, for each piece; what ends it.
_Plan = tuple[
    Callable[[], object],
    Iterable[tuple[Callable[..., object], Callable[[], tuple[Any, ...]]]],
    Mapping[str, Callable[[], object]],
]


def measure(step: LoadStep, context: StepContext) -> StepMeasurement:
    """Time each piece of the load; a chunk is made for the driver between the pieces, off the clock."""
    with context.base_session() as (engine, session):
        return _load(step, context, engine, session)


def _load(step: LoadStep, context: StepContext, engine: Engine, session: Session) -> StepMeasurement:
    begin, pieces, finish = (_of_vectors if context.vectors else _of_tables)(step, context, engine, session)
    parts: dict[str, int] = {"insert": 0}
    making = 0
    meter = CallMeter(engine)
    with collector_off():
        with meter:
            parts["insert"] += timed(begin)[0]
        for insert, make in pieces:
            made, given = timed(make)
            making += made
            with meter:
                parts["insert"] += timed(lambda: insert(*given))[0]  # noqa: B023 - called at once
        for part, run in finish.items():
            with meter:
                parts[part] = timed(run)[0]
    manifest = context.files.manifest
    every = {name: table["rows"] for name, table in manifest["tables"].items()}
    rows = {name: first_rows(step.share, number) for name, number in every.items()}
    facts: StepFacts = {
        "rows": sum(rows.values()),
        "csv_bytes": round(manifest["csv_bytes"] * step.share),
        "takes": "arrays" if context.vectors else session.load_format,
        "load_parts": {part: nanoseconds / 1e9 for part, nanoseconds in parts.items()},
        "making_rows": making / 1e9,  # for the driver, outside the clock
    }
    seconds = sum(parts.values()) / 1e9
    whole = step.share == 1
    filled = list(context.tables) if whole and (isinstance(engine, SQLEngine) or not context.texts) else ()
    left_out = None if whole else Absent(np.arange(sum(rows.values()), sum(every.values())) + 1)
    return StepMeasurement(
        "time",
        "s",
        [seconds],
        facts=facts,
        leaves=Leaves(rows, {name: table.columns for name, table in context.tables.items()}, filled, absent=left_out),
        usage=meter.usage(seconds),
        commits=1,
    )


def first_rows(share: float, count: int) -> int:
    """How many a load takes of `count` rows."""
    return max(min(1, count), round(count * share))


def _taken(step: LoadStep, context: StepContext, name: str) -> Iterator[pa.RecordBatch]:
    """The batches of a table, up to the last row that is loaded."""
    rest = first_rows(step.share, context.files.manifest["tables"][name]["rows"])
    for batch in context.files.stream(name):
        yield batch.slice(0, rest)
        rest -= batch.num_rows
        if rest <= 0:
            return


def _of_tables(step: LoadStep, context: StepContext, engine: Engine, session: Session) -> _Plan:
    inserts = {name: prepared(engine, session, "load")(name, table) for name, table in context.tables.items()}
    loading: Any = session  # every session that loads has begin_load and prepare_finish
    finish = dict(loading.prepare_finish(context.tables))
    if context.texts:
        finish |= {
            "text index": loading.prepare_text_index(),
            "first search": search.first_search(context, engine, session),
        }
    pieces = (
        (inserts[name], lambda: (chunk(batch, table, session.load_format, session.bind),))  # noqa: B023 - called at once
        for name, table in context.tables.items()
        for batch in _taken(step, context, name)
    )
    return lambda: loading.begin_load(context.tables), pieces, finish


def _of_vectors(step: LoadStep, context: StepContext, engine: Engine, session: Session) -> _Plan:
    add = prepared(engine, session, "add")()
    loading: Any = session  # every session that adds has prepare_index
    finish = dict(loading.prepare_index())
    if offers(type(engine), "nearest"):
        finish["first search"] = nearest.first_search(context, engine, session)
    pieces = ((add, partial(arrays, batch)) for batch in _taken(step, context, "vectors"))
    return lambda: None, pieces, finish


def check(step: LoadStep, context: StepContext) -> None:
    """Compare number of rows, least, greatest and sum of each column, and a sample of rows. Raises WrongAnswer.

    In the first round every row is compared.
    """
    if context.vectors:
        nearest.check_loaded(context)
    for name in context.data.left_by:
        check_table(context, name, every_row=context.round == 1)
    check_indexes(context)
    if context.texts:
        search.check_loaded(context)
