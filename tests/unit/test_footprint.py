"""Sizes over the life of the data: what is added up between two of them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbbench.analysis.footprint import Footprint, footprint, size_parts
from dbbench.datasets.records import ExpectedRecords, RecordSet
from dbbench.engine.size import File, Size, files_in
from dbbench.suite.dataset import Records
from dbbench.suite.model import Scenario
from dbbench.workloads.size import _cost, _counted, parts
from tests.unit.test_summary import step, trial

LIFE = Scenario.model_validate(
    {
        "name": "main",
        "title": "Life",
        "dataset": "d",
        "steps": [
            {"kind": "load", "name": "load", "title": "Load"},
            {"kind": "size", "name": "first", "title": "First"},
            {"kind": "churn", "name": "churn", "title": "Churn", "table": "T"},
            {"kind": "size", "name": "second", "title": "Second"},
        ],
    }
)


def _file(allocated: int) -> dict[str, Any]:
    return {"part": "data", "apparent": allocated, "allocated": allocated}


def size(name: str, value: int, written: int | None, **facts: Any) -> Any:
    files = [_file(value // 2), _file(10)]
    known = {"files": files, "before_flush": value + 1, "rows": 50}
    return step(name, value, unit="B", written_bytes=written, facts=known | facts)


def life(number: int, *, churn: int | None = 300) -> Any:
    return trial(
        "a", number,
        step("load", 1.0, written_bytes=1000, facts={"csv_bytes": 400}),
        size("first", 800 + number, 200),
        step("churn", 1.0, written_bytes=churn, facts={"csv_bytes": 100}),
        size("second", 900, 0),
    )  # fmt: skip


def measured(name: str, results: list[Any], csv_bytes: int | None = 400) -> Footprint:
    found = footprint(LIFE, name, "a", "A", results, csv_bytes)
    assert found is not None
    return found


def test_a_file_that_goes_while_files_are_counted_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept").write_text("1")
    monkeypatch.setattr("os.walk", lambda folder: [(folder, [], ["gone", "kept"])])
    assert [file.name for file in files_in(tmp_path, lambda _: "data")] == ["kept"]


def test_a_size_counts_what_was_written_since_the_size_before() -> None:
    results = [life(1), life(2), life(3)]
    first, second = measured("first", results), measured("second", results)
    assert (first.written, first.given, first.amplification) == (1200, 400, 3)
    assert (second.written, second.given, second.amplification) == (300, 100, 3)


def test_figures_are_medians_over_rounds() -> None:
    found = measured("first", [life(1), life(2), life(3)], 401)
    assert (found.value, found.allocated, found.before_flush) == (802, 411, 803)
    assert (found.per_row, found.csv_ratio) == (802 / 50, 2)
    assert found.heap is None


def test_an_engine_or_step_without_a_size_has_no_footprint() -> None:
    assert footprint(LIFE, "first", "b", "B", [life(1)], 400) is None
    assert footprint(LIFE, "first", "a", "A", [trial("a", 1, step("first", None))], 400) is None


@pytest.mark.parametrize("written", [None, 0])
def test_a_system_that_counts_nothing_gives_no_amplification(written: int | None) -> None:
    assert measured("second", [life(1, churn=written)]).amplification is None


def test_nothing_known_is_nothing_told() -> None:
    found = measured("first", [trial("a", 1, step("first", 5.0, facts={}))], None)
    assert (found.per_row, found.csv_ratio, found.amplification, found.before_flush) == (None, None, None, None)


def test_ranked_is_what_was_not_there_before_and_is_not_reserved() -> None:
    names = {"a": ("data", 1000), "b": ("journal", 30), "c": ("reserved", 700), "d-2": ("other", 50)}
    files = tuple(File(name, role, count, 4096) for name, (role, count) in names.items())  # type: ignore[arg-type]
    empty: Any = {
        (names.get(name, ["other"])[0], name): n for name, n in (("a", 100), ("b", 90), ("c", 16), ("gone", 9))
    }
    empty["other", "d-"] = 20
    found = parts(Size(files, index=200), empty)
    assert found == {"data": 700, "index": 200, "journal": 0, "other": 30, "reserved": 700, "empty": 150}
    assert sum(found.values()) == 1780
    assert parts(Size(files), {})["both"] == 1000


@pytest.mark.parametrize(
    ("new", "old", "log", "cost"),
    [
        (400, 5000, 9000, 400),
        (399, 5000, 9000, 5399),  # few rows in pages that were there
        (0, 0, 9000, 9000),  # in a log that is said to be of no use
    ],
)
def test_what_is_ranked_can_hold_the_rows(new: int, old: int, log: int, cost: int) -> None:
    files = (File("a", "data", new + old, 0), File("b", "reserved", log, 0))
    context: Any = SimpleNamespace(
        engine=SimpleNamespace(url=""),
        does_work=True,
        empty={("data", "a"): old},
        records=RecordSet(Records(count=100, key_bytes=8, value_bytes=32), 1),
        data=SimpleNamespace(expected_records=ExpectedRecords(next=60, further=[range(60, 100)])),
    )
    assert _cost(_counted(context, Size(files))) == cost


def test_growth_is_that_of_what_the_data_cost() -> None:
    def sized(name: str, value: int, reserved: int) -> Any:
        return size(name, value, 0, size_parts={"both": value, "reserved": reserved, "empty": 8})

    results = [trial("a", 1, sized("first", 1000, 50), sized("second", 1100, 9000))]
    first, second = measured("first", results), measured("second", results)
    assert (first.grown, second.grown, second.grown_share, second.per_added_row) == (None, 100, 0.1, None)
    assert (second.reserved, second.empty) == (9000, 8)


def test_an_added_row_costs_what_the_data_grew_by() -> None:
    def sized(name: str, value: int, rows: int) -> Any:
        return size(name, value, 0, size_parts={"both": value}, rows=rows, compact_seconds=0.5)

    second = measured("second", [trial("a", 1, sized("first", 1000, 50), sized("second", 1300, 60))])
    assert (second.grown, second.per_added_row, second.compact_seconds) == (300, 30, 0.5)


def test_a_run_without_parts_has_its_files_and_no_growth() -> None:
    second = measured("second", [life(1)])
    assert (second.total, second.reserved, second.grown) == (460, None, None)
    assert size_parts({"files": [_file(5)]}) == {"both": 5}  # type: ignore[list-item]
