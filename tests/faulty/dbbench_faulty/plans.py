"""SQLite whose plans can't be had, each in its own way, and one whose licence forbids to publish its figures."""

from __future__ import annotations

import os
import signal

from dbbench.engine import Publication, Unsupported
from dbbench_plugins.sqlite import SQLite, SQLiteSession


class Panic(BaseException):
    """As drivers in Rust raise it."""


class PanickingSession(SQLiteSession):
    def explain(self, sql: str) -> str:
        self.execute("BEGIN")
        raise Panic("no plan\nat all")


class PlanPanics(SQLite):
    """Leaves its transaction open, too."""

    name = "faulty-plan-panics"
    title = "Faulty: panics over a plan"
    session_class = PanickingSession


class RefusingSession(SQLiteSession):
    def explain(self, sql: str) -> str:
        raise Unsupported("no query plan available")


class PlanRefused(SQLite):
    name = "faulty-plan-refused"
    title = "Faulty: has no plan"
    session_class = RefusingSession


class KillingSession(SQLiteSession):
    def explain(self, sql: str) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


class PlanKills(SQLite):
    name = "faulty-plan-kills"
    title = "Faulty: dies over a plan"
    session_class = KillingSession


class Forbidden(SQLite):
    name = "faulty-forbidden"
    title = "Faulty: may not be published"
    publication = Publication.FORBIDDEN
    publication_note = "clause 5(e) of no licence"
