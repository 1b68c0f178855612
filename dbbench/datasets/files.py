"""Datasets on disk: one Arrow file for each table, in the user's cache folder.

A dataset is written under a temporary name and renamed when it is whole and on the disk, so that two runs at once can
only ever find all of it or nothing. Each file's length and hash are kept beside it; a dataset that doesn't match them is
drawn anew. Readers map the files, so that memory stays flat at any scale.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc

from dbbench import jsonfile, plainfile
from dbbench.datasets.generate import GENERATION, arrow_schema, batches
from dbbench.errors import UserError
from dbbench.records import RecordSet
from dbbench.schema import Dataset, Table

_MANIFEST = "dataset.json"
#: Raised whenever the files of a dataset change their form; part of the cache's key.
_FORMAT = 2
_log = logging.getLogger(__name__)
_STALE_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Files:
    """A dataset that lies in the cache."""

    directory: Path

    @property
    def manifest(self) -> dict[str, Any]:
        """Seed, scale, `csv_bytes` (of records: keys and values), and `tables`: rows and the check values of each column."""
        manifest: dict[str, Any] = jsonfile.read(self.directory / _MANIFEST)
        return manifest

    def stream(self, table: str) -> Iterator[pa.RecordBatch]:
        """The batches of a table in order, mapped rather than read."""
        with pa.memory_map(str(self.directory / f"{table}.arrow")) as source, pa.ipc.open_file(source) as reader:
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)

    def table(self, name: str) -> pa.Table:
        """A whole table."""
        return pa.Table.from_batches(self.stream(name))


def cache_folder() -> Path:
    """The folder of all datasets: DBBENCH_CACHE, or the user's cache folder."""
    override = os.environ.get("DBBENCH_CACHE")
    return Path(override) if override else platformdirs.user_cache_path("dbbench")


def materialise(dataset: Dataset, *, scale: float = 1.0, seed: int | None = None) -> Files:
    """The dataset's files, drawn now if they aren't in the cache yet. Raises UserError if they can't be written."""
    seed = dataset.seed if seed is None else seed
    identity = json.dumps([GENERATION, _FORMAT, dataset.model_dump(mode="json"), float(scale), seed])
    key = hashlib.sha256(identity.encode()).hexdigest()[:24]
    final = cache_folder() / key
    try:
        if final.exists() and _checked(final):
            return Files(final)
        cache_folder().mkdir(parents=True, exist_ok=True)
        _sweep(cache_folder())
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=cache_folder()))
        try:
            _write(dataset, scale, seed, made)
            try:
                made.rename(final)
                plainfile.sync_folder(cache_folder())
            except OSError:
                if not (final / _MANIFEST).is_file():  # another run was first: its files are the same
                    raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as exc:
        raise UserError(
            f"the dataset can't be written to {cache_folder()}: {exc.strerror or exc}; "
            "make room there, or name another folder in the environment variable DBBENCH_CACHE"
        ) from exc
    return Files(final)


def _write(dataset: Dataset, scale: float, seed: int, folder: Path) -> None:
    tables, csv_bytes = {}, 0
    for name, table in dataset.tables.items():
        schema = arrow_schema(table)
        checks = _Checks(table)
        counter = _Counter()
        with (
            pa.ipc.new_file(str(folder / f"{name}.arrow"), schema) as writer,
            pyarrow.csv.CSVWriter(pa.PythonFile(counter, mode="w"), csv_schema(schema)) as csv,
        ):
            for batch in batches(dataset, name, scale=scale, seed=seed):
                writer.write_batch(batch)
                csv.write_batch(csv_batch(batch))
                checks.add(batch)
        csv_bytes += counter.bytes
        tables[name] = checks.result()
    if dataset.records is not None:  # made by arithmetic in each trial: there is nothing to be written
        records = RecordSet(dataset.records, seed, scale)
        csv_bytes = records.count * (dataset.records.key_bytes + dataset.records.value_bytes)
        tables["records"] = {"rows": records.count, "columns": {}}
    files = {path.name: _seal(path) for path in sorted(folder.glob("*.arrow"))}
    manifest = {"scale": scale, "seed": seed, "csv_bytes": csv_bytes, "tables": tables, "files": files}
    jsonfile.write(folder / _MANIFEST, manifest | {"hash": _hash(manifest)}, durable=True)


def _seal(path: Path) -> dict[str, Any]:
    """A file's length and hash, once it is on the disk."""
    plainfile.sync_file(path)
    return {"bytes": path.stat().st_size, "sha256": plainfile.digest(path)}


def _hash(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _checked(folder: Path) -> bool:
    """Whether a dataset is as it was written. One that isn't is removed, with a line in the log that says why."""
    if not _damage(folder):
        return True
    with plainfile.locked(cache_folder()):
        if damage := _damage(folder):  # nobody has drawn it anew meanwhile
            _log.warning("dbbench: the cached dataset %s is damaged (%s); it is drawn anew", folder, damage)
            shutil.rmtree(folder)
    return not damage


def _damage(folder: Path) -> str:
    """What is wrong with a dataset; empty if nothing is."""
    try:
        manifest = jsonfile.read(folder / _MANIFEST)
        if _hash({key: value for key, value in manifest.items() if key != "hash"}) != manifest["hash"]:
            return f"{_MANIFEST} is not as it was written"
        for name, sealed in manifest["files"].items():
            path = plainfile.inside(folder, name)
            if path.stat().st_size != sealed["bytes"] or plainfile.digest(path) != sealed["sha256"]:
                return f"{name} is not as it was written"
    except OSError as exc:
        return exc.strerror or str(exc)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        return f"{_MANIFEST}: {exc}"
    return ""


def csv_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the CSV form: dates, moments and bytes are text."""
    return pa.schema([pa.field(f.name, pa.string() if _is_text(f.type) else f.type) for f in schema])


def csv_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch as it goes into a CSV file.

    A date, and a moment at midnight, is YYYYMMDD, any other moment in the form of ISO 8601; bytes are hexadecimal.
    """
    columns = [_as_text(column) if _is_text(column.type) else column for column in batch.columns]
    return pa.record_batch(columns, schema=csv_schema(batch.schema))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind) or pa.types.is_binary(kind))


def _as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_binary(column.type):
        return pa.array([value.hex() for value in column.to_pylist()])
    day = pc.strftime(column, format="%Y%m%d")
    if pa.types.is_date(column.type):
        return day
    midnight = pc.equal(column, pc.floor_temporal(column, unit="day"))
    if pc.all(midnight).as_py():
        return day
    return pc.if_else(midnight, day, pc.strftime(column.cast(pa.timestamp("s")), format="%Y-%m-%dT%H:%M:%S"))


def csv_bytes(batch: pa.RecordBatch) -> int:
    """Bytes of a batch's rows in a CSV file, without the names of the columns."""
    counter = _Counter()
    options = pyarrow.csv.WriteOptions(include_header=False)
    pyarrow.csv.write_csv(csv_batch(batch), pa.PythonFile(counter, mode="w"), options)
    return counter.bytes


class _Counter:
    """A file that only counts what is written to it."""

    closed = False

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: bytes) -> int:
        self.bytes += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        self.closed = True


class _Checks:
    """The number of rows, and the least, greatest and sum of each column, to check a load by."""

    def __init__(self, table: Table) -> None:
        self.rows = 0
        self.columns: dict[str, dict[str, Any]] = {name: {} for name in table.columns}

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        for name, seen in self.columns.items():
            column = batch.column(name)
            found = pc.min_max(column).as_py()
            if found["min"] is None:  # all of them are missing
                continue
            seen["min"] = min(seen.get("min", found["min"]), found["min"])
            seen["max"] = max(seen.get("max", found["max"]), found["max"])
            if pa.types.is_decimal(column.type) or pa.types.is_floating(column.type):
                seen["sum"] = seen.get("sum", 0) + pc.sum(column).as_py()

    def result(self) -> dict[str, Any]:
        columns = {name: {key: str(value) for key, value in seen.items()} for name, seen in self.columns.items()}
        return {"rows": self.rows, "columns": columns}


def _sweep(folder: Path) -> None:
    """Remove what runs that were killed in the middle of writing left behind."""
    for path in folder.glob(".making-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
