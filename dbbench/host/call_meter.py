"""What is counted of calls besides their time by the clock. It is read before and after them, never within."""

from __future__ import annotations

from typing import Self

from dbbench.host.cpu_time import CpuMeter, Served
from dbbench.host.run_delay import DelayMeter


class CallMeter:
    """CPU time and run delay of the calls that one thread makes in the blocks that it enters this for."""

    def __init__(self, served: Served | None = None) -> None:
        self._cpu, self._delay = CpuMeter(served), DelayMeter()

    @property
    def cpu_seconds(self) -> float | None:
        """As of `CpuMeter`."""
        return self._cpu.seconds

    @property
    def delay_seconds(self) -> float | None:
        """As of `DelayMeter`."""
        return self._delay.delay_seconds

    def look(self, served: Served) -> None:
        """Look for the servers' processes again."""
        self._cpu.look(served)

    def __enter__(self) -> Self:
        self._cpu.__enter__()
        self._delay.__enter__()  # next to the clock: what is waited for before is not the calls'
        return self

    def __exit__(self, *exc: object) -> None:
        self._delay.__exit__(*exc)
        self._cpu.__exit__(*exc)
