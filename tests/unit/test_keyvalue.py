"""What each call of a key-value step takes: complete, disjoint, in order, in flat memory; and what a check finds."""

import tracemalloc
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from dbbench.datasets.records import RecordSet
from dbbench.engine.base import Setup
from dbbench.engine.traits import Concurrency
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.clients import drive
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.job import Job
from dbbench.loadgen.key_streams import OPERATIONS, KeySequence, OperationMix
from dbbench.loadgen.loops import CHUNK, stream
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.suite.steps.mix import MixStep
from dbbench.suite.steps.timed import Rate
from dbbench.workloads import keyvalue, mix
from dbbench.workloads.context import StepContext
from dbbench_plugins.dict import Dict, DictSession
from tests.unit.piped import piped

SPEC = Records(count=1000, key_bytes=8, key_order="ascending", value_bytes=24)
RECORDS = RecordSet(SPEC, 1)


def inputs(
    operation: str = "read", order: str = "ascending", first: int = 0, count: int = 1000, **more: Any
) -> KeySequence:
    return KeySequence(SPEC, 1, 1.0, operation, order, first, count, **more)


def given(made: KeySequence, number: int = 0, of: int = 1) -> list[Any]:
    return list(made._share(number, of))


def number_of(key: bytes) -> int:
    return int.from_bytes(key, "big")


# One operation


@pytest.mark.parametrize("order", ["ascending", "random"])
@pytest.mark.parametrize("of", [1, 2, 3, 7, 1500])
def test_the_clients_shares_are_complete_and_disjoint(order: str, of: int) -> None:
    shares = [given(inputs(order=order, first=50), number, of) for number in range(of)]
    numbers = [number_of(key) for share in shares for key in share]
    assert sorted(numbers) == list(range(50, 1050))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert (numbers == sorted(numbers)) == (order == "ascending")


def test_one_record_again_and_again() -> None:
    assert set(given(inputs(order="same", first=10, count=100))) == set(RECORDS.keys(np.array([60], np.uint64)))
    written = {key for key, _ in given(inputs("update", "same", first=10, count=100))}
    assert written == set(RECORDS.keys(np.array([10], np.uint64)))  # of a write it is the first


@pytest.mark.parametrize("size", [1, 7, 300, CHUNK, 5 * CHUNK])
def test_transactions_have_the_size_that_was_asked_for(size: int) -> None:
    many = given(inputs("insert", count=3000, transaction=size))
    if size == 1:
        many = [[pair] for pair in many]
    assert {len(pairs) for pairs in many[:-1]} <= {size}
    assert len(many) == -(-3000 // size)
    assert [number_of(key) for pairs in many for key, _ in pairs] == list(range(3000))


def test_deletes_of_many_take_keys() -> None:
    (keys,) = given(inputs("delete", count=10, transaction=10))
    assert [number_of(key) for key in keys] == list(range(10))


@pytest.mark.parametrize(("value", "records", "transaction"), [(24, 40_000, 1), (24, 40_000, 1000), (2**20, 5, 1)])
def test_memory_grows_neither_with_the_number_of_records_nor_with_their_size(
    value: int, records: int, transaction: int
) -> None:
    """At most some 10 MB of each are held: what was made at once, and once more while it is being made."""
    spec = SPEC.model_copy(update={"value_bytes": value})
    made = KeySequence(spec, 1, 1.0, "insert", "random", 0, 10**8, transaction=transaction)
    session = DictSession({})
    work = made.prepare(Dict(Setup(Path(), Tier.MEMORY)), session, 0, 1)
    calls = islice(work.given, records // transaction)
    tracemalloc.start()
    stream(lambda *_: None, calls, lambda _: None, through=work.through, at_once=work.at_once)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000


# A mix


def draws(keys: str = "zipfian", operations: int = 20_000, **more: Any) -> OperationMix:
    weights = {"read": 50.0, "update": 20.0, "insert": 20.0, "scan": 5.0, "modify": 5.0}
    fields = {"first": 100, "next": 1100, "scan_length": 9, "version": 4, **more}
    return OperationMix(SPEC, 1, 1.0, operations=operations, weights=weights, keys=keys, **fields)


def drawn(made: OperationMix, number: int = 0, of: int = 1) -> tuple[np.ndarray, ...]:
    return tuple(np.concatenate(parts) for parts in zip(*made.drawn(number, of), strict=True))


def test_a_mix_has_the_shares_that_were_asked_for() -> None:
    kinds, _, _, lengths = drawn(draws())
    assert len(kinds) == 20_000
    shares = {OPERATIONS[kind]: number / 20_000 for kind, number in Counter(kinds.tolist()).items()}
    assert shares == pytest.approx({"read": 0.5, "update": 0.2, "insert": 0.2, "scan": 0.05, "modify": 0.05}, abs=0.015)
    assert (lengths.min(), lengths.max()) == (1, 9)


@pytest.mark.parametrize("keys", ["uniform", "zipfian", "latest"])
@pytest.mark.parametrize("of", [1, 3])
def test_a_mix_asks_only_for_records_that_are_there(keys: str, of: int) -> None:
    """Those from the start, and what the client itself has inserted by then."""
    inserted: list[int] = []
    for client in range(of):
        own: set[int] = set()
        kinds, numbers, versions, _ = drawn(draws(keys), client, of)
        for kind, number, version in zip(kinds.tolist(), numbers.tolist(), versions.tolist(), strict=True):
            if OPERATIONS[kind] == "insert":
                own.add(number)
                assert version == 0
            else:
                assert 100 <= number < 1100 or number in own
                assert version > 4
        assert sorted(own) == list(range(1100 + client, 1100 + client + of * len(own), of))
        assert draws(keys).inserted(client, of) == len(own)
        inserted += own
    assert len(set(inserted)) == len(inserted)


def test_no_two_writes_of_a_mix_have_one_version() -> None:
    versions = [
        version
        for client in range(3)
        for kind, version in zip(*(drawn(draws(), client, 3)[part].tolist() for part in (0, 2)), strict=True)
        if OPERATIONS[kind] in ("update", "modify")
    ]
    assert len(set(versions)) == len(versions)
    assert max(versions) <= 4 + 20_000 * 3 + 3  # what the check takes for the greatest


def test_the_operations_of_a_mix_are_shared_out_whole() -> None:
    assert sum(len(drawn(draws(operations=1001), client, 4)[0]) for client in range(4)) == 1001


def test_popular_records_are_all_over_the_keys() -> None:
    kinds, numbers, _, _ = drawn(draws("zipfian"))
    times = Counter(numbers[kinds == OPERATIONS.index("read")].tolist())
    (_, most), *rest = times.most_common()
    assert most > 10 * np.mean([number for _, number in rest])
    popular = np.array([number for number, _ in times.most_common(50)])
    assert popular.min() < 300
    assert popular.max() > 900


def test_the_latest_are_the_popular_ones() -> None:
    kinds, numbers, _, _ = drawn(draws("latest", operations=500))
    reads = numbers[kinds == OPERATIONS.index("read")]
    assert np.median(reads) > 1000


def test_uniform_keys_are_alike() -> None:
    kinds, numbers, _, _ = drawn(draws("uniform", operations=100_000))
    times = np.bincount((numbers[kinds == 0] - 100).astype(np.int64), minlength=1000)
    assert times.min() > 0.4 * times.mean()
    assert times.max() < 1.8 * times.mean()


def test_a_mix_runs_each_operation_with_its_own_times() -> None:
    session = DictSession(dict(RECORDS.pairs(np.arange(1100, dtype=np.uint64))))
    engine = Dict(Setup(Path(), Tier.MEMORY))
    made = OperationMix(SPEC, 1, 1.0, 0, 1100, 3000, {"read": 1.0, "modify": 1.0}, "uniform", 1)
    work = made.prepare(engine, session, 0, 1)
    whole, by = Samples(), {}
    record = work.recorder(whole, by)
    rest = iter(work.given)
    while chunk := list(islice(rest, CHUNK)):
        list(work.through(work.run, chunk))
        record(np.arange(len(chunk), dtype=np.int64))
    assert whole.count == 3000
    assert sum(samples.count for samples in by.values()) == 3000
    assert set(by) == {"read", "modify"}


@pytest.mark.parametrize(
    "made", [inputs("update", "random", version=2, transaction=5), draws()], ids=["inputs", "draws"]
)
def test_a_process_of_clients_can_be_told(made: KeySequence | OperationMix) -> None:
    job = Job("update", ("Thing",), 2, 30, inputs=made)
    assert piped(job) == job


# What a step leaves, and what its check finds


def bench(kind: type[Dict] = Dict) -> StepContext:
    engine = kind(Setup(Path(), Tier.MEMORY))
    engine.open()
    return StepContext(engine, engine.connect(), {}, None, {}, records=RECORDS)  # type: ignore[arg-type]


def step(operation: str, **more: Any) -> KeyValueStep:
    return KeyValueStep(kind="keyvalue", name="step", title="Step", operation=operation, **more)


def mixed(operations: int, weights: dict[str, int], **more: Any) -> MixStep:
    return MixStep(kind="mix", name="mix", title="Mix", operations=operations, weights=weights, **more)


def run(on: StepContext, made: KeyValueStep) -> None:
    on.data.accept(made, keyvalue.measure(made, on))
    keyvalue.check(made, on)


def test_steps_one_after_another_leave_what_the_check_expects() -> None:
    on = bench()
    for made in (
        step("insert"),
        step("insert", count=100, order="random"),
        step("update", order="random", count=300),
        step("update", order="same", count=5),
        step("update", transaction=250),
        step("delete", count=400, order="random"),
        step("insert", count=50, transaction=20),
        step("read", order="random"),
        step("scan"),
    ):
        run(on, made)
    assert (on.data.expected_records.first, on.data.expected_records.next, len(on.engine.held)) == (400, 1150, 750)


def test_inserts_go_on_beyond_those_of_several_clients() -> None:
    on = bench()
    run(on, step("insert", count=2))
    made = mixed(20, {"insert": 1}, clients=Clients(threads=2))
    on.data.accept(made, mix.measure(made, on))
    run(on, step("insert", count=10))
    run(on, step("insert", count=5, transaction=2))
    assert sorted(map(number_of, on.engine.held))[-15:] == [*range(23, 38)]  # type: ignore[attr-defined]


def test_what_was_never_inserted_is_beyond_all_that_was() -> None:
    on, numbers = bench(), range(3, 10**6 + 4, 10**6)
    run(on, step("insert", count=1))
    on.data.expected_records.further = [numbers]
    on.engine.held.update(RECORDS.pairs(np.array(numbers, np.uint64)))  # type: ignore[attr-defined]
    run(on, step("read"))


def test_a_step_that_is_refused_changes_nothing_of_what_is_expected() -> None:
    class One(Dict):
        concurrency = Concurrency(threads=1)

    on = bench(One)
    run(on, step("insert"))
    before = replace(on.data.expected_records)
    for operation in ("insert", "update", "delete"):
        with pytest.raises(Unsupported, match="4 threads"):
            keyvalue.measure(step(operation, clients=Clients(threads=4)), on)
        assert on.data.expected_records == before
    run(on, step("scan"))


@pytest.mark.parametrize("operation", ["read", "update", "delete", "scan"])
def test_more_records_than_there_are_can_not_be_asked_for(operation: str) -> None:
    on = bench()
    if operation != "scan":
        with pytest.raises(Unsupported, match="there are no records"):
            keyvalue.measure(step(operation), on)
    run(on, step("insert", count=10))
    if operation != "scan":
        with pytest.raises(Unsupported, match="there are 10 records"):
            keyvalue.measure(step(operation, count=11), on)
    if operation in ("read", "update"):
        run(on, step(operation, count=30, order="same"))
    if operation == "update":
        with pytest.raises(Unsupported, match="of 11 clients each needs a record of its own to update, of 10"):
            keyvalue.measure(step(operation, duration=1, clients=Clients(threads=11)), on)
    run(on, step(operation))


def missing(held: dict[bytes, bytes]) -> None:
    del held[RECORDS.keys(np.array([77], np.uint64))[0]]


def stale(held: dict[bytes, bytes]) -> None:
    key, value = RECORDS.pairs(np.array([77], np.uint64), 0)[0]
    held[key] = value


def too_many(held: dict[bytes, bytes]) -> None:
    held.update(RECORDS.pairs(np.array([5000], np.uint64), 1))


def swapped(held: dict[bytes, bytes]) -> None:
    missing(held)
    held.update(RECORDS.pairs(np.array([5000], np.uint64), 1))


@pytest.mark.parametrize("harm", [missing, stale, too_many, swapped])
def test_a_check_finds_one_record_in_a_thousand(harm: Callable[[dict[bytes, bytes]], None]) -> None:
    on = bench()
    run(on, step("insert"))
    run(on, step("update"))
    harm(on.engine.held)  # type: ignore[attr-defined]
    with pytest.raises(WrongAnswer):
        keyvalue.everything(on)


class ScanlessSession(DictSession):
    prepare_scan = None  # type: ignore[assignment]


class Scanless(Dict):
    session_class = ScanlessSession


def came_back(held: dict[bytes, bytes]) -> None:
    held.update(RECORDS.pairs(np.array([33], np.uint64), 1))


@pytest.mark.parametrize("harm", [missing, stale, came_back])
def test_without_a_scan_every_record_is_read(harm: Callable[[dict[bytes, bytes]], None]) -> None:
    """Also those that were deleted, which must be gone."""
    on = bench(Scanless)
    for operation in ("insert", "update"):
        run(on, step(operation))
    run(on, step("delete", count=50))
    harm(on.engine.held)  # type: ignore[attr-defined]
    with pytest.raises(WrongAnswer, match=r"77 is not there|77 is in version 0|33 was deleted"):
        keyvalue.everything(on)


def test_what_several_clients_can_not_do_at_once_is_refused() -> None:
    class Unlocked(Dict):
        concurrency = Concurrency(threads=None)
        one_client: ClassVar = {"delete": "its delete takes no lock"}

    on = bench(Unlocked)
    run(on, step("insert", clients=Clients(threads=4)))
    with pytest.raises(Unsupported, match="can't delete with several clients at once: its delete takes no lock"):
        keyvalue.measure(step("delete", clients=Clients(threads=4)), on)
    run(on, step("delete"))


def test_the_keys_of_an_ordered_store_must_ascend() -> None:
    class Ordered(Dict):
        ordered = True

    on = bench(Ordered)
    run(on, step("insert"))
    held = on.engine.held  # type: ignore[attr-defined]
    first = next(iter(held))
    held[first] = held.pop(first)  # now the last
    with pytest.raises(WrongAnswer, match="came after"):
        keyvalue.everything(on)


@pytest.mark.parametrize(("threads", "keys"), [(1, "zipfian"), (1, "latest"), (3, "zipfian"), (3, "latest")])
def test_a_mix_is_right_and_a_lost_write_of_it_is_found(threads: int, keys: str) -> None:
    on = bench()
    run(on, step("insert"))
    weights = {"read": 2, "update": 1, "insert": 1, "modify": 1}
    made = mixed(3000, weights, keys=keys, clients=Clients(threads=threads))
    on.data.accept(made, mix.measure(made, on))
    held, before = on.engine.held, replace(on.data.expected_records)  # type: ignore[attr-defined]
    mix.check(made, on)
    assert on.data.expected_records == before
    # An older version of a record that was written to: no check by counting can find it.
    changed = next(key for key, value in held.items() if value[:8] != bytes(8) and number_of(key) < 1000)
    held[changed] = RECORDS.values(np.array([number_of(changed)], np.uint64), 0)[0]
    with pytest.raises(WrongAnswer, match="the last one written"):
        mix.check(made, on)


class SortedSession(DictSession):
    """A session that can read some records in the order of their keys."""

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[tuple[bytes, bytes]]]:
        held = self.held
        return lambda key, count: [(each, held[each]) for each in sorted(held) if each >= key][:count]


class SortedDict(Dict):
    """A store that can."""

    session_class = SortedSession

    def connect(self) -> SortedSession:
        return SortedSession(self.held)


class OneWay(SortedDict):
    """A store whose sessions make all operations by one function, and those of the name `lie` wrongly."""

    lie = ""

    def connect(self) -> SortedSession:
        session = SortedSession(self.held)

        def made(names: list[str], *given: Any) -> Any:
            returned = getattr(SortedSession, f"prepare_{names[0]}")(session)(*given)
            return returned[1:] if names[0] == self.lie else returned

        for name in ("read", "range", "update"):
            setattr(session, f"prepare_{name}", partial(partial, made, [name]))
        return session


@pytest.mark.parametrize("lie", ["", "read", "range"])
def test_operations_are_told_apart_by_what_is_bound_to_one_function(lie: str) -> None:
    on = bench(type("Made", (OneWay,), {"lie": lie}))
    run(on, step("insert", count=200))
    made = mixed(200, {"read": 1, "scan": 1, "update": 1, "modify": 1}, scan_length=5)
    with pytest.raises(WrongAnswer) if lie else nullcontext():
        mix.measure(made, on)


def test_reads_are_compared_though_one_function_makes_all_operations() -> None:
    class OneFunction(SortedDict):
        def connect(self) -> SortedSession:
            session = SortedSession(self.held)
            read, find = session.prepare_read(), session.prepare_range()

            def made(key: bytes, more: Any = None) -> Any:
                if more is None:
                    return read(key)[1:]
                return find(key, more) if type(more) is int else self.held.__setitem__(key, more)

            for name in ("read", "range", "update"):
                setattr(session, f"prepare_{name}", lambda: made)
            return session

    on = bench(OneFunction)
    run(on, step("insert", count=200))
    assert mix.measure(mixed(200, {"scan": 1, "update": 1}, scan_length=5), on).value
    with pytest.raises(WrongAnswer, match="a value of 23 bytes"):
        mix.measure(mixed(200, {"read": 1, "scan": 1, "update": 1}, scan_length=5), on)


class StaleSession(SortedSession):
    """A session that keeps what it has read once, records and ranges, whatever it writes."""

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        return cache(super().prepare_read())

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], list[tuple[bytes, bytes]]]:
        return cache(super().prepare_range())


class Stale(SortedDict):
    """A store with such sessions."""

    def connect(self) -> SortedSession:
        return StaleSession(self.held)


@pytest.mark.parametrize("reads", ["read", "modify", "scan"])
@pytest.mark.parametrize(
    "how",
    [{}, {"clients": Clients(threads=2)}, {"duration": 0.05}, {"rate": Rate(per_second=4000, seconds=0.2)}],
    ids=str,
)
def test_no_read_of_a_mix_is_older_than_what_its_client_has_written(reads: str, how: dict[str, Any]) -> None:
    made = mixed(2000, {reads: 1, "update": 1}, scan_length=1, **how)
    honest, stale = bench(SortedDict), bench(Stale)
    for on in (honest, stale):
        run(on, step("insert", count=30))
    for _ in range(2):
        honest.data.accept(made, mix.measure(made, honest))
    with pytest.raises(WrongAnswer, match=r"a timed call read record \d+ in version \d+, not its latest"):
        mix.measure(made, stale)


def test_short_scans_at_the_end_of_the_keys_are_right_though_records_come_later() -> None:
    """A scan owes the records that were there when it began: those that the mix inserts afterwards are none of them."""
    on = bench(SortedDict)
    run(on, step("insert", count=20))
    made = mixed(200, {"scan": 1, "insert": 1}, keys="uniform", scan_length=500)
    assert mix.measure(made, on).value


def test_a_mix_needs_records_and_several_clients_that_only_read_leave_them() -> None:
    made = mixed(10, {"read": 1}, clients=Clients(threads=2))
    on = bench()
    with pytest.raises(Unsupported, match="a mix needs records"):
        mix.measure(made, on)
    run(on, step("insert"))
    for _ in range(2):
        on.data.accept(made, mix.measure(made, on))


def test_an_operation_that_is_not_there_is_refused_before_the_clock() -> None:
    on = bench()
    run(on, step("insert"))
    with pytest.raises(Unsupported, match="dict can't seek: a dict has no order of keys"):
        keyvalue.measure(step("seek"), on)
    with pytest.raises(Unsupported, match="dict can't range"):
        mix.measure(mixed(10, {"scan": 1}), on)


def test_too_long_keys_and_values_are_refused() -> None:
    class Short(Dict):
        longest_key, longest_value = 7, 24

    with pytest.raises(Unsupported, match="dict takes keys of up to 7 bytes, and these have 8"):
        keyvalue.measure(step("insert"), bench(Short))
    Short.longest_key, Short.longest_value = 8, 23
    with pytest.raises(Unsupported, match="values of up to 23 bytes, and these have 24"):
        keyvalue.measure(step("insert"), bench(Short))


def test_clients_of_several_threads_make_all_calls() -> None:
    on = bench()
    job = Job("insert", (), 0, 0, inputs=inputs("insert", "random"))
    found = drive(on.engine, on.session, job, Clients(threads=3))
    assert found.service.count == 1000
    assert sorted(map(number_of, on.engine.held)) == list(range(1000))  # type: ignore[attr-defined]
