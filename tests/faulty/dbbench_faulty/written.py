"""Stores with a log whose commits are to survive a loss of power. All but one write or sync it at another time than they say."""

from __future__ import annotations

import os
import pickle
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Queue
from typing import Any, ClassVar

from dbbench.engine import Session, Size, Table, Tier
from dbbench_faulty.family import Named
from dbbench_plugins.dict import Dict, DictSession
from dbbench_plugins.sqlite import SQLite, SQLiteSession


class LogSession(DictSession):
    def __init__(self, store: Honest) -> None:
        super().__init__(store.held)
        self.store = store

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        store = self.store

        def insert(key: bytes, value: bytes) -> None:
            store.held[key] = value
            store.queue.append((key, value))
            store.wrote()

        return insert

    prepare_update = prepare_insert


class Honest(Named, Dict):
    """Writes and syncs each commit before it returns."""

    durability: ClassVar = {Tier.PROCESS: {}, Tier.POWER: {}}
    session_class = LogSession

    def open(self) -> None:
        super().open()
        self.queue: list[Any] = []
        self.log = open(self.directory / "log", "a+b")  # noqa: SIM115 - until it is closed
        self.log.seek(0)
        while self.log.peek(1):
            self.held.update(pickle.load(self.log))

    def connect(self) -> Session:
        return self.session_class(self)

    def wrote(self) -> None:
        self.settle()

    def settle(self) -> None:
        if self.queue:
            pickle.dump(dict(self.queue), self.log)
            self.queue.clear()
            self.log.flush()
            os.fdatasync(self.log.fileno())

    def size(self) -> Size:
        return Size(())

    def close(self) -> None:
        self.settle()
        self.log.close()


class Queues(Honest):
    """Writes when the next session is opened."""

    def wrote(self) -> None: ...

    def connect(self) -> Session:
        self.settle()
        return super().connect()


class Closes(Honest):
    """Writes when it is closed."""

    def wrote(self) -> None: ...


class Asks(Queues):
    """Writes when it is asked for its processes, as after a step."""

    def processes(self) -> Sequence[int]:
        if "log" in vars(self):
            self.settle()
        return ()


class Later(Queues):
    """Writes each commit in the first round alone."""

    def wrote(self) -> None:
        if "-round1-" in sys.argv[1]:
            self.settle()


class Leaves(Queues):
    """Writes what a client of several has committed when that closes its session."""

    class session_class(LogSession):
        def close(self) -> None:
            self.store.settle()

    def wrote(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.settle()


class Unopened(Closes):
    """Writes when it is closed; until then nobody can open its folder."""

    def open(self) -> None:
        files = [*self.directory.iterdir()]
        super().open()
        if files and not self.held:
            raise FileNotFoundError("the log has no end")


class Linked(Closes):
    """Writes when it is closed; a link leads out of its folder."""

    def open(self) -> None:
        super().open()
        if not (self.directory / "current").is_symlink():
            (self.directory / "current").symlink_to("/")


class Fiftieth(Queues):
    """Writes each fiftieth commit, and the rest when the next session is opened."""

    def wrote(self) -> None:
        if len(self.queue) == 50:
            self.settle()


class Behind(Queues):
    """Writes in a thread of its own, two seconds later; a new session waits for it."""

    writing: threading.Thread | None = None

    def wrote(self) -> None:
        if self.writing is None:
            self.writing = threading.Thread(target=self.write)
            self.writing.start()

    def write(self) -> None:
        time.sleep(2)
        self.settle()

    def connect(self) -> Session:
        if self.writing is not None:
            self.writing.join()
            self.writing = None
        return super().connect()


class Unsynced(Honest):
    """Writes each commit to the kernel, and leaves it to it when the disk gets it."""

    def settle(self) -> None:
        if self.queue:
            pickle.dump(dict(self.queue), self.log)
            self.queue.clear()
            self.log.flush()


class Tenth(Unsynced):
    """Syncs each tenth commit."""

    commits, each = 0, 10

    def settle(self) -> None:
        super().settle()
        self.commits += 1
        if self.commits % self.each == 0:
            os.fdatasync(self.log.fileno())


class Fifth(Unsynced):
    """Syncs each fifth commit; after the others it waits for nothing, and writes a page that nobody needs."""

    commits = 0

    def open(self) -> None:
        super().open()
        self.pages = open(self.directory / "pages", "wb", buffering=0)  # noqa: SIM115 - until it is closed

    def settle(self) -> None:
        super().settle()
        self.commits += 1
        if self.commits % 5 == 0:
            os.fdatasync(self.log.fileno())
        else:
            time.sleep(1e-6)
            self.pages.write(bytes(4096))

    def close(self) -> None:
        super().close()
        self.pages.close()


class Hundredth(Tenth):
    """Syncs each hundredth commit."""

    each = 100


class Watched(Unsynced):
    """Syncs while something traces it, as what counts syncs does."""

    def settle(self) -> None:
        super().settle()
        if "TracerPid:\t0\n" not in Path("/proc/self/status").read_text("ascii"):
            os.fdatasync(self.log.fileno())


class Unlinked(Honest, family="sizes"):
    """Its only file is deleted, and open."""

    durability: ClassVar = {Tier.MEMORY: {}}

    def open(self) -> None:
        super().open()
        (self.directory / "log").unlink()


class Memory(Honest):
    """Syncs each commit to a file in shared memory."""

    def open(self) -> None:
        super().open()
        self.log.close()
        self.log = tempfile.NamedTemporaryFile("a+b", prefix="dbbench-written-", dir="/dev/shm")  # noqa: SIM115


class Asynchronous(Honest):
    """Answers, and has a thread write and sync each commit; a new session waits for it."""

    def open(self) -> None:
        super().open()
        self.commits: Queue[Any] = Queue()
        threading.Thread(target=self.write, daemon=True).start()

    def wrote(self) -> None:
        self.commits.put(self.queue.pop())

    def write(self) -> None:
        while True:
            commit = self.commits.get()
            pickle.dump(dict([commit]), self.log)
            self.log.flush()
            os.fdatasync(self.log.fileno())
            self.commits.task_done()

    def connect(self) -> Session:
        self.commits.join()
        return super().connect()


class Groups(Honest):
    """Answers, and has a thread sync all commits of some milliseconds at once."""

    closing = False

    def open(self) -> None:
        super().open()
        self.thread = threading.Thread(target=self.write)
        self.thread.start()

    def wrote(self) -> None: ...

    def write(self) -> None:
        while not self.closing:
            time.sleep(0.02)
            group, self.queue = self.queue, []
            if group:
                pickle.dump(dict(group), self.log)
                self.log.flush()
                os.fdatasync(self.log.fileno())

    def connect(self) -> Session:
        while self.queue:
            time.sleep(0.01)
        return super().connect()

    def close(self) -> None:
        self.closing = True
        self.thread.join()
        super().close()


class World(Honest):
    """Keeps all in a dict of the process, which is there when it is opened again."""

    world: ClassVar[dict[str, dict[bytes, bytes]]] = {}

    def open(self) -> None:
        super().open()
        self.held = self.world.setdefault(str(self.directory), {})

    def settle(self) -> None:
        self.queue.clear()


class Asked(Named, SQLite):
    """SQLite that doesn't sync, and answers that it does."""

    sync_queries: ClassVar = {"synchronous": "SELECT 'FULL'"}

    def connect(self) -> Session:
        session = super().connect()
        assert isinstance(session, SQLiteSession)
        session.execute("PRAGMA synchronous = OFF")
        return session


class Shared(Named, SQLite):
    """SQLite in memory that its sessions share, without a file."""

    sync_queries: ClassVar = {}

    def _raw(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:written{os.getpid()}?mode=memory&cache=shared",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )

    def pragmas(self) -> dict[str, Any]:
        return {}

    def flush(self) -> None: ...


class Idle(Named, SQLite):
    """Neither deletes nor inserts the rows of a churn, after which all is as it was."""

    class session_class(SQLiteSession):
        loads = 0

        def prepare_statement(self, sql: str) -> Callable[[], object]:
            return (lambda: None) if sql.startswith("DELETE") else super().prepare_statement(sql)

        def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
            self.loads += 1
            return super().prepare_load(name, table) if self.loads == 1 else lambda _rows: None


class Finishes(Named, SQLite):
    """Commits the transactions of a churn when it is asked what ends a load."""

    class session_class(SQLiteSession):
        loading = False

        def begin_load(self, tables: Mapping[str, Table]) -> None:
            self.loading = True
            super().begin_load(tables)

        def begin(self) -> None:
            if not self.connection.in_transaction:
                super().begin()

        def commit(self) -> None:
            if self.loading:
                self.loading = False
                super().commit()

        def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[Any, Callable[[], object]]:
            if not tables and self.connection.in_transaction:
                super().commit()
            return super().prepare_finish(tables)


class OpenSession(SQLiteSession):
    """Leaves its transaction open."""

    closed = False

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return self.within(super().prepare_insert())

    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        return self.within(super().prepare_update())

    def within(self, write: Callable[[bytes, bytes], object]) -> Callable[[bytes, bytes], object]:
        def run(key: bytes, value: bytes) -> None:
            if not self.connection.in_transaction:
                self.begin()
            write(key, value)

        return run

    def close(self) -> None:
        self.settle()
        self.closed = True
        super().close()

    def settle(self) -> None:
        if not self.closed and self.connection.in_transaction:
            self.execute("COMMIT")


class Connects(Named, SQLite):
    """Commits when the next session is opened."""

    session_class = OpenSession
    latest: OpenSession | None = None

    def connect(self) -> Session:
        if self.latest is not None:
            self.latest.settle()
        session = super().connect()
        assert isinstance(session, OpenSession)
        self.latest = session
        return session
