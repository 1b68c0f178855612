"""--memory-limit: an engine that needs more is killed, and the others go on."""

import json
from pathlib import Path

import pytest

from dbbench.errors import UserError
from dbbench.host import control_group
from dbbench.testing.suite_text import suite_text
from tests.conftest import run_suite, summary
from tests.tables import one_table

pytestmark = pytest.mark.matrix
DRAWN = suite_text(
    "shop",
    one_table("Orders", 300, "Buyer: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 20}}}"),
    """
    - {kind: load, name: load, title: Load}
    - kind: query
      name: of-buyer
      title: What a buyer ordered
      sql: SELECT Id FROM Orders WHERE Buyer = :buyer
      read: Id
      parameters: {buyer: {draw: Orders.Buyer}}
    """,
)


@pytest.fixture(autouse=True)
def _groups() -> None:
    try:
        control_group.make(2**30).remove()
    except UserError as exc:
        pytest.skip(str(exc))


def test_an_engine_above_the_limit_is_out_of_memory_and_the_others_go_on(tmp_path: Path) -> None:
    how = ("--scale", "0.05", "--memory-limit", "400MiB", "--format", "csv,html")
    run = run_suite(tmp_path, "invoices", ("sqlite", "faulty-eats"), *how)
    assert json.loads((run / "run.json").read_text())["limits"]["memory_limit"] == 400 * 2**20
    rows = summary(run)
    row = rows["join-2", "faulty-eats"]
    assert (row["outcome"], row["detail"]) == ("out of memory", "killed by the system at 400 MiB (--memory-limit)")
    assert rows["bulk-insert", "faulty-eats"]["outcome"] == "ok"
    assert {row["outcome"] for (_, engine), row in rows.items() if engine == "sqlite"} == {"ok"}
    assert "400 MiB for each trial" in (run / "report/index.html").read_text()


def test_the_reference_takes_nothing_of_a_trials_memory(tmp_path: Path) -> None:
    """It computes the answers to drawn parameters while the trial waits."""
    more = ("--memory-limit", "220MiB", "--trial-memory", "220MiB")
    row = summary(run_suite(tmp_path, DRAWN, ("sqlite",), *more, status=0))["of-buyer", "sqlite"]
    assert (row["outcome"], row["verified"]) == ("ok", "yes")
