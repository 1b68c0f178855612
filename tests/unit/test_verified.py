"""A figure of work that nothing was compared with: shown, and never ranked."""

import csv
from pathlib import Path
from typing import Any

import pytest

from dbbench.analysis.row import Row
from dbbench.analysis.standings import standings
from dbbench.analysis.summary import summarise
from dbbench.report.export import html_page, markdown_page, results_json, summary_csv
from dbbench.report.remarks import detail
from dbbench.report.run_view import View, view
from dbbench.suite.model import Scenario
from tests.fabricated import Fake, fabricate
from tests.unit.test_report import printed

REASON = "not verified: the step has no table to count (`adds`) and no `check`"


def unverified(*, engine: str = "") -> Any:
    """Takes the check away from insert-1: of one engine, or of all."""

    def change(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if step["name"] == "insert-1" and engine in ("", result["engine_name"]):
                step |= {"verified": False, "detail": REASON}

    return change


def shown(path: Path, change: Any) -> View:
    return view(
        fabricate(path / "run", {"fast": Fake("Fast", 0.5), "slow": Fake("Slow", 1.0)}, rounds=5, change=change)
    )


def rows(found: View, step: str = "insert-1") -> dict[str, Row]:
    return {row.engine: row for row in found.rows if row.step == step}


def test_what_is_not_verified_has_a_figure_and_no_place_and_stands_after_the_ranked(tmp_path: Path) -> None:
    found = rows(shown(tmp_path, unverified(engine="fast")))
    assert list(found)[:2] == ["slow", "fast"]
    assert (found["fast"].rank, found["fast"].ratio, found["fast"].checked) == (None, None, False)
    assert found["fast"].value is not None
    assert detail(found["fast"]) == REASON
    assert found["slow"].ratio is not None
    assert (found["slow"].ratio.value, found["slow"].checked) == (1, True)


def test_one_round_without_a_check_is_enough(tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        if result["round"] == 3:
            unverified(engine="fast")(result)

    row = rows(shown(tmp_path, change))["fast"]
    assert (row.rank, row.checked) == (None, False)
    assert detail(row) == f"{REASON} (in 1 of 5 rounds)"


def test_a_result_from_before_the_field_is_read_as_it_was(tmp_path: Path) -> None:
    found = rows(shown(tmp_path, lambda _: None))
    assert [str(row.rank) for row in found.values() if row.ranked] == ["1", "2"]


def test_a_step_that_no_engine_was_verified_in_is_not_in_the_mean(tmp_path: Path) -> None:
    means = {}
    for name, change in (("all", unverified()), ("one", unverified(engine="fast"))):
        found = shown(tmp_path / name, change)
        scenario: Scenario = found.run.suite.scenarios[0]
        rows = summarise(found.run.suite, found.run.manifest, found.run.results())
        means[name] = {each.engine: each.mean_ratio for each in standings(rows, scenario)}
    assert means["all"]["fast"] == pytest.approx(1, rel=0.01)
    assert means["all"]["slow"] == pytest.approx(2, rel=0.02)
    assert means["one"]["fast"] is None
    assert means["one"]["slow"] is not None


def test_every_report_says_so(tmp_path: Path) -> None:
    found = shown(tmp_path, unverified(engine="fast"))
    terminal = "\n".join(printed(found))
    insert = terminal[terminal.index("Insert of one row") : terminal.index("Scan 1")]
    assert "  – fast" in insert
    assert "Fast: not verified: the step has no table to count" in insert
    for page in (markdown_page, html_page):
        assert "not verified: the step has no table to count" in page.write(found, []).read_text("utf-8")
    with summary_csv.write(found).open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert table
    assert "verified" in table[0]
    told = {(row["step"], row["engine"]): (row["rank"], row["verified"]) for row in table if row["metric"] == "time"}
    assert told["insert-1", "fast"] == ("", "no")
    assert told["join-1", "fast"] == ("1", "yes")
    assert told["join-1", "(null)"] == ("", "")
    steps = {step.name: step.rows for step in results_json.document(found).scenarios[0].steps}
    assert {row.engine: row.verified for row in steps["insert-1"]} == {
        "slow": True, "fast": False, "null": None, "null+arrow": None,
    }  # fmt: skip
