"""Says what no terminal should be told, and much of it."""

import os
from collections.abc import Callable

from dbbench.engine import Rows
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


class Raves(Faulty):
    title = "Faulty: \x1b[31mraves"

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            raise RuntimeError("\x1b[2J\x1b]0;owned\x07caf\udce9 \u202egnp\x00" + "y" * 300_000)


class Repeats(Faulty):
    """Repeats the URL that it was given, in its words and in raw output."""

    url_example = "faulty://me@host/database"

    def open(self) -> None:
        os.write(1, f"connecting to {self.url}\n".encode())
        os.write(2, f"no server at {self.url}\n".encode())
        raise RuntimeError(f"can't reach {self.url!r}")
