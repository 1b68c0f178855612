"""Times in bounded memory: exact while they are few, within a known bound of it when they are many."""

import json
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbbench.loadgen.histogram import EXACT, PERCENTILES, Samples, fewest
from tests.properties import FEW

#: What the histogram promises.
BOUND = 0.0005


def of(*times: int) -> Samples:
    return recorded(np.array(times, np.int64))


def recorded(times: np.ndarray, chunk: int = 1_024) -> Samples:
    samples = Samples()
    for start in range(0, len(times), chunk):
        samples.record(times[start : start + chunk])
    return samples


def ranked(times: np.ndarray, percentile: float) -> int:
    """The percentile by its definition: the nearest rank, from all values in order."""
    rank = math.ceil(round(percentile * len(times) / 100, 6))
    return int(np.partition(times, rank - 1)[rank - 1])


def drawn(kind: str, count: int) -> np.ndarray:
    draw = np.random.default_rng(5)
    values = {
        "short": lambda: draw.integers(0, 3_000, count),
        "exponential": lambda: draw.exponential(80_000, count),
        "lognormal": lambda: draw.lognormal(12, 3, count),
        "two humps": lambda: np.where(draw.random(count) < 0.99, draw.normal(5e3, 50, count), draw.normal(1e9, 1e6, count)),
        "all alike": lambda: np.full(count, 123_457),
        "hours": lambda: draw.integers(10**12, 2 * 10**13, count),
    }[kind]()  # fmt: skip
    return np.asarray(values).astype(np.int64)


KINDS = ("short", "exponential", "lognormal", "two humps", "all alike", "hours")


def figures_are_of(samples: Samples, times: np.ndarray) -> None:
    assert (samples.count, samples.total) == (len(times), int(times.sum()))
    if len(times):
        assert (samples.ends, samples.mean) == ((times.min(), times.max()), int(times.sum()) / len(times))
    for percentile in PERCENTILES:
        exact = ranked(times, percentile) if len(times) >= fewest(percentile) else None
        same = samples.whole or exact is None or exact < 2_000  # each of these has a bin of its own
        assert samples.percentile(percentile) == (exact if same else pytest.approx(exact, rel=BOUND))


SIZES = st.sampled_from([0, 1, 30, EXACT, EXACT + 1, 2 * EXACT + 3])


@FEW
@given(parts=st.lists(st.tuples(st.sampled_from(KINDS), SIZES), min_size=1, max_size=3), chunk=st.just(1_024))
@example(parts=[("exponential", 12_000)], chunk=1)
@example(parts=[("lognormal", 3 * EXACT + 17)], chunk=250_000)
def test_figures_are_those_of_all_times_however_they_come(parts: list[tuple[str, int]], chunk: int) -> None:
    """Recorded in chunks, merged of several, and read again from the form for a file."""
    each = [drawn(*part) for part in parts]
    times, (samples, *others) = np.concatenate(each), [recorded(part, chunk) for part in each]
    for other in others:
        samples.merge(other)
    assert samples.whole == (len(times) <= EXACT)
    assert not samples.whole or samples.exact.tolist() == times.tolist()
    figures_are_of(samples, times)
    document = json.loads(json.dumps(samples.to_json()))
    assert (sum(document["counts"]), document["percentiles"]["p50"]) == (len(times), samples.percentile(50))
    figures_are_of(Samples.from_json(document), times)


@FEW
@given(
    st.integers(0, 2**46) | st.builds(lambda bits, more: max(0, 2**bits + more), st.integers(0, 45), st.integers(-3, 3))
)
def test_every_size_of_time_has_its_bin(time: int) -> None:
    times = np.array([time] * (EXACT + 1) + [0, 2**60], np.int64)
    figures_are_of(recorded(times), times)


@pytest.mark.parametrize(("percentile", "count"), [(50, 20), (90, 100), (95, 200), (99, 1_000), (99.9, 10_000)])
def test_a_percentile_needs_ten_samples_above_it(percentile: float, count: int) -> None:
    assert fewest(percentile) == count
    assert recorded(np.arange(count - 1)).percentile(percentile) is None
    assert recorded(np.arange(count)).percentile(percentile) == count - 11


def test_without_samples_there_is_no_figure() -> None:
    samples = Samples()
    assert samples.count == samples.total == 0
    assert samples.percentile(50) is None
    with pytest.raises(ValueError, match="no samples"):
        _ = samples.mean
    with pytest.raises(ValueError, match="no samples"):
        _ = samples.ends


def test_a_time_below_zero_is_refused() -> None:
    samples = of(*[5] * EXACT)
    samples.record(np.array([-1], np.int64))
    with pytest.raises(ValueError, match="negative"):
        samples.record(np.full(EXACT, 5))


def test_what_is_merged_is_left_alone() -> None:
    other = recorded(drawn("exponential", EXACT + 5))
    mine = of(1)
    before = other.to_json()
    mine.merge(other)
    mine.merge(other)
    mine.record(drawn("short", EXACT))
    assert other.to_json() == before


def test_the_form_without_percentiles_tells_none_by_any_way() -> None:
    document = of(1, 2, 30).to_json(percentiles=False)
    assert document == {"unit": "ns", "count": 3, "sum": 33, "min": 1, "max": 30}


def test_memory_is_bounded() -> None:
    samples, chunk = Samples(), drawn("lognormal", 50_000)
    for _ in range(4):
        samples.record(chunk)
    tracemalloc.start()
    for _ in range(60):
        samples.record(chunk)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert samples.count == 64 * len(chunk)
    assert kept < 1_000_000
