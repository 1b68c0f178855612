"""A process on a host that lives as long as somebody asks for it; an `Agent` starts it.

It reads an order, and then lines by which it knows that it is still wanted. What it says goes out as lines. When none comes
for a while, or no more can come, nobody waits for it: its host was cut off or stands still, or the run has ended.
"""

from __future__ import annotations

import json
import os
import queue
import select
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from dbbench.errors import TimedOut, WrongAnswer
from dbbench.host.processes import forbid_core_dumps

#: How long what runs on a host may take to clear up, in seconds: more than a supervisor gives a trial.
CLEAR_UP_SECONDS = 25.0
#: Nobody asked for so long, in seconds: it is over. Before the start of clients, and after it.
_LEASES = (15.0, 5.0)


class Line:
    """The line to who has given the order."""

    def __init__(self, unwanted: Callable[[], object]) -> None:
        self._words = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # what else is printed is no word
        self._heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(unwanted,), daemon=True).start()

    def hear(self) -> dict[str, Any]:
        """The next thing that is said to this process: its order, then the moment of a start."""
        return self._heard.get()

    def say(self, document: Any) -> None:
        """Say something."""
        print(json.dumps(document), file=self._words, flush=True)

    def _listen(self, unwanted: Callable[[], object]) -> None:
        pending = b""
        lease, after = _LEASES
        while True:
            ready, _, _ = select.select([0], [], [], lease)
            part = os.read(0, 65_536) if ready else b""
            if not part:
                unwanted()
                return
            *whole, pending = (pending + part).split(b"\n")
            for line in whole:
                if document := json.loads(line):
                    lease = after if "begin" in document else lease
                    self._heard.put(document)


def obey(work: Callable[[Mapping[str, Any], Line], None], unwanted: Callable[[], object]) -> None:
    """Do what the order says, and say what went wrong. `unwanted` is called, in another thread, when nobody asks any more."""
    forbid_core_dumps()
    line = Line(unwanted)
    try:
        work(line.hear(), line)
    except WrongAnswer as exc:
        line.say({"wrong": str(exc)})
    except TimedOut as exc:
        line.say({"timed out": str(exc)})
    except Exception as exc:
        traceback.print_exc()
        line.say({"failed": f"{type(exc).__name__}: {exc}"})
    sys.stderr.flush()
