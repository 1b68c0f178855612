"""Time without the wait for a processor: how it is read, and what is left of a call. No real time is looked at."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dbbench.host.meters import DelayMeter
from dbbench.host.metric import Metric, shared
from dbbench.loadgen.job import ClientTimings


class Kernel:
    """A file as that of the kernel, of a thread that waited for so long in all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.waited(0)

    def waited(self, nanoseconds: int) -> None:
        self.path.write_text(f"123456 {nanoseconds} 7\n", "ascii")


needs_pread = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pread, and no such file")


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path / "schedstat")


@needs_pread
def test_what_was_waited_in_the_blocks_alone_is_added_up(kernel: Kernel) -> None:
    meter = DelayMeter(kernel.path, clock=iter([0, 1_000, 5_000, 6_000]).__next__)
    kernel.waited(500)
    with meter:
        kernel.waited(530)
    kernel.waited(9_000)
    with meter:
        kernel.waited(9_007)
    assert meter.nanoseconds == 37
    assert meter.usage(100e-9) == {Metric.UNDELAYED: pytest.approx(63e-9)}


@needs_pread
def test_never_more_is_taken_off_than_the_block_lasted(kernel: Kernel) -> None:
    meter = DelayMeter(kernel.path, clock=iter([100, 150]).__next__)
    with meter:
        kernel.waited(1_000_000)  # between the file and the clock
    assert meter.nanoseconds == 50


@needs_pread
@pytest.mark.parametrize("text", [None, "0 0 0\n"])
def test_a_system_that_counts_nothing_leaves_no_figure(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "schedstat"
    if text is not None:
        path.write_text(text, "ascii")
    with DelayMeter(path) as meter:
        pass
    assert meter.usage(2.0) == {}


@needs_pread
def test_no_less_than_nothing_is_left(kernel: Kernel) -> None:
    with DelayMeter(kernel.path) as meter:
        pass
    meter.nanoseconds = 3 * 10**9
    assert meter.usage(2.0) == {Metric.UNDELAYED: 0.0}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts it")
def test_the_kernels_own_file_can_be_read() -> None:
    with DelayMeter() as meter:
        pass
    assert meter.usage(60.0).get(Metric.UNDELAYED, 1.0) > 0


def test_of_several_clients_it_is_that_of_a_call() -> None:
    found = ClientTimings(usage={Metric.UNDELAYED: 5e-6, Metric.CPU: 1e-6})
    found.merge(ClientTimings(usage={Metric.UNDELAYED: 1e-6}))
    assert shared(found.usage, 3) == {Metric.UNDELAYED: pytest.approx(2e-6)}
    assert shared(found.usage, 0) == {}
