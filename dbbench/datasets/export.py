"""A dataset written out, so that anyone can check an answer by other means."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from dbbench.datasets.files import csv_batch, csv_schema
from dbbench.datasets.generate import arrow_schema, batches
from dbbench.errors import UserError
from dbbench.schema import Dataset


def export(dataset: Dataset, out: Path, form: str, *, scale: float, seed: int | None) -> Iterator[tuple[Path, int]]:
    """Write each table to `out` as `form` ("csv" or "parquet"); yields (file, rows) as each is done.

    The files appear under their names when all of them are whole. Raises UserError if `out` holds one
    of them already, or can't be written.
    """
    taken = [name for name in (f"{table}.{form}" for table in dataset.tables) if (out / name).exists()]
    if taken:
        raise UserError(f"{out / taken[0]} is there already; name an empty folder with --out")
    made: Path | None = None
    try:
        out.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=out))
        written = [(name, _write(dataset, name, made / f"{name}.{form}", form, scale, seed)) for name in dataset.tables]
        for name, rows in written:
            (made / f"{name}.{form}").rename(out / f"{name}.{form}")
            yield out / f"{name}.{form}", rows
    except OSError as exc:
        raise UserError(f"{out} can't be written: {exc.strerror or exc}; name another folder with --out") from exc
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _write(dataset: Dataset, table: str, path: Path, form: str, scale: float, seed: int | None) -> int:
    schema = arrow_schema(dataset.tables[table])
    rows = 0
    if form == "csv":
        with pyarrow.csv.CSVWriter(str(path), csv_schema(schema)) as csv:
            for batch in batches(dataset, table, scale=scale, seed=seed):
                csv.write_batch(csv_batch(batch))
                rows += batch.num_rows
        return rows
    from pyarrow import parquet  # 0.1 s to import, and few ask for it

    with parquet.ParquetWriter(str(path), schema) as file:
        for batch in batches(dataset, table, scale=scale, seed=seed):
            file.write_table(pa.Table.from_batches([batch]), row_group_size=1 << 20)
            rows += batch.num_rows
    return rows
