"""What stands behind a step's figures, in words: how much was done for one, how, and by how many clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbbench.schema import Records
from dbbench.suite import (
    AnyStep,
    Clients,
    ContentionStep,
    KeyValueStep,
    MixStep,
    ObjectStep,
    QueryStep,
    StatementStep,
    TotalStep,
)

_DONE = {"insert": "inserted", "read": "read", "update": "updated", "delete": "deleted", "seek": "sought"}
_KEYS = {
    "uniform": "all records alike popular",
    "zipfian": "some records far more popular than others (zipfian)",
    "latest": "the newest records the most popular",
}


def driven(step: AnyStep) -> str:
    """At which rate and by how many clients, where that isn't one call after another by one."""
    words = []
    if isinstance(step, StatementStep) and step.rate:
        words.append(f"{step.rate.per_second:,g} calls a second ({step.rate.arrivals}), from when they were due")
    if isinstance(step, StatementStep | KeyValueStep | MixStep) and step.clients.count > 1:
        words.append(f"{step.clients} at once")
    if isinstance(step, ContentionStep):
        words.append(f"{step.clients} at once{'' if step.pool is None else f', {step.pool} sessions'}")
    return "; ".join(words)


def conditions(step: AnyStep, facts: Sequence[Mapping[str, Any]], arrow: Sequence[str], records: Records | None) -> str:
    """Sentences on what a figure was made of. `arrow` are the engines that gave batches where others gave rows."""
    if isinstance(step, QueryStep) and facts:
        return " ".join(_query(step, facts, arrow))
    if isinstance(step, StatementStep):
        return " ".join(_statement(step))
    if isinstance(step, ObjectStep):
        return _objects(step, facts)
    if isinstance(step, ContentionStep):
        return " ".join(_contention(step, facts))
    if isinstance(step, TotalStep):
        return f"The sum of {_and(step.of)}."
    count = next((each["operations"] for each in facts if "operations" in each), None)
    if isinstance(step, KeyValueStep):
        return f"{_records(step, count, records)}{_sizes(records)}."
    if isinstance(step, MixStep):
        return f"{_mix(step, count)}{_sizes(records)}."
    return ""


def _query(step: QueryStep, facts: Sequence[Mapping[str, Any]], arrow: Sequence[str]) -> list[str]:
    warm = f" after {step.warm_up} to warm up" if step.warm_up and step.cache != "cold" else ""
    words = [f"{facts[0].get('rows', 0):,} rows; a round is {_mean(step.iterations, 'call')}{warm}, by one client."]
    if arrow:
        words.append(
            f"Arrow batches, whose values are not turned into Python objects: {_and(sorted(arrow))}; "
            "the others give rows of Python values."
        )
    return words


def _mean(times: int, one: str, several: str = "") -> str:
    return f"the mean of {times} {several or f'{one}s'}" if times > 1 else f"one {one}"


def _objects(step: ObjectStep, facts: Sequence[Mapping[str, Any]]) -> str:
    count = next((f"{each['objects']:,} " for each in facts if "objects" in each), "")
    how = f"{count}objects by one query" if step.operation == "get_many" else f"{count}objects, each by its key"
    held = ", all of them loaded before and still held" if step.identity_map == "warm" else ""
    return f"A round is {_mean(step.iterations, 'pass', 'passes')} after {step.warm_up} to warm up: {how}{held}."


def _statement(step: StatementStep) -> list[str]:
    words = []
    if step.rate is None:
        words.append(f"A round is {_mean(step.iterations, 'call')} after {step.warm_up} to warm up.")
    if step.adds is None and step.check is None:
        words.append("The suite says nothing to check its effect by: not verified.")
    return words


def _contention(step: ContentionStep, facts: Sequence[Mapping[str, Any]]) -> list[str]:
    one = next((each for each in facts if "transactions" in each), None)
    if one is None:
        return []
    written = ", ".join(f"{one[f'{what}s']:,} {what}d" for what in ("update", "delete"))
    words = [
        f"{one['transactions']:,} transactions: {one['inserts']:,} objects inserted, {written}; {one['selects']:,} selects."
    ]
    words.append(f"Of the deletes {one['left']:,} come after the last client, in one transaction that counts too.")
    retries = sum(sum(each.get("retries", {}).values()) for each in facts)
    words.append("Retries are of all rounds." if retries else "No transaction had to be made again.")
    return words


def _records(step: KeyValueStep, count: int | None, records: Records | None) -> str:
    known = "Records" if count is None else f"{count:,} records"
    if step.operation == "scan":
        return f"{known} taken by one call of one client"
    if step.order == "same":
        known = "One record" if count is None else f"One record {_DONE[step.operation]} {count:,} times"
        return f"{known} by {_by(step.clients, bound=step.affinity)}"
    words = f"{known} {_DONE[step.operation]} by {_by(step.clients, bound=step.affinity)}"
    ascending = records is not None and records.key_order == "ascending"
    by = "keys" if ascending else "numbers"
    order = "in random order" if step.order == "random" else f"in the order of their {by}"
    if step.operation not in ("insert", "update", "delete"):
        return f"{words}, {order}"
    return f"{words}, {order}, {'one' if step.transaction == 1 else f'{step.transaction:,}'} in a transaction"


def _mix(step: MixStep, count: int | None) -> str:
    whole = sum(step.weights.values())
    shares = ", ".join(f"{name} {100 * weight / whole:.3g} %" for name, weight in step.weights.items())
    calls = "Calls" if count is None else f"{count:,} calls"
    scans = f"; a scan takes up to {step.scan_length:,} records" if "scan" in step.weights else ""
    return f"{calls} by {_by(step.clients)}: {shares}; {_KEYS[step.keys]}{scans}"


def _by(clients: Clients, *, bound: bool = False) -> str:
    if clients.count == 1:
        return "one client bound to a processor" if bound else "one client"
    return f"{clients}{', each bound to a processor' if bound else ''}"


def _sizes(records: Records | None) -> str:
    if records is None:
        return ""
    return f"; {records.key_order} keys of {records.key_bytes:,} bytes, values of {records.value_bytes:,}"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
