"""What is counted of calls besides their time by the clock. It is read before and after them, never within."""

from __future__ import annotations

from typing import Self

from dbbench.host.delay_meter import DelayMeter
from dbbench.host.metric import Usage
from dbbench.host.process_meter import ProcessMeter, Served


class CallMeter:
    """Each metric of the calls that one thread makes in the blocks that it enters this for."""

    def __init__(self, served: Served | None = None) -> None:
        self._processes, self._delay = ProcessMeter(served), DelayMeter()

    def usage(self, seconds: float) -> Usage:
        """What was counted of calls that took `seconds` by the clock."""
        return {**self._processes.usage(), **self._delay.usage(seconds)}

    def look(self, served: Served) -> None:
        """Look for the servers' processes again."""
        self._processes.look(served)

    def __enter__(self) -> Self:
        self._processes.__enter__()
        self._delay.__enter__()  # next to the clock: what is waited for before is not the calls'
        return self

    def __exit__(self, *exc: object) -> None:
        self._delay.__exit__(*exc)
        self._processes.__exit__(*exc)
