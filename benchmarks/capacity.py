"""How many calls a second some connections make together, in threads of processes, and a table of ratios.

As a program it is one of the processes: it opens an engine on a directory that another one has open, makes the
operation that the order names, and calls it with random keys until the time is over.
"""

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
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from statistics import median
from time import perf_counter_ns

from dbbench.engine import registry
from dbbench.engine.base import Engine, Session, Setup
from dbbench.host.collector import collector_off
from dbbench.loadgen.client import bound
from dbbench.loadgen.loops import CHUNK, stream
from dbbench.loadgen.turns import Turns
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
        f"   load {os.getloadavg()[0]:.1f}"
    )
    return median(ratios)


def _keys(count: int, seed: int, end: int) -> Iterator[int]:
    """Random keys from 1 on, until the clock says `end`; asked for in chunks."""
    chosen = random.Random(seed).choices
    while perf_counter_ns() < end:
        yield from chosen(range(1, count + 1), k=CHUNK)


def _client(order: dict) -> None:
    """As dbbench.loadgen.process does it: served by one thread where the engine has groups, or in a thread each."""
    engine = registry.load(order["engine"])(Setup(Path(order["directory"]), Tier(order["tier"])))
    engine.open()
    count, operation = order["threads"], resolve_name(order["operation"])
    group = engine.group() if count > 1 else None
    made: list[int] = []
    begin: list[int] = []
    used: list[float] = []

    def ready() -> None:
        print("ready", flush=True)
        begin.append(int(sys.stdin.readline()))
        used.append(time.process_time())

    def work(number: int, connect: Callable[[], Session], meet: Callable[[], object]) -> None:
        call = operation(connect())
        for key in range(1, CHUNK):
            call(key)  # warm
        meet()
        time.sleep(max(begin[0] - perf_counter_ns(), 0) / 1e9)
        end = begin[0] + int(order["seconds"] * 1e9)
        keys = _keys(order["keys"], order["seed"] * count + number, end)
        stream(call, keys, lambda times: made.append(len(times)))

    with collector_off(), bound(order["seed"] if count > 1 else None):
        if group is None:
            barrier = threading.Barrier(count, ready)
            threads = [
                threading.Thread(target=work, args=(number, engine.connect, barrier.wait)) for number in range(count)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            turns = Turns(group)
            connect, meet = partial(group.connect, turns.wait), partial(turns.meet, ready)
            turns.run([partial(work, number, connect, meet) for number in range(count)])
    used.append(time.process_time())
    seconds = (perf_counter_ns() - begin[0]) / 1e9
    print(json.dumps({"calls": sum(made), "seconds": seconds, "cpu": used[1] - used[0]}), flush=True)
    engine.close()


def run(command: Sequence[str], **given) -> str:
    """What a load generator prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **given).stdout


if __name__ == "__main__":
    _client(json.loads(sys.argv[1]))
