"""One client of a step: prepares its calls, warms up, starts with the others, and makes what counts."""

import gc
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, repeat, starmap
from operator import call
from time import perf_counter_ns
from typing import Any

from dbbench.engine.base import Engine, Session
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported
from dbbench.host.meters import CallMeter, DelayMeter
from dbbench.loadgen.arrivals import constant, growing, poisson
from dbbench.loadgen.job import ClientTimings, Job, Kept
from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.loops import LATE, Around, Record, open_loop, paced, stream, stream_until
from dbbench.loadgen.share import share
from dbbench.loadgen.transactions import Pool

#: An open loop works off what has piled up for a quarter of its time; what is left then is dropped.
_EXTRA_TIME = 0.25


def client_run(
    engine: Engine,
    session: Session | Pool,
    job: Job,
    number: int,
    of: int,
    start: Callable[[], int],
    sleep: Callable[[float], object] = time.sleep,
) -> ClientTimings:
    """One of the clients, from preparing to the last call; `start` waits for the others and gives the common start.

    `sleep` lets other clients go on for some seconds. The usage of a client alone is all that its calls used; of
    several it is what is counted of each thread, for what is counted of a process can't be told apart here.
    """
    began = perf_counter_ns()
    work = _statements(engine, session, job) if job.inputs is None else job.inputs.prepare(engine, session, number, of)  # type: ignore[arg-type]  # a pool is of transactions
    found = ClientTimings(prepare=perf_counter_ns() - began)
    # With others: made before the start, for in a thread of its own the making would hold them up.
    given = iter(work.given)
    if job.endless and (of > 1 or job.rate):
        given = chain(list(islice(given, work.premade // of)), given)
    elif of > 1:
        given = iter(list(given))
    # All of it is young. Between the first chunks of calls it would take up to half a second to go through it.
    gc.collect(0)
    return _Client(job, work, given, number, of, found, CallMeter(engine) if of == 1 else DelayMeter(), sleep).run(
        start
    )


@dataclass
class _Client:
    job: Job
    work: CallStream
    given: Iterator[Any]
    number: int
    of: int
    found: ClientTimings
    meter: CallMeter | DelayMeter
    sleep: Callable[[float], object]

    def run(self, start: Callable[[], int]) -> ClientTimings:
        """Warm up, wait for the others, let the load grow, and make the calls that count."""
        job, found, work = self.job, self.found, self.work
        warm = work.recorder(found.warm_up, {})
        if job.warm_up:
            last: deque[Any] = deque(maxlen=1)
            observed = partial(_keep, last, work.run) if work.look else work.run
            longest = None if job.longest_warm_up is None else perf_counter_ns() + round(job.longest_warm_up * 1e9)
            self._made(observed, islice(self.given, job.warm_up), warm, end=longest)
            if work.look and last:
                work.look(last.pop())
        if job.warm_up_seconds:
            until = perf_counter_ns() + round(job.warm_up_seconds * 1e9)
            self._made(work.run, self.given, warm, end=until)
        with bound(self.number if job.affinity else None):
            begin = start()
            self.sleep(max(begin - perf_counter_ns(), 0) / 1e9)
            found.late = max(perf_counter_ns() - begin, 0)
            if job.ramp_up:
                begin = self._grow(begin, warm)
            found.begin = begin
            self._measured(begin, work.sample)
            found.end = perf_counter_ns()
        found.counts, found.spans = work.counts, [found.end - found.begin]
        found.made = [(self.number, found.calls)]
        if job.rate is None:  # at a rate the moments are waited for by reading the clock
            found.usage = self.meter.usage(found.service.total / 1e9)
        found.kept = [Kept(self.number, place, rows) for place, rows in work.kept]
        if work.rows_of and work.sample and work.sample.calls:
            found.kept.append(Kept(self.number, found.warm_up.count, partial(work.rows_of, work.sample.calls)))
        return found

    def _grow(self, begin: int, warm: Record) -> int:
        """The load up to its full height, by clients that start one after another or at a growing rate; its end."""
        ramp = self.job.ramp_up
        end = begin + round(ramp * 1e9)
        if self.job.rate is None:
            self.sleep(ramp * self.number / self.of)
            self._made(self.work.run, self.given, warm, end=end)
        else:
            moments = growing(self.job.rate.per_second, ramp, self.number, self.of)
            left: list[Any] = []
            self._at(moments, begin, round(ramp * 1e9), warm, None, left)
            # What a client has done is known by the number of its calls: none of them is left out.
            self.given = chain(left, self.given)
        self.sleep(max(end - perf_counter_ns(), 0) / 1e9)
        return end

    def _measured(self, begin: int, sample: KeptCalls | None) -> None:
        job, found, work = self.job, self.found, self.work
        record = work.recorder(found.service, found.by)

        def seen(ends: Any, times: Any) -> None:
            found.timeline.record(begin, ends, times)

        if job.rate is not None:
            moments = _moments(job, self.number, self.of)
            give_up = round(job.seconds * (1 + _EXTRA_TIME) * 1e9)
            found.schedule = self._at(moments, begin, give_up, record, seen, sample=sample)
        elif job.duration is not None:
            end = begin + round(job.duration * 1e9)
            self._made(work.run, self.given, record, seen, self.meter, sample, end)
        else:
            calls = islice(self.given, self._share()) if job.endless else self.given
            self._made(work.run, calls, record, seen, self.meter, sample)

    def _share(self) -> int:
        """The calls of this client: `job.calls` divided among the clients if they take inputs, else all of them."""
        job = self.job
        if job.inputs is None or job.each:
            return job.calls
        return len(share(job.calls, self.number, self.of))

    def _made(
        self,
        run: Callable[..., object],
        calls: Iterable[Any],
        record: Record,
        seen: Any = None,
        around: Around | None = None,
        sample: KeptCalls | None = None,
        end: int | None = None,
    ) -> None:
        """One call after another, to the last of them or until the clock reads `end`."""
        work = self.work
        more: Any = {"at_once": work.at_once, "seen": seen, "around": around or nullcontext(), "sample": sample}
        if work.pauses is not None:
            paced(run, calls, work.pauses, record, end, sleep=work.pause, **more)
        elif end is None:
            stream(run, calls, record, through=work.through, **more)
        else:
            stream_until(run, calls, record, end, through=work.through, **more)

    def _at(
        self,
        moments: Iterable[Any],
        begin: int,
        give_up: int,
        record: Record,
        seen: Any,
        left: list[Any] | None = None,
        sample: KeptCalls | None = None,
    ) -> Any:
        job, work = self.job, self.work
        assert job.rate is not None
        run = work.run
        if work.through is starmap:

            def run(arguments: Any) -> object:
                return work.run(*arguments)

        return open_loop(
            run,
            self.given,
            moments,
            record,
            self.found.latency.record if seen else _forget,
            begin=begin,
            give_up=give_up,
            behind=max(LATE, round(self.of / job.rate.per_second * 1e9)),
            sleep=self.sleep,
            seen=seen,
            left=left,
            sample=sample,
        )


def _keep(last: deque[Any], run: Callable[..., object], *arguments: Any) -> None:
    last.append(run(*arguments))


def _forget(times: Any) -> None:
    """Times that are recorded elsewhere."""


def _statements(engine: Engine, session: Session | Pool, job: Job) -> CallStream:
    """One prepared operation that takes nothing, again and again."""
    assert isinstance(session, Session)
    run = prepared(engine, session, job.operation)(*job.arguments)

    def look(returned: Any) -> None:
        if session.returned_rows(returned):
            raise Unsupported("the statement returns rows, which nobody reads: use `kind: query` for it")

    return CallStream(call, repeat(run), look=look)


@contextmanager
def bound(number: int | None) -> Iterator[None]:
    """Bind this thread to one of the processors it may run on, if a number is given and the system can."""
    if number is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(allowed)[number % len(allowed)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _moments(job: Job, number: int, of: int) -> Iterable[Any]:
    """A client's share of the arrivals: each in turn if they are constant, a process of its own if they are random."""
    rate = job.rate
    assert rate is not None
    if rate.arrivals == "constant":
        return constant(rate.per_second / of, job.seconds, first=number / rate.per_second)
    return poisson(rate.per_second / of, job.seconds, (job.seed, number))
