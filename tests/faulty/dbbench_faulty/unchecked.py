"""SQLite without what finds lies at run time, for benchmarks of what that costs."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.runs.acknowledged import Acknowledged
from dbbench.workloads import promises
from dbbench_faulty.family import Faulty


class Unchecked(Faulty):
    """Keeps no call's result, has nothing copied, and no floor looked at."""

    def open(self) -> None:
        super().open()
        Acknowledged.wants = lambda *_: False  # type: ignore[method-assign]
        promises.floor = lambda *_: promises.Floor()
        KeptCalls.take = _taken  # type: ignore[method-assign]


def _taken(_calls: KeptCalls, rest: Iterator[Any], size: int) -> tuple[list[Any], bool]:
    return list(islice(rest, size)), False
