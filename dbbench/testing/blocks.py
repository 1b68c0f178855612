"""What holds for every engine that keeps blocks: numbers for keys, values of one size; and a whole trial."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from dbbench import machine
from dbbench.clients import drive
from dbbench.engine import Engine, Session, offers, prepared
from dbbench.errors import Unsupported
from dbbench.job import Job
from dbbench.keyvalue import Inputs
from dbbench.outcome import Outcome
from dbbench.records import RecordSet
from dbbench.schema import Records
from dbbench.suite import Clients
from dbbench.testing.contract import ON_RECORDS, EngineContract, Opener, WholeTrial

#: Bytes of a block, which every disk can write by itself, and blocks of a file.
SIZE, COUNT = 4_096, 300
Store = tuple[Engine, Session]

_SUITE = """
dbbench: 1
name: kit
title: Conformance
description: A whole trial on few blocks.
datasets:
  kit:
    records: {{count: 1200, key_bytes: 8, key_order: ascending, value_bytes: 4096}}
scenarios:
  - name: kit
    title: Kit
    dataset: kit
    durability: {tier}
    steps:
      - {{kind: keyvalue, name: insert, title: Insert, operation: insert, count: 50, order: random}}
      - {{kind: keyvalue, name: insert-many, title: Insert, operation: insert, transaction: 400, order: random}}
      - {{kind: size, name: size, title: Size}}
      - {{kind: keyvalue, name: read, title: Read, operation: read, order: random, cache: cold}}
      - {{kind: keyvalue, name: update, title: Update, operation: update, order: random, count: 100, cache: cold}}
      - {{kind: keyvalue, name: update-many, title: Update, operation: update, transaction: 300}}
      - {{kind: keyvalue, name: threads, title: Update, operation: update, order: random, clients: {{threads: 8}}}}
      - {{kind: keyvalue, name: scan, title: Scan, operation: scan}}
      - kind: mix
        name: mix
        title: Mix
        operations: 80
        weights: {{read: 50, update: 15, insert: 20, scan: 15}}
"""
STEPS = ("insert", "insert-many", "size", "read", "update", "update-many", "threads", "scan", "mix")


def key(number: int) -> bytes:
    """Of a block."""
    return number.to_bytes(8, "big")


def block(fill: int) -> bytes:
    """A block that is full of one byte."""
    return bytes([fill]) * SIZE


class BlocksContract(EngineContract):
    """The whole kit for an engine that keeps blocks, and says so."""

    @pytest.fixture
    def store(self, opened: Opener) -> Store:
        engine = opened()
        engine.create_store(records())
        return engine, engine.connect()

    def test_says_that_it_keeps_blocks(self, engine_class: type[Engine]) -> None:
        assert engine_class.blocks
        for operation in ON_RECORDS:
            assert offers(engine_class, operation) != (operation in engine_class.impossible), operation

    def test_tells_what_the_disk_is(self, store: Store, tmp_path: Path) -> None:
        engine, _ = store
        assert machine.file_system(tmp_path) in engine.settings()["disk"]

    def test_what_was_written_is_read(self, store: Store) -> None:
        engine, session = store
        insert, update, read = (prepared(engine, session, name)() for name in ("insert", "update", "read"))
        for number in (0, 7, COUNT - 1):
            insert(key(number), block(number % 200 + 1))
        assert [bytes(read(key(number))) for number in (0, 7, COUNT - 1)] == [block(1), block(8), block(100)]
        update(key(7), block(255))
        assert bytes(read(key(7))) == block(255)
        assert bytes(read(key(0))) == block(1)

    def test_what_was_never_written_is_not_there(self, store: Store) -> None:
        engine, session = store
        prepared(engine, session, "insert")()(key(5), block(1))
        read = prepared(engine, session, "read")(snapshot=True)
        assert [read(key(number)) for number in (4, 6, COUNT, COUNT + 10**6)] == [None] * 4
        assert everything(engine, session) == [(key(5), block(1))]

    def test_a_file_grows(self, store: Store) -> None:
        engine, session = store
        prepared(engine, session, "insert")()(key(COUNT + 100), block(1))
        prepared(engine, session, "insert_many")()([(key(COUNT + 101), block(2)), (key(COUNT + 300), block(3))])
        assert [pair[0] for pair in everything(engine, session)] == [key(COUNT + more) for more in (100, 101, 300)]

    def test_any_bytes_are_kept(self, store: Store) -> None:
        engine, session = store
        for value in (bytes(SIZE - 1) + b"\x01", b"\x01" + bytes(SIZE - 1), bytes(range(256)) * (SIZE // 256)):
            prepared(engine, session, "update")()(key(3), value)
            assert bytes(prepared(engine, session, "read")()(key(3))) == value

    @pytest.mark.parametrize("length", [0, 1, SIZE - 1, SIZE + 1])
    def test_a_block_of_another_size_is_refused(self, store: Store, length: int) -> None:
        engine, session = store
        prepared(engine, session, "insert")()(key(1), block(7))
        with pytest.raises(ValueError, match=r"."):
            prepared(engine, session, "update")()(key(1), b"x" * length)
        with pytest.raises(ValueError, match=r"."):
            prepared(engine, session, "update_many")()([(key(1), b"x" * length)])
        assert everything(engine, session) == [(key(1), block(7))]

    def test_many_are_written_at_once(self, store: Store) -> None:
        """Neighbours and others, and one block twice."""
        engine, session = store
        numbers = [*range(10, 150), 3, 200, 5, 151]
        pairs = [(key(number), block(number % 250 + 1)) for number in numbers]
        prepared(engine, session, "insert_many")()([*pairs, (key(3), block(9)), (key(3), block(11))])
        expected = {**dict(pairs), key(3): block(11)}
        assert everything(engine, session) == sorted(expected.items())

    def test_seeks_and_reads_ranges(self, store: Store) -> None:
        engine, session = store
        pairs = [(key(number), block(number + 1)) for number in range(0, 40, 2)]
        prepared(engine, session, "insert_many")()(pairs)
        seek, read_range = (prepared(engine, session, name)() for name in ("seek", "range"))
        assert seek(key(4)) == pairs[2]
        assert seek(key(5)) == pairs[3]
        assert seek(key(39)) is None
        assert read_range(key(3), 5) == pairs[2:7]
        assert read_range(key(36), 5) == pairs[-2:]

    def test_a_scan_read_in_part_hinders_no_write(self, store: Store) -> None:
        engine, session = store
        prepared(engine, session, "insert_many")()([(key(number), block(1)) for number in range(50)])
        rows = iter(prepared(engine, session, "scan")()())
        next(rows)
        del rows
        gc.collect()
        prepared(engine, session, "update")()(key(0), block(2))
        assert len(everything(engine, session)) == 50

    def test_what_was_committed_is_there_after_reopening(self, store: Store, opened: Opener) -> None:
        engine, session = store
        pairs = [(key(number), block(number + 1)) for number in range(100)]
        prepared(engine, session, "insert_many")()(pairs)
        session.close()
        engine.close()
        again = opened()
        assert everything(again, again.connect()) == pairs

    def test_sees_what_another_session_has_written(self, store: Store) -> None:
        engine, session = store
        read, other = prepared(engine, session, "read")(), engine.connect()
        for fill in (1, 2):
            prepared(engine, other, "update")()(key(1), block(fill))
            assert bytes(read(key(1))) == block(fill)
        other.close()

    @pytest.mark.parametrize("what", ["threads", "processes"])
    def test_serves_as_many_clients_as_it_says(self, store: Store, what: str) -> None:
        engine, session = store
        clients = Clients.model_validate({what: 4 if what == "threads" else 2})
        spec = records().spec.model_dump()
        most = getattr(engine.concurrency, what)
        for operation, version in (("insert", 0), ("update", 1), ("read", 1)):
            inputs = Inputs(spec, 1, 1, operation, "random", 0, COUNT, version)
            if most is not None and most < getattr(clients, what):
                with pytest.raises(Unsupported, match=what):
                    drive(engine, session, Job(operation, (), 0, 0, inputs=inputs), clients)
                return
            assert drive(engine, session, Job(operation, (), 0, 0, inputs=inputs), clients).service.count == COUNT
        numbers, versions = records().named(everything(engine, session))
        assert (numbers.tolist(), set(versions.tolist())) == (list(range(COUNT)), {1})

    def test_refuses_what_is_no_block(self, opened: Opener) -> None:
        scattered = Records(count=10, key_bytes=8, key_order="scattered", value_bytes=SIZE)
        for spec in (scattered, Records(count=10, key_bytes=16, value_bytes=SIZE)):
            with pytest.raises(Unsupported, match="numbers of blocks for keys"):
                opened().create_store(RecordSet(spec, 1))

    def test_has_a_size(self, store: Store) -> None:
        engine, _ = store
        engine.flush()
        assert engine.size().total >= SIZE * COUNT

    def test_can_be_closed_twice(self, store: Store) -> None:
        engine, session = store
        session.close()
        session.close()
        engine.close()
        engine.close()

    def test_a_whole_trial_is_right(self, whole_trial: WholeTrial) -> None:
        """With all blocks checked, also after cold starts."""
        found = {step.name: (step.outcome, step.detail) for step in whole_trial(_SUITE).steps}
        assert list(found) == list(STEPS)
        assert set(found.values()) == {(Outcome.OK, "")}, found


def records() -> RecordSet:
    """The kit's own."""
    return RecordSet(Records(count=COUNT, value_bytes=SIZE), 1)


def everything(engine: Engine, session: Session) -> list[tuple[bytes, bytes]]:
    """All blocks, in their order."""
    found: list[Any] = list(prepared(engine, session, "scan")()())
    return [(bytes(number), bytes(data)) for number, data in found]
