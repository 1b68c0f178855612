"""One client that adds what is missing of the vectors or texts while others search."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from dbbench.datasets.absent import Absent, Keys
from dbbench.datasets.inverted import texts_at
from dbbench.datasets.vectors import matrix
from dbbench.engine.base import Session
from dbbench.engine.offered import prepared, refuse
from dbbench.errors import Unsupported
from dbbench.loadgen import clients
from dbbench.loadgen.job import Job
from dbbench.loadgen.kept_calls import Progress
from dbbench.loadgen.search_calls import NearestSearches, TextSearches
from dbbench.results.facts import AddingFacts
from dbbench.suite.dataset import TEXT, TEXT_TABLE
from dbbench.suite.steps.timed import SearchingStep
from dbbench.workloads.context import Leaves, StepContext, StepMeasurement
from dbbench.workloads.load_control import SECONDS, by_clients

#: Keys that are looked for right after the last was added.
_LOOKED_FOR = 10


class Writer:
    """A client that adds all that is missing but the last batch, evenly over some seconds from the first search on.

    Between `__enter__` and `__exit__` it does so in a thread of its own.
    """

    def __init__(self, context: StepContext, batch: int, seconds: float) -> None:
        self._context, self._seconds = context, seconds
        self._operation = "append" if context.vectors else "append_texts"
        self.keys = context.data.absent.keys
        self._batches = np.array_split(self.keys, range(batch, len(self.keys), batch))
        self.progress = Progress()
        self._added = 0  # batches
        self._stop = threading.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="adding")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self.progress.searching.set()
        self._thread.join()
        if self._fault and exc is None:
            raise self._fault

    def _run(self) -> None:
        try:
            session = self._context.engine.connect()
            try:
                self._add(session)
            finally:
                session.close()
        except BaseException as exc:  # a driver may raise anything, and it is raised where the clients are waited for
            self._fault = exc

    def _add(self, session: Session) -> None:
        append = prepared(self._context.engine, session, self._operation)()
        self.progress.searching.wait()
        begin, whole = perf_counter(), len(self._batches) - 1
        for number, keys in enumerate(self._batches[:-1]):
            given = self._given(keys)
            if self._stop.wait(max(begin + self._seconds * number / whole - perf_counter(), 0)):
                return
            self.progress.begun += len(keys)
            append(*given)
            self._added += 1
            self.progress.acknowledged += len(keys)

    def _given(self, keys: Keys) -> tuple[Any, ...]:
        """What `append` takes of some keys."""
        files = self._context.files
        if self._context.vectors is None:
            return keys.tolist(), texts_at(files.table(TEXT_TABLE).column(TEXT), keys - 1)
        rows = files.table("vectors").take(pa.array(keys - 1))
        return keys, matrix(rows.column("vector")), rows.column("label").to_numpy()

    def facts(self, seconds: float) -> AddingFacts:
        """How many it added while the others searched, of how many."""
        due = len(self.keys) - len(self._batches[-1])
        return {"added": self.progress.acknowledged, "of": due, "seconds": seconds}

    @property
    def last(self) -> Keys:
        """The last keys, the very last first."""
        return self.keys[::-1][:_LOOKED_FOR]

    def rest(self) -> float:
        """Add what is left, the last batch at the end; when that was acknowledged."""
        append = prepared(self._context.engine, self._context.session, self._operation)()
        for keys in self._batches[self._added :]:
            append(*self._given(keys))
        return perf_counter()


def searched_while_adding(
    step: SearchingStep, context: StepContext, inputs: NearestSearches | TextSearches
) -> tuple[StepMeasurement, pa.Table, Writer]:
    """What the step's clients measure while one more adds, what some searches returned, and that client.

    Raises Unsupported if the engine can't serve it beside the others, and if these are not threads of this process:
    they must see how far it is.
    """
    assert step.adding is not None
    if context.driver is not clients.drive:
        raise Unsupported("clients on the hosts of a cluster can't see how far the one that adds is")
    engine = context.engine
    refuse(engine, "append" if context.vectors else "append_texts")
    most = engine.info().concurrency.threads
    if most is not None and step.clients.count >= most:
        raise Unsupported(f"{engine.name} can't serve a client that adds beside {step.clients.count} (at most {most})")
    # Refused before anything is added, which no step would look for.
    clients.refuse(engine, context.session, Job(step.kind, (), 0, 0, inputs=inputs), step.clients)
    seconds = step.seconds or SECONDS
    alone = step.model_copy(update={"warm_up": 0, "duration": seconds})
    with Writer(context, step.adding.batch, seconds) as writer:
        measured, sample = by_clients(alone, context, replace(inputs, progress=writer.progress))
    measured.facts["adding"] = writer.facts(seconds)
    return replace(measured, usage={}, leaves=_all_there(context)), sample, writer


def early(added: Keys, sample: pa.Table) -> str:
    """What is wrong with answers that have a key whose adding had not begun when they came; empty if none has."""
    for answer, begun in zip(sample.column("keys").to_pylist(), sample.column("begun").to_pylist(), strict=True):
        if (keys := np.intersect1d(answer, added[begun:])).size:
            return f"the key {keys[0]}, whose adding had not begun"
    return ""


def _all_there(context: StepContext) -> Leaves:
    name = "vectors" if context.vectors else TEXT_TABLE
    return Leaves({name: context.files.manifest["tables"][name]["rows"]}, absent=Absent())
