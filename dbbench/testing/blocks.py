"""What holds for every engine that keeps blocks: numbers for keys, values of one size; and a whole trial."""

from typing import ClassVar

from dbbench.errors import Unsupported
from dbbench.results.outcome import Outcome
from dbbench.suite.dataset import Records
from dbbench.testing.clause import clause, expect, expect_equal, expect_error
from dbbench.testing.contract import Opener, WholeTrial
from dbbench.testing.records.commits import CommitContract
from dbbench.testing.records.store import OpenStore, Store, call, expect_stored, pair, pairs, whole

#: Bytes of a block, which every disk can write by itself, and blocks of a file.
SIZE, COUNT = 4_096, 300

_DATA = "records: {count: 1200, key_bytes: 8, key_order: ascending, value_bytes: 4096}"
_STEPS = """
- {kind: keyvalue, name: insert, title: Insert, operation: insert, count: 50, order: random}
- {kind: keyvalue, name: insert-many, title: Insert, operation: insert, transaction: 400, order: random}
- {kind: size, name: size, title: Size}
- {kind: keyvalue, name: read, title: Read, operation: read, order: random, cache: cold}
- {kind: keyvalue, name: update, title: Update, operation: update, order: random, count: 100, cache: cold}
- {kind: keyvalue, name: update-many, title: Update, operation: update, transaction: 300}
- {kind: keyvalue, name: threads, title: Update, operation: update, order: random, clients: {threads: 8}}
- {kind: keyvalue, name: scan, title: Scan, operation: scan}
- kind: mix
  name: mix
  title: Mix
  operations: 80
  weights: {read: 50, update: 30, insert: 20}
- {kind: mix, name: ranges, title: Ranges, operations: 40, weights: {scan: 1}, scan_length: 20}
"""
STEPS = ("insert", "insert-many", "size", "read", "update", "update-many", "threads", "scan", "mix", "ranges")


def key(number: int) -> bytes:
    """Key of a block."""
    return number.to_bytes(8, "big")


def block(fill: int) -> bytes:
    """A block that is full of one byte."""
    return bytes([fill]) * SIZE


class BlocksContract(CommitContract):
    """The whole kit for an engine that keeps blocks, and says so: what holds for records, and what only blocks have."""

    pairs: ClassVar = [(key(number), block(number % 200 + 1)) for number in range(0, 40, 2)]
    spec: ClassVar = Records(count=COUNT, value_bytes=SIZE)

    def value(self, text: bytes) -> bytes:
        """A block that begins with a text."""
        return text.ljust(SIZE, b".")

    @clause("records-under-keys")
    def test_what_was_written_is_read(self, store: OpenStore) -> None:
        """All else rests on it."""
        engine, session = store()
        insert, update, read = (call(engine, session, name) for name in ("insert", "update", "read"))
        for number in (0, 7, COUNT - 1):
            insert(key(number), block(number % 200 + 1))
        for number, fill in ((0, 1), (7, 8), (COUNT - 1, 100)):
            expect_equal(f"block {number}", bytes(read(key(number))), block(fill))
        update(key(7), block(255))
        expect_equal("block 7 after an update", bytes(read(key(7))), block(255))
        expect_equal("block 0 after an update of block 7", bytes(read(key(0))), block(1))

    @clause("records-under-keys")
    def test_what_was_never_written_is_not_there(self, store: OpenStore) -> None:
        """A hole in a file reads as zeros; it is no block."""
        engine, session = store()
        call(engine, session, "insert")(key(5), block(1))
        read = call(engine, session, "read", snapshot=True)
        for number in (4, 6, COUNT, COUNT + 10**6):
            expect_equal(f"block {number}, which nobody wrote", read(key(number)), None)
        expect_stored(engine, session, {key(5): block(1)}, "where only block 5 was written")

    @clause("records-under-keys")
    def test_a_file_grows(self, store: OpenStore) -> None:
        """Mixes insert beyond the blocks that the suite names."""
        engine, session = store()
        call(engine, session, "insert")(key(COUNT + 100), block(1))
        call(engine, session, "insert_many")([(key(COUNT + 101), block(2)), (key(COUNT + 300), block(3))])
        expected = {key(COUNT + more): block(fill) for more, fill in ((100, 1), (101, 2), (300, 3))}
        expect_stored(engine, session, expected, "beyond the end of the file")

    @clause("records-under-keys")
    def test_any_bytes_are_kept(self, store: OpenStore) -> None:
        """A block of zeros but for one byte is a block."""
        engine, session = store()
        for number, value in enumerate((bytes(SIZE - 1) + b"\x01", b"\x01" + bytes(SIZE - 1), bytes(range(256)) * 16)):
            call(engine, session, "insert")(key(number), value)
            expect_equal(f"block {number}", bytes(call(engine, session, "read")(key(number))), value)

    @clause("records-under-keys")
    def test_a_block_of_another_size_is_refused(self, store: OpenStore) -> None:
        """A longer block would overwrite its neighbour, or leave part of the old block."""
        engine, session = store()
        call(engine, session, "insert")(key(1), block(7))
        for length in (0, 1, SIZE - 1, SIZE + 1):
            with expect_error(f"an update with {length} bytes"):
                call(engine, session, "update")(key(1), b"x" * length)
            with expect_error(f"update_many with {length} bytes"):
                call(engine, session, "update_many")([(key(1), b"x" * length)])
        expect_stored(engine, session, {key(1): block(7)}, "after refused updates")

    @clause("records-under-keys")
    def test_many_are_written_at_once(self, store: OpenStore) -> None:
        """Neighbours and others, and one block twice, of which the last stays."""
        engine, session = store()
        numbers = [*range(10, 150), 3, 200, 5, 151]
        some = [(key(number), block(number % 250 + 1)) for number in numbers]
        call(engine, session, "insert_many")(some)
        call(engine, session, "update_many")([(key(3), block(9)), (key(3), block(11))])
        expected = {**dict(some), key(3): block(11)}
        expect_stored(engine, session, expected, "after insert_many and update_many")

    @clause("records-under-keys")
    def test_seeks_and_reads_ranges(self, filled: Store) -> None:
        """A seek passes over what was never written."""
        engine, session = filled
        seek, read_range = (call(engine, session, name) for name in ("seek", "range"))
        for number, expected in ((4, self.pairs[2]), (5, self.pairs[3])):
            expect_equal(f"block sought at {number}", pair(whole(seek(key(number)))), expected)
        expect_equal("block sought at 39", seek(key(39)), None)
        expect_equal("range of 5 from block 3", pairs(map(whole, read_range(key(3), 5))), self.pairs[2:7])
        expect_equal("range of 5 from block 36", pairs(map(whole, read_range(key(36), 5))), self.pairs[-2:])

    @clause("records-under-keys")
    def test_refuses_what_is_no_block(self, opened: Opener) -> None:
        """Keys must be numbers of blocks, ascending and of 8 bytes; suites choose such engines by `blocks`."""
        engine = opened()
        expect(engine.blocks, "expected blocks = True of an engine that keeps blocks, got False")
        scattered = Records(count=10, key_bytes=8, key_order="scattered", value_bytes=SIZE)
        for spec in (scattered, Records(count=10, key_bytes=16, value_bytes=SIZE)):
            with expect_error("a store of other keys", Unsupported):
                engine.create_store(spec)

    @clause("what-a-sql-engine-fills-in")
    def test_has_a_size(self, store: OpenStore) -> None:
        """Size on disk is one of the figures."""
        engine, session = store()
        insert = call(engine, session, "insert")
        for number in range(COUNT):  # those that nobody wrote may be a hole
            insert(key(number), block(1))
        engine.flush()
        total = engine.size().total
        expect(total >= SIZE * COUNT, f"size(): expected at least {SIZE * COUNT:,} bytes, got {total:,}")

    @clause("the-life-of-a-trial")
    def test_a_whole_trial_is_right(self, whole_trial: WholeTrial) -> None:
        """The steps as a suite runs them, in their own process, with all blocks checked, also after cold starts."""
        steps = whole_trial(_DATA, _STEPS).steps
        expect_equal("steps of the trial", tuple(step.name for step in steps), STEPS)
        for step in steps:
            right = step.outcome is Outcome.OK and not step.detail
            expect(right, f"step {step.name}: expected ok, got {step.outcome}: {step.detail}")
