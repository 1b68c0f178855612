"""A load: all rows in one transaction, then the indexes, by the engine's own best path."""

from __future__ import annotations

from typing import Any

from dbbench.datasets.rows import chunk
from dbbench.engine import Engine, Session, prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.measure import collector_off, timed
from dbbench.schema import DataType
from dbbench.sql import SQLEngine, fetch
from dbbench.suite import LoadStep
from dbbench.verify import check_value
from dbbench.workloads.bench import Bench, Measured

COUNT = DataType("bigint", ())


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
    """Compare number of rows, and least, greatest and sum of each column. Raises WrongAnswer."""
    for name, known in bench.files.manifest["tables"].items():
        bench.rows[name] = known["rows"]
        check_table(bench, name)


def check_table(bench: Bench, name: str, count: int | None = None) -> None:
    """Compare a table's rows of the dataset by number, least, greatest and sum of each column. Raises WrongAnswer.

    `count` is how many rows the table has by now, if there may be others beside the dataset's.
    """
    with bench.beneath() as (engine, session):
        _check_table(bench, engine, session, name, count)


def _check_table(bench: Bench, engine: Engine, session: Session, name: str, count: int | None) -> None:
    known, table = bench.files.manifest["tables"][name], bench.tables[name]
    if not isinstance(engine, SQLEngine):
        raise WrongAnswer(f"there is no way to check the rows of {engine.name}")
    wanted = [("COUNT(*)", str(known["rows"]), COUNT)]
    for column, checks in known["columns"].items():
        kind = table.columns[column].data_type
        for key, text in checks.items():
            plain = f"{key.upper()}({engine.sql.quoted(column)})"
            wanted.append((engine.sql.total(column, kind.name) if key == "sum" else plain, text, kind))
    sql = f"SELECT {', '.join(part for part, _, _ in wanted)} FROM {engine.sql.quoted(name)}"
    if count is not None:
        ((found,),) = fetch(session, f"SELECT COUNT(*) FROM {engine.sql.quoted(name)}")
        check_value(found, str(count), COUNT, f"rows of {name}")
        keys = known["columns"][table.primary_key]
        sql += f" WHERE {engine.sql.quoted(table.primary_key)} BETWEEN {keys['min']} AND {keys['max']}"
    (row,) = fetch(session, sql)
    for value, (part, text, kind) in zip(row, wanted, strict=True):
        check_value(value, text, kind, f"{part} of {name}")
