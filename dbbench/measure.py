"""The timed loops, and nothing else.

Only the prepared callable runs between two readings of the clock, and the garbage collector is off
there. Times are whole nanoseconds of `clock`, which tests replace by a scripted one.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, pairwise, repeat
from operator import call, itemgetter
from time import perf_counter_ns
from typing import Any, TypeVar

Clock = Callable[[], int]
T = TypeVar("T")


@contextmanager
def collector_off() -> Iterator[None]:
    """Collect garbage now, and not again until the block ends."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def timed(operation: Callable[[], T], clock: Clock = perf_counter_ns) -> tuple[int, T]:
    """One long call: (nanoseconds, what it returned)."""
    start = clock()
    result = operation()
    return clock() - start, result


def stream(operation: Callable[[], object], calls: int, clock: Clock = perf_counter_ns) -> list[int]:
    """Nanoseconds of each of `calls` calls, one clock reading each: the end of one is the start of the next.

    So the harness's own few nanoseconds between two calls count too; the null engine shows how many.
    """
    readings = [clock()]
    readings += [clock() for _ in map(call, repeat(operation, calls))]
    return [end - start for start, end in pairwise(readings)]


def read_rows(rows: Iterable[Sequence[Any]], column: int) -> int:
    """Step a cursor to its end, reading one column of each row; the number of rows.

    The loop runs in C, so that the harness adds as little as it can to each row.
    """
    counter = count()
    deque(zip(map(itemgetter(column), rows), counter, strict=False), maxlen=0)
    return next(counter)


def read_batches(batches: Iterable[Any], column: int) -> int:
    """Take each Arrow batch and one of its columns; the number of rows."""
    rows = 0
    for batch in batches:
        batch.column(column)
        rows += batch.num_rows
    return rows
