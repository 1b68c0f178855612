"""`python -m dbbench.cluster.host`: the clients of one host, in processes as they run without a cluster.

It reads an order, reports when its clients are ready, reads the moment of the start, and reports what they measured.
When nobody asks for it any more, it ends its clients and itself. Before it ends, it removes its folder.
"""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter_ns

import psutil

from dbbench.cluster.alike import identity
from dbbench.cluster.leased import HOST_ORDER, HostMachine, HostOrder, HostReply, Line, obey
from dbbench.engine import registry
from dbbench.engine.base import Engine
from dbbench.engine.urls import VARIABLE
from dbbench.loadgen.clients import ClientProcesses


class BusyShare:
    """The share of the processors that this process may use which was busy, with whatever."""

    def __init__(self) -> None:
        self._before = _processor_seconds()

    def now(self) -> float | None:
        """Busy share from 0 to 1, since this object was made; None if no time has passed."""
        busy, idle = (now - before for now, before in zip(_processor_seconds(), self._before, strict=True))
        return busy / (busy + idle) if busy + idle > 0 else None


def _processor_seconds() -> tuple[float, float]:
    """Busy and idle seconds."""
    each = psutil.cpu_times(percpu=True)
    mine = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(each))
    busy = idle = 0.0
    for number in mine:
        if number < len(each):
            waited = each[number].idle + getattr(each[number], "iowait", 0.0)
            guests = getattr(each[number], "guest", 0.0) + getattr(each[number], "guest_nice", 0.0)
            idle += waited
            busy += sum(each[number]) - waited - guests  # which are in user time as well
    return busy, idle


def serve(order: HostOrder, line: Line, folder: Path) -> None:
    """What a host does with its order."""
    if order.clients is None:
        line.say(HostReply(has=identity(registry.find(order.engine))))
        return
    kind: type[Engine] = resolve_name(order.engine)
    numbers = range(order.first, order.first + order.processes)
    clients = replace(order.clients, directory=str(folder))
    with ClientProcesses(clients, numbers, {VARIABLE: order.url}) as processes:
        ready = HostReply(has=identity(kind), machine=HostMachine.here(folder))
        processes.ready()
        line.say(ready)
        moment = int(line.hear())
        processes.begin(moment)
        time.sleep(max(moment - perf_counter_ns(), 0) / 1e9)
        busy = BusyShare()
        found = processes.timings()
        share = busy.now()
    line.say(HostReply(found, busy=share))


def main() -> None:
    """One host's clients."""
    folder = Path(tempfile.mkdtemp(prefix="dbbench-"))

    def unwanted() -> None:
        try:
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os._exit(1)

    try:
        obey(lambda order, line: serve(HOST_ORDER.validate_json(order), line, folder), unwanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # the line is still listened to


if __name__ == "__main__":
    main()
