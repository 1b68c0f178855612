"""Drawing the data."""

from __future__ import annotations

import random
import subprocess
import sys

from dbbench.datasets.generate import batches
from dbbench.loader import find_suite, load_suite

GENERATOR_AT_LEAST = 50
PEAK_BYTES = 2**30


def row_loop(rows: int) -> list[tuple]:
    """Shipments as anyone would draw them in Python, one row after another."""
    draw = random.Random(1)
    digits = "0123456789"
    return [
        (
            number,
            draw.randint(1, 106),
            "1Z" + "".join(draw.choice(digits) for _ in range(14)),
            f"2004-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            draw.randint(300, 40000) / 100,
            draw.choices(("USD", "EUR", "CAD"), (7, 2, 1))[0],
        )
        for number in range(1, rows + 1)
    ]


def test_the_generator_is_many_times_a_row_loop(ratio) -> None:
    data = load_suite(find_suite("invoices")).datasets["invoices"]
    rows = data.tables["Shipment"].rows
    found = ratio(lambda: row_loop(rows), lambda: list(batches(data, "Shipment")), pairs=5, itself=False)
    assert found >= GENERATOR_AT_LEAST


def test_a_hundredfold_dataset_streams_in_little_memory() -> None:
    """29.7 million rows; peak resident set of a process that draws them all."""
    program = """
from dbbench.datasets.generate import batches
from dbbench.loader import find_suite, load_suite
from dbbench.usage import peak_memory
data = load_suite(find_suite("invoices")).datasets["invoices"]
rows = sum(batch.num_rows for table in data.tables for batch in batches(data, table, scale=100))
print(rows, peak_memory())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rows, peak = map(int, done.stdout.split())
    print(f"\n  {rows:,} rows, peak {peak / 2**20:,.0f} MiB")
    assert rows == 29_745_000
    assert peak < PEAK_BYTES


def test_a_hundredfold_dataset_is_written_in_little_memory(tmp_path) -> None:
    """The same, written to the cache with its check values and read back once."""
    program = """
from dbbench.datasets.files import materialise
from dbbench.loader import find_suite, load_suite
from dbbench.usage import peak_memory
import psutil
data = load_suite(find_suite("invoices")).datasets["invoices"]
files = materialise(data, scale=100)
memory = psutil.Process().memory_info()
rows = sum(batch.num_rows for table in data.tables for batch in files.stream(table))
print(rows, peak_memory() - psutil.Process().memory_info().shared + memory.shared)
"""
    import os

    env = {**os.environ, "DBBENCH_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    rows, peak = map(int, done.stdout.split())
    print(f"\n  {rows:,} rows, peak {peak / 2**20:,.0f} MiB, pages of mapped files left out")
    assert rows == 29_745_000
    assert peak < PEAK_BYTES
