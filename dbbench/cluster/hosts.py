"""Drives the clients of a step on the hosts of a cluster: one start for all in each host's own time, and one result."""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic, perf_counter_ns
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from distributed import Client

from dbbench.cluster.agent import Agent, Ended, Sealed
from dbbench.cluster.alike import differences, identity
from dbbench.cluster.clock import EXCHANGES, Clock, Reading, best
from dbbench.cluster.leased import CLEAR_UP_SECONDS, HOST_REPLY, HostOrder, HostReply
from dbbench.cluster.place import Place
from dbbench.cluster.watch import TOPIC, Watch
from dbbench.engine.base import Engine, Session
from dbbench.errors import HostLost, Unsupported, UserError
from dbbench.host.metric import of_threads
from dbbench.loadgen.clients import order_of, refuse
from dbbench.loadgen.job import ClientFailed, ClientTimings, Job, together
from dbbench.results.facts import ClusterFacts, HostFacts
from dbbench.suite.steps.base import Clients

#: A host is lost after these seconds without an answer: before the start, when drivers are imported, and after it. It
#: is asked each second at least.
_START_SECONDS, _ANSWER_SECONDS = 10.0, 3.5
_LEAST_POLL, _MOST_POLL = 0.05, 1.0
#: Between the word to the hosts and their start: nanoseconds, and round trips.
LEAD_NANOSECONDS, LEAD_ROUND_TRIPS = 200_000_000, 20
#: How long hosts have to come up; and, before a run, to say what they have for an engine. In seconds.
UP_SECONDS = 60.0


@dataclass
class Host:
    """One of the hosts, and what is known of it in a step."""

    name: str
    address: str
    agent: Any = None
    #: When it was given what it does, by our monotonic clock.
    since: float = 0.0
    readings: list[Reading] = field(default_factory=list)
    ready: HostReply | None = None
    found: HostReply | None = None

    @property
    def clock(self) -> Clock:
        """Its clock over the step."""
        return Clock(self.readings[0], self.readings[-1])


class OrderListener(Protocol):
    """Receiver of what hosts report about the orders that are spread over them."""

    def heard(self, host: str, order: int, word: HostReply) -> None:
        """A host has said something of an order."""

    def lost(self, order: int, why: str) -> None:
        """The host of an order was lost: another begins with it anew."""


class Hosts:
    """The hosts of a place, as long as it is entered. It drives one step at a time."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.lost = ""
        self._gone: set[str] = set()
        self._ending = ExitStack()
        self._last_step_facts: ClusterFacts | None = None
        self._local: Any = None
        self._patience = _START_SECONDS

    def __enter__(self) -> Self:
        """Reach the hosts. Raises UserError if they can't be used."""
        with ExitStack() as ending:
            try:
                self._client = ending.enter_context(self._connected(ending))
                self._client.wait_for_workers(self.place.hosts, timeout=UP_SECONDS)
            except (OSError, TimeoutError, ValueError, TypeError) as exc:
                raise UserError(f"--cluster {self.place.address}: {self._why(exc)}") from exc
            try:
                self._client.register_plugin(Watch())
                self._client.subscribe_topic(TOPIC, self._hear)
                self.hosts = self._placed()
            except OSError as exc:  # a time-out, too
                raise UserError(f"--cluster {self.place.address}: the hosts don't answer: {_first_line(exc)}") from exc
            except (ImportError, AttributeError, RuntimeError) as exc:
                raise UserError(
                    f"--cluster {self.place.address}: {_first_line(exc)}; "
                    "scheduler and workers need the same dbbench, with the extra cluster"
                ) from exc
            self._ending = ending.pop_all()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._ending.close()

    def drive(
        self,
        engine: Engine,
        session: Session,
        job: Job,
        clients: Clients,
        _returned: Callable[[], object] | None = None,
    ) -> ClientTimings:
        """Measure a job by clients that are spread evenly over the hosts, in the order of their numbers.

        Raises Unsupported if the engine can't serve them or a host is unlike this one, HostLost if one ended, stands
        still or can't be reached, WrongAnswer, TimedOut, and ClientFailed.
        """
        refuse(engine, session, job, clients)
        count = len(self.hosts)
        if clients.processes % count:
            raise Unsupported(
                f"{engine.name} can't serve clients of several processes, and so not from {count} hosts"
                if engine.info().concurrency.processes == 1
                else f"{clients} can't be spread evenly over {count} hosts"
            )
        if self.lost:
            raise HostLost(f"{self.lost}; the next trial connects to the hosts again")
        share = clients.processes // count
        order = order_of(engine, job, clients)
        orders = [HostOrder(order.engine, engine.url, order, number * share, share) for number in range(count)]
        self._patience = _START_SECONDS
        try:
            self._client.sync(self._driven, orders, identity(type(engine)))
        except HostLost as exc:
            self.lost = str(exc)
            raise
        finally:
            self._client.sync(self._stop)
        found = [self._here(host, share * clients.threads) for host in self.hosts]
        merged = together([timings for timings, _ in found])
        self._last_step_facts = {"hosts": [facts for _, facts in found], "span": (merged.end - merged.begin) / 1e9}
        return replace(merged, usage=of_threads(merged.usage)) if engine.url else merged

    def check(self, engines: Mapping[str, Callable[[], Mapping[str, str]]]) -> None:
        """Raise UserError if a host lacks what engines need, or has another. `engines`: name -> what this host has."""
        for name, here in engines.items():
            try:
                self._client.sync(self._prepared, [HostOrder(name)] * len(self.hosts), here(), UP_SECONDS)
            except TimeoutError as exc:
                late = next(host.name for host in self.hosts if not host.ready)
                raise UserError(
                    f"--cluster {self.place.address}: host {late} has not said what it has for {name} within "
                    f"{UP_SECONDS:g} s; `dbbench engines` there says whether its driver hangs"
                ) from exc
            except (HostLost, Unsupported, ClientFailed) as exc:
                raise UserError(f"--cluster {self.place.address}: {exc}") from exc
            finally:
                self._client.sync(self._stop)

    def spread(self, orders: Mapping[int, Sealed], program: str, listener: OrderListener) -> None:
        """Run `program` for each order, one order per host at a time, until all are done. `orders`: number -> order.

        An order whose host is lost is given to another. Raises HostLost if none is left, UserError or ClientFailed for
        what goes wrong on a host, and what `listener` raises. What still runs then is asked to clear up and waited for.
        """
        try:
            self._client.sync(self._spread, deque(orders.items()), program, listener)
        finally:
            self._client.sync(self._wound_up)

    def take_facts(self) -> ClusterFacts | None:
        """Remarks on the hosts in the last step that they drove; once."""
        facts, self._last_step_facts = self._last_step_facts, None
        return facts

    def _connected(self, ending: ExitStack) -> Client:
        if not self.place.local:
            return Client(self.place.address, timeout=10, direct_to_workers=True)
        from dbbench.cluster.local import LocalHosts

        self._local = ending.enter_context(LocalHosts(self.place.hosts))
        return Client(self._local.address, security=self._local.security, direct_to_workers=True)

    def _why(self, exc: Exception) -> str:
        if isinstance(exc, TimeoutError) and hasattr(self, "_client"):
            workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
            return f"{workers} of {self.place.hosts} hosts came up in {UP_SECONDS:g} s"
        return f"the scheduler can't be reached: {_first_line(exc)}"

    def _placed(self) -> list[Host]:
        """The hosts, each with its agent. Raises UserError for workers that would disturb the measuring."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        known = sorted(workers.items(), key=_by_name)[: self.place.hosts]
        for address, facts in known:
            if facts["nthreads"] != 1:
                raise UserError(f"the worker {address} has {facts['nthreads']} threads; start it with --nthreads 1")
            if facts.get("nanny"):
                raise UserError(f"the worker {address} has a nanny; start it with --no-nanny")
        names = [urlsplit(address).hostname for address, _ in known]
        if not self.place.local and (twice := next((name for name in names if names.count(name) > 1), None)):
            raise UserError(f"two workers are on {twice}; start one on each host")
        hosts = []
        for number, (address, _) in enumerate(known, 1):
            host = Host(f"h{number}" if self.place.local else f"h{number} ({names[number - 1]})", address)
            future = self._client.submit(Agent, actor=True, workers=[address], pure=False, allow_other_workers=False)
            host.agent = future.result(timeout=UP_SECONDS)
            hosts.append(host)
        return hosts

    def _hear(self, event: tuple[float, Mapping[str, str]]) -> None:
        self._gone.add(event[1]["worker"])

    async def _prepared(self, orders: Sequence[HostOrder], here: Mapping[str, str], seconds: float = inf) -> None:
        await self._start(orders)
        await self._until(lambda host: bool(host.ready), seconds)
        self._compare(here)

    async def _driven(self, orders: Sequence[HostOrder], here: Mapping[str, str]) -> None:
        await self._prepared(orders, here)
        for host in self.hosts:
            host.readings.append(await self._clock(host))
        trip = max(2 * host.readings[0].bound for host in self.hosts)
        moment = perf_counter_ns() + max(LEAD_NANOSECONDS, LEAD_ROUND_TRIPS * trip)
        for host in self.hosts:
            host.since = monotonic()
        self._patience = _ANSWER_SECONDS
        await self._all("begin", [(moment + host.readings[0].offset,) for host in self.hosts])
        await self._until(lambda host: host.found is not None)
        for host in self.hosts:
            host.readings.append(await self._clock(host))

    async def _start(self, orders: Sequence[HostOrder]) -> None:
        for host in self.hosts:
            host.since, host.readings, host.ready, host.found = monotonic(), [], None, None
        await self._all("start", [(order.sealed,) for order in orders])

    def _compare(self, here: Mapping[str, str]) -> None:
        for host in self.hosts:
            assert host.ready
            if found := list(differences(here, host.ready.has or {})):
                raise Unsupported(f"host {host.name} is unlike this one: {'; '.join(found)}")

    async def _until(self, done: Callable[[Host], bool], seconds: float = inf) -> None:
        """Ask all hosts until each is done: at first often, then each second, so that clients are left alone.

        Raises TimeoutError if that takes longer than `seconds`. In a trial its supervisor sets the limit.
        """
        begun = monotonic()
        while not all(map(done, self.hosts)):
            if monotonic() - begun > seconds:
                raise TimeoutError
            await asyncio.sleep(min(max((monotonic() - begun) / 10, _LEAST_POLL), _MOST_POLL))
            for host, said in zip(self.hosts, await self._all("poll", [()] * len(self.hosts)), strict=True):
                for each in said:
                    self._take(host, each)

    def _take(self, host: Host, said: str | Ended) -> None:
        if not isinstance(said, Ended):
            reply = _reply(host, said)
            if reply.timings:
                host.found = reply
            else:
                host.ready = reply
        elif host.found is None and (host.ready is None or host.ready.machine):
            raise _ended(host, "clients", said)

    async def _all(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of each agent, all at once."""
        calls = (self._ask(host, method, *each) for host, each in zip(self.hosts, arguments, strict=True))
        return await asyncio.gather(*calls)

    async def _ask(self, host: Host, method: str, *arguments: Any) -> Any:
        """Raises HostLost if no answer comes."""
        if host.address in self._gone:
            raise self._lost(host)

        async def call() -> Any:
            return await getattr(host.agent, method)(*arguments)

        try:
            return await asyncio.wait_for(call(), self._patience)
        except (TimeoutError, OSError, RuntimeError, KeyError) as exc:
            raise self._lost(host) from exc

    async def _spread(self, waiting: deque[tuple[int, Sealed]], program: str, listener: OrderListener) -> None:
        while waiting:
            working = [host for host in self.hosts if host.address not in self._gone]
            if not working:
                raise HostLost("all hosts were lost")
            tasks = [asyncio.ensure_future(self._busy(host, waiting, program, listener)) for host in working]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()

    async def _busy(
        self, host: Host, waiting: deque[tuple[int, Sealed]], program: str, listener: OrderListener
    ) -> None:
        """Keep a host at work, until nothing waits or it is lost."""
        while waiting:
            number, order = waiting.popleft()
            try:
                await self._carried_out(host, number, order, program, listener)
            except HostLost as exc:
                self._gone.add(host.address)
                waiting.appendleft((number, order))
                listener.lost(number, str(exc))
                return

    async def _carried_out(self, host: Host, number: int, order: Sealed, program: str, listener: OrderListener) -> None:
        host.since = monotonic()
        await self._ask(host, "start", order, program)
        done = False
        while True:
            await asyncio.sleep(_MOST_POLL)
            for said in await self._ask(host, "poll"):
                if not isinstance(said, Ended):
                    reply = _reply(host, said)
                    done = reply.done
                    listener.heard(host.name, number, reply)
                elif done:
                    return
                else:
                    raise _ended(host, "round", said)

    async def _wound_up(self) -> None:
        """Have what still runs on the hosts that answer clear up, and wait for that."""

        async def one(host: Host) -> None:
            await self._ask(host, "finish")
            for _ in range(round(CLEAR_UP_SECONDS / _LEAST_POLL)):
                if await self._ask(host, "idle"):
                    return
                await asyncio.sleep(_LEAST_POLL)

        for each in await asyncio.gather(*map(one, self.hosts), return_exceptions=True):
            if isinstance(each, BaseException) and not isinstance(each, HostLost):
                raise each

    def _lost(self, host: Host) -> HostLost:
        if self._local:
            self._local.kill(host.name)
        return HostLost(f"host {host.name} lost after {monotonic() - host.since:.0f} s")

    async def _clock(self, host: Host) -> Reading:
        exchanges = []
        for _ in range(EXCHANGES):
            sent = perf_counter_ns()
            theirs = await self._ask(host, "clock")
            exchanges.append((sent, int(theirs), perf_counter_ns()))
        return best(exchanges)

    async def _stop(self) -> None:
        """End what still runs on the hosts that answer; elsewhere it ends by itself, since nobody asks any more."""
        calls = (asyncio.wait_for(self._ask(host, "finish"), 1) for host in self.hosts)
        for each in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(each, BaseException) and not isinstance(each, HostLost | TimeoutError):
                raise each

    def _here(self, host: Host, clients: int) -> tuple[ClientTimings, HostFacts]:
        """Measurements of a host's clients, its moments by our clock, and remarks on the host."""
        assert host.found
        assert host.ready
        found, clock, machine = host.found.timings, host.clock, host.ready.machine
        assert found
        assert machine
        found.begin, found.end = clock.here(found.begin), clock.here(found.end)
        return found, {
            "name": host.name.partition(" ")[0],
            "clients": clients,
            "calls": found.service.count,
            "per_second": found.per_second,
            "busy": host.found.busy,
            "round_trip": 2 * min(each.bound for each in host.readings) / 1e9,
            "bound": clock.bound / 1e9,
            "late": found.late / 1e9,
            "cpu": machine.cpu,
            "threads": machine.threads,
            "kernel": machine.kernel,
        }


def _first_line(exc: Exception) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0]


def _by_name(worker: tuple[str, Mapping[str, Any]]) -> tuple[int, str, str]:
    """What workers are sorted by, h2 before h10: a host of this machine is killed by its number."""
    address, facts = worker
    name = str(facts["name"])
    return len(name), name, address


def _reply(host: Host, line: str) -> HostReply:
    """A host's reply. Raises the error that it reports."""
    reply = HOST_REPLY.validate_json(line)
    if reply.failure:
        raise reply.failure.exception(f"on host {host.name}")
    return reply


def _ended(host: Host, what: str, end: Ended) -> ClientFailed:
    if end.status is None:
        return ClientFailed(f"on host {host.name}: the process of its {what} can't be started: {end.printed}")
    print(end.printed, file=sys.stderr)
    return ClientFailed(f"on host {host.name}: the process of its {what} ended with status {end.status}")
