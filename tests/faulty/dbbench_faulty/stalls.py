"""SQLite whose statements now and then stand still, or are slow: for what a rate shows."""

import time
from collections.abc import Callable

from dbbench.engine import Concurrency
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession

#: Seconds from the first call to the first stall, from one stall to the next, and in a stall.
FIRST, EVERY, STALL = 2.0, 5.0, 1.0
#: Seconds of a slow call.
SLOW = 0.05


class Stalls(Faulty):
    class session_class(SQLiteSession):
        def prepare_statement(self, sql: str) -> Callable[[], object]:
            run = super().prepare_statement(sql)
            due = 0.0

            def stalling() -> object:
                nonlocal due
                now = time.monotonic()
                due = due or now + FIRST
                if now >= due:
                    due += EVERY
                    time.sleep(STALL)
                return run()

            return stalling


class Slow(Faulty):
    """Slow statements."""

    class session_class(SQLiteSession):
        def prepare_statement(self, sql: str) -> Callable[[], object]:
            run = super().prepare_statement(sql)

            def slow() -> object:
                time.sleep(SLOW)
                return run()

            return slow

    concurrency = Concurrency(threads=2)


class One(Faulty):
    """One client only."""

    concurrency = Concurrency()
