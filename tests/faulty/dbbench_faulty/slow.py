"""SQLite whose queries or reads can be made slower by a given share, as a regression would."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import cycle

from pydantic import Field

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteOptions, SQLiteSession


class SlowedOptions(SQLiteOptions):
    percent: int = Field(default=0, ge=0, description="how much longer a query takes")


class Slowed(Faulty):
    """Slowed down."""

    options_class = SlowedOptions

    class session_class(SQLiteSession):
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

    def connect(self) -> Slowed.session_class:
        session = super().connect()
        session.percent = self.options.percent
        return session


class RereadsOptions(SQLiteOptions):
    percent: int = Field(
        default=0, ge=0, le=100, description="the share of the reads, in per cent, with which another read is done"
    )


class Rereads(Faulty):
    """What it does more is work, and no waiting: it takes CPU time too, and all the longer where others take the processor."""

    options_class = RereadsOptions

    class session_class(SQLiteSession):
        percent = 0

        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            read = super().prepare_read(snapshot=snapshot)
            twice = cycle([(number + 1) * self.percent // 100 > number * self.percent // 100 for number in range(100)])
            earlier: deque[bytes] = deque(maxlen=500)  # the same key again would be read faster than the first time

            def reread(key: bytes) -> bytes | None:
                earlier.append(key)
                if next(twice):
                    read(earlier[0])
                return read(key)

            return reread

    def connect(self) -> Rereads.session_class:
        session = super().connect()
        session.percent = self.options.percent
        return session
