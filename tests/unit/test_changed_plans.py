"""Plans that changed: told from estimates that did, and shown by gates, comparisons and histories."""

from pathlib import Path

import pytest

from dbbench.analysis.comparability import Side
from dbbench.analysis.compare import compare
from dbbench.analysis.history import history
from dbbench.analysis.paired import pair_gate
from dbbench.analysis.queryplans import plan_changed
from dbbench.report.terminal.pairs import pair_lines, two_plans
from dbbench.results.run_directory import Run
from tests.fabricated import Fake, fabricate

SEEK = "SEARCH B USING INDEX ix (a=?)\n  SEARCH A USING INTEGER PRIMARY KEY (rowid=?)"
SCAN = "SCAN B\n  SEARCH A USING INTEGER PRIMARY KEY (rowid=?)"


@pytest.mark.parametrize(
    ("ours", "theirs", "differ"),
    [
        ([SEEK], [SCAN], True),
        ([SEEK, SCAN], [SCAN], False),  # one of its rounds had the same
        (["Seek cost=1.0 rows=7"], ["Seek cost=2.7e-3 rows=12,345"], False),
        (["┌───────┐\n│ ~7 │"], ["┌──────────┐\n│ ~12345 │"], False),
        ([], [SCAN], False),
    ],
)
def test_only_other_steps_of_a_plan_are_a_change(ours: list[str], theirs: list[str], *, differ: bool) -> None:
    assert plan_changed(ours, theirs) is differ


def test_what_differs_is_marked_in_two_columns_or_one_under_the_other() -> None:
    texts = (SEEK, f"{SCAN}\nUSE TEMP B-TREE")
    assert list(two_plans(("e@new", "e@old"), texts, 120)) == [
        "e@new                                            e@old",
        "SEARCH B USING INDEX ix (a=?)                  | SCAN B",
        "  SEARCH A USING INTEGER PRIMARY KEY (rowid=?)     SEARCH A USING INTEGER PRIMARY KEY (rowid=?)",
        "                                               > USE TEMP B-TREE",
    ]
    assert list(two_plans(("e@new", "e@old"), texts, 80)) == [
        "e@new", "* SEARCH B USING INDEX ix (a=?)", "    SEARCH A USING INTEGER PRIMARY KEY (rowid=?)",
        "e@old", "* SCAN B", "    SEARCH A USING INTEGER PRIMARY KEY (rowid=?)", "* USE TEMP B-TREE",
    ]  # fmt: skip


def test_a_gate_that_fails_shows_both_plans(tmp_path: Path) -> None:
    fakes = {
        "new": Fake("New", {"join-1": 2.0}, plans={"join-1": SCAN, "scan-1": "SCAN B"}),
        "old": Fake("Old", plans={"join-1": SEEK, "scan-1": "SCAN B"}),
    }
    run = fabricate(tmp_path / "run", fakes, rounds=8)
    lines = [line.plain for line in pair_lines(pair_gate(run, run.results(), ("new", "old"), 0.1))]
    assert [line.strip() for line in lines].count("plan changed") == 1
    at = lines.index("  plan changed in join-1:")
    assert lines[at + 1 : at + 6 : 3] == ["    new", "    old"]
    assert lines[at + 2] == "    * SCAN B"
    assert lines[-1].startswith("gate new/old: failed at 10 %: new join-1: slower, ×2")


def run_of(path: Path, day: int, plan: str, slow: float = 1.0) -> Side:
    run = fabricate(path / f"r{day}", {"a": Fake("A", slow, plans={"join-1": plan})}, rounds=8, seed=day, day=day)
    return Side.read(Run.open(run.path))


def test_a_comparison_and_a_history_name_the_line_that_changed(tmp_path: Path) -> None:
    said = "a: plan changed in join-1: SEARCH B USING INDEX ix (a=?) -> SCAN B"
    sides = [run_of(tmp_path, day, SEEK if day < 5 else SCAN, 1.0 if day < 5 else 2.0) for day in range(1, 9)]
    assert said in map(str, compare(sides[:1], sides[-1:]).causes)
    assert said in map(str, compare(sides[:4], sides[4:]).causes)
    assert compare(sides[:1], sides[1:2]).causes == []
    causes = {series.step: [*map(str, series.changes[0].causes)] for series in history(sides).changed}
    assert said in causes["join-1"]
    assert said not in causes["scan-1"]
