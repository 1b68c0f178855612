"""A step that `explain` watches: called for some seconds, while a process beside the worker samples and profiles it."""

import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dbbench.engine.base import Engine
from dbbench.engine.sql.session import SQLEngine, fetch
from dbbench.errors import RunError
from dbbench.host.processes import ended, environment, python
from dbbench.results.trial_files import Watch
from dbbench.suite.steps import AnyStep
from dbbench.workloads.context import StepMeasurement

#: prctl(2): a process that may look into this one, with all that it starts, also where Yama restricts that.
_SET_PTRACER = 0x59616D61
#: Seconds that a profiler has to write what it found.
_WRITES = 120


def measured(
    watch: Watch | None,
    step: AnyStep,
    engine: Callable[[], Engine],
    directory: Path,
    measure: Callable[[], StepMeasurement],
) -> StepMeasurement:
    """Measure a step; watch it if it is the one that is asked for. The first figure is what counts.

    `engine` is a function, as a cold start has another.
    """
    if watch is None or watch.step != step.name:
        return measure()
    with _observer(watch, engine(), directory) as observed:
        before = _waits(engine())
        until = time.monotonic() + watch.seconds
        first = measure()
        observed["calls"] = 1
        while not step.writes and time.monotonic() < until:
            measure()
            observed["calls"] += 1
        observed["waits"] = {name: number - before.get(name, 0.0) for name, number in _waits(engine()).items()}
    return first


def _waits(engine: Engine) -> dict[str, float]:
    """The waits that the server counts; empty where nobody knows how to ask it."""
    if not isinstance(engine, SQLEngine) or not engine.sql.waits:
        return {}
    session = engine.connect()
    try:
        return {str(name): float(number) for name, number in fetch(session, engine.sql.waits)}
    finally:
        session.close()


@contextmanager
def _observer(watch: Watch, engine: Engine, directory: Path) -> Iterator[dict[str, Any]]:
    """Have a process look on; at the end it gets what is put into the mapping."""
    servers = [str(pid) for pid in engine.processes()]
    observer = subprocess.Popen(
        python("dbbench.runs.observer", str(directory), watch.py_spy, watch.perf, *servers),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PTRACER, observer.pid, 0, 0, 0)
    assert observer.stdin
    assert observer.stdout
    observer.stdin.write(b"\n")  # it may look now
    observer.stdin.flush()
    observed: dict[str, Any] = {}
    try:
        if not observer.stdout.readline():
            raise RunError("what watches the step ended before it began")
        yield observed
    finally:
        with observer.stdout:
            with suppress(BrokenPipeError), observer.stdin:  # it has ended; the step's own figure stands
                observer.stdin.write(json.dumps(observed).encode())
            if not ended(observer, _WRITES):
                observer.kill()
                observer.wait()
