"""The null engine of asynchronous drivers: each call goes once through the event loop, and does nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from dbbench.engine import AwaitedConnection, AwaitedEngine, AwaitedSession, LoopOptions
from dbbench_plugins.null import Null, NullSession

_CALLS = (
    *("query", "statement", "call", "get", "get_many", "insert", "update", "delete", "read", "seek", "range", "scan"),
    *("insert_many", "update_many", "delete_many"),
)


class Nothing:
    """A connection to nothing."""

    async def close(self) -> None: ...


async def connect() -> Nothing:
    """A connection."""
    return Nothing()


class NullAsyncSession(AwaitedSession, NullSession):
    def __init__(self, kind: str) -> None:
        self.connection = AwaitedConnection(kind, connect)

    def begin(self) -> None:
        self.connection.ask(asyncio.sleep(0))

    begin_reading = commit = rollback = begin

    def close(self) -> None:
        self.connection.close()


def _awaited(prepare: Callable[..., Callable[..., Any]]) -> Callable[..., Callable[..., Any]]:
    def prepare_awaited(self: NullAsyncSession, *arguments: Any, **named: Any) -> Callable[..., Any]:
        run = prepare(self, *arguments, **named)

        async def call(*values: Any) -> Any:
            await asyncio.sleep(0)
            return run(*values)

        return self.asking(call)

    return prepare_awaited


for _name in _CALLS:
    setattr(NullAsyncSession, f"prepare_{_name}", _awaited(getattr(NullSession, f"prepare_{_name}")))


class NullAsync(AwaitedEngine, Null):
    name = "null+async"
    title = "null (the harness itself, an event loop)"
    session_class = NullAsyncSession
    options_class = LoopOptions

    def connect(self) -> NullAsyncSession:
        return NullAsyncSession(self.options.loop)
