"""What it costs to reach .NET, by each way there is: a Dictionary of .NET's, records of 8 and 32 bytes.

The processor time of this thread, the best of some rounds; what Python's own dict takes stands beside it.
"""

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbbench.datasets.records import RecordSet
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.errors import Unavailable
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier

COUNT, ROUNDS, BATCH = 50_000, 7, 100
#: Microseconds of one put or get: the limit that was set for the bridge.
AT_MOST = 2.0


@pytest.fixture
def opened(tmp_path: Path):
    try:
        engine = registry.load("dotnet-dictionary")(Setup(tmp_path, Tier.MEMORY))
    except Unavailable as exc:
        pytest.skip(f"{exc.reason}; {exc.install}")
    records = RecordSet(Records(count=COUNT, key_bytes=8, value_bytes=32), 1)
    engine.open()
    engine.create_store(records.shape)
    yield engine, engine.connect()
    engine.close()


def microseconds(action: Callable[[], object], operations: int = COUNT) -> float:
    found = []
    for _ in range(ROUNDS):
        start = time.thread_time_ns()
        action()
        found.append(time.thread_time_ns() - start)
    return min(found) / operations / 1000


def each(function: Callable[..., object], items: list[Any]) -> Callable[[], None]:
    def run() -> None:
        for item in items:
            function(item)

    return run


def pairs_of(function: Callable[..., object], items: list[Any]) -> Callable[[], None]:
    def run() -> None:
        for key, value in items:
            function(key, value)

    return run


def test_the_bridge(opened) -> None:
    engine, session = opened
    import numpy as np

    pairs = RecordSet(Records(count=COUNT, key_bytes=8, value_bytes=32), 1).pairs(np.arange(COUNT, dtype=np.uint64))
    keys, few = [key for key, _ in pairs], pairs[:1_000]
    batches = [pairs[at : at + BATCH] for at in range(0, COUNT, BATCH)]
    plain, held = PlainCalls(), {}
    by_ctypes = through_ctypes(session)
    rows = {
        "dict of Python": (microseconds(pairs_of(held.__setitem__, pairs)), microseconds(each(held.get, keys))),
        "plain calls of pythonnet": (
            microseconds(pairs_of(plain.put, few), len(few)),
            microseconds(each(plain.get, [key for key, _ in few]), len(few)),
        ),
        "function pointer by ctypes": (
            microseconds(pairs_of(by_ctypes[0], pairs)),
            microseconds(each(by_ctypes[1], keys)),
        ),
        "function pointer by cffi (ours)": (
            microseconds(pairs_of(session.prepare_insert(), pairs)),
            microseconds(each(session.prepare_read(), keys)),
        ),
        f"{BATCH} in a crossing, and a scan (ours)": (
            microseconds(each(session.prepare_insert_many(), batches)),
            microseconds(lambda: list(session.prepare_scan()())),
        ),
    }
    print(f"\n  {engine.runtime}, microseconds of one   {'put':>8}{'get':>8}")
    for name, (put, get) in rows.items():
        print(f"  {name:38}{put:8.2f}{get:8.2f}")
    assert session.prepare_read()(keys[7]) == pairs[7][1]
    assert max(rows["function pointer by cffi (ours)"]) <= AT_MOST


class PlainCalls:
    """As one would write it first."""

    def __init__(self) -> None:
        from System import Array, Byte, Int64
        from System.Collections.Generic import Dictionary

        self.array, self.number = Array[Byte], Int64
        self.held = Dictionary[Int64, Array[Byte]]()

    def put(self, key: bytes, value: bytes) -> None:
        made = self.array(len(value))
        memoryview(made)[:] = value
        self.held[self.number(int.from_bytes(key, "big"))] = made

    def get(self, key: bytes) -> bytes | None:
        there, value = self.held.TryGetValue(self.number(int.from_bytes(key, "big")), None)
        return bytes(value) if there else None


def through_ctypes(session: Any) -> tuple[Callable[..., object], Callable[..., object]]:
    """The same functions, called by ctypes in place of cffi."""
    from dbbench_plugins.dotnet.context import FFI

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int)
    client = session.client
    insert, read = (kind(int(FFI.cast("intptr_t", client.functions[name]))) for name in ("insert", "read"))
    context = int(FFI.cast("intptr_t", client.context))
    data = int(FFI.cast("intptr_t", client.context.data))

    def put(key: bytes, value: bytes) -> None:
        if insert(context, key, len(key), value, len(value)):
            raise RuntimeError

    def get(key: bytes) -> bytes | None:
        length = read(context, key, len(key), None, 0)
        return ctypes.string_at(data, length) if length >= 0 else None

    return put, get
