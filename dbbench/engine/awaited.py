"""Engines of asynchronous drivers: what a session asks for, the event loop of its thread awaits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from dbbench.engine.base import Engine, Session
from dbbench.engine.event_loop import EventLoop
from dbbench.engine.options import Options
from dbbench.errors import Unavailable

if TYPE_CHECKING:
    from dbbench.engine.driver_timer import DriverTimer


class LoopOptions(Options):
    """Options of an engine whose driver is asynchronous."""

    #: The event loop of each thread.
    loop: Literal["asyncio", "uvloop"] = Field(
        default="asyncio", description="event loop; uvloop has an extra, `uvloop`"
    )


class AwaitedConnection:
    """A driver's asynchronous connection, and the thread's loop it belongs to. It awaits `execute` and `close`."""

    def __init__(self, kind: str, connect: Callable[[], Awaitable[Any]]) -> None:
        self._loop = EventLoop.of_thread(kind)
        self.ask, self.sleep = self._loop.ask, self._loop.sleep
        try:
            self.raw: Any = self.ask(connect())
        except BaseException:
            self._loop.release()
            raise

    def execute(self, sql: str) -> Any:
        """What the driver returns for a statement."""
        return self.ask(self.raw.execute(sql))

    def close(self) -> None:
        """Close it, once."""
        if self.raw is not None:
            raw, self.raw = self.raw, None
            try:
                self.ask(raw.close())
            finally:
                self._loop.release()


class AwaitedSession(Session):
    """Before SQLSession among a session's bases: its connection is an AwaitedConnection."""

    awaited = True
    #: The AwaitedConnection.
    connection: Any

    def sleep(self, seconds: float) -> None:
        """Let the thread's other clients go on for some time."""
        self.connection.sleep(seconds)

    def watch(self, timer: DriverTimer) -> None:
        """Take all that is awaited for executing: what is fetched is there by then, or is awaited as well."""
        self.connection.ask = partial(timer.executed, self.connection.ask)

    def asking(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        """The function that awaits a call of the driver."""
        ask = self.connection.ask
        return lambda *values: ask(call(*values))


class AwaitedEngine(Engine):
    """Before an engine among the bases of one with an asynchronous driver, whose options are LoopOptions too."""

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        """Raise Unavailable if the event loop that is asked for is missing, or what the engine itself needs."""
        if options.get("loop") == "uvloop" and find_spec("uvloop") is None:
            raise Unavailable("uvloop is missing", 'pip install "dbbench[uvloop]"')
        super().available_with(options)

    def group(self) -> EventLoop:
        """Return the thread's event loop, which serves all clients of a process."""
        return EventLoop.of_thread(self.options.loop)
