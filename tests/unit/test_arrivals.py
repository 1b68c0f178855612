"""When calls at a rate are to start."""

import numpy as np
import pytest

from dbbench.loadgen.arrivals import CHUNK, constant, poisson


def whole(chunks) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *chunks])


def test_constant_arrivals_are_evenly_spaced_from_the_beginning_on() -> None:
    assert whole(constant(50, 0.1)).tolist() == [0, 20_000_000, 40_000_000, 60_000_000, 80_000_000]


def test_a_client_of_several_has_its_turn() -> None:
    mine = [whole(constant(50 / 2, 0.1, first=number / 50)).tolist() for number in range(2)]
    assert sorted(mine[0] + mine[1]) == whole(constant(50, 0.1)).tolist()


@pytest.mark.parametrize(
    ("per_second", "seconds"), [(10, 0.3), (3, 1), (0.1, 30), (1 / 3, 30), (1e6, 0.01), (7, 1 / 7)]
)
def test_no_arrival_is_due_at_the_end_or_later(per_second: float, seconds: float) -> None:
    moments = whole(constant(per_second, seconds))
    assert len(moments) == round(per_second * seconds)
    assert moments[-1] < seconds * 1e9


def test_no_arrivals_where_there_is_no_time() -> None:
    assert list(constant(1, 1, first=1)) == list(constant(1, 1, first=3)) == []


def test_chunks_follow_each_other_without_a_seam() -> None:
    for moments in (whole(constant(1e5, 0.1)), whole(poisson(1e5, 0.1, 3))):
        assert len(moments) > 3 * CHUNK
        assert (np.diff(moments) >= 0).all()
    assert set(np.diff(whole(constant(1e5, 0.1)))) == {10_000}
    assert {len(chunk) for chunk in constant(1e5, 0.1)} == {CHUNK, 10_000 % CHUNK}


def test_poisson_arrivals_have_the_rate_and_exponential_gaps() -> None:
    moments = whole(poisson(1_000, 100, 11))
    gaps = np.diff(moments) / 1e6
    assert len(moments) == pytest.approx(100_000, rel=0.01)  # three standard deviations
    assert gaps.mean() == pytest.approx(1, rel=0.02)
    assert gaps.std() == pytest.approx(1, rel=0.03)
    assert (gaps > 1).mean() == pytest.approx(np.exp(-1), rel=0.02)
    assert moments[0] >= 0
    assert moments[-1] < 100e9


def test_poisson_arrivals_follow_from_their_seed() -> None:
    assert whole(poisson(100, 1, (1, 0))).tolist() == whole(poisson(100, 1, (1, 0))).tolist()
    assert whole(poisson(100, 1, (1, 0))).tolist() != whole(poisson(100, 1, (1, 1))).tolist()
