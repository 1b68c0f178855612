"""Importing files."""

from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.conftest import seconds
from dbbench.datasets.inference import look_at

ROWS = 2_000_000
AT_LEAST = 0.9


def sample(path: Path) -> None:
    """Orders: whole numbers, money, measurements, days, moments, codes and comments."""
    draw = np.random.default_rng(1)
    money = pc.round(pa.array(draw.random(ROWS) * 10_000), 2)
    words = pa.array([f"comment number {number} of some words" for number in range(5_000)])
    columns = {
        "order_id": pa.array(np.arange(ROWS)),
        "customer": pa.array(draw.integers(0, 100_000, ROWS).astype(np.int32)),
        "amount": money.cast(pa.decimal128(9, 2)),
        "weight": pa.array(draw.random(ROWS)),
        "height": pa.array(draw.random(ROWS).astype(np.float32)),
        "day": pa.array(draw.integers(10_000, 20_000, ROWS).astype(np.int32)).cast(pa.date32()),
        "placed": pa.array(draw.integers(0, 2_000_000_000, ROWS)).cast(pa.timestamp("s")).cast(pa.timestamp("ms")),
        "code": pa.array(["A1", "B2", "C3", "D4"]).take(pa.array(draw.integers(0, 4, ROWS))),
        "comment": words.take(pa.array(draw.integers(0, 5_000, ROWS))),
    }
    pq.write_table(pa.table(columns), path)


def test_import_of_parquet_takes_little_longer_than_reading(tmp_path: Path) -> None:
    """Types, nulls and a key found, against pyarrow.parquet.read_table, in turn."""
    path = tmp_path / "orders.parquet"
    sample(path)
    found = look_at("orders", path.name, [path])
    assert (found.rows, found.key) == (ROWS, ("order_id",))
    ratios = []
    for _ in range(9):
        reading, ours = seconds(lambda: pq.read_table(path)), seconds(lambda: look_at("orders", path.name, [path]))
        ratios.append(reading / ours)
    print(f"\n  {median(ratios):.2f} of pyarrow's speed (from {min(ratios):.2f} to {max(ratios):.2f})")
    assert median(ratios) >= AT_LEAST
