"""A dataset written out, so that anyone can check an answer by other means."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dbbench.datasets.cache import rows_of, sources_of
from dbbench.datasets.csv_form import csv_batch, csv_schema
from dbbench.datasets.generate import CHUNK_ROWS, arrow_schema
from dbbench.datasets.own_texts import text_set
from dbbench.datasets.own_vectors import vector_set
from dbbench.datasets.records import RecordSet
from dbbench.errors import UserError
from dbbench.suite.dataset import TEXT_TABLE, Dataset

Part = tuple[pa.Schema, Iterable[pa.RecordBatch]]
_RECORDS = pa.schema([pa.field("key", pa.binary()), pa.field("value", pa.binary())])


def export(
    dataset: Dataset, out: Path, form: str, *, scale: float, seed: int | None, folder: Path = Path()
) -> Iterator[tuple[Path, int]]:
    """Write each table, or the records, texts or vectors, to `out` as `form`, "csv" or "parquet".

    Yields the path of each file, and its rows, as it is done. Records are a file of keys and values, as hexadecimal
    text in CSV.

    The files appear under their names when all of them are whole. Rows of the user's files are looked for in `folder`.
    Raises UserError if they don't fit, or if `out` holds one of the files already or can't be written.
    """
    if dataset.vectors is not None and form == "csv":
        raise UserError("CSV has no column of vectors; export them with --format parquet")
    parts = dict(_parts(dataset, scale, seed, sources_of(dataset, scale, folder)))
    taken = [name for name in (f"{part}.{form}" for part in parts) if (out / name).exists()]
    if taken:
        raise UserError(f"{out / taken[0]} already exists; name an empty folder with --out")
    made: Path | None = None
    try:
        out.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=out))
        written = [(name, _write(*part, made / f"{name}.{form}", form)) for name, part in parts.items()]
        for name, rows in written:
            (made / f"{name}.{form}").rename(out / f"{name}.{form}")
            yield out / f"{name}.{form}", rows
    except OSError as exc:
        raise UserError(f"{out} can't be written: {exc.strerror or exc}; name another folder with --out") from exc
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _parts(
    dataset: Dataset, scale: float, seed: int | None, sources: Mapping[str, list[Path]]
) -> Iterator[tuple[str, Part]]:
    """What becomes a file each: its name, schema and batches."""
    for name, table in dataset.tables.items():
        yield name, (arrow_schema(table), rows_of(dataset, name, scale, seed, sources.get(name)))
    if dataset.records is not None:
        records = RecordSet(dataset.records, dataset.seed if seed is None else seed, scale)
        yield "records", (_RECORDS, _records(records))
    if dataset.vectors is not None:
        vectors = vector_set(dataset.vectors, dataset.seed if seed is None else seed, scale, sources.get("vectors"))
        yield from ((name, (schema, batches)) for name, schema, batches in vectors.tables())
    if dataset.texts is not None:
        texts = text_set(dataset.texts, dataset.seed if seed is None else seed, scale, sources.get(TEXT_TABLE))
        yield from ((name, (arrow_schema(table), texts.rows())) for name, table in texts.tables.items())


def _records(records: RecordSet) -> Iterator[pa.RecordBatch]:
    for first in range(0, records.count, CHUNK_ROWS):
        numbers = np.arange(first, min(first + CHUNK_ROWS, records.count), dtype=np.uint64)
        yield pa.record_batch([pa.array(records.keys(numbers)), pa.array(records.values(numbers))], schema=_RECORDS)


def _write(schema: pa.Schema, data: Iterable[pa.RecordBatch], path: Path, form: str) -> int:
    rows = 0
    if form == "csv":
        with pyarrow.csv.CSVWriter(str(path), csv_schema(schema)) as csv:
            for batch in data:
                csv.write_batch(csv_batch(batch))
                rows += batch.num_rows
        return rows
    from pyarrow import parquet  # 0.1 s to import, and few ask for it

    with parquet.ParquetWriter(str(path), schema) as file:
        for batch in data:
            file.write_table(pa.Table.from_batches([batch]), row_group_size=1 << 20)
            rows += batch.num_rows
    return rows
