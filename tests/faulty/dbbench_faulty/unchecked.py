"""SQLite without what finds lies at run time, for benchmarks of what that costs."""

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.workloads import promises
from dbbench_faulty.family import Faulty


class Unchecked(Faulty):
    """Keeps no call's result, has nothing copied, and no floor looked at."""

    def open(self) -> None:
        super().open()
        worker: Any = sys.modules["__main__"]
        if hasattr(worker, "Worker"):
            worker.Worker._wants_copy = lambda *_: False
            promises.floor = lambda *_: promises.Floor()
            KeptCalls.take = _taken  # type: ignore[method-assign]


def _taken(_calls: KeptCalls, rest: Iterator[Any], size: int) -> tuple[list[Any], bool]:
    return list(islice(rest, size)), False
