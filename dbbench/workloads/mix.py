"""A mix of operations on records. Afterwards no insert is missing, and sampled records have the last update."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dbbench.datasets.records import ExpectedRecords, Numbers, RecordSet, shuffled
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.key_streams import OPERATIONS, OperationMix
from dbbench.suite.steps.mix import MixStep
from dbbench.workloads import load_control
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement
from dbbench.workloads.keyvalue import SAMPLE, check_read, everything, refuse_too_long

_WRITES = [OPERATIONS.index(name) for name in ("update", "modify")]
_COMMITS = ("insert", "update", "modify")


def measure(step: MixStep, context: StepContext) -> StepMeasurement:
    """Operations in a second. Raises Unsupported for what the engine can't do."""
    records, expected = context.records, context.data.expected_records
    assert records is not None
    refuse_too_long(context.engine, records)
    if expected.next - expected.first < 2 or expected.further:
        raise Unsupported("a mix needs records, inserted one after another by a step before it")
    clients = arranged(context.engine, step.clients)
    count = max(1, round((step.operations or 1) * records.scale))

    def driven(job: Job) -> ClientTimings:
        """What the clients did, and what it leaves: a search has them do it again and again."""
        nonlocal expected
        inputs = _inputs(step, records, expected, count)
        found = context.drive(replace(job, inputs=inputs), clients, last=step.find is None)
        before, expected = expected, _left(expected, inputs, dict(found.made), clients.count)
        check_read(found.kept, context, expected, before, partial(_check_own, inputs, clients.count, before))
        return found

    job = Job("mix", (), 0, count, seed=records.seed)
    if step.timed:
        found = load_control.measure(step, job, clients, driven, context.note, records=1)
    else:
        found = load_control.throughput(driven(job), count, clients)
    times = found.facts.get("times", {})
    commits = sum(times[name]["count"] for name in _COMMITS if name in times)  # a version is never written twice
    return replace(found, leaves=Leaves(records=expected), commits=commits // clients.count)


def check(step: MixStep, context: StepContext) -> None:
    """All records are there, and those of a sample hold what was written to them last. Raises WrongAnswer."""
    everything(context)
    _check_last(step, context)


def _inputs(step: MixStep, records: RecordSet, expected: ExpectedRecords, count: int) -> OperationMix:
    """What the clients do with the records that are there."""
    return OperationMix(
        records=records.spec,
        seed=records.seed,
        scale=records.scale,
        first=expected.first,
        next=expected.next,
        operations=count,
        weights={str(name): weight for name, weight in step.weights.items()},
        keys=step.keys,
        scan_length=step.scan_length,
        version=expected.newest,
        endless=step.timed,
    )


def _left(before: ExpectedRecords, inputs: OperationMix, made: Mapping[int, int], of: int) -> ExpectedRecords:
    """The records after each of `of` clients made as many calls as `made` says."""
    starts = [before.next + number for number in range(of)]
    added = [
        range(start, start + of * inputs.inserted(number, of, made[number]), of) for number, start in enumerate(starts)
    ]
    newest = before.newest + max(made.values()) * of + of
    after = added.pop().stop if of == 1 else before.next  # what one client inserted follows on what was there
    mixed = (inputs, made)
    return replace(before, next=after, further=[*filter(None, added)], loose=True, newest=newest, mixed=mixed)


def _check_last(step: MixStep, context: StepContext) -> None:
    """Check a sample of records: each holds what a client wrote last, or what was there before."""
    records, before = context.records, context.data.records_before
    assert records is not None
    inputs, made = context.data.expected_records.mixed
    sure = not before.loose and step.find is None  # what a search made before its last trial isn't known one by one
    existing = inputs.next - inputs.first
    places = np.arange(min(SAMPLE, existing), dtype=np.uint64)
    picked = shuffled(places, existing, records.seed + 2) + np.uint64(inputs.first)
    written = last_written(inputs, step.clients.count, picked, made)
    keys = records.keys(picked)
    read = prepared(context.engine, context.session, "read")()
    pairs = []
    for number, key in zip(picked.tolist(), keys, strict=True):
        given = read(key)
        if given is None:
            raise WrongAnswer(f"the record {number} is gone")
        pairs.append((key, bytes(given)))
    _, versions = records.named(pairs)  # all at once: one by one it takes longer than the mix itself
    possible = [None] * len(pairs) if not sure else [[version] for version in before.version_of(picked).tolist()]
    for number, version, otherwise in zip(picked.tolist(), versions.tolist(), possible, strict=True):
        allowed = written.get(number, otherwise)
        if allowed is not None and version not in allowed:
            raise WrongAnswer(f"record {number} is in version {version}; the last one written is {allowed}")


def _check_own(
    inputs: OperationMix,
    of: int,
    before: ExpectedRecords,
    client: int,
    calls: NDArray[np.int64],
    numbers: Numbers,
    versions: Numbers,
) -> None:
    """Check that each call of a client read what the client wrote last, or what was there. Raises WrongAnswer.

    Or what any other client writes: the order isn't known.
    """
    end = int(calls.max()) + 1
    wanted, places = np.unique(numbers, return_inverse=True)
    pieces, first = [np.array([-1])], 0  # of each write: the place of its record, times `end`, and its call
    for kinds, written, _, _ in inputs.drawn(client, of, end):
        ranks = np.searchsorted(wanted, written).clip(max=len(wanted) - 1)
        mine = np.flatnonzero(np.isin(kinds, _WRITES) & (wanted[ranks] == written))
        pieces.append(ranks[mine] * end + first + mine)
        first += len(kinds)
    writes = np.sort(np.concatenate(pieces))
    place, last = np.divmod(writes[np.searchsorted(writes, places * end + calls) - 1], end)
    turn, whose = np.divmod(versions.astype(np.int64) - inputs.version - 1, of)  # as versions are drawn
    unchanged = (turn < 0) & (before.loose | (versions == before.version_of(numbers)))
    right = np.where(place == places, (turn == last) & (whose == client), unchanged)
    wrong = ~right & ((turn < 0) | (whose == client))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise WrongAnswer(f"a timed call read record {numbers[at]} in version {versions[at]}, not its latest")


def last_written(
    operations: OperationMix, of: int, picked: Numbers, made: Mapping[int, int] | None = None
) -> dict[int, list[int]]:
    """The last version that each client wrote to each of the picked records."""
    written: dict[int, list[int]] = {}
    for client in range(of):
        last: dict[int, int] = {}
        for kinds, numbers, versions, _ in operations.drawn(client, of, made[client] if made else None):
            mine = np.isin(kinds, _WRITES) & np.isin(numbers, picked)
            last.update(zip(numbers[mine].tolist(), versions[mine].tolist(), strict=True))
        for number, version in last.items():
            written.setdefault(number, []).append(version)
    return written
