"""Records by arithmetic: unique ordered keys, values that name themselves, random orders and popularity."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from dbbench.datasets.records import NAMED, ExpectedRecords, Laps, RecordSet, Zipfian, mix, shuffled
from dbbench.errors import WrongAnswer
from dbbench.suite.dataset import Records


def records(count: int = 1000, key: int = 8, value: int = 32, order: str = "ascending", seed: int = 1) -> RecordSet:
    return RecordSet(Records(count=count, key_bytes=key, value_bytes=value, key_order=order), seed)


def numbers(*which: int) -> np.ndarray:
    return np.array(which, np.uint64)


def upto(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint64)


# Keys


@pytest.mark.parametrize("size", [8, 9, 16, 23, 512])
def test_ascending_keys_are_in_the_order_of_their_numbers(size: int) -> None:
    some = numbers(0, 1, 255, 256, 65_535, 2**31, 2**32, 10**12, 2**53 + 1)
    keys = records(key=size).keys(some)
    assert {len(key) for key in keys} == {size}
    assert all(before < after for before, after in pairwise(keys))
    assert [int.from_bytes(key, "big") for key in keys] == some.tolist()


@pytest.mark.parametrize("size", [8, 13, 16, 100])
def test_scattered_keys_are_unique_and_in_no_order(size: int) -> None:
    keys = records(key=size, order="scattered").keys(upto(50_000))
    assert {len(key) for key in keys} == {size}
    assert len({key[:8] for key in keys}) == 50_000  # the first eight bytes alone: they are a bijection of the number
    ascents = sum(before < after for before, after in pairwise(keys))
    assert 24_000 < ascents < 26_000
    bytes_seen = np.bincount(np.frombuffer(b"".join(keys), np.uint8), minlength=256)
    assert bytes_seen.min() > 0.9 * bytes_seen.mean()


def test_keys_depend_on_the_seed_only_if_they_are_scattered() -> None:
    some = upto(10)
    assert records(seed=1).keys(some) == records(seed=2).keys(some)
    assert records(order="scattered", seed=1).keys(some) != records(order="scattered", seed=2).keys(some)
    assert records(order="scattered", seed=1).keys(some) == records(order="scattered", seed=1).keys(some)


def test_the_finaliser_is_a_bijection() -> None:
    assert len(np.unique(mix(upto(200_000)))) == 200_000
    assert mix(numbers(1)).tolist() == [0x5692161D100B05E5]  # of splitmix64's, after its addition


# Values


@pytest.mark.parametrize("size", [NAMED, 17, 24, 100, 1000])
def test_a_value_names_its_number_and_version(size: int) -> None:
    made = records(value=size)
    some = numbers(0, 3, 10**12)
    pairs = made.pairs(some, numbers(7, 0, 2**40))
    assert {len(value) for _, value in pairs} == {size}
    found, versions = made.named(pairs)
    assert (found.tolist(), versions.tolist()) == ([0, 3, 10**12], [7, 0, 2**40])


def test_values_differ_by_number_version_and_seed() -> None:
    made = records(value=100)
    values = {*made.values(upto(500)), *made.values(upto(500), 1), *records(value=100, seed=2).values(upto(500))}
    assert len(values) == 1500
    assert len({value[NAMED:] for value in [*made.values(upto(500)), *made.values(upto(500), 1)]}) == 1000


@pytest.mark.parametrize("at", range(100))
def test_no_byte_of_a_value_can_change_unseen(at: int) -> None:
    made = records(value=100, order="scattered")
    key, value = made.pairs(numbers(5), 2)[0]
    damaged = value[:at] + bytes([value[at] ^ 0x10]) + value[at + 1 :]
    with pytest.raises(WrongAnswer, match="none of this dataset"):
        made.named([(key, damaged)])


def test_what_a_store_gives_back_must_fit_together() -> None:
    made = records(value=100)
    (key, value), (_, other) = made.pairs(numbers(5, 6))
    with pytest.raises(WrongAnswer, match=r"key .* none of this dataset"):
        made.named([(key, other)])
    with pytest.raises(WrongAnswer, match="a key of 7 bytes instead of 8"):
        made.named([(key[:-1], value)])
    with pytest.raises(WrongAnswer, match="a value of 99 bytes instead of 100"):
        made.named([(key, value[:-1])])
    with pytest.raises(WrongAnswer, match="none of this dataset"):
        records(value=100, seed=9).named([(key, value)])


def test_a_scale_changes_how_many_there_are_and_nothing_else() -> None:
    whole = records(1000)
    part = RecordSet(whole.spec, whole.seed, scale=0.25)
    assert (whole.count, part.count, RecordSet(whole.spec, 1, 1e-9).count) == (1000, 250, 1)
    assert part.shape == whole.spec.model_copy(update={"count": 250})
    assert part.pairs(upto(250)) == whole.pairs(upto(250))


def test_a_record_far_off_takes_no_more_memory_than_the_first() -> None:
    made = records(10**12, key=16, value=100, order="scattered")
    peaks = []
    for start in (0, 10**11, 10**12 - 1024):
        tracemalloc.start()
        made.pairs(np.arange(start, start + 1024, dtype=np.uint64))
        shuffled(np.arange(start, start + 1024, dtype=np.uint64), 10**12, 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 2_000_000
    assert max(peaks) < 1.5 * min(peaks)


# Random orders


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 1000, 1024, 1025, 99_999])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_random_order_has_each_number_once(count: int, seed: int) -> None:
    found = shuffled(upto(count), count, seed)
    assert sorted(found.tolist()) == list(range(count))


def test_a_random_order_is_one() -> None:
    found = shuffled(upto(100_000), 100_000, 1).astype(np.int64)
    assert 49_000 < (np.diff(found) > 0).sum() < 51_000
    assert abs(np.corrcoef(found, np.arange(100_000))[0, 1]) < 0.02
    assert (shuffled(upto(1000), 1000, 1) != shuffled(upto(1000), 1000, 2)).any()


def test_a_random_order_can_be_had_in_pieces() -> None:
    whole = shuffled(upto(5000), 5000, 3)
    assert np.array_equal(np.concatenate([shuffled(part, 5000, 3) for part in np.split(upto(5000), 10)]), whole)


# Popularity


@pytest.mark.parametrize("count", [3, 10, 1000])
def test_zipfian_ranks_have_the_probabilities_of_the_distribution(count: int) -> None:
    """Exact for the first two ranks; of those behind them, the sum: Gray's formula is an approximation there."""
    drawn = Zipfian(count).draw(np.random.default_rng(1).random(400_000)).astype(np.int64)
    assert drawn.min() >= 0
    assert drawn.max() < count
    shares = np.bincount(drawn, minlength=count) / len(drawn)
    weights = np.arange(1, count + 1, dtype=float) ** -0.99
    expected = weights / weights.sum()
    assert shares[:2] == pytest.approx(expected[:2], abs=0.004)
    assert shares[2:].sum() == pytest.approx(expected[2:].sum(), abs=0.004)
    assert np.abs(np.cumsum(shares) - np.cumsum(expected)).max() < 0.05


@pytest.mark.parametrize("count", [1, 2])
def test_zipfian_of_hardly_any_is_within_them(count: int) -> None:
    drawn = Zipfian(count).draw(np.random.default_rng(1).random(10_000))
    assert set(drawn.tolist()) == set(range(count))


def test_the_sum_behind_zipfian_is_right_beyond_a_million() -> None:
    exact = float((np.arange(1, 3_000_001, dtype=float) ** -0.99).sum())
    assert Zipfian(3_000_000).zeta == pytest.approx(exact, rel=1e-12)


# What a store must hold


def test_versions_are_those_of_the_last_update_that_reached_a_record() -> None:
    held = ExpectedRecords(first=0, next=10)
    assert held.version_of(upto(10)).tolist() == [0] * 10
    held.laps = [Laps(0, stop, None, range(stop), stop, version) for stop, version in ((5, 1), (8, 2))]
    assert held.version_of(upto(10)).tolist() == [2] * 8 + [0] * 2
    held.laps.append(Laps(0, 3, None, range(3), 3, 3))
    assert held.version_of(upto(10)).tolist() == [3] * 3 + [2] * 5 + [0] * 2
    held.first, held.next = 2, 12
    assert held.version_of(np.arange(2, 12, dtype=np.uint64)).tolist() == [3] + [2] * 5 + [0] * 4
