"""SQLite whose queries can be made slower by a given share, as a regression would."""

from __future__ import annotations

import time
from collections.abc import Callable

from pydantic import Field

from dbbench.engine import Rows
from dbbench_plugins.sqlite import SQLite, SQLiteOptions, SQLiteSession


class SlowedOptions(SQLiteOptions):
    percent: int = Field(default=0, ge=0, description="how much longer a query takes")


class SlowedSession(SQLiteSession):
    percent = 0

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        run = super().prepare_query(sql)

        def slowed() -> Rows:
            start = time.perf_counter_ns()
            rows = list(run())  # most of a query's time is in stepping it
            end = time.perf_counter_ns()
            end += (end - start) * self.percent // 100
            while time.perf_counter_ns() < end:
                pass
            return rows

        return slowed


class Slowed(SQLite):
    name = "faulty-slowed"
    title = "Faulty: slowed down"
    options_class = SlowedOptions
    session_class = SlowedSession

    def connect(self) -> SlowedSession:
        session = super().connect()
        session.percent = self.options.percent
        return session
