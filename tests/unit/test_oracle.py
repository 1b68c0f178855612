"""The oracle against plain Python loops, and each relational step alone."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from dbbench.answers import oracle
from dbbench.answers.in_parts import answer_file
from dbbench.answers.oracle import expected
from dbbench.answers.stored import read_answer
from dbbench.datasets.cache import Files, materialise
from dbbench.datasets.export import export
from dbbench.suite.answer import Answer
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Suite

Rows = list[dict[str, Any]]
SCALE = 0.03


@pytest.fixture(scope="module")
def exported(invoices_data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Every table as anyone can have it, by export."""
    folder = tmp_path_factory.mktemp("exported")
    return {
        path.stem: parquet.read_table(path).to_pylist()
        for path, _ in export(invoices_data, folder, "parquet", scale=SCALE, seed=None)
    }


def answered(name: str, suite: Suite, files: Files) -> list[tuple[Any, ...]]:
    (step,) = [step for step in suite.scenarios[0].steps if step.name == name]
    table = expected(step.answer, files)  # type: ignore[union-attr]  # the tests name queries only
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_join_1_is_every_column_of_each_invoice_and_its_shipments(
    exported: dict[str, Rows], invoices: Suite, invoices_files: Files
) -> None:
    loops = [
        (*invoice.values(), *shipment.values())
        for invoice in exported["Invoice"]
        for shipment in exported["Shipment"]
        if invoice["PKeyInvoice"] == shipment["InvoiceKey"]
    ]
    assert Counter(answered("join-1", invoices, invoices_files)) == Counter(loops)
    assert len(loops) == 1727


def test_join_2_is_the_sum_of_charges_of_each_shipment_in_order(
    exported: dict[str, Rows], invoices: Suite, invoices_files: Files
) -> None:
    keys = {invoice["PKeyInvoice"] for invoice in exported["Invoice"]}
    shipments = {row["PKeyShipment"] for row in exported["Shipment"] if row["InvoiceKey"] in keys}
    sums: dict[int, Decimal] = defaultdict(Decimal)
    for charge in exported["Charges"]:
        if charge["ShipmentKey"] in shipments:
            sums[charge["ShipmentKey"]] += charge["Amount"]
    assert answered("join-2", invoices, invoices_files) == sorted(sums.items())
    assert len(sums) > 1_000


def test_scan_1_is_the_packages_that_weigh_more_than_10(
    exported: dict[str, Rows], invoices: Suite, invoices_files: Files
) -> None:
    tracking = {shipment["PKeyShipment"]: shipment["TrackingId"] for shipment in exported["Shipment"]}
    loops = [(tracking[p["ShipmentKey"]], p["Weight"]) for p in exported["Packages"] if p["Weight"] > 10]
    assert Counter(answered("scan-1", invoices, invoices_files)) == Counter(loops)
    assert 0 < len(loops) < len(exported["Packages"])


def test_scan_2_is_the_tracking_numbers_with_a_55_in_them(
    exported: dict[str, Rows], invoices: Suite, invoices_files: Files
) -> None:
    numbers = {invoice["PKeyInvoice"]: invoice["InvoiceNum"] for invoice in exported["Invoice"]}
    loops = [(numbers[s["InvoiceKey"]], s["TrackingId"]) for s in exported["Shipment"] if "55" in s["TrackingId"]]
    assert Counter(answered("scan-2", invoices, invoices_files)) == Counter(loops)
    assert 0 < len(loops) < len(exported["Shipment"])


def test_scan_3_is_the_invoices_with_a_shipment_above_100(
    invoices: Suite, invoices_data: Dataset, tmp_path: Path
) -> None:
    """At a larger scale than the others, for such shipments are rare."""
    read = {
        path.stem: parquet.read_table(path).to_pylist()
        for path, _ in export(invoices_data, tmp_path, "parquet", scale=0.2, seed=None)
    }
    keys = {shipment["InvoiceKey"] for shipment in read["Shipment"] if shipment["NetCharge"] > 100}
    loops = [(invoice["InvoiceNum"],) for invoice in read["Invoice"] if invoice["PKeyInvoice"] in keys]
    assert Counter(answered("scan-3", invoices, materialise(invoices_data, scale=0.2))) == Counter(loops)
    assert 0 < len(loops) < len(read["Invoice"])


class Tables(Files):
    """Some tables in memory, in place of a dataset's files."""

    def table(self, name: str) -> pa.Table:
        tables = {
            "A": {
                "Id": pa.array([1, 2, 3], pa.int32()),
                "Name": ["x%", "yx", "z"],
                "Price": pa.array([Decimal("1.50"), Decimal("2.50"), Decimal("2.51")], pa.decimal128(5, 2)),
                "Weight": pa.array([0.5, 1.5, 2.5], pa.float32()),
                "Day": [datetime.date(2005, 1, day) for day in (3, 1, 2)],
            },
            "B": {"Id": pa.array([7, 8, 9, 6], pa.int32()), "A": pa.array([2, 1, 2, 5], pa.int32())},
        }
        return pa.table(tables[name])


def answer(**steps: Any) -> list[tuple[Any, ...]]:
    table = expected(Answer.model_validate({"table": "A", "select": ["A.Id"], **steps}), Tables(Path()))
    assert table.column_names == steps.get("select", ["A.Id"])
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ({"column": "A.Id", "above": 1}, [2, 3]),
        ({"column": "A.Id", "above": 1.5}, [2, 3]),
        ({"column": "A.Id", "above": -0.5}, [1, 2, 3]),
        ({"column": "A.Price", "above": 2.5}, [3]),
        ({"column": "A.Price", "above": 2.505}, [3]),
        ({"column": "A.Price", "above": 2.499}, [2, 3]),
        ({"column": "A.Weight", "above": 0.5}, [2, 3]),
        ({"column": "A.Name", "contains": "x"}, [1, 2]),
        ({"column": "A.Name", "contains": "%"}, [1]),
        ({"column": "A.Name", "contains": "X"}, []),
        ({"column": "A.Id", "among": {"table": "B", "select": ["B.A"]}}, [1, 2]),
        (
            {"column": "A.Id", "among": {"table": "B", "where": [{"column": "B.Id", "above": 8}], "select": ["B.A"]}},
            [2],
        ),
    ],
)
def test_a_condition_keeps_the_rows_for_which_it_holds(condition: dict[str, Any], keys: list[int]) -> None:
    assert answer(where=[condition], order_by=["A.Id"]) == [(key,) for key in keys]


def test_all_conditions_must_hold() -> None:
    assert answer(where=[{"column": "A.Id", "above": 1}, {"column": "A.Name", "contains": "x"}]) == [(2,)]


JOIN = {"table": "B", "column": "B.A", "equals": "A.Id"}


def test_a_join_keeps_pairs_alone_and_both_keys() -> None:
    assert sorted(answer(join=[JOIN], select=["A.Id", "B.A", "B.Id"])) == [(1, 1, 8), (2, 2, 7), (2, 2, 9)]


def test_rows_come_in_the_order_asked_for_even_by_a_column_that_is_not_selected() -> None:
    assert answer(order_by=["A.Day"]) == [(2,), (3,), (1,)]


def test_groups_are_summed_exactly() -> None:
    found = answer(
        join=[JOIN], group_by=["A.Id"], sum={"Total": "A.Price"}, select=["A.Id", "Total"], order_by=["A.Id"]
    )
    assert found == [(1, Decimal("1.50")), (2, Decimal("5.00"))]


def test_one_column_can_be_summed_under_two_names() -> None:
    found = answer(join=[JOIN], group_by=["A.Id"], sum={"X": "B.Id", "Y": "B.Id"}, select=["Y", "X"], order_by=["A.Id"])
    assert found == [(8, 8), (16, 16)]


def test_groups_without_sums_are_distinct_rows() -> None:
    assert answer(join=[JOIN], group_by=["A.Id"], order_by=["A.Id"]) == [(1,), (2,)]


def test_a_sum_without_groups_is_one_row() -> None:
    assert answer(sum={"Total": "A.Price"}, select=["Total"]) == [(Decimal("6.51"),)]


def test_an_answers_file_is_made_once_and_holds_the_answer(
    small: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path))
    files = materialise(small.datasets["things"])
    wanted = small.scenarios[0].steps[1].answer  # type: ignore[union-attr]
    path = answer_file(wanted, files)
    assert read_answer(path).equals(expected(wanted, files))
    assert read_answer(path).num_rows == 100
    monkeypatch.setattr(oracle, "expected", lambda *_: pytest.fail("it was computed again"))
    assert answer_file(wanted, files) == path
    assert {item.suffix for item in files.directory.iterdir()} == {".arrow", ".json"}


def test_another_answer_has_another_file(small: Suite) -> None:
    files = materialise(small.datasets["things"])
    first, second = (Answer(table="Parent", select=(f"Parent.{name}",)) for name in ("Id", "Name"))
    assert answer_file(first, files) != answer_file(second, files)
