"""Ratios of two things measured in one run, alternating: the only figures that mean something on any machine."""

import gc
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter

import pytest

Timed = Callable[[], object]


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def seconds(action: Timed) -> float:
    gc.collect()
    start = perf_counter()
    action()
    return perf_counter() - start


@pytest.fixture
def ratio(benchmark) -> Callable[..., float]:
    """The median of ours/theirs over pairs, A B B A ...; kept with the benchmark's own figures."""

    def measure(ours: Timed, theirs: Timed, pairs: int = 11) -> float:
        ratios = []
        for number in range(pairs):
            if number % 2:
                other, own = seconds(theirs), seconds(ours)
            else:
                own, other = seconds(ours), seconds(theirs)
            ratios.append(own / other)
        benchmark.pedantic(ours, rounds=3)
        found = median(ratios)
        benchmark.extra_info["ratio"] = round(found, 3)
        benchmark.extra_info["ratios"] = [round(each, 3) for each in sorted(ratios)]
        print(f"\n  ratio {found:.3f} (from {min(ratios):.3f} to {max(ratios):.3f} in {pairs} pairs)")
        return found

    return measure
