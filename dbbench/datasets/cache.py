"""Datasets on disk: one Arrow file for each table, in the user's cache folder.

A dataset is written under a temporary name and renamed when it is whole and on the disk, so that two runs at once can
only ever find all of it or nothing. Each file's length and hash are kept beside it; a dataset that doesn't match them
is removed and made again. Readers take one batch at a time, so that memory stays flat at any scale.
"""

import hashlib
import json
import logging
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import localcontext
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from dbbench.datasets.csv_form import csv_bytes, header_bytes
from dbbench.datasets.generate import DOCUMENTS, GENERATION, arrow_schema, batches, chunk
from dbbench.datasets.own_files import all_rows, estimated_bytes, files_of, refusals
from dbbench.datasets.own_texts import text_set
from dbbench.datasets.own_vectors import vector_set
from dbbench.datasets.records import RecordSet
from dbbench.datasets.vectors import VectorSet
from dbbench.errors import UserError
from dbbench.host import atomic_json, kept_folder, plain_file
from dbbench.host.ahead import in_order
from dbbench.host.kept_folder import cache_folder
from dbbench.suite.dataset import TEXT_TABLE, Dataset, FromFile, Table
from dbbench.suite.model import Suite

_MANIFEST = "dataset.json"
#: Raised whenever the files of a dataset, or what is noted of them, change their form; part of the cache's key.
_FORMAT = 5
_log = logging.getLogger(__name__)


class TableChecks(TypedDict):
    """The rows of a table, and the least, greatest and sum of each column as texts."""

    rows: int
    columns: dict[str, dict[str, str]]


class _Sealed(TypedDict):
    bytes: int
    sha256: str


class DatasetManifest(TypedDict):
    """What is known of a dataset's files. `csv_bytes`: of records, keys and values; of vectors, their numbers."""

    scale: float
    seed: int
    csv_bytes: int
    tables: dict[str, TableChecks]
    files: dict[str, _Sealed]


@dataclass(frozen=True)
class Files:
    """A dataset that lies in the cache."""

    directory: Path

    @property
    def manifest(self) -> DatasetManifest:
        """What was noted when it was drawn."""
        manifest: DatasetManifest = atomic_json.read(self.directory / _MANIFEST)
        return manifest

    @property
    def complete(self) -> bool:
        """Whether every file exists and has the length that the manifest records."""
        try:
            files = self.manifest["files"].items()
            return all((self.directory / name).stat().st_size == sealed["bytes"] for name, sealed in files)
        except (OSError, ValueError):
            return False

    def schema(self, table: str) -> pa.Schema:
        """The columns of a table."""
        with pa.OSFile(self._path(table)) as source, pa.ipc.open_file(source) as reader:
            return reader.schema

    def batches(self, table: str) -> int:
        """How many batches a table has."""
        with pa.OSFile(self._path(table)) as source, pa.ipc.open_file(source) as reader:
            return int(reader.num_record_batches)

    def stream(self, table: str) -> Iterator[pa.RecordBatch]:
        """The batches of a table in order, read one at a time: pages of a mapped file would stay in memory."""
        return self.numbered(table, range(self.batches(table)))

    def numbered(self, table: str, numbers: Iterable[int], columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """Batches of a table by their numbers from 0, with these of its columns, or all."""
        schema = self.schema(table)
        fields = [schema.get_field_index(name) for name in columns] or None
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with pa.OSFile(self._path(table)) as source, pa.ipc.open_file(source, options=options) as reader:
            for number in numbers:
                batch = reader.get_batch(int(number))
                yield batch.select(list(columns)) if columns else batch

    def mapped(self, table: str, numbers: Iterable[int]) -> list[pa.RecordBatch]:
        """Batches of a table by their numbers from 0, mapped: what was read stays in memory as long as any of them."""
        with pa.memory_map(self._path(table)) as source, pa.ipc.open_file(source) as reader:
            return [reader.get_batch(int(number)) for number in numbers]

    def table(self, name: str) -> pa.Table:
        """A whole table, mapped rather than read."""
        with pa.memory_map(self._path(name)) as source, pa.ipc.open_file(source) as reader:
            return reader.read_all()

    def _path(self, table: str) -> str:
        return str(self.directory / f"{table}.arrow")


def materialise(dataset: Dataset, *, scale: float = 1.0, seed: int | None = None, folder: Path = Path()) -> Files:
    """The dataset's files, drawn or read now if they aren't in the cache yet.

    Files that it names are looked for in `folder`. Raises UserError if the cache can't be written, or if what is in
    them doesn't fit.
    """
    seed = dataset.seed if seed is None else seed
    sources = sources_of(dataset, scale, folder)
    contents = {name: [_digest(path) for path in paths] for name, paths in sources.items()}
    identity = json.dumps([GENERATION, _FORMAT, dataset.model_dump(mode="json"), float(scale), seed, contents])
    key = hashlib.sha256(identity.encode()).hexdigest()[:24]
    final = cache_folder() / key

    def fill(made: Path) -> Mapping[str, object]:
        before = _stamps(sources)
        written = _write(dataset, scale, seed, made, sources)
        if changed := [path for path, stamp in _stamps(sources).items() if stamp != before[path]]:
            raise UserError(f"{changed[0]} changed while it was read; run again when nothing writes to it")
        return {**written, "contents": contents}

    try:
        if not (final.exists() and _checked(final)):
            _check_room(dataset, scale, seed, sources)
            kept_folder.make(final, _MANIFEST, fill)
    except OSError as exc:
        raise UserError(
            f"the dataset can't be written to {cache_folder()}: {exc.strerror or exc}; "
            "make room there, or name another folder in the environment variable DBBENCH_CACHE"
        ) from exc
    return Files(final)


def sources_of(dataset: Dataset, scale: float, folder: Path) -> dict[str, list[Path]]:
    """The files in `folder` of what isn't drawn. Raises UserError if one is missing, or the scale asks for more."""
    found = {name: files_of(pattern, folder) for name, pattern in dataset.sources.items()}
    if found and scale > 1:
        raise UserError("files have a fixed number of rows: --scale must be at most 1")
    return found


def check_rows(suite: Suite, folder: Path) -> None:
    """Raise UserError if a row of a suite's files does not fit, or if their number is another than the suite's."""
    for dataset in suite.datasets.values():
        for name, paths in sources_of(dataset, 1, folder).items():
            if dataset.vectors:
                rows: Iterable[object] = vector_set(dataset.vectors, dataset.seed, 1, paths).batches()
            elif dataset.texts:
                rows = text_set(dataset.texts, dataset.seed, 1, paths).rows()
            else:
                rows = all_rows(dataset.tables[name], paths)
            for _ in rows:
                pass


def _check_room(dataset: Dataset, scale: float, seed: int, sources: dict[str, list[Path]]) -> None:
    """Raise UserError if the tables would not fit on the disk, by the first rows of each, or the size of its files."""
    needed = VectorSet(dataset.vectors, seed, scale).bytes if dataset.vectors else 0
    needed += text_set(dataset.texts, seed, scale, sources.get(TEXT_TABLE)).bytes if dataset.texts else 0
    for name, table in dataset.tables.items():
        if isinstance(table.rows, FromFile):
            needed += estimated_bytes(table, sources[name], _wanted(table, scale))
        else:
            first = chunk(dataset, name, 0, scale=scale, seed=seed)
            needed += int(first.nbytes) * dataset.rows(name, scale) // first.num_rows
    place = cache_folder()
    free = shutil.disk_usage(next(each for each in (place, *place.absolute().parents) if each.is_dir())).free
    if needed > free:
        raise UserError(
            f"the dataset would take about {needed / 1e9:,.1f} GB, and {place} has {free / 1e9:,.1f} GB free; make room there, "
            "name another folder in the environment variable DBBENCH_CACHE, or choose a smaller --scale"
        )


def kept(key: str) -> Files:
    """A dataset of an earlier run, by its key in the cache. Raises UserError if it isn't there as it was written."""
    folder = cache_folder() / key
    if re.fullmatch("[0-9a-f]{24}", key) is None or not folder.is_dir() or not _checked(folder):
        raise UserError(
            f"the data of this run came from files and is no longer in {cache_folder()}; "
            "run the suite again where the files are"
        )
    return Files(folder)


def _write(dataset: Dataset, scale: float, seed: int, folder: Path, sources: dict[str, list[Path]]) -> DatasetManifest:
    tables, files, text_bytes = dict[str, TableChecks](), dict[str, _Sealed](), 0
    for name, table in dataset.tables.items():
        rows = rows_of(dataset, name, scale, seed, sources.get(name))
        text_bytes += _written_table(folder, name, table, rows, files, tables)
    if dataset.texts is not None:
        texts = text_set(dataset.texts, seed, scale, sources.get(TEXT_TABLE))
        for name, table in texts.tables.items():
            text_bytes += _written_table(folder, name, table, texts.rows(), files, tables)
        for part in texts.index(Files(folder).table(TEXT_TABLE)):
            files |= _written(folder, *part)
    if dataset.records is not None:  # made by arithmetic in each trial: there is nothing to be written
        records = RecordSet(dataset.records, seed, scale)
        text_bytes = records.count * (dataset.records.key_bytes + dataset.records.value_bytes)
        tables["records"] = {"rows": records.count, "columns": {}}
    if dataset.vectors is not None:
        vectors = vector_set(dataset.vectors, seed, scale, sources.get("vectors"))
        for part in vectors.tables():
            files |= _written(folder, *part)
        for part in vectors.distances(Files(folder).table("vectors")):
            files |= _written(folder, *part)
        text_bytes = vectors.bytes
        tables["vectors"] = {"rows": vectors.count, "columns": {}}
    return {
        "scale": scale,
        "seed": seed,
        "csv_bytes": text_bytes,
        "tables": tables,
        "files": dict(sorted(files.items())),
    }


def _written_table(
    folder: Path,
    name: str,
    table: Table,
    rows: Iterable[pa.RecordBatch],
    files: dict[str, _Sealed],
    tables: dict[str, TableChecks],
) -> int:
    """Write a table, note its file and what its rows must be, and return its bytes as CSV."""
    schema, checks = arrow_schema(table), _Checks(table)
    files |= _written(folder, name, schema, map(checks.taken, in_order(_measured, rows)))
    tables[name] = checks.result()
    return header_bytes(schema) + checks.csv_bytes


def _written(folder: Path, name: str, schema: pa.Schema, given: Iterable[pa.RecordBatch]) -> dict[str, _Sealed]:
    """Write a table, and return its file's length and hash."""
    path = folder / f"{name}.arrow"
    with plain_file.replacing(path, durable=True) as file, pa.ipc.new_file(file, schema) as writer:
        for batch in given:
            writer.write_batch(batch)
    return {path.name: {"bytes": path.stat().st_size, "sha256": plain_file.digest(path)}}


def _digest(path: Path) -> str:
    with refusals(path):
        return plain_file.digest(path)


def _stamps(sources: dict[str, list[Path]]) -> dict[Path, tuple[int, int, int]]:
    """The inode, size and time of change of each file, one of which changes with its bytes."""
    found = {}
    for path in (path for paths in sources.values() for path in paths):
        with refusals(path):
            status = path.stat()
        found[path] = status.st_ino, status.st_size, status.st_mtime_ns
    return found


def rows_of(
    dataset: Dataset, name: str, scale: float, seed: int | None, sources: list[Path] | None
) -> Iterator[pa.RecordBatch]:
    """The rows of a table, drawn or from its files: of those the first, as many as the scale says."""
    table = dataset.tables[name]
    if sources is None:
        yield from batches(dataset, name, scale=scale, seed=seed)
        return
    assert isinstance(table.rows, FromFile)
    if scale < 1 and table.scales and table.rows.count is None:
        raise UserError(
            f"table {name}: a part of a file needs its count: rows: {{file: {table.rows.file}, count: ...}}"
        )
    yield from all_rows(table, sources, _wanted(table, scale))


def _wanted(table: Table, scale: float) -> int | None:
    """The number of rows to take from a table's files; None for all."""
    assert isinstance(table.rows, FromFile)
    known = table.rows.count
    return None if scale == 1 or known is None or not table.scales else min(known, max(1, round(known * scale)))


def _checked(folder: Path) -> bool:
    """Whether a dataset is as it was written. One that isn't is removed, with a line in the log that says why."""
    if not (damage := _damage(folder)):
        return True
    if removed := kept_folder.remove(folder, lambda: _damage(folder)):  # nobody has made it again meanwhile
        _log.warning("dbbench: the cached dataset %s was damaged (%s) and has been removed", folder, damage)
    return not removed


def _damage(folder: Path) -> str:
    """What is wrong with a dataset; empty if nothing is."""
    return kept_folder.damage(
        folder / _MANIFEST,
        lambda manifest: {name: file["sha256"] for name, file in manifest["files"].items()},
    )


class _Bounds(TypedDict, total=False):
    """What is known of a column, as values of its type."""

    min: Any
    max: Any
    sum: Any


@dataclass(frozen=True)
class _Part:
    """A batch, the bytes of its CSV form, and the least, greatest and sum of each column."""

    batch: pa.RecordBatch
    csv_bytes: int
    columns: dict[str, _Bounds]


def _measured(batch: pa.RecordBatch) -> _Part:
    columns = dict[str, _Bounds]()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if batch.schema.field(name).metadata == DOCUMENTS:  # in each engine's own order
            columns[name] = {}
            continue
        try:
            found = pc.min_max(column).as_py()
        except OverflowError as exc:
            raise UserError(f"column {name} has a day or a moment outside of the years 1 to 9999") from exc
        columns[name] = {} if found["min"] is None else found  # all of them are missing
        if columns[name] and (pa.types.is_decimal(column.type) or pa.types.is_floating(column.type)):
            columns[name]["sum"] = pc.sum(column).as_py()
    return _Part(batch, csv_bytes(batch), columns)


class _Checks:
    """The number of rows, and the least, greatest and sum of each column, to check a load by."""

    def __init__(self, table: Table) -> None:
        self.rows = self.csv_bytes = 0
        self.columns: dict[str, _Bounds] = {name: {} for name in table.columns}

    def taken(self, part: _Part) -> pa.RecordBatch:
        """The batch of a part, which is counted."""
        self.rows += part.batch.num_rows
        self.csv_bytes += part.csv_bytes
        for name, found in part.columns.items():
            if found:
                seen = self.columns[name]
                seen["min"] = min(seen.get("min", found["min"]), found["min"])
                seen["max"] = max(seen.get("max", found["max"]), found["max"])
                if "sum" in found:
                    with localcontext(prec=80):  # digits, which are 28 by default
                        seen["sum"] = seen.get("sum", 0) + found["sum"]
        return part.batch

    def result(self) -> TableChecks:
        columns = {name: {key: str(value) for key, value in seen.items()} for name, seen in self.columns.items()}
        return {"rows": self.rows, "columns": columns}
