"""Many records: scans, seeks and ranges."""

from __future__ import annotations

from itertools import pairwise

from dbbench.testing.clause import clause
from dbbench.testing.expect import expect_equal
from dbbench.testing.records.store import (
    KEYS,
    PAIRS,
    WIDTH,
    OpenStore,
    Store,
    StoreContract,
    call,
    fill,
    numbered,
    pair,
    pairs,
)


class OrderContract(StoreContract):
    """Scans, seeks and ranges."""

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
                expect_equal(f"record sought at {key!r}", pair(seek(key)), (key, value))
            for before, after in pairwise(PAIRS):
                above = (int.from_bytes(before[0], "big") + 1).to_bytes(WIDTH, "big")
                expect_equal(f"record sought above {before[0]!r}", pair(seek(above)), after)
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
                expect_equal(f"range of {count} from {start!r}", pairs(read_range(start, count)), expected)
        call(engine, session, "delete")(KEYS[-1])
        for snapshot in (False, True):
            beyond = pairs(call(engine, session, "range", snapshot=snapshot)(KEYS[-1], 5))
            expect_equal("range from above the last key", beyond, [])
