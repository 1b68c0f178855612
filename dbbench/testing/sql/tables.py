"""The table that the clauses on SQL use, and how they fill and read it."""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, cast

import pyarrow as pa
import pytest

from dbbench.answers.compare import check_batches, check_rows
from dbbench.datasets import driver_rows
from dbbench.datasets.generate import arrow_schema
from dbbench.engine.base import Engine, Session
from dbbench.engine.sql.dialect import RECORD_TABLE
from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.suite.dataset import TEXT_TABLE, Table
from dbbench.testing.clause import expect, expect_equal, needs, panics_as_errors
from dbbench.testing.contract import EngineContract, Opener

_ANY = {"kind": "sequence"}  # the kit brings its own values

#: Every type, and names that are reserved words in most systems.
KINDS = Table.model_validate(
    {
        "rows": 4,
        "primary_key": "Id",
        "indexes": ["Select"],
        "columns": {
            "Id": {"type": "integer", "values": _ANY},
            "Select": {"type": "bigint", "values": _ANY},
            "Real": {"type": "real", "values": _ANY},
            "Double": {"type": "double", "values": _ANY},
            "Money": {"type": "currency", "values": _ANY},
            "Small": {"type": "decimal(9, 2)", "values": _ANY},
            "Letter": {"type": "char(3)", "values": _ANY},
            "Text": {"type": "varchar(40)", "values": _ANY},
            "Day": {"type": "date", "values": _ANY},
            "Moment": {"type": "datetime", "values": _ANY},
        },
    }
)
TABLES: Mapping[str, Table] = {"Order": KINDS}

_COLUMNS: dict[str, list[Any]] = {
    "Id": [1, 2, 3, 2**31 - 1],
    "Select": [0, -1, 2**62, -(2**62)],
    "Real": [0.5, -1.25, 1024.0, 0.0],
    "Double": [0.1, -1e100, 1e-100, 0.0],
    "Money": [Decimal("0.0001"), Decimal("-123456789.9999"), Decimal("100.5000"), Decimal("0.0000")],
    "Small": [Decimal("0.01"), Decimal("-9999999.99"), Decimal("5.00"), Decimal("1.10")],
    "Letter": ["USD", "a", "'", '"'],
    "Text": ["plain", "it's \"quoted\" and a % _ ;", "Zürich – 東京", "x" * 40],
    "Day": [datetime.date(2004, 2, 29), datetime.date(1970, 1, 1), datetime.date(1999, 12, 31), datetime.date(2038, 1, 20)],
    "Moment": [datetime.datetime(2004, 2, 29), datetime.datetime(1970, 1, 1), datetime.datetime(1999, 12, 31), datetime.datetime(2038, 1, 20)],
}  # fmt: skip
BATCH = pa.record_batch(
    [pa.array(_COLUMNS[field.name], field.type) for field in arrow_schema(KINDS)], schema=arrow_schema(KINDS)
)

#: The same columns, of which all but the key may be missing: whole, missing, and every other one.
MISSING_KINDS = Table.model_validate(
    {
        "rows": 4,
        "primary_key": "Id",
        "columns": {
            name: {"type": column.type, "values": _ANY, "nullable": name != "Id"}
            for name, column in KINDS.columns.items()
        },
    }
)
MISSING = pa.record_batch(
    [
        pa.array(
            [
                value if row == 0 or field.name == "Id" or (row > 1 and (row + place) % 2) else None
                for row, value in enumerate(_COLUMNS[field.name])
            ],
            field.type,
        )
        for place, field in enumerate(arrow_schema(MISSING_KINDS))
    ],
    schema=arrow_schema(MISSING_KINDS),
)

#: Documents, in columns of whose drawing the kit makes no use.
DOCUMENT_KINDS = Table.model_validate(
    {
        "rows": 3,
        "primary_key": "Id",
        "columns": {
            "Id": {"type": "integer", "values": _ANY},
            "Body": {
                "type": "json",
                "values": {
                    "kind": "document",
                    "fields": {"a": {"type": "integer", "values": {"kind": "quantiles", "points": {0: 0, 1: 1}}}},
                },
            },
        },
    }
)
DOCUMENTS = pa.record_batch(
    [
        pa.array([1, 2, 3], pa.int32()),
        ['{"b":1.5,"a":[2,1,{"c":"ü \\"x\\""}],"n":9007199254740991}', "{}", '{"a":[],"b":{"d":{"e":"2024-01-01"}}}'],
    ],
    schema=arrow_schema(DOCUMENT_KINDS),
)

#: The session may be of any class: the operations are what counts.
Loaded = tuple[SQLEngine, Any]


class TableContract(EngineContract):
    """An engine with the kit's table in it."""

    def tidy(self, engine: Engine) -> None:
        """Drop the kits' tables."""
        engine.open()
        sql_engine(engine).drop([*TABLES, RECORD_TABLE, TEXT_TABLE])
        engine.close()

    @pytest.fixture
    def loaded(self, opened: Opener) -> Iterator[Loaded]:
        """An engine with the kit's table in it, and a session, which is closed in the end unless the test did so."""
        engine, session = filled(opened())
        yield engine, session
        with suppress(Exception), panics_as_errors():  # some can be closed once only
            session.close()


def sql_engine(engine: Engine) -> SQLEngine:
    """The engine, known to speak SQL."""
    expect(isinstance(engine, SQLEngine), f"expected a subclass of SQLEngine, got {type(engine).__name__}")
    return cast("SQLEngine", engine)


def filled(engine: Engine) -> Loaded:
    """The engine with the kit's table in it, and a session."""
    needs(engine, "load")
    made = sql_engine(engine)
    made.create(TABLES)
    session = made.connect()
    load(session, [BATCH.slice(0, 3), BATCH.slice(3)])
    return made, session


def chunk(session: Session, batch: pa.RecordBatch, kinds: Table = KINDS) -> Any:
    """A batch in the form that the session takes."""
    return driver_rows.chunk(batch, kinds, session.load_format, session.bind)


def load(session: Any, batches: Iterable[pa.RecordBatch], kinds: Table = KINDS) -> None:
    """Load some batches in one transaction."""
    tables = {"Order": kinds}
    insert = session.prepare_load("Order", kinds)
    session.begin_load(tables)
    for batch in batches:
        insert(chunk(session, batch, kinds))
    for run in session.prepare_finish(tables).values():
        run()


def count(engine: SQLEngine, session: Session) -> int:
    """Rows in the kit's table."""
    ((found,),) = fetch(session, engine.sql.translate("SELECT COUNT(*) FROM Order", TABLES))
    return int(found)


def check(engine: SQLEngine, session: Any, sql: str, expected: pa.Table) -> set[str]:
    """Run a query and compare every row, in order. Gives the other forms that columns came in."""
    return compare(session, session.prepare_query(engine.sql.translate(sql, TABLES))(), expected)


def compare(session: Session, given: Any, expected: pa.Table) -> set[str]:
    """Compare what a query gave; text and bytes in place of other types must be declared (`Session.reads`).

    Gives the other forms that columns came in.
    """
    compare_with = check_batches if session.result_format == "batches" else check_rows
    return compare_with(given, expected, ordered=True, declared=session.declared)


def expect_rows(engine: SQLEngine, expected: int, when: str) -> None:
    """Count the rows of the kit's table in a new session."""
    session = engine.connect()
    expect_equal(f"rows in Order {when}", count(engine, session), expected)
    session.close()
