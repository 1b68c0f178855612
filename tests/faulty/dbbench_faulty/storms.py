"""SQLite among many clients: a system that refuses every transaction, one that stays locked, clients that die."""

import os
import signal
import sqlite3
import sys
from typing import Any

from dbbench.engine import Concurrency
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


class Storm(Faulty):
    """A conflict in every transaction."""

    class session_class(SQLiteSession):
        def begin(self) -> None:
            refused = sqlite3.OperationalError("database is locked")
            refused.sqlite_errorcode = 517  # SQLITE_BUSY_SNAPSHOT
            raise refused


class Locked(Faulty):
    """Locked all the time."""

    def _connection(self) -> Any:
        connection = super()._connection()
        connection.execute("PRAGMA busy_timeout = 10")
        return connection

    def statistics(self) -> dict[str, int]:
        self.connection.execute("BEGIN IMMEDIATE")  # before the clients start, and for good
        return {}


class ClientDies(Faulty):
    """A client process is killed."""

    class session_class(SQLiteSession):
        commits = 0

        def commit(self) -> None:
            super().commit()
            self.commits += 1
            if self.commits == 10 and "loadgen" in sys.argv[0]:  # in a process of clients
                os.kill(os.getpid(), signal.SIGKILL)


class ThreadDies(Faulty):
    """A client thread ends."""

    class session_class(SQLiteSession):
        commits = 0

        def commit(self) -> None:
            super().commit()
            self.commits += 1
            if self.commits == 10:
                raise RuntimeError("this thread has had enough")

    concurrency = Concurrency(threads=None, processes=1)


class Loses(Faulty):
    """An update is lost."""

    class session_class(SQLiteSession):
        def prepare_call(self, sql: str, rows: int | None = None) -> Any:
            call = super().prepare_call(sql, rows)
            return (lambda *_values: None) if sql.startswith("UPDATE") else call
