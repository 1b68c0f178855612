"""One operation driven by one client or several, as threads and processes that start together.

Each client has a session of its own, prepares the operation and makes its warm-up calls; then all wait
for each other, and start at one reading of the clock, which is the same for all processes of a machine.
"""

import os
import selectors
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from time import perf_counter_ns
from typing import Self

from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported
from dbbench.host.collector import collector_off
from dbbench.host.meters import ProcessMeter
from dbbench.host.metric import of_threads, total
from dbbench.host.processes import environment, python
from dbbench.loadgen.client import client_run
from dbbench.loadgen.job import ORDER, REPLY, ClientFailed, ClientOrder, ClientTimings, Job, Reply, together
from dbbench.loadgen.process import in_this_process, together_until
from dbbench.loadgen.transactions import Ended
from dbbench.suite.steps.base import Clients

#: Between the word to the processes and their start, so that all have heard it.
_LEAD_NANOSECONDS = 20_000_000


def drive(
    engine: Engine,
    session: Session,
    job: Job,
    clients: Clients,
    returned: Callable[[], object] = lambda: None,
    ready: Callable[[], object] = lambda: None,
) -> ClientTimings:
    """Measure a job. One client is the session given; raises Unsupported if the engine can't serve them all.

    `ready` is called when all have prepared, right before they start. Of several, `returned` is called when their last
    calls have returned, before their sessions are closed.
    """
    refuse(engine, session, job, clients)

    def start() -> int:
        ready()
        return perf_counter_ns()

    with collector_off():
        if clients.count == 1:
            with together_until(job) as failed:
                try:
                    return together([client_run(engine, session, job, 0, 1, start)])
                except Ended:
                    raise failed[0] from None
        if clients.processes == 1:
            return in_this_process(
                engine, job, range(clients.threads), clients.count, perf_counter_ns, returned, engine, ready
            )
        return in_processes(engine, job, clients, returned, ready)


def refuse(engine: Engine, session: Session, job: Job, clients: Clients) -> None:
    """Raise Unsupported where the engine can't do the job, or can't serve all of the clients at once."""
    for what, count in (("threads", clients.threads), ("processes", clients.processes)):
        most = getattr(engine.info().concurrency, what)
        if most is not None and count > most:
            raise Unsupported(f"{engine.name} can't serve clients from {count} {what} at once (at most {most})")
    if clients.count > 1 and (reason := engine.one_client.get(job.operation)):
        raise Unsupported(f"{engine.name} can't {job.operation} with several clients at once: {reason}")
    if job.inputs is not None:
        job.inputs.check(engine, session)  # refused here, where the reason is reported
    else:
        prepared(engine, session, job.operation)


def arranged(engine: Engine, clients: Clients) -> Clients:
    """The same number of clients, all threads of one process, where no other could open the database."""
    return Clients(threads=clients.count) if engine.info().concurrency.processes == 1 else clients


def in_processes(
    engine: Engine, job: Job, clients: Clients, returned: Callable[[], object], ready: Callable[[], object]
) -> ClientTimings:
    """Clients in processes of their own, each with an engine of its own on the same directory."""
    with ClientProcesses(order_of(engine, job, clients), range(clients.processes)) as processes:
        processes.ready()
        ready()
        meter = ProcessMeter(engine, own=False)  # the clients' processes tell their own
        with meter:
            processes.begin(perf_counter_ns() + _LEAD_NANOSECONDS)
            found = processes.timings(returned)
    return replace(found, usage={**of_threads(found.usage), **total([found.usage, meter.usage()])})


def order_of(engine: Engine, job: Job, clients: Clients) -> ClientOrder:
    """The order for processes of clients."""
    kind = type(engine)
    return ClientOrder(
        engine=f"{kind.__module__}:{kind.__qualname__}",
        directory=str(engine.directory),
        tier=engine.tier,
        options=engine.options.model_dump(mode="json"),
        job=job,
        threads=clients.threads,
        of=clients.count,
        served=bool(engine.processes() or engine.url),
    )


class ClientProcesses:
    """Some of the processes of clients that have one order; `numbers` are theirs among all of them.

    A process whose threads ask a server is pinned to one processor, if there are as many processes as processors.
    Those of embedded engines are not: the system's own threads, which complete their writes, would wait for them.
    """

    def __init__(self, order: ClientOrder, numbers: range, variables: Mapping[str, str] | None = None) -> None:
        self._order, self._numbers, self._variables = order, numbers, variables or {}
        self._children: list[subprocess.Popen[str]] = []
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        """Start them."""
        threads = self._order.threads
        bound = self._order.served and threads > 1 and len(self._numbers) >= (os.cpu_count() or 1)
        try:
            for number in self._numbers:
                child = subprocess.Popen(
                    python("dbbench.loadgen.process"),
                    env=environment(**self._variables),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                self._ending.enter_context(child)
                self._ending.callback(child.kill)
                self._children.append(child)
                _tell(child, ORDER.dump_json(replace(self._order, bound=bound, first=number * threads)).decode())
        except BaseException:
            self._ending.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exc: object) -> None:
        """Wait for their end, or kill those that still run where something went wrong."""
        with self._ending:
            if kind is None:
                for child in self._children:
                    child.wait()

    def ready(self) -> None:
        """Wait until all have warmed up. Raises the error that one of them reports."""
        hear_all(self._children)

    def begin(self, moment: int) -> None:
        """Have all begin at this reading of the clock."""
        for child in self._children:
            _tell(child, moment)

    def timings(self, returned: Callable[[], object] = lambda: None) -> ClientTimings:
        """What they measured. Between their last calls and their ends `returned` is called.

        Raises ClientFailed, and errors that they report.
        """
        hear_all(self._children)
        returned()
        for child in self._children:
            _tell(child, "")
        return together([said.timings for said in hear_all(self._children) if said.timings])


def _tell(child: subprocess.Popen[str], line: object) -> None:
    assert child.stdin
    with suppress(BrokenPipeError):  # it ended; `_hear` says how
        print(line, file=child.stdin, flush=True)


def hear_all(children: Sequence[subprocess.Popen[str]]) -> list[Reply]:
    """One reply from each process. Raises as soon as one reports a failure or ends without a reply."""
    found: dict[subprocess.Popen[str], Reply] = {}
    with selectors.DefaultSelector() as waiting:
        for child in children:
            assert child.stdout
            waiting.register(child.stdout, selectors.EVENT_READ, child)
        while waiting.get_map():
            for key, _ in waiting.select():
                waiting.unregister(key.fileobj)
                found[key.data] = _hear(key.data)
    return [found[child] for child in children]


def _hear(child: subprocess.Popen[str]) -> Reply:
    """The next reply of a process. Raises the error that it reports, and ClientFailed if it ended without a reply."""
    assert child.stdout
    line = child.stdout.readline()
    if not line:
        raise ClientFailed(f"a client process ended unexpectedly with status {child.wait()}")
    said = REPLY.validate_json(line)
    if said.failure:
        raise said.failure.exception("in a client process")
    return said
