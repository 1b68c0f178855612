"""What holds for records and not for blocks: the bytes that one keeps, and many in the order of their keys."""

from itertools import pairwise

from dbbench.engine.base import Engine
from dbbench.errors import Unsupported
from dbbench.testing.clause import clause, expect_equal, expect_error, left_out
from dbbench.testing.records.store import (
    KEYS,
    PAIRS,
    WIDTH,
    OpenStore,
    Store,
    StoreContract,
    call,
    expect_stored,
    fill,
    numbered,
    pair,
    pairs,
    value_of,
    whole,
)
from dbbench.workloads.keyvalue import refuse_too_long

_MIB = 2**20
#: Values with bytes that text can't hold or that a driver may take for an end.
_VALUES = (bytes(40), b"\x00a\x00", bytes(range(256)), b"\xff" * 40, b" 'a' \\ \" ", b"x")


class RecordContract(StoreContract):
    """One record at a time; scans, seeks and ranges."""

    @clause("records-under-keys")
    def test_what_was_inserted_is_read(self, store: OpenStore) -> None:
        """All else rests on it."""
        engine, session = store()
        call(engine, session, "insert")(*PAIRS[3])
        read = call(engine, session, "read")
        expect_equal(f"value read under {KEYS[3]!r}", value_of(read, KEYS[3]), PAIRS[3][1])

    @clause("records-under-keys")
    def test_a_missing_key_gives_none(self, filled: Store) -> None:
        """Some drivers raise, or give an empty value, which can't be told from one that was stored."""
        engine, session = filled
        for snapshot in (False, True):
            found = call(engine, session, "read", snapshot=snapshot)(numbered(77))
            expect_equal(f"value read under a key that is not there (snapshot={snapshot})", found, None)

    @clause("records-under-keys")
    def test_an_insert_of_a_key_that_is_there_does_what_it_says(self, filled: Store) -> None:
        """`duplicates` is printed in reports: looking for the key first is work that other engines don't do."""
        engine, session = filled
        insert = call(engine, session, "insert")
        if engine.duplicates == "refused":
            with expect_error("an insert of a key that is there, since duplicates is 'refused'"):
                insert(KEYS[3], b"another")
            session.close()
            session = engine.connect()
        else:
            insert(KEYS[3], b"another")
        expected = PAIRS[3][1] if engine.duplicates == "refused" else b"another"
        when = f"after an insert of a key that is there, since duplicates is {engine.duplicates!r}"
        expect_stored(engine, session, {**dict(PAIRS), KEYS[3]: expected}, when)

    @clause("records-under-keys")
    def test_an_update_replaces_the_value(self, filled: Store) -> None:
        """Also by a shorter one, of which no old byte may be left, and without a second record."""
        engine, session = filled
        update = call(engine, session, "update")
        for value in (b"short", b"longer than the one before it", b"short"):
            update(KEYS[5], value)
            read = call(engine, session, "read")
            expect_equal("value read after an update", value_of(read, KEYS[5]), value)
        expect_stored(engine, session, {**dict(PAIRS), KEYS[5]: b"short"}, "after three updates of one")

    @clause("records-under-keys")
    def test_a_delete_removes_one_record(self, filled: Store) -> None:
        """And no other."""
        engine, session = filled
        call(engine, session, "delete")(KEYS[5])
        expected = {key: value for key, value in PAIRS if key != KEYS[5]}
        expect_stored(engine, session, expected, "after a delete")

    @clause("records-under-keys")
    def test_a_second_delete_changes_nothing(self, filled: Store) -> None:
        """Allow an error; then a new session goes on, and the key can be inserted again."""
        engine, session = filled
        delete = call(engine, session, "delete")
        delete(KEYS[5])
        try:
            delete(KEYS[5])
        except Exception:  # each driver has its own
            session.close()
            session = engine.connect()
        expected = {key: value for key, value in PAIRS if key != KEYS[5]}
        expect_stored(engine, session, expected, "after two deletes of one key")
        fill(engine, session, PAIRS[5:6])
        expect_stored(engine, session, dict(PAIRS), "after it was inserted again")

    @clause("records-under-keys")
    def test_keys_may_hold_any_byte(self, filled: Store) -> None:
        """Suites draw keys of all bytes; a driver that takes them for text loses or mixes some up."""
        engine, session = filled
        read = call(engine, session, "read")
        for key, value in PAIRS:
            expect_equal(f"value read under {key!r}", value_of(read, key), value)

    @clause("records-under-keys")
    def test_values_may_hold_any_byte(self, store: OpenStore) -> None:
        """A driver that takes values for text cuts or changes them."""
        engine, session = store(value_bytes=256)
        insert = call(engine, session, "insert")
        expected = dict(zip(KEYS, _VALUES, strict=False))
        for key, value in expected.items():
            insert(key, value)
        read = call(engine, session, "read")
        for key, value in expected.items():
            expect_equal("value read", value_of(read, key), value)
        expect_stored(engine, session, expected, "of values that hold any byte")

    @clause("records-under-keys")
    def test_a_value_may_be_empty(self, store: OpenStore) -> None:
        """An empty value is no missing key; if the system has none, `missing_features` must say so."""
        engine, session = store()
        if "empty values" in engine.missing_features:
            left_out(f"no empty values: {engine.missing_features['empty values']}")
        call(engine, session, "insert")(KEYS[3], b"")
        read = call(engine, session, "read")
        expect_equal("value read after an empty one was inserted", value_of(read, KEYS[3]), b"")
        expect_stored(engine, session, {KEYS[3]: b""}, "after an insert of an empty value")

    @clause("records-under-keys")
    def test_keeps_a_large_value(self, engine_class: type[Engine], store: OpenStore) -> None:
        """A value of a mebibyte, or of `longest_value`: a run is refused only for longer ones."""
        largest = min(_MIB, engine_class.longest_value or _MIB)
        engine, session = store(value_bytes=largest)
        values = {key: bytes([number]) * largest for number, key in enumerate(KEYS[:3], 1)}
        fill(engine, session, list(values.items()))
        read = call(engine, session, "read")
        for key, value in values.items():
            expect_equal(f"value of {largest:,} bytes", value_of(read, key), value)
        expect_stored(engine, session, values, f"of {largest:,} bytes each")

    @clause("records-under-keys")
    def test_keeps_the_longest_key(self, engine_class: type[Engine], store: OpenStore) -> None:
        """Keys of `longest_key`, or of half a kibibyte without a limit: two of them differ in their last byte alone."""
        longest = engine_class.longest_key or 512
        engine, session = store(key_bytes=longest)
        keys = [b"k" * (longest - 1) + bytes([last]) for last in (1, 2)]
        insert = call(engine, session, "insert")
        expected = {key: b"of key %d" % number for number, key in enumerate(keys)}
        for key, value in expected.items():
            insert(key, value)
        expect_stored(engine, session, expected, f"under two keys of {longest} bytes")

    @clause("records-under-keys")
    def test_longer_keys_and_values_are_refused_before_the_run(self, store: OpenStore) -> None:
        """`longest_key` and `longest_value` are the system's own limits, so that a run stops before it starts."""
        engine, session = store()
        longest = {"key_bytes": engine.longest_key or WIDTH, "value_bytes": engine.longest_value or 64}
        refuse_too_long(engine, self.records(**longest))
        if engine.longest_key is not None:
            with expect_error("records whose keys are too long", Unsupported, "keys of up to"):
                refuse_too_long(engine, self.records(key_bytes=engine.longest_key + 1))
            insert = call(engine, session, "insert")
            with expect_error(f"an insert of a key longer than longest_key ({engine.longest_key})"):
                insert(b"k" * (engine.longest_key + 1), b"value")
        if engine.longest_value is not None:
            with expect_error("records whose values are too long", Unsupported, "values of up to"):
                refuse_too_long(engine, self.records(value_bytes=engine.longest_value + 1))

    @clause("records-under-keys")
    def test_a_scan_is_complete(self, filled: Store) -> None:
        """Every record once, each time it is run, in the order of the keys unless `ordered` is False."""
        engine, session = filled
        scan = call(engine, session, "scan")
        for time in ("first", "second"):
            found = pairs(scan())
            expect_equal(f"records of the {time} scan", found if engine.ordered else sorted(found), PAIRS)

    @clause("records-under-keys")
    def test_a_scan_of_an_empty_store_ends(self, store: OpenStore) -> None:
        """Some cursors raise where there is no first record."""
        engine, session = store()
        expect_equal("records of an empty store", pairs(call(engine, session, "scan")()), [])

    @clause("records-under-keys")
    def test_a_scan_of_more_than_one_page_is_complete(self, store: OpenStore) -> None:
        """Drivers fetch in pages, and the last one is easily lost."""
        engine, session = store()
        many = [(numbered(number * 2**100 % 2**127), b"%d" % number) for number in range(3_000)]
        fill(engine, session, many)
        found = pairs(call(engine, session, "scan")())
        expect_equal("records of a scan", found if engine.ordered else sorted(found), sorted(many))

    @clause("records-under-keys")
    def test_seeks_a_key_or_the_next_above_it(self, filled: Store) -> None:
        """Byte by byte: as signed numbers or as text the order would be another."""
        engine, session = filled
        for snapshot in (False, True):
            seek = call(engine, session, "seek", snapshot=snapshot)
            for key, value in [*PAIRS, *PAIRS[-2::-1]]:
                expect_equal(f"record sought at {key!r}", pair(whole(seek(key))), (key, value))
            for before, after in pairwise(PAIRS):
                above = (int.from_bytes(before[0], "big") + 1).to_bytes(WIDTH, "big")
                expect_equal(f"record sought above {before[0]!r}", pair(whole(seek(above))), after)
        call(engine, session, "delete")(KEYS[-1])
        for snapshot in (False, True):
            last = call(engine, session, "seek", snapshot=snapshot)(KEYS[-1])
            expect_equal("record sought above the last key", last, None)

    @clause("records-under-keys")
    def test_reads_a_range(self, filled: Store) -> None:
        """Mixes scan from a key on; fewer records come only where the store ends."""
        engine, session = filled
        for snapshot in (False, True):
            read_range = call(engine, session, "range", snapshot=snapshot)
            for start, count, expected in (
                (KEYS[0], 3, PAIRS[:3]),
                (KEYS[0], 1, PAIRS[:1]),
                (numbered(3), 4, PAIRS[2:6]),
                (KEYS[-2], 5, PAIRS[-2:]),
                (KEYS[0], 1_000, PAIRS),
            ):
                expect_equal(f"range of {count} from {start!r}", pairs(map(whole, read_range(start, count))), expected)
        call(engine, session, "delete")(KEYS[-1])
        for snapshot in (False, True):
            beyond = pairs(call(engine, session, "range", snapshot=snapshot)(KEYS[-1], 5))
            expect_equal("range from above the last key", beyond, [])
