"""How many calls a second some connections make together, in threads of processes, and a table of ratios.

As a program it is one of the processes: it opens an engine on a directory that another one has open, makes the
operation that the order names, and calls it with random keys until the time is over.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from statistics import median
from time import perf_counter_ns

from dbbench.engine import registry
from dbbench.engine.base import Engine, Session
from dbbench.engine.setup import Setup
from dbbench.loadgen.clients import bound
from dbbench.loadgen.loops import CHUNK, collector_off, stream
from dbbench.suite.model import Tier

ROOT = Path(__file__).parents[1]
#: Between the last process being ready and their common start, in nanoseconds.
LEAD = 200_000_000


@dataclass(frozen=True)
class Capacity:
    """Calls a second of all connections, and the CPU seconds that all clients used for one of them.

    `calls`: all that a server was asked for, those before the start included.
    """

    per_second: float
    cpu: float
    calls: int


def per_second(engine: Engine, operation: str, *, keys: int, processes: int, threads: int, seconds: float) -> float:
    """Calls a second of all connections, one for each thread. `operation` names a function: session -> call(key)."""
    return measured(engine, operation, keys=keys, processes=processes, threads=threads, seconds=seconds).per_second


def measured(engine: Engine, operation: str, *, keys: int, processes: int, threads: int, seconds: float) -> Capacity:
    """As `per_second`, with the CPU time of the clients from their common start on."""
    order = {
        "engine": engine.name,
        "directory": str(engine.directory),
        "tier": engine.tier,
        "operation": operation,
        "keys": keys,
        "threads": threads,
        "seconds": seconds,
    }
    with ExitStack() as ending:
        clients = []
        for number in range(processes):
            client = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.capacity", json.dumps({**order, "seed": number})],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            ending.enter_context(client)
            ending.callback(client.kill)
            clients.append(client)
        for client in clients:
            assert client.stdout.readline() == "ready\n"
        begin = perf_counter_ns() + LEAD
        for client in clients:
            print(begin, file=client.stdin, flush=True)
        found = [json.loads(client.stdout.readline()) for client in clients]
        calls = sum(each["calls"] for each in found)
        return Capacity(
            sum(each["calls"] / each["seconds"] for each in found),
            sum(each["cpu"] for each in found) / calls,
            calls + processes * threads * (CHUNK - 1),
        )


def compare(title: str, ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> float:
    """The median of the ratios of pairs, A B B A ...; prints a row of a table."""
    found: list[tuple[float, float]] = []
    for number in range(pairs):
        if number % 2:
            other, own = theirs(), ours()
        else:
            own, other = ours(), theirs()
        found.append((own, other))
    ratios = sorted(own / other for own, other in found)
    own, other = (median(each) for each in zip(*found, strict=True))
    print(
        f"\n  {title:32s} {own:10,.0f}/s {other:10,.0f}/s   {median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})"
    )
    return median(ratios)


def _keys(count: int, seed: int, end: int) -> Iterator[int]:
    """Random keys from 1 on, until the clock says `end`; asked for in chunks."""
    chosen = random.Random(seed).choices
    while perf_counter_ns() < end:
        yield from chosen(range(1, count + 1), k=CHUNK)


def _client(order: dict) -> None:
    engine = registry.load(order["engine"])(Setup(Path(order["directory"]), Tier(order["tier"])))
    engine.open()
    sessions = [engine.connect() for _ in range(order["threads"])]
    operation = resolve_name(order["operation"])
    made: list[int] = []
    begin: list[int] = []
    barrier = threading.Barrier(len(sessions) + 1)

    def work(number: int, session: Session) -> None:
        call = operation(session)
        for key in range(1, CHUNK):
            call(key)  # warm
        barrier.wait()
        barrier.wait()  # until the start is known
        time.sleep(max(begin[0] - perf_counter_ns(), 0) / 1e9)
        end = begin[0] + int(order["seconds"] * 1e9)
        stream(call, _keys(order["keys"], number, end), lambda times: made.append(len(times)))

    threads = [
        threading.Thread(target=work, args=(order["seed"] * len(sessions) + number, session))
        for number, session in enumerate(sessions)
    ]
    # As dbbench.loadgen.clients does it.
    with collector_off(), bound(order["seed"] if len(sessions) > 1 else None):
        for thread in threads:
            thread.start()
        barrier.wait()
        print("ready", flush=True)
        begin.append(int(sys.stdin.readline()))
        used = time.process_time()
        barrier.wait()
        for thread in threads:
            thread.join()
        used = time.process_time() - used
    found = {"calls": sum(made), "seconds": (perf_counter_ns() - begin[0]) / 1e9, "cpu": used}
    print(json.dumps(found), flush=True)
    engine.close()


def run(command: Sequence[str], **given) -> str:
    """What a load generator prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **given).stdout


if __name__ == "__main__":
    _client(json.loads(sys.argv[1]))
