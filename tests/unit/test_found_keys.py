"""Primary keys of several columns that are found in the user's own files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbbench.datasets import found_keys
from dbbench.datasets.found_tables import FoundTable
from dbbench.datasets.inference import look_at
from tests.conftest import Dbbench


def look(folder: Path, name: str, text: str) -> FoundTable:
    path = folder / f"{name}.csv"
    path.write_text(text)
    return look_at(name, path.name, [path])


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


def test_import_says_what_it_found_and_what_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbbench_here: Dbbench
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("a_id\n1\n2\n")
    Path("b.csv").write_text("a_id,n\n1,1\n1,2\n2,1\n")
    Path("c.csv").write_text("a_id,n\n1,1\n1,1\n3,1\n")
    done = dbbench_here("import", "a.csv", "b.csv", "c.csv", "--suite", "s.yaml")
    assert "b: 3 rows from b.csv; primary key: a_id, n" in done.stdout
    assert "c: 3 rows from c.csv; primary key: none: rows are numbered\n" in done.stdout
    assert "  a_id is named like a key, but 1 is in row 1 and row 2\n" in done.stdout
    assert "no column is unique and without nulls, nor are two or three together of a_id, n\n" in done.stdout
    done = dbbench_here("import", "b.csv", "--suite", "t.yaml", "--key", "b=n,a_id")
    assert "primary key: n, a_id" in done.stdout
    done = dbbench_here("import", "b.csv", "--suite", "u.yaml", "--key", "b=n,x")
    assert "--key: b has no column 'x'" in done.stderr
