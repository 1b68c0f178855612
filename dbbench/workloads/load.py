"""A load: all rows in one transaction, then the indexes, by the engine's own best path."""

from __future__ import annotations

from typing import Any

from dbbench.datasets.driver_rows import chunk
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.host.meters import CallMeter
from dbbench.loadgen.loops import collector_off, timed
from dbbench.results.facts import StepFacts
from dbbench.suite.steps.load import LoadStep
from dbbench.workloads.contents import check_table
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement
from dbbench.workloads.promises import check_indexes


def measure(step: LoadStep, context: StepContext) -> StepMeasurement:
    """Time each piece of the load; a chunk is made for the driver between the pieces, off the clock."""
    with context.beneath() as (engine, session):
        return _load(context, engine, session)


def _load(context: StepContext, engine: Engine, session: Session) -> StepMeasurement:
    inserts = {name: prepared(engine, session, "load")(name, table) for name, table in context.tables.items()}
    loading: Any = session  # every session that loads has begin_load and prepare_finish
    finish = loading.prepare_finish(context.tables)
    parts: dict[str, int] = {"insert": 0}
    making = 0
    meter = CallMeter(engine)
    with collector_off():
        with meter:
            parts["insert"] += timed(lambda: loading.begin_load(context.tables))[0]
        for name, table in context.tables.items():
            insert = inserts[name]
            for batch in context.files.stream(name):
                made, given = timed(lambda: chunk(batch, table, session.load_format, session.bind))  # noqa: B023 - called at once
                making += made
                with meter:
                    parts["insert"] += timed(lambda: insert(given))[0]  # noqa: B023 - called at once
        for part, run in finish.items():
            with meter:
                parts[part] = timed(run)[0]
    manifest = context.files.manifest
    rows = {name: table["rows"] for name, table in manifest["tables"].items()}
    facts: StepFacts = {
        "rows": sum(rows.values()),
        "csv_bytes": manifest["csv_bytes"],
        "takes": session.load_format,
        "load_parts": {part: nanoseconds / 1e9 for part, nanoseconds in parts.items()},
        "making_rows": making / 1e9,  # for the driver, outside the clock
    }
    seconds = sum(parts.values()) / 1e9
    return StepMeasurement(
        "time",
        "s",
        [seconds],
        facts=facts,
        leaves=Leaves(rows, list(rows)),
        usage=meter.usage(seconds),
        commits=1,
    )


def check(step: LoadStep, context: StepContext) -> None:
    """Compare number of rows, least, greatest and sum of each column, and a sample of rows. Raises WrongAnswer.

    In the first round every row is compared, and the indexes are looked for.
    """
    for name in context.data.left_by:
        check_table(context, name, every_row=context.round == 1)
    if context.round == 1:
        check_indexes(context)
