"""Drawing the data."""

import datetime
import io
import os
import random
import shutil
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from benchmarks.conftest import seconds
from dbbench.datasets.cache import materialise
from dbbench.datasets.csv_form import csv_batch, csv_schema
from dbbench.datasets.generate import CHUNK_ROWS, arrow_schema, batches, chunk
from dbbench.host import plain_file
from dbbench.suite.loader import find_suite, load_suite

GENERATOR_AT_LEAST = 50
DRAWN_AT_LEAST = 3
PEAK_BYTES = 2**30


def row_loop() -> list[tuple]:
    """All rows as anyone would draw them in Python, one after another."""
    draw = random.Random(1)
    currencies = ("USD", "EUR", "CAD")

    def digits(count: int) -> str:
        return "".join(draw.choices("0123456789", k=count))

    def day() -> datetime.datetime:
        return datetime.datetime(2004, 1, 1) + datetime.timedelta(draw.randrange(731))

    def money(most: int) -> Decimal:
        return Decimal(draw.randrange(most)) / 100

    def currency() -> str:
        return draw.choices(currencies, (7, 2, 1))[0]

    rows: list[tuple] = [(key, f"INV-{digits(8)}", day(), money(20_000_00), currency()) for key in range(106)]
    rows += [(key, draw.randrange(106), f"1Z{digits(14)}", day(), money(400_00), currency()) for key in range(57_579)]
    for key in range(57_589):
        sizes = (draw.randrange(10, 120), draw.randrange(10, 80), draw.randrange(1, 80))
        weight = draw.randrange(1, 300) / 2
        rows.append(
            (key, draw.randrange(57_579), draw.randrange(20), draw.choice("LK"), weight, *sizes, draw.choice("IC"))
        )
    codes = ("FRT", "FSC", "RES", "DAS", "INS")
    rows += [
        (key, draw.randrange(57_579), draw.choices(codes, (6, 4, 2, 1, 1))[0], money(150_00), currency())
        for key in range(182_176)
    ]
    return rows


def test_the_generator_is_many_times_a_row_loop() -> None:
    """The whole dataset at scale 1, 297,450 rows, both ways in turn."""
    data = load_suite(find_suite("invoices")).datasets["invoices"]
    ratios = [
        seconds(row_loop) / seconds(lambda: [list(batches(data, table)) for table in data.tables]) for _ in range(5)
    ]
    print(f"\n  ratio {median(ratios):.0f} (from {min(ratios):.0f} to {max(ratios):.0f})")
    assert median(ratios) >= GENERATOR_AT_LEAST


def as_before(folder: Path) -> int:
    """The same files and facts as dbbench made them before: chunk after chunk, with the CSV form made to be counted."""
    data = load_suite(find_suite("invoices")).datasets["invoices"]
    text_bytes = 0
    for name, table in data.tables.items():
        schema, counter, seen = arrow_schema(table), io.BytesIO(), []
        path = folder / f"{name}.arrow"
        with (
            pa.ipc.new_file(str(path), schema) as writer,
            pyarrow.csv.CSVWriter(pa.PythonFile(counter, mode="w"), csv_schema(schema)) as csv,
        ):
            for number in range(-(-data.rows(name, 10) // CHUNK_ROWS)):
                batch = chunk(data, name, number, scale=10)
                writer.write_batch(batch)
                csv.write_batch(csv_batch(batch))
                for column in batch.columns:
                    seen.append(pc.min_max(column).as_py())
                    if pa.types.is_decimal(column.type) or pa.types.is_floating(column.type):
                        seen.append(pc.sum(column).as_py())
                text_bytes += counter.tell()
                counter.seek(0)
                counter.truncate()
        text_bytes += counter.tell()
        plain_file.sync_file(path)
        plain_file.digest(path)
    return text_bytes


def test_a_dataset_is_drawn_many_times_as_fast_as_with_its_csv_made(tmp_path: Path, monkeypatch: Any) -> None:
    """2,974,500 rows into files, both ways in turn. It takes two free cores: on one, less time is only less work."""
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    data = load_suite(find_suite("invoices")).datasets["invoices"]

    def drawn() -> int:
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        return int(materialise(data, scale=10).manifest["csv_bytes"])

    assert drawn() == as_before(tmp_path)
    ratios, work = [], []
    for _ in range(5):
        used, before = time.process_time(), seconds(lambda: as_before(tmp_path))
        between, now = time.process_time(), seconds(drawn)
        cpu = (between - used, time.process_time() - between)
        ratios.append(before / now)
        work.append(cpu[0] / cpu[1])
        print(f"\n  {before:.2f} s before, {now:.2f} s now; CPU time {cpu[0]:.2f} s and {cpu[1]:.2f} s")
    print(f"  ratio of the CPU time {median(work):.1f} (from {min(work):.1f} to {max(work):.1f})")
    print(f"  ratio {median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})")
    assert median(ratios) >= DRAWN_AT_LEAST


def test_a_hundredfold_dataset_streams_in_little_memory() -> None:
    """29.7 million rows; peak resident set of a process that draws them all."""
    program = """
from dbbench.datasets.generate import batches
from dbbench.suite.loader import find_suite, load_suite
from dbbench.host.usage import peak_memory
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
from dbbench.datasets.cache import materialise
from dbbench.suite.loader import find_suite, load_suite
from dbbench.host.usage import peak_memory
import psutil
data = load_suite(find_suite("invoices")).datasets["invoices"]
files = materialise(data, scale=100)
memory = psutil.Process().memory_info()
rows = sum(batch.num_rows for table in data.tables for batch in files.stream(table))
print(rows, peak_memory() - psutil.Process().memory_info().shared + memory.shared)
"""
    env = {**os.environ, "DBBENCH_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    rows, peak = map(int, done.stdout.split())
    print(f"\n  {rows:,} rows, peak {peak / 2**20:,.0f} MiB, pages of mapped files left out")
    assert rows == 29_745_000
    assert peak < PEAK_BYTES
