"""A load's parts, and the forms that rows are made into for it."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from dbbench.analysis.row import Row
from dbbench.datasets.driver_rows import CsvChunk, chunk
from dbbench.engine.base import Engine, Session
from dbbench.engine.operations import LoadPart
from dbbench.errors import Unsupported
from dbbench.results.outcome import Outcome
from dbbench.suite.model import Tier
from dbbench.suite.steps.load import LoadStep
from dbbench.workloads import load
from dbbench.workloads.context import StepContext
from tests.tables import table_of

TABLE = table_of(
    {"Id": "integer", "Text": {"type": "varchar(20)", "values": {"kind": "pattern", "text": "A#"}}}, rows=2
)
BATCH = pa.record_batch({"Id": [1, 2], "Text": ['a "quoted", one', ""]})


class Loading(Session):
    load_format = "rows"
    log: ClassVar[list[str]] = []

    def begin_load(self, tables: Any) -> None:
        self.log.append("begin")

    def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
        return lambda rows: self.log.append(f"insert {len(rows)}")

    def prepare_finish(self, tables: Any) -> Mapping[LoadPart, Callable[[], object]]:
        parts: tuple[LoadPart, ...] = ("commit", "indexes")
        return {part: lambda part=part: self.log.append(part) for part in parts}


class Loaded(Engine):
    name = "loaded"
    url = ""
    title = "Loaded"
    durability = {Tier.POWER: {}}
    session_class = Loading


def test_each_part_is_called_in_the_sessions_own_order_and_the_parts_add_up() -> None:
    Loading.log.clear()
    manifest = {"tables": {"T": {"rows": 2}}, "csv_bytes": 30}
    files: Any = SimpleNamespace(manifest=manifest, stream=lambda _name: [BATCH])
    context = StepContext(Loaded.__new__(Loaded), Loading(), {"T": TABLE}, files, {})
    found = load.measure(LoadStep(kind="load", name="load", title="Load"), context)
    assert Loading.log == ["begin", "insert 2", "commit", "indexes"]
    assert list(found.facts["load_parts"]) == ["insert", "commit", "indexes"]
    assert found.value == pytest.approx(sum(found.facts["load_parts"].values()))
    assert (found.leaves.rows, found.leaves.filled) == ({"T": 2}, ["T"])
    assert found.facts["making_rows"] > 0


@pytest.mark.parametrize(("share", "count", "taken"), [(1.0, 0, 0), (0.1, 2, 1), (0.5, 20, 10)])
def test_a_load_takes_a_row_at_least_if_the_table_has_one(share: float, count: int, taken: int) -> None:
    assert load.first_rows(share, count) == taken


def test_rows_as_csv() -> None:
    made = chunk(BATCH, TABLE, "csv", {})
    assert isinstance(made, CsvChunk)
    assert (bytes(made.data), made.rows) == (b'1,"a ""quoted"", one"\n2,""\n', 2)


def test_csv_tells_of_an_empty_text_where_a_null_may_be() -> None:
    columns = {name: column.model_copy(update={"nullable": True}) for name, column in TABLE.columns.items()}
    nullable = TABLE.model_copy(update={"columns": columns})
    assert chunk(BATCH, nullable, "csv", {}).empty
    assert not chunk(BATCH, TABLE, "csv", {}).empty
    assert not chunk(pa.record_batch({"Id": [1], "Text": pa.array([None], pa.string())}), nullable, "csv", {}).empty


def test_csv_of_a_null_where_none_may_be_is_refused() -> None:
    with pytest.raises(Unsupported, match="a NULL among the rows"):
        chunk(pa.record_batch({"Id": [1, 2], "Text": ["a", None]}), TABLE, "csv", {})


def test_parts_are_dealt_out_by_the_medians_of_the_rounds_shares() -> None:
    rounds = [{"load_parts": {"insert": 3.0, "commit": 1.0}, "making_rows": each} for each in (1.0, 2.0, 9.0)]
    row = Row("s", "load", "e", "E", Outcome.OK, value=8.0, rounds=tuple(rounds))
    found = row.load_parts
    assert found is not None
    assert (dict(found.parts), found.making) == ({"insert": 6.0, "commit": 2.0}, 2.0)


def test_rounds_of_before_parts_were_recorded_have_none() -> None:
    assert Row("s", "load", "e", "E", Outcome.OK, value=8.0, rounds=({"rows": 2},)).load_parts is None


def test_values_of_every_kind_as_csv() -> None:
    batch = pa.record_batch({"D": pa.array([Decimal("-1.50")], pa.decimal128(9, 2)), "On": [date(2020, 1, 31)]})
    assert bytes(chunk(batch, SimpleNamespace(columns={}), "csv", {}).data) == b"-1.50,2020-01-31\n"


def test_making_rows_imports_no_pandas() -> None:
    """Whether it is installed or not: its time and memory would count as the engine's."""
    script = """
import sys
import pyarrow as pa
from types import SimpleNamespace
from dbbench.datasets.driver_rows import rows
class Refuse:
    def find_spec(self, name, path=None, target=None):
        assert name != "pandas", "pandas is imported"
batch = pa.RecordBatch.from_arrays(
    [pa.nulls(3, pa.int64()).fill_null(7), pa.nulls(3, pa.float32()).fill_null(0.5)], names=["a", "b"]
)
sys.modules.pop("pandas", None)
sys.meta_path.insert(0, Refuse())
column = SimpleNamespace(data_type=SimpleNamespace(name="integer"))
print(rows(batch.slice(1), SimpleNamespace(columns={"a": column, "b": column}), {}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[(7, 0.5), (7, 0.5)]\n", "")


def test_decimals_as_floats_keep_nulls_and_large_numbers() -> None:
    values = [Decimal("1.50"), None, Decimal("-99999999999999999999.25"), Decimal("0.10")]
    for given in (values, [value for value in values if value is not None], values[:1]):
        table = table_of({"a": "decimal(38, 2)"})
        batch = pa.record_batch([pa.array(given, pa.decimal128(38, 2))], names=["a"])
        assert chunk(batch, table, "rows", {"decimal": "float"}) == [(None if v is None else float(v),) for v in given]
