"""Rows from the user's own files: what is found in them, and what is refused."""

from __future__ import annotations

import datetime
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dbbench.datasets.cache import kept, materialise
from dbbench.datasets.inference import FoundTable, look_at
from dbbench.datasets.own_files import estimated_bytes, files_of, rows_from
from dbbench.errors import UserError
from dbbench.suite.dataset import Dataset, FromFile
from dbbench.suite.from_files import suite_text
from dbbench.suite.loader import parse_suite

MOST = '''\
Id,Zip,Price,Level,Day,At,Name,Note
1,00501,9.50,1.5,2026-01-31,2026-01-31 10:00:00,"Müller, Jo",
2,10115,-12.25,1e3,2026-02-01,2026-02-01T00:00:00,"said ""no""",""
3,99999,0.00,.5,2026-02-02,2026-02-02 23:59:59,"two
lines",x
'''


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))


def look(folder: Path, pattern: str = "t.csv", name: str = "t") -> FoundTable:
    return look_at(name, pattern, files_of(pattern, folder))


def dataset(folder: Path, *tables: FoundTable) -> Dataset:
    return parse_suite(suite_text("mine", list(tables)), str(folder / "mine.yaml")).datasets["mine"]


def read(folder: Path, text: str, types: dict[str, str] | None = None, **rows: object) -> pa.Table:
    """The rows of a CSV file, as they would be loaded."""
    (folder / "t.csv").write_text(text, encoding="utf-8")
    columns = {name: {"type": kind} for name, kind in (types or {"Id": "integer"}).items()}
    table = {"rows": {"file": "t.csv", **rows}, "primary_key": next(iter(columns)), "columns": columns}
    return materialise(Dataset.model_validate({"tables": {"t": table}}), folder=folder).table("t")


def test_types_are_the_narrowest_that_hold_all_values(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(MOST, encoding="utf-8")
    found = look(tmp_path)
    assert [(column.name, column.type, column.nullable) for column in found.columns] == [
        ("Id", "integer", False), ("Zip", "varchar(5)", False), ("Price", "decimal(4, 2)", False),
        ("Level", "double", False), ("Day", "date", False), ("At", "datetime", False), ("Name", "varchar(10)", False),
        ("Note", "varchar(1)", True),
    ]  # fmt: skip
    assert (found.key, found.rows) == (("Id",), 3)


def test_what_was_imported_is_what_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(MOST, encoding="utf-8")
    rows = materialise(dataset(tmp_path, look(tmp_path)), folder=tmp_path).table("t").to_pylist()
    assert rows[0] == {
        "Id": 1, "Zip": "00501", "Price": Decimal("9.50"), "Level": 1.5, "Day": datetime.date(2026, 1, 31),
        "At": datetime.datetime(2026, 1, 31, 10), "Name": "Müller, Jo", "Note": None,
    }  # fmt: skip
    assert [row["Note"] for row in rows] == [None, "", "x"], "an empty field is a null, one in quotes an empty text"
    assert [row["Name"] for row in rows] == ["Müller, Jo", 'said "no"', "two\nlines"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["2147483647", "-5"], "integer"),
        (["2147483648"], "bigint"),
        (["1", "1.5"], "double"),
        (["1.5", "22.5"], "decimal(3, 1)"),
        (["1.5", "2.25"], "double"),
        (["007"], "varchar(3)"),
        (["1", "x"], "varchar(1)"),
        (["2026-01-01", "2026-01-02 00:00:00"], "varchar(19)"),
        (["2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00"], "datetime"),
        (["2026-01-01T00:00:00.5"], "varchar(21)"),
        (["true", "false"], "varchar(5)"),
    ],
)
def test_a_type_fits_every_value(tmp_path: Path, values: list[str], kind: str) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["x", *values]) + "\n")
    assert [column.type for column in look(tmp_path).columns] == [kind]


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int64()),
            "flag": pa.array([True, False]),
            "price": pa.array([Decimal("1.10"), Decimal("2.20")], pa.decimal128(9, 2)),
            "at": pa.array([moment, moment], pa.timestamp("us", "UTC")),
            "fine": pa.array([datetime.datetime(2026, 1, 1, 0, 0, 0, 5)] * 2, pa.timestamp("us")),
            "word": pa.array(["a", "b"]).dictionary_encode(),
            "list": pa.array([[1], [2]]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = look(tmp_path, "t.parquet")
    assert {column.name: column.type for column in found.columns} == {
        "n": "integer", "flag": "integer", "price": "decimal(9, 2)", "at": "datetime", "fine": "varchar(40)",
        "word": "varchar(1)",
    }  # fmt: skip
    assert found.key == ("word",)
    assert found.left_out == ["list: there is no type for list<element: int64>"]
    (first, _) = materialise(dataset(tmp_path, found), folder=tmp_path).table("t").to_pylist()
    assert first["at"] == datetime.datetime(2026, 1, 1, 12)
    assert (first["flag"], first["word"], first["n"]) == (1, "a", 1)


def test_several_files_are_one_table_with_numbered_rows(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"part-{number}.csv").write_text("a b,A_B,1st\nx,y,z\nx,y,z\n")
    found = look(tmp_path, "part-*.csv", "part")
    assert [(column.source, column.name) for column in found.columns] == [
        ("a b", "a_b"), ("A_B", "A_B_2"), ("1st", "c_1st"),
    ]  # fmt: skip
    assert (found.key, found.rows) == ((), 4)
    table = materialise(dataset(tmp_path, found), folder=tmp_path).table("part")
    assert table.column("row_number").to_pylist() == [1, 2, 3, 4]
    assert table.column("A_B_2").to_pylist() == ["y"] * 4


def test_a_key_may_be_in_any_order_but_comes_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,x,code\na,1,9\nb,1,7\nc,2,8\n")
    assert look(tmp_path).key == ("name",)
    (tmp_path / "t.csv").write_text("name,x,code\na,1,9\na,1,7\nc,2,8\n")
    assert look(tmp_path).key == ("code",)
    (tmp_path / "t.csv").write_text("name,x_id\na,9\nb,7\nc,8\n")
    assert look(tmp_path).key == ("name",), "what ascends costs least to find"


def test_a_scale_takes_the_first_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Id\n" + "".join(f"{number}\n" for number in range(100_000)))
    files = materialise(dataset(tmp_path, look(tmp_path)), scale=0.7, folder=tmp_path)
    assert files.table("t").column("Id").to_pylist() == list(range(70_000))
    with pytest.raises(UserError, match="--scale must be at most 1"):
        materialise(dataset(tmp_path, look(tmp_path)), scale=2, folder=tmp_path)


def test_another_content_is_another_dataset_and_an_old_one_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Id\n1\n2\n")
    data = dataset(tmp_path, look(tmp_path))
    before = materialise(data, folder=tmp_path)
    (tmp_path / "t.csv").write_text("Id\n1\n3\n")
    assert materialise(data, folder=tmp_path) != before
    (tmp_path / "t.csv").unlink()
    assert kept(before.directory.name).table("t").column("Id").to_pylist() == [1, 2]
    for key in ("0" * 24, "../../etc", ""):
        with pytest.raises(UserError, match="no longer in"):
            kept(key)


@pytest.mark.parametrize(
    ("text", "types", "rows", "words"),
    [
        ("Id,a\n1,2\n3\n", {"Id": "integer", "a": "integer"}, {}, r"t\.csv, row 2: .*Expected 2 columns, got 1"),
        ("Id\n1\nx\n", {"Id": "integer"}, {}, r"t\.csv, row 2: .*invalid value 'x'"),
        ("Id\n1\n3000000000\n", {"Id": "integer"}, {}, r"t\.csv, row 2: .*3000000000"),
        ("Id,a\n1,\n", {"Id": "integer", "a": "varchar(3)"}, {}, "row 1, column a: None is missing, and the column is not"),
        ("Id,a\n1,long\n", {"Id": "integer", "a": "varchar(3)"}, {}, "row 1, column a: 'long' is longer than 3 characters"),
        ("Id,a\n1,b\0c\n", {"Id": "integer", "a": "varchar(3)"}, {}, "column a: .* is a text with a NUL"),
        ("Id,a\n1,nan\n", {"Id": "integer", "a": "double"}, {}, "row 1, column a: nan is no number"),
        ("Id,a\n1,1.255\n", {"Id": "integer", "a": "decimal(5, 2)"}, {}, r"t\.csv, row 1: .*would cause data loss"),
        ("Id,a\n1,2026-01-01 00:00:00.5\n", {"Id": "integer", "a": "datetime"}, {}, "column a: .*would lose data"),
        ("Id,a\n1,2026-02-30\n", {"Id": "integer", "a": "date"}, {}, "2026-02-30"),
        ("Id\n1\n", {"Id": "integer", "b": "integer"}, {}, r"has no column 'b' \(it has: Id\)"),
        ("Id,Id\n1,2\n", {"Id": "integer"}, {}, "has two columns 'Id'"),
        ("Id\n1\n2\n", {"Id": "integer"}, {"count": 3}, "2 rows, and the suite says 3"),
        ("", {"Id": "integer"}, {}, "is empty: its first line should have the names"),
        ("Id\n1\n", {"Id": "integer"}, {"file": "no.csv"}, r"there is no file .*no\.csv; paths are relative"),
        ("Id\n1\n", {"Id": "integer"}, {"file": "."}, "is not a regular file"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_file_and_row(
    tmp_path: Path, text: str, types: dict[str, str], rows: dict[str, object], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        read(tmp_path, text, types, **rows)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("Id\n1\n2\n")
    data = dataset(tmp_path, look(tmp_path))

    def grows(*given: Any) -> Any:
        with (tmp_path / "t.csv").open("a") as file:
            file.write("3\n")
        return rows_from(*given)

    monkeypatch.setattr("dbbench.datasets.cache.rows_from", grows)
    data = data.model_copy(
        update={"tables": {"t": data.tables["t"].model_copy(update={"rows": FromFile(file="t.csv")})}}
    )
    with pytest.raises(UserError, match="changed while it was read"):
        materialise(data, folder=tmp_path)
    monkeypatch.undo()


@pytest.mark.parametrize("kind", ["varchar(5)", "integer", "date"])
def test_a_column_that_no_type_fits_is_refused(tmp_path: Path, kind: str) -> None:
    pq.write_table(pa.table({"Id": [1], "a": [[1, 2]]}), tmp_path / "t.parquet")
    columns = {"Id": {"type": "integer"}, "a": {"type": kind}}
    table = {"rows": {"file": "t.parquet"}, "primary_key": "Id", "columns": columns}
    with pytest.raises(UserError, match=r"t\.parquet, column a: Unsupported cast from list"):
        materialise(Dataset.model_validate({"tables": {"t": table}}), folder=tmp_path)


def test_names_that_yaml_takes_for_something_else_stay_names(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("null,True,no,on,y\n1,2,3,4,5\n")
    found = dataset(tmp_path, look(tmp_path, name="false"))
    assert list(found.tables) == ["false"]
    assert list(found.tables["false"].columns) == ["null", "True", "no", "on", "y"]
    assert found.tables["false"].primary_key == "null"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"Id\n\xff\xfe\n")
    with pytest.raises(UserError, match=r"t\.csv"):
        look(tmp_path)
    (tmp_path / "t.csv").write_bytes(b"Id,\xff\n1,2\n")
    with pytest.raises(UserError, match="the names of the columns are not UTF-8"):
        look(tmp_path)
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UserError, match=r"t\.parquet"):
        look(tmp_path, "t.parquet")


def test_drawn_columns_can_have_nulls(tmp_path: Path) -> None:
    columns = {
        "Id": {"type": "integer", "values": {"kind": "sequence"}},
        "a": {"type": "varchar(2)", "values": {"kind": "pattern", "text": "##"}, "null_every": 4},
    }
    table = {"rows": 40_000, "primary_key": "Id", "columns": columns}
    data = Dataset.model_validate({"tables": {"t": table}})
    assert data.tables["t"].columns["a"].nullable
    found = materialise(data).table("t").column("a")
    assert found.null_count == 10_000
    assert [place for place, value in enumerate(found.to_pylist(), 1) if value is None] == list(range(4, 40_001, 4))


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("scaled", [None, 500])
def test_the_size_of_a_file_is_estimated_from_its_first_rows(tmp_path: Path, form: str, scaled: int | None) -> None:
    rows = pa.table({"Id": pa.array(range(5_000), pa.int32()), "Name": [f"name,\n{n:05d}" for n in range(5_000)]})
    path = tmp_path / f"t.{form}"
    if form == "csv":
        pa.csv.write_csv(rows, path)
    else:
        pq.write_table(rows, path)
    columns = {"Id": {"type": "integer"}, "Name": {"type": "varchar(20)"}}
    table = Dataset.model_validate(
        {"tables": {"t": {"rows": {"file": path.name}, "primary_key": "Id", "columns": columns}}}
    ).tables["t"]
    found = estimated_bytes(table, [path, path], scaled)
    whole = pa.Table.from_batches(list(rows_from(table.columns, [path, path], scaled))).nbytes
    assert found == pytest.approx(whole, rel=0.1)


def test_files_that_would_not_fit_on_the_disk_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 100))  # type: ignore[attr-defined]
    text = "Id\n" + "".join(f"{number}\n" for number in range(200))
    with pytest.raises(UserError, match=r"the dataset would take about 0\.0 GB, and .* has 0\.0 GB free"):
        read(tmp_path, text)
    assert not list((tmp_path / "cache").rglob("*.arrow"))
