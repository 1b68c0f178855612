"""SQLite whose plans can't be had, each in its own way, one that leaves out its indexes, and one that may not be published."""

import os
import signal

from dbbench.engine import Dialect, Publication, Setup, Table, Unsupported
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteOptions, SQLiteSession


class Panic(BaseException):
    """As drivers in Rust raise it."""


class PlanPanics(Faulty):
    """Leaves its transaction open, too."""

    class session_class(SQLiteSession):
        def explain(self, sql: str) -> str:
            self.execute("BEGIN")
            raise Panic("no plan\nat all")


class PlanRefused(Faulty):
    """Has no plan."""

    class session_class(SQLiteSession):
        def explain(self, sql: str) -> str:
            raise Unsupported("no query plan available")


class PlanKills(Faulty):
    """Dies over a plan."""

    class session_class(SQLiteSession):
        def explain(self, sql: str) -> str:
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError


class Unindexed(Faulty):
    """Has no catalogue to ask for its indexes."""

    class options_class(SQLiteOptions):
        indexes: bool = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        kept = {**vars(self.sql), "indexed": ""}
        self.sql = (Dialect if self.options.indexes else _Bare)(**kept)


class _Bare(Dialect):
    def create_indexes(self, name: str, table: Table) -> list[str]:
        return []


class Forbidden(Faulty):
    title = "Faulty: may not be published"
    publication = Publication.FORBIDDEN
    publication_note = "clause 5(e) of no licence"
