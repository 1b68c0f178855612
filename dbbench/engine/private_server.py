"""A private server: a program that listens on a Unix socket of its own and is gone with its engine.

The path of a socket may have 107 bytes, that of a run directory any number; and a server that refuses to run
as root can't enter a folder whose parents only root may. Both are solved by one descriptor: the server
inherits the engine's directory, opened, and names everything below /proc/self/fd/N. So does a client.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from dbbench.engine.template import Template
from dbbench.errors import ServerFailed, Unavailable
from dbbench.host.processes import end_with_parent, ended, signal_name, stop

if TYPE_CHECKING:
    import pwd

_READY_SECONDS = 60
_STOP_SECONDS = 60
_POLL_SECONDS = 0.02
_GRACE_SECONDS = 2
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "TZ")
#: Where distributions keep servers that are not on the PATH.
_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin")


def program(name: str, *folders: str) -> str:
    """The path of a program, in `folders` (the last first), on the PATH or in the usual places. Raises Unavailable."""
    for folder in (*reversed(folders), *os.get_exec_path(), *_FOLDERS):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise Unavailable(f"the program {name} is missing")


class PrivateServer:
    """One server program at work in `directory`, and the log that it writes to its standard output and error.

    `accounts`: as root, the server runs under the first of these users that exists, and the directory is made
    its own. Without any it runs as whoever we are.
    """

    stop_signal = signal.SIGTERM

    def __init__(self, name: str, directory: Path, accounts: Sequence[str] = ()) -> None:
        self.name = name
        self.directory = directory
        self.descriptor = os.open(directory, os.O_RDONLY)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
        self.process: subprocess.Popen[bytes] | None = None
        self.account = _account(accounts) if os.geteuid() == 0 and accounts else None
        if self.account:
            os.chown(directory, self.account.pw_uid, self.account.pw_gid)

    @property
    def root(self) -> str:
        """A short name of the directory, for this process and for those it starts with `run` and `start`."""
        return f"/proc/self/fd/{self.descriptor}" if sys.platform == "linux" else str(self.directory)

    def folder(self, name: str) -> str:
        """A folder in the directory, mode 0700, made if it isn't there; its short name."""
        path = self.directory / name
        path.mkdir(mode=0o700, exist_ok=True)
        if self.account:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)
        return f"{self.root}/{name}"

    def run(self, command: Sequence[str], seconds: float = 120) -> None:
        """Run a program to its end, as the server's user. Raises ServerFailed with its last words."""
        process = self._spawn(command)
        if not ended(process, seconds):
            stop(process, _GRACE_SECONDS)
            raise ServerFailed(f"{os.path.basename(command[0])} took more than {seconds:g} s")
        if process.returncode:
            raise ServerFailed(f"{os.path.basename(command[0])} {_ending(process.returncode)}{self._last_words()}")

    def set_up(self, name: str, command: Sequence[str], server: str) -> None:
        """Have the folder `name` as `command` makes it for the program `server`, where it isn't there yet.

        What it made once is kept, and copied from then on. Another program, version or argument, another name of the
        machine (MariaDB writes it down) or another time zone (PostgreSQL does) is set up anew. Raises ServerFailed.
        """
        self.run([server, "--version"])
        said = self.log.seek(0) or self.log.read().decode("utf-8", "replace")
        self.log.truncate(self.log.seek(0))
        programs = [(path, os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in (server, command[0])]
        arguments = [argument.replace(self.root, "") for argument in command[1:]]
        zone = os.environ.get("TZ", ""), os.path.realpath("/etc/localtime")
        template = Template(programs, said, arguments, platform.node(), zone)
        folder = self.directory / name
        try:
            if template.copy_to(folder, (self.account.pw_uid, self.account.pw_gid) if self.account else None):
                return
        except OSError as exc:
            raise ServerFailed(f"the files of a new {self.name} server can't be written: {exc.strerror}") from exc
        self.folder(name)
        self.run(command)
        template.keep(folder)

    def start(self, command: Sequence[str], ready: Callable[[], object], seconds: float = _READY_SECONDS) -> None:
        """Start the server; `ready` is called until it raises nothing any more.

        Raises ServerFailed, with the server's last words, if it ends or isn't ready after `seconds`.
        """
        self.process = self._spawn(command)
        until = time.monotonic() + seconds
        while True:
            try:
                ready()
            except Exception as exc:
                if died := self.exit_reason():
                    raise ServerFailed(f"{died} before it was ready") from exc
                if time.monotonic() > until:
                    words = self._last_words()
                    self.stop(signal.SIGKILL)
                    raise ServerFailed(f"{self.name} wasn't ready after {seconds:g} s: {exc}{words}") from exc
                time.sleep(_POLL_SECONDS)
            else:
                return

    def exit_reason(self) -> str:
        """How the server ended unexpectedly; empty while it runs, and after `stop`."""
        if self.process is None:
            return ""
        if self.process.poll() is None and not (_closed(self.process.pid) and ended(self.process, _STOP_SECONDS)):
            return ""
        return f"the {self.name} server {_ending(self.process.returncode)}{self._last_words()}"

    def processes(self) -> list[int]:
        """Ids of the server's processes."""
        if self.process is None or self.process.poll() is not None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.process.pid).children(recursive=True)
            return [self.process.pid, *(child.pid for child in children)]
        return []

    def stop(self, number: int = 0, seconds: float = _STOP_SECONDS) -> None:
        """Ask the server to end with a signal (its own), kill it if it doesn't, and let go of the directory."""
        process, self.process = self.process, None
        if process is not None:
            if process.poll() is None:
                process.send_signal(number or self.stop_signal)
            if not ended(process, seconds):
                process.kill()
                process.wait()
        self.log.close()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                cwd="/",
                env={**_environment(), **({"HOME": str(self.directory)} if self.account else {})},
                pass_fds=(self.descriptor,),
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - engines open before they have threads
                user=self.account.pw_uid if self.account else None,
                group=self.account.pw_gid if self.account else None,
                extra_groups=[] if self.account else None,
            )
        except OSError as exc:
            user = f" by the user {self.account.pw_name}" if self.account else ""
            raise ServerFailed(f"{command[0]} can't be started{user}: {exc.strerror or exc}") from exc

    def _last_words(self) -> str:
        """The last line of the log that speaks of a full disk, or else of a fault, or else the last one."""
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 4_000))
        lines = [line.strip() for line in self.log.read().decode("utf-8", "replace").splitlines() if line.strip()]
        faults = [
            line for line in lines if any(word in line for word in ("FATAL", "PANIC", "ERROR", "rror:", "denied"))
        ]
        full = [line for line in faults if any(words in line for words in ("No space left", "error 28"))]  # ENOSPC
        found = (full or faults or lines)[-1:]
        return f": {found[0][:300]}" if found else ""


def _environment() -> dict[str, str]:
    """What a server needs of ours. It may run as another user, and passwords in the rest are none of its business."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"LC_ALL": "C"}


def _closed(pid: int) -> bool:
    """Whether a process has no files any more: a moment before its end can be seen, and when its clients hear of it."""
    try:
        return sys.platform == "linux" and not os.listdir(f"/proc/{pid}/fd")
    except PermissionError:
        return False
    except OSError:
        return True


def _account(names: Sequence[str]) -> pwd.struct_passwd:
    import pwd  # not on Windows, where there is no such account either

    for name in names:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise Unavailable(f"it refuses to run as root, and none of these users exists: {', '.join(names)}", "run as a user")


def _ending(status: int) -> str:
    if status < 0:
        return f"was killed by {signal_name(-status)}"
    return f"ended with status {status}"
