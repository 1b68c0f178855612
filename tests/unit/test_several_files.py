"""Tables of several files: one type for a column of all of them, and rows that are named with their file."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dbbench.datasets.cache import materialise
from dbbench.datasets.found_tables import FoundTable, suite_text
from dbbench.datasets.inference import look_at
from dbbench.datasets.own_files import files_of
from dbbench.errors import UserError
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import parse_suite


def look(folder: Path, pattern: str) -> FoundTable:
    return look_at("t", pattern, files_of(pattern, folder))


def dataset(folder: Path, table: FoundTable) -> Dataset:
    return parse_suite(suite_text("mine", [table]), str(folder / "mine.yaml")).datasets["mine"]


def test_a_row_of_several_files_is_named_with_its_file(tmp_path: Path) -> None:
    for number, text in enumerate(["id\n1\n2\n", "id\n", "id\n3\n2\n"], 1):
        (tmp_path / f"t-{number}.csv").write_text(text)
    first, last = tmp_path / "t-1.csv", tmp_path / "t-3.csv"
    told = f"id is named like a key, but 2 is in row 2 of {first} and row 2 of {last}"
    assert look(tmp_path, "t-*.csv").doubled == told


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (pa.array([1]), pa.array([1.5]), "double"),
        (pa.array([1.5]), pa.array([1]), "double"),
        (pa.array([None], pa.null()), pa.array([1.5]), "double"),
        (pa.array([1.5]), pa.array([None], pa.null()), "double"),
        (pa.array([Decimal("1.25")], pa.decimal128(5, 2)), pa.array([1], pa.decimal128(10, 2)), "decimal(10, 2)"),
        (pa.array([1], pa.int32()), pa.array([2**40]), "bigint"),
        (pa.array([-1]), pa.array([2**63], pa.uint64()), "decimal(20, 0)"),
        (pa.array(["a"]), pa.array(["b"]).dictionary_encode(), "varchar(1)"),
        (pa.array([0], pa.timestamp("s", "UTC")), pa.array([0], pa.timestamp("us", "Europe/Berlin")), "datetime"),
    ],
)
def test_a_column_of_several_files_has_a_type_for_all_of_them(
    tmp_path: Path, first: pa.Array, second: pa.Array, kind: str
) -> None:
    pq.write_table(pa.table({"x": first, "id": [1]}), tmp_path / "t-1.parquet")
    pq.write_table(pa.table({"x": second, "id": [2]}), tmp_path / "t-2.parquet")
    found = look(tmp_path, "t-*.parquet")
    assert [(column.name, column.type) for column in found.columns] == [("x", kind), ("id", "integer")]
    assert materialise(dataset(tmp_path, found), folder=tmp_path).table("t").num_rows == 2


@pytest.mark.parametrize(
    ("values", "kind"), [(pa.array(["x"]), "string"), (pa.array([1], pa.decimal128(5, 2)), r"decimal128\(5, 2\)")]
)
def test_types_that_nothing_holds_together_are_refused_with_both_files(
    tmp_path: Path, values: pa.Array, kind: str
) -> None:
    for number, each in enumerate([[None], [1], values], 1):
        pq.write_table(pa.table({"x": each}), tmp_path / f"t-{number}.parquet")
    message = rf"t-3\.parquet: column 'x' is {kind}, and int64 in .*t-2\.parquet; write it with one type in all files"
    with pytest.raises(UserError, match=message):
        look(tmp_path, "t-*.parquet")


def test_a_number_that_the_type_of_all_files_would_round_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [2**53 + 1]}), tmp_path / "t-1.parquet")
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "t-2.parquet")
    with pytest.raises(UserError, match=r"t-1\.parquet, column x: .*9007199254740993"):
        look(tmp_path, "t-*.parquet")


@pytest.mark.parametrize(("csv_name", "parquet_name"), [("t-1.csv", "t-2.parquet"), ("t-2.csv", "t-1.parquet")])
def test_a_table_may_be_in_files_of_both_forms(tmp_path: Path, csv_name: str, parquet_name: str) -> None:
    (tmp_path / csv_name).write_text("id,x,price\n1,5,1.25\n")
    prices = pa.array([Decimal("10.25")], pa.decimal128(4, 2))
    pq.write_table(pa.table({"id": [2], "x": [6.5], "price": prices}), tmp_path / parquet_name)
    found = look(tmp_path, "t-*")
    assert [column.type for column in found.columns] == ["integer", "double", "decimal(6, 2)"]
    assert found.key == ("id",)
    assert materialise(dataset(tmp_path, found), folder=tmp_path).table("t").num_rows == 2


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("rows", [0, 1])
def test_files_of_other_columns_are_refused_also_where_they_have_no_rows(tmp_path: Path, form: str, rows: int) -> None:
    for number, name in enumerate("ab", 1):
        table, path = pa.table({name: pa.array([1] * rows, pa.int64())}), tmp_path / f"t-{number}.{form}"
        if form == "csv":
            pyarrow.csv.write_csv(table, path)
        else:
            pq.write_table(table, path)
    with pytest.raises(UserError, match=rf"t-2\.{form} has other columns than .*t-1\.{form}"):
        look(tmp_path, f"t-*.{form}")
