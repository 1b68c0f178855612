"""Statements that nothing is compared with, in a real run: timed, and not verified."""

import json
from pathlib import Path

from dbbench.testing.suite_text import suite_text
from tests.conftest import run_suite, summary
from tests.tables import one_table
from tests.trials_here import trials_here

SUITE = suite_text(
    "unread",
    one_table("T", 500, "N: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 9}}}"),
    """
    - {kind: load, name: load, title: Load}
    - {kind: statement, name: change, title: Change, sql: UPDATE T SET N = N + 1}
    - kind: statement
      name: add
      title: Add
      sql: INSERT INTO T (Id, N) SELECT MAX(Id) + 1, 1 FROM T
      adds: {table: T}
    - {kind: statement, name: look, title: Look, sql: x, dialects: {sqlite: PRAGMA table_info(T)}}
    - {kind: total, name: both, title: Both, of: [change, add]}
    - {kind: total, name: checked, title: Checked, of: [load, add]}
    """,
    durability="process",
)


def test_a_statement_without_a_check_is_timed_and_not_verified(tmp_path: Path) -> None:
    with trials_here():
        run = run_suite(tmp_path, SUITE, ("sqlite",))
    assert not (run / "report").exists()  # `--format csv` has no charts and pages
    rows = summary(run)
    found = {step: row for (step, engine), row in rows.items() if engine == "sqlite"}
    verified = {step: found[step]["verified"] for step in ("load", "change", "add", "both", "checked")}
    assert verified == {"load": "yes", "change": "no", "add": "yes", "both": "no", "checked": "yes"}
    assert float(found["change"]["value"]) > 0
    assert "not verified: the step has no table to count (`adds`) and no `check`" in found["change"]["detail"]
    assert "not verified: change was not verified" in found["both"]["detail"]
    assert (found["look"]["outcome"], found["look"]["value"]) == ("unsupported", "")
    assert "the statement returns rows, which nobody reads: use `kind: query`" in found["look"]["detail"]
    (trial, *_) = sorted(run.glob("trials/*-sqlite/result.json"))
    steps = {step["name"]: step.get("verified", False) for step in json.loads(trial.read_text())["steps"]}
    assert steps == {"load": True, "change": False, "add": True, "look": False, "both": False, "checked": True}
