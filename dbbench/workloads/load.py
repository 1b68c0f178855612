"""A load: all rows in one transaction, then the indexes, by the engine's own best path."""

from __future__ import annotations

from typing import Any

from dbbench.datasets.rows import chunk
from dbbench.engine import Engine, Session, prepared
from dbbench.errors import Unsupported
from dbbench.measure import collector_off, timed
from dbbench.suite import LoadStep
from dbbench.workloads.bench import Bench, Measured
from dbbench.workloads.contents import check_table
from dbbench.workloads.promises import check_indexes


def measure(step: LoadStep, bench: Bench) -> Measured:
    """Time each piece of the load; a chunk is made for the driver between the pieces, off the clock."""
    with bench.beneath() as (engine, session):
        return _load(bench, engine, session)


def _load(bench: Bench, engine: Engine, session: Session) -> Measured:
    inserts = {name: prepared(engine, session, "load")(name, table) for name, table in bench.tables.items()}
    if hasattr(session, "finish_load"):
        raise Unsupported(f"{engine.name} has finish_load, which is now prepare_finish: see docs/plugins.md")
    loading: Any = session  # every session that loads has begin_load and prepare_finish
    finish = loading.prepare_finish(bench.tables)
    parts: dict[str, int] = {"insert": 0}
    making = 0
    with collector_off():
        parts["insert"] += timed(lambda: loading.begin_load(bench.tables))[0]
        for name, table in bench.tables.items():
            insert = inserts[name]
            for batch in bench.files.stream(name):
                made, given = timed(lambda: chunk(batch, table, session.takes, session.bind))  # noqa: B023 - called at once
                making += made
                parts["insert"] += timed(lambda: insert(given))[0]  # noqa: B023 - called at once
        for part, run in finish.items():
            parts[part] = timed(run)[0]
    manifest = bench.files.manifest
    facts = {
        "rows": sum(table["rows"] for table in manifest["tables"].values()),
        "csv_bytes": manifest["csv_bytes"],
        "takes": session.takes,
        "load_parts": {part: nanoseconds / 1e9 for part, nanoseconds in parts.items()},
        "making_rows": making / 1e9,  # for the driver, outside the clock
    }
    return Measured("time", "s", [sum(parts.values()) / 1e9], facts=facts)


def check(step: LoadStep, bench: Bench) -> None:
    """Compare number of rows, and least, greatest and sum of each column. Raises WrongAnswer.

    In the first round every row is compared, and the indexes are looked for.
    """
    for name, known in bench.files.manifest["tables"].items():
        bench.rows[name] = known["rows"]
        bench.left_by[name] = step.name
    for name in bench.left_by:
        check_table(bench, name, every_row=bench.round == 1)
    if bench.round == 1:
        check_indexes(bench)
