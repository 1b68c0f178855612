"""`python -m dbbench.cluster.host`: the clients of one host, in processes as they run without a cluster.

Reads an order, says when its clients are ready, reads the moment of the start, and says what they measured. Who has
started it goes on sending lines; when none comes for a while it ends, and its clients with it: their host was
cut off or stands still, and nobody waits for them.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import select
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter_ns
from typing import Any

import psutil

from dbbench.cluster.alike import identity
from dbbench.engine.base import Engine
from dbbench.engine.urls import VARIABLE
from dbbench.errors import TimedOut, WrongAnswer
from dbbench.host import machine
from dbbench.host.processes import end_with_parent, forbid_core_dumps
from dbbench.loadgen.clients import ClientProcesses

#: Nobody asked for so long, in seconds: it is over. Before the start, and after it.
_LEASES = (15.0, 5.0)


class BusyShare:
    """The share of the processors that this process may use which was busy, with whatever."""

    def __init__(self) -> None:
        self._before = _processor_seconds()

    def now(self) -> float | None:
        """From 0 to 1, since this object was made; None if no time has passed."""
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


def serve(order: Mapping[str, Any], begun: Callable[[], int], say: Callable[[Any], None], folder: Path) -> None:
    """What a host does with its order. `begun` waits for the moment of the start."""
    kind: type[Engine] = resolve_name(order["engine"])
    if order.get("identify"):
        say({"ready": {"has": identity(kind)}})
        return
    numbers = range(order["first"], order["first"] + order["processes"])
    with ClientProcesses({**order, "directory": str(folder)}, numbers, {VARIABLE: order["url"]}) as processes:
        known = machine.describe(folder)
        told = {"cpu": known["cpu"], "threads": known["threads"], "kernel": platform.release()}
        has = identity(kind)
        processes.ready()
        say({"ready": {"has": has, "machine": told}})
        moment = begun()
        processes.begin(moment)
        time.sleep(max(moment - perf_counter_ns(), 0) / 1e9)
        busy = BusyShare()
        found = processes.timings()
        share = busy.now()
    say({"found": found.to_json(), "busy": share})


def _read(lines: queue.SimpleQueue[dict[str, Any]], gone: Callable[[], None]) -> None:
    """Take lines in; `gone` is called when nobody sends any."""
    pending = b""
    lease, after = _LEASES
    while True:
        ready, _, _ = select.select([0], [], [], lease)
        part = os.read(0, 65_536) if ready else b""
        if not part:
            gone()
            return
        *whole, pending = (pending + part).split(b"\n")
        for line in whole:
            if document := json.loads(line):
                lease = after if "begin" in document else lease
                lines.put(document)


def main() -> None:
    """One host's clients; the order is the first line of the standard input."""
    end_with_parent()
    forbid_core_dumps()
    words = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    folder = Path(tempfile.mkdtemp(prefix="dbbench-"))

    def gone() -> None:
        for child in psutil.Process().children(recursive=True):
            child.kill()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    def say(document: Any) -> None:
        print(json.dumps(document), file=words, flush=True)

    threading.Thread(target=_read, args=(lines, gone), daemon=True).start()
    try:
        serve(lines.get(), lambda: int(lines.get()["begin"]), say, folder)
    except WrongAnswer as exc:
        say({"wrong": str(exc)})
    except TimedOut as exc:
        say({"timed out": str(exc)})
    except Exception as exc:
        traceback.print_exc()
        say({"failed": f"{type(exc).__name__}: {exc}"})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stderr.flush()
    os._exit(0)  # the reader still waits for a line


if __name__ == "__main__":
    main()
