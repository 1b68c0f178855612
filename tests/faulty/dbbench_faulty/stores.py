"""Stores of records with one fault each: what Python's dict would be, or LMDB, if it lied or broke."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import ClassVar

from dbbench.engine import Session
from dbbench_plugins.dict import Dict, DictSession


class OrderedSession(DictSession):
    """A dict in order, so that a fault of the order can be told."""

    def prepare_scan(self):
        return lambda: sorted(self.held.items())


class Store(Dict):
    ordered = True
    unsupported_reasons: ClassVar = {"seek": "not here", "range": "not here"}
    session_class = OrderedSession

    def connect(self) -> Session:
        return self.session_class(self.held)


class Good(Store):
    name = "store-good"
    title = "Store: good"


class DroppingSession(OrderedSession):
    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        calls = count(1)

        def insert(key: bytes, value: bytes) -> None:
            if next(calls) % 100:
                self.held[key] = value

        return insert


class Drops(Store):
    name = "store-drops"
    title = "Store: drops every 100th insert"
    session_class = DroppingSession


class ReturningSession(OrderedSession):
    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        keys = sorted(self.held)
        last = self.held[keys[-1]] if keys else None
        return lambda key: last if key in self.held else None


class Returns(Store):
    name = "store-returns"
    title = "Store: returns another's value"
    session_class = ReturningSession


class InventingSession(OrderedSession):
    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        some = next(iter(self.held.values()), b"")
        return lambda key: self.held.get(key, some)


class Invents(Store):
    name = "store-invents"
    title = "Store: has what was never inserted"
    session_class = InventingSession


class DisorderedSession(OrderedSession):
    def prepare_scan(self):
        def scan():
            found = sorted(self.held.items())
            if len(found) > 50:
                found[20], found[21] = found[21], found[20]
            return found

        return scan


class Disorders(Store):
    name = "store-disorders"
    title = "Store: scans out of order"
    session_class = DisorderedSession


class RepeatingSession(OrderedSession):
    def prepare_scan(self):
        def scan():
            found = list(self.held.items())
            return found[:1] * 2 + found[2:]

        return scan


class Repeats(Store):
    """It has as many records as it should, one of them twice."""

    name = "store-repeats"
    title = "Store: one twice, one never"
    ordered = False
    session_class = RepeatingSession


class CorruptingSession(OrderedSession):
    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        def insert(key: bytes, value: bytes) -> None:
            damaged = key.endswith(b"\x07")
            self.held[key] = value[:-1] + bytes([value[-1] ^ 1]) if damaged else value

        return insert


class Corrupts(Store):
    name = "store-corrupts"
    title = "Store: one bit in 256 records"
    session_class = CorruptingSession


class StaleSession(OrderedSession):
    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        calls = count(1)

        def update(key: bytes, value: bytes) -> None:
            if next(calls) % 100:
                self.held[key] = value

        return update


class Stale(Store):
    name = "store-stale"
    title = "Store: forgets every 100th update"
    session_class = StaleSession


class KeepingSession(OrderedSession):
    def prepare_delete(self) -> Callable[[bytes], object]:
        calls = count(1)
        return lambda key: self.held.pop(key) if next(calls) % 100 else None


class Keeps(Store):
    name = "store-keeps"
    title = "Store: keeps every 100th that is deleted"
    session_class = KeepingSession


class RacingSession(OrderedSession):
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


class Races(Store):
    name = "store-races"
    title = "Store: loses keys under threads"
    session_class = RacingSession


class HangsOnClose(Store):
    name = "store-hangs-on-close"
    title = "Store: hangs on close"

    def close(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)


class CrashesOnClose(Store):
    name = "store-crashes-on-close"
    title = "Store: crashes on close"

    def close(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class CrashingSession(OrderedSession):
    """It can't take threads, though it says so."""

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        if threading.current_thread() is not threading.main_thread():
            return lambda key, value: os.kill(os.getpid(), signal.SIGSEGV)
        return super().prepare_insert()


class CrashesUnderThreads(Store):
    name = "store-crashes-under-threads"
    title = "Store: crashes under threads"
    session_class = CrashingSession
