"""Several clients in one process: in a thread each, or served by one thread.

`python -m dbbench.loadgen.process` is one more process of them. It reads a job from its standard input and opens
an engine of its own. It writes a line when its clients are ready, and reads the moment of the start. It writes a line
when their last calls have returned, and waits for one before it closes their sessions. Then it writes what they
measured. What a driver prints goes to standard error instead.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TextIO

from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.offered import read_only
from dbbench.engine.urls import VARIABLE
from dbbench.errors import TimedOut
from dbbench.host.collector import collector_off
from dbbench.host.meters import ProcessMeter, Served
from dbbench.host.metric import Usage
from dbbench.host.processes import end_with_parent
from dbbench.loadgen.client import bound, client_run
from dbbench.loadgen.job import ORDER, REPLY, ClientOrder, ClientTimings, Failure, Job, Reply, together
from dbbench.loadgen.share import share
from dbbench.loadgen.transactions import Ended, Pool, Together, Transactions


def in_this_process(
    engine: Engine,
    job: Job,
    numbers: range,
    of: int,
    agree: Callable[[], int],
    returned: Callable[[], object],
    served: Served | None = None,
    ready: Callable[[], object] = lambda: None,
) -> ClientTimings:
    """Clients of this process: in a thread each, or served by one thread. Raises what the first of them raised.

    All have prepared when `ready` is called; then they `agree` on their start. `returned` is called when the last calls
    have returned, before sessions are closed. What is counted of processes is what this one used from their common
    start to their end, and what those of `served` did.
    """
    found: list[ClientTimings] = []
    begin: list[int] = []
    meter = ProcessMeter()

    def all_here() -> None:
        """Begin, or end when the last calls have returned."""
        if begin:
            counting.close()
            returned()
            return
        meter.look(served)
        ready()
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
            found.append(client_run(engine, pool, job, number, of, start, sleep))
            meet()
            return
        session = connect()
        try:
            if job.operation == "query":
                read_only(engine, session, on=True)
            found.append(client_run(engine, session, job, number, of, start, sleep))
            meet()
        finally:
            session.close()

    awaited = type(engine).session_class.awaited
    group = engine.group() if _takes_turns(job, len(numbers), awaited=awaited) else None
    with (
        closing(group) if group else nullcontext(),
        _shared(engine, job, numbers, of, group) as pool,
        ExitStack() as counting,
    ):
        failed = counting.enter_context(together_until(job))
        if group is None:
            barrier = threading.Barrier(len(numbers), all_here)
            works = [partial(client, number, engine.connect, barrier.wait) for number in numbers]
            _threads(dict(zip(numbers, works, strict=True)), barrier, failed)
        else:
            from dbbench.loadgen.turns import turns_of  # needs greenlet, which few steps do

            turns, connect = turns_of(engine, group)
            meet = partial(turns.meet, all_here)
            with suppress(Ended):  # what ended them has failed
                turns.run([partial(client, number, connect, meet, turns.sleep) for number in numbers])
    if failed:
        raise failed[0]
    whole = together(found)
    # Of one thread for all, what it waits holds up several calls at once, and each of them less than all of it.
    threads = whole.usage if group is None else {}
    return replace(whole, usage={**threads, **_countable(job, meter.usage())})


def _takes_turns(job: Job, clients: int, *, awaited: bool) -> bool:
    """Whether one thread may serve the clients: none of them holds a lock between two calls, or sleeps by itself.

    A transaction that waits for another's lock would keep the thread from the one that could let it go, unless all that
    it does is awaited.
    """
    if awaited:
        return not job.affinity
    if clients == 1:
        return False
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


def _countable(job: Job, usage: Usage) -> Usage:
    """What clients used from start to end, unless they did other things: grew the load, or waited by the clock."""
    return {} if job.rate is not None or job.ramp_up else usage


@contextmanager
def together_until(job: Job) -> Iterator[list[BaseException]]:
    """List of what clients fail with, the first of it first. Transactions end as soon as anything is in it.

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
def _shared(engine: Engine, job: Job, numbers: range, of: int, group: Any) -> Iterator[Pool | None]:
    """The share of this process in the sessions that all clients share, if they share any."""
    if job.pool is None or not isinstance(job.inputs, Transactions):
        yield None
        return
    with ExitStack() as closing:
        sessions = []
        for _ in share(job.pool, numbers.start, of, len(numbers)):
            sessions.append(engine.connect())
            closing.callback(sessions[-1].close)
        yield job.inputs.pool(engine, sessions, group.queue() if group else None)


def _serve(order: ClientOrder, commands: TextIO, say: Callable[[Reply], None]) -> None:
    """What one process of clients does with its order."""
    kind: type[Engine] = resolve_name(order.engine)
    engine = kind(Setup(Path(order.directory), order.tier, order.options, os.environ.get(VARIABLE, "")))

    def agree() -> int:
        say(Reply())
        return int(commands.readline())

    def returned() -> None:
        say(Reply())
        commands.readline()

    engine.open()
    try:
        numbers = range(order.first, order.first + order.threads)
        # Python's threads take turns: on one processor they need not wake each other up across two of them.
        with collector_off(), bound(order.first // order.threads if order.bound else None):
            found = in_this_process(engine, order.job, numbers, order.of, agree, returned)
    finally:
        engine.close()
    found.kept = [replace(each, rows=each.table) for each in found.kept]  # may raise WrongAnswer
    say(Reply(found))


def main() -> None:
    """One process of clients; its order is the first line of the standard input."""
    end_with_parent()
    words = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(said: Reply) -> None:
        print(REPLY.dump_json(said).decode(), file=words, flush=True)

    try:
        _serve(ORDER.validate_json(sys.stdin.readline()), sys.stdin, say)
    except Exception as exc:
        say(Reply(failure=Failure.of(exc)))
        sys.exit(1)
    # The engine is closed. An interpreter would now take a tenth of a second to take itself apart.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
