"""Sizes that are too good, of engines that lie in a way each."""

import os
import pickle
import sqlite3
from contextlib import closing
from typing import Any, ClassVar

from dbbench.engine import FileRole
from dbbench_faulty.family import Faulty
from dbbench_faulty.right import VectorFile


class Reserved(Faulty):
    """Its files are logs that no recovery reads, it says."""

    def file_role(self, name: str) -> FileRole:
        return "reserved"


class Unflushed(Faulty):
    """Its rows stay in the log, which a flush should have emptied."""

    def pragmas(self) -> dict[str, Any]:
        return {**super().pragmas(), "wal_autocheckpoint": 0}

    def flush(self) -> None:
        pass


class Inflated(Faulty):
    """The empty database has a file that isn't there any more when the rows are."""

    def open(self) -> None:
        if not (self.directory / "data.sqlite").exists():
            (self.directory / "more").write_bytes(bytes(os.urandom(400_000)))
        super().open()

    def flush(self) -> None:
        (self.directory / "more").unlink(missing_ok=True)
        super().flush()


class Swollen(Faulty):
    """The empty database has many pages, into which the rows are put."""

    def open(self) -> None:
        super().open()
        with closing(sqlite3.connect(self.path)) as connection:
            if not connection.execute("SELECT * FROM sqlite_master").fetchone():
                connection.execute("CREATE TABLE more AS SELECT zeroblob(8000000)")
                connection.execute("DROP TABLE more")


class Vectors(VectorFile):
    """The vectors are in memory, and a byte is on disk."""

    memory: ClassVar[Any] = b""

    def open(self) -> None:
        super().open()
        self.load()

    def load(self) -> None:
        self.held = []
        if self.memory:
            self.metric, self.centres, self.all = pickle.loads(bytes(self.memory))

    def save(self) -> None:
        type(self).memory = pickle.dumps((self.metric, self.centres, self.all))
        self.keep(self.memory)

    def keep(self, content: bytes) -> None:
        (self.directory / "stub").write_bytes(b"x")
