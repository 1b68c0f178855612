"""The CSV form's bytes: counted by arithmetic, and the same as the bytes of the text."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from dbbench.datasets.csv_form import csv_batch, csv_bytes, csv_schema, header_bytes

MIDNIGHT, NOON = datetime.datetime(2026, 11, 22), datetime.datetime(2026, 11, 22, 12)


def written(batch: pa.RecordBatch) -> int:
    """Bytes of the file that pyarrow writes."""
    text = io.BytesIO()
    with pyarrow.csv.CSVWriter(text, csv_schema(batch.schema)) as writer:
        writer.write_batch(csv_batch(batch))
    return len(text.getvalue())


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int32(), [0, 9, 10, 99, 100, -1, -10, 2**31 - 1, -(2**31)]),
        (pa.int64(), [0, 10**17, 10**18, 10**18 - 1, 2**63 - 1, -(2**63), -(2**63) + 1]),
        (pa.float32(), [0.0, 0.5, -12.5, 1e10, 0.1]),
        (pa.float64(), [0.0, -0.0, 0.1, 1e100, 123456789.125, 1e-9]),
        (pa.decimal128(19, 4), ["0", "0.0001", "-0.0001", "1", "-1", "9.9999", "10", "-99999.5", "999999999999999.9999"]),
        (pa.decimal128(9, 0), ["0", "-1", "10", "999999999"]),
        (pa.decimal128(38, 2), ["0.01", "-123456789012345678901234567890.12"]),
        (pa.decimal128(20, 9), ["0", "0.000000001", "1.5"]),
        (pa.string(), ["", "a", 'say "hello"', '""', "Grüße", "a,b", "two\nlines"]),
        (pa.binary(), [b"", b"\x00\xff", b"abc"]),
        (pa.date32(), [datetime.date(1970, 1, 1), datetime.date(1000, 1, 1), datetime.date(9999, 12, 31)]),
        (pa.timestamp("s"), [MIDNIGHT, MIDNIGHT]),
        (pa.timestamp("s"), [MIDNIGHT, NOON, datetime.datetime(1960, 1, 1, 0, 0, 1)]),
        (pa.timestamp("s"), [datetime.datetime(999, 1, 1), NOON]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("nulls", [False, True])
def test_counted_bytes_are_the_bytes_of_the_file(kind: pa.DataType, values: list[Any], *, nulls: bool) -> None:
    if pa.types.is_decimal(kind):
        values = [Decimal(value) for value in values]
    given = [item for value in values for item in ((value, None) if nulls else (value,))]
    batch = pa.record_batch([pa.array(given, kind), pa.array(given, kind)], names=["plain", 'a "quoted" name'])
    assert header_bytes(batch.schema) + csv_bytes(batch) == written(batch)
    part = batch.slice(1, batch.num_rows - 2)  # buffers begin elsewhere
    assert header_bytes(part.schema) + csv_bytes(part) == written(part)


def test_columns_of_nulls_and_batches_of_no_rows_are_counted() -> None:
    batch = pa.record_batch([pa.nulls(3, pa.string()), pa.nulls(3, pa.decimal128(9, 2))], names=["a", "b"])
    for each in (batch, batch.slice(0, 0)):
        assert header_bytes(each.schema) + csv_bytes(each) == written(each)
