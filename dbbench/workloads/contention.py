"""Many clients with transactions of their own in one table, over sessions of their own or a pool of fewer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dbbench.engine.sql.session import SQLSession, fetch
from dbbench.errors import WrongAnswer
from dbbench.host.collector import collector_off
from dbbench.host.meters import ProcessMeter
from dbbench.host.metric import Usage, total
from dbbench.loadgen.clients import arranged
from dbbench.loadgen.job import Job
from dbbench.loadgen.loops import timed
from dbbench.loadgen.transaction_draws import Plan
from dbbench.loadgen.transactions import CHANGED, TEXTS, Transactions
from dbbench.results.facts import FairnessFacts, StepFacts
from dbbench.suite.steps.contention import ContentionStep
from dbbench.suite.steps.transaction import Transaction
from dbbench.workloads.contents import forget
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.transaction import plan_of


def measure(step: ContentionStep, context: StepContext) -> StepMeasurement:
    """Seconds of a round: from the common start to the end of the last client, and of the clearing after it.

    Raises Unsupported for an engine without SQL, transactions, or as many clients, and WrongAnswer if a client finds
    something else than it wrote, or the clients leave something else than they should.
    """
    engine = context.engine
    work = transactions(step, context)
    clients = arranged(engine, step.clients)
    counts = work.counts(clients.count)
    forget(context, [f"DELETE FROM {step.table}"])  # what a load has left goes, too
    _clear_away(context, step.table)
    before = engine.statistics()
    job = Job("statement", (), 0, 0, inputs=work, pool=step.pool)
    found = context.drive(job, clients, last=True)  # before what they left is cleared away
    clearing, used = _clear(context, step, work, clients.count)
    after = engine.statistics()
    seconds = (found.end - found.begin) / 1e9
    facts: StepFacts = {
        **counts,
        "clients": {"threads": clients.threads, "processes": clients.processes},
        "retries": found.counts,
        "fairness": fairness(found.spans),
        "counted": {name: after[name] - before[name] for name in after if name in before},
        "calls": found.service.count,
        "per_second": counts["transactions"] / max(seconds, 1e-9),
        "times": {"service time": found.service.to_json()},
    }
    # No undelayed time: the clients wait for each other, so that of their threads would not be of this figure.
    changes = counts["inserts"] // 3 + counts["updates"]
    return StepMeasurement(
        "time",
        "s",
        [seconds + clearing],
        facts=facts,
        usage=total([used, found.usage]),
        commits=changes // clients.count,
    )


def check(step: ContentionStep, context: StepContext) -> None:
    """Nothing is left. Raises WrongAnswer."""
    if count := _count(context, step.table):
        raise WrongAnswer(f"{count:,} objects remain after all were deleted")


def check_copy(step: ContentionStep, context: StepContext) -> None:
    """What the clients left, before it was cleared away, is there. Raises WrongAnswer."""
    rows = fetch(context.session, _select(step, context))
    _compare(rows, transactions(step, context).left(step.clients.count))


def transactions(step: ContentionStep, context: StepContext) -> Transactions:
    """What the clients do, as a suite writes transactions. A `row` of values that are known must be found."""
    key, text = _columns(step, context)
    select = f"SELECT {key}, {text} FROM {step.table} WHERE"
    number, first, changed = {"counter": f"{step.table}.{key}"}, {"text": TEXTS[0]}, {"text": CHANGED}

    def plan(name: str, parameters: Mapping[str, Any], *statements: Mapping[str, Any]) -> Plan:
        said = {"name": name, "parameters": parameters, "statements": statements}
        return plan_of(Transaction.model_validate(said), None, context)

    insert = {"sql": f"INSERT INTO {step.table} ({key}, {text}) VALUES (:key, :text)"}
    plans = [
        plan("insert", {}, {"repeat": 3, "parameters": {"key": number, "text": first}, "statements": [insert]}),
        plan(
            "change",
            {"key": number, "text": first, "changed": changed},
            {"sql": f"{select} {key} = :key", "row": ["key", "text"]},
            {"sql": f"UPDATE {step.table} SET {text} = :changed WHERE {key} = :key"},
        ),
        plan("look", {"key": number, "text": changed}, {"sql": f"{select} {text} = :text", "row": ["key", "text"]}),
        plan("delete", {"key": number}, {"sql": f"DELETE FROM {step.table} WHERE {key} = :key"}),
    ]
    iterations = max(1, round(step.iterations * context.files.manifest["scale"]))
    return Transactions(plans, iterations, step.sub_iterations)


def fairness(spans: Sequence[int]) -> FairnessFacts:
    """How alike the clients, who all had the same to do, were served; times in seconds.

    Jain's index of their rates is 1 if all are alike, and 1/n if one has everything (R. Jain, D. Chiu, W. Hawe, DEC
    Research Report TR-301, 1984).
    """
    rates = [1 / max(span, 1) for span in spans]
    index = sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))
    return {"fastest": min(spans) / 1e9, "slowest": max(spans) / 1e9, "jain": index}


def _columns(step: ContentionStep, context: StepContext) -> tuple[str, str]:
    """The names of an object's number and of its text."""
    table = context.tables[step.table]
    (text,) = (name for name in table.columns if name != table.single_key)
    return table.single_key, text


def _select(step: ContentionStep, context: StepContext) -> str:
    return context.quoted(f"SELECT {', '.join(_columns(step, context))} FROM {step.table}")


def _clear(context: StepContext, step: ContentionStep, work: Transactions, clients: int) -> tuple[float, Usage]:
    """One transaction that queries the rest and deletes each object: its seconds, and its use. Raises WrongAnswer."""
    engine = context.engine
    session: Any = engine.connect()
    try:
        _, (*_, delete) = work.ready(engine, session)
        wanted = work.left(clients)
        everything: Callable[[], Sequence[Sequence[Any]]] = partial(list, wanted.items())
        if context.does_work:
            everything = session.prepare_call(_select(step, context))

        def clear() -> Sequence[Sequence[Any]]:
            session.begin()
            rows = everything()
            for row in rows:
                delete((row[0],))
            session.commit()
            return rows

        with collector_off(), ProcessMeter(engine) as meter:
            nanoseconds, rows = timed(clear)
    finally:
        session.close()
    _compare(rows, wanted)
    return nanoseconds / 1e9, meter.usage()


def _compare(rows: Sequence[Sequence[Any]], wanted: Mapping[int, str]) -> None:
    found = {int(row[0]): str(row[1]) for row in rows}
    if len(rows) != len(wanted):
        raise WrongAnswer(f"the clients left {len(rows):,} objects instead of {len(wanted):,}")
    for key, text in wanted.items():
        if found.get(key) != text:
            raise WrongAnswer(f"object {key}, which is left, is {found.get(key)!r} and not {text!r}")


def _clear_away(context: StepContext, table: str) -> None:
    """Delete what a round that failed has left."""
    if isinstance(context.session, SQLSession) and _count(context, table):
        context.session.execute(context.quoted(f"DELETE FROM {table}"))


def _count(context: StepContext, table: str) -> int:
    ((count,),) = fetch(context.session, context.quoted(f"SELECT COUNT(*) FROM {table}"))
    return int(count)
