"""Stores of records with one fault each: what Python's dict would be, or LMDB, if it lied or broke."""

import os
import signal
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any, ClassVar

import numpy as np

from dbbench.engine import Session
from dbbench_faulty.family import Named
from dbbench_faulty.shared import lying
from dbbench_plugins.dict import Dict, DictSession, Pair


class OrderedSession(DictSession):
    """A dict in order, so that a fault of the order can be told."""

    def prepare_scan(self):
        return lambda: sorted(self.held.items())


class Good(Named, Dict):
    ordered = True
    unsupported_reasons: ClassVar = {"seek": "not here", "range": "not here"}
    session_class = OrderedSession

    def connect(self) -> Session:
        return self.session_class(self.held)


def but_each_hundredth() -> Callable[..., Any]:
    """Makes all calls but each hundredth."""
    calls = count(1)
    return lambda right, *given: right(*given) if next(calls) % 100 else None


class Drops(Good):
    """Drops every 100th insert."""

    session_class = lying(OrderedSession, insert=but_each_hundredth())


class Returns(Good):
    """Returns another's value."""

    class session_class(OrderedSession):
        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            keys = sorted(self.held)
            last = self.held[keys[-1]] if keys else None
            return lambda key: last if key in self.held else None


class Invents(Good):
    """Has what was never inserted."""

    class session_class(OrderedSession):
        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            some = next(iter(self.held.values()), b"")
            return lambda key: self.held.get(key, some)


class Makes(Good):
    """Keeps number and version of each record, and makes the value from what it was told of the records."""

    def create_store(self, records) -> None:
        self.records = records

    def connect(self) -> Session:
        return self.session_class(self.held, self.records)

    class session_class(OrderedSession):
        def __init__(self, held: dict[bytes, bytes], records) -> None:
            super().__init__(held)
            self.records = records

        def prepare_insert(self) -> Callable[[bytes, bytes], object]:
            return lambda key, value: self.held.__setitem__(key, value[:16])

        prepare_update = prepare_insert

        def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
            return lambda pairs: self.held.update((key, value[:16]) for key, value in pairs)

        def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
            return lambda key: self.made(self.held[key]) if key in self.held else None

        def prepare_scan(self):
            return lambda: [(key, self.made(kept)) for key, kept in sorted(self.held.items())]

        def made(self, kept: bytes) -> bytes:
            version, number = np.frombuffer(kept, "<u8")
            return self.records.values(np.array([number]), int(version))[0]


class Disorders(Good):
    """Scans out of order."""

    class session_class(OrderedSession):
        def prepare_scan(self):
            def scan():
                found = sorted(self.held.items())
                if len(found) > 50:
                    found[20], found[21] = found[21], found[20]
                return found

            return scan


class Repeats(Good):
    """It has as many records as it should, one of them twice."""

    ordered = False
    session_class = lying(DictSession, scan=lambda scan: (found := list(scan()))[:1] * 2 + found[2:])


class Corrupts(Good):
    """One bit in 256 records."""

    session_class = lying(
        OrderedSession,
        insert=lambda insert, key, value: insert(
            key, value[:-1] + bytes([value[-1] ^ 1]) if key.endswith(b"\x07") else value
        ),
    )


class Stale(Good):
    """Forgets every 100th update."""

    session_class = lying(OrderedSession, update=but_each_hundredth())


class Keeps(Good):
    """Keeps every 100th that is deleted."""

    session_class = lying(OrderedSession, delete=but_each_hundredth())


class Races(Good):
    """Loses keys under threads."""

    class session_class(OrderedSession):
        """Reads, lets the others go on, and writes what it read: whatever they wrote in between is lost."""

        def prepare_insert(self) -> Callable[[bytes, bytes], object]:
            alone = threading.current_thread() is threading.main_thread()
            calls = count(1)

            def insert(key: bytes, value: bytes) -> None:
                if not alone and not next(calls) % 50:
                    before = dict(self.held)
                    time.sleep(0.001)
                    self.held.clear()
                    self.held.update(before)
                self.held[key] = value

            return insert


class HangsOnClose(Good):
    def close(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)


class CrashesOnClose(Good):
    def close(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class CrashesUnderThreads(Good):
    class session_class(OrderedSession):
        """It can't take threads, though it says so."""

        def prepare_insert(self) -> Callable[[bytes, bytes], object]:
            if threading.current_thread() is not threading.main_thread():
                return lambda key, value: os.kill(os.getpid(), signal.SIGSEGV)
            return super().prepare_insert()
