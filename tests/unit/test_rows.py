"""Batches as rows of Python values, and as bytes of CSV."""

import datetime
import io
import random
from decimal import Decimal
from typing import Any

import hypothesis
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import strategies as st

from dbbench.datasets.csv_form import csv_batch, csv_bytes, csv_schema, header_bytes
from dbbench.datasets.driver_rows import chunk, rows
from dbbench.datasets.generate import arrow_type
from dbbench.suite.data_types import parse_type
from tests.properties import FEW
from tests.tables import table_of

VALUES: dict[str, Any] = {
    "integer": -5, "bigint": 2**40, "real": 0.5, "double": 0.1, "currency": Decimal("-7.5000"), "char(2)": "ab",
    "date": datetime.date(2005, 12, 31), "datetime": datetime.datetime(2005, 12, 31),
}  # fmt: skip


def given(values: dict[str, list[Any]], bind: dict[str, str]) -> list[tuple[Any, ...]]:
    """Rows of a table that has one column for each type; a batch has the same values."""
    table = table_of({f"C{n}": kind for n, kind in enumerate(values)})
    arrays = [pa.array(column, arrow_type(parse_type(kind))) for kind, column in values.items()]
    batch = pa.record_batch(arrays, list(table.columns))
    found = rows(batch, table, bind)
    assert found == list(zip(*chunk(batch, table, "batches", bind).to_pydict().values(), strict=True))
    return found


def one(kind: str, value: Any, form: str) -> Any:
    return given({kind: [value]}, {parse_type(kind).name: form})[0][0]


def test_without_a_form_values_are_what_python_has_for_them() -> None:
    (row,) = given({kind: [value] for kind, value in VALUES.items()}, {})
    assert row == tuple(VALUES.values())
    assert [type(value) for value in row] == [type(value) for value in VALUES.values()]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("currency", Decimal("100.5"), "100.5000"),
        ("currency", Decimal("-0.05"), "-0.0500"),
        ("decimal(5, 0)", Decimal(7), "7"),
        ("date", datetime.date(2005, 1, 2), "2005-01-02"),
        ("datetime", datetime.datetime(2005, 1, 2), "2005-01-02 00:00:00"),
    ],
)
def test_text_keeps_a_decimals_scale_and_a_datetimes_time(kind: str, value: Any, text: str) -> None:
    assert one(kind, value, "text") == text


def test_a_form_holds_for_its_type_alone() -> None:
    (row,) = given({"currency": [Decimal(1)], "date": [datetime.date.min]}, {"date": "text"})
    assert row == (Decimal(1), "0001-01-01")


@pytest.mark.parametrize(("scale", "digits"), [(0, 9), (2, 9), (4, 12), (4, 18), (10, 18), (22, 18), (30, 15)])
def test_floats_are_the_nearest_to_each_decimal(scale: int, digits: int) -> None:
    random_units = random.Random(scale * 100 + digits)
    units = [random_units.randrange(-(10**digits), 10**digits) for _ in range(5_000)] + [0, 1, -1, 10**digits - 1]
    decimals = [Decimal(unit).scaleb(-scale) for unit in units]
    found = [row[0] for row in given({f"decimal(38, {scale})": decimals}, {"decimal": "float"})]
    assert found == [float(decimal) for decimal in decimals]


def test_a_slice_gives_its_own_rows() -> None:
    table = table_of({"A": "currency"})
    batch = pa.record_batch([pa.array([Decimal(n) for n in range(10)], pa.decimal128(19, 4))], ["A"])
    assert rows(batch.slice(3, 2), table, {"decimal": "float"}) == [(3.0,), (4.0,)]


def written(batch: pa.RecordBatch) -> int:
    """Bytes of the file that pyarrow writes."""
    text = io.BytesIO()
    with pyarrow.csv.CSVWriter(text, csv_schema(batch.schema)) as writer:
        writer.write_batch(csv_batch(batch))
    return len(text.getvalue())


def whole(digits: int) -> st.SearchStrategy[int]:
    """Of so many digits at the most, every other one where the number of digits changes."""
    powers = st.builds(lambda power, more: 10**power + more, st.integers(0, digits - 1), st.integers(-1, 0))
    return st.integers(1 - 10**digits, 10**digits - 1) | powers | powers.map(lambda number: -number)


def decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    return whole(digits).map(lambda units: Decimal(f"{units}E-{scale}"))


MOMENTS = st.datetimes().map(lambda moment: moment.replace(microsecond=0))
COLUMNS = {
    pa.int32(): whole(9) | st.sampled_from([2**31 - 1, -(2**31)]), pa.date32(): st.dates(), pa.timestamp("s"): MOMENTS,
    pa.int64(): whole(18) | st.sampled_from([2**63 - 1, -(2**63), 1 - 2**63]),
    pa.float32(): st.floats(width=32, allow_nan=False, allow_infinity=False), pa.binary(): st.binary(max_size=9),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False), pa.string(): st.text('aü",\n ', max_size=9),
    **{pa.decimal128(*form): decimals(*form) for form in ((19, 4), (9, 0), (38, 2), (20, 9))},
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS, ids=str)
@FEW
@hypothesis.given(data=st.data())
def test_counted_bytes_are_the_bytes_of_the_file(kind: pa.DataType, data: st.DataObject) -> None:
    drawn = st.lists(COLUMNS[kind], min_size=1) | st.lists(COLUMNS[kind] | st.none(), min_size=1) | st.just([None])
    values = data.draw(drawn) * 2
    batch = pa.record_batch([pa.array(values, kind)] * 2, names=["plain", 'a "quoted" name'])
    assert header_bytes(batch.schema) + csv_bytes(batch) == written(batch)
    part = batch.slice(1, batch.num_rows - 2)  # buffers begin elsewhere
    assert header_bytes(part.schema) + csv_bytes(part) == written(part)
