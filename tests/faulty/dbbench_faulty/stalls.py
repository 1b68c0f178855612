"""SQLite whose statements now and then stand still, or are slow: for what a rate shows."""

from __future__ import annotations

import time
from collections.abc import Callable

from dbbench.engine import Concurrency
from dbbench_plugins.sqlite import SQLite, SQLiteSession

#: Seconds from the first call to the first stall, from one stall to the next, and in a stall.
FIRST, EVERY, STALL = 2.0, 5.0, 1.0
#: Seconds of a slow call.
SLOW = 0.05


class StallingSession(SQLiteSession):
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


class Stalls(SQLite):
    name = "faulty-stalls"
    title = "Faulty: stalls"
    session_class = StallingSession


class SlowSession(SQLiteSession):
    def prepare_statement(self, sql: str) -> Callable[[], object]:
        run = super().prepare_statement(sql)

        def slow() -> object:
            time.sleep(SLOW)
            return run()

        return slow


class Slow(SQLite):
    name = "faulty-slow"
    title = "Faulty: slow statements"
    session_class = SlowSession
    concurrency = Concurrency(threads=2)


class One(SQLite):
    name = "faulty-one"
    title = "Faulty: one client only"
    concurrency = Concurrency()
