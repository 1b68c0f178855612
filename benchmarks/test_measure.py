"""The timed loops on an operation that does nothing, in readings of the clock; bounded memory.

performance.md has YCSB at 187 ns for an operation on a null database, on a machine where a reading of the
clock takes 24 ns: 7.8 readings. The aim, 0.6 of it, is 4.7.
"""

import subprocess
import sys
from collections.abc import Iterator
from itertools import islice, repeat
from operator import call
from time import perf_counter_ns
from typing import Any

import numpy as np
import pytest

from dbbench.host.collector import collector_off
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.loops import CHUNK, stream

STREAM_AT_MOST = 2.5
WITH_KEYS_AT_MOST = 0.6 * 187 / 24
CALLS = 1_000 * CHUNK
PEAK_ABOVE = 300 * 2**20


@pytest.fixture(autouse=True)
def _collector_off() -> Iterator[None]:
    """Around all of it: collecting takes longer than what is measured."""
    with collector_off():
        yield


def nothing(_key: object) -> None: ...


def readings() -> None:
    """As many bare readings of the clock as the loop makes calls."""
    clock = perf_counter_ns
    for _ in repeat(None, CALLS):
        clock()


def times_of_nothing() -> Any:
    """A stream over a key that is there already, recorded."""
    samples = Samples()
    stream(nothing, repeat(0, CALLS), samples.record)
    return samples


def statements_of_nothing() -> Any:
    """The same for an operation without a key, as a statement is."""
    samples = Samples()
    stream(call, repeat(int, CALLS), samples.record)
    return samples


def drawn_keys() -> Any:
    draw = np.random.default_rng(1)
    while True:
        yield from draw.integers(0, 1_000_000, CHUNK).tolist()


def with_keys() -> Any:
    """A stream that draws its keys, takes the latencies, and gives percentiles."""
    samples = Samples()
    stream(nothing, islice(drawn_keys(), CALLS), samples.record)
    assert samples.percentile(99.9) is not None
    return samples


def test_the_stream_is_at_most_two_and_a_half_readings(ratio) -> None:
    assert times_of_nothing().count == CALLS
    assert ratio(times_of_nothing, readings, pairs=15) <= STREAM_AT_MOST


def test_so_is_the_stream_of_an_operation_without_keys(ratio) -> None:
    assert ratio(statements_of_nothing, readings, pairs=15) <= STREAM_AT_MOST


def test_with_keys_and_latencies_it_is_well_below_ycsb(ratio) -> None:
    assert ratio(with_keys, readings, pairs=15) <= WITH_KEYS_AT_MOST


@pytest.mark.parametrize("garbage", [False, True], ids=["no garbage", "cycles"])
def test_a_hundred_million_calls_stay_in_bounded_memory(*, garbage: bool) -> None:
    """Peak resident set of a process above what it had before; with cyclic garbage in each of fewer calls."""
    program = f"""
from dbbench.host.collector import collector_off
from dbbench.loadgen.loops import stream
from dbbench.loadgen.histogram import Samples
from dbbench.host.usage import forget_peak, peak_memory
def nothing(key): pass
def garbage(key):
    ring = []
    ring.append(ring)
    ring.append(bytes(1000))
samples = Samples()
forget_peak()
before = peak_memory()
with collector_off():
    stream({"garbage" if garbage else "nothing"}, range({5_000_000 if garbage else 100_000_000}), samples.record)
print(samples.count, samples.percentile(50), peak_memory() - before)
"""
    start = perf_counter_ns()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, middle, above = done.stdout.split()
    seconds = (perf_counter_ns() - start) / 1e9
    print(f"\n  {int(count):,} calls in {seconds:.0f} s, median {middle} ns, peak {int(above) / 2**20:.1f} MiB above")
    assert int(above) < PEAK_ABOVE
