"""Objects loaded: each by its key or many in one query; and in a second look, where the time of that goes.

The figure is the time of an object without anything between the driver and what calls it. After each pass of it
another session of the engine does the same with the driver's calls watched: what they took is the parts `execute`
and `fetch`, and the rest of the figure is `materialise`, making objects and all else that is done above the driver.
Connecting, and preparing up to the first object, happen once and are timed by themselves.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter_ns
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbbench.datasets.records import shuffled
from dbbench.engine.base import Session
from dbbench.engine.driver_timer import DriverTimer
from dbbench.engine.objects import check_objects
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported, WrongAnswer
from dbbench.host.collector import collector_off
from dbbench.host.meters import CallMeter
from dbbench.host.metric import shared
from dbbench.loadgen.first_calls import told_apart
from dbbench.loadgen.histogram import Samples
from dbbench.loadgen.kept_calls import KeptCalls
from dbbench.loadgen.loops import Around, Clock, stream, timed
from dbbench.results.facts import StepFacts
from dbbench.suite.dataset import Table
from dbbench.suite.steps.objects import ObjectStep
from dbbench.workloads.context import StepContext, StepMeasurement

#: How often a connection is made, and the operation prepared on it, for the middle of their times.
FRESH = 5
#: Objects of a timed pass that are compared.
_COMPARED = 64


@dataclass(frozen=True)
class Loading:
    """One session's way to load objects in a pass."""

    step: ObjectStep
    session: Session
    run: Callable[[Any], Any]
    timer: DriverTimer | None = None

    def load(
        self,
        keys: Sequence[Any],
        samples: Samples | None,
        clock: Clock,
        around: Around,
        look: Callable[[Sequence[Any], Sequence[Any]], None] | None = None,
    ) -> float:
        """Nanoseconds of an object over one pass; each call by key goes to `samples`, too, if there are some.

        `around` is entered for what is timed. `look` takes some keys and what was returned for them.
        """
        if self.step.operation == "get_many":
            given = list(keys) if self.step.count else None
            self._begin()
            with around:
                nanoseconds, found = timed(lambda: list(self.run(given)), clock)
            if look:
                look(keys, found)
            del found  # taking the objects apart is not loading them
            self.session.forget()
            return nanoseconds / len(keys)
        objects = [self.run(key) for key in keys] if self.step.identity_map == "warm" else []
        taken: list[NDArray[np.int64]] = []
        self._begin()
        sample = KeptCalls() if look else None
        stream(self.run, keys, taken.append, clock, around=around, sample=sample)
        times = np.concatenate(taken)
        if samples is not None:
            samples.record(times)
        objects.clear()
        if look and sample:
            look(*zip(*sample.calls, strict=True))
        self.session.forget()
        return float(times.sum()) / len(keys)

    def _begin(self) -> None:
        if self.timer:
            self.timer.clear()


def measure(step: ObjectStep, context: StepContext, clock: Clock = perf_counter_ns) -> StepMeasurement:
    """Seconds of an object, the mean of the passes. Raises Unsupported where the engine gives no objects."""
    prepare = prepared(context.engine, context.session, step.operation)
    known = context.files.table(step.table).column(context.tables[step.table].single_key)
    plain = Loading(step, context.session, prepare(step.table, context.tables[step.table]))
    count = _count(step, context)
    samples, passes, parts = Samples(), [], []
    whys: list[str] = []
    watched = _watched(step, context, whys, clock)
    meter = CallMeter(context.engine)
    own = watched.timer.own if watched and watched.timer else (0.0, 0.0)
    look = partial(_look, step, context) if context.does_work else None
    try:
        with collector_off():
            for number in range(step.warm_up + step.iterations):
                keys = known.take(_places(len(known), count, number)).to_pylist()
                if number < step.warm_up:
                    passes.append(plain.load(keys, None, clock, nullcontext()))
                else:
                    passes.append(plain.load(keys, samples, clock, meter, look))
                if watched and watched.timer:
                    whole = watched.load(keys, None, clock, nullcontext()) * count
                    parts.append(_shares(whole, watched.timer, own))
            connect, prepare_first = _fresh(step, context, keys[:1], clock)
    finally:
        if watched:
            watched.session.close()
    figures = [each / 1e9 for each in passes]
    mean = sum(passes[step.warm_up :]) / step.iterations
    facts: StepFacts = {
        "objects": count,
        "connect": connect / 1e9,
        "prepare": prepare_first / 1e9,
        "parts": _parts(mean / 1e9, parts),
        "not_parted": "".join(whys),
        **told_apart(
            samples.exact if samples.count and samples.whole else np.rint(passes[step.warm_up :]).astype(np.int64)
        ),
    }
    if samples.count:
        facts["times"] = {"service time": samples.to_json()}
        facts["per_second"] = 1e9 / max(mean, 1e-9)
    made = step.iterations * count
    return StepMeasurement(
        "time", "s", figures[step.warm_up :], figures[: step.warm_up], facts,
        usage=shared(meter.usage(mean / 1e9 * made), made),
    )  # fmt: skip


def _look(step: ObjectStep, context: StepContext, keys: Sequence[Any], given: Sequence[Any]) -> None:
    """Compare what a timed pass has returned for some keys: how many, and some of the objects. Raises WrongAnswer."""
    table, rows = context.tables[step.table], context.files.table(step.table)
    if any(each is None for each in given) or len(given) != len(keys):
        objects = sum(each is not None for each in given)
        raise WrongAnswer(f"timed calls returned {objects:,} objects for {len(keys):,} keys")
    chosen = random.sample(range(len(keys)), min(_COMPARED, len(keys)))
    some = [given[at] for at in chosen]
    if step.operation == "get":
        some = [*_matching(((keys[at], given[at]) for at in chosen), table)]
    wanted = {getattr(each, table.single_key, None) for each in some}
    if not wanted <= {*keys}:
        raise WrongAnswer("timed calls returned objects that were not asked for")
    picked = rows.filter(
        pc.is_in(rows.column(table.single_key), pa.array(wanted, rows.schema.field(table.single_key).type))
    )
    _compare(some, {row[table.single_key]: tuple(row.values()) for row in picked.to_pylist()}, table, context)


def _matching(loaded: Iterable[tuple[Any, Any]], table: Table) -> Iterator[Any]:
    """Objects, each compared with the key that it was loaded by. Raises WrongAnswer."""
    for key, thing in loaded:
        if (other := getattr(thing, table.single_key, None)) != key:
            raise WrongAnswer(f"the key {key!r} gave the object {other!r}")
        yield thing


def _compare(objects: Iterable[Any], wanted: Mapping[Any, Sequence[Any]], table: Table, context: StepContext) -> None:
    base = context.engine.base_engine or context.engine
    check_objects(objects, wanted, table, floats=base.session_class.bind.get("decimal") == "float")


def _watched(step: ObjectStep, context: StepContext, whys: list[str], clock: Clock) -> Loading | None:
    """Another session of the engine whose driver is watched; or None, and why there is none."""
    timer = DriverTimer(clock)
    session = context.engine.connect()
    try:
        session.watch(timer)
        run = prepared(context.engine, session, step.operation)(step.table, context.tables[step.table])
    except BaseException as exc:
        session.close()
        if not isinstance(exc, Unsupported):
            raise
        whys.append(str(exc))
        return None
    return Loading(step, session, run, timer)


def _fresh(step: ObjectStep, context: StepContext, keys: list[Any], clock: Clock) -> tuple[float, float]:
    """Nanoseconds to connect, and from there to the first object: the middle of some connections' times."""
    connects, firsts = [], []
    for _ in range(FRESH):
        taken, session = timed(context.engine.connect, clock)
        try:
            connects.append(taken)
            prepare = prepared(context.engine, session, step.operation)
            given = keys if step.operation == "get_many" else keys[0]
            firsts.append(timed(lambda: prepare(step.table, context.tables[step.table])(given), clock)[0])  # noqa: B023 - called at once
        finally:
            session.close()
    return median(connects), median(firsts)


def _shares(whole: float, timer: DriverTimer, own: tuple[float, float]) -> tuple[float, float, float]:
    """Nanoseconds of a watched pass, and of them the shares to execute and to fetch, all without the timer's own."""
    shown, taken = own
    execute, fetch = max(timer.execute - shown * timer.executes, 0), max(timer.fetch - shown * timer.fetches, 0)
    whole = max(whole - taken * timer.calls, execute + fetch, 1.0)
    return whole, execute / whole, fetch / whole


def _parts(figure: float, passes: Sequence[tuple[float, float, float]]) -> dict[str, float]:
    """Seconds of each part of the figure, which they add up to; empty if nothing was watched.

    The shares are those of the quickest pass that was watched: whatever else the machine does only adds.
    """
    if not passes:
        return {}
    _, execute, fetch = min(passes)
    shares = {"execute": execute, "fetch": fetch, "materialise": max(1 - execute - fetch, 0.0)}
    return {name: share * figure for name, share in shares.items()}


def _count(step: ObjectStep, context: StepContext) -> int:
    """Objects in a pass: those that the step asks for, at the dataset's scale; at most all."""
    rows: int = context.files.manifest["tables"][step.table]["rows"]
    return rows if step.count is None else min(max(1, round(step.count * context.files.manifest["scale"])), rows)


def _places(rows: int, count: int, number: int) -> NDArray[np.uint64]:
    """The rows of one pass, none of them twice: others in each pass, the same for every engine."""
    return shuffled(np.arange(rows, dtype=np.uint64), rows, number + 1)[:count]


def check(step: ObjectStep, context: StepContext) -> None:
    """Load once more, and compare every member of every object; a key that isn't there has none. Raises WrongAnswer."""
    table = context.tables[step.table]
    rows = context.files.table(step.table)
    count = _count(step, context)
    picked = rows.take(_places(rows.num_rows, count, 0))
    wanted = {row[table.single_key]: tuple(row.values()) for row in picked.to_pylist()}
    run = prepared(context.engine, context.session, step.operation)(step.table, table)
    absent = max(rows.column(table.single_key).to_pylist()) + 1
    if step.operation == "get_many":
        _compare(run(list(wanted) if step.count else None), wanted, table, context)
        none = list(run([absent]))
    else:
        loaded = ((key, thing) for key in wanted if (thing := run(key)))
        _compare(_matching(loaded, table), wanted, table, context)
        none = [found for found in [run(absent)] if found is not None]
    context.session.forget()
    if none:
        raise WrongAnswer(f"an object was returned for the key {absent}, which no row has")
