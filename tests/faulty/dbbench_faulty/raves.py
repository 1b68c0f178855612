"""Says what no terminal should be told, and much of it."""

from __future__ import annotations

from collections.abc import Callable

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


class Raves(Faulty):
    title = "Faulty: \x1b[31mraves"

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            raise RuntimeError("\x1b[2J\x1b]0;owned\x07caf\udce9 \u202egnp\x00" + "y" * 300_000)
