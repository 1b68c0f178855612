"""Student's distribution and Kendall's test are scipy's, without the second that scipy takes to import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from dbbench.analysis.student import student_cdf, student_quantile, trend_chance
from dbbench.report.run_view import view
from tests.fabricated import Fake, fabricate


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 10, 59, 300, 3.7])
def test_students_distribution_is_scipys(freedom: float) -> None:
    for value in (-1e8, -40, -2.7, -1, -0.1, 0, 0.5, 2, 40):
        assert student_cdf(value, freedom) == pytest.approx(special.stdtr(freedom, value), rel=1e-12)
    for share in (1e-6, 0.025, 0.3, 0.5, 0.975):
        assert student_quantile(share, freedom) == pytest.approx(special.stdtrit(freedom, share), rel=1e-11, abs=1e-12)


def test_nothing_is_below_all_values() -> None:
    assert student_cdf(-1e200, 5) == 0
    assert student_cdf(1e200, 5) == 1


@pytest.mark.parametrize("count", [2, 3, 5, 6, 10, 33, 34, 50])
def test_kendalls_test_is_scipys_with_and_without_ties(count: int) -> None:
    random = np.random.default_rng(count)
    several = [random.normal(size=count), np.arange(count), -np.arange(count), np.r_[0, 0, random.normal(size=count)]]
    several += [random.integers(0, 4, count) + np.r_[9, np.zeros(count - 1)] for _ in range(5)]
    for values in several:
        wanted = stats.kendalltau(range(len(values)), values).pvalue
        assert trend_chance(values.tolist()) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


def test_values_that_are_all_the_same_have_no_trend() -> None:
    assert trend_chance([3.0] * 6) == 1


def test_a_run_is_summed_up_without_scipy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slower_each_round(result: dict[str, Any]) -> None:
        for step in result["steps"]:
            step["value"] *= 1 + 0.05 * result["round"]

    run = fabricate(tmp_path / "run", {"a": Fake("A"), "b": Fake("B", 2.0)}, rounds=6, change=slower_each_round)
    for name in ("scipy", "scipy.special", "scipy.stats"):
        monkeypatch.setitem(sys.modules, name, None)
    shown = view(run)
    assert any("drift" in row.unsteady for row in shown.rows)
    assert all(row.rank and row.low for row in shown.rows if row.ranked and row.unit != "B")
