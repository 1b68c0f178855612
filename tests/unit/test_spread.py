"""How calls were spread, from the facts of rounds."""

from typing import Any

import numpy as np
import pytest

from dbbench.analysis.recorded import spread
from dbbench.loadgen.histogram import Samples
from dbbench.results.facts import SHOWN


def times(count: int, scale: int = 1_000) -> dict[str, Any]:
    samples = Samples()
    samples.record(np.arange(1, count + 1) * scale)
    return samples.to_json()


def test_percentiles_are_the_medians_of_the_rounds_own() -> None:
    found = spread([{"per_second": rate, "times": {"service time": times(1_000, rate)}} for rate in (1, 5, 9)])
    assert found is not None
    assert dict(zip(SHOWN, found.percentiles, strict=True)) == pytest.approx(
        {"p50": 2.5e-6, "p90": 4.5e-6, "p99": 4.95e-6, "p99.9": None}
    )
    assert found.greatest == pytest.approx(5e-6)
    assert found.service == pytest.approx(500.5 * 5e-9)
    assert (found.per_second, found.late, found.due) == (5, None, None)


def test_at_a_rate_they_are_those_of_latency_and_late_calls_are_added_up() -> None:
    kinds = {"service time": times(100, 1), "latency": times(100, 10)}
    facts = {"per_second": 7.0, "times": kinds, "arrivals": {"due": 100, "late": 3}}
    found = spread([facts, facts])
    assert found is not None
    assert found.percentiles[:2] == pytest.approx((500e-9, 900e-9))
    assert found.service == pytest.approx(50.5e-9)
    assert (found.late, found.due) == (6, 200)


def test_a_percentile_that_one_round_lacks_is_not_told() -> None:
    found = spread([{"per_second": 1, "times": {"service time": times(count)}} for count in (100, 99)])
    assert found is not None
    assert found.percentiles[0] is not None
    assert found.percentiles[1:] == (None, None, None)


def test_steps_of_other_kinds_and_saturated_ones_have_none() -> None:
    saturated = Samples()
    saturated.record(np.arange(100))
    kinds = {"service time": times(100), "latency": saturated.to_json(percentiles=False)}
    assert spread([]) is None
    assert spread([{"rows": 5}]) is None
    assert spread([{"per_second": 1, "times": kinds}]) is None
