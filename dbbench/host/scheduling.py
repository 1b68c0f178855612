"""How the system shares its processors among threads, and which have more of them than they were given."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dbbench.host.usage import threads_of

#: Classes whose threads run before all others: SCHED_FIFO, SCHED_RR, SCHED_DEADLINE.
_REAL_TIME = (1, 2, 6)
#: Those whose threads run after the usual ones, the later the greater: SCHED_BATCH, SCHED_IDLE.
_LATER = {3: 1, 5: 2}
#: The share of all threads' time from which on threads count.
_SHARE = 0.5


@dataclass(frozen=True)
class Scheduling:
    """A thread's nice value, its scheduling class, and the processors that it may run on."""

    nice: int
    policy: int
    processors: frozenset[int]

    def given_by_now(self, parent: Scheduling | None) -> Scheduling:
        """The same with the processors that the parent has now: a machine may get more of them while a trial runs."""
        return replace(self, processors=self.processors | parent.processors) if parent else self


def scheduling(thread: int = 0) -> Scheduling | None:
    """Return how a thread is scheduled, by default this one; None where the system doesn't tell, or it has ended."""
    with contextlib.suppress(OSError, AttributeError):
        return Scheduling(
            os.getpriority(os.PRIO_PROCESS, thread),
            os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK,
            frozenset(os.sched_getaffinity(thread)),
        )
    return None


def ahead(processes: Iterable[int], given: Scheduling | None) -> str:
    """Say how threads of some processes are ahead of one that has what was `given`; empty if none are.

    Those that did less than half of the work count for nothing: ClickHouse raises the priority of a thread that watches
    its memory, InnoDB that of one which writes pages.
    """
    if given is None:
        return ""
    threads = [thread for process in processes for thread in threads_of(process)]
    busy = {thread: _nanoseconds(thread) for thread in threads if not _of_kernel(thread)}
    before = {
        thread: how for thread in busy if (found := scheduling(int(thread.name))) and (how := _ahead(found, given))
    }
    if not before or sum(busy[thread] for thread in before) < max(sum(busy.values()) * _SHARE, 1):
        return ""
    return f"a thread has {before[max(before, key=lambda thread: busy[thread])]}"


def _ahead(found: Scheduling, given: Scheduling) -> str:
    if found.policy in _REAL_TIME and given.policy not in _REAL_TIME:
        return "a real-time scheduling class"
    if _LATER.get(found.policy, 0) < _LATER.get(given.policy, 0):
        return "a scheduling class above the worker's"
    if found.nice < given.nice:
        return f"the nice value {found.nice} in place of {given.nice}"
    if more := found.processors - given.processors:
        return f"{len(more)} more processor{'s' if len(more) > 1 else ''} than the worker was given"
    return ""


def _of_kernel(thread: Path) -> bool:
    """Whether the kernel runs a thread within a process, for io_uring, on whatever processor it chooses."""
    with contextlib.suppress(OSError):
        return (thread / "comm").read_text("utf-8", "replace").startswith("iou-")
    return False


def _nanoseconds(thread: Path) -> int:
    """Time that a thread had on a processor; 0 where the system doesn't tell, or it has ended."""
    with contextlib.suppress(OSError):
        return int((thread / "schedstat").read_text("ascii").split()[0])
    return 0
