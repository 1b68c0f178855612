"""Datasets on disk: drawn once, whole or not there, and written out for others."""

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dbbench.datasets import cache as on_disk
from dbbench.datasets import export as exporting
from dbbench.datasets.cache import Files, materialise, rows_of
from dbbench.datasets.export import export
from dbbench.datasets.generate import batches
from dbbench.datasets.records import RecordSet
from dbbench.errors import UserError
from dbbench.suite.dataset import Dataset, Records
from dbbench.suite.model import Suite
from tests.tables import table_of

DAY = 24 * 3600


@pytest.fixture
def things(small: Suite) -> Dataset:
    return small.datasets["things"]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that were drawn, one entry each time."""
    calls: list[str] = []

    def counted(dataset: Dataset, table: str, **how: Any) -> Iterator[pa.RecordBatch]:
        calls.append(table)
        return batches(dataset, table, **how)

    monkeypatch.setattr(on_disk, "batches", counted)
    return calls


def fail(*_: Any, **__: Any) -> Iterator[pa.RecordBatch]:
    raise OSError(28, "No space left on device")
    yield  # as the generator that it stands for, which fails once it is asked


def test_files_hold_what_was_drawn(things: Dataset, own_cache: Path) -> None:
    files = materialise(things, scale=2)
    for name in things.tables:
        assert files.table(name).equals(pa.Table.from_batches(batches(things, name, scale=2)))
        assert list(files.stream(name)) == list(batches(things, name, scale=2))


def test_the_manifest_has_the_check_values_of_each_column(things: Dataset, own_cache: Path) -> None:
    manifest = materialise(things, scale=0.5).manifest
    amounts = pa.Table.from_batches(batches(things, "Child", scale=0.5)).column("Amount").to_pylist()
    assert (manifest["scale"], manifest["seed"]) == (0.5, 7)
    assert {name: table["rows"] for name, table in manifest["tables"].items()} == {"Parent": 5, "Child": 50}
    columns = manifest["tables"]["Child"]["columns"]
    assert columns["Id"] == {"min": "5", "max": "54"}
    assert columns["Amount"] == {"min": str(min(amounts)), "max": str(max(amounts)), "sum": str(sum(amounts))}


def test_a_second_call_draws_nothing(things: Dataset, own_cache: Path, drawn: list[str]) -> None:
    first = materialise(things)
    assert drawn == ["Parent", "Child"]
    assert materialise(things) == first
    assert materialise(things, scale=1, seed=7) == first
    assert drawn == ["Parent", "Child"]


def test_another_scale_seed_or_definition_is_another_dataset(things: Dataset, own_cache: Path) -> None:
    parent = things.tables["Parent"].model_copy(update={"rows": 11})
    other = things.model_copy(update={"tables": {**things.tables, "Parent": parent}})
    made = {materialise(things), materialise(things, scale=2), materialise(things, seed=8), materialise(other)}
    assert len(made) == 4


DRAW = """
import sys
from dbbench.datasets.cache import materialise
from dbbench.suite.loader import find_suite, load_suite
print("ready", flush=True)
sys.stdin.readline()
print(materialise(load_suite(find_suite("invoices")).datasets["invoices"], scale=0.2).directory)
"""


def test_two_processes_at_once_end_with_one_whole_dataset(own_cache: Path, invoices_data: Dataset) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", DRAW], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    directories = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    (directory,) = directories
    assert os.listdir(own_cache) == [Path(directory).name]
    found = Files(Path(directory)).table("Charges")
    assert found.equals(pa.Table.from_batches(batches(invoices_data, "Charges", scale=0.2)))


def test_a_run_that_was_second_takes_the_first_ones_files(
    things: Dataset, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(dataset: Dataset, table: str, **how: Any) -> Iterator[pa.RecordBatch]:
        with monkeypatch.context() as once:
            once.setattr(on_disk, "batches", batches)
            overtaken.first = materialise(dataset)  # type: ignore[attr-defined]
        return batches(dataset, table, **how)

    monkeypatch.setattr(on_disk, "batches", overtaken)
    assert materialise(things) == overtaken.first  # type: ignore[attr-defined]
    assert len(os.listdir(own_cache)) == 1


def test_old_folders_of_runs_that_were_killed_are_swept(things: Dataset, own_cache: Path) -> None:
    for name, age in [(".making-old", DAY + 60), (".making-young", DAY - 60), ("kept", 9 * DAY)]:
        (own_cache / name).mkdir(parents=True)
        (own_cache / name / "Parent.arrow").write_bytes(b"half")
        os.utime(own_cache / name, (time.time() - age,) * 2)
    files = materialise(things)
    assert set(os.listdir(own_cache)) == {".making-young", "kept", files.directory.name}


def test_a_cache_that_cannot_be_written_is_told(
    things: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match=r"can't be written to .*/file/cache: Not a directory; .* DBBENCH_CACHE$"):
        materialise(things)


def test_a_full_disk_is_told_and_leaves_nothing(
    things: Dataset, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_disk, "batches", fail)
    with pytest.raises(UserError, match=r"No space left on device; make room there, .* DBBENCH_CACHE$"):
        materialise(things)
    assert os.listdir(own_cache) == []


def test_an_interrupt_leaves_nothing(things: Dataset, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk, "batches", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        materialise(things)
    assert os.listdir(own_cache) == []


def test_csv_bytes_are_the_bytes_that_export_writes(
    invoices_data: Dataset, invoices_files: Files, tmp_path: Path
) -> None:
    written = list(export(invoices_data, tmp_path, "csv", scale=0.03, seed=None))
    assert sum(path.stat().st_size for path, _ in written) == invoices_files.manifest["csv_bytes"]


def test_csv_has_every_row_with_each_datetime_in_one_form(
    invoices_data: Dataset, invoices_files: Files, tmp_path: Path
) -> None:
    written = dict(export(invoices_data, tmp_path, "csv", scale=0.03, seed=None))
    with open(tmp_path / "Invoice.csv", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    expected = invoices_files.table("Invoice").to_pylist()
    assert written[tmp_path / "Invoice.csv"] == len(found) == 3
    assert found == [
        {name: value.isoformat() if name == "InvoiceDate" else str(value) for name, value in row.items()}
        for row in expected
    ]


def test_a_moment_keeps_its_time_of_day_in_a_csv_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    moments = {"kind": "moments", "first": "2011-11-02T23:00:00", "seconds": 3600, "null_every": 3}
    table = table_of({"Id": "integer", "At": {"type": "datetime", "values": moments}}, rows=4)
    list(export(Dataset(tables={"T": table}), tmp_path, "csv", scale=1, seed=None))
    with open(tmp_path / "T.csv", encoding="utf-8", newline="") as file:
        found = [row["At"] for row in csv.DictReader(file)]
    assert found == ["2011-11-02T23:00:00", "2011-11-03T00:00:00", "", "2011-11-03T02:00:00"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_records_are_written_with_the_keys_and_values_that_engines_get(form: str, tmp_path: Path) -> None:
    spec = Dataset.model_validate({"records": {"count": 40_000, "key_order": "scattered", "value_bytes": 16}})
    assert isinstance(spec.records, Records)
    records = RecordSet(spec.records, seed=7)
    assert dict(export(spec, tmp_path, form, scale=1, seed=7)) == {tmp_path / f"records.{form}": 40_000}
    if form == "csv":
        with open(tmp_path / "records.csv", encoding="utf-8", newline="") as file:
            found = [(bytes.fromhex(row["key"]), bytes.fromhex(row["value"])) for row in csv.DictReader(file)]
    else:
        found = [(row["key"], row["value"]) for row in parquet.read_table(tmp_path / "records.parquet").to_pylist()]
    assert found == records.pairs(np.arange(40_000, dtype=np.uint64))


def test_parquet_holds_the_same_tables(invoices_data: Dataset, invoices_files: Files, tmp_path: Path) -> None:
    for path, rows in export(invoices_data, tmp_path / "new" / "folder", "parquet", scale=0.03, seed=None):
        read = parquet.read_table(path)
        expected = invoices_files.table(path.stem)
        assert read.num_rows == rows == expected.num_rows
        assert read.cast(expected.schema).to_pylist() == expected.to_pylist()


def test_export_takes_the_seed_given(things: Dataset, tmp_path: Path) -> None:
    for name, seed in (("own", None), ("same", 7), ("other", 8)):
        list(export(things, tmp_path / name, "csv", scale=1, seed=seed))
    own, same, other = ((tmp_path / name / "Child.csv").read_bytes() for name in ("own", "same", "other"))
    assert own == same != other


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_overwrites_nothing(form: str, things: Dataset, tmp_path: Path) -> None:
    (tmp_path / f"Child.{form}").write_text("mine")
    with pytest.raises(UserError, match=rf"Child\.{form} already exists; name an empty folder with --out"):
        list(export(things, tmp_path, form, scale=1, seed=None))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {f"Child.{form}": "mine"}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_export_that_fails_leaves_nothing(
    form: str, things: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        exporting, "rows_of", lambda dataset, table, *how: (fail if table == "Child" else rows_of)(dataset, table, *how)
    )
    with pytest.raises(UserError, match="can't be written: No space left on device; name another folder with --out"):
        list(export(things, tmp_path, form, scale=1, seed=None))
    assert os.listdir(tmp_path) == []


def test_an_export_under_a_file_is_told(things: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"can't be written: Not a directory; name another folder with --out$"):
        list(export(things, tmp_path / "file" / "out", "csv", scale=1, seed=None))


def test_a_dataset_larger_than_the_disk_is_refused_before_it_is_drawn(
    things: Dataset, own_cache: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 100))  # type: ignore[attr-defined]
    with pytest.raises(
        UserError, match=r"would take about 0\.0 GB, and .* has 0\.0 GB free; .* choose a smaller --scale"
    ):
        materialise(things)
    assert not drawn
    assert not own_cache.exists()
