"""Reading tables back, and measuring what lies on disk."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from dbbench.answers.compare import as_batches, check_batches, with_keys_of
from dbbench.engine.base import Engine, Setup
from dbbench.errors import WrongAnswer
from dbbench.suite.model import Tier
from dbbench.workloads.contents import _compare
from dbbench.workloads.ondisk import on_disk

TABLE = pa.table({"Id": pa.array(range(20_000), pa.int32()), "Name": [f"n{number}" for number in range(20_000)]})


class Given:
    """A session that gives a table, as rows or in batches of some length."""

    def __init__(self, table: pa.Table, length: int = 0) -> None:
        self.result_format = "batches" if length else "rows"
        self.table, self.length = table, length

    def prepare_query(self, sql: str) -> Any:
        def run() -> Iterator[Any]:
            if self.length:
                return iter(self.table.to_batches(self.length))
            return zip(*(column.to_pylist() for column in self.table.columns), strict=True)

        return run


def compare(given: pa.Table, length: int) -> None:
    _compare(Given(given, length), "", TABLE.to_batches(7_000))  # type: ignore[arg-type]


FORMS = pytest.mark.parametrize("length", [0, 1_000, 9_999, 50_000], ids=["rows", "small", "odd", "large"])


@FORMS
def test_the_same_rows_are_right_in_whatever_pieces_they_come(length: int) -> None:
    compare(TABLE, length)


@FORMS
def test_rows_that_are_missing_more_or_other_are_wrong(length: int) -> None:
    swapped = TABLE.set_column(
        1, "Name", pa.chunked_array([TABLE["Name"].slice(1), TABLE["Name"].slice(0, 1)]).combine_chunks()
    )
    for wrong in (
        TABLE.slice(0, 19_999),
        pa.concat_tables([TABLE, TABLE.slice(0, 1)]),
        TABLE.slice(1),
        swapped,
        TABLE.slice(0, 0),
    ):
        with pytest.raises(WrongAnswer):
            compare(wrong, length)


class ScheduleStats(Engine):
    """An engine that tells of no file."""

    name = "kept"
    durability: ClassVar = {Tier.POWER: {}}

    def size(self) -> Any:
        return super().size().__class__(())


def test_files_are_measured_whatever_the_engine_says(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "a.db").write_bytes(b"x" * 1000)
    os.link(folder / "a.db", folder / "again.db")  # one file, two names
    (elsewhere / "read").write_bytes(b"x" * 100)
    engine = ScheduleStats(Setup(folder, Tier.POWER))
    with (
        open(elsewhere / "written", "wb", buffering=0) as written,
        open(elsewhere / "deleted", "wb", buffering=0) as deleted,
        open(elsewhere / "read", "rb"),
    ):
        written.write(b"x" * 10)
        deleted.write(b"x" * 20)
        (elsewhere / "deleted").unlink()
        files = {os.path.basename(file.name).partition(" ")[0]: file for file in on_disk(engine).files}
    assert files["a.db" if "a.db" in files else "again.db"].apparent == 1000
    assert ("a.db" in files) != ("again.db" in files)
    assert (files["written"].apparent, files["written"].role) == (10, "other")
    assert files["deleted"].apparent == 20
    assert "read" not in files


def test_rows_with_other_keys_than_the_expected_are_left_out() -> None:
    expected = pa.table({"Code": ["a ", "é", "Z"], "N": [1, 2, 3]})
    given = [(5, "added"), (1, "a"), (3, "Z"), (2, "é")]
    swapped = as_batches([(code, number) for number, code in given], expected.schema)
    check_batches(with_keys_of(swapped, expected, 0), expected, ordered=False)
    wrong = as_batches([("a", 1), ("Z", 4), ("é", 2), ("added", 5)], expected.schema)
    with pytest.raises(WrongAnswer, match="4 instead of 3"):
        check_batches(with_keys_of(wrong, expected, 0), expected, ordered=False)
