"""One operation on records under keys: so many of them a second. Everything that a store holds is checked after a write."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from dbbench.clients import drive
from dbbench.engine import Engine, offers, prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.job import Job, Measurement
from dbbench.keyvalue import Inputs
from dbbench.measure import collector_off, timed
from dbbench.records import Held, Numbers, RecordSet, mix, shuffled
from dbbench.samples import Samples
from dbbench.suite import Clients, KeyValueStep
from dbbench.workloads import cold
from dbbench.workloads.bench import Bench, Measured

#: Records read one by one in a check.
SAMPLE = 1_000
_AT_ONCE = 8_192


def measure(step: KeyValueStep, bench: Bench) -> Measured:
    """Operations in a second. Raises Unsupported for what the engine can't do, or has too few records for."""
    records, held = bench.records, bench.held
    assert records is not None
    refuse_too_long(bench.engine, records)
    facts = cold.facts([cold.start_cold(bench)]) if step.cache == "cold" else {}
    found = _scan(bench, held) if step.operation == "scan" else _calls(step, bench, records, held)
    return replace(found, facts={**found.facts, "cache": step.cache, **facts})


def _calls(step: KeyValueStep, bench: Bench, records: RecordSet, held: Held) -> Measured:
    """One call after another, by as many clients as the step says."""
    there = held.next - held.first
    count = records.count if step.operation == "insert" else there
    if step.count is not None:
        count = max(1, round(step.count * records.scale))
    writes_there = step.operation in ("update", "delete")
    if there == 0 and step.operation != "insert":
        raise Unsupported(f"there are no records to {step.operation}: no step before this one could insert any")
    if count > there and writes_there:
        raise Unsupported(f"there are {there:,} records to {step.operation}, not {count:,}")
    inputs = replace(_inputs(step, records, held, count), version=held.newest + 1 if step.operation == "update" else 0)
    job = Job(step.operation, (), 0, 0, seed=records.seed, inputs=inputs, affinity=step.affinity)
    clients = bench.engine.concurrency.arranged(step.clients)
    found = throughput(drive(bench.engine, bench.session, job, clients), count, clients)
    if step.operation == "insert":  # known to be done only now: whatever was refused has changed nothing
        held.next += count
    elif step.operation == "update":
        if inputs.among:
            held.write_some(count, inputs.among, records.seed)
        else:
            held.write(held.first + (1 if step.order == "same" else count))
    elif step.operation == "delete":
        held.first += count
    if step.operation in ("insert", "update"):
        found.facts["csv_bytes"] = count * (records.spec.key_bytes + records.spec.value_bytes)
    return found


def _inputs(step: KeyValueStep, records: RecordSet, held: Held, count: int) -> Inputs:
    first = held.next if step.operation == "insert" else held.first
    # Of fewer than there are: those that a delete or an insert takes follow one another, others lie anywhere.
    some = step.order == "random" and step.operation in ("read", "seek", "update") and count < held.next - held.first
    return Inputs(
        records=records.spec.model_dump(),
        seed=records.seed,
        scale=records.scale,
        operation=step.operation,
        order=step.order,
        first=first,
        count=count,
        transaction=step.transaction,
        among=held.next - held.first if some else 0,
    )


def throughput(found: Measurement, count: int, clients: Clients) -> Measured:
    """`count` operations in what was measured. One client's own pauses, in which its keys are made, don't count."""
    seconds = found.service.total / 1e9 if clients.count == 1 else (found.end - found.begin) / 1e9
    times = {"service time": found.service, **found.by}
    facts: dict[str, Any] = {
        "operations": count,
        "calls": found.service.count,
        "per_second": found.per_second,
        "clients": clients.model_dump(),
        "times": {name: samples.to_json() for name, samples in times.items()},
    }
    return Measured("throughput", "1/s", [count / max(seconds, 1e-9)], facts=facts, direction="higher")


def refuse_too_long(engine: Engine, records: RecordSet) -> None:
    """Raise Unsupported if keys or values are longer than the engine takes."""
    for what, size in (("key", records.spec.key_bytes), ("value", records.spec.value_bytes)):
        most = getattr(engine, f"longest_{what}")
        if most is not None and size > most:
            raise Unsupported(f"{engine.name} takes {what}s of up to {most:,} bytes, and these have {size:,}")


def _scan(bench: Bench, held: Held) -> Measured:
    """All records, drained by one call in C."""
    scan = prepared(bench.engine, bench.session, "scan")()
    there = held.next - held.first
    with collector_off():
        nanoseconds, _ = timed(lambda: deque(scan(), maxlen=0))
    samples = Samples()
    samples.record(np.array([nanoseconds], np.int64))
    found = Measurement(service=samples, begin=0, end=nanoseconds)
    return throughput(found, there + sum(map(len, held.further)), Clients())


def check(step: KeyValueStep, bench: Bench) -> None:
    """After a write or a scan all that the store holds, otherwise a sample. Raises WrongAnswer."""
    if step.operation in ("read", "seek"):
        sample(bench, step.operation)
    else:
        everything(bench)


def everything(bench: Bench) -> None:
    """Check all that the store holds, by a scan or, where the engine has none, by reads. Raises WrongAnswer."""
    if offers(type(bench.engine), "scan"):
        _by_scan(bench)
    else:
        _by_reads(bench)


def _by_reads(bench: Bench) -> None:
    """Read each record that must be there, and each that was deleted. What was never inserted can't be found this way."""
    records, held = bench.records, bench.held
    assert records is not None
    read = prepared(bench.engine, bench.session, "read")()
    for numbers in _chunks(range(held.first, held.next), *held.further):
        pairs = []
        for number, key in zip(numbers.tolist(), records.keys(numbers), strict=True):
            if (value := read(key)) is None:
                raise WrongAnswer(f"the record {number} is not there")
            pairs.append((key, bytes(value)))
        named, versions = records.named(pairs)
        _check_versions(held, named, versions)
    for numbers in _chunks(range(held.first)):
        for number, key in zip(numbers.tolist(), records.keys(numbers), strict=True):
            if read(key) is not None:
                raise WrongAnswer(f"the record {number} was deleted and is still there")


def _by_scan(bench: Bench) -> None:
    """Each record is one of the dataset's, in the right version, once, in order, and none is missing."""
    records, held = bench.records, bench.held
    assert records is not None
    rest = iter(prepared(bench.engine, bench.session, "scan")()())
    count, total, last = 0, 0, b""
    while pairs := list(islice(rest, _AT_ONCE)):
        numbers, versions = records.named([(bytes(key), bytes(value)) for key, value in pairs])
        _check_versions(held, numbers, versions)
        if bench.engine.ordered:
            for before, after in pairwise([(last, b""), *pairs]):
                if bytes(before[0]) >= bytes(after[0]):
                    raise WrongAnswer(f"the key {bytes(after[0]).hex()} came after {bytes(before[0]).hex()}")
            last = bytes(pairs[-1][0])
        count += len(pairs)
        total += int(mix(numbers).sum(dtype=np.uint64))
    wanted = [range(held.first, held.next), *held.further]
    if count != sum(map(len, wanted)):
        raise WrongAnswer(f"{count:,} records instead of {sum(map(len, wanted)):,}")
    if (total - sum(map(_checksum, wanted))) % 2**64:
        raise WrongAnswer("some records are missing, and others are there twice")


def _check_versions(held: Held, numbers: Numbers, versions: Numbers) -> None:
    wrong = versions > np.uint64(held.newest) if held.loose else versions != held.version_of(numbers)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise WrongAnswer(f"record {numbers[at]} is in version {versions[at]}, which is not its last")


def _checksum(numbers: range) -> int:
    """Of a set of numbers, in whatever order they come; it counts modulo 2 to the 64th."""
    return sum(int(mix(chunk).sum(dtype=np.uint64)) for chunk in _chunks(numbers))


def _chunks(*ranges: range) -> Iterator[Numbers]:
    """All numbers of the ranges, some thousands at a time."""
    for numbers in ranges:
        for start in range(numbers.start, numbers.stop, _AT_ONCE * numbers.step):
            stop = min(start + _AT_ONCE * numbers.step, numbers.stop)
            yield np.arange(start, stop, numbers.step, dtype=np.uint64)


def sample(bench: Bench, operation: str) -> None:
    """Read some records that must be there, and one that must not. Raises WrongAnswer."""
    records, held = bench.records, bench.held
    assert records is not None
    there = held.next - held.first
    run = prepared(bench.engine, bench.session, operation)()
    places = np.arange(min(SAMPLE, there), dtype=np.uint64)
    numbers = shuffled(places, there, records.seed + 1)[: len(places)] + np.uint64(held.first) if there else places
    for number, key in zip(numbers.tolist(), records.keys(numbers), strict=True):
        given = run(key)
        if given is None:
            raise WrongAnswer(f"the record {number} is not there")
        pair = (key, bytes(given)) if operation == "read" else (bytes(given[0]), bytes(given[1]))
        if pair[0] != key:
            raise WrongAnswer(f"a seek to {key.hex()}, which is there, came to {pair[0].hex()}")
        named, versions = records.named([pair])
        _check_versions(held, named, versions)
    if operation == "read":
        missing = np.array(
            [held.first - 1 if held.first else held.next + sum(map(len, held.further)) + 10**6], np.uint64
        )
        if run(records.keys(missing)[0]) is not None:
            raise WrongAnswer("it has a record that was never inserted, or was deleted")
