"""One operation driven by one client or several, as threads and processes that start together.

Each client has a session of its own, prepares the operation and makes its warm-up calls; then all wait
for each other, and start at one reading of the clock, which is the same for all processes of a machine.

`python -m dbbench.loadgen.clients` is one more process of them. It reads a job from its standard input and opens
an engine of its own. It writes a line when its clients are ready, reads the moment of the start, and
writes what they measured. What a driver prints goes to standard error instead.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter_ns
from typing import Any, Self, TextIO

from dbbench.engine.base import Engine, Session
from dbbench.engine.operations import prepared
from dbbench.engine.setup import Setup
from dbbench.engine.urls import VARIABLE
from dbbench.errors import DbbenchError, TimedOut, Unsupported, WrongAnswer
from dbbench.host.cpu_time import CpuMeter, Served
from dbbench.host.processes import end_with_parent, environment, python
from dbbench.loadgen.client import bound, client_run
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.loadgen.loops import collector_off
from dbbench.loadgen.transactions import Ended, Pool, Together, Transactions
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Clients

#: Between the word to the processes and their start, so that all have heard it.
_LEAD_NANOSECONDS = 20_000_000


class ClientFailed(DbbenchError):
    """A process of clients came to a bad end."""


def drive(engine: Engine, session: Session, job: Job, clients: Clients) -> ClientTimings:
    """Measure a job. One client is the session given; raises Unsupported if the engine can't serve them all."""
    refuse(engine, session, job, clients)
    with collector_off():
        if clients.count == 1:
            with _together_until(job) as failed:
                try:
                    return client_run(engine, session, job, 0, 1, perf_counter_ns)
                except Ended:
                    raise failed[0] from None
        if clients.processes == 1:
            return _in_this_process(engine, job, range(clients.threads), clients.count, perf_counter_ns, engine)
        return _processes(engine, job, clients)


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


def _in_this_process(
    engine: Engine, job: Job, numbers: range, of: int, agree: Callable[[], int], served: Served | None = None
) -> ClientTimings:
    """Clients of this process: in a thread each, or served by one thread. Raises what the first of them raised.

    Their CPU time is what this process used from their common start to their end, and what the processes of `served` did.
    """
    found: list[ClientTimings] = []
    begin: list[int] = []
    meter = CpuMeter()

    def ready() -> None:
        meter.look(served)
        counting.enter_context(meter)
        begin.append(agree())

    def client(
        number: int,
        connect: Callable[[], Session],
        meet: Callable[[], object],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        def start() -> int:
            meet()
            return begin[0]

        if pool is not None:
            found.append(client_run(engine, pool, job, number, of, start))
            return
        session = connect()
        try:
            found.append(client_run(engine, session, job, number, of, start, sleep))
        finally:
            session.close()

    group = engine.group() if len(numbers) > 1 and _takes_turns(job) else None
    with _together_until(job) as failed, _shared(engine, job, numbers, of) as pool, ExitStack() as counting:
        if group is None:
            barrier = threading.Barrier(len(numbers), ready)
            works = [partial(client, number, engine.connect, barrier.wait) for number in numbers]
            _threads(dict(zip(numbers, works, strict=True)), barrier, failed)
        else:
            from dbbench.loadgen.turns import Turns  # needs greenlet, which few steps do

            counting.callback(group.close)
            turns = Turns(group)
            connect, meet = partial(group.connect, turns.wait), partial(turns.meet, ready)
            turns.run([partial(client, number, connect, meet, turns.sleep) for number in numbers])
    if failed:
        raise failed[0]
    whole = replace(together(found), cpu_seconds=_countable(job, meter.seconds))
    # Of one thread for all, what it waits holds up several calls at once, and each of them less than all of it.
    return whole if group is None else replace(whole, delay_seconds=None)


def _takes_turns(job: Job) -> bool:
    """Whether one thread may serve the clients: none of them holds a lock between two calls, or sleeps by itself.

    A transaction that waits for another's lock would keep the thread from the one that could let it go.
    """
    in_transactions = isinstance(job.inputs, Together | Transactions) or getattr(job.inputs, "transaction", 1) > 1
    return not in_transactions and not job.affinity


def _threads(
    works: Mapping[int, Callable[[], object]], barrier: threading.Barrier, failed: list[BaseException]
) -> None:
    """Work in a thread for each number, to the end of all. What one raises is put with what has failed."""

    def work(number: int) -> None:
        try:
            works[number]()
        except threading.BrokenBarrierError:
            pass  # another one failed, and says so
        except BaseException as exc:  # raised again by the caller
            failed.append(exc)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(number,), name=f"client {number}") for number in works]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:  # no more threads to be had
        barrier.abort()
        raise
    finally:
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _countable(job: Job, seconds: float | None) -> float | None:
    """CPU seconds of clients from start to end, unless they did other things too: grew the load, or waited by reading the clock."""
    return None if job.rate is not None or job.ramp_up else seconds


@contextmanager
def _together_until(job: Job) -> Iterator[list[BaseException]]:
    """Where clients put what they fail with, the first of it first. Transactions end as soon as anything is there.

    After the job's `time_limit` that is there. A call that waits within the driver is waited for.
    """
    failed = job.inputs.reasons if isinstance(job.inputs, Together) else []
    if job.time_limit is None:
        yield failed
        return
    limit = TimedOut(f"not done within {job.time_limit:g} s, the step's time_limit")
    timer = threading.Timer(job.time_limit, failed.append, [limit])
    timer.daemon = True
    timer.start()
    try:
        yield failed
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def _shared(engine: Engine, job: Job, numbers: range, of: int) -> Iterator[Pool | None]:
    """The share of this process in the sessions that all clients share, if they share any."""
    if job.pool is None or not isinstance(job.inputs, Transactions):
        yield None
        return
    with ExitStack() as closing:
        sessions = []
        for _ in range(len(share(job.pool, numbers, of))):
            sessions.append(engine.connect())
            closing.callback(sessions[-1].close)
        yield job.inputs.pool(engine, sessions)


def share(pool: int, numbers: range, of: int) -> range:
    """Which of a pool's sessions belong to a process whose clients have these numbers."""
    return range(pool * numbers.start // of, pool * numbers.stop // of)


def together(found: list[ClientTimings]) -> ClientTimings:
    """What some clients measured, as one: the first one's, that the others' are merged into."""
    whole, *rest = found
    for each in rest:
        whole.merge(each)
    return whole


def _processes(engine: Engine, job: Job, clients: Clients) -> ClientTimings:
    """Clients in processes of their own, each with an engine of its own on the same directory."""
    with ClientProcesses(order_of(engine, job, clients), range(clients.processes)) as processes:
        processes.ready()
        meter = CpuMeter(engine, own=int)  # the clients' processes tell their own
        with meter:
            processes.begin(perf_counter_ns() + _LEAD_NANOSECONDS)
            found = processes.timings()
    if found.cpu_seconds is None or meter.seconds is None:
        return replace(found, cpu_seconds=None)
    return replace(found, cpu_seconds=found.cpu_seconds + meter.seconds)


def order_of(engine: Engine, job: Job, clients: Clients) -> dict[str, Any]:
    """What processes of clients are told: the same for all of them, and plain data. The URL isn't in it."""
    kind = type(engine)
    return {
        "engine": f"{kind.__module__}:{kind.__qualname__}",
        "directory": str(engine.directory),
        "tier": engine.tier,
        "options": engine.options.model_dump(mode="json"),
        "job": job.to_json(),
        "threads": clients.threads,
        "of": clients.count,
        "served": bool(engine.processes() or engine.url),
    }


class ClientProcesses:
    """Some of the processes of clients that have one order; `numbers` are theirs among all of them.

    A process of several threads that ask a server keeps to one processor where there are as many processes as
    processors. Where the threads do the work themselves the system's own, which end their writes, would stand behind them.
    """

    def __init__(self, order: Mapping[str, Any], numbers: range, variables: Mapping[str, str] | None = None) -> None:
        self._order, self._numbers, self._variables = order, numbers, variables or {}
        self._children: list[subprocess.Popen[str]] = []
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        """Start them."""
        threads = self._order["threads"]
        bound = self._order["served"] and threads > 1 and len(self._numbers) >= (os.cpu_count() or 1)
        try:
            for number in self._numbers:
                child = subprocess.Popen(
                    python("dbbench.loadgen.clients"),
                    env=environment(**self._variables),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                self._ending.enter_context(child)
                self._ending.callback(child.kill)
                self._children.append(child)
                _tell(child, {**self._order, "bound": bound, "first": number * threads})
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
        """Wait until all have warmed up. Raises what one of them says went wrong."""
        _hear_all(self._children)

    def begin(self, moment: int) -> None:
        """Have all begin at this reading of the clock."""
        for child in self._children:
            _tell(child, moment)

    def timings(self) -> ClientTimings:
        """What they measured, when the last one is done. Raises WrongAnswer, TimedOut and ClientFailed."""
        return together([ClientTimings.from_json(document) for document in _hear_all(self._children)])


def _tell(child: subprocess.Popen[str], document: Any) -> None:
    assert child.stdin
    with suppress(BrokenPipeError):  # it ended; `_hear` says how
        print(json.dumps(document), file=child.stdin, flush=True)


def _hear_all(children: Sequence[subprocess.Popen[str]]) -> list[Any]:
    """What each process says. Raises as soon as one has failed: nobody waits for the others then, which are killed."""
    found: dict[subprocess.Popen[str], Any] = {}
    with selectors.DefaultSelector() as waiting:
        for child in children:
            assert child.stdout
            waiting.register(child.stdout, selectors.EVENT_READ, child)
        while waiting.get_map():
            for key, _ in waiting.select():
                waiting.unregister(key.fileobj)
                found[key.data] = _hear(key.data)
    return [found[child] for child in children]


def _hear(child: subprocess.Popen[str]) -> Any:
    """The next thing that a process says. Raises ClientFailed if it failed or ended without a word."""
    assert child.stdout
    line = child.stdout.readline()
    if not line:
        raise ClientFailed(f"a client process ended by itself with status {child.wait()}")
    document = json.loads(line)
    raise_failure(document, "in a client process")
    return document


def raise_failure(word: Mapping[str, Any], where: str) -> None:
    """Raise what a process of clients says went wrong, if it says so: WrongAnswer, TimedOut, or ClientFailed with `where` it was."""
    if "wrong" in word:
        raise WrongAnswer(word["wrong"])
    if "timed out" in word:
        raise TimedOut(word["timed out"])
    if "failed" in word:
        raise ClientFailed(f"{where}: {word['failed']}")


def _serve(order: Mapping[str, Any], commands: TextIO, say: Callable[[Any], None]) -> None:
    """What one process of clients does with its order."""
    kind: type[Engine] = resolve_name(order["engine"])
    engine = kind(Setup(Path(order["directory"]), Tier(order["tier"]), order["options"], os.environ.get(VARIABLE, "")))

    def agree() -> int:
        say({"ready": os.getpid()})
        return int(commands.readline())

    engine.open()
    try:
        numbers = range(order["first"], order["first"] + order["threads"])
        with collector_off():
            job = Job.from_json(order["job"])
            # Python's threads take turns: on one processor they need not wake each other up across two of them.
            with bound(order["first"] // order["threads"] if order["bound"] else None):
                found = _in_this_process(engine, job, numbers, order["of"], agree)
    finally:
        engine.close()
    say(found.to_json())


def main() -> None:
    """One process of clients; its order is the first line of the standard input."""
    end_with_parent()
    words = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(document: Any) -> None:
        print(json.dumps(document), file=words, flush=True)

    try:
        _serve(json.loads(sys.stdin.readline()), sys.stdin, say)
    except WrongAnswer as exc:
        say({"wrong": str(exc)})
        sys.exit(1)
    except TimedOut as exc:
        say({"timed out": str(exc)})
        sys.exit(1)
    except Exception as exc:
        traceback.print_exc()
        say({"failed": f"{type(exc).__name__}: {exc}"})
        sys.exit(1)


if __name__ == "__main__":
    main()
