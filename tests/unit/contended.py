"""The steps of the suite contention, and an engine in memory whose sessions note what is done and fail when they are told."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

from dbbench.engine.base import Setup
from dbbench.engine.operations import Retry
from dbbench.engine.sql.dialect import Dialect
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.engine.traits import Concurrency
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier
from dbbench.suite.steps.contention import ContentionStep
from dbbench.workloads import contention
from dbbench.workloads.context import StepContext

SUITE = load_suite(find_suite("contention"))
SCENARIO = SUITE.scenarios[0]
ROUNDS = [step for step in SCENARIO.steps if isinstance(step, ContentionStep)]
TABLE = "Object"


class Refused(Exception):
    """What the fake raises where the system would have a transaction made again."""


class Store(SQLEngine):
    """Rows in a dict. `fail` is asked before each step of a transaction, and may raise."""

    name, title, license = "store", "Store", "MIT"
    sql = Dialect()
    durability = {Tier.POWER: {}}
    concurrency = Concurrency(threads=None, processes=1)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.rows: dict[int, str] = {}
        self.events: list[str] = []
        self.lock = threading.Lock()
        self.opened = self.most = self.busy = 0
        self.fail: Callable[[str], object] = lambda _what: None

    def connect(self) -> SQLSession:
        self.opened += 1
        return StoreSession(self)


class StoreSession(SQLSession):
    def __init__(self, store: Store) -> None:
        super().__init__(None, store.sql)
        self.store = store
        self.before: dict[int, str] | None = None

    def note(self, what: str) -> None:
        self.store.events.append(what)
        self.store.fail(what)

    def begin(self) -> None:
        self.note("begin")
        self.store.busy += 1
        self.store.most = max(self.store.most, self.store.busy)
        self.before = dict(self.store.rows)

    def begin_reading(self) -> None:
        self.note("begin reading")
        self.before = None

    def commit(self) -> None:
        self.note("commit")
        self._end()

    def rollback(self) -> None:
        if self.before is not None:
            self.store.rows = self.before
        self._end()
        self.store.events.append("rollback")

    def _end(self) -> None:
        if self.before is not None:
            self.store.busy -= 1
        self.before = None

    def retry_reason(self, exc: BaseException) -> Retry | None:
        return exc.args[0] if isinstance(exc, Refused) else None

    def close(self) -> None:
        self.store.opened -= 1

    def prepare_query(self, sql: str) -> Any:
        return lambda: [(len(self.store.rows),)]

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        word = sql.split(maxsplit=1)[0].lower()
        store = self.store

        def call(*values: Any) -> Any:
            self.note(word if word != "select" else f"select {rows or 'all'}")
            if word == "insert":
                assert values[0] not in store.rows
                store.rows[values[0]] = values[1]
            elif word == "update":
                store.rows[values[1]] = values[0]
            elif word == "delete":
                del store.rows[values[0]]
            elif rows == 1:
                return (values[0], store.rows[values[0]]) if values[0] in store.rows else None
            return [(key, text) for key, text in list(store.rows.items()) if not values or text == values[0]]

        return call


def step(**more: Any) -> ContentionStep:
    asked = {"clients": {"threads": 1}, **more}
    return ContentionStep.model_validate({"kind": "contention", "name": "s", "title": "S", "table": TABLE, **asked})


_STORE = Store(Setup(Path(), Tier.POWER))
_FILES = Mock(manifest={"scale": 1})
_CONTEXT = StepContext(_STORE, _STORE.connect(), SUITE.datasets["objects"].tables, _FILES, {})
WORK = replace(contention.transactions(ROUNDS[0], _CONTEXT), iterations=2, sub_iterations=3)
