"""What an engine promises and no figure shows: indexes, and commits that are synced. The system itself is asked.

Outside the clock, and after the check in a new session: a question may end what a step left unfinished. An engine that
answers these questions itself can still lie; `dbbench durability` counts its sync calls.
"""

from dbbench.engine.sql.session import SQLEngine, SQLSession, fetch
from dbbench.errors import WrongAnswer
from dbbench.workloads.context import StepContext


def check_indexes(context: StepContext) -> None:
    """Find the index of each column that should have one in the system's catalogue. Raises WrongAnswer."""
    with context.beneath() as (engine, session):
        if "indexes" in engine.missing_features or not isinstance(session, SQLSession):
            return
        for name, table in context.tables.items():
            found = session.indexed(name) if table.indexes else None
            for column in table.indexes:
                if found is not None and column not in found:
                    raise WrongAnswer(f"no index on {name}.{column}, according to the system's catalogue")


def check_sync(context: StepContext) -> None:
    """Compare the settings that the durability tier promises with those of the session. Raises WrongAnswer."""
    with context.beneath() as (engine, session):
        if not isinstance(engine, SQLEngine):
            return
        tier = engine.info().tier
        for name, promised in engine.durability[tier].items():
            if name not in engine.sync_queries:
                continue
            ((found,),) = fetch(session, engine.sync_queries[name])
            if found is not None and str(found) != str(promised):
                raise WrongAnswer(f"durability {tier} promises {name}={promised}, but the session has {found}")


def changed_option(context: StepContext) -> str:
    """Return the option whose value is another in the system's own catalogue, in words; empty if there is none."""
    with context.beneath() as (engine, session):
        if not isinstance(engine, SQLEngine) or engine.url:
            return ""
        for name, query in engine.option_queries.items():
            given = getattr(engine.options, name, None)
            if given is None:
                continue
            ((found,),) = fetch(session, query)
            if str(found) != str(given):
                return f"the option {name} is {given}, but the system's catalogue has {found}"
        return ""
