"""Clients that take turns in one thread: while one waits for its answer, the others go on.

Each client is a greenlet, so that its loop is the same as in a thread of its own, and its times are taken in the same
way: a call lasts from when it is made until its client has the answer.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from time import perf_counter_ns

from greenlet import GreenletExit, getcurrent, greenlet

from dbbench.engine.base import Engine, Session, SessionGroup
from dbbench.engine.event_loop import EventLoop


class Turns:
    """The turns of some clients of a group; the client with the number N uses the group's session N."""

    def __init__(self, group: SessionGroup, clock: Callable[[], int] = perf_counter_ns) -> None:
        self._group, self._clock = group, clock
        self._clients: list[greenlet] = []
        #: What lets clients go on that can.
        self._due: deque[Callable[..., object]] = deque()
        #: When a client's sleep ends, a number that orders those of one moment, and what lets it go on.
        self._asleep: list[tuple[int, int, Callable[..., object]]] = []
        self._order = count()
        #: How often a client has come to meet the others, and the meetings that are over.
        self._come = self._over = 0

    def run(self, clients: Sequence[Callable[[], object]]) -> None:
        """Let all of them go to their ends. What one raises ends the others, and is raised."""
        self._clients = [greenlet(client) for client in clients]
        self._due.extend(client.switch for client in self._clients)
        try:
            while not all(client.dead for client in self._clients):
                self.wait()
        finally:
            for client in self._clients:
                if not client.dead:
                    client.throw(GreenletExit)

    def wait(self) -> None:
        """Let others go on until the group names the session of the client that calls this."""
        if not self._due:
            self._look()
        self._due.popleft()()

    def sleep(self, seconds: float) -> None:
        """Let others go on for some time."""
        end = self._clock() + round(seconds * 1e9)
        heappush(self._asleep, (end, next(self._order), getcurrent().switch))
        self.wait()
        while self._clock() < end:  # the server said something that nobody asked for
            self.wait()

    def meet(self, last: Callable[[], object]) -> None:
        """Wait for all clients; the one that comes last calls `last` before they go on."""
        meeting, before = divmod(self._come, len(self._clients))
        self._come += 1
        if before == len(self._clients) - 1:
            last()
            self._over = meeting + 1
            self._due.extend(client.switch for client in self._clients if client is not getcurrent())
        while self._over <= meeting:
            self.wait()

    def _look(self) -> None:
        """Wait until a client can go on."""
        due, asleep, clock = self._due, self._asleep, self._clock
        while not due:
            left = max(asleep[0][0] - clock(), 0) / 1e9 if asleep else None
            due.extend([self._clients[number].switch for number in self._group.ready(left)])
            while asleep and asleep[0][0] <= clock():
                due.append(heappop(asleep)[2])


def turns_of(engine: Engine, group: SessionGroup | EventLoop) -> tuple[Turns | EventLoop, Callable[[], Session]]:
    """What has the clients of a group take turns, and what connects one of them."""
    if isinstance(group, EventLoop):
        return group, engine.connect
    turns = Turns(group)
    return turns, partial(group.connect, turns.wait)
