"""First calls that differ from the later ones of a client, and the remark that they did in most rounds."""

import numpy as np
import pytest

from dbbench.analysis.remarks import About, remarks
from dbbench.analysis.statistics import rank_sum_chance
from dbbench.loadgen.first_calls import _chance, first_calls
from dbbench.report.remarks import worded
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult
from dbbench.suite.model import Scenario, Suite

LATER = np.random.default_rng(1).integers(900, 1_100, 90)


def test_slow_first_calls_are_found_by_their_ratio() -> None:
    assert first_calls(np.concatenate([LATER[:9] * 13 // 10, LATER])) == pytest.approx(1.3, rel=0.1)
    assert first_calls(np.concatenate([LATER[:9] // 2, LATER])) == pytest.approx(0.5, rel=0.1)
    assert first_calls(np.array([5_000] + [1_000] * 18)) is None  # too few calls


def test_a_difference_of_less_than_a_twentieth_and_equal_calls_are_none() -> None:
    assert first_calls(np.array([1_040] * 50 + [1_000] * 450)) is None
    assert first_calls(np.array([1_000] * 500)) is None
    assert first_calls(np.zeros(500, np.int64)) is None


def test_one_slow_call_of_the_first_is_no_difference() -> None:
    assert first_calls(np.concatenate([[9_000], LATER])) is None


@pytest.mark.parametrize("count", [20, 100, 1_000])
def test_calls_that_are_alike_are_told_apart_in_one_of_a_hundred_cases(count: int) -> None:
    random = np.random.default_rng(2)
    drawn = random.lognormal(0, 0.5, (1_000, count)) * 1e6
    assert sum(first_calls(times.astype(np.int64)) is not None for times in drawn) <= 20


def test_the_chance_is_that_of_the_reports_own_test() -> None:
    times = np.random.default_rng(3).integers(0, 12, 30)
    assert _chance(times, 8) == pytest.approx(rank_sum_chance(times[:8].tolist(), times[8:].tolist()), abs=0.02)


@pytest.mark.parametrize(("found", "told"), [(2, False), (3, True)])
def test_a_remark_stands_where_most_rounds_have_it(found: int, told: bool, small: Suite) -> None:
    scenario: Scenario = small.scenarios[0]
    steps = [
        StepResult(name="s", outcome=Outcome.OK, unit="s", value=1.0, facts={"first_calls": 1.4} if at < found else {})
        for at in range(4)
    ]
    texts = [worded(each) for each in remarks(scenario, steps, [], [], part=True) if each.about is About.FIRST_CALLS]
    expected = ["its first calls took ×1.40 the later ones' time: see `warm_up` (in 3 of 4 rounds)"]
    assert texts == (expected if told else [])
