"""What an engine promises and no figure shows: indexes, and commits that are synced. The system itself is asked.

Outside the clock, and after the check in a new session: a question may end what a step left unfinished. An engine that
answers these questions itself can still lie; a trial's sync calls are counted (`runs.traced`).

Commits that outlive a loss of power can't do without a wait for the disk and a page of bytes each. The kernel counts
both of all processes that work for an engine. Both counts are upper bounds, as other work waits and writes as well. So
an engine below the floor did not sync, and one above it may not have synced.
"""

import os
from typing import NamedTuple

from dbbench.datasets.compressed import too_few
from dbbench.engine.options import chosen
from dbbench.engine.sql.session import SQLEngine, SQLSession, fetch
from dbbench.errors import WrongAnswer
from dbbench.host.interference import PAGE, sync_probe
from dbbench.host.usage import Reading
from dbbench.suite.model import Tier
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.load import LoadStep
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.ondisk import opened_by, processes

#: The share of the commits that must show: now and then a disk is ready before a thread has begun to wait for it.
SHARE = 0.5
#: Of fewer commits the share says nothing.
_COMMITS = 20
#: What the probe must show of each sync for a floor to hold in its place: a memory file system shows nothing.
_SHOWN = 0.9
_RING = "anon_inode:[io_uring]"
_DIRECT = getattr(os, "O_DIRECT", 0)


def check_indexes(context: StepContext) -> None:
    """Find the index of each column that should have one in the system's catalogue. Raises WrongAnswer."""
    with context.base_session() as (engine, session):
        if "indexes" in engine.missing_features or not isinstance(session, SQLSession):
            return
        for name, table in context.tables.items():
            found = session.indexed(name) if table.indexes else None
            for column in table.indexes:
                if found is not None and column not in found:
                    raise WrongAnswer(f"no index on {name}.{column}, according to the system's catalogue")


def check_sync(context: StepContext) -> None:
    """Compare the settings that the durability tier promises with those of the session. Raises WrongAnswer."""
    with context.base_session() as (engine, session):
        if not isinstance(engine, SQLEngine):
            return
        for name, promised in engine.promised().items():
            if name not in engine.sync_queries:
                continue
            ((found,),) = fetch(session, engine.sync_queries[name])
            if found is not None and str(found) != str(promised):
                tier = engine.info().tier
                raise WrongAnswer(f"durability {tier} promises {name}={promised}, but the session has {found}")


def changed_option(context: StepContext) -> str:
    """Return the option whose value is another in the system's own catalogue, in words; empty if there is none."""
    with context.base_session() as (engine, session):
        if not isinstance(engine, SQLEngine) or engine.url:
            return ""
        for name, query in engine.option_queries.items():
            given = chosen(getattr(engine.options, name, None))
            if given is None:
                continue
            ((found,),) = fetch(session, query)
            if str(found) != str(given):
                return f"the option {name} is {given}, but the system's catalogue has {found}"
        return ""


class Floor(NamedTuple):
    """What the kernel's counts show of a step's commits: a fault, or why they can't show that one was synced."""

    fault: str = ""
    unknown: str = ""


def floor(step: AnyStep, context: StepContext, measured: StepMeasurement, used: Reading) -> Floor:
    """Look for what shows that commits which followed one another didn't reach the disk.

    `used` is what the step used. Nothing is asked of an engine that promises less than the tier `power`.
    """
    engine, commits = context.engine, measured.commits
    if not (step.writes and context.does_work) or engine.info().tier is not Tier.POWER:
        return Floor()
    if engine.url or not commits:
        return Floor(unknown="a server at a URL" if engine.url else "nothing tells which calls changed something")
    paused = "arrivals" in measured.facts or getattr(step, "thinks", False)  # clients that sleep wait as well
    waits, written = None if paused else used.waits, used.written
    enough = commits >= _COMMITS
    few_waits = enough and waits is not None and waits < commits * SHARE
    few_bytes = enough and written is not None and written < commits * PAGE * SHARE
    whole = isinstance(step, LoadStep) and step.share == 1 and written is not None
    columns = {name: table.columns.keys() for name, table in context.tables.items()}
    least = too_few(context.files, columns, written) if whole and written is not None else 0
    unknown = ""
    if not (whole or (enough and waits is not None)):
        unknown = f"fewer than {_COMMITS} commits" if not enough else "waits for the disk can't be told from others"
    if not (few_waits or few_bytes or least):
        return Floor(unknown=unknown)
    opened = [each for process in processes(engine) for each in opened_by(process)]
    sync = sync_probe(engine.directory.parent)
    if sync is None:
        return Floor(unknown="no sync could be tried")
    # Who looks for the end of its writes again and again need not wait; direct writes may be shorter than a page.
    if few_waits and (sync.waits < _SHOWN or any(name == _RING for name, _ in opened)):
        few_waits, unknown = False, "it need not wait for the disk here"
    counts = sync.written >= _SHOWN * PAGE
    direct = any(flags & _DIRECT and flags & os.O_ACCMODE != os.O_RDONLY for _, flags in opened)
    if few_waits:
        return Floor(f"commits didn't reach the disk: it waited {waits:,} times for {commits:,} commits")
    if few_bytes and counts and not direct:
        return Floor(f"commits didn't reach the disk: {written:,} bytes written for {commits:,} commits")
    if least and counts:
        return Floor(
            f"rows didn't reach the disk: {written:,} bytes written, but the rows take {least:,} or more, compressed"
        )
    return Floor(unknown=unknown)
