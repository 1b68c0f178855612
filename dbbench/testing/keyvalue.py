"""What holds for every engine that keeps records under keys: each operation as `Session` describes it, and a whole trial."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

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
from dbbench.workloads.keyvalue import refuse_too_long

#: Bytes of a key in most of the tests; all keys of a store have one length, as in a suite.
WIDTH = 16
_MIB = 2**20
Store = tuple[Engine, Session]
OpenStore = Callable[..., Store]


def numbered(number: int) -> bytes:
    """A key; ascending numbers make ascending keys."""
    return number.to_bytes(WIDTH, "big")


#: Keys with all that text has not, ascending byte by byte. As signed or as text the order would be another one.
KEYS = [
    bytes(WIDTH),
    bytes(WIDTH - 1) + b"\x01",
    bytes(WIDTH - 2) + b"\x01\x00",
    b"A" * WIDTH,
    b"a" + bytes(WIDTH - 1),
    b"a" * (WIDTH - 1) + b" ",
    b"a" * WIDTH,
    b"\x7f" * WIDTH,
    b"\x80" * WIDTH,
    b"\xc3\xa4" * (WIDTH // 2),
    b"\xff" * (WIDTH - 1) + b"\x00",
    b"\xff" * WIDTH,
]
PAIRS = [(key, b"value of " + key) for key in KEYS]

_SUITE = """
dbbench: 1
name: kit
title: Conformance
description: A whole trial on few records.
datasets:
  kit:
    records: {{count: 1200, key_bytes: 16, key_order: scattered, value_bytes: 40}}
scenarios:
  - name: kit
    title: Kit
    dataset: kit
    durability: {tier}
    steps:
      - {{kind: keyvalue, name: insert, title: Insert, operation: insert, count: 50}}
      - {{kind: keyvalue, name: insert-many, title: Insert, operation: insert, transaction: 400, order: random}}
      - {{kind: size, name: size, title: Size}}
      - {{kind: keyvalue, name: read, title: Read, operation: read, order: random}}
      - {{kind: keyvalue, name: read-one, title: Read one, operation: read, order: same, count: 100}}
      - {{kind: keyvalue, name: seek, title: Seek, operation: seek, order: random}}
      - {{kind: keyvalue, name: update, title: Update, operation: update, order: random, count: 20}}
      - {{kind: keyvalue, name: update-one, title: Update one, operation: update, order: same, count: 5}}
      - {{kind: keyvalue, name: update-many, title: Update, operation: update, transaction: 300}}
      - {{kind: keyvalue, name: delete, title: Delete, operation: delete, count: 20}}
      - {{kind: keyvalue, name: delete-many, title: Delete, operation: delete, transaction: 100, count: 200}}
      - {{kind: keyvalue, name: scan, title: Scan, operation: scan}}
      - kind: mix
        name: mix
        title: Mix
        operations: 80
        weights: {{read: 50, update: 15, insert: 20, modify: 15}}
      - kind: mix
        name: scans
        title: Mix with scans
        operations: 60
        weights: {{scan: 80, insert: 20}}
        keys: latest
        scan_length: 20
"""
#: Step of the suite -> what it asks of a session.
_NEEDS = {
    "insert": ["insert"],
    "insert-many": ["insert_many"],
    "size": [],
    "read": ["read"],
    "read-one": ["read"],
    "seek": ["seek"],
    "update": ["update"],
    "update-one": ["update"],
    "update-many": ["update_many"],
    "delete": ["delete"],
    "delete-many": ["delete_many"],
    "scan": ["scan"],
    "mix": ["read", "update", "insert"],
    "scans": ["range", "insert"],
}


class KeyValueContract(EngineContract):
    """The whole kit for an engine that keeps records under keys."""

    @pytest.fixture
    def store(self, opened: Opener) -> OpenStore:
        """Opens the engine with an empty store in it, and a session; `key` and `value` are lengths in bytes."""

        def make(key: int = WIDTH, value: int = 64, folder: str = "") -> Store:
            engine = opened(folder)
            engine.create_store(records(key, value))
            return engine, engine.connect()

        return make

    @pytest.fixture
    def filled(self, store: OpenStore) -> Store:
        """A store with the kit's records in it, inserted from the last to the first."""
        engine, session = store()
        call(engine, session, "insert_many")(PAIRS[::-1])
        return engine, session

    # What it says of itself

    def test_offers_each_operation_or_says_why_it_can_not(self, engine_class: type[Engine]) -> None:
        for operation in ON_RECORDS:
            assert offers(engine_class, operation) != (operation in engine_class.impossible), operation

    def test_says_what_a_store_is(self, engine_class: type[Engine]) -> None:
        assert engine_class.duplicates in get_args(get_args(get_type_hints(Engine)["duplicates"])[0])
        assert engine_class.longest_key is None or engine_class.longest_key >= WIDTH
        assert engine_class.longest_value is None or engine_class.longest_value >= 1024
        for operation in ("seek", "range"):
            assert engine_class.ordered or not offers(engine_class, operation)

    # One record

    def test_what_was_inserted_is_read(self, store: OpenStore) -> None:
        engine, session = store()
        call(engine, session, "insert")(*PAIRS[3])
        assert bytes(call(engine, session, "read")(KEYS[3])) == PAIRS[3][1]

    def test_a_missing_key_gives_none(self, filled: Store) -> None:
        engine, session = filled
        for snapshot in (False, True):
            assert call(engine, session, "read", snapshot=snapshot)(numbered(77)) is None

    def test_an_insert_of_a_key_that_is_there_does_what_it_says(self, filled: Store) -> None:
        engine, session = filled
        insert = call(engine, session, "insert")
        if engine.duplicates == "refused":
            with pytest.raises(Exception, match=r"."):  # each driver has its own
                insert(KEYS[3], b"another")
            session.close()
            session = engine.connect()
        else:
            insert(KEYS[3], b"another")
        expected = PAIRS[3][1] if engine.duplicates == "refused" else b"another"
        assert bytes(call(engine, session, "read")(KEYS[3])) == expected
        assert len(stored(engine, session)) == len(KEYS)

    def test_an_update_replaces_the_value(self, filled: Store) -> None:
        engine, session = filled
        update = call(engine, session, "update")
        for value in (b"short", b"longer than the one before it", b"short"):
            update(KEYS[5], value)
            assert bytes(call(engine, session, "read")(KEYS[5])) == value
        assert stored(engine, session) == {**dict(PAIRS), KEYS[5]: b"short"}

    def test_a_delete_removes_one_record(self, filled: Store) -> None:
        engine, session = filled
        call(engine, session, "delete")(KEYS[5])
        assert call(engine, session, "read")(KEYS[5]) is None
        assert stored(engine, session) == {key: value for key, value in PAIRS if key != KEYS[5]}

    def test_a_second_delete_changes_nothing(self, filled: Store) -> None:
        """It may raise."""
        engine, session = filled
        delete = call(engine, session, "delete")
        delete(KEYS[5])
        try:
            delete(KEYS[5])
        except Exception:  # each driver has its own
            session.close()
            session = engine.connect()
        assert stored(engine, session) == {key: value for key, value in PAIRS if key != KEYS[5]}
        call(engine, session, "insert")(*PAIRS[5])
        assert stored(engine, session) == dict(PAIRS)

    # Bytes

    def test_keys_may_hold_any_byte(self, filled: Store) -> None:
        engine, session = filled
        read = call(engine, session, "read")
        assert [bytes(read(key)) for key in KEYS] == [value for _, value in PAIRS]

    @pytest.mark.parametrize(
        "value", [bytes(40), b"\x00a\x00", bytes(range(256)), b"\xff" * 40, b" 'a' \\ \" ", b"x"], ids=range(6)
    )
    def test_values_may_hold_any_byte(self, store: OpenStore, value: bytes) -> None:
        engine, session = store(value=256)
        call(engine, session, "insert")(KEYS[0], value)
        call(engine, session, "insert_many")([(KEYS[1], value)])
        read = call(engine, session, "read")
        assert (bytes(read(KEYS[0])), bytes(read(KEYS[1]))) == (value, value)
        assert stored(engine, session) == {KEYS[0]: value, KEYS[1]: value}

    def test_a_value_may_be_empty(self, store: OpenStore) -> None:
        """Or it need not be kept, if the engine lacks empty values."""
        engine, session = store()
        if "empty values" in engine.lacks:
            return
        call(engine, session, "insert")(KEYS[3], b"")
        found = call(engine, session, "read")(KEYS[3])
        assert found is not None
        assert bytes(found) == b""
        assert stored(engine, session) == {KEYS[3]: b""}

    def test_keeps_a_large_value(self, engine_class: type[Engine], store: OpenStore) -> None:
        """Of a mebibyte, or the longest that it takes."""
        largest = min(_MIB, engine_class.longest_value or _MIB)
        engine, session = store(value=largest)
        values = {key: bytes([number]) * largest for number, key in enumerate(KEYS[:3], 1)}
        call(engine, session, "insert_many")(list(values.items()))
        call(engine, session, "update")(KEYS[1], values[KEYS[1]])
        read = call(engine, session, "read")
        assert all(bytes(read(key)) == value for key, value in values.items())
        assert stored(engine, session) == values

    def test_keeps_the_longest_key(self, engine_class: type[Engine], store: OpenStore) -> None:
        """Of half a kibibyte, if there is no limit."""
        longest = engine_class.longest_key or 512
        engine, session = store(key=longest)
        keys = [b"k" * (longest - 1) + bytes([last]) for last in (1, 2)]
        for key in keys:
            call(engine, session, "insert")(key, b"of the long key")
        assert bytes(call(engine, session, "read")(keys[1])) == b"of the long key"
        call(engine, session, "delete")(keys[0])
        assert stored(engine, session, keys) == {keys[1]: b"of the long key"}

    def test_longer_keys_and_values_are_refused_before_the_run(self, store: OpenStore) -> None:
        engine, session = store()
        refuse_too_long(engine, records(engine.longest_key or WIDTH, engine.longest_value or 64))
        if engine.longest_key is not None:
            with pytest.raises(Unsupported, match="keys of up to"):
                refuse_too_long(engine, records(engine.longest_key + 1, 64))
            with pytest.raises(Exception, match=r"."):  # the limit that it states is its own
                call(engine, session, "insert")(b"k" * (engine.longest_key + 1), b"value")
        if engine.longest_value is not None:
            with pytest.raises(Unsupported, match="values of up to"):
                refuse_too_long(engine, records(WIDTH, engine.longest_value + 1))

    # All records, and some of them in order

    def test_a_scan_is_complete(self, filled: Store) -> None:
        engine, session = filled
        scan = call(engine, session, "scan")
        for _ in range(2):
            found = pairs(scan())
            assert len(found) == len(PAIRS)
            assert (found if engine.ordered else sorted(found)) == PAIRS

    def test_a_scan_of_an_empty_store_ends(self, store: OpenStore) -> None:
        engine, session = store()
        assert pairs(call(engine, session, "scan")()) == []

    def test_a_scan_of_more_than_one_page_is_complete(self, store: OpenStore) -> None:
        engine, session = store()
        many = [(numbered(number * 2**100 % 2**127), b"%d" % number) for number in range(3_000)]
        call(engine, session, "insert_many")(many)
        found = pairs(call(engine, session, "scan")())
        assert (found if engine.ordered else sorted(found)) == sorted(many)

    def test_a_scan_read_in_part_hinders_no_write(self, filled: Store) -> None:
        engine, session = filled
        rows = iter(call(engine, session, "scan")())
        next(rows)
        del rows
        gc.collect()
        call(engine, session, "delete")(KEYS[0])
        call(engine, session, "delete")(KEYS[-1])
        assert stored(engine, session) == dict(PAIRS[1:-1])

    @pytest.mark.parametrize("snapshot", [False, True])
    def test_seeks_a_key_or_the_next_above_it(self, filled: Store, snapshot: bool) -> None:
        engine, session = filled
        call(engine, session, "delete")(KEYS[-1])
        seek = call(engine, session, "seek", snapshot=snapshot)
        for key, value in [*PAIRS[:-1], *PAIRS[-2::-1]]:
            assert pair(seek(key)) == (key, value)
        for before, after in pairwise(PAIRS[:-1]):
            above = (int.from_bytes(before[0], "big") + 1).to_bytes(WIDTH, "big")
            assert pair(seek(above)) == after
        assert seek(KEYS[-1]) is None
        assert pair(seek(KEYS[0])) == PAIRS[0]

    @pytest.mark.parametrize("snapshot", [False, True])
    def test_reads_a_range(self, filled: Store, snapshot: bool) -> None:
        engine, session = filled
        read_range = call(engine, session, "range", snapshot=snapshot)
        assert pairs(read_range(KEYS[0], 3)) == PAIRS[:3]
        assert pairs(read_range(KEYS[0], 1)) == PAIRS[:1]
        assert pairs(read_range(numbered(3), 4)) == PAIRS[2:6]
        assert pairs(read_range(KEYS[-2], 5)) == PAIRS[-2:]
        assert pairs(read_range(KEYS[0], 1_000)) == PAIRS
        call(engine, session, "delete")(KEYS[-1])
        assert pairs(call(engine, session, "range", snapshot=snapshot)(KEYS[-1], 5)) == []

    # Transactions

    def test_many_are_written_at_once(self, store: OpenStore) -> None:
        engine, session = store()
        call(engine, session, "insert_many")(PAIRS)
        assert stored(engine, session) == dict(PAIRS)
        changed = [(key, b"changed") for key in KEYS[2:5]]
        call(engine, session, "update_many")(changed)
        assert stored(engine, session) == {**dict(PAIRS), **dict(changed)}
        call(engine, session, "delete_many")(KEYS[4:])
        assert stored(engine, session) == {**dict(PAIRS[:2]), **dict(changed[:2])}
        call(engine, session, "insert_many")(PAIRS[4:])
        assert len(stored(engine, session)) == len(PAIRS)

    def test_of_many_that_fail_in_the_middle_nothing_is_there(self, store: OpenStore) -> None:
        """Or what was written before, if the engine lacks transactions."""
        engine, session = store()
        call(engine, session, "insert")(*PAIRS[0])
        insert = call(engine, session, "insert_many")
        with pytest.raises(Exception, match=r"."):  # each driver has its own
            insert([*PAIRS[1:], None])
        del insert
        gc.collect()  # some drivers keep a transaction open for as long as one of its cursors lives
        session.close()
        session = engine.connect()
        if "transactions" not in engine.lacks:
            assert stored(engine, session) == dict(PAIRS[:1])
            call(engine, session, "insert_many")(PAIRS[1:])
            assert stored(engine, session) == dict(PAIRS)

    def test_records_that_were_committed_are_there_after_reopening(self, store: OpenStore, opened: Opener) -> None:
        engine, session = store(folder="own")
        call(engine, session, "insert_many")(PAIRS)
        call(engine, session, "update")(KEYS[1], b"last")
        session.close()
        engine.close()
        again = opened("own")
        other = again.connect()
        assert stored(again, other) == {**dict(PAIRS), KEYS[1]: b"last"}
        call(again, other, "delete")(KEYS[1])
        other.close()

    def test_sees_what_another_session_has_committed(self, filled: Store) -> None:
        engine, session = filled
        read, other = call(engine, session, "read"), engine.connect()
        assert bytes(read(KEYS[1])) == PAIRS[1][1]
        call(engine, other, "update")(KEYS[1], b"by another")
        assert bytes(read(KEYS[1])) == b"by another"
        if offers(type(engine), "seek"):
            seek, read_range = (prepared(engine, session, name)() for name in ("seek", "range"))
            assert pair(seek(KEYS[1])) == (KEYS[1], b"by another")
            call(engine, other, "update")(KEYS[1], b"once more")
            assert pair(seek(KEYS[1])) == (KEYS[1], b"once more")
            assert pairs(read_range(KEYS[1], 1)) == [(KEYS[1], b"once more")]
        other.close()

    def test_a_snapshot_has_what_was_there_before_it(self, filled: Store) -> None:
        engine, session = filled
        read = call(engine, session, "read", snapshot=True)
        assert [bytes(read(key)) for key in KEYS] == [value for _, value in PAIRS]
        other = engine.connect()
        call(engine, other, "update")(KEYS[1], b"by another")
        assert bytes(read(KEYS[1])) in (PAIRS[1][1], b"by another")
        other.close()
        assert bytes(call(engine, session, "read", snapshot=True)(KEYS[1])) == b"by another"

    # Clients

    @pytest.mark.parametrize("what", ["threads", "processes"])
    def test_serves_records_to_as_many_clients_as_it_says(self, store: OpenStore, what: str) -> None:
        """Four threads or two processes that insert, update, read and delete at once; or it refuses them."""
        engine, session = store()
        number = 4 if what == "threads" else 2
        clients = Clients.model_validate({what: number})
        kit = records(WIDTH, 64, 200)
        spec = kit.spec.model_dump()
        inserts, updates, reads, deletes = (
            Inputs(spec, kit.seed, kit.scale, operation, "random", 0, 200, version)
            for operation, version in (("insert", 0), ("update", 1), ("read", 1), ("delete", 0))
        )
        most = getattr(engine.concurrency, what)
        if most is not None and most < number:
            with pytest.raises(Unsupported, match=what):
                drive(engine, session, job(inserts), clients)
            return
        for inputs in (inserts, updates, reads):
            assert drive(engine, session, job(inputs), clients).service.count == 200
        keys = kit.keys(np.arange(200, dtype=np.uint64))
        numbers, versions = kit.named(sorted(stored(engine, session, keys).items()))
        assert sorted(numbers.tolist()) == list(range(200))
        assert set(versions.tolist()) == {1}
        if reason := engine.one_client.get("delete"):
            with pytest.raises(Unsupported, match=re.escape(reason)):
                drive(engine, session, job(deletes), clients)
            return
        assert drive(engine, session, job(deletes), clients).service.count == 200
        assert stored(engine, session, keys) == {}

    # The whole

    def test_a_store_has_a_size(self, filled: Store) -> None:
        """Or it says why it has none."""
        engine, _ = filled
        engine.flush()
        try:
            size = engine.size()
        except Unsupported:
            return
        assert size.total > 0
        assert all(not Path(file.name).is_absolute() and file.apparent >= 0 for file in size.files)

    def test_can_be_closed_twice(self, store: OpenStore) -> None:
        engine, session = store()
        session.close()
        engine.close()
        engine.close()

    def test_a_whole_trial_on_records_is_right(self, engine_class: type[Engine], whole_trial: WholeTrial) -> None:
        """With all that the store holds checked."""
        result = whole_trial(_SUITE)
        found = {step.name: (step.outcome, step.detail) for step in result.steps}
        assert list(found) == list(_NEEDS)
        assert found.pop("size")[0] in (Outcome.OK, Outcome.UNSUPPORTED)
        refused = False  # a step that writes, and so those after it are not run
        for name, (outcome, detail) in found.items():
            missing = [operation for operation in _NEEDS[name] if not offers(engine_class, operation)]
            expected = Outcome.NOT_RUN if refused else Outcome.UNSUPPORTED if missing else Outcome.OK
            assert outcome == expected, (name, detail)
            if expected is Outcome.UNSUPPORTED:
                assert engine_class.impossible[missing[0]] in detail
                refused = name not in ("read", "read-one", "seek", "scan")


def records(key: int, value: int, count: int = 3_000) -> RecordSet:
    """Records of such lengths, also of such that a suite can't ask for."""
    return RecordSet(Records.model_construct(count=count, key_bytes=key, value_bytes=value, key_order="scattered"), 1)


def job(inputs: Inputs) -> Job:
    """Of what some clients do together."""
    return Job(inputs.operation, (), 0, 0, inputs=inputs)


def call(engine: Engine, session: Session, operation: str, **how: bool) -> Callable[..., Any]:
    """The prepared operation. Skips the test, with the engine's own reason, where there can be none."""
    if operation in engine.impossible and not offers(type(engine), operation):
        pytest.skip(f"{engine.name} can't {operation}: {engine.impossible[operation]}")
    found: Callable[..., Any] = prepared(engine, session, operation)(**how)
    return found


def pair(found: Any) -> tuple[bytes, bytes]:
    """A record in plain bytes, whatever a driver makes of them."""
    key, value = found
    return bytes(key), bytes(value)


def pairs(found: Any) -> list[tuple[bytes, bytes]]:
    """Records in plain bytes."""
    return [pair(each) for each in found]


def stored(engine: Engine, session: Session, among: Sequence[bytes] = KEYS) -> dict[bytes, bytes]:
    """All that the store holds, each key once. An engine without a scan is asked for each key of `among`."""
    if not offers(type(engine), "scan"):
        read = call(engine, session, "read")
        return {key: bytes(value) for key in among if (value := read(key)) is not None}
    found = pairs(call(engine, session, "scan")())
    assert len(dict(found)) == len(found), "a scan gave a key twice"
    return dict(found)
