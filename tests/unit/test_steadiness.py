"""Rounds that are not of one kind, and how often the rules are wrong about rounds that are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbbench.analysis.steadiness import unsteady
from dbbench.report.remarks import worded
from dbbench.report.run_view import view
from dbbench.report.write import write_report
from tests.fabricated import Fake, fabricate
from tests.unit.test_report import printed


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([17.9, 32.7, 34.0, 33.8, 33.5, 32.0], "1 of 6 are about 47% below the others, the highest is 1.90 times the lowest"),
        ([10, 10.1, 14, 10.05, 14.1, 14.05], "3 of 6 are about 28% below the others"),
        ([10, 12, 11, 14, 13, 15.5], "the highest is 1.55 times the lowest"),
        ([10, 10.4, 10.9, 11.3, 11.8, 12.2], "a drift of ×1.13 from the first half to the second"),
        ([10, 9.6, 9.2, 8.8, 8.5, 8.1], "a drift of ×0.89 from the first half to the second"),
        ([10, 10.2, 10.7, 11, 11.1, 11.1, 11, 10.8, 10.4, 10.1, 9.9, 9.8], "neighbouring rounds are alike (autocorrelation 0.72)"),
    ],
)  # fmt: skip
def test_rounds_that_are_not_of_one_kind_are_named(blocks: list[float], words: str) -> None:
    for same in (blocks, [block * 1000 for block in blocks]):
        assert ", ".join(map(worded, unsteady(same))) == words


@pytest.mark.parametrize("blocks", [[], [1.0], [1.0, 9.0], [0.0] * 6, [3.0] * 9, [10, 10.4, 9.9, 10.1, 10.3, 10.2]])
def test_steady_and_too_few_rounds_are_not(blocks: list[float]) -> None:
    assert unsteady(blocks) == ()


@pytest.mark.parametrize(("noise", "most"), [(0.02, 0.01), (0.05, 0.02)])
@pytest.mark.parametrize("rounds", [5, 6, 8, 10])
def test_independent_rounds_give_few_false_alarms(rounds: int, noise: float, most: float) -> None:
    random = np.random.default_rng(rounds)
    false = sum(bool(unsteady(random.lognormal(0, noise, rounds))) for _ in range(500))
    assert false / 500 <= most + 2 * (most / 500) ** 0.5


def test_they_are_flagged_at_the_step_and_in_the_summary(tmp_path: Path) -> None:
    def second_level(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            if result["engine_name"] == "a" and result["round"] == 1 and step["name"] == "join-1":
                step["value"] *= 0.53

    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, rounds=6, change=second_level)
    shown = view(run)
    step = shown.scenarios[0].step("join-1")
    assert [line.mark for line in step.lines] == ["1", ""]
    words = "noisy rounds: 1 of 6 are about 4"
    assert step.footnotes[0].startswith(f"A: {words}")
    assert "noisy rounds in 1 of 14 figures (join-1: a)" in " ".join(shown.warnings)
    write_report(shown, ("csv", "md", "html"))
    texts = [path.read_text("utf-8") for path in (run.path / "summary.csv", *run.report.glob("index.*"))]
    for text in ("\n".join(printed(shown)), *texts):
        assert words in " ".join(text.split())
