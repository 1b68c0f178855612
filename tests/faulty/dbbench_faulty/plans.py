"""SQLite whose plans can't be had, each in its own way, and one whose licence forbids to publish its figures."""

from __future__ import annotations

import os
import signal

from dbbench.engine import Publication, Unsupported
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


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


class Forbidden(Faulty):
    title = "Faulty: may not be published"
    publication = Publication.FORBIDDEN
    publication_note = "clause 5(e) of no licence"
