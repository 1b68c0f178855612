"""What DuckDB's plugin keeps in memory, and what it leaves out on request."""

from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from dbbench.datasets.cache import materialise
from dbbench.engine.options import Shares
from dbbench.engine.sql.session import fetch
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.suite.dataset import Dataset, Table
from dbbench.suite.model import Tier
from dbbench.workloads.contents import check_table
from dbbench.workloads.context import StepContext, StepsSoFar
from tests.conftest import Opened
from tests.tables import table_of

pytest.importorskip("duckdb")
from dbbench_plugins.duckdb import DuckDB, DuckDBSession

TABLE = table_of({"Id": "bigint", "Other": "bigint"}, rows=4, indexes=["Other"])
ROWS = 32_768


@pytest.fixture
def with_table(opened: Opened) -> Opened:
    """Opens DuckDB, with one table in it."""

    def run(**options: Any) -> DuckDB:
        engine: DuckDB = opened("duckdb", Tier.POWER, **options)
        engine.create({"Order": TABLE})
        return engine

    return run


def batch(number: int) -> pa.RecordBatch:
    keys = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
    return pa.record_batch({"Id": keys, "Other": keys})


def test_a_load_holds_no_rows_that_were_inserted(with_table: Opened) -> None:
    session = with_table().connect()
    insert = session.prepare_load("Order", TABLE)
    session.begin_load({"Order": TABLE})
    held = pa.total_allocated_bytes()
    for number in range(8):
        insert(batch(number))
    assert pa.total_allocated_bytes() - held < ROWS * 16  # less than one batch of the eight
    session.commit()
    assert fetch(session, 'SELECT COUNT(*), SUM("Other") FROM "Order"') == [(8 * ROWS, sum(range(8 * ROWS)))]


@pytest.mark.parametrize("indexes", [True, False])
def test_indexes_and_keys_are_left_out_on_request(with_table: Opened, indexes: bool) -> None:
    engine = with_table(indexes=indexes)
    session = engine.connect()
    session.prepare_finish({"Order": TABLE})["indexes"]()
    assert session.indexed("Order") == ({"Other"} if indexes else set())
    keys = fetch(session, "SELECT COUNT(*) FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY'")
    assert keys == [(int(indexes),)]
    assert engine.settings()["indexes"] is indexes
    assert set(engine.missing_features) == (set() if indexes else {"indexes", "unique keys"})


@pytest.mark.parametrize(
    ("share", "options", "expected"),
    [(1024, {}, "1.0 GiB"), (1024, {"memory_limit_mib": 256}, "256.0 MiB"), (None, {"memory_limit_mib": 64}, "64.0 MiB")],
)  # fmt: skip
def test_it_takes_its_share_of_the_memory_unless_the_user_sets_the_limit(
    opened: Opened, share: int | None, options: dict[str, Any], expected: str
) -> None:
    engine = opened("duckdb", Tier.POWER, shares=Shares(memory=share), **options)
    assert engine.settings()["memory_limit"] == expected


def test_a_loaded_table_is_read_back_as_batches_and_a_wrong_value_is_found(with_table: Opened) -> None:
    dataset = Dataset(tables={"Order": TABLE.model_copy(update={"rows": 50_000})})
    engine = with_table()
    session = engine.connect()
    context = StepContext(engine, session, dataset.tables, materialise(dataset), {}, StepsSoFar(rows={"Order": 50_000}))
    insert = session.prepare_load("Order", TABLE)
    for each in context.files.stream("Order"):
        insert(each)
    query = DuckDBSession.prepare_query
    with patch.object(DuckDBSession, "prepare_query", autospec=True, side_effect=query) as prepared:
        check_table(context, "Order", every_row=True)
    assert prepared.call_count == 2, "only the figures are read as rows"
    session.execute('UPDATE "Order" SET "Other" = 41 WHERE "Id" = 40000')
    session.execute('UPDATE "Order" SET "Other" = 39999 WHERE "Id" = 41')
    with pytest.raises(WrongAnswer, match=r"column Other: 39999 instead of 41 \(1 of 32,768 rows differ\)"):
        check_table(context, "Order", every_row=True)


def test_foreign_keys_are_refused_where_keys_are_left_out(with_table: Opened) -> None:
    key = {"columns": ["Id"], "table": "Parent", "key": ["Id"]}
    child = Table.model_validate({**TABLE.model_dump(), "foreign_keys": [key]})
    with pytest.raises(Unsupported, match="the option `indexes` leaves out"):
        with_table(indexes=False).create({"Child": child})
