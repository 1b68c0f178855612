"""What runs in a host's Dask worker: it starts the process that holds the clients, and relays its input and output.

All that it does returns at once: a worker has one thread for actors.
"""

import queue
import subprocess
import tempfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from time import perf_counter_ns
from typing import IO

from dbbench.engine.urls import scrub, secrets
from dbbench.host.processes import environment, python

#: What holds the clients of a host: see its module.
CLIENTS = "dbbench.cluster.host"
#: Characters of the clients' output that are reported after a failure.
_MOST_PRINTED = 4_000


@dataclass(frozen=True, repr=False)
class Sealed:
    """An order as JSON, shown nowhere, though the call that carries it may be logged: its URL may hold a password."""

    text: str
    url: str = ""

    def __repr__(self) -> str:
        return "Sealed(***)"


@dataclass(frozen=True)
class Ended:
    """The end of a process: its status, and the last that it printed; or None, and why it can't be started."""

    status: int | None
    printed: str


class Agent:
    """The Dask actor on a host: it starts a process for the host's clients, and relays its input and output."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._words: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[str | Ended] = queue.SimpleQueue()

    async def clock(self) -> int:
        """The host's monotonic clock, in nanoseconds."""
        return perf_counter_ns()

    def start(self, order: Sealed, program: str = CLIENTS) -> None:
        """Start a process of the module `program` for an order, ending one of before. What it says comes by `poll`."""
        self.finish()
        self._words, self._said = queue.SimpleQueue(), queue.SimpleQueue()
        try:
            with ExitStack() as opened:
                error = opened.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace"))
                child = subprocess.Popen(
                    python(program),
                    env=environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=error,
                    text=True,
                )
                opened.pop_all()  # the reader closes it
        except OSError as exc:  # which would look like a host that can't be reached
            self._said.put(Ended(None, str(exc)))
            return
        self._child = child
        hidden = secrets(order.url)
        threading.Thread(target=_feed, args=(child, self._words), daemon=True).start()
        threading.Thread(target=_listen, args=(child, self._said, error, hidden), daemon=True).start()
        self._words.put(order.text)

    def begin(self, moment: int) -> None:
        """Have the clients begin at this reading of the host's clock."""
        self._words.put(str(moment))

    def poll(self) -> list[str | Ended]:
        """What the process has said since the last time, a `HostReply` a line; this also shows that it is wanted."""
        self._words.put("")
        said = []
        while not self._said.empty():
            said.append(self._said.get())
        return said

    def finish(self) -> None:
        """Close the process's input, so that it cleans up and ends."""
        self._words.put(None)

    def idle(self) -> bool:
        """Whether no process exists."""
        return self._child is None or self._child.poll() is not None

    def __del__(self) -> None:
        self.finish()


def _feed(child: subprocess.Popen[str], words: queue.SimpleQueue[str | None]) -> None:
    """Hand the process its words: a pipe may be full while it starts."""
    assert child.stdin
    with suppress(OSError), child.stdin:  # it may have ended, which the other thread says
        while (word := words.get()) is not None:
            print(word, file=child.stdin, flush=True)


def _listen(
    child: subprocess.Popen[str], said: queue.SimpleQueue[str | Ended], error: IO[str], hidden: list[str]
) -> None:
    assert child.stdout
    with error, child.stdout:
        for line in child.stdout:
            said.put(line)
        status = child.wait()
        error.seek(0)
        said.put(Ended(status, scrub(error.read(), hidden)[-_MOST_PRINTED:]))
