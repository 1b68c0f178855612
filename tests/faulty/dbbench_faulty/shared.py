"""Faults that engines of several families can have: each stands before the right engine, or its session, among the bases."""

import gc
import os
import threading
from functools import partial, wraps

import psutil


def mutant(engine, clause, **attributes):
    """Make a mutant of an engine from its faulty session; `clause` is the one that it breaks."""

    def made(session):
        own = {"__module__": session.__module__, "session_class": session, "clause": clause}
        return type(session.__name__, (engine,), own | attributes)

    return made


def lying(session, **lies):
    """A session whose prepared calls lie: with `read=lie`, reading a key gives `lie(read, key)`, where `read` is right."""

    def lies_about(operation, lie):
        right = getattr(session, operation)

        @wraps(right)
        def prepare(self, *how, **options):
            return partial(lie, right(self, *how, **options))

        return prepare

    prepares = {f"prepare_{name}": lies_about(f"prepare_{name}", lie) for name, lie in lies.items()}
    return type(f"Lying{session.__name__}", (session,), prepares)


class LocksProcesses:
    """An engine that only the process may open that opened it first."""

    def open(self):
        lock = self.directory / "owner"
        if lock.exists() and int(lock.read_text()) != os.getpid() and psutil.pid_exists(int(lock.read_text())):
            raise RuntimeError("locked by another process")
        lock.write_text(str(os.getpid()))
        super().open()


def refuse_threads():
    """Raise in any thread but the first."""
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("bound to the thread that loaded the library")


class CachesReads:
    """A session that keeps what it has read once, but for snapshots."""

    def prepare_read(self, *, snapshot=False):
        read, known = super().prepare_read(snapshot=snapshot), {}
        if snapshot:
            return read

        def cached(key):
            if known.get(key) is None:
                known[key] = read(key)
            return known[key]

        return cached


class FillsLater:
    """A session that gives no rows while the clock runs to what has parameters, and fills them in when it is closed."""

    given = ()

    def prepare_call(self, sql, rows=None):
        call = super().prepare_call(sql, rows)
        if rows is not None or not sql.startswith("SELECT"):
            return call
        self.given = []

        def later(*values):
            if gc.isenabled():
                return call(*values)
            self.given.append((call, values, []))
            return self.given[-1][-1]

        return later

    def close(self):
        for call, values, found in self.given:
            found[:] = call(*values)
        super().close()


class CutsRanges:
    """A session whose ranges have `most` records, more than the kit asks for but in a whole trial."""

    most = 15

    def prepare_range(self, *, snapshot=False):
        read_range = super().prepare_range(snapshot=snapshot)
        return lambda key, count: read_range(key, count)[: self.most]


class KeepsCursors:
    """A session that refuses to write while a scan is open: call `refuse_write` before."""

    scanning = False

    def prepare_scan(self):
        scan = super().prepare_scan()

        def rows():
            self.scanning = True
            yield from scan()
            self.scanning = False

        return rows

    def refuse_write(self):
        if self.scanning:
            raise RuntimeError("a cursor is open")
