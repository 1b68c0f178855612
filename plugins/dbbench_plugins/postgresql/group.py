"""Many connections of libpq served by one thread, which waits for all of their sockets at once, as pgbench's do."""

import select
from collections.abc import Callable, Iterable
from typing import Any

from dbbench_plugins.postgresql.session import PQSession


class PQGroup:
    """Each socket is registered once, for as long as its connection lasts."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._waiting = select.epoll()
        #: Socket -> the session's number.
        self._numbers: dict[int, int] = {}
        self._count = 0

    def connect(self, wait: Callable[[], object]) -> PQSession:
        """A session that waits in its turn. What it sends goes out before `wait`: a server reads all of a statement."""
        session: PQSession = self._connect()
        session.wait = wait
        session.low.nonblocking = 0
        self._numbers[session.low.socket] = self._count
        self._waiting.register(session.low.socket, select.EPOLLIN)
        self._count += 1
        return session

    def ready(self, timeout: float | None) -> Iterable[int]:
        """Sessions from whose servers something has come."""
        if timeout is not None:  # epoll's own is in milliseconds
            select.select([self._waiting], [], [], timeout)
        numbers = self._numbers
        return [numbers[socket] for socket, _ in self._waiting.poll(None if timeout is None else 0, self._count)]

    def close(self) -> None:
        """Let go of the sockets."""
        self._waiting.close()
