"""A mix of operations on records. Afterwards no insert is missing, and of a sample of records the last update is there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dbbench.clients import drive
from dbbench.engine import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.job import Job
from dbbench.keyvalue import OPERATIONS, Draws
from dbbench.records import Held, Numbers, shuffled
from dbbench.suite import MixStep
from dbbench.workloads.bench import Bench, Measured
from dbbench.workloads.keyvalue import SAMPLE, everything, refuse_too_long, throughput

_WRITES = [OPERATIONS.index(name) for name in ("update", "modify")]


def measure(step: MixStep, bench: Bench) -> Measured:
    """Operations in a second. Raises Unsupported for what the engine can't do."""
    records, held = bench.records, bench.held
    assert records is not None
    refuse_too_long(bench.engine, records)
    if held.next - held.first < 2 or held.further:
        raise Unsupported("a mix needs records, inserted one after another by a step before it")
    draws = Draws(
        records=records.spec.model_dump(),
        seed=records.seed,
        scale=records.scale,
        first=held.first,
        next=held.next,
        operations=max(1, round(step.operations * records.scale)),
        weights={str(name): weight for name, weight in step.weights.items()},
        keys=step.keys,
        scan_length=step.scan_length,
        version=held.newest,
    )
    bench.draws = draws
    job = Job("mix", (), 0, 0, seed=records.seed, inputs=draws)
    clients = bench.engine.concurrency.arranged(step.clients)
    return throughput(drive(bench.engine, bench.session, job, clients), draws.operations, clients)


def check(step: MixStep, bench: Bench) -> None:
    """All records are there, and those of a sample hold what was written to them last. Raises WrongAnswer."""
    held, draws, of = bench.held, bench.draws, step.clients.count
    assert draws is not None
    before = None if held.loose else replace(held)
    added = [
        range(held.next + number, held.next + number + of * draws.inserted(number, of), of) for number in range(of)
    ]
    if of == 1:  # what was inserted follows on what was there
        held.next = added.pop().stop
    held.further, held.loose = added, True
    held.newest += draws.operations * of + of
    everything(bench)
    _check_last(bench, draws, of, before)


def _check_last(bench: Bench, draws: Draws, of: int, before: Held | None) -> None:
    """Of a sample of records: each holds what one of the clients wrote last, or what was there before."""
    records = bench.records
    assert records is not None
    there = draws.next - draws.first
    places = np.arange(min(SAMPLE, there), dtype=np.uint64)
    picked = shuffled(places, there, records.seed + 2) + np.uint64(draws.first)
    written = _last_written(draws, of, picked)
    read = prepared(bench.engine, bench.session, "read")()
    for number, key in zip(picked.tolist(), records.keys(picked), strict=True):
        given = read(key)
        if given is None:
            raise WrongAnswer(f"the record {number} is gone")
        _, versions = records.named([(key, bytes(given))])
        allowed = written.get(number)
        if allowed is None and before is not None:
            allowed = before.version_of(np.array([number], np.uint64)).tolist()
        if allowed is not None and int(versions[0]) not in allowed:
            raise WrongAnswer(f"record {number} is in version {versions[0]}; written to it last was {allowed}")


def _last_written(draws: Draws, of: int, picked: Numbers) -> dict[int, list[int]]:
    """The last version that each client wrote to each of the picked records."""
    written: dict[int, list[int]] = {}
    for client in range(of):
        last: dict[int, int] = {}
        for kinds, numbers, versions, _ in draws.drawn(client, of):
            mine = np.isin(kinds, _WRITES) & np.isin(numbers, picked)
            last.update(zip(numbers[mine].tolist(), versions[mine].tolist(), strict=True))
        for number, version in last.items():
            written.setdefault(number, []).append(version)
    return written
