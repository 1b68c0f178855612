"""Keys found in the user's own files: primary keys of several columns, and foreign keys."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from dbbench.cli import main
from dbbench.datasets import found_keys
from dbbench.datasets.cache import materialise
from dbbench.datasets.found_keys import find_foreign_keys
from dbbench.datasets.found_tables import FoundTable, Reference, suite_text
from dbbench.datasets.inference import look_at
from dbbench.suite.loader import parse_suite


def look(folder: Path, name: str, text: str) -> FoundTable:
    path = folder / f"{name}.csv"
    path.write_text(text)
    return look_at(name, path.name, [path])


def related(folder: Path, **texts: str) -> dict[str, FoundTable]:
    """The tables by their names, with foreign keys, parents first."""
    found = find_foreign_keys([look(folder, name, text) for name, text in texts.items()])
    parse_suite(suite_text("mine", found), "mine.yaml")
    return {table.name: table for table in found}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("amount,order_id,line\n5,1,1\n5,1,2\n5,2,1\n", ("order_id", "line")),
        ("sensor,taken,celsius\nA,2026-01-01T00:00:00,1.5\nA,2026-01-02T00:00:00,1.5\nB,2026-01-01T00:00:00,1.5\n",
         ("sensor", "taken")),
        ("store,day,item,n\n1,2026-01-01,x,1\n1,2026-01-01,y,1\n1,2026-01-02,x,1\n2,2026-01-01,x,1\n",
         ("store", "day", "item")),
        ("a,b\n1,1\n1,2\n2,\n2,1\n", ()),
        ("a,b\n1,1\n1,2\n1,1\n", ()),
        ("a,b,c,d\n" + "".join(f"{n >> 3},{n >> 2 & 1},{n >> 1 & 1},{n & 1}\n" for n in range(16)), ()),
        ("a,at\n1,2026-01-01T12:00:00Z\n2,2026-01-01T12:00:00Z\n1,2026-01-01T14:00:00+02:00\n", ()),
        (f"a,b\n1,{'x' * 65}\n1,{'y' * 65}\n2,{'x' * 65}\n", ()),
    ],
)  # fmt: skip
def test_a_key_of_several_columns_is_found_where_no_single_one_is_it(
    tmp_path: Path, text: str, key: tuple[str, ...]
) -> None:
    assert look(tmp_path, "t", text).key == key


def test_rows_far_apart_are_compared_also_when_few_hashes_are_held_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_keys, "_HASHES", 10_000)
    rows = 100_000
    path = tmp_path / "t.parquet"
    columns = {"a": [n // 4 for n in range(rows)], "b": [f"{n % 4}" for n in range(rows)]}
    pq.write_table(pa.table(columns), path)
    assert look_at("t", path.name, [path]).key == ("a", "b")
    pq.write_table(pa.table({name: [*values, values[0]] for name, values in columns.items()}), path)
    assert look_at("t", path.name, [path]).key == ()


def test_names_like_a_key_are_tried_before_the_leftmost(tmp_path: Path) -> None:
    rows = "".join(f"{n // 3},{n % 3},{n // 3},{n % 3}\n" for n in range(9))
    assert look(tmp_path, "t", "first,second,OrderNo,LineNo\n" + rows).key == ("OrderNo", "LineNo")


def test_foreign_keys_are_found_and_tables_stand_after_those_that_they_refer_to(tmp_path: Path) -> None:
    found = related(
        tmp_path,
        lines="order_id,line,product\n1,1,7\n1,2,8\n3000000000,1,7\n",
        parcels="parcel,order_id,line\n1,1,2\n2,3000000000,1\n3,,\n",
        orders="o_id,customer_code,billing_customer\n1,A,A\n2,B,\n3000000000,A,B\n",
        customers="code,city\nA,x\nB,x\n",
        products="product_id\n7\n9\n",
    )
    assert [*found] == ["customers", "orders", "lines", "parcels", "products"]
    assert found["lines"].foreign_keys == [Reference(("order_id",), "orders")]
    assert found["lines"].no_foreign_keys == ["product to products: 8 is not among its keys"]
    assert {*found["parcels"].foreign_keys} == {
        Reference(("order_id", "line"), "lines"), Reference(("order_id",), "orders")
    }  # fmt: skip
    assert found["orders"].foreign_keys == [
        Reference(("customer_code",), "customers"), Reference(("billing_customer",), "customers")
    ]  # fmt: skip


def test_a_column_takes_the_type_of_the_key_that_it_refers_to(tmp_path: Path) -> None:
    found = related(tmp_path, towns="town\nOslo\nAmsterdam\n", roads="road,town,metres\n1,Oslo,5\n2,Oslo,6\n")
    assert {column.name: column.type for column in found["roads"].columns} == {
        "road": "integer", "town": "varchar(9)", "metres": "integer",
    }  # fmt: skip


def test_types_that_differ_and_circles_make_no_foreign_key(tmp_path: Path) -> None:
    found = related(tmp_path, zips="zip_code\n00501\n10115\n", shops="shop_id,zip_code\n1,10115\n2,99999\n")
    assert found["shops"].no_foreign_keys == ["zip_code to zips: the types differ"]
    found = related(tmp_path, men="man,dog\n1,1\n2,1\n", dogs="dog,man\n1,1\n2,2\n")
    assert found["men"].foreign_keys == [Reference(("dog",), "dogs")]
    assert found["dogs"].no_foreign_keys == ["man to men: that table refers to this one"]


def test_of_two_tables_with_the_same_key_the_later_refers_to_the_earlier(tmp_path: Path) -> None:
    found = related(tmp_path, people="person_id\n1\n2\n", faces="person_id,nose\n1,x\n2,x\n")
    assert (found["people"].foreign_keys, found["faces"].foreign_keys) == ([], [Reference(("person_id",), "people")])


def test_a_scale_leaves_the_rows_that_others_refer_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path / "cache"))
    found = related(
        tmp_path,
        parts="part_id\n" + "".join(f"{n}\n" for n in range(100)),
        uses="use,part_id\n" + "".join(f"{n},{99 - n}\n" for n in range(100)),
    )
    data = parse_suite(suite_text("mine", [*found.values()]), str(tmp_path / "mine.yaml")).datasets["mine"]
    files = materialise(data, scale=0.1, folder=tmp_path)
    assert (files.table("parts").num_rows, files.table("uses").num_rows) == (100, 10)


def test_import_says_what_it_found_and_what_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("a_id\n1\n2\n")
    Path("b.csv").write_text("a_id,n\n1,1\n1,2\n2,1\n")
    Path("c.csv").write_text("a_id,n\n1,1\n1,1\n3,1\n")
    done = CliRunner().invoke(main, ["import", "a.csv", "b.csv", "c.csv", "--suite", "s.yaml"])
    assert "b: 3 rows from b.csv; primary key: a_id, n" in done.output
    assert "foreign key: a_id to a\n" in done.output
    assert "c: 3 rows from c.csv; primary key: none: rows are numbered\n" in done.output
    assert "no column is unique and without nulls, nor are two or three together of a_id, n\n" in done.output
    assert "no foreign key: a_id to a: 3 is not among its keys\n" in done.output
    done = CliRunner().invoke(main, ["import", "b.csv", "--suite", "t.yaml", "--key", "b=n,a_id"])
    assert "primary key: n, a_id" in done.output
    done = CliRunner().invoke(main, ["import", "b.csv", "--suite", "u.yaml", "--key", "b=n,x"])
    assert "--key: b has no column 'x'" in done.output
