"""One operation driven by one client or several, as threads and processes that start together.

Each client has a session of its own, prepares the operation and makes its warm-up calls; then all wait
for each other, and start at one reading of the clock, which is the same for all processes of a machine.
"""

from __future__ import annotations

from time import perf_counter_ns

from dbbench.engine.base import Engine, Session
from dbbench.engine.operations import prepared
from dbbench.errors import Unsupported
from dbbench.loadgen.client import client_run
from dbbench.loadgen.job import ClientTimings, Job, together
from dbbench.loadgen.loops import collector_off
from dbbench.loadgen.process import in_this_process, together_until
from dbbench.loadgen.processes import in_processes
from dbbench.loadgen.transactions import Ended
from dbbench.suite.steps.base import Clients


def drive(engine: Engine, session: Session, job: Job, clients: Clients) -> ClientTimings:
    """Measure a job. One client is the session given; raises Unsupported if the engine can't serve them all."""
    refuse(engine, session, job, clients)
    with collector_off():
        if clients.count == 1:
            with together_until(job) as failed:
                try:
                    return together([client_run(engine, session, job, 0, 1, perf_counter_ns)])
                except Ended:
                    raise failed[0] from None
        if clients.processes == 1:
            return in_this_process(engine, job, range(clients.threads), clients.count, perf_counter_ns, engine)
        return in_processes(engine, job, clients)


def refuse(engine: Engine, session: Session, job: Job, clients: Clients) -> None:
    """Raise Unsupported where the engine can't do the job, or can't serve all of the clients at once."""
    for what, count in (("threads", clients.threads), ("processes", clients.processes)):
        most = getattr(engine.info().concurrency, what)
        if most is not None and count > most:
            raise Unsupported(f"{engine.name} can't serve clients from {count} {what} at once (at most {most})")
    if clients.count > 1 and (reason := engine.one_client.get(job.operation)):
        raise Unsupported(f"{engine.name} can't {job.operation} with several clients at once: {reason}")
    if job.inputs is not None:
        job.inputs.check(engine, session)  # refused here, where the reason is told
    else:
        prepared(engine, session, job.operation)
