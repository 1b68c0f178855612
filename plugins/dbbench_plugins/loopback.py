"""TCP on loopback, for the engines that are asked to be reached by it: a random port of 127.0.0.1, and a password.

Private servers else listen on a Unix socket only, which the mode of its folder guards. Any user of the machine can
reach a port; so nobody gets in by it without the password, which lies in the engine's directory (mode 0700).
"""

import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
USER = "loopback"
#: Why such an engine waits to be named.
OPENS = f"it opens a port of {HOST}, behind a random password"
_FILE = "loopback.json"


@dataclass(frozen=True)
class Loopback:
    """TCP address of a private server, and its password."""

    port: int
    password: str = field(repr=False)

    @property
    def answers(self) -> bool:
        """Whether somebody listens there."""
        with socket.socket() as there:
            return there.connect_ex((HOST, self.port)) == 0


def loopback(directory: Path) -> Loopback:
    """Address of the server in a directory: as another process has started it, or a new one."""
    path = directory / _FILE
    if path.exists():
        found = Loopback(**json.loads(path.read_text("utf-8")))
        if found.answers:
            return found
    with (
        socket.socket() as free
    ):  # the server takes the port a moment later; should another be faster it fails, and says so
        free.bind((HOST, 0))
        made = Loopback(free.getsockname()[1], secrets.token_hex(16))
    write(path, json.dumps(asdict(made)))
    return made


def write(path: Path, text: str) -> None:
    """Write a file that nobody else may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
