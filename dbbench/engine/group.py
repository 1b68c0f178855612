"""Sessions that one thread serves: while some wait for their answers, the others send what they ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dbbench.engine.base import Session


class SessionGroup(Protocol):
    """Some sessions of one process. It is used by one thread, whose clients take turns."""

    def connect(self, wait: Callable[[], object]) -> Session:
        """A new session. Those of a group are numbered from 0.

        A prepared call sends what it asks and then calls `wait()`, which lets other sessions go on. It returns when
        `ready` has named the session, but may do so earlier: the call waits again until its answer is whole. Transactions,
        and what is done once, may wait in their own way.
        """
        ...

    def ready(self, timeout: float | None) -> Iterable[int]:
        """The numbers of sessions for which something has come since they called `wait`. It waits until there is one, or
        for at most `timeout` seconds.
        """
        ...

    def close(self) -> None:
        """Free what isn't the sessions' own. They are closed before."""
        ...
