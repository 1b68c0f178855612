"""What DuckDB's plugin keeps in memory, and what it leaves out on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbbench.engine.setup import Setup
from dbbench.engine.sql.session import fetch
from dbbench.errors import Unsupported
from dbbench.suite.dataset import Table
from dbbench.suite.model import Tier

pytest.importorskip("duckdb")
from dbbench_plugins.duckdb import DuckDB

SEQUENCE = {"kind": "sequence"}
TABLE = Table.model_validate(
    {
        "rows": 4,
        "primary_key": "Id",
        "indexes": ["Other"],
        "columns": {"Id": {"type": "bigint", "values": SEQUENCE}, "Other": {"type": "bigint", "values": SEQUENCE}},
    }
)
ROWS = 32_768


def opened(folder: Path, **options: Any) -> Iterator[DuckDB]:
    engine = DuckDB(Setup(folder, Tier.POWER, options))
    engine.open()
    engine.create({"Order": TABLE})
    yield engine
    engine.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDB]:
    yield from opened(tmp_path)


def batch(number: int) -> pa.RecordBatch:
    keys = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
    return pa.record_batch({"Id": keys, "Other": keys})


def test_a_load_holds_no_rows_that_were_inserted(engine: DuckDB) -> None:
    session: Any = engine.connect()
    insert = session.prepare_load("Order", TABLE)
    session.begin_load({"Order": TABLE})
    held = pa.total_allocated_bytes()
    for number in range(8):
        insert(batch(number))
    assert pa.total_allocated_bytes() - held < ROWS * 16  # less than one batch of the eight
    session.commit()
    assert fetch(session, 'SELECT COUNT(*), SUM("Other") FROM "Order"') == [(8 * ROWS, sum(range(8 * ROWS)))]
    session.close()


@pytest.mark.parametrize("indexes", [True, False])
def test_indexes_and_keys_are_left_out_on_request(tmp_path: Path, indexes: bool) -> None:
    for engine in opened(tmp_path, indexes=indexes):
        session: Any = engine.connect()
        session.prepare_finish({"Order": TABLE})["indexes"]()
        assert session.indexed("Order") == ({"Other"} if indexes else set())
        keys = fetch(session, "SELECT COUNT(*) FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY'")
        assert keys == [(int(indexes),)]
        assert engine.settings()["indexes"] is indexes
        assert set(engine.missing_features) == (set() if indexes else {"indexes", "unique keys"})
        session.close()


def test_foreign_keys_are_refused_where_keys_are_left_out(tmp_path: Path) -> None:
    key = {"columns": ["Id"], "table": "Parent", "key": ["Id"]}
    child = Table.model_validate({**TABLE.model_dump(), "foreign_keys": [key]})
    for engine in opened(tmp_path, indexes=False):
        with pytest.raises(Unsupported, match="the option `indexes` leaves out"):
            engine.create({"Child": child})
