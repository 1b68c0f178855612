"""One operation on records under keys, per second. Everything that a store holds is checked after a write."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.datasets.records import ExpectedRecords, Laps, Numbers, RecordSet, mix, shuffled
from dbbench.engine.base import Engine
from dbbench.engine.offered import offers, prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.host.collector import collector_off
from dbbench.host.meters import CallMeter
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.job import ClientTimings, Job, Kept
from dbbench.loadgen.key_streams import KeySequence, ReadRow
from dbbench.loadgen.loops import timed
from dbbench.suite.steps.base import Clients
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.workloads import cold_start, load_control
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement

#: Records read one by one in a check.
SAMPLE = 1_000
_AT_ONCE = 8_192


def measure(step: KeyValueStep, context: StepContext) -> StepMeasurement:
    """Operations in a second. Raises Unsupported for what the engine can't do, or has too few records for."""
    records, expected = context.records, context.data.expected_records
    assert records is not None
    refuse_too_long(context.engine, records)
    cold = cold_start.ColdCalls(write=step.writes)
    reading: AbstractContextManager[None] = nullcontext()
    how: dict[str, Any] = {}
    if step.cache == "cold":
        dropped = cold_start.start_cold(context)
        reading = cold.call(context, dropped, context.opened)
        if context.does_work:  # not asked of hosts, where the null engine alone is cold
            how["ready"] = partial(cold.ready, context)
    with reading:
        found = (
            _scan(context, expected, **how)
            if step.operation == "scan"
            else _calls(step, context, records, expected, **how)
        )
    if step.cache == "cold" and context.does_work:
        preparing = found.facts.pop("prepare")
        cold.add(preparing)
        opened = context.opened + preparing
        found = replace(found, samples=[1 / (1 / rate + opened / found.facts["operations"]) for rate in found.samples])
    return replace(found, facts={**found.facts, "cache": step.cache, **cold.facts})


def _calls(
    step: KeyValueStep, context: StepContext, records: RecordSet, expected: ExpectedRecords, **how: Any
) -> StepMeasurement:
    """One call after another, by as many clients as the step says, who are driven so (`StepContext.drive`)."""
    existing = expected.next - expected.first
    count = records.count if step.operation == "insert" else existing
    if step.count is not None:
        count = max(1, round(step.count * records.scale))
    if existing == 0 and step.operation != "insert":
        raise Unsupported(f"there are no records to {step.operation}: no step before this one could insert any")
    if step.timed and step.operation == "update" and count < step.clients.count:
        raise Unsupported(f"of {step.clients.count} clients each needs a record of its own to update, of {count:,}")
    if count > existing and step.operation != "insert" and step.order != "same":
        raise Unsupported(f"there are {existing:,} records to {step.operation}, not {count:,}")
    job = Job(step.operation, (), 0, -(-count // step.transaction), seed=records.seed, affinity=step.affinity)
    clients = arranged(context.engine, step.clients)
    calls = written = 0

    def driven(job: Job) -> ClientTimings:
        """What the clients did, and what it leaves: a search has them do it again and again."""
        nonlocal expected, calls, written
        inputs = _inputs(step, records, expected, count)
        found = context.drive(replace(job, inputs=inputs), clients, last=step.find is None, **how)
        check_read(found.kept, context, expected)
        calls += found.calls
        if step.fills and step.timed:
            taken = {number: inputs.taken(made, number, clients.count) for number, made in found.made}
            expected = _left(expected, inputs, taken, clients.count)
            written += sum(taken.values())
        elif step.fills:  # the shares of all clients are the whole, once
            expected = _left(expected, inputs, {0: count}, 1)
            written = count
        return found

    if step.timed:
        found = load_control.measure(step, job, clients, driven, context.note, records=step.transaction)
    else:
        found = load_control.throughput(driven(job), count, clients)
    if step.operation in ("insert", "update"):
        found.facts["csv_bytes"] = written * (records.spec.key_bytes + records.spec.value_bytes)
    changes = step.writes and step.order != "same"  # the same record may have been written as it was
    return replace(found, leaves=Leaves(records=expected), commits=calls // clients.count if changes else 0)


def _left(before: ExpectedRecords, inputs: KeySequence, taken: Mapping[int, int], of: int) -> ExpectedRecords:
    """The records after each of `of` clients has written or deleted as many as `taken` says."""
    if inputs.operation == "delete":
        return replace(before, first=before.first + sum(taken.values()))
    if inputs.operation == "insert":
        if of == 1 and inputs.first == before.next:
            return replace(before, next=before.next + taken[0])
        added = [range(inputs.first + at, inputs.first + at + of * count, of) for at, count in taken.items()]
        return replace(before, further=[*before.further, *added])
    seed = inputs.seed if inputs.order == "random" else None
    laps, newest = [], before.newest
    for number, count in taken.items():
        share = inputs.share(number, of)
        last = inputs.version + (count - 1) // len(share) if count else 0
        newest = max(newest, last)
        if inputs.order == "same":
            laps.append(Laps(inputs.first, 1, None, range(1), min(count, 1), last))
        else:
            laps.append(Laps(inputs.first, inputs.among or inputs.count, seed, share, count, inputs.version))
    return replace(before, newest=newest, laps=[*before.laps, *laps])


def _inputs(step: KeyValueStep, records: RecordSet, expected: ExpectedRecords, count: int) -> KeySequence:
    """What the clients do with the records that are there."""
    first = expected.beyond if step.operation == "insert" else expected.first
    existing = expected.next - expected.first
    # Of fewer than there are: those that a delete or an insert takes follow one another, others lie anywhere.
    some = step.order == "random" and step.operation in ("read", "seek", "update") and count < existing
    return KeySequence(
        records=records.spec,
        seed=records.seed,
        scale=records.scale,
        operation=step.operation,
        order=step.order,
        first=first,
        count=count,
        version=expected.newest + 1 if step.operation == "update" else 0,
        transaction=step.transaction,
        among=existing if some or step.order == "same" else 0,
        endless=step.timed,
    )


def refuse_too_long(engine: Engine, records: RecordSet) -> None:
    """Raise Unsupported if keys or values are longer than the engine takes."""
    for what, size in (("key", records.spec.key_bytes), ("value", records.spec.value_bytes)):
        most = getattr(engine, f"longest_{what}")
        if most is not None and size > most:
            raise Unsupported(f"{engine.name} takes {what}s of up to {most:,} bytes, and these have {size:,}")


def _scan(
    context: StepContext, expected: ExpectedRecords, ready: Callable[[], object] = lambda: None
) -> StepMeasurement:
    """All records, drained by one call in C but for the last one, which is compared. `ready` is called before it."""
    preparing, scan = timed(prepared(context.engine, context.session, "scan"))
    existing = expected.next - expected.first

    def drain() -> list[Any]:
        rest = iter(scan())
        deque(islice(rest, before_last), maxlen=0)
        return list(rest)

    count = existing + sum(map(len, expected.further))
    before_last = max(count - 1, 0)
    ready()
    with collector_off(), CallMeter(context.engine) as meter:
        nanoseconds, last = timed(drain)
    if context.does_work and len(last) != min(count, 1):
        many = f"{before_last + len(last):,}" if last else "fewer"
        raise WrongAnswer(f"the timed scan returned {many} records instead of {count:,}")
    if context.does_work and last:
        _check_versions(expected, *_records(context).named([(bytes(key), bytes(value)) for key, value in last]))
    samples = Samples()
    samples.record(np.array([nanoseconds], np.int64))
    used = meter.usage(nanoseconds / 1e9)
    found = ClientTimings(service=samples, begin=0, end=nanoseconds, usage=used, prepare=preparing)
    return load_control.throughput(found, count, Clients())


def check_read(
    calls: Sequence[Kept],
    context: StepContext,
    expected: ExpectedRecords,
    before: ExpectedRecords | None = None,
    own: Callable[[int, NDArray[np.int64], Numbers, Numbers], None] = lambda *_: None,
) -> None:
    """Compare what timed calls have read of records that are there. Raises WrongAnswer.

    `before`: what was there when the first of them began, if they were not alone in it. `own` takes a client's number,
    and the number of each call, record and version that it read.
    """
    with context.aside():
        for each in calls:
            rows = list(zip(*each.table.to_pydict().values(), strict=True))
            if nothing := next((key for _, key, _, found, _ in rows if found is None), None):
                raise WrongAnswer(f"a timed call returned nothing for the key {nothing.hex()}, which is there")
            if rows:
                numbers, versions = _records(context).named([(key, value) for *_, key, value in rows])
                _check_versions(expected, numbers, versions)
                own(each.client, np.array([number for number, *_ in rows]) + each.place, numbers, versions)
            for _, pairs in groupby(rows, itemgetter(0)):
                _check_call([*pairs], context, before or expected)


def _check_call(rows: Sequence[ReadRow], context: StepContext, before: ExpectedRecords) -> None:
    """Check that one call's keys begin with the one it took, ascend, and are as many as it asked for, if there were."""
    _, asked, wanted, first, _ = rows[0]
    if first != asked:
        raise WrongAnswer(f"a timed call with the key {asked.hex()}, which exists, returned another's")
    keys = [key for *_, key, _ in rows if key is not None]
    if len(keys) > wanted or any(one >= other for one, other in pairwise(keys)):
        raise WrongAnswer(f"a timed call returned {len(keys)} records of {wanted}, or not in order")
    if len(keys) < wanted:
        records = _records(context)
        existing = _chunks(range(before.first, before.next))
        after = sum(key >= asked for numbers in existing for key in records.keys(numbers))
        if len(keys) < min(wanted, after):
            raise WrongAnswer(f"a timed call returned {len(keys)} of {min(wanted, after)} records")


def _records(context: StepContext) -> RecordSet:
    assert context.records is not None
    return context.records


def check(step: KeyValueStep, context: StepContext) -> None:
    """After a write or a scan all that the store holds, otherwise a sample. Raises WrongAnswer."""
    if step.operation in ("read", "seek"):
        sample(context, step.operation)
    else:
        everything(context)


def everything(context: StepContext) -> None:
    """Check all that the store holds, by a scan or, where the engine has none, by reads. Raises WrongAnswer."""
    if offers(type(context.engine), "scan"):
        _by_scan(context)
    else:
        _by_reads(context)


def _by_reads(context: StepContext) -> None:
    """Read each record that must be there, and each deleted one. This can't find what was never inserted."""
    records, expected = context.records, context.data.expected_records
    assert records is not None
    read = prepared(context.engine, context.session, "read")()
    for numbers in _chunks(range(expected.first, expected.next), *expected.further):
        pairs = []
        for number, key in zip(numbers.tolist(), records.keys(numbers), strict=True):
            if (value := read(key)) is None:
                raise WrongAnswer(f"the record {number} is not there")
            pairs.append((key, bytes(value)))
        named, versions = records.named(pairs)
        _check_versions(expected, named, versions)
    for numbers in _chunks(range(expected.first)):
        for number, key in zip(numbers.tolist(), records.keys(numbers), strict=True):
            if read(key) is not None:
                raise WrongAnswer(f"the record {number} was deleted and still exists")


def _by_scan(context: StepContext) -> None:
    """Each record is one of the dataset's, in the right version, once, in order, and none is missing."""
    records, expected = context.records, context.data.expected_records
    assert records is not None
    rest = iter(prepared(context.engine, context.session, "scan")()())
    count, total, last = 0, 0, b""
    while pairs := list(islice(rest, _AT_ONCE)):
        numbers, versions = records.named([(bytes(key), bytes(value)) for key, value in pairs])
        _check_versions(expected, numbers, versions)
        if context.engine.ordered:
            for before, after in pairwise([(last, b""), *pairs]):
                if bytes(before[0]) >= bytes(after[0]):
                    raise WrongAnswer(f"the key {bytes(after[0]).hex()} came after {bytes(before[0]).hex()}")
            last = bytes(pairs[-1][0])
        count += len(pairs)
        total += int(mix(numbers).sum(dtype=np.uint64))
    wanted = [range(expected.first, expected.next), *expected.further]
    if count != sum(map(len, wanted)):
        raise WrongAnswer(f"{count:,} records instead of {sum(map(len, wanted)):,}")
    if (total - sum(map(_checksum, wanted))) % 2**64:
        raise WrongAnswer("some records are missing, and others are duplicated")


def _check_versions(expected: ExpectedRecords, numbers: Numbers, versions: Numbers) -> None:
    wrong = versions > np.uint64(expected.newest) if expected.loose else versions != expected.version_of(numbers)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise WrongAnswer(f"record {numbers[at]} is in version {versions[at]}, not its latest")


def _checksum(numbers: range) -> int:
    """Checksum of a set of numbers in any order, modulo 2 to the 64th."""
    return sum(int(mix(chunk).sum(dtype=np.uint64)) for chunk in _chunks(numbers))


def _chunks(*ranges: range) -> Iterator[Numbers]:
    """All numbers of the ranges, some thousands at a time."""
    for numbers in ranges:
        for start in range(numbers.start, numbers.stop, _AT_ONCE * numbers.step):
            stop = min(start + _AT_ONCE * numbers.step, numbers.stop)
            yield np.arange(start, stop, numbers.step, dtype=np.uint64)


def sample(context: StepContext, operation: str) -> None:
    """Read some records that must be there, and one that must not. Raises WrongAnswer."""
    records, expected = context.records, context.data.expected_records
    assert records is not None
    existing = expected.next - expected.first
    run = prepared(context.engine, context.session, operation)()
    places = np.arange(min(SAMPLE, existing), dtype=np.uint64)
    numbers = (
        shuffled(places, existing, records.seed + 1)[: len(places)] + np.uint64(expected.first) if existing else places
    )
    pairs = []
    for number, key in zip(numbers.tolist(), records.keys(numbers), strict=True):
        given = run(key)
        if given is None:
            raise WrongAnswer(f"the record {number} is not there")
        pair = (key, bytes(given)) if operation == "read" else (bytes(given[0]), bytes(given[1]))
        if pair[0] != key:
            raise WrongAnswer(f"a seek to {key.hex()}, which exists, found {pair[0].hex()}")
        pairs.append(pair)
    if pairs:
        _check_versions(expected, *records.named(pairs))
    if operation == "read":
        missing = np.array([expected.first - 1 if expected.first else expected.beyond + 10**6], np.uint64)
        if run(records.keys(missing)[0]) is not None:
            raise WrongAnswer("it has a record that was never inserted, or was deleted")
