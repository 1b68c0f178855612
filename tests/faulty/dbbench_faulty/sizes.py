"""Sizes that are too good, of engines that lie in a way each."""

import ctypes
import mmap
import os
import pickle
import sqlite3
import tempfile
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


class Deleted(Vectors):
    """They are in a deleted file that is only read, and junk is on disk."""

    folder: ClassVar[str | None] = None

    def keep(self, content: bytes) -> None:
        (self.directory / "stub").write_bytes(bytes(8_000))
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            file.write(content)
            file.flush()
            self.hide(file.name)

    def hide(self, name: str) -> None:
        self.kept = open(name, "rb")  # noqa: SIM115 - as long as the process


class Shared(Deleted):
    """They are in the memory that processes share, in a file that is only read."""

    folder = "/dev/shm"

    def hide(self, name: str) -> None:
        os.link(name, f"{name}-kept")
        super().hide(f"{name}-kept")


def map_file(name: str) -> None:
    """Map a file, to be shared, for as long as the process lives. Python's own mapping would keep the file open."""
    call = ctypes.CDLL(None).mmap
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    call.restype = ctypes.c_void_p
    with open(name, "r+b") as file:
        call(None, os.fstat(file.fileno()).st_size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file.fileno(), 0)


class Mapped(Deleted):
    """They are in a file that is mapped and closed."""

    def hide(self, name: str) -> None:
        map_file(name)
