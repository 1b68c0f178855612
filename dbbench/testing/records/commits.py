"""What is committed, seen and kept, of records and of blocks: transactions, snapshots, reopening, several clients."""

import gc
import re
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dbbench.datasets.records import RecordSet
from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import offers, prepared
from dbbench.engine.sql.dialect import RECORD_TABLE
from dbbench.errors import Unsupported
from dbbench.loadgen.clients import drive
from dbbench.loadgen.job import Job
from dbbench.loadgen.key_streams import KeySequence, OperationMix
from dbbench.suite.steps.base import Clients
from dbbench.testing.clause import clause, expect, expect_equal, expect_error, left_out
from dbbench.testing.contract import ON_RECORDS, Opener, beside
from dbbench.testing.records.store import (
    OpenStore,
    Store,
    StoreContract,
    call,
    expect_stored,
    fill,
    pair,
    pairs,
    stored,
    value_of,
)
from dbbench.workloads.mix import last_written

#: Records that several clients write together.
COUNT = 200
#: Sessions of a group, and how often each reads every pair.
SESSIONS, LAPS = 4, 5


class CommitContract(StoreContract):
    """Transactions, snapshots, reopening, several clients."""

    @clause("what-the-engine-cant-do")
    def test_offers_each_operation_or_says_why_it_can_not(self, engine_class: type[Engine]) -> None:
        """The report prints the reason where another engine has a figure."""
        for operation in ON_RECORDS:
            expect(
                offers(engine_class, operation) or operation in engine_class.unsupported_reasons,
                f"expected {engine_class.session_class.__name__} to have prepare_{operation}, or a reason in "
                f"unsupported_reasons[{operation!r}], got neither",
            )

    @clause("records-under-keys")
    def test_many_are_inserted_at_once(self, store: OpenStore) -> None:
        """Insert in one transaction, also into a store that has records."""
        engine, session = store()
        insert_many = call(engine, session, "insert_many")
        insert_many(self.pairs[4:])
        expect_stored(engine, session, dict(self.pairs[4:]), "after insert_many")
        insert_many(self.pairs[:4])
        expect_stored(engine, session, dict(self.pairs), "after insert_many into a store that has records")

    @clause("records-under-keys")
    def test_many_are_updated_at_once(self, filled: Store) -> None:
        """Change the named ones, and no other."""
        engine, session = filled
        changed = [(key, self.value(b"changed")) for key, _ in self.pairs[2:5]]
        call(engine, session, "update_many")(changed)
        expect_stored(engine, session, {**dict(self.pairs), **dict(changed)}, "after update_many")

    @clause("records-under-keys")
    def test_many_are_deleted_at_once(self, filled: Store) -> None:
        """Change the named ones, and no other."""
        engine, session = filled
        call(engine, session, "delete_many")([key for key, _ in self.pairs[4:]])
        expect_stored(engine, session, dict(self.pairs[:4]), "after delete_many")

    @clause("records-under-keys")
    def test_of_many_that_fail_in_the_middle_nothing_is_there(self, store: OpenStore) -> None:
        """A transaction costs work that others don't do; an engine without them must say so in `missing_features`."""
        engine, session = store()
        call(engine, session, "insert")(*self.pairs[0])
        insert = call(engine, session, "insert_many")
        with expect_error("insert_many of a list that ends with None"):
            insert([*self.pairs[1:], None])
        del insert
        gc.collect()  # some drivers keep a transaction open for as long as one of its cursors lives
        session.close()
        session = engine.connect()
        if "transactions" in engine.missing_features:
            left_out(f"no transactions: {engine.missing_features['transactions']}")
        expect_stored(engine, session, dict(self.pairs[:1]), "after an insert_many that failed")
        call(engine, session, "insert_many")(self.pairs[1:])
        expect_stored(engine, session, dict(self.pairs), "after the insert_many that followed")

    @clause("records-under-keys")
    def test_a_scan_read_in_part_hinders_no_write(self, filled: Store) -> None:
        """A cursor that nobody reads any more must not keep its lock."""
        engine, session = filled
        rows = iter(call(engine, session, "scan")())
        next(rows)
        del rows
        gc.collect()
        update = call(engine, session, "update")
        changed = {key: self.value(b"changed") for key, _ in (self.pairs[0], self.pairs[-1])}
        for key, value in changed.items():
            update(key, value)
        expected = {**dict(self.pairs), **changed}
        expect_stored(engine, session, expected, "after updates that follow a scan read in part")

    @clause("durability-tiers")
    def test_records_that_were_committed_are_there_after_reopening(self, store: OpenStore, opened: Opener) -> None:
        """Cold steps and the check after the last step open the store again and need its records."""
        engine, session = store("own")
        fill(engine, session, self.pairs[1:])
        call(engine, session, "insert")(*self.pairs[0])
        session.close()
        self._expect_records(self.reopened(engine, opened), "after reopening")

    @clause("compaction")
    def test_a_compaction_changes_no_record(self, store: OpenStore, opened: Opener) -> None:
        """The size after it is ranked. One that does nothing gains nothing; one that loses records would win."""
        engine, session = store("own")
        fill(engine, session, self.pairs)
        prepared(engine, session, "compact")([RECORD_TABLE])()
        session.close()
        self._expect_records(self.reopened(engine, opened), "after a compaction")

    def _expect_records(self, engine: Engine, when: str) -> None:
        session = engine.connect()
        expect_stored(engine, session, dict(self.pairs), when)
        session.close()

    @clause("records-under-keys")
    def test_sees_what_another_session_has_committed(self, filled: Store) -> None:
        """A read without `snapshot` sees what was committed before the call, however long ago it was prepared."""
        engine, session = filled
        key, value = self.pairs[1]
        written = [self.value(text) for text in (b"by another", b"once more", b"at last")]
        with beside(engine, session) as other:
            read, update = call(engine, session, "read"), call(engine, other, "update")
            expect_equal("value read first", value_of(read, key), value)
            update(key, written[0])
            expect_equal("value read after another session's update", value_of(read, key), written[0])
            if offers(type(engine), "seek"):
                seek = call(engine, session, "seek")
                expect_equal("record sought", pair(seek(key)), (key, written[0]))
                update(key, written[1])
                expect_equal("record sought after another's update", pair(seek(key)), (key, written[1]))
            if offers(type(engine), "range"):
                read_range = call(engine, session, "range")
                expect_equal("range before another's update", len(pairs(read_range(key, 1))), 1)
                update(key, written[2])
                expect_equal("range after another's update", pairs(read_range(key, 1)), [(key, written[2])])

    @clause("records-under-keys")
    def test_a_snapshot_has_what_was_there_before_it(self, filled: Store) -> None:
        """What was committed before the read was prepared is the least that a snapshot has."""
        engine, session = filled
        read = call(engine, session, "read", snapshot=True)
        for key, value in self.pairs:
            expect_equal(f"value read under {key!r}", value_of(read, key), value)
        (key, before), after = self.pairs[1], self.value(b"by another")
        with beside(engine, session) as other:
            call(engine, other, "update")(key, after)
            found = value_of(read, key)
            expect(
                found in (before, after),
                f"value read after another session's update: expected the old or the new one, got {found!r}",
            )
        anew = call(engine, session, "read", snapshot=True)
        expect_equal("value read by a snapshot prepared after the update", value_of(anew, key), after)

    @clause("concurrency")
    def test_serves_records_to_threads_as_it_says(self, store: OpenStore) -> None:
        """`concurrency.threads` decides which steps the engine takes part in."""
        _serves(store(), self.records(count=COUNT), "threads", 4)

    @clause("concurrency")
    def test_serves_records_to_processes_as_it_says(self, store: OpenStore) -> None:
        """Each process opens an engine of its own on the directory, while the others have it open."""
        _serves(store(), self.records(count=COUNT), "processes", 2, at_once=True)

    @clause("concurrency")
    def test_each_session_of_a_group_gets_its_own_answers(self, filled: Store) -> None:
        """While one waits, the others ask: answers must not get mixed up."""
        engine, _ = filled
        group = engine.group()
        if group is None:
            left_out("its clients have a thread each")
        from dbbench.loadgen.turns import turns_of  # needs greenlet, which few engines do

        turns, connect = turns_of(engine, group)

        def client(number: int) -> None:
            session = connect()
            read = prepared(engine, session, "read")()
            turns.meet(lambda: None)
            for place in range(number, number + LAPS * len(self.pairs)):
                key, value = self.pairs[place % len(self.pairs)]
                expect_equal(f"value under {key!r} in session {number} of {SESSIONS}", value_of(read, key), value)
            session.close()

        try:
            turns.run([partial(client, number) for number in range(SESSIONS)])
        finally:
            group.close()

    @clause("the-life-of-a-trial")
    def test_can_be_closed_twice(self, store: OpenStore) -> None:
        """A trial that fails closes what may be closed already."""
        engine, session = store()
        session.close()
        engine.close()
        engine.close()


def _serves(store: Store, kit: RecordSet, what: str, number: int, *, at_once: bool = False) -> None:
    """Clients that insert, update and read, each in its turn or `at_once`, and then delete; or they are refused."""
    engine, session = store
    clients = Clients.model_validate({what: number})
    call(engine, session, "insert")
    most = getattr(engine.info().concurrency, what)
    if most is not None and most < number:
        with expect_error(f"{number} {what}, more than concurrency says", Unsupported, what):
            drive(engine, session, _each("insert", kit), clients)
        return
    written = (_mixed if at_once else _in_turn)(engine, session, kit, clients)
    keys = kit.keys(np.array(sorted(written), dtype=np.uint64))
    numbers, versions = kit.named(sorted(stored(engine, session, keys).items()))
    expect_equal("records written together", sorted(numbers.tolist()), sorted(written))
    found = zip(numbers.tolist(), versions.tolist(), strict=True)
    wrong = [place for place, version in found if version not in written[place]]
    expect_equal("records that don't hold what was written to them last", wrong, [])
    if not offers(type(engine), "delete"):
        return
    if why := engine.one_client.get("delete"):
        with expect_error("deletes by several clients, against one_client", Unsupported, re.escape(why)):
            drive(engine, session, _each("delete", kit), clients)
        return
    made = drive(engine, session, _each("delete", kit), clients).service.count
    expect_equal(f"calls of delete made by {number} {what}", made, COUNT)
    numbers, _ = kit.named(sorted(stored(engine, session, keys).items()))
    left = [place for place in sorted(written) if place >= COUNT]
    expect_equal("records after others were deleted", sorted(numbers.tolist()), left)


def _each(operation: str, kit: RecordSet, version: int = 0) -> Job:
    """One operation on each of the kit's records."""
    inputs = KeySequence(kit.spec, kit.seed, kit.scale, operation, "random", 0, COUNT, version)
    return Job(operation, (), 0, 0, inputs=inputs)


def _in_turn(engine: Engine, session: Session, kit: RecordSet, clients: Clients) -> Mapping[int, Sequence[int]]:
    """One operation after another: the versions that each record may have then."""
    version = int(offers(type(engine), "update"))
    for operation, written in (("insert", 0), ("update", 1), ("read", version)):
        if offers(type(engine), operation):
            made = drive(engine, session, _each(operation, kit, written), clients).service.count
            expect_equal(f"calls of {operation} made by {clients.count} clients", made, COUNT)
    return {number: [version] for number in range(COUNT)}


def _mixed(engine: Engine, session: Session, kit: RecordSet, clients: Clients) -> Mapping[int, Sequence[int]]:
    """All operations in one job, as the start of a process takes far longer than its calls."""
    fill(engine, session, kit.pairs(np.arange(COUNT, dtype=np.uint64)))
    weights = {name: 1.0 for name in ("insert", "update", "read") if offers(type(engine), name)}
    spec = kit.spec
    mix = OperationMix(spec, kit.seed, kit.scale, 0, COUNT, 3 * COUNT, weights, "uniform", 1)
    made = drive(engine, session, Job("mix", (), 0, mix.operations, inputs=mix), clients).service.count
    expect_equal(f"calls of {', '.join(weights)} made by {clients.count} clients", made, mix.operations)
    of = clients.count
    written = {number: [0] for number in range(COUNT)}
    written |= last_written(mix, of, np.arange(COUNT, dtype=np.uint64))
    for client in range(of):
        written |= {COUNT + client + of * place: [0] for place in range(mix.inserted(client, of))}
    return written
