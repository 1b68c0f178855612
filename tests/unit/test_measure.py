"""The timed loops, by a clock that is told what to show."""

import gc
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbbench.errors import WrongAnswer
from dbbench.host.collector import collector_off
from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.loadgen.loops import CHUNK, ScheduleStats, open_loop, read_batches, read_rows, stream, timed


@pytest.fixture(autouse=True)
def _collector_on() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was_on else gc.disable)()


def noting(events: list[Any], readings: Iterable[int]) -> Callable[[], int]:
    """A clock that shows these, and notes that it was read."""
    shown = iter(readings)

    def clock() -> int:
        events.append("clock")
        return next(shown)

    return clock


def test_one_call_is_timed_from_before_to_after() -> None:
    events: list[str] = []

    def operation() -> str:
        events.append("call")
        return "answer"

    assert timed(operation, noting(events, [1_000, 1_250])) == (250, "answer")
    assert events == ["clock", "call", "clock"]


def streamed(operation: Any, keys: Iterable[Any], readings: Iterable[int]) -> list[list[int]]:
    """The times that a stream records, a list for each time it does."""
    found: list[list[int]] = []
    stream(operation, keys, lambda times: found.append(times.tolist()), iter(readings).__next__)
    return found


def test_a_stream_reads_the_clock_once_for_each_call_and_once_before() -> None:
    events: list[object] = []
    clock = noting(events, [10, 13, 13, 20, 21])
    stream(events.append, "abcd", lambda times: events.append(times.tolist()), clock)
    assert events == ["clock", "a", "clock", "b", "clock", "c", "clock", "d", "clock", [3, 0, 7, 1]]


def test_a_stream_makes_its_keys_and_records_its_times_between_chunks_off_the_clock() -> None:
    events: list[str] = []

    def keys() -> Iterator[int]:
        for key in range(CHUNK + 2):
            events.append("key")
            yield key

    clock = noting(events, count(0, 5))
    stream(lambda _: events.append("call"), keys(), lambda times: events.append(f"record {len(times)}"), clock)
    first = [*["key"] * CHUNK, "clock", *["call", "clock"] * CHUNK, f"record {CHUNK}"]
    assert events == [*first, "key", "key", "clock", *["call", "clock"] * 2, "record 2"]


def test_the_time_between_two_chunks_belongs_to_no_call() -> None:
    readings = [*range(CHUNK + 1), 10**9, 10**9 + 7]
    assert streamed(lambda _: None, range(CHUNK + 1), readings) == [[1] * CHUNK, [7]]


def test_a_stream_of_no_keys_reads_no_clock() -> None:
    assert streamed(lambda _: pytest.fail("called"), [], []) == []


def test_times_are_whole_nanoseconds_beyond_what_a_float_holds() -> None:
    start = 2**60 + 1
    assert timed(lambda: None, iter([start, start + 3]).__next__)[0] == 3
    assert streamed(lambda _: None, "ab", [start, start + 1, start + 4]) == [[1, 3]]


MS = 1_000_000


class Time:
    """A clock that goes on when one sleeps, works or looks at it for nothing."""

    def __init__(self, now: int = 7 * MS) -> None:
        self.begin = self.now = now

    def clock(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(round(seconds * 1e9), 1_000)  # a sleep of 0 takes a microsecond

    def loop(
        self, chunks: list[list[int]], works: Iterable[int], give_up: int = 10**9, left: list[int] | None = None
    ) -> tuple[ScheduleStats, Any, Any, Any]:
        """Calls at these moments that take so long, in ms: (kept, starts, service, latency), in ms too."""
        starts: list[float] = []
        service: list[float] = []
        latency: list[float] = []

        def operation(work: int) -> None:
            starts.append((self.now - self.begin) / MS)
            self.now += work * MS

        moments = (np.array(chunk, np.int64) * MS for chunk in chunks)
        kept = open_loop(
            operation,
            works,
            moments,
            lambda times: service.extend(times / MS),
            lambda times: latency.extend(times / MS),
            begin=self.begin,
            give_up=give_up * MS,
            clock=self.clock,
            sleep=self.sleep,
            left=left,
        )
        return kept, starts, service, latency


def test_an_open_loop_that_keeps_up_calls_at_each_moment() -> None:
    kept, starts, service, latency = Time().loop([[0, 10, 20], [35]], [1, 2, 3, 4])
    assert starts == [0, 10, 20, 35]
    assert service == latency == [1, 2, 3, 4]
    assert (kept, kept.in_time) == (ScheduleStats(due=4, late=0, dropped=0, saturated=False), 4)


def test_what_waits_behind_a_slow_call_shows_it_in_its_latency_alone() -> None:
    kept, starts, service, latency = Time().loop([[0, 10, 20], [30, 40]], [25, 1, 1, 1, 1])
    assert starts == [0, 25, 26, 30, 40]
    assert service == [25, 1, 1, 1, 1]
    assert latency == [25, 16, 7, 1, 1]
    assert (kept, kept.in_time) == (ScheduleStats(due=5, late=2, dropped=0, saturated=False), 3)


def test_calls_at_moments_are_kept_from_the_first_on() -> None:
    time, chosen = Time(), iter([64, 0, 100, 0, 1_000])
    sample = KeptCalls(randrange=lambda _: next(chosen))
    moments = [np.zeros(1_024, np.int64)] * 2
    times = list[Any]().append
    open_loop(
        lambda place: place + 1, count(), moments, times, times,
        begin=time.begin, give_up=MS, clock=time.clock, sleep=time.sleep, sample=sample,
    )  # fmt: skip
    places = [place for first in (0, 128, 192, 548, 960) for place in range(first, first + 64)]
    assert sample.calls == [(place, place + 1) for place in places]
    assert sample.places == places


def test_making_keys_is_no_part_of_a_call_that_is_late() -> None:
    time, left = Time(), list[int]()

    def made() -> Iterator[int]:
        for work in (20, 20, 20, 3, 1):
            time.now += 5 * MS  # made between two chunks
            yield work

    kept, _, service, _ = time.loop([[20, 30], [40, 50], [60]], made(), give_up=80, left=left)
    assert service == [20, 20, 20]
    assert (kept.dropped, left) == (2, [3])


def test_a_start_within_a_millisecond_is_not_late() -> None:
    assert Time().loop([[0, 10, 20]], [11, 10, 1])[0].late == 0
    assert Time().loop([[0, 10, 20]], [12, 9, 1])[0].late == 1


def test_calls_that_could_not_be_made_in_time_are_dropped() -> None:
    kept, starts, service, latency = Time().loop([[0, 10], [20, 30]], [15, 30, 1, 1], give_up=40)
    assert starts == [0, 15]
    assert (service, latency) == ([15, 30], [15, 35])
    assert (kept, kept.in_time) == (ScheduleStats(due=4, late=1, dropped=2, saturated=True), 1)


def test_a_loop_that_is_behind_at_its_end_is_saturated() -> None:
    kept = Time().loop([[0, 1, 2, 3, 4, 5, 6, 7, 8]], [3] * 9)[0]
    assert kept == ScheduleStats(due=9, late=8, dropped=0, saturated=True)


def test_a_loop_without_moments_is_nothing() -> None:
    assert Time().loop([[]], []) == (ScheduleStats(0, 0, 0, saturated=False), [], [], [])


def test_what_the_operation_raises_goes_on_up() -> None:
    with pytest.raises(ZeroDivisionError):
        timed(lambda: 1 / 0, iter([1, 2]).__next__)
    with pytest.raises(ZeroDivisionError):
        streamed(lambda key: 1 / key, [1, 0], [1, 2, 3])


def test_the_collector_is_off_inside_and_on_again_after() -> None:
    with collector_off():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_is_on_again_after_an_exception() -> None:
    with pytest.raises(KeyError), collector_off():
        raise KeyError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with collector_off():
        pass
    assert not gc.isenabled()


def test_garbage_is_collected_before_the_block() -> None:
    class Ring:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            freed.append("ring")

    freed: list[str] = []
    gc.disable()  # so that nothing but collector_off collects it
    Ring()
    with collector_off():
        assert freed == ["ring"]


class Record:
    """A row that notes what is read of it."""

    def __init__(self, reads: list[int]) -> None:
        self.reads = reads

    def __getitem__(self, column: int) -> str:
        self.reads.append(column)
        return "value"


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("column", [0, 3])
def test_each_row_is_counted_and_one_column_of_it_read(count: int, column: int) -> None:
    reads: list[int] = []
    assert read_rows((Record(reads) for _ in range(count)), column) == count
    assert reads == [column] * count


def test_a_column_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError):
        read_rows([(1, 2), (1,)], 1)


def test_rows_of_batches_are_counted_and_one_column_of_each_read() -> None:
    batches = [pa.record_batch([range(rows)] * 3, names=["a", "b", "c"]) for rows in (3, 0, 4)]
    assert read_batches(batches, 2) == 7
    assert read_batches([], 2) == 0
    with pytest.raises(IndexError):
        read_batches(batches, 3)
    with pytest.raises(WrongAnswer, match="a query returned Record in place of an Arrow batch"):
        read_batches([Record([])], 0)
