"""Vectors from the user's Parquet files: what is taken, what is held back as queries, what is refused."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbbench.datasets.cache import Files, check_rows, materialise
from dbbench.datasets.found_tables import suite_text
from dbbench.datasets.inference import look_at
from dbbench.datasets.neighbours import nearest_distances
from dbbench.datasets.vectors import matrix
from dbbench.errors import UserError
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import parse_suite

pytestmark = pytest.mark.usefixtures("own_cache")
ROWS = np.random.default_rng(1).normal(size=(40_000, 3)).astype(np.float32)


def made(folder: Path, rows: Any, *, scale: float = 1.0, **more: Any) -> Files:
    """What a dataset makes of one column."""
    pq.write_table(pa.table({"Point": rows}), folder / "p.parquet")
    given = {"file": "p.parquet", "column": "Point", "count": len(rows) - 200, "dimensions": 3, "queries": 200}
    return materialise(Dataset.model_validate({"vectors": {**given, **more}}), scale=scale, folder=folder)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_each_row_is_a_vector_or_a_query(tmp_path: Path, scale: float) -> None:
    column = pa.array(ROWS.astype(float).tolist())
    files = made(tmp_path, column, scale=scale, labels=[0.1])
    vectors, queries = (matrix(files.table(name).column("vector")) for name in ("vectors", "inside"))
    assert (len(vectors), len(queries)) == (39_800 * scale, 200)
    both = np.concatenate([vectors, queries])
    assert sorted(both.tolist()) == sorted(ROWS[: len(both)].tolist())
    order = {tuple(row): place for place, row in enumerate(ROWS.tolist())}
    assert np.mean([order[tuple(row)] for row in queries.tolist()]) == pytest.approx(len(both) / 2, rel=0.15)
    known = matrix(files.table("inside-0").column("distances"))[:20, :10]
    assert known == pytest.approx(nearest_distances("l2", [vectors], queries[:20], 10))
    assert files.table("vectors").column("key").to_pylist() == list(range(1, len(vectors) + 1))
    assert 0.05 < np.mean(files.table("vectors").column("label").to_numpy()) < 0.15


GOOD = [[1.0, 2.0, 3.0]] * 300
#: What is at row 5, what else the dataset says, and the fault.
FAULTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "missing": (None, {}, "p.parquet, column Point, row 5: no vector"),
    "shorter": ([1.0, 2.0], {}, "row 5: 2 numbers instead of 3"),
    "NaN": ([1.0, float("nan"), 2.0], {}, "row 5: a number that is missing, NaN or too large for float32"),
    "null inside": ([1.0, None, 2.0], {}, "row 5: a number that is missing, NaN"),
    "too large": ([1.0, 1e300, 2.0], {}, "row 5: a number that is missing, NaN or too large for float32"),
    "zero": ([0.0, 0.0, 0.0], {"metric": "cosine"}, "row 5: a zero vector, which has no cosine; choose another metric"),
    "fewer rows": (GOOD[0], {"count": 200}, "300 rows, and the suite says 200 vectors and 200 queries"),
    "fewer, scaled": (GOOD[0], {"count": 500, "scale": 0.5}, "300 rows, .* 250 vectors and 200 queries at this scale"),
    "another column": (GOOD[0], {"column": "P"}, r"has no column 'P' \(it has: Point\)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_vector_is_refused_in_one_line(tmp_path: Path, fault: str) -> None:
    value, more, words = FAULTS[fault]
    with pytest.raises(UserError, match=words) as raised:
        made(tmp_path, pa.array([*GOOD[:4], value, *GOOD[5:]]), **more)
    assert "\n" not in str(raised.value)


def test_a_zero_vector_has_a_distance(tmp_path: Path) -> None:
    made(tmp_path, pa.array([[0.0, 0.0, 0.0], *GOOD]))


@pytest.mark.parametrize(
    ("given", "words"),
    [({"column": ""}, "`file` and `column` together"), ({"outside": True}, "no `outside` with a `file`")],
)
def test_what_says_how_others_are_drawn_is_refused(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(tmp_path, pa.array(GOOD), **given)


def test_other_files_and_other_lists_hold_no_vectors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"column Point: list<(item|element): int64>, and vectors are lists of floats"):
        made(tmp_path, pa.array([[1, 2, 3]] * 300))
    (tmp_path / "p.csv").write_text("Point\n1\n")
    with pytest.raises(UserError, match=r"p.csv is no Parquet file"):
        made(tmp_path, pa.array(GOOD), file="p.csv")


@pytest.mark.parametrize("number", [None, math.nan, math.inf, 1e300])
def test_a_list_column_with_a_number_that_no_vector_has_is_left_out(tmp_path: Path, number: float | None) -> None:
    lists = [[1.0, 2.0]] * 3_000
    lists[2_500] = [1.0, number]  # type: ignore[list-item]
    pq.write_table(pa.table({"Id": range(3_000), "Point": lists}), tmp_path / "p.parquet")
    table = look_at("p", "p.parquet", [tmp_path / "p.parquet"])
    assert not table.vectors
    assert table.left_out == ["Point: its list in row 2,501 has a number that is missing, NaN or too large for float32"]


def test_a_list_of_several_files_is_named_with_its_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"p-{number}.parquet" for number in (1, 2)]
    pq.write_table(pa.table({"Id": [1, 2], "Point": [[1.0, 2.0]] * 2}), paths[0])
    pq.write_table(pa.table({"Id": [3, 4], "Point": [[1.0, 2.0], [1.0, None]]}), paths[1])
    table = look_at("p", "p-*.parquet", paths)
    assert table.left_out[0].startswith(f"Point: its list in row 2 of {paths[1]} has a number that is missing")


def test_an_imported_list_column_becomes_vectors(tmp_path: Path) -> None:
    lists = {
        "Id": range(2_000), "Point": ROWS[:2_000].tolist(), "other-Point": ROWS[2_000:4_000].tolist(),
        "uneven": [[1.0, 2.0], *GOOD[:3]] * 500, "whole": [[1, 2]] * 2_000,
    }  # fmt: skip
    pq.write_table(pa.table(lists), tmp_path / "p.parquet")
    pq.write_table(pa.table({"Point": ROWS[:2_000].tolist()}), tmp_path / "q.parquet")
    pq.write_table(pa.table({"Id": [1], "Point": ROWS[:1].tolist()}), tmp_path / "few.parquet")
    found = [look_at(name, f"{name}.parquet", [tmp_path / f"{name}.parquet"]) for name in ("p", "q", "few")]
    assert [[each.name for each in table.columns] for table in found] == [["Id"], [], ["Id"]]
    assert "whole: there is no type for list" in found[0].left_out[1]
    assert "uneven: its lists can't be vectors: these need no nulls, one length from 2 to 4,096" in found[0].left_out[0]
    assert "1,200 rows or more" in found[2].left_out[0]
    suite = parse_suite(suite_text("vectors", found), str(tmp_path / "mine.yaml"))
    assert {name: each.holds for name, each in suite.datasets.items()} == {
        "mine": "tables", "vectors": "vectors", "vectors_2": "vectors", "vectors_3": "vectors",
    }  # fmt: skip
    assert [*suite.datasets["mine"].tables] == ["p", "few"]
    second = suite.datasets["vectors_2"].vectors
    assert second
    assert (second.column, second.count, second.queries, second.dimensions) == ("other-Point", 1_400, 600, 3)
    check_rows(suite, tmp_path)
    assert [step.kind for step in suite.scenario("vectors-3").steps] == ["load", "size", "nearest"]
    only = parse_suite(suite_text("vectors", found[1:2]), str(tmp_path / "mine.yaml"))
    assert [*only.datasets] == ["vectors"]
