"""What a step works on, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeVar

import psutil
import pyarrow as pa

from dbbench.datasets.cache import Files
from dbbench.datasets.records import ExpectedRecords, RecordSet
from dbbench.datasets.texts import TextSet
from dbbench.datasets.vectors import VectorSet
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.null import does_work, query_of
from dbbench.engine.size import FileRole
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import Unsupported
from dbbench.host.metric import BaseUnit, Usage
from dbbench.host.processes import descendants
from dbbench.host.usage import forget_peak, peak_memory, resident
from dbbench.loadgen import clients
from dbbench.loadgen.job import ClientTimings, Job
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import FELL_SHORT, Outcome
from dbbench.results.trial import StepResult
from dbbench.suite.changes import Changes
from dbbench.suite.dataset import Table
from dbbench.suite.steps.base import Clients, Step
from dbbench.suite.steps.query import QueryStep
from dbbench.suite.steps.sql import SqlStep
from dbbench.suite.steps.statement import Check
from dbbench.suite.steps.transaction import Invariant
from dbbench.workloads.ondisk import others
from dbbench.workloads.searches import Tried

T = TypeVar("T")
#: Has clients do a job.
Driver = Callable[[Engine, Session, Job, Clients], ClientTimings]


@dataclass(frozen=True)
class Added:
    """Rows that a statement step has added to a table, with keys that follow one another; all else of them is alike.

    `values` are those of the columns that the suite tells of.
    """

    step: str
    values: Mapping[str, int | float | str]
    rows: int


@dataclass(frozen=True)
class Leaves:
    """What the data must be after a step, as far as it changes what was known before it."""

    #: Rows in tables.
    rows: Mapping[str, int] = field(default_factory=dict)
    #: Tables that hold what the dataset says.
    filled: Sequence[str] = ()
    records: ExpectedRecords | None = None
    #: What queries of the step must return by now: invariant -> number.
    numbers: Mapping[str, int] = field(default_factory=dict)


@dataclass
class StepsSoFar:
    """What the data must be by now, and the results of the steps so far."""

    #: Rows in each table, as the steps so far must have left them.
    rows: dict[str, int] = field(default_factory=dict)
    #: The step that last filled each table whose content is known, and what statements have added to it since.
    left_by: dict[str, str] = field(default_factory=dict)
    added: dict[str, list[Added]] = field(default_factory=dict)
    #: The statements of the steps that may have changed tables.
    texts: list[str] = field(default_factory=list)
    #: Queries whose answer is no longer known -> why.
    no_answer: dict[str, str] = field(default_factory=dict)
    #: What the steps must have made of the records.
    expected_records: ExpectedRecords = field(default_factory=ExpectedRecords)
    #: The same before the latest step that changed them.
    records_before: ExpectedRecords = field(default_factory=ExpectedRecords)
    #: Step -> its invariants that are a number -> that number.
    numbers: dict[str, Mapping[str, int]] = field(default_factory=dict)
    #: The results of steps that have a figure in seconds.
    timed: dict[str, StepResult] = field(default_factory=dict)
    #: The steps among them whose work was not checked.
    unverified: set[str] = field(default_factory=set)
    #: Step, or all of a sweep -> the result of each effort that was tried.
    efforts: dict[str, dict[int, Tried]] = field(default_factory=dict)
    #: Step -> why what its timed calls returned is wrong; empty if it isn't.
    returned: dict[str, str] = field(default_factory=dict)

    def accept(self, step: Step, measured: StepMeasurement) -> None:
        """Take over what a step that was measured leaves, before it is checked: a check changes nothing."""
        leaves = measured.leaves
        self.rows.update(leaves.rows)
        self.left_by.update(dict.fromkeys(leaves.filled, step.name))
        self.numbers[step.name] = leaves.numbers
        if leaves.records is not None:
            self.records_before, self.expected_records = self.expected_records, leaves.records


@dataclass
class StepContext:
    """An opened engine with one session, and what is fixed for a trial: tables, dataset, answers. `data` alone changes."""

    engine: Engine
    session: Session
    tables: Mapping[str, Table]
    files: Files
    answers: Mapping[str, Path]
    data: StepsSoFar = field(default_factory=StepsSoFar)
    #: What steps before each query make of its tables.
    changes: Mapping[str, Changes] = field(default_factory=dict)
    #: The dataset's records, if it has records and not tables.
    records: RecordSet | None = None
    #: The dataset's vectors, if it has vectors.
    vectors: VectorSet | None = None
    #: The dataset's texts, if it has texts; `tables` has their table then.
    texts: TextSet | None = None
    #: What the engine was made from, to make it again; None where it need not be.
    setup: Setup | None = None
    #: Bytes on disk before there were tables (of other files with them, empty), by what the files are for.
    empty: Mapping[FileRole, int] = field(default_factory=dict)
    #: The run's round, from 1.
    round: int = 1
    last_round: bool = False
    #: The number of the group of engines that give the same answer to a step; None where other engines' answers aren't kept.
    group: Callable[..., int] | None = None
    #: Seconds that the latest restart took to open the engine and connect.
    opened: float = 0.0
    #: Whether its private server was killed.
    killed: bool = False
    #: The most memory that was seen before something was done aside; see there.
    peak: int = 0
    #: What has clients do a job: here, or on the hosts of a cluster.
    driver: Driver = clients.drive
    #: Takes a line about how far a long step is.
    note: Callable[[str], None] = lambda _line: None

    def drive(self, job: Job, clients: Clients) -> ClientTimings:
        """What clients measured of a job. Raises Unsupported if the engine can't serve them all."""
        return self.driver(self.engine, self.session, job, clients)

    def restart(self, between: Callable[[], T]) -> T:
        """Close the session and the engine, open both again, the engine as a new object; gives what `between` gave."""
        assert self.setup is not None
        with suppress(Exception) if self.killed else nullcontext():  # each driver has its own for a server that is gone
            self.session.close()
        self.killed = False
        self.engine.close()
        given = between()
        engine = type(self.engine)(self.setup)
        before = perf_counter()
        engine.open()
        self.engine = engine
        self.session = engine.connect()
        self.opened = perf_counter() - before
        return given

    def kill_server(self) -> None:
        """End the processes of a private server by SIGKILL, so that it writes nothing more. A restart follows."""
        mine = descendants()
        if doomed := [mine[number] for number in self.engine.processes() if number in mine]:
            for process in doomed:
                with suppress(psutil.Error):  # it ended with its parent
                    process.kill()
            self.killed = True

    @property
    def does_work(self) -> bool:
        """Whether the engine does anything: the answers of a null engine are compared with nothing."""
        return does_work(self.engine)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within it something is done for a check: the memory that this takes does not count as the engine's."""
        self.peak = max(self.peak, (peak_memory() or 0) + resident(others(self.engine)))
        try:
            yield
        finally:
            pa.default_memory_pool().release_unused()
            forget_peak()

    @contextmanager
    def new_session(self) -> Iterator[None]:
        """Use a second session for a while. The first stays open, so the second doesn't see what isn't committed.

        An engine for one client at a time has its first session closed, and keeps the second.
        """
        before = self.session
        if self.engine.info().concurrency.threads == 1:
            before.close()
            self.session = self.engine.connect()
            yield
            return
        self.session = self.engine.connect()
        try:
            yield
        finally:
            self.session.close()
            self.session = before

    @contextmanager
    def beneath(self) -> Iterator[tuple[Engine, Session]]:
        """What fills tables and tells of them: engine and session, or those beneath a layer that gives objects alone."""
        if self.engine.base_engine is None:
            yield self.engine, self.session
            return
        session = self.engine.base_engine.connect()
        try:
            yield self.engine.base_engine, session
        finally:
            session.close()

    def prepare_query(self, step: QueryStep, expected_rows: int) -> Callable[[], Any]:
        """The query, prepared. The null engine has no data: only it gets the number of rows to give, so that it steps."""
        return query_of(self.engine, self.session, self.statement(step), expected_rows)

    def statement(self, step: SqlStep | Check | Invariant) -> str:
        """The step's SQL for this engine, names quoted. Raises Unsupported as `in_dialect` does."""
        return self.quoted(self.in_dialect(step.sql, step.dialects))

    def in_dialect(self, sql: str, dialects: Mapping[str, str]) -> str:
        """A text, or what a suite has for this engine's dialect. Raises Unsupported where it says that there is nothing."""
        name = self.engine.info().dialect
        if not (text := dialects.get(name, sql)):
            raise Unsupported(f"the suite has no statement for it in the dialect {name}")
        return text

    def quoted(self, sql: str) -> str:
        """SQL with the names of tables and columns quoted as this engine does it."""
        return self.engine.sql.translate(sql, self.tables) if isinstance(self.engine, SQLEngine) else sql


@dataclass(frozen=True)
class StepMeasurement:
    """What a step gave: one trial's samples, in `unit`. `value` is the trial's own figure.

    It is the mean of the samples, unless they were too many to keep (`mean` says it) or say nothing (see FELL_SHORT).
    """

    metric: str
    unit: BaseUnit
    samples: list[float]
    warm_up: list[float] = field(default_factory=list)
    facts: StepFacts = field(default_factory=StepFacts)
    direction: Literal["lower", "higher"] = "lower"
    mean: float | None = None
    outcome: Outcome = Outcome.OK
    detail: str = ""
    leaves: Leaves = field(default_factory=Leaves)
    #: What is known to be used for what the figure is of: for a call, for an operation where it is a rate.
    usage: Usage = field(default_factory=dict)
    #: Commits that changed something, which came one after another: those of one client, if there were several.
    commits: int = 0

    @property
    def recorded(self) -> dict[str, Any]:
        """What a result keeps of it."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "leaves"}
        return {**values, "value": self.value}

    @property
    def value(self) -> float | None:
        """The trial's figure; None only for a result that fell short of what was asked for, wrong or not."""
        if self.outcome in FELL_SHORT or (self.mean is None and not self.samples):
            return None
        return sum(self.samples) / len(self.samples) if self.mean is None else self.mean
