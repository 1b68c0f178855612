"""Clients of asynchronous drivers: one event loop in each thread awaits what the thread's sessions ask for.

The loop runs in a greenlet of its own. A call switches to it with what is to be awaited, and goes on with the result.
So a prepared call is a function, as everywhere, and costs two switches more than the driver's own awaiting in a task.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from greenlet import getcurrent, greenlet

#: A loop's timers end up to this late, in seconds: it waits in whole milliseconds.
_TICK = 0.001
_of_thread = threading.local()


class EventLoop:
    """The event loop of a thread, for as long as somebody uses it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._users = 0
        #: Takes what is to be awaited, and returns its result or raises what it raised.
        self.ask: Callable[[Awaitable[Any] | None], Any] = greenlet(self._run).switch

    @classmethod
    def of_thread(cls, kind: str) -> EventLoop:
        """Loop of this thread, made where there is none. Its user releases it."""
        loop: EventLoop | None = getattr(_of_thread, "loop", None)
        if loop is None:
            loop = _of_thread.loop = cls(kind)
        assert loop.kind == kind, "a thread has one event loop"
        loop._users += 1
        return loop

    def release(self) -> None:
        """End it, if nobody else uses it."""
        self._users -= 1
        if not self._users:
            del _of_thread.loop
            self.ask(None)

    def _run(self, asked: Awaitable[Any] | None) -> None:
        if asked is not None:
            loop = import_module(self.kind).new_event_loop()
            try:
                loop.run_until_complete(_serve(getcurrent().parent, asked))
            finally:
                loop.close()

    # The turns of some clients, each a greenlet that a task serves.

    def run(self, clients: Sequence[Callable[[], object]]) -> None:
        """Run all of them to their ends. What one raises ends the others, and is raised."""
        self._count, self._met, self._all_met = len(clients), 0, asyncio.Event()
        try:
            self.ask(_all(clients))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    def sleep(self, seconds: float) -> None:
        """Let others go on for some time."""
        end = perf_counter_ns() + round(seconds * 1e9)
        self.ask(asyncio.sleep(max(seconds - _TICK, 0)))
        while perf_counter_ns() < end:
            self.ask(asyncio.sleep(0))

    def meet(self, last: Callable[[], object]) -> None:
        """Wait for all clients; the one that comes last calls `last` before they go on."""
        all_met = self._all_met
        self._met += 1
        if self._met == self._count:
            last()
            self._met, self._all_met = 0, asyncio.Event()
            all_met.set()
        self.ask(all_met.wait())

    def queue(self) -> LoopQueue:
        """A queue for these clients."""
        return LoopQueue(self)

    def close(self) -> None:
        """Release the loop, which the group of these clients uses."""
        self.release()


class LoopQueue:
    """A queue of the clients of a loop."""

    def __init__(self, loop: EventLoop) -> None:
        queue = asyncio.Queue[Any]()
        self._ask, self._get = loop.ask, queue.get
        self.put: Callable[[Any], None] = queue.put_nowait

    def get(self) -> Any:
        """What was put into it first."""
        return self._ask(self._get())


async def _serve(client: Any, asked: Awaitable[Any] | None) -> None:
    """Await what a greenlet asks for, and have it go on with the result, until it asks for nothing more."""
    while asked is not None:
        try:
            came = await asked
        except BaseException as exc:  # the client's to handle
            asked = client.throw(exc)
        else:
            asked = client.switch(came)


async def _all(clients: Sequence[Callable[[], object]]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for client in clients:
            tasks.create_task(_one(client))


async def _one(client: Callable[[], object]) -> None:
    def work() -> None:
        client()

    served = greenlet(work)
    try:
        await _serve(served, served.switch())
    except asyncio.CancelledError as exc:
        task = asyncio.current_task()
        if task and task.cancelling():  # as another client has failed
            raise
        raise RuntimeError("a call of the driver was cancelled, by nobody here") from exc  # a group ignores it else
