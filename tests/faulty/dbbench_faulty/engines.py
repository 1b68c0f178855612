"""SQLite with one fault each, most of them in the join whose text has an ORDER BY (join-2)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from dbbench.engine import Rows, Tier, Unavailable
from dbbench_plugins.sqlite import SQLite, SQLiteSession


class FaultySession(SQLiteSession):
    """Calls `fault` inside the join that has an ORDER BY."""

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        run = super().prepare_query(sql)
        if "ORDER BY" not in sql or "JOIN" not in sql:
            return run

        def faulty() -> Rows:
            self.fault()
            return self.changed(run())

        return faulty

    def fault(self) -> None: ...

    def changed(self, rows: Any) -> Rows:
        return rows  # type: ignore[no-any-return]


class RaisingSession(FaultySession):
    def fault(self) -> None:
        raise RuntimeError("boom\nwith a second line")


class Raises(SQLite):
    name = "faulty-raises"
    title = "Faulty: raises"
    session_class = RaisingSession


class CrashingSession(FaultySession):
    def fault(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class Crashes(SQLite):
    name = "faulty-crashes"
    title = "Faulty: crashes"
    session_class = CrashingSession


class ExitingSession(FaultySession):
    def fault(self) -> None:
        if os.environ.get("FAULTY_FLOODS"):
            os.write(2, b"first words\n" + 30_000_000 * b"m" + b"\nlast words\n")
        os._exit(3)


class Exits(SQLite):
    name = "faulty-exits"
    title = "Faulty: exits"
    session_class = ExitingSession


class HangingSession(FaultySession):
    def fault(self) -> None:
        if "FAULTY_WAKES" in os.environ:
            return
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)


class Hangs(SQLite):
    name = "faulty-hangs"
    title = "Faulty: hangs"
    session_class = HangingSession


class EatingSession(FaultySession):
    def fault(self) -> None:
        eaten = []
        while True:
            eaten.append(b"x" * (8 << 20))
            time.sleep(0.01)


class Eats(SQLite):
    name = "faulty-eats"
    title = "Faulty: eats memory"
    session_class = EatingSession


class LyingSession(FaultySession):
    def changed(self, rows: Any) -> Rows:
        return ((key, value + 0.01 if key == 3 else value) for key, value in rows)


class Lies(SQLite):
    name = "faulty-lies"
    title = "Faulty: answers wrongly"
    session_class = LyingSession


class PrintingSession(FaultySession):
    def fault(self) -> None:
        print("noise " * 1000)
        os.write(1, b"\xff\x00 raw noise to file descriptor 1\n")
        os.write(2, b"raw noise to file descriptor 2\n")


class Prints(SQLite):
    name = "faulty-prints"
    title = "Faulty: prints noise"
    session_class = PrintingSession


class LeavingSession(FaultySession):
    left = False

    def fault(self) -> None:
        if not LeavingSession.left:
            LeavingSession.left = True
            # A daemon: it left the process group and its parent is gone.
            daemon = "import os, time; os.setsid(); os.fork() and os._exit(0); time.sleep(3600)"
            subprocess.run([sys.executable, "-c", daemon], check=True, env={"PATH": os.environ["PATH"]})


class Leaves(SQLite):
    name = "faulty-leaves"
    title = "Faulty: leaves a child"
    session_class = LeavingSession


class Closes(SQLite):
    name = "faulty-closes"
    title = "Faulty: crashes on close"

    def close(self) -> None:
        os.kill(os.getpid(), signal.SIGABRT)


class ForgettingSession(SQLiteSession):
    def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
        insert = super().prepare_load(name, table)
        return lambda rows: insert(rows[1:] if name == "Charges" else rows)


class Loads(SQLite):
    name = "faulty-loads"
    title = "Faulty: loses rows"
    session_class = ForgettingSession


class Refuses(SQLite):
    name = "faulty-refuses"
    title = "Faulty: refuses the tier"
    durability = {Tier.MEMORY: {}}


class NoStatementSession(SQLiteSession):
    prepare_statement = None  # type: ignore[assignment]


class CanNot(SQLite):
    name = "faulty-can-not"
    title = "Faulty: has no statements"
    session_class = NoStatementSession
    unsupported_reasons = {"statement": "it is read only"}


class NoLibrary(SQLite):
    name = "faulty-library"
    title = "Faulty: library missing"

    @classmethod
    def available(cls) -> None:
        raise Unavailable("libnowhere.so.1 is missing", "apt install libnowhere1")


class WrongName(SQLite):
    name = "another-name"


class FillingSession(FaultySession):
    def fault(self) -> None:
        path = self.connection.execute("PRAGMA database_list").fetchone()[2]
        try:
            with open(f"{path}.filler", "wb") as file:
                while True:
                    file.write(b"x" * (1 << 20))
        finally:
            os.unlink(f"{path}.filler")


class Fills(SQLite):
    name = "faulty-fills"
    title = "Faulty: fills the disk"
    session_class = FillingSession


class MarkupSession(FaultySession):
    def fault(self) -> None:
        raise RuntimeError("<script>document.title='owned'</script><img src=x onerror=alert(1)> | *stars* `ticks`")


class Markup(SQLite):
    name = "faulty-markup"
    title = "Faulty: <b>markup</b> & more"
    session_class = MarkupSession


class UnloadableSession(SQLiteSession):
    def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
        raise RuntimeError("no load today")


class Unloadable(SQLite):
    name = "faulty-unloadable"
    title = "Faulty: can't load"
    session_class = UnloadableSession
