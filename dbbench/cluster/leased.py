"""A process on a host that lives as long as somebody asks for it; an `Agent` starts it.

It reads an order, and then lines by which it knows that it is still wanted. What it says goes out as lines. When none
comes for a while, or no more can come, nobody waits for it: its host was cut off or stands still, or the run has ended.
"""

import os
import queue
import select
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

from pydantic import Base64Bytes, TypeAdapter

from dbbench.cluster.agent import Sealed
from dbbench.host import machine
from dbbench.host.processes import forbid_core_dumps
from dbbench.loadgen.job import ClientOrder, Failure, Reply

#: How long what runs on a host may take to clear up, in seconds: more than a supervisor gives a trial.
CLEAR_UP_SECONDS = 25.0
#: Nobody asked for so long, in seconds: it is over. Before the start of clients, and after it.
_LEASES = (15.0, 5.0)


@dataclass(frozen=True)
class HostOrder:
    """What the process of a host's clients is to do: to say what the host has, and to run its share of some clients."""

    #: Its class if there are clients, else its name: the class of an access layer over it is in no module.
    engine: str
    url: str = ""
    clients: ClientOrder | None = None
    #: The number of the host's first process, and how many it has.
    first: int = 0
    processes: int = 0

    @property
    def sealed(self) -> Sealed:
        """Orders for an agent."""
        return Sealed(HOST_ORDER.dump_json(self).decode(), self.url)


@dataclass(frozen=True)
class HostMachine:
    """What a host is."""

    cpu: str
    threads: int | None
    memory_bytes: int
    kernel: str

    @classmethod
    def here(cls, folder: Path) -> Self:
        """What this host is; `folder` is one of its file system."""
        known = machine.describe(folder)
        return cls(**{each.name: known[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class HostReply(Reply):
    """A message of a process on a host: what it has, what it measured, a trial that ended, its end, or a failure."""

    #: What the host has, by name, when it is ready; and what it is, if it is to do more than say that.
    has: dict[str, str] | None = None
    machine: HostMachine | None = None
    #: The share of its processors that was busy while its clients measured, from 0 to 1.
    busy: float | None = None
    #: A trial that ended, and its files by their paths below its folder.
    trial: str = ""
    files: dict[str, Base64Bytes] = field(default_factory=dict)
    done: bool = False


#: To JSON and back, for another host.
HOST_ORDER, HOST_REPLY = TypeAdapter(HostOrder), TypeAdapter(HostReply)


class Line:
    """The line to who has given the order."""

    def __init__(self, unwanted: Callable[[], object]) -> None:
        self._words = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # what else is printed is no word
        self._heard: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(unwanted,), daemon=True).start()

    def hear(self) -> str:
        """The next thing that is said to this process: its order, then the moment of a start."""
        return self._heard.get()

    def say(self, word: HostReply) -> None:
        """Say something."""
        print(HOST_REPLY.dump_json(word).decode(), file=self._words, flush=True)

    def _listen(self, unwanted: Callable[[], object]) -> None:
        pending = b""
        lease, after = _LEASES
        ordered = False
        while True:
            ready, _, _ = select.select([0], [], [], lease)
            part = os.read(0, 65_536) if ready else b""
            if not part:
                unwanted()
                return
            *whole, pending = (pending + part).split(b"\n")
            for line in whole:
                if line:
                    lease, ordered = after if ordered else lease, True
                    self._heard.put(line.decode())


def obey(work: Callable[[str, Line], None], unwanted: Callable[[], object]) -> None:
    """Do what the order says, and report what went wrong. A thread calls `unwanted` when nobody asks any more."""
    forbid_core_dumps()
    line = Line(unwanted)
    try:
        work(line.hear(), line)
    except Exception as exc:
        line.say(HostReply(failure=Failure.of(exc)))
    sys.stderr.flush()
