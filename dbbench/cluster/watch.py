"""The scheduler's reports of lost hosts."""

from typing import Any

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin

#: The topic of its messages.
TOPIC = "dbbench-lost"


class Watch(SchedulerPlugin):
    """Tells all that ask of a worker that is gone, as soon as the scheduler knows it."""

    name = "dbbench-watch"

    def remove_worker(self, scheduler: Scheduler, worker: str, **_more: Any) -> None:
        """Called by the scheduler."""
        scheduler.log_event(TOPIC, {"worker": worker})
