"""Work on pieces in threads, some pieces ahead of the consumer: results in order, the memory bounded."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import psutil

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`function` of each item, on as many threads as this process may use cores.

    Worth it where the function spends its time outside the interpreter's lock, as numpy and Arrow do. At most two items
    for each thread are under way. Raises what the function raises, when its item's turn comes.
    """
    threads = cores()
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="dbbench-ahead")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(psutil.Process().cpu_affinity()) or 1
    except AttributeError:  # macOS doesn't say
        return psutil.cpu_count() or 1
