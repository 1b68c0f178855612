"""An index left out in head: the gate fails, says that the plan changed, and shows both."""

import shutil
from pathlib import Path

import pytest

from dbbench.testing.suite_text import suite_text
from tests.conftest import Dbbench, summary
from tests.tables import one_table
from tests.trials_here import no_null_engine, trials_here

SUITE = suite_text(
    "main",
    one_table("Child", 20000, "ParentId: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 2000}}}")
    + "\n    indexes: [ParentId]",
    """
    - {kind: load, name: load, title: Load}
    - {kind: query, name: by-parent, title: By parent, sql: SELECT Id FROM Child WHERE ParentId = 7, read: Id, iterations: 20}
    """,
)


@pytest.mark.matrix
def test_an_index_left_out_fails_the_gate_with_both_plans(tmp_path: Path, dbbench_here: Dbbench) -> None:
    (tmp_path / "indexed.yaml").write_text(SUITE)
    head, base = "faulty-unindexed@head", "faulty-unindexed@base"
    words = ["suite", "indexed.yaml", "-e", head, "-e", base, "--format", "csv", "--out", "r"]
    gate = ["--set", f"{head}.indexes=false", "--rounds", "6", "--gate", f"{head}/{base}:by-parent:10%"]
    for _ in range(3):  # where rounds follow each other too closely there are no ranks: one run of some hundred
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        with no_null_engine(), trials_here():
            done = dbbench_here(*words, *gate, plugins=("faulty",))
        if done.returncode == 1:
            break
    rows = summary(tmp_path / "r")
    assert [rows["by-parent", engine]["rank"] for engine in (base, head)] == ["1", "2"]
    said = (tmp_path / "r" / "gate.txt").read_text("utf-8")
    assert f"failed at 10 %: {head} by-parent: slower" in " ".join(said.split())
    shown = said[said.index("plan changed in by-parent:") :]
    assert "SCAN Child" in shown
    assert "SEARCH Child USING COVERING INDEX ix_Child_ParentId (ParentId=?)" in shown
