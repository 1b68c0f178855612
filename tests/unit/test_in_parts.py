"""Answers computed in parts are those computed as a whole, and little is in memory at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbbench.answers import cuts, stored
from dbbench.answers.compare import check_batches
from dbbench.answers.in_parts import rows_of
from dbbench.answers.oracle import expected
from dbbench.datasets.cache import Files, materialise
from dbbench.engine.setup import Setup
from dbbench.errors import Unsupported, UserError
from dbbench.suite.answer import Answer
from dbbench.suite.dataset import Dataset
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import stale_answers
from dbbench.workloads.context import StepContext
from dbbench_plugins.sqlite import SQLite

#: So little that each of the larger tables at scale 1 is cut.
LITTLE = 300_000
STEPS = [step for step in load_suite(find_suite("invoices")).scenarios[0].steps if isinstance(step, QueryStep)]
SHIPMENT = {"table": "Shipment", "column": "Shipment.InvoiceKey", "equals": "Invoice.PKeyInvoice"}
CHARGES = {"table": "Charges", "column": "Charges.ShipmentKey", "equals": "Shipment.PKeyShipment"}
PACKAGES = {"table": "Packages", "column": "Packages.ShipmentKey", "equals": "Shipment.PKeyShipment"}
HEAVY = {"column": "Packages.Weight", "above": 60}
FORMS: dict[str, dict[str, Any]] = {
    "groups in all parts": {
        "table": "Invoice", "join": [SHIPMENT, CHARGES], "group_by": ["Invoice.ChargeCurrency"],
        "sum": {"total": "Charges.Amount"}, "avg": {"mean": "Charges.Amount"}, "count": {"n": "*"},
        "min": {"least": "Charges.Code"}, "max": {"most": "Shipment.ShipDate"},
        "having": [{"column": "n", "above": 20000}], "order_by": ["total"], "descending": ["total"],
        "select": ["Invoice.ChargeCurrency", "total", "mean", "n", "least", "most"],
    },
    "all rows one group": {
        "table": "Charges", "sum": {"total": "Charges.Amount"}, "avg": {"mean": "Charges.ShipmentKey"}, "count": {"n": "*"},
        "select": ["total", "mean", "n"],
    },
    "one group of no rows": {
        "table": "Charges", "where": [{"column": "Charges.Amount", "above": 1e6}], "max": {"most": "Charges.Amount"},
        "count": {"n": "*"}, "select": ["n", "most"],
    },
    "no rows in the first parts": {
        "table": "Charges", "where": [{"column": "Charges.PKeyCharges", "above": 181_000}],
        "compute": {"double": "Charges.Amount * 2", "third": "Charges.Amount / 3"},
        "sum": {"total": "Charges.Amount", "thirds": "third"}, "avg": {"mean": "Charges.Amount"}, "min": {"least": "double"},
        "max": {"most": "Charges.Code"}, "count": {"n": "*"}, "select": ["total", "thirds", "mean", "least", "most", "n"],
    },
    "computed rows": {
        "table": "Charges", "compute": {"double": "Charges.Amount * 2"}, "select": ["Charges.PKeyCharges", "double"],
    },
    "a limit": {
        "table": "Shipment", "join": [PACKAGES], "select": ["Packages.PKeyPackages", "Packages.Weight"],
        "order_by": ["Packages.Weight", "Packages.PKeyPackages"], "descending": ["Packages.Weight"], "limit": 77,
    },
    "left": {
        "table": "Shipment", "join": [PACKAGES | {"kind": "left"}], "group_by": ["Shipment.PKeyShipment"],
        "count_distinct": {"n": "Packages.Weight"}, "having": [{"column": "n", "above": 0}],
        "select": ["Shipment.PKeyShipment", "n"],
    },
    "anti": {
        "table": "Shipment", "join": [PACKAGES | {"kind": "anti"}], "where": [HEAVY], "select": ["Shipment.TrackingId"],
    },
    "semi, and a subquery": {
        "subqueries": {"Heavy": {"table": "Packages", "where": [HEAVY], "select": ["Packages.ShipmentKey"]}},
        "table": "Shipment", "join": [{"table": "Heavy", "column": "Heavy.ShipmentKey", "equals": "Shipment.PKeyShipment", "kind": "semi"}],
        "select": ["Shipment.PKeyShipment", "Shipment.ShipDate"], "order_by": ["Shipment.PKeyShipment"],
    },
    "computed": {
        "table": "Charges", "compute": {"double": "Charges.Amount * 2"}, "group_by": ["Charges.Code"],
        "sum": {"total": "double"}, "select": ["Charges.Code", "total"],
    },
    "a table twice": {
        "table": "Charges",
        "join": [{"table": "Charges", "named": "Same", "column": "Same.PKeyCharges", "equals": "Charges.PKeyCharges"}],
        "where": [{"column": "Charges.Amount", "above": 100}], "select": ["Same.Code"],
    },
    "distinct values in all parts": {
        "table": "Charges", "count_distinct": {"n": "Charges.Amount"}, "select": ["n"],
    },
    "distinct values of groups in all parts": {
        "table": "Charges", "group_by": ["Charges.Code"], "count_distinct": {"n": "Charges.Amount"},
        "having": [{"column": "n", "above": 10}], "select": ["Charges.Code", "n"],
    },
}  # fmt: skip
#: What can't be cut: it is computed as a whole, and the log says so.
WHOLE: dict[str, dict[str, Any]] = {
    "distinct values in all parts beside other counts": {
        "table": "Charges", "count_distinct": {"n": "Charges.Amount"}, "count": {"all": "*"}, "select": ["n", "all"],
    },
    "right": {
        "table": "Invoice", "join": [SHIPMENT | {"kind": "right"}], "group_by": ["Shipment.ChargeCurrency"],
        "count": {"n": "*"}, "select": ["Shipment.ChargeCurrency", "n"],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Files]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield materialise(load_suite(find_suite("invoices")).datasets["invoices"])


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each table that an answer was computed from, one entry for each."""
    monkeypatch.setattr(cuts, "PART_BYTES", LITTLE)
    seen: list[int] = []
    table = cuts.Part.table

    def counted(self: Any, name: str) -> pa.Table:
        found = table(self, name)
        seen.append(found.num_rows)
        return found

    monkeypatch.setattr(cuts.Part, "table", counted)
    return seen


def same(answer: Answer, files: Files) -> None:
    pieces = list(rows_of(answer, files))
    wanted = expected(answer, files)
    assert wanted.num_rows
    assert all(piece.schema.equals(wanted.schema, check_metadata=True) for piece in pieces)
    check_batches([b for piece in pieces for b in piece.to_batches()], wanted, ordered=bool(answer.order_by))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_answers_of_invoices_in_parts(step: QueryStep, files: Files, parts: list[int]) -> None:
    assert isinstance(step.answer, Answer)
    same(step.answer, files)
    assert parts
    assert max(parts) <= 60_000


@pytest.mark.parametrize("form", FORMS)
def test_other_forms_in_parts(form: str, files: Files, parts: list[int], caplog: pytest.LogCaptureFixture) -> None:
    same(Answer.model_validate(FORMS[form]), files)
    assert parts
    assert not caplog.records


@pytest.mark.parametrize("form", WHOLE)
def test_what_cannot_be_cut_is_right_and_named(
    form: str, files: Files, parts: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        same(Answer.model_validate(WHOLE[form]), files)
    assert not parts
    assert "is computed as a whole" in caplog.text


def test_ties_at_a_limit_are_refused_in_parts_too(files: Files, parts: list[int]) -> None:
    tied = FORMS["a limit"] | {"order_by": ["Packages.Weight"]}
    with pytest.raises(UserError, match="leaves ties at the limit"):
        list(rows_of(Answer.model_validate(tied), files))


def test_keys_that_are_missing_are_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[int]) -> None:
    monkeypatch.setenv("DBBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(cuts, "PART_BYTES", 1_000)

    def column(**more: Any) -> dict[str, Any]:
        return {"type": "integer", "values": {"kind": "sequence"}, **more}

    columns = {"Id": column(), "Other": column(null_every=7)}
    table = {"rows": 50_000, "primary_key": "Id", "columns": columns}
    files = materialise(Dataset.model_validate({"tables": {"A": table, "B": table}}))
    join = {"table": "B", "column": "B.Other", "equals": "A.Other", "kind": "anti"}
    answer = Answer.model_validate({"table": "A", "join": [join], "select": ["A.Id"]})
    same(answer, files)


def test_an_answer_on_large_data_is_not_computed_as_a_whole_in_a_trial(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stale_answers, "MOST_BYTES", 2**20)
    engine: Any = SQLite(Setup(tmp_path, Tier.POWER))
    with pytest.raises(Unsupported, match="its data has more than 1 MiB"):
        stale_answers.check(STEPS[0], StepContext(engine, None, {}, files, {}))  # type: ignore[arg-type]


def test_a_failure_leaves_no_file(files: Files) -> None:
    before = sorted(files.directory.iterdir())

    def fails() -> Iterator[pa.Table]:
        yield pa.table({"a": [1]})
        raise UserError("no more")

    with pytest.raises(UserError, match="no more"):
        stored.stored(["this"], fails, files)
    assert sorted(files.directory.iterdir()) == before
