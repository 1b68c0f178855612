"""What holds for every engine that keeps blocks: numbers for keys, values of one size; and a whole trial."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from dbbench.datasets.records import RecordSet
from dbbench.engine.base import Engine, Session
from dbbench.engine.operations import offers
from dbbench.errors import Unsupported
from dbbench.host import machine
from dbbench.loadgen.clients import drive
from dbbench.loadgen.job import Job
from dbbench.loadgen.key_streams import KeySequence
from dbbench.results.outcome import Outcome
from dbbench.suite.dataset import Records
from dbbench.suite.steps.base import Clients
from dbbench.testing.clause import clause
from dbbench.testing.contract import ON_RECORDS, EngineContract, Opener, WholeTrial
from dbbench.testing.expect import expect, expect_equal, expect_error
from dbbench.testing.groups import expect_own_answers
from dbbench.testing.records.store import call

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
    """Key of a block."""
    return number.to_bytes(8, "big")


def block(fill: int) -> bytes:
    """A block that is full of one byte."""
    return bytes([fill]) * SIZE


class BlocksContract(EngineContract):
    """The whole kit for an engine that keeps blocks, and says so."""

    @pytest.fixture
    def store(self, opened: Opener) -> Store:
        """An engine with an empty store in it, and a session."""
        engine = opened("own")
        engine.create_store(records())
        return engine, engine.connect()

    @clause("what-the-engine-cant-do")
    def test_offers_each_operation_or_says_why_it_can_not(self, engine_class: type[Engine]) -> None:
        """The report prints the reason where another engine has a figure."""
        expect(engine_class.blocks, "expected blocks = True of an engine that keeps blocks, got False")
        for operation in ON_RECORDS:
            expect(
                offers(engine_class, operation) or operation in engine_class.unsupported_reasons,
                f"expected prepare_{operation}, or a reason in unsupported_reasons[{operation!r}], got neither",
            )

    @clause("records-under-keys")
    def test_tells_what_the_disk_is(self, store: Store) -> None:
        """Without the file system a figure of blocks says little."""
        engine, _ = store
        kind, disk = machine.file_system(engine.directory), engine.settings().get("disk", "")
        expect(kind in disk, f"settings()['disk']: expected it to name the file system {kind}, got {disk!r}")

    @clause("records-under-keys")
    def test_what_was_written_is_read(self, store: Store) -> None:
        """All else rests on it."""
        engine, session = store
        insert, update, read = (call(engine, session, name) for name in ("insert", "update", "read"))
        for number in (0, 7, COUNT - 1):
            insert(key(number), block(number % 200 + 1))
        for number, fill in ((0, 1), (7, 8), (COUNT - 1, 100)):
            expect_equal(f"block {number}", bytes(read(key(number))), block(fill))
        update(key(7), block(255))
        expect_equal("block 7 after an update", bytes(read(key(7))), block(255))
        expect_equal("block 0 after an update of block 7", bytes(read(key(0))), block(1))

    @clause("records-under-keys")
    def test_what_was_never_written_is_not_there(self, store: Store) -> None:
        """A hole in a file reads as zeros; it is no block."""
        engine, session = store
        call(engine, session, "insert")(key(5), block(1))
        read = call(engine, session, "read", snapshot=True)
        for number in (4, 6, COUNT, COUNT + 10**6):
            expect_equal(f"block {number}, which nobody wrote", read(key(number)), None)
        expect_blocks(engine, session, [(key(5), block(1))], "where only block 5 was written")

    @clause("records-under-keys")
    def test_a_file_grows(self, store: Store) -> None:
        """Mixes insert beyond the blocks that the suite names."""
        engine, session = store
        call(engine, session, "insert")(key(COUNT + 100), block(1))
        call(engine, session, "insert_many")([(key(COUNT + 101), block(2)), (key(COUNT + 300), block(3))])
        expected = [(key(COUNT + more), block(fill)) for more, fill in ((100, 1), (101, 2), (300, 3))]
        expect_blocks(engine, session, expected, "beyond the end of the file")

    @clause("records-under-keys")
    def test_any_bytes_are_kept(self, store: Store) -> None:
        """A block of zeros but for one byte is a block."""
        engine, session = store
        for value in (bytes(SIZE - 1) + b"\x01", b"\x01" + bytes(SIZE - 1), bytes(range(256)) * (SIZE // 256)):
            call(engine, session, "update")(key(3), value)
            expect_equal("block 3", bytes(call(engine, session, "read")(key(3))), value)

    @clause("records-under-keys")
    def test_a_block_of_another_size_is_refused(self, store: Store) -> None:
        """A longer block would overwrite its neighbour, or leave part of the old block."""
        engine, session = store
        call(engine, session, "insert")(key(1), block(7))
        for length in (0, 1, SIZE - 1, SIZE + 1):
            with expect_error(f"an update with {length} bytes", ValueError):
                call(engine, session, "update")(key(1), b"x" * length)
            with expect_error(f"update_many with {length} bytes", ValueError):
                call(engine, session, "update_many")([(key(1), b"x" * length)])
        expect_blocks(engine, session, [(key(1), block(7))], "after refused updates")

    @clause("records-under-keys")
    def test_many_are_written_at_once(self, store: Store) -> None:
        """Neighbours and others, and one block twice, of which the last stays."""
        engine, session = store
        numbers = [*range(10, 150), 3, 200, 5, 151]
        pairs = [(key(number), block(number % 250 + 1)) for number in numbers]
        call(engine, session, "insert_many")([*pairs, (key(3), block(9)), (key(3), block(11))])
        expected = {**dict(pairs), key(3): block(11)}
        expect_blocks(engine, session, sorted(expected.items()), "after insert_many")

    @clause("records-under-keys")
    def test_seeks_and_reads_ranges(self, store: Store) -> None:
        """A seek passes over what was never written."""
        engine, session = store
        pairs = [(key(number), block(number + 1)) for number in range(0, 40, 2)]
        call(engine, session, "insert_many")(pairs)
        seek, read_range = (call(engine, session, name) for name in ("seek", "range"))
        for number, expected in ((4, pairs[2]), (5, pairs[3]), (39, None)):
            expect_equal(f"block sought at {number}", seek(key(number)), expected)
        expect_equal("range of 5 from block 3", read_range(key(3), 5), pairs[2:7])
        expect_equal("range of 5 from block 36", read_range(key(36), 5), pairs[-2:])

    @clause("records-under-keys")
    def test_a_scan_read_in_part_hinders_no_write(self, store: Store) -> None:
        """A scan that nobody reads any more must not keep its lock."""
        engine, session = store
        call(engine, session, "insert_many")([(key(number), block(1)) for number in range(50)])
        rows = iter(call(engine, session, "scan")())
        next(rows)
        del rows
        gc.collect()
        call(engine, session, "update")(key(0), block(2))
        expected = [(key(number), block(1 if number else 2)) for number in range(50)]
        expect_blocks(engine, session, expected, "after an update that follows a scan read in part")

    @clause("durability-tiers")
    def test_what_was_committed_is_there_after_reopening(self, store: Store, opened: Opener) -> None:
        """Cold steps and the check after the last step open the file again and need its blocks."""
        engine, session = store
        pairs = [(key(number), block(number + 1)) for number in range(100)]
        call(engine, session, "insert_many")(pairs)
        session.close()
        again = self.reopened(engine, opened)
        expect_blocks(again, again.connect(), pairs, "after reopening")

    @clause("records-under-keys")
    def test_sees_what_another_session_has_written(self, store: Store) -> None:
        """A read sees what was committed before the call, however long ago it was prepared."""
        engine, session = store
        read, other = call(engine, session, "read"), engine.connect()
        for fill in (1, 2):
            call(engine, other, "update")(key(1), block(fill))
            expect_equal("block 1 after another session's update", bytes(read(key(1))), block(fill))
        other.close()

    @clause("concurrency")
    def test_serves_threads_as_it_says(self, store: Store) -> None:
        """`concurrency.threads` decides which steps the engine takes part in."""
        _serves(store, "threads", 4)

    @clause("concurrency")
    def test_serves_processes_as_it_says(self, store: Store) -> None:
        """Each process opens an engine of its own on the directory, while the others have it open."""
        _serves(store, "processes", 2)

    @clause("concurrency")
    def test_each_session_of_a_group_gets_its_own_answers(self, store: Store) -> None:
        """While one waits, the others ask: answers must not get mixed up."""
        engine, session = store
        pairs = [(key(number), block(number + 1)) for number in range(12)]
        for each in pairs:
            call(engine, session, "update")(*each)
        expect_own_answers(engine, pairs)

    @clause("records-under-keys")
    def test_refuses_what_is_no_block(self, opened: Opener) -> None:
        """Keys must be numbers of blocks, ascending and of 8 bytes."""
        scattered = Records(count=10, key_bytes=8, key_order="scattered", value_bytes=SIZE)
        for spec in (scattered, Records(count=10, key_bytes=16, value_bytes=SIZE)):
            with expect_error("a store of other keys", Unsupported, "numbers of blocks for keys"):
                opened().create_store(RecordSet(spec, 1))

    @clause("what-a-sql-engine-fills-in")
    def test_has_a_size(self, store: Store) -> None:
        """Size on disk is one of the figures."""
        engine, session = store
        call(engine, session, "update")(key(COUNT - 1), block(1))
        engine.flush()
        total = engine.size().total
        expect(total >= SIZE * COUNT, f"size(): expected at least {SIZE * COUNT:,} bytes, got {total:,}")

    @clause("the-life-of-a-trial")
    def test_can_be_closed_twice(self, store: Store) -> None:
        """A trial that fails closes what may be closed already."""
        engine, session = store
        session.close()
        session.close()
        engine.close()
        engine.close()

    @clause("the-life-of-a-trial")
    def test_a_whole_trial_is_right(self, whole_trial: WholeTrial) -> None:
        """The steps as a suite runs them, in a process of their own, with all blocks checked, also after cold starts."""
        steps = whole_trial(_SUITE).steps
        expect_equal("steps of the trial", tuple(step.name for step in steps), STEPS)
        for step in steps:
            right = step.outcome is Outcome.OK and not step.detail
            expect(right, f"step {step.name}: expected ok, got {step.outcome}: {step.detail}")


def _serves(store: Store, what: str, number: int) -> None:
    """Clients that insert, update and read at once; or they are refused."""
    engine, session = store
    clients = Clients.model_validate({what: number})
    spec = records().spec
    most = getattr(engine.info().concurrency, what)
    for operation, version in (("insert", 0), ("update", 1), ("read", 1)):
        job = Job(operation, (), 0, 0, inputs=KeySequence(spec, 1, 1, operation, "random", 0, COUNT, version))
        if most is not None and most < number:
            with expect_error(f"{number} {what}, more than concurrency says", Unsupported, what):
                drive(engine, session, job, clients)
            return
        made = drive(engine, session, job, clients).service.count
        expect_equal(f"calls of {operation} made by {number} {what}", made, COUNT)
    numbers, versions = records().named(everything(engine, session))
    expect_equal("blocks written together", numbers.tolist(), list(range(COUNT)))
    expect_equal("versions of the blocks written together", set(versions.tolist()), {1})


def records() -> RecordSet:
    """The kit's own."""
    return RecordSet(Records(count=COUNT, value_bytes=SIZE), 1)


def everything(engine: Engine, session: Session) -> list[tuple[bytes, bytes]]:
    """All blocks, in their order."""
    found: list[Any] = list(call(engine, session, "scan")())
    return [(bytes(number), bytes(data)) for number, data in found]


def expect_blocks(engine: Engine, session: Session, expected: list[tuple[bytes, bytes]], when: str) -> None:
    """Compare all blocks."""
    expect_equal(f"blocks {when}", everything(engine, session), expected)
