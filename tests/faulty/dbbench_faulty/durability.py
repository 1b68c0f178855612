"""SQLite that lies about its durability, each in its own way."""

from __future__ import annotations

import time
from collections.abc import Callable

from dbbench.engine import Tier
from dbbench_plugins.sqlite import SQLite, SQLiteSession

PROCESS = {Tier.PROCESS: {"journal_mode": "WAL", "synchronous": "OFF"}}


class Unsynced(SQLite):
    name = "faulty-unsynced"
    title = "Faulty: claims power without a sync"
    durability = {Tier.POWER: {"journal_mode": "WAL", "synchronous": "OFF"}}


class EarlySession(SQLiteSession):
    """Commits every twentieth time; the others only say so."""

    calls = 0

    def begin(self) -> None:
        if self.calls % 20 == 0:
            super().begin()

    def commit(self) -> None:
        self.calls += 1
        if self.calls % 20 == 0:
            super().commit()


class Early(SQLite):
    name = "faulty-early"
    title = "Faulty: acknowledges before it commits"
    session_class = EarlySession
    durability = PROCESS


class HalfSession(SQLiteSession):
    """Each row commits by itself, the second some time after the first."""

    first = False

    def begin(self) -> None:
        self.first = True

    def commit(self) -> None: ...

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        run = super().prepare_statement(sql)

        def slow() -> None:
            run()
            if self.first:
                self.first = False
                time.sleep(0.01)

        return slow


class Half(SQLite):
    name = "faulty-half"
    title = "Faulty: has no transactions"
    session_class = HalfSession
    durability = PROCESS


class Once(SQLite):
    name = "faulty-once"
    title = "Faulty: opens no database that is there already"
    durability = PROCESS

    def open(self) -> None:
        if any(self.directory.iterdir()):
            raise RuntimeError("the database is damaged")
        super().open()


class StuckSession(SQLiteSession):
    def commit(self) -> None:
        time.sleep(3600)


class Stuck(SQLite):
    name = "faulty-stuck"
    title = "Faulty: hangs in its first commit"
    session_class = StuckSession
    durability = PROCESS


class DyingSession(SQLiteSession):
    calls = 0

    def commit(self) -> None:
        super().commit()
        self.calls += 1
        if self.calls == 3:
            raise RuntimeError("no more commits today")


class Dying(SQLite):
    name = "faulty-dying"
    title = "Faulty: raises in its third commit"
    session_class = DyingSession
    durability = PROCESS
