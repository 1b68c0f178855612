"""SQLite with one fault each, most of them in the join whose text has an ORDER BY (join-2)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from dbbench.engine import Rows, Tier, Unavailable
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


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


class Raises(Faulty):
    class session_class(FaultySession):
        def fault(self) -> None:
            raise RuntimeError("boom\nwith a second line")


class Crashes(Faulty):
    class session_class(FaultySession):
        def fault(self) -> None:
            os.kill(os.getpid(), signal.SIGSEGV)


class Exits(Faulty):
    class session_class(FaultySession):
        def fault(self) -> None:
            if os.environ.get("FAULTY_FLOODS"):
                os.write(2, b"first words\n" + 30_000_000 * b"m" + b"\nlast words\n")
            os._exit(3)


class Hangs(Faulty):
    class session_class(FaultySession):
        def fault(self) -> None:
            if "FAULTY_WAKES" in os.environ:
                return
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(3600)


class Eats(Faulty):
    """Eats memory."""

    class session_class(FaultySession):
        def fault(self) -> None:
            eaten = []
            while True:
                eaten.append(b"x" * (8 << 20))
                time.sleep(0.01)


class Breeds(Faulty):
    """Eats memory in a process that was forked twice."""

    class session_class(Eats.session_class):
        def fault(self) -> None:
            if os.fork():
                time.sleep(100)
            elif os.fork():
                os._exit(0)
            super().fault()


class Lies(Faulty):
    """Answers wrongly."""

    class session_class(FaultySession):
        def changed(self, rows: Any) -> Rows:
            return ((key, value + 0.01 if key == 3 else value) for key, value in rows)


class Leaves(Faulty):
    """Prints noise, leaves a child, and crashes on close."""

    class session_class(FaultySession):
        left = False

        def fault(self) -> None:
            print("noise " * 1000)
            os.write(1, b"\xff\x00 raw noise to file descriptor 1\n")
            os.write(2, b"raw noise to file descriptor 2\n")
            if not Leaves.session_class.left:
                Leaves.session_class.left = True
                # A daemon: it left the process group and its parent is gone.
                daemon = "import os, time; os.setsid(); os.fork() and os._exit(0); time.sleep(3600)"
                subprocess.run([sys.executable, "-c", daemon], check=True, env={"PATH": os.environ["PATH"]})

    def close(self) -> None:
        os.kill(os.getpid(), signal.SIGABRT)


class Loads(Faulty):
    """Loses rows."""

    class session_class(SQLiteSession):
        def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
            insert = super().prepare_load(name, table)
            return lambda rows: insert(rows[1:] if name == "Charges" else rows)


class Refuses(Faulty):
    """Refuses the tier."""

    durability = {Tier.MEMORY: {}}


class CanNot(Faulty):
    """Has no statements."""

    class session_class(SQLiteSession):
        prepare_statement = None  # type: ignore[assignment]

    unsupported_reasons = {"statement": "it is read only"}


class Library(Faulty):
    """Library missing."""

    @classmethod
    def available(cls) -> None:
        raise Unavailable("libnowhere.so.1 is missing", "apt install libnowhere1")


class WrongName(Faulty):
    name = "another-name"


class Fills(Faulty):
    """Fills the disk."""

    class session_class(FaultySession):
        def fault(self) -> None:
            path = self.connection.execute("PRAGMA database_list").fetchone()[2]
            try:
                with open(f"{path}.filler", "wb") as file:
                    while True:
                        file.write(b"x" * (1 << 20))
            finally:
                os.unlink(f"{path}.filler")


class Unloadable(Faulty):
    """Can't load."""

    class session_class(SQLiteSession):
        def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
            raise RuntimeError("no load today")
