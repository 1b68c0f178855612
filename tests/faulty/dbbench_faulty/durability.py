"""SQLite that lies about its durability, each in its own way."""

import time
from collections.abc import Callable

from dbbench.engine import Session, Table, Tier
from dbbench_faulty.family import Faulty, Named
from dbbench_plugins.dict import Dict
from dbbench_plugins.sqlite import SQLiteSession

PROCESS = {Tier.PROCESS: {"journal_mode": "WAL", "synchronous": "OFF"}}


class Unsynced(Faulty):
    """Claims power without a sync."""

    durability = {Tier.POWER: {"journal_mode": "WAL", "synchronous": "OFF"}}


class Early(Faulty):
    """Acknowledges before it commits."""

    class session_class(SQLiteSession):
        """Commits every 200th time; the others only say so."""

        calls = 0

        def begin(self) -> None:
            if self.calls % 200 == 0:
                super().begin()

        def commit(self) -> None:
            self.calls += 1
            if self.calls % 200 == 0:
                super().commit()

    durability = PROCESS


class Half(Faulty):
    """Has no transactions."""

    class session_class(SQLiteSession):
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

    durability = PROCESS


class Once(Faulty):
    """Opens no database that is there already."""

    durability = PROCESS

    def open(self) -> None:
        if any(self.directory.iterdir()):
            raise RuntimeError("the database is damaged")
        super().open()


class Stuck(Faulty):
    """Hangs in its first commit."""

    class session_class(SQLiteSession):
        def commit(self) -> None:
            time.sleep(3600)

    durability = PROCESS


class Dying(Faulty):
    """Raises in its third commit."""

    class session_class(SQLiteSession):
        calls = 0

        def commit(self) -> None:
            super().commit()
            self.calls += 1
            if self.calls == 3:
                raise RuntimeError("no more commits today")

    durability = PROCESS


class OnlyLoads(Named, Dict):
    """Loads, and can commit nothing."""

    class session_class(Session):
        def prepare_load(self, name: str, table: Table) -> Callable[[object], object]:
            return len

    durability = PROCESS
