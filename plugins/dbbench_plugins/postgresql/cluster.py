"""A private PostgreSQL server: how its cluster of databases is made, started and stopped."""

import contextlib
import ctypes
import os
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dbbench.engine import PrivateServer, ServerFailed
from dbbench_plugins.postgresql.programs import folder_of_programs

#: The folder of the database's files in the engine's directory.
FOLDER = "cluster"
_USER, _DATABASE, _PORT = "bench", "postgres", 5432
#: Places in the lines of postmaster.pid.
_SEGMENT, _STATUS = 6, 7
_IPC_RMID = 0

_SETTINGS = {
    "listen_addresses": "",
    "port": _PORT,
    # What parallel workers share lies in the server's memory, and beyond that in a file of the cluster's, which is
    # removed with it; where it lies by default, kill -9 would leave it.
    "dynamic_shared_memory_type": "mmap",
    "min_dynamic_shared_memory": "32MB",
    # Nothing is copied to another server, so that a load into a table truncated in its transaction needs no log.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # A server that starts anew by itself would hide that it crashed.
    "restart_after_crash": "off",
    # Without errors of statements, which the client gets.
    "log_min_messages": "log",
}


class Cluster(PrivateServer):
    """PostgreSQL at work in a directory; a second one on it, as in another process, joins the server that is there."""

    #: Who gets in: whoever can enter the socket's folder.
    authentication: tuple[str, ...] = ("-A", "trust")
    port = _PORT
    stop_signal = signal.SIGINT  # its fast shutdown, which doesn't wait for clients
    #: How it listens, where that isn't by the socket alone.
    listening: Mapping[str, Any] = {}

    def __init__(self, directory: Path) -> None:
        super().__init__("PostgreSQL", directory, ("postgres", "nobody"))
        for name in [name for name in os.environ if name.startswith("PG")]:
            del os.environ[name]  # libpq's own: PGHOSTADDR would lead it to another server

    @property
    def address(self) -> str:
        """A URL for libpq."""
        where = quote(f"{self.root}/socket", safe="")
        # Without options it would take those of the environment.
        return f"postgresql://{_USER}@/{_DATABASE}?host={where}&port={self.port}&options="

    def open(self, settings: Mapping[str, Any], programs: str = "") -> None:
        """Start the server with some settings, the first time in a new cluster, unless it runs already.

        `programs` is the folder of its programs, if it isn't to be looked for. Raises Unavailable and ServerFailed.
        """
        if self._listens():
            return
        folder = folder_of_programs(programs)
        cluster, sockets = f"{self.root}/{FOLDER}", self.folder("socket")
        if not (self.directory / FOLDER / "global" / "pg_control").exists():
            command = [f"{folder}/initdb", "-D", cluster, "-U", _USER, *self.authentication, "--locale=C", "-E", "UTF8"]
            self.set_up(FOLDER, command, f"{folder}/postgres")
        given = {**_SETTINGS, "unix_socket_directories": sockets, **self.listening, **settings}
        self.start(
            [f"{folder}/postgres", "-D", cluster, *(f"--{name}={value}" for name, value in given.items())], self._ready
        )
        self._give_up_segment()

    def _listens(self) -> bool:
        """Whether there is a server at the socket: a file alone may be what a killed one left."""
        with socket.socket(socket.AF_UNIX) as there:
            return there.connect_ex(f"{self.root}/socket/.s.PGSQL.{self.port}") == 0

    def _ready(self) -> None:
        if self._status(_STATUS) != "ready":
            raise ServerFailed("it does not yet take connections")

    def _status(self, line: int) -> str:
        """A line of what the server says of itself in a file; empty as long as there is none."""
        with contextlib.suppress(OSError, IndexError):
            lines = (self.directory / FOLDER / "postmaster.pid").read_text("utf-8").splitlines()
            if self.process and lines[0] == str(self.process.pid):  # and not what a killed one left
                return lines[line].strip()
        return ""

    def _give_up_segment(self) -> None:
        """Let its System V shared memory go with its last process, even if that is killed."""
        if segment := self._status(_SEGMENT):
            ctypes.CDLL(None).shmctl(int(segment.split()[1]), _IPC_RMID, None)
