"""The timed loops, and nothing else.

Only the prepared callable runs between two readings of the clock. The garbage collector is off there;
what a long loop makes of young garbage is collected between its chunks. Arguments are made before the
clock is read, a chunk at a time. Times are whole nanoseconds of `clock`, which tests replace by a
scripted one.

    timed        one long call
    stream       one call after another, one reading each (closed loop)
    stream_until the same for a time instead of a number of calls
    paced        one call after another, with a pause after each that no call's time includes
    open_loop    each call at its own moment, whether or not the one before it is done by then
"""

import gc
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import count, islice, tee
from operator import itemgetter
from time import perf_counter_ns
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.answers.compare import arrow_batch
from dbbench.loadgen.kept_calls import KeptCalls

Clock = Callable[[], int]
#: Takes the nanoseconds of some calls, in order.
Record = Callable[[NDArray[np.int64]], object]
#: Takes the readings at which some calls ended, and their nanoseconds, in order.
Seen = Callable[[NDArray[np.int64], NDArray[np.int64]], object]
#: What is done before and after some calls, and may be done many times, such as to read their CPU time.
Around = AbstractContextManager[Any]
_NOTHING: Around = nullcontext()
#: The rows of an Arrow batch; it takes nothing else.
_ROWS = pa.RecordBatch.num_rows.__get__
T = TypeVar("T")
K = TypeVar("K")

#: Calls of a stream whose arguments are made, and whose times are recorded, at a time.
CHUNK = 1_024
#: The nanoseconds that a chunk is to last where the clock says when it is enough.
PIECE = 10_000_000
#: A call that starts later than this after its moment, in nanoseconds, is late.
LATE = 1_000_000
#: The last nanoseconds before a moment are waited for by reading the clock: a sleep ends when it likes.
SPIN = 200_000


def timed(operation: Callable[[], T], clock: Clock = perf_counter_ns) -> tuple[int, T]:
    """One long call: (nanoseconds, what it returned)."""
    start = clock()
    result = operation()
    return clock() - start, result


def stream(
    operation: Callable[..., object],
    keys: Iterable[Any],
    record: Record,
    clock: Clock = perf_counter_ns,
    *,
    through: Callable[[Callable[..., object], Iterable[Any]], Iterable[object]] = map,
    at_once: int = CHUNK,
    seen: Seen | None = None,
    around: Around = _NOTHING,
    sample: KeptCalls | None = None,
) -> None:
    """One call for each key, one clock reading each: the end of one is the start of the next.

    So the harness's own few nanoseconds between two calls count too; the null engine shows how many. `through` is
    `map`, or `starmap` where what a call takes is spread over its arguments. The keys of `at_once` calls are held.
    `around` is entered before the first reading of each chunk, and left after the last. `sample` takes some calls'
    results.
    """
    rest = iter(keys)
    while (taken := _taken(rest, at_once, sample))[0]:
        _chunk(operation, taken, record, clock, through, seen, around)


def stream_until(
    operation: Callable[..., object],
    keys: Iterable[Any],
    record: Record,
    end: int,
    clock: Clock = perf_counter_ns,
    *,
    through: Callable[[Callable[..., object], Iterable[Any]], Iterable[object]] = map,
    at_once: int = CHUNK,
    seen: Seen | None = None,
    around: Around = _NOTHING,
    sample: KeptCalls | None = None,
) -> None:
    """Calls as `stream` makes them, until the clock reads `end`, or the keys are over.

    It looks between two chunks, for within one that would be timed. A chunk has one call at first, and as many as
    last 10 ms then; so the loop is over at most so long, or one call, after `end`.
    """
    rest, size = iter(keys), 1
    while clock() < end and (taken := _taken(rest, size, sample))[0]:
        took = _chunk(operation, taken, record, clock, through, seen, around)
        if took < PIECE // 2:
            size = min(size * 2, at_once)
        elif took > PIECE:
            size = max(size // 2, 1)


#: What the calls of a chunk take, and what keeps their results if they are kept.
_Taken = tuple[list[Any], KeptCalls | None]


def _taken(rest: Iterator[Any], size: int, sample: KeptCalls | None) -> _Taken:
    if sample is None:
        return list(islice(rest, size)), None
    chunk, keeps = sample.take(rest, size)
    return chunk, sample if keeps else None


def _chunk(
    operation: Callable[..., object],
    taken: _Taken,
    record: Record,
    clock: Clock,
    through: Callable[[Callable[..., object], Iterable[Any]], Iterable[object]],
    seen: Seen | None,
    around: Around,
) -> int:
    """The calls of one chunk, and then the books; the nanoseconds of all of them."""
    chunk, sample = taken
    results: Iterable[object] = through(operation, chunk)
    if sample is not None:
        results, returned = tee(results)
    with around:
        readings = [clock()]
        readings += [clock() for _ in results]
    if sample is not None:
        sample.add(chunk, returned)
    times = np.fromiter(readings, np.int64, len(readings))
    durations = times[1:] - times[:-1]
    record(durations)
    if seen is not None:
        seen(times[1:], durations)
    gc.collect(0)
    return readings[-1] - readings[0]


def paced(
    operation: Callable[[K], object],
    keys: Iterable[K],
    pauses: Iterator[float],
    record: Record,
    end: int | None = None,
    clock: Clock = perf_counter_ns,
    *,
    sleep: Callable[[float], object] = time.sleep,
    at_once: int = CHUNK,
    seen: Seen | None = None,
    around: Around = _NOTHING,
    sample: KeptCalls | None = None,
) -> None:
    """One call for each key, and after it a pause in seconds; until the clock reads `end`, if it is given.

    A pause is asked for after its call was made, and ends at `end`. The times of `at_once` calls are held.
    """
    readings: list[tuple[int, int]] = []

    def books() -> None:
        times = np.array(readings, np.int64).reshape(-1, 2)
        durations = times[:, 1] - times[:, 0]
        record(durations)
        if seen is not None:
            seen(times[:, 1], durations)
        readings.clear()
        gc.collect(0)

    rest = iter(keys)
    while (end is None or clock() < end) and (taken := _taken(rest, 1, sample))[0]:
        one, keeping = taken
        with around:
            start = clock()
            returned = operation(one[0])
            now = clock()
        if keeping is not None:
            keeping.add(one, [returned])
        readings.append((start, now))
        resume = now + round(next(pauses) * 1e9)
        if len(readings) == at_once:
            books()
        left = (resume if end is None else min(resume, end)) - clock()
        if left > 0:
            sleep(left / 1e9)
    if readings:
        books()


@dataclass(frozen=True)
class ScheduleStats:
    """How an open loop kept to its schedule. `late` calls were made; `dropped` ones were not.

    `saturated`: calls were dropped, or every call of the last quarter of the schedule was behind it. Such
    a loop's latencies say how long it ran, and nothing of the system.
    """

    due: int
    late: int
    dropped: int
    saturated: bool

    @property
    def in_time(self) -> int:
        """Calls that started in time."""
        return self.due - self.late - self.dropped


def open_loop(
    operation: Callable[[K], object],
    keys: Iterable[K],
    moments: Iterable[NDArray[np.int64]],
    service: Record,
    latency: Record,
    *,
    begin: int,
    give_up: int,
    behind: int = LATE,
    clock: Clock = perf_counter_ns,
    sleep: Callable[[float], object] = time.sleep,
    seen: Seen | None = None,
    left: list[K] | None = None,
    sample: KeptCalls | None = None,
) -> ScheduleStats:
    """A call at each moment (nanoseconds after the reading `begin`), at once if the one before it took longer.

    Service time counts from when the call was made, latency from when it was to be made: what waits
    behind a slow call has waited too, and shows it (no coordinated omission). Calls that could not be
    made until `give_up` (after `begin`) are dropped; keys that were taken for them go to `left`. A call is behind its
    schedule when it is made more than `behind` nanoseconds after its moment.
    """
    rest, end = iter(keys), begin + give_up
    due = late = dropped = 0
    last, kept_up = 0, -1  # the last moment so far, and the last that was met

    def pieces() -> Iterator[NDArray[np.int64]]:
        for whole in moments:
            while len(whole):
                size = sample.left if sample is not None and not dropped else len(whole)
                yield whole[:size]
                whole = whole[size:]  # noqa: PLW2901 - what is left of it

    for chunk in pieces():
        starts, ends = [], []
        last_results = deque[object](maxlen=sample.most if sample is not None else 0)
        taken = [] if dropped else list(islice(rest, len(chunk)))  # after a dropped call none is made
        now = clock()
        for moment, key in zip((chunk + begin).tolist(), taken, strict=not dropped):
            while now < moment:
                sleep(max(moment - now - SPIN, 0) / 1e9)  # a sleep of 0 lets other threads go on
                now = clock()
            if now >= end:
                break
            starts.append(now)
            returned = operation(key)
            now = clock()
            ends.append(now)
            last_results.append(returned)
        if sample is not None:
            sample.after(taken[: len(ends)], last_results)
        made = np.array([starts, ends], np.int64) - begin
        waited = made[0] - chunk[: len(starts)]
        service(made[1] - made[0])
        latency(made[1] - chunk[: len(starts)])
        if seen is not None:
            seen(made[1] + begin, made[1] - chunk[: len(starts)])
        due += len(chunk)
        late += int(np.count_nonzero(waited > LATE))
        dropped += len(chunk) - len(starts)
        if left is not None:
            left += taken[len(starts) :]
        last = int(chunk[-1])
        kept_up = int(chunk[: len(starts)][waited <= behind].max(initial=kept_up))
        gc.collect(0)
    return ScheduleStats(due, late, dropped, saturated=dropped > 0 or (due > 0 and kept_up < last * 3 // 4))


def read_rows(rows: Iterable[Sequence[Any]], column: int) -> int:
    """Step a cursor to its end, reading one column of each row; the number of rows.

    The loop runs in C, so that the harness adds as little as it can to each row.
    """
    counter = count()
    deque(zip(map(itemgetter(column), rows), counter, strict=False), maxlen=0)
    return next(counter)


def read_column(rows: Iterable[Sequence[Any]], column: int) -> list[Any]:
    """Step a cursor to its end, keeping one column of each row.

    In C as well: to keep a value takes less time than to count a row.
    """
    return list(map(itemgetter(column), rows))


def read_batches(batches: Iterable[Any], column: int) -> int:
    """Take each Arrow batch and one of its columns; the number of rows. Raises as `read_batches_column` does."""
    rows, given = 0, None
    try:
        for given in batches:
            rows += _ROWS(given)
            given.column(column)
    except TypeError:
        if given is not None:
            arrow_batch(given)
        raise
    return rows


def read_batches_column(batches: Iterable[Any], column: int) -> list[Any]:
    """Take each Arrow batch and keep one of its columns. Raises WrongAnswer for batches that aren't Arrow's."""
    given = None
    try:
        return [batch.column(column) for batch in batches if _ROWS(given := batch)]
    except TypeError:
        if given is not None:
            arrow_batch(given)
        raise


def read_own_column(rows: Any, column: int) -> Any:
    """Have rows that can do so step to their end and read one column, whose values become Python's when asked for."""
    return rows.column(column)


def read_own_rows(rows: Any, column: int) -> int:
    """Likewise; the number of rows."""
    return len(rows.column(column))


#: How a session returns rows -> what steps to the end, reads one column of each row, and gives the number of rows.
COUNTING: Mapping[str, Callable[[Any, int], int]] = {
    "rows": read_rows,
    "batches": read_batches,
    "columns": read_own_rows,
}
#: The same, for what keeps that column: its values, or of batches its Arrow arrays.
KEEPING: Mapping[str, Callable[[Any, int], Any]] = {
    "rows": read_column,
    "batches": read_batches_column,
    "columns": read_own_column,
}
