"""Times in bounded memory: exact while they are few, within a known bound of it when they are many."""

import json
import math
import tracemalloc

import numpy as np
import pytest

from dbbench.loadgen.histogram import EXACT, PERCENTILES, Samples, fewest

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
    return int(np.sort(times)[math.ceil(round(percentile * len(times) / 100, 6)) - 1])


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [1, 1_024, 250_000])
def test_few_samples_are_exact(kind: str, chunk: int) -> None:
    times = drawn(kind, EXACT if chunk > 1 else 12_000)
    samples = recorded(times, chunk)
    assert samples.whole
    assert samples.exact.tolist() == times.tolist()
    assert [samples.percentile(p) for p in PERCENTILES] == [ranked(times, p) for p in PERCENTILES]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [EXACT + 1, 3 * EXACT, 3 * EXACT + 17])
def test_many_samples_are_within_the_bound_of_the_exact_percentiles(kind: str, count: int) -> None:
    times = drawn(kind, count)
    samples = recorded(times)
    assert not samples.whole
    assert (samples.count, samples.total, samples.ends) == (count, int(times.sum()), (times.min(), times.max()))
    assert samples.mean == int(times.sum()) / count
    for percentile in PERCENTILES:
        found, exact = samples.percentile(percentile), ranked(times, percentile)
        assert found == pytest.approx(exact, rel=BOUND)
        if exact < 2_000:  # a bin of its own for each, but for the largest
            assert found == pytest.approx(exact, abs=0.5)


@pytest.mark.parametrize("time", [0, 1, 2, 3, 1_022, 1_023, 1_024, 2**20 - 1, 2**20, 2**31, 2**40 + 1, 2**46])
def test_every_size_of_time_has_its_bin(time: int) -> None:
    samples = recorded(np.array([time] * (EXACT + 1) + [0, 2**60], np.int64))
    found = samples.percentile(50)
    assert found == pytest.approx(time, rel=BOUND)
    assert samples.ends == (0, 2**60)
    assert samples.total == time * (EXACT + 1) + 2**60


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


@pytest.mark.parametrize("sizes", [(3, 4), (0, 5), (5, 0), (EXACT, 1), (1, EXACT + 5), (EXACT + 5, EXACT + 9)])
def test_merged_samples_are_those_of_both(sizes: tuple[int, int]) -> None:
    first, second = drawn("exponential", sizes[0]), drawn("lognormal", sizes[1])
    merged, whole = recorded(first), np.concatenate([first, second])
    merged.merge(recorded(second))
    assert (merged.count, merged.total) == (len(whole), int(whole.sum()))
    assert merged.ends == (whole.min(), whole.max())
    for percentile in PERCENTILES:
        exact = ranked(whole, percentile) if len(whole) >= fewest(percentile) else None
        assert merged.percentile(percentile) == (None if exact is None else pytest.approx(exact, rel=BOUND))


def test_what_is_merged_is_left_alone() -> None:
    other = recorded(drawn("exponential", EXACT + 5))
    mine = of(1)
    before = other.to_json()
    mine.merge(other)
    mine.merge(other)
    mine.record(drawn("short", EXACT))
    assert other.to_json() == before


@pytest.mark.parametrize("count", [0, 1, 30, EXACT, 2 * EXACT + 3])
def test_the_form_for_a_file_gives_back_the_same_figures(count: int) -> None:
    samples = recorded(drawn("lognormal", count))
    document = json.loads(json.dumps(samples.to_json()))
    again = Samples.from_json(document)
    assert (again.count, again.total) == (samples.count, samples.total)
    assert sum(document["counts"]) == count
    if count:
        assert again.ends == samples.ends
        assert document["percentiles"]["p50"] == samples.percentile(50)
    for percentile in PERCENTILES:
        known = samples.percentile(percentile)
        assert again.percentile(percentile) == (None if known is None else pytest.approx(known, rel=BOUND))


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
