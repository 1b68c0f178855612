"""Rows from the user's own files: what is found in them, and what is refused."""

import csv
import datetime
import io
import math
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dbbench.datasets import own_files
from dbbench.datasets.cache import check_rows, kept, materialise
from dbbench.datasets.found_tables import Found, FoundTable, suite_text
from dbbench.datasets.generate import CHUNK_ROWS
from dbbench.datasets.inference import look_at
from dbbench.datasets.own_files import all_rows, estimated_bytes, files_of, rows_from
from dbbench.errors import UserError
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import parse_suite
from dbbench.suite.plain import mapping
from tests.tables import table_of

pytestmark = pytest.mark.usefixtures("own_cache")
MOST = '''\
Id,Zip,Price,Level,Day,At,Name,Note
1,00501,9.50,1.5,2026-01-31,2026-01-31 10:00:00,"Müller, Jo",
2,10115,-12.25,1e3,2026-02-01,2026-02-01T00:00:00,"said ""no""",""
3,99999,0.00,.5,2026-02-02,2026-02-02 23:59:59,"two
lines",x
'''


def write(folder: Path, content: str | bytes | pa.Table) -> Path:
    """A CSV file of a text or bytes, a Parquet file of a table."""
    if isinstance(content, pa.Table):
        path = folder / "t.parquet"
        pq.write_table(content, path)
    else:
        path = folder / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def look(folder: Path, content: str | bytes | pa.Table, name: str = "t") -> FoundTable:
    path = write(folder, content)
    return look_at(name, path.name, [path])


def dataset(folder: Path, table: FoundTable) -> Dataset:
    return parse_suite(suite_text("mine", [table]), str(folder / "mine.yaml")).datasets["mine"]


def stated(columns: dict[str, str], file: str = "t.csv", **rows: object) -> Dataset:
    """A file's table as a suite may state it; its first column is the key."""
    types = {name: {"type": kind} for name, kind in columns.items()}
    table = {"rows": {"file": file, **rows}, "primary_key": next(iter(columns)), "columns": types}
    return Dataset.model_validate({"tables": {"t": table}})


def checked(data: Dataset, folder: Path) -> None:
    """As `dbbench check` looks at a suite's files."""
    check_rows(SimpleNamespace(datasets={"d": data}), folder)  # type: ignore[arg-type]  # nothing else of a suite is asked for


def test_types_are_the_narrowest_that_hold_all_values(tmp_path: Path) -> None:
    found = look(tmp_path, MOST)
    assert [(column.name, column.type, column.nullable) for column in found.columns] == [
        ("Id", "integer", False), ("Zip", "varchar(5)", False), ("Price", "decimal(6, 2)", False),
        ("Level", "double", False), ("Day", "date", False), ("At", "datetime", False), ("Name", "varchar(10)", False),
        ("Note", "varchar(1)", True),
    ]  # fmt: skip
    assert (found.key, found.rows) == (("Id",), 3)


def test_what_was_imported_is_what_is_loaded(tmp_path: Path) -> None:
    rows = materialise(dataset(tmp_path, look(tmp_path, MOST)), folder=tmp_path).table("t").to_pylist()
    assert rows[0] == {
        "Id": 1, "Zip": "00501", "Price": Decimal("9.50"), "Level": 1.5, "Day": datetime.date(2026, 1, 31),
        "At": datetime.datetime(2026, 1, 31, 10), "Name": "Müller, Jo", "Note": None,
    }  # fmt: skip
    assert [row["Note"] for row in rows] == [None, "", "x"], "an empty field is a null, one in quotes an empty text"
    assert [row["Name"] for row in rows] == ["Müller, Jo", 'said "no"', "two\nlines"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["2147483647", "-5"], "integer"), (["2147483648"], "bigint"), (["1", "-9223372036854775808"], "bigint"),
        (["1", "9223372036854775808"], "decimal(19, 0)"), (["9" * 38], "decimal(38, 0)"), (["1", "9" * 39], "varchar(39)"),
        (["1.5", "9223372036854775808"], "double"), (["1", "1.5"], "double"), (["1.5", "22.5"], "decimal(5, 1)"),
        (["-999999999999999.25"], "decimal(18, 2)"), (["123456789012345.6789"], "decimal(19, 4)"),
        (["2026-02-30", "2026-02-01"], "varchar(10)"), (["0000-00-00 00:00:00"], "varchar(19)"), (["1.5", "2.25"], "double"),
        (["007"], "varchar(3)"), (["1", "x"], "varchar(1)"), (["2026-01-01", "2026-01-02 00:00:00"], "varchar(19)"),
        (["2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00"], "datetime"), (["2026-01-01T00:00:00.5"], "varchar(21)"),
        (["true", "false"], "varchar(5)"),
    ],
)  # fmt: skip
def test_a_type_fits_every_value(tmp_path: Path, values: list[str], kind: str) -> None:
    assert [column.type for column in look(tmp_path, "\n".join(["x", *values]) + "\n").columns] == [kind]


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int64()),
            "flag": pa.array([True, False]),
            "price": pa.array([Decimal("1.10"), Decimal("2.20")], pa.decimal128(9, 2)),
            "at": pa.array([moment, moment], pa.timestamp("us", "UTC")),
            "fine": pa.array([datetime.datetime(2026, 1, 1, 0, 0, 0, 5)] * 2, pa.timestamp("us")),
            "word": pa.array(["b", "a"]).dictionary_encode(),  # texts by numbers that do not ascend
            "list": pa.array([[1], [2]]),
            "none": pa.array([None, None], pa.list_(pa.list_(pa.int64()))),
        }
    )
    found = look(tmp_path, table)
    assert {column.name: column.type for column in found.columns} == {
        "n": "integer", "flag": "integer", "price": "decimal(9, 2)", "at": "datetime", "fine": "varchar(40)",
        "word": "varchar(1)",
    }  # fmt: skip
    assert found.key == ("word",)
    assert found.left_out == [
        "list: there is no type for list<element: int64>",
        "none: there is no type for list<element: list<element: int64>>",
    ]
    (first, _) = materialise(dataset(tmp_path, found), folder=tmp_path).table("t").to_pylist()
    assert first["at"] == datetime.datetime(2026, 1, 1, 12)
    assert (first["flag"], first["word"], first["n"]) == (1, "b", 1)


def test_several_files_are_one_table_with_numbered_rows(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"part-{number}.csv").write_text("a b,A_B,1st\nx,y,z\nx,y,z\n")
    found = look_at("part", "part-*.csv", files_of("part-*.csv", tmp_path))
    assert [(column.source, column.name) for column in found.columns] == [
        ("a b", "a_b"), ("A_B", "A_B_2"), ("1st", "c_1st"),
    ]  # fmt: skip
    assert (found.key, found.rows) == ((), 4)
    table = materialise(dataset(tmp_path, found), folder=tmp_path).table("part")
    assert table.column("row_number").to_pylist() == [1, 2, 3, 4]
    assert table.column("A_B_2").to_pylist() == ["y"] * 4


def test_a_key_may_be_in_any_order_but_comes_once(tmp_path: Path) -> None:
    assert look(tmp_path, "name,x,code\na,1,9\nb,1,7\nc,2,8\n").key == ("name",)
    assert look(tmp_path, "name,x,code\na,1,9\na,1,7\nc,2,8\n").key == ("code",)
    assert look(tmp_path, "name,x_id\na,9\nb,7\nc,8\n").key == ("name",), "what ascends costs least to find"


def test_a_scale_takes_the_first_rows(tmp_path: Path) -> None:
    found = look(tmp_path, "Id\n" + "".join(f"{number}\n" for number in range(100_000)))
    files = materialise(dataset(tmp_path, found), scale=0.7, folder=tmp_path)
    assert files.table("t").column("Id").to_pylist() == list(range(70_000))
    text = suite_text("mine", [found]).replace("primary_key", "scales: false\n        primary_key")
    all_of_them = parse_suite(text, str(tmp_path / "mine.yaml")).datasets["mine"]
    assert materialise(all_of_them, scale=0.7, folder=tmp_path).table("t").num_rows == 100_000
    with pytest.raises(UserError, match="--scale must be at most 1"):
        materialise(dataset(tmp_path, found), scale=2, folder=tmp_path)


def test_an_empty_file_stays_empty_at_a_scale(tmp_path: Path) -> None:
    write(tmp_path, "Id\n")
    files = materialise(stated({"Id": "integer"}, count=0), scale=0.5, folder=tmp_path)
    assert files.table("t").num_rows == 0


def test_long_decimals_are_summed_up_exactly(tmp_path: Path) -> None:
    prices = [Decimal("1234567890123456.123456789012345678")] * (CHUNK_ROWS + 1)
    known = pa.table({"id": range(len(prices)), "price": pa.array(prices, pa.decimal128(38, 18))})
    manifest = materialise(dataset(tmp_path, look(tmp_path, known)), folder=tmp_path).manifest
    assert manifest["tables"]["t"]["columns"]["price"]["sum"] == "40455555191455533709.555519145555522382"


def test_days_beyond_the_calendar_are_refused(tmp_path: Path) -> None:
    known = pa.table({"id": [1], "day": pa.array([3_000_000], pa.int32()).cast("date32")})
    found = dataset(tmp_path, look(tmp_path, known))
    with pytest.raises(UserError, match="column day has a day or a moment outside of the years 1 to 9999"):
        materialise(found, folder=tmp_path)


def test_another_content_is_another_dataset_and_an_old_one_is_found_again(tmp_path: Path) -> None:
    data = dataset(tmp_path, look(tmp_path, "Id\n1\n2\n"))
    before = materialise(data, folder=tmp_path)
    path = write(tmp_path, "Id\n1\n3\n")
    assert materialise(data, folder=tmp_path) != before
    path.unlink()
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
        ("Id,a\n1,1678-01-01 00:00:00\n2,1677-12-31 00:00:00\n", {"Id": "integer", "a": "datetime"}, {},
         r"row 2, column a: '1677-12-31 00:00:00' is not within the years 1678 to 2261"),
        ("Id\n1\n", {"Id": "integer", "b": "integer"}, {}, r"has no column 'b' \(it has: Id\)"),
        ("Id,Id\n1,2\n", {"Id": "integer"}, {}, "has two columns 'Id'"),
        ("Id\n1\n2\n", {"Id": "integer"}, {"count": 3}, "2 rows, and the suite says 3"),
        ("", {"Id": "integer"}, {}, "is empty: its first line should have the names"),
        ("Id\n1\n", {"Id": "integer"}, {"file": "no.csv"}, r"there is no file .*no\.csv; paths are relative"),
        ("Id\n1\n", {"Id": "integer"}, {"file": "."}, "is not a regular file"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_file_and_row(
    tmp_path: Path, text: str, types: dict[str, str], rows: dict[str, Any], words: str
) -> None:
    write(tmp_path, text)
    for how in (materialise, checked):
        with pytest.raises(UserError, match=words):
            how(stated(types, **rows), folder=tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.write_text("Id\n1\n2\n3\n"), r"t\.csv changed while it was read"),
        (Path.unlink, r"t\.csv can't be read: No such file"),
    ],
)
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], said: str
) -> None:
    path = write(tmp_path, "Id\n1\n2\n")

    def changes(*given: Any) -> Any:
        yield from all_rows(*given)
        change(path)

    monkeypatch.setattr("dbbench.datasets.cache.all_rows", changes)
    with pytest.raises(UserError, match=said):
        materialise(stated({"Id": "integer"}), folder=tmp_path)


@pytest.mark.parametrize("kind", ["varchar(5)", "integer", "date"])
def test_a_column_that_no_type_fits_is_refused(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, pa.table({"Id": [1], "a": [[1, 2]]}))
    with pytest.raises(UserError, match=r"t\.parquet, column a: Unsupported cast from list"):
        materialise(stated({"Id": "integer", "a": kind}, path.name), folder=tmp_path)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.25, 1.255], "decimal(5, 2)"),
        (pa.array([1.25, 1.255], pa.float32()), "decimal(5, 2)"),
        ([datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 12)], "date"),
        (pa.array([0, 1], pa.timestamp("ns", "UTC")), "date"),
    ],
)
def test_what_a_type_would_round_is_refused_with_its_row(tmp_path: Path, values: Any, kind: str) -> None:
    path = write(tmp_path, pa.table({"Id": [1, 2], "a": values}))
    data = stated({"Id": "integer", "a": kind}, path.name)
    with pytest.raises(UserError, match=r"row 2, column a: .* is more than the column's type holds"):
        materialise(data, folder=tmp_path)
    write(tmp_path, pa.table({"Id": [1], "a": values[:1]}))
    assert materialise(data, folder=tmp_path).table("t").num_rows == 1


@pytest.mark.parametrize("block", [10, own_files._BLOCK])
def test_empty_lines_around_one_column_are_no_rows_and_others_are_refused(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_files, "_BLOCK", block)
    found = look(tmp_path, '\r\n\r\nx\r\na\r\n""\r\n"\n\nb"\r\n\r\n\r\n')
    assert found.rows == 3
    made = materialise(dataset(tmp_path, found), folder=tmp_path).table("t")
    assert made.column("x").to_pylist() == ["a", "", "\n\nb"]
    for text, row in (("x\na\n\nb\n", 2), ("x\n\n", 1), ("x\na\n" + "\n" * 25 + "b\n", 2)):
        with pytest.raises(UserError, match=f"row {row}: an empty line, which may be a row or none"):
            look(tmp_path, text)


def test_names_that_yaml_takes_for_something_else_stay_names(tmp_path: Path) -> None:
    found = dataset(tmp_path, look(tmp_path, "null,True,no,on,y\n1,2,3,4,5\n", name="false"))
    assert list(found.tables) == ["false"]
    assert list(found.tables["false"].columns) == ["null", "True", "no", "on", "y"]
    assert found.tables["false"].primary_key == "null"


REFUSED: dict[str, tuple[str | bytes | pa.Table, str]] = {
    "bytes that are no text": (b"Id\n\xff\xfe\n", r"t\.csv"),
    "a name that is no text": (b"Id,\xff\n1,2\n", "is not UTF-8; save the file as UTF-8"),
    "fields that two delimiters may separate": (
        "a,b;c\n1,2;3\n", r"t\.csv: commas or semicolons may separate its fields; write names",
    ),
    "a moment that nobody loads": (
        "id,at\n1,1999-01-01T00:00:00Z\n2,2263-01-01T00:00:00Z\n",
        r"t\.csv, row 2, column at: .*2263.* is not within the years 1678 to 2261",
    ),
    "a moment that nobody loads in Parquet": (
        pa.table({"id": [1], "at": pa.array([datetime.datetime(1500, 1, 1)], pa.timestamp("us"))}),
        r"t\.parquet, row 1, column at: .*1500.* is not within the years",
    ),
    "a text that no suite may have": (
        "id,name\n1,a\n2,b\0\n", r"t\.csv, row 2, column name: .* is a text with a NUL in it",
    ),
    "a number that is none": ("id,much\n1,2.5\n2,1e999\n", r"t\.csv, row 2, column much: inf is no number"),
    "a number that is none in Parquet": (
        pa.table({"id": [1, 2], "much": [1.5, math.nan]}), r"t\.parquet, row 2, column much: nan is no number",
    ),
    "more columns than databases take": (
        ",".join(f"c{number}" for number in range(20_000)) + "\n" + "1," * 19_999 + "1\n",
        r"t\.csv has 20,000 columns, and a table at most 4,096; leave some out",
    ),
    "two columns of one name": (
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["id", "id"]),
        r"t\.parquet has two columns 'id'; give one of them another name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_a_table_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    with pytest.raises(UserError, match=words):
        look(tmp_path, content)


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UserError, match=r"t\.parquet"):
        look_at("t", path.name, [path])


def test_drawn_columns_can_have_nulls(tmp_path: Path) -> None:
    drawn = {"type": "varchar(2)", "values": {"kind": "pattern", "text": "##"}, "null_every": 4}
    data = Dataset(tables={"t": table_of({"Id": "integer", "a": drawn}, rows=40_000)})
    assert data.tables["t"].columns["a"].nullable
    found = materialise(data).table("t").column("a")
    assert found.null_count == 10_000
    assert [place for place, value in enumerate(found.to_pylist(), 1) if value is None] == list(range(4, 40_001, 4))


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("scaled", [None, 500])
def test_the_order_of_size_of_a_table_is_known_from_its_files(tmp_path: Path, form: str, scaled: int | None) -> None:
    rows = pa.table({"Id": pa.array(range(5_000), pa.int32()), "Name": [f"name,\n{n:05d}" for n in range(5_000)]})
    path = tmp_path / f"t.{form}"
    if form == "csv":
        pa.csv.write_csv(rows, path)
    else:
        pq.write_table(rows, path)
    table = stated({"Id": "integer", "Name": "varchar(20)"}, path.name, count=10_000).tables["t"]
    found = estimated_bytes(table, [path, path], scaled)
    whole = pa.Table.from_batches(list(rows_from(table.columns, [path, path], scaled))).nbytes
    assert whole / 3 < found < 3 * whole


def test_files_that_would_not_fit_on_the_disk_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 100))  # type: ignore[attr-defined]
    write(tmp_path, "Id\n" + "".join(f"{number}\n" for number in range(200)))
    with pytest.raises(UserError, match=r"the dataset would take about 0\.0 GB, and .* has 0\.0 GB free"):
        materialise(stated({"Id": "integer"}), folder=tmp_path)
    assert not list((tmp_path / "cache").rglob("*.arrow"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_what_separates_the_fields_is_found(tmp_path: Path, delimiter: str) -> None:
    """Other delimiters in texts and names do no harm, nor do line breaks in quotes, also in names."""
    rows = [["id", 'the "name"', "two\nlines", "a,b;c"], ["1", "x,y;z", "1\n2", "|"], ["2", "x\ty", "", ","]]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    found = look(tmp_path, text.getvalue().encode("utf-8-sig"))
    assert [column.source for column in found.columns] == rows[0]
    assert found.key == ("id",)
    loaded = materialise(dataset(tmp_path, found), folder=tmp_path).table("t")
    assert [*map(str, loaded.column("id").to_pylist())] == ["1", "2"]
    assert loaded.column(1).to_pylist() == ["x,y;z", "x\ty"]


def test_of_two_delimiters_the_one_that_all_rows_have_separates_the_fields(tmp_path: Path) -> None:
    assert [column.name for column in look(tmp_path, "a,b;c\n1,2\n").columns] == ["a", "b_c"]


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    found = look(tmp_path, ",x\n0,5\n1,6\n")
    assert [column.name for column in found.columns] == ["x"]
    assert found.left_out == ["a column without a name: give it one"]
    assert materialise(dataset(tmp_path, found), folder=tmp_path).table("t").column("x").to_pylist() == [5, 6]


@pytest.mark.parametrize(
    ("text", "doubled"),
    [
        (
            "id,x\n7,a\n8,b\n9,a\n9,a\n7,a\n",
            "id is named like a key, but 7 is in row 1 and row 5, and 9 is in row 3 and row 4",
        ),
        ("id,name\n7,a\n7,b\n8,0\n", "id is named like a key, but 7 is in row 1 and row 2"),
        ("customer_id,order_id\n7,2\n7,1\n8,3\n", ""),
        ("order_id,line\n1,1\n1,2\n", ""),
        ("a,b\n1,1\n1,1\n", ""),
    ],
)
def test_a_likely_key_that_has_duplicates_is_named_with_two_of_them(tmp_path: Path, text: str, doubled: str) -> None:
    assert look(tmp_path, text).doubled == doubled


def test_a_key_is_one_as_it_is_loaded(tmp_path: Path) -> None:
    found = look(tmp_path, "id,x\n0,b\n-0,a\n")
    assert [column.type for column in found.columns] == ["integer", "varchar(1)"]
    assert found.key == ("x",)
    assert found.doubled == "id is named like a key, but 0 is in row 1 and row 2"
    materialise(dataset(tmp_path, found), folder=tmp_path)


def test_a_row_of_many_columns_costs_no_look_at_each_pair_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Mock(wraps=mapping)
    monkeypatch.setattr("dbbench.suite.references.mapping", looked)
    columns = [Found(f"c{number}", f"c{number}", "integer") for number in range(200)]
    table = FoundTable("t", "t.csv", [], 1, columns, ("c0",))
    parse_suite(suite_text("mine", [table]), "mine.yaml")
    assert looked.call_count < 20 * len(columns)
